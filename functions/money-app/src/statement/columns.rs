//! The page that maps a CSV file's columns. The member's choice is remembered for files with the same header.

use askama::Template;
use axum::body::Bytes;
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::form;
use pages::layout::{Layout, Notice};
use pages::masked::masked;
use pages::response::PageResponse;
use pages::statement_file as read;
use pages::urls::statement_url;
use shared::domain::ids::StatementId;
use shared::domain::statement::{RememberedColumns, Statement};
use shared::error::Error;
use shared::service::statements as stored;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use statements::{
    Amount, Column, Currency, CurrencySource, DateOrder, DecimalMark, Mapping, ReferenceColumn, ReferenceKind,
    Suggestion,
};

use crate::statement::{in_words, uploaded, url_after};

form! {
    /// Which column of a CSV file is which.
    pub(crate) COLUMNS: ColumnsForm {
        date: Field::choice("date", "Date").hint("The day of booking."),
        value_date: Field::choice("value_date", "Value date"),
        date_order: Field::choice("date_order", "Date order"),
        amount: Field::choice("amount", "Amount").hint("What goes out has a minus, or a word in the next column."),
        side: Field::choice("side", "Credit or debit"),
        credit: Field::choice("credit", "Money in").hint("Only where money in and out have two columns."),
        debit: Field::choice("debit", "Money out"),
        decimal_mark: Field::choice("decimal_mark", "Decimal mark"),
        currency: Field::choice("currency", "Currency"),
        fixed_currency: Field::line("fixed_currency", "Currency of all entries", 3).hint("Only where no column has it, such as USD."),
        bank_reference: Field::choice("bank_reference", "Bank reference"),
        payer_reference: Field::choice("payer_reference", "Payer’s reference"),
        other_reference: Field::choice("other_reference", "Other reference"),
        payer: Field::choice("payer", "Payer").hint("The name of who paid."),
        text: Field::choice("text", "Text"),
        more_text: Field::choice("more_text", "More text"),
        status: Field::choice("status", "Status").hint("Whether an entry is booked or pending."),
    }
}

const ROWS_SHOWN: usize = 3;
const ROWS_SHOWN_OF_MANY: usize = 1;
const MANY: usize = 20;
const CELL_CHARS_SHOWN: usize = 40;
const NAME_CHARS_SHOWN: usize = 24;

const REFERENCES: [(&str, ReferenceKind); 3] = [
    (COLUMNS.bank_reference.name, ReferenceKind::BankReference),
    (COLUMNS.payer_reference.name, ReferenceKind::EndToEndId),
    (COLUMNS.other_reference.name, ReferenceKind::Other),
];

#[derive(Template)]
#[template(path = "statement_columns.html")]
struct ColumnsPage {
    layout: Layout,
    notice: Option<Notice>,
    title: String,
    path: String,
    discard: Option<String>,
    fields: Fields,
    columns: Vec<Choice>,
    orders: Vec<Choice>,
    marks: Vec<Choice>,
    preview: Vec<(String, String)>,
}

struct Choice {
    value: String,
    text: String,
}

impl Choice {
    fn new(value: &str, text: &str) -> Self {
        Self { value: value.to_owned(), text: text.to_owned() }
    }
}

pub(crate) async fn show_columns(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let (statement, file) = load(request).await?;
    if !stored::takes_columns(request.signed_in()?.scope(), &statement).await? {
        return Ok(PageResponse::see_other(statement_url(statement.id)));
    }
    let suggestion = suggestion(file).await?;
    let fields = suggested(&suggestion);
    Ok(page(request, &statement, &suggestion, fields, notice)?.with_cookie(cookie))
}

async fn load(request: &Request) -> Result<(Statement, Bytes), Error> {
    let (id, scope): (StatementId, _) = (request.path_id("id")?, request.signed_in()?.scope());
    let statement = stored::get(scope, id).await?;
    let file = request.app().files()?.get(scope.org(), &statement.file.content).await?;
    Ok((statement, file))
}

async fn suggestion(file: Bytes) -> Result<Suggestion, Error> {
    let suggestion = read::suggestion(file).await?;
    suggestion.map_err(|refusal| Error::Internal(format!("a CSV file that was looked at before {refusal}")))
}

fn page(
    request: &Request,
    statement: &Statement,
    suggestion: &Suggestion,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let column = |(at, name): (usize, &String)| Choice {
        value: (at + 1).to_string(),
        text: masked(name, NAME_CHARS_SHOWN, &[]),
    };
    let none = Choice::new("", "Not in this file");
    let rows = if suggestion.headers.len() > MANY { ROWS_SHOWN_OF_MANY } else { ROWS_SHOWN };
    let values = |at: usize| {
        let cells =
            suggestion.sample_rows.iter().take(rows).filter_map(|row| row.get(at)).filter(|cell| !cell.is_empty());
        cells.map(|cell| masked(cell, CELL_CHARS_SHOWN, &[])).collect::<Vec<_>>().join(" · ")
    };
    let preview =
        suggestion.headers.iter().enumerate().map(|(at, name)| (masked(name, CELL_CHARS_SHOWN, &[]), values(at)));
    let page = ColumnsPage {
        layout: Layout::new(request),
        notice,
        title: statement.file.name.as_str().to_owned(),
        path: format!("{}/columns", statement_url(statement.id)),
        discard: (!statement.was_filed).then(|| format!("{}/discard", statement_url(statement.id))),
        fields,
        columns: std::iter::once(none).chain(suggestion.headers.iter().enumerate().map(column)).collect(),
        orders: vec![
            Choice::new("", "As the dates say"),
            Choice::new("day_month_year", "Day, month, year"),
            Choice::new("month_day_year", "Month, day, year"),
            Choice::new("year_month_day", "Year, month, day"),
        ],
        marks: vec![
            Choice::new("", "Choose…"),
            Choice::new("period", "Period: 1,250.50"),
            Choice::new("comma", "Comma: 1.250,50"),
        ],
        preview: preview.collect(),
    };
    Ok(PageResponse::render(&page)?.showing([statement.id.uuid()]))
}

fn suggested(suggestion: &Suggestion) -> Fields {
    let found = &suggestion.mapping;
    let at = |column: &Column| {
        let at = suggestion.columns.iter().position(|known| known == column);
        at.map(|at| (at + 1).to_string()).unwrap_or_default()
    };
    let optional = |column: Option<&Column>| column.map(at).unwrap_or_default();
    let (amount, credit, debit, side) = match &found.amount {
        Some(Amount::Signed(amount)) => (Some(amount), None, None, None),
        Some(Amount::WithSide { amount, side }) => (Some(amount), None, None, Some(side)),
        Some(Amount::CreditAndDebit { credit, debit }) => (None, Some(credit), Some(debit), None),
        None => (None, None, None, None),
    };
    let currency = match &found.currency {
        Some(CurrencySource::Column(column)) => Some(column),
        Some(CurrencySource::Fixed(_)) | None => None,
    };
    let mut fields = vec![
        (COLUMNS.date.name, optional(found.booked_on.as_ref())),
        (COLUMNS.value_date.name, optional(found.value_on.as_ref())),
        (COLUMNS.date_order.name, found.date_order.map(order_name).unwrap_or_default().to_owned()),
        (COLUMNS.amount.name, optional(amount)),
        (COLUMNS.side.name, optional(side)),
        (COLUMNS.credit.name, optional(credit)),
        (COLUMNS.debit.name, optional(debit)),
        (COLUMNS.decimal_mark.name, found.decimal_mark.map(mark_name).unwrap_or_default().to_owned()),
        (COLUMNS.currency.name, optional(currency)),
        (COLUMNS.payer.name, optional(found.counterparty.as_ref())),
        (COLUMNS.text.name, optional(found.text.first())),
        (COLUMNS.more_text.name, optional(found.text.get(1))),
        (COLUMNS.status.name, optional(found.status.as_ref())),
    ];
    for (name, kind) in REFERENCES {
        let column = found.references.iter().find(|reference| field_of(reference.kind) == kind);
        fields.push((name, optional(column.map(|reference| &reference.column))));
    }
    Fields::of(fields)
}

fn field_of(kind: ReferenceKind) -> ReferenceKind {
    match kind {
        ReferenceKind::EndToEndId | ReferenceKind::CustomerReference => ReferenceKind::EndToEndId,
        ReferenceKind::AccountServicerReference | ReferenceKind::BankReference | ReferenceKind::TransactionId => {
            ReferenceKind::BankReference
        }
        _ => ReferenceKind::Other,
    }
}

fn order_name(order: DateOrder) -> &'static str {
    match order {
        DateOrder::DayMonthYear => "day_month_year",
        DateOrder::MonthDayYear => "month_day_year",
        DateOrder::YearMonthDay => "year_month_day",
    }
}

fn mark_name(mark: DecimalMark) -> &'static str {
    match mark {
        DecimalMark::Comma => "comma",
        DecimalMark::Period => "period",
    }
}

pub(crate) async fn choose_columns(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let (statement, file) = load(request).await?;
    let suggestion = suggestion(file.clone()).await?;
    let again = |errors: FieldErrors, notice: Option<Notice>| {
        let fields = Fields::submitted(form, errors);
        Ok(page(request, &statement, &suggestion, fields, notice)?.unprocessable())
    };
    let mapping = match mapping(form, &suggestion) {
        Ok(mapping) => mapping,
        Err(errors) => return again(errors, None),
    };
    let columns = serde_json::to_string(&mapping).map_err(|error| Error::Internal(error.to_string()))?;
    let facts = match read::facts(file, Some(columns.clone())).await? {
        Ok(facts) => facts,
        Err(refusal) => {
            let notice =
                Notice::bad("The file can’t be read with these columns", format!("The file {}.", in_words(&refusal)));
            return again(FieldErrors::default(), Some(notice));
        }
    };
    let remembered = RememberedColumns { header: read::header(&suggestion), columns };
    let id = statement.id;
    let redirect = redirect_with(&submitted, url_after(id, Some(&facts)), &uploaded(Some(&facts))).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    if submitted.run(|| stored::read_columns(scope, by, id, facts.clone(), remembered.clone())).await? {
        return Ok(redirect.into());
    }
    let notice = Notice::bad(
        "The columns stay as they are",
        "An entry of this statement is filed as evidence. Reject or withdraw that evidence first.",
    );
    Ok(page(request, &statement, &suggestion, Fields::submitted(form, FieldErrors::default()), Some(notice))?
        .conflicting())
}

fn mapping(form: &Form, suggestion: &Suggestion) -> Result<Mapping, FieldErrors> {
    let column = |name: &str| {
        let at = form.get(name).parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        at.and_then(|at| suggestion.columns.get(at)).cloned()
    };
    let booked_on = column(COLUMNS.date.name).ok_or_else(|| required(COLUMNS.date.name));
    let decimal_mark = match form.get(COLUMNS.decimal_mark) {
        "comma" => Ok(DecimalMark::Comma),
        "period" => Ok(DecimalMark::Period),
        _ => Err(required(COLUMNS.decimal_mark.name)),
    };
    let (amount, currency) = (amount(&column), currency(form, column(COLUMNS.currency.name)));
    match (booked_on, amount, decimal_mark, currency) {
        (Ok(booked_on), Ok(amount), Ok(decimal_mark), Ok(currency)) => Ok(Mapping {
            delimiter: Some(suggestion.delimiter),
            has_header: suggestion.has_header,
            booked_on,
            date_order: order(form.get(COLUMNS.date_order)),
            value_on: column(COLUMNS.value_date.name),
            amount,
            decimal_mark,
            currency,
            references: REFERENCES
                .into_iter()
                .filter_map(|(name, kind)| Some(ReferenceColumn { kind, column: column(name)? }))
                .collect(),
            counterparty: column(COLUMNS.payer.name),
            text: [COLUMNS.text.name, COLUMNS.more_text.name].into_iter().filter_map(column).collect(),
            status: column(COLUMNS.status.name),
        }),
        (booked_on, amount, decimal_mark, currency) => {
            let mut errors = booked_on.err().unwrap_or_default();
            errors.extend(amount.err().unwrap_or_default());
            errors.extend(decimal_mark.err().unwrap_or_default());
            errors.extend(currency.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn required(field: &str) -> FieldErrors {
    FieldErrors::one(field, FieldCode::Required, "must be chosen")
}

fn order(text: &str) -> Option<DateOrder> {
    [DateOrder::DayMonthYear, DateOrder::MonthDayYear, DateOrder::YearMonthDay]
        .into_iter()
        .find(|order| order_name(*order) == text)
}

/// Where amounts are: in one column, with or without a column for the side, or in two.
fn amount(column: &impl Fn(&str) -> Option<Column>) -> Result<Amount, FieldErrors> {
    let wrong = |field, message| Err(FieldErrors::one(field, FieldCode::InvalidValue, message));
    match (
        column(COLUMNS.amount.name),
        column(COLUMNS.side.name),
        column(COLUMNS.credit.name),
        column(COLUMNS.debit.name),
    ) {
        (Some(amount), None, None, None) => Ok(Amount::Signed(amount)),
        (Some(amount), Some(side), None, None) => Ok(Amount::WithSide { amount, side }),
        (None, None, Some(credit), Some(debit)) => Ok(Amount::CreditAndDebit { credit, debit }),
        (Some(_), ..) => wrong(COLUMNS.amount.name, "and the columns for money in and money out can’t both be chosen"),
        (None, Some(_), ..) => wrong(COLUMNS.side.name, "needs the column Amount"),
        (None, None, Some(_), None) => wrong(COLUMNS.debit.name, "must be chosen, because Money in is"),
        (None, None, None, Some(_)) => wrong(COLUMNS.credit.name, "must be chosen, because Money out is"),
        (None, None, None, None) => {
            Err(FieldErrors::one(COLUMNS.amount, FieldCode::Required, "must be chosen, or else Money in and Money out"))
        }
    }
}

fn currency(form: &Form, column: Option<Column>) -> Result<CurrencySource, FieldErrors> {
    let typed = form.get(COLUMNS.fixed_currency).trim();
    let wrong = |field, code, message| Err(FieldErrors::one(field, code, message));
    match (column, typed) {
        (Some(column), "") => Ok(CurrencySource::Column(column)),
        (Some(_), _) => {
            wrong(COLUMNS.fixed_currency.name, FieldCode::InvalidValue, "must be left out, because Currency is chosen")
        }
        (None, "") => wrong(
            COLUMNS.currency.name,
            FieldCode::Required,
            "must be chosen, or else typed as Currency of all entries",
        ),
        (None, code) => match Currency::parse(code) {
            Some(currency) => Ok(CurrencySource::Fixed(currency)),
            None => wrong(
                COLUMNS.fixed_currency.name,
                FieldCode::InvalidValue,
                "must be a currency of ISO 4217, such as USD",
            ),
        },
    }
}

use askama::Template;
use pages::done::notice_of_act;
use pages::fields::{Choice, Fields};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::agreement_url;
use shared::domain::agreement::blockers::missing_terms;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::{Agreement, ConversionTiming, SafeTerms};
use shared::domain::ids::AgreementId;
use shared::domain::money::{in_form, read_minor};
use shared::domain::typed_values::{NOT_A_PERCENTAGE, meant_percentage, read_percentage, write_percentage};
use shared::error::Error;
use shared::service::drafts;
use shared::text;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::draft::{Edit, Problem, editable, seen, submit};

form! {
    /// The terms of a SAFE.
    pub(crate) TERMS: TermsForm {
        investment: Field::line("investment", "Investment amount", 40).hint("Such as 750,000 or 750k."),
        currency: Field::line("currency", "Currency", 3).hint("Three letters, such as USD."),
        cap: Field::line("cap", "Valuation cap", 40).hint("Such as 8,000,000 or 8m. Leave it empty if there is none."),
        discount: Field::line("discount", "Discount", 10).hint("In percent: 20 is 20% off. Leave it empty if there is none."),
        timing: Field::choice("timing", "Conversion"),
        law: Field::line("law", "Governing law", 200).hint("Such as Delaware."),
        mfn: Field::tick("mfn", "Most favored nation"),
        pro_rata: Field::tick("pro_rata", "Pro-rata rights"),
    }
}

#[derive(Template)]
#[template(path = "draft_terms.html")]
struct TermsPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    timings: Vec<Choice>,
    fields: Fields,
    understood: Vec<(&'static str, String)>,
    seen: String,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, None, notice).await?.with_cookie(cookie))
}

async fn page(request: &Request, fields: Option<Fields>, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let agreement = drafts::agreement(request.signed_in()?.scope(), id).await?;
    let Some(terms) = agreement.terms.as_ref().filter(|_| editable(&agreement)) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let page = TermsPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        path: format!("{}/terms", agreement_url(id)),
        timings: timings(),
        fields: fields.unwrap_or_else(|| fields_of(terms)),
        understood: text::terms(terms),
        seen: seen(&agreement, Part::Terms),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(super) fn timings() -> Vec<Choice> {
    vec![
        Choice::new("", "Choose one"),
        Choice::new(ConversionTiming::PostMoney.as_str(), "Post-money"),
        Choice::new(ConversionTiming::PreMoney.as_str(), "Pre-money"),
    ]
}

pub(super) fn fields_of(terms: &SafeTerms) -> Fields {
    let currency = terms.currency.as_deref().unwrap_or("USD");
    let amount = |minor: Option<i64>| minor.map(|minor| in_form(minor, currency)).unwrap_or_default();
    let texts = [
        (TERMS.investment.name, amount(terms.investment_amount_minor)),
        (TERMS.currency.name, currency.to_owned()),
        (TERMS.cap.name, amount(terms.valuation_cap_minor)),
        (TERMS.discount.name, terms.discount_rate.as_deref().map(write_percentage).unwrap_or_default()),
        (TERMS.timing.name, terms.conversion_timing.map(|timing| timing.as_str().to_owned()).unwrap_or_default()),
        (TERMS.law.name, terms.governing_law.clone().unwrap_or_default()),
    ];
    let boxes = [(TERMS.mfn.name, terms.mfn), (TERMS.pro_rata.name, terms.pro_rata)];
    let boxes = boxes.into_iter().filter(|(_, is_checked)| *is_checked).map(|(name, _)| (name, "on".to_owned()));
    Fields::of(texts.into_iter().chain(boxes))
}

fn read_terms(form: &Form) -> Result<SafeTerms, FieldErrors> {
    let mut errors = FieldErrors::default();
    let currency = form.get(TERMS.currency).trim().to_ascii_uppercase();
    let mut amount = |field: &str| match form.get(field).trim() {
        "" => None,
        text => {
            let read = read_minor(text, &currency);
            if let Err(reason) = read {
                errors.extend(FieldErrors::one(field, reason.code(), reason.message(&currency)));
            }
            read.ok()
        }
    };
    let (investment_amount_minor, valuation_cap_minor) = (amount(TERMS.investment.name), amount(TERMS.cap.name));
    let discount_rate = match form.get(TERMS.discount).trim() {
        "" => None,
        text => {
            let read = read_percentage(text);
            if read.is_none() {
                let message = match meant_percentage(text) {
                    Some(meant) => format!("{NOT_A_PERCENTAGE}. Did you mean {meant}?"),
                    None => NOT_A_PERCENTAGE.to_owned(),
                };
                errors.extend(FieldErrors::one(TERMS.discount, FieldCode::InvalidFormat, message));
            }
            read
        }
    };
    let text = |field: &str| Some(form.get(field).trim().to_owned()).filter(|text| !text.is_empty());
    let terms = SafeTerms {
        investment_amount_minor,
        currency: Some(currency).filter(|code| !code.is_empty()),
        valuation_cap_minor,
        discount_rate,
        mfn: !form.get(TERMS.mfn).is_empty(),
        pro_rata: !form.get(TERMS.pro_rata).is_empty(),
        conversion_timing: ConversionTiming::parse(form.get(TERMS.timing)),
        governing_law: text(TERMS.law.name),
    };
    if errors.is_empty() { Ok(terms) } else { Err(errors) }
}

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let form = submitted.form();
    let again = async |problem: Problem| {
        Ok(problem.answer(page(request, Some(problem.fields(form)), Some(problem.notice.clone())).await?))
    };
    let terms = match read_terms(form) {
        Ok(terms) => terms,
        Err(errors) => return again(Problem::invalid(errors)).await,
    };
    let read = text::terms(&terms).into_iter().map(|(name, value)| format!("{name}: {value}"));
    let line = read.collect::<Vec<_>>().join(" · ");
    let says = move |_: &Agreement, after: &Agreement| {
        let missing = after.terms.as_ref().map(missing_terms).unwrap_or_default();
        let next = match missing.join("; ") {
            all if all.is_empty() => String::new(),
            missing => format!("Still to do: {missing}."),
        };
        Notice::new("good", "Terms saved".to_owned(), [line.clone(), next])
    };
    let edit =
        Edit::new(agreement_url(id), says, move |draft, now| draft.set_terms(terms.clone(), now).map_err(at_the_form));
    submit(request, &submitted, id, edit.of(Part::Terms).within("terms"), again).await
}

fn at_the_form(errors: FieldErrors) -> FieldErrors {
    let mut at_the_form = FieldErrors::default();
    for error in errors.into_list() {
        let field = match error.field.as_str() {
            "terms.investment_amount_minor" => TERMS.investment.name,
            "terms.valuation_cap_minor" => TERMS.cap.name,
            "terms.currency" => TERMS.currency.name,
            "terms.discount_rate" => TERMS.discount.name,
            "terms.governing_law" => TERMS.law.name,
            _ => "terms",
        };
        at_the_form.extend(FieldErrors::one(field, error.code, error.message));
    }
    at_the_form
}

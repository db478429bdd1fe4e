//! The ledger as a streamed file, as long as one response can be; its last record says where the next file continues.
//!
//! Decision: a row's figures are its share of the page's totals, so that a file's columns add up to them.

use futures_util::stream;
use pages::csv::Csv;
use pages::response::PageResponse;
use pages::urls::MONEY;
use shared::domain::ledger::{LedgerFigures, LedgerPayment, LedgerState};
use shared::domain::money;
use shared::error::Error;
use shared::limits;
use shared::service::ledger::{self, LedgerExport, LedgerRow, NamedContact};
use shared::text;
use shared::web::Request;

use crate::ledger::Asked;

const HEAD: [&str; 24] = [
    "row_type",
    "title",
    "agreement",
    "counterparties",
    "owed_by",
    "owed_to",
    "direction",
    "product",
    "due_at",
    "overdue",
    "currency",
    "amount",
    "owed",
    "claimed",
    "proven",
    "state",
    "status",
    "reconciled",
    "done",
    "id",
    "agreement_id",
    "workspace_id",
    "counterparty_ids",
    "app_url",
];

pub(crate) async fn export(request: &mut Request) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let asked = Asked::read(request)?;
    let organization = signed_in.organization();
    let rows = ledger::export(signed_in.scope(), organization, &asked.query, asked.row_type, asked.order).await?;
    let mut file = File {
        end: asked.query.page().positions().start + rows.remaining() as u64,
        rows,
        bytes: 0,
        is_begun: false,
        is_ended: false,
        base: request.app().base_url.to_string(),
        asked,
    };
    // A failure on the first part yields an error page.
    let first = file.next().await?;
    let rest = stream::try_unfold(file, async |mut file| Ok(file.next().await?.map(|part| (part, file))));
    let parts = stream::StreamExt::chain(stream::iter(first.map(Ok)), rest);
    let name = format!("ledger-{}.csv", organization.time_zone.day_of(request.now()));
    Ok(PageResponse::stream(parts, "text/csv; charset=utf-8", &name))
}

struct File {
    rows: LedgerExport,
    end: u64,
    bytes: usize,
    is_begun: bool,
    is_ended: bool,
    base: String,
    asked: Asked,
}

impl File {
    async fn next(&mut self) -> Result<Option<String>, Error> {
        let mut csv = if self.is_begun { Csv::default() } else { Csv::new() };
        if !self.is_begun {
            self.is_begun = true;
            csv.push(HEAD);
        }
        if self.is_ended {
            return Ok(None);
        }
        if self.bytes > limits::LEDGER_EXPORT_BYTES_MAX && self.rows.remaining() > 0 {
            let Asked { row_type, order, .. } = self.asked;
            let next = self.end - self.rows.remaining() as u64;
            let next = self.asked.address(&format!("{}{MONEY}/export", self.base), row_type, order, next);
            let note = format!("More rows follow. Get them at {next}");
            csv.push(std::iter::once(note.as_str()).chain(std::iter::repeat_n("", HEAD.len() - 1)));
            self.is_ended = true;
        } else {
            match self.rows.next().await? {
                Some(rows) => rows.iter().for_each(|row| push(&mut csv, row, &self.base)),
                None => self.is_ended = true,
            }
        }
        self.bytes += csv.size();
        Ok(Some(csv.take()))
    }
}

fn names(contacts: &[NamedContact]) -> String {
    contacts.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" · ")
}

fn push(csv: &mut Csv, row: &LedgerRow, base: &str) {
    let currency = row.payment.map_or("", |payment| payment.money.currency().code());
    let LedgerFigures { owed, claimed, proven } = row.payment.map(LedgerPayment::figures).unwrap_or_default();
    let figure = |minor: i128| if row.payment.is_some() { money::in_file(minor, currency) } else { String::new() };
    let ids = row.counterparties.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(" ");
    let (owed_by, owed_to): (&[_], &[_]) = row.owing.as_ref().map_or((&[], &[]), |owing| (&owing.by, &owing.to));
    let is = |condition: bool| if condition { "true" } else { "false" };
    csv.push([
        text::ledger_row_type(row.thing.row_type()),
        &row.title,
        row.agreement.as_str(),
        &names(&row.counterparties),
        &names(owed_by),
        &names(owed_to),
        row.direction.map_or("", text::ledger_direction),
        text::ledger_product(row.product),
        &row.due_at.map_or_else(String::new, |at| at.to_string()),
        is(row.is_overdue),
        currency,
        &row.payment.map_or_else(String::new, |payment| money::in_file(payment.money.amount_minor(), currency)),
        &figure(owed),
        &figure(claimed),
        &figure(proven),
        row.state.as_str(),
        &row.status_sentence,
        is(row.state == LedgerState::Reconciled),
        is(row.state.is_done()),
        &row.thing.uuid().to_string(),
        &row.agreement_id.to_string(),
        &row.workspace_id.to_string(),
        &ids,
        &format!("{base}{}", row.thing.app_path()),
    ]);
}

//! The page of a statement: the entries that fit payments, why they do, and what is filed.

use std::collections::HashMap;

use askama::Template;
use pages::agreement_payments::purpose_of;
use pages::done::notice_of_act;
use pages::fields::Fields;
use pages::labels::{Badge, DisplayTime, actor_label, grouped};
use pages::layout::{Layout, Link, Notice};
use pages::masked::masked;
use pages::pager::{Pager, is_past_the_end};
use pages::response::PageResponse;
use pages::statement_file as read;
use pages::urls::{evidence_url, movement_url, statement_url};
use shared::domain::bank_account::AccountKeys;
use shared::domain::day::Day;
use shared::domain::ids::{MovementId, StatementId};
use shared::domain::movement::Movement;
use shared::domain::movement::evidence::{EvidenceKey, EvidenceState};
use shared::domain::own_account;
use shared::error::Error;
use shared::limits;
use shared::service::movements::EvidenceHolder;
use shared::service::statements::{self as stored, Awaited, FiledEvidence, StatementReview};
use shared::text::reader::Shown as _;
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Offset, Page, PageRequest};
use statements::{Entry, Side};

use crate::movement::tracks::before_claim;
use crate::statement::accounts::Accounts;
use crate::statement::entry_fields::{ENTRY, box_of, reason_of};
use crate::statement::fits::{self, Counts, Fit, Found, Offer, Other, Wanted, Warning};
use crate::statement::{RowFacts, counted};

const LINE_CHARS_SHOWN: usize = 80;
const TEXT_CHARS_SHOWN: usize = 160;
const REFERENCES_SHOWN: usize = 3;

#[derive(Template)]
#[template(path = "statement.html")]
struct StatementPage {
    layout: Layout,
    notice: Option<Notice>,
    title: String,
    path: String,
    facts: RowFacts,
    by: String,
    at: DisplayTime,
    columns: Option<String>,
    discard: Option<String>,
    figures: Vec<(&'static str, String)>,
    has_filed: bool,
    fit_count: String,
    only: Option<u32>,
    is_one: bool,
    fields: Fields,
    fits: Vec<Card>,
    fit_pager: Option<Pager>,
    has_choices: bool,
    other_count: String,
    others: Vec<OtherRow>,
    other_pager: Option<Pager>,
    filed: Vec<FiledRow>,
    filed_pager: Option<Pager>,
    warnings: Vec<String>,
    more_warnings: usize,
    unknown_accounts: Option<String>,
    awaited: usize,
    more_awaited: usize,
}

struct Card {
    number: u32,
    position: String,
    amount: String,
    facts: Vec<(&'static str, String)>,
    standing: Option<Link>,
    choices: Vec<Choice>,
    more: usize,
}

struct OtherRow {
    number: u32,
    amount: String,
    day: Option<String>,
    about: String,
    is_on_another_account: bool,
    url: String,
}

struct Choice {
    name: String,
    is_checked: bool,
    payment: String,
    url: String,
    about: String,
    badge: &'static str,
    class: &'static str,
    why: Vec<String>,
    differs: Vec<String>,
    reason: Option<String>,
}

struct FiledRow {
    number: u32,
    amount: String,
    payment: Link,
    badge: Badge,
    accept: Option<String>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, notice, Fields::default()).await?.with_cookie(cookie))
}

pub(super) async fn page(request: &Request, notice: Option<Notice>, fields: Fields) -> Result<PageResponse, Error> {
    let (id, signed_in): (StatementId, _) = (request.path_id("id")?, request.signed_in()?);
    let query: Query = request.read_query()?;
    let [fits, others, filed_page] = [query.offset, query.others, query.filed]
        .map(|offset| PageRequest::new(limits::STATEMENT_ENTRIES_SHOWN, offset.get()));
    // No statement has that many entries.
    let asked = query.entry.map(|number| u32::try_from(number.get()).unwrap_or(u32::MAX));
    let only = asked.or_else(|| fields.value(ENTRY).parse().ok());
    let review = stored::review(signed_in.scope(), id, filed_page).await?;
    let Some(facts) = review.statement.facts.as_ref().map(RowFacts::from) else {
        return Ok(PageResponse::see_other(format!("{}/columns", statement_url(id))));
    };
    let is_csv = review.statement.facts.as_ref().is_some_and(|facts| facts.columns.is_some());
    let found = found(request, &review, Wanted { fits, others, only }).await?;
    let url = |name: &'static str| move |offset: u64| format!("{}?{name}={offset}", statement_url(id));
    if is_past_the_end(found.fits.pagination) || is_past_the_end(found.others.pagination) {
        return Ok(PageResponse::see_other(statement_url(id)));
    }
    let keys: Vec<EvidenceKey> = found.fits.data.iter().flat_map(|fit| fit.entry.keys()).collect();
    let holders = stored::holders(signed_in.scope(), &keys).await?;
    let shown = Shown { review: &review, holders: &holders, fields: &fields };
    let filed = Page::slice(review.filed.iter(), filed_page).pagination;
    let cards: Vec<Card> = found.fits.data.iter().map(|fit| shown.card(fit)).collect();
    let is_one = only.is_some();
    let page = StatementPage {
        layout: Layout::new(request),
        notice,
        title: review.statement.file.name.as_str().to_owned(),
        path: statement_url(id),
        facts,
        by: actor_label(&review.statement.uploaded_by),
        at: review.statement.uploaded_at.into(),
        columns: (is_csv && review.filed.is_empty()).then(|| format!("{}/columns", statement_url(id))),
        discard: (!review.statement.was_filed && review.filed.is_empty())
            .then(|| format!("{}/discard", statement_url(id))),
        figures: figures(found.counts),
        has_filed: !review.filed.is_empty(),
        fit_count: grouped(found.counts.fit),
        only,
        is_one,
        has_choices: cards.iter().any(|card| !card.choices.is_empty()),
        fits: cards,
        other_count: grouped(found.counts.fit_nothing),
        others: found.others.data.iter().filter(|_| !is_one).map(|other| other_row(other, id)).collect(),
        other_pager: Pager::new("the entries that fit no payment", found.others.pagination, url("others")),
        fit_pager: Pager::new("the entries that fit", found.fits.pagination, url("offset")),
        filed: review.shown.iter().map(filed_row).collect(),
        filed_pager: Pager::new("the filed entries", filed, url("filed")),
        warnings: found.warnings.iter().map(|warning| shown.warning(warning)).collect(),
        more_warnings: found.more_warnings,
        unknown_accounts: unknown(&found.unknown_accounts),
        awaited: review.awaited.len(),
        more_awaited: review.more_awaited,
        fields,
    };
    let objects = review.shown.iter().map(|filed| filed.evidence.id().uuid());
    Ok(PageResponse::render(&page)?.showing(std::iter::once(id.uuid()).chain(objects)))
}

/// The URL's query: the pages of fitting, non-fitting and filed entries, or one entry's number.
#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    offset: Offset,
    #[deserr(default)]
    others: Offset,
    #[deserr(default)]
    filed: Offset,
    #[deserr(default)]
    entry: Option<Offset>,
}

/// Reads the file again, and compares its entries with the payments that wait for proof.
async fn found(request: &Request, review: &StatementReview, wanted: Wanted) -> Result<Found, Error> {
    let org = request.signed_in()?.scope().org();
    let file = request.app().files()?.get(org, &review.statement.file.content).await?;
    let scope = request.signed_in()?.scope();
    let keyring = request.app().webhooks()?.keys.keyring().await?;
    let instructed = stored::instructed(scope, &keyring, &review.awaited).await?;
    let own = own_account::counted(&request.signed_in()?.organization().own_accounts).cloned().collect();
    let accounts = Accounts::new(AccountKeys::new(&keyring, org), instructed, own);
    let open = review.awaited.iter().filter_map(fits::open).collect();
    let filed = review.filed.iter().map(|filed| filed.number).collect();
    let statement = review.statement.clone();
    read::apart(move || {
        let read = read::entries_again(&statement, &file)?;
        Ok(fits::find(&read, open, &accounts, statement.id, &filed, wanted))
    })
    .await?
}

fn unknown(endings: &[String]) -> Option<String> {
    let named: Vec<String> = endings.iter().map(|ending| format!("…{ending}")).collect();
    (!named.is_empty()).then(|| named.join(", "))
}

fn figures(counts: Counts) -> Vec<(&'static str, String)> {
    let Counts { filed, fit, fit_nothing, .. } = counts;
    let mut figures = vec![("Fit a payment", grouped(fit)), ("Fit no payment", grouped(fit_nothing))];
    figures.extend((filed > 0).then(|| ("Filed as evidence", grouped(filed))));
    figures.extend(no_proof(counts).map(|some| ("Never proof of an arrival", some)));
    figures
}

fn no_proof(counts: Counts) -> Option<String> {
    let Counts { debits, reversals, pending, .. } = counts;
    let some = [
        (debits, ["debit", "debits"]),
        (reversals, ["reversal or return", "reversals or returns"]),
        (pending, ["entry that is not booked", "entries that are not booked"]),
    ];
    let some = some.into_iter().filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, [one, many])| counted(count, one, many)).collect();
    (!some.is_empty()).then(|| some.join(", "))
}

struct Shown<'a> {
    review: &'a StatementReview,
    holders: &'a HashMap<EvidenceKey, EvidenceHolder>,
    fields: &'a Fields,
}

impl Shown<'_> {
    fn awaited(&self, id: MovementId) -> Option<&Awaited> {
        self.review.awaited.iter().find(|awaited| awaited.movement.id() == id)
    }

    fn link_to(&self, id: MovementId) -> Link {
        let filed = self.review.shown.iter().map(|filed| &filed.movement);
        let known =
            self.awaited(id).map(|awaited| &awaited.movement).into_iter().chain(filed).find(|one| one.id() == id);
        Link { url: movement_url(id), text: known.map_or_else(|| "another payment".to_owned(), named) }
    }

    fn card(&self, fit: &Fit) -> Card {
        let holder = fit.entry.keys().iter().find_map(|key| self.holders.get(key)).map(|holder| holder.movement_id);
        let standing = holder.map(|id| self.link_to(id));
        let choices = fit.offers.iter().filter(|_| holder.is_none());
        let offered = fit.offers.iter().filter_map(|offer| self.awaited(offer.found.id)).filter_map(fits::open);
        let kept: Vec<String> = offered.flat_map(|open| open.references).collect();
        Card {
            number: fit.entry.number,
            position: fit.read.position.to_string(),
            amount: fits::amount(&fit.read),
            facts: facts(&fit.read, &kept),
            choices: choices.filter_map(|offer| self.choice(fit, offer)).collect(),
            more: if standing.is_some() { 0 } else { fit.more },
            standing,
        }
    }

    fn choice(&self, fit: &Fit, offer: &Offer) -> Option<Choice> {
        let Awaited { movement, payer } = self.awaited(offer.found.id)?;
        let terms = movement.terms();
        let name = box_of(fit.entry.number, movement);
        let (why, mut differs) = fits::reasons(offer, terms.money?.currency().code());
        let value_day = read::day(fit.read.value_on.or(fit.read.booked_on));
        differs.extend(movement.claim().zip(value_day).and_then(|(claim, day)| before_claim(claim, day)));
        if movement.is_not_received() {
            differs.push("Marked as not arrived. Filing this entry resolves the exception first".to_owned());
        }
        if movement.ended_with_its_agreement() {
            differs.push("Its agreement has ended. What you file is recorded as late".to_owned());
        }
        let payer = payer.as_ref().map(|payer| format!("From {}", payer.as_str()));
        let due = terms.due_on.map(|due| format!("due {}", due.shown()));
        let reference = terms.reference.as_ref().map(|reference| format!("reference {}", reference.as_str()));
        let about: Vec<String> = payer.into_iter().chain(due).chain(reference).collect();
        let (badge, class) = fits::strength(offer);
        Some(Choice {
            is_checked: self.fields.is_checked(&name),
            name,
            payment: named(movement),
            url: movement_url(movement.id()),
            about: about.join(", "),
            badge,
            class,
            why,
            differs,
            reason: offer.is_of_another_account().then(|| reason_of(fit.entry.number, movement.id())),
        })
    }

    fn warning(&self, warning: &Warning) -> String {
        let Warning { number, read, reference, movement } = warning;
        let what = match read {
            entry if entry.is_reversal => "takes an earlier entry back",
            entry if entry.side == Side::Debit => "is a debit",
            _ => "is not booked",
        };
        let payment = self.link_to(*movement).text;
        format!(
            "Entry {number}, {}, {what}. It has the reference “{reference}” of {payment}, and proves no arrival.",
            fits::amount(read)
        )
    }
}

fn named(movement: &Movement) -> String {
    let amount = movement.terms().money.map(|money| format!(", {}", money.for_people())).unwrap_or_default();
    format!("{}{amount}", purpose_of(movement))
}

/// An entry's facts. `kept` references belong to possible payments and stay unmasked.
fn facts(entry: &Entry, kept: &[String]) -> Vec<(&'static str, String)> {
    let day = |date| read::day(date).map(Day::shown);
    let (value, booked) = (day(entry.value_on), day(entry.booked_on));
    let mut facts = Vec::new();
    facts.extend(value.clone().map(|day| ("Value date", day)));
    facts.extend(booked.filter(|day| Some(day) != value.as_ref()).map(|day| ("Booked", day)));
    let shown = |text: &str| masked(text, TEXT_CHARS_SHOWN, kept);
    facts.extend(entry.counterparty.as_deref().map(|name| ("Payer", shown(name))));
    facts.extend(entry.text.as_deref().map(|text| ("Text", shown(text))));
    let references: Vec<&str> =
        entry.references.iter().take(REFERENCES_SHOWN).map(|found| found.value.as_str()).collect();
    if !references.is_empty() {
        let more = entry.references.len().saturating_sub(REFERENCES_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        facts.push(("References", format!("{}{more}", shown(&references.join(", ")))));
    }
    facts
}

fn other_row(Other { number, read: entry, is_on_another_account }: &Other, statement: StatementId) -> OtherRow {
    let wrote = [entry.counterparty.as_deref(), entry.text.as_deref()].into_iter().flatten();
    OtherRow {
        number: *number,
        amount: fits::amount(entry),
        day: read::day(entry.value_on.or(entry.booked_on)).map(Day::shown),
        about: masked(&wrote.collect::<Vec<_>>().join(" · "), LINE_CHARS_SHOWN, &[]),
        is_on_another_account: *is_on_another_account,
        url: format!("{}?entry={number}#fits", statement_url(statement)),
    }
}

fn filed_row(FiledEvidence { number, evidence, movement }: &FiledEvidence) -> FiledRow {
    let badge = match evidence.state() {
        EvidenceState::Accepted { .. } => Badge { text: "Accepted", class: "green" },
        _ => Badge { text: "To review", class: "blue" },
    };
    FiledRow {
        number: *number,
        amount: evidence.facts().money.for_people(),
        payment: Link { url: movement_url(movement.id()), text: named(movement) },
        badge,
        accept: evidence.is_undecided().then(|| format!("{}/accept", evidence_url(movement.id(), evidence.id()))),
    }
}

//! Likely mistakes in a draft, shown before publication, each kind with links to fix it and a box to tick if meant.

use std::collections::BTreeSet;

use http::StatusCode;
use shared::domain::agreement::Agreement;
use shared::domain::agreement::warnings::{Warning, WarningKind, to_tick};
use shared::domain::ids::{DocumentId, MovementId};
use shared::domain::money::Money;
use shared::domain::movement::Movement;
use shared::web::Form;

use crate::blockers::BlockerRow;
use crate::layout::Notice;
use crate::payment_list::name;
use crate::urls::{agreement_url, document_url, payments_url, promise_url, step_url};

const ALTHOUGH: &str = "although.";
/// The most warnings of a kind that a page lists, and that a box names.
const LISTED_MAX: usize = 20;
const NAMED_MAX: usize = 5;

/// The warnings of a kind.
pub struct WarningGroup {
    /// The title of the group.
    pub title: &'static str,
    /// The listed warnings.
    pub rows: Vec<BlockerRow>,
    /// How many are not listed.
    pub more: usize,
    /// The box to tick; none if the warnings are only listed.
    pub tick: Option<Tick>,
}

/// A box to tick.
pub struct Tick {
    /// Its name in the form.
    pub name: String,
    /// Its text.
    pub label: String,
    /// Whether it is ticked.
    pub is_ticked: bool,
    /// Its error, if it wasn't ticked.
    pub error: Option<&'static str>,
}

/// The kinds ticked in a form.
pub fn ticked(form: &Form) -> BTreeSet<WarningKind> {
    form.checked(ALTHOUGH).filter_map(WarningKind::parse).collect()
}

/// A draft's warnings by kind. `ticked` comes from a refused form; empty before.
#[must_use]
pub fn warning_groups(
    draft: &Agreement,
    payments: &[Movement],
    warnings: &[Warning],
    ticked: Option<&BTreeSet<WarningKind>>,
) -> Vec<WarningGroup> {
    let needed = to_tick(warnings);
    let group = |kind: WarningKind| {
        let own: Vec<&Warning> = warnings.iter().filter(|warning| warning.kind() == kind).collect();
        let tick = needed.contains(&kind).then(|| {
            let is_ticked = ticked.is_some_and(|ticked| ticked.contains(&kind));
            Tick {
                name: format!("{ALTHOUGH}{}", kind.as_str()),
                label: label(kind, draft, payments, &own),
                is_ticked,
                error: (ticked.is_some() && !is_ticked).then_some("Fix what is listed, or tick this."),
            }
        });
        let rows = own.iter().take(LISTED_MAX).map(|warning| row(draft, payments, warning)).collect();
        let more = own.len().saturating_sub(LISTED_MAX);
        (!own.is_empty()).then_some(WarningGroup { title: title(kind), rows, more, tick })
    };
    WarningKind::ALL.into_iter().filter_map(group).collect()
}

fn title(kind: WarningKind) -> &'static str {
    match kind {
        WarningKind::Unawaited => "No condition waits for this:",
        WarningKind::Unheld => "No step holds this back:",
        WarningKind::SafeTerms => "Check the terms of the SAFE:",
        WarningKind::Overdue => "Overdue from the start:",
    }
}

fn label(kind: WarningKind, draft: &Agreement, payments: &[Movement], own: &[&Warning]) -> String {
    match kind {
        WarningKind::Unawaited => format!("Publish although nothing waits for: {}", names(draft, payments, own)),
        WarningKind::Unheld => {
            format!("Publish although members can authorize and release this at once: {}", names(draft, payments, own))
        }
        WarningKind::SafeTerms => "Publish with these terms".to_owned(),
        WarningKind::Overdue => "Publish with obligations that are overdue from the start".to_owned(),
    }
}

fn names(draft: &Agreement, payments: &[Movement], own: &[&Warning]) -> String {
    let mut names: Vec<String> = own.iter().take(NAMED_MAX).map(|warning| thing(draft, payments, warning)).collect();
    let more = own.len().saturating_sub(NAMED_MAX);
    names.extend((more > 0).then(|| format!("{more} more")));
    names.join(", ")
}

/// What nothing waits for or holds back, such as `“Deposit”` or `“Buyer” in “Deed”`.
fn thing(draft: &Agreement, payments: &[Movement], warning: &Warning) -> String {
    match warning {
        Warning::PaymentUnawaited { movement_id } | Warning::PaymentUnheld { movement_id } => {
            payment_name(payments, *movement_id)
        }
        Warning::DocumentUnawaited { document_id } => document_name(draft, *document_id),
        Warning::BlockUnawaited { document_id, block_id } => {
            let blocks = draft.document(*document_id).map(|document| document.blocks.as_slice()).unwrap_or_default();
            let label = blocks.iter().find(|block| block.id == *block_id).map_or("", |block| block.label.as_str());
            format!("“{label}” in {}", document_name(draft, *document_id))
        }
        Warning::SafePaymentDiffers { .. }
        | Warning::SafeUnpaid { .. }
        | Warning::SafeCapTooLow { .. }
        | Warning::PromiseOverdue { .. } => String::new(),
    }
}

fn payment_name(payments: &[Movement], id: MovementId) -> String {
    let found = payments.iter().find(|payment| payment.id() == id);
    format!("“{}”", found.map_or("", name))
}

fn document_name(draft: &Agreement, id: DocumentId) -> String {
    format!("“{}”", draft.document(id).map_or("", |document| document.name.as_str()))
}

fn row(draft: &Agreement, payments: &[Movement], warning: &Warning) -> BlockerRow {
    let (id, own) = (draft.id(), agreement_url(draft.id()));
    // A person chooses the condition's step; the last is a guess.
    let add_condition = || {
        let last = draft.stages.last();
        last.map_or_else(|| format!("{own}#add-step"), |stage| format!("{}#add", step_url(id, stage.id)))
    };
    let holder = |payment| draft.stage_to_hold_back(draft.stage_of_movement(payment)?.id);
    let thing = thing(draft, payments, warning);
    let (url, text) = match warning {
        Warning::PaymentUnawaited { .. } => (add_condition(), format!("The payment {thing}: add a condition for it")),
        Warning::PaymentUnheld { movement_id } => (
            holder(*movement_id).map_or(own, |stage| step_url(id, stage.id)),
            format!("The payment {thing}: have the step before its own let members authorize payments"),
        ),
        Warning::DocumentUnawaited { document_id } => match draft.document(*document_id) {
            Some(document) if document.blocks.is_empty() => (
                format!("{}#add-block", document_url(id, *document_id)),
                format!("The document {thing}: add a signature block, or say that nobody signs it"),
            ),
            _ => (add_condition(), format!("The document {thing}: add a condition for it")),
        },
        Warning::BlockUnawaited { .. } => (add_condition(), format!("The signature {thing}: add a condition for it")),
        Warning::SafePaymentDiffers { terms, paid, movement_id } => {
            let pays = paid.map_or_else(|| "amounts in several currencies".to_owned(), |paid: Money| paid.for_people());
            let name = payment_name(payments, *movement_id);
            (
                format!("{own}/terms"),
                format!("The terms say {}, and the investor pays {pays} ({name})", terms.for_people()),
            )
        }
        Warning::SafeUnpaid { terms } => (
            format!("{}#add", payments_url(id)),
            format!("The terms say {}, and no payment comes from the investor", terms.for_people()),
        ),
        Warning::SafeCapTooLow { cap, investment } => (
            format!("{own}/terms"),
            format!(
                "The valuation cap of {} is not above the investment of {}",
                cap.for_people(),
                investment.for_people()
            ),
        ),
        Warning::PromiseOverdue { promise_id, days } => {
            let name = draft.promise(*promise_id).map_or("", |promise| promise.name.as_str());
            let dates = if *days == 1 { "1 date".to_owned() } else { format!("{days} dates") };
            (promise_url(id, *promise_id), format!("“{name}” was already due on {dates}"))
        }
    };
    BlockerRow { url, text }
}

/// The response to a publication without the required ticks.
#[must_use]
pub fn not_meant() -> (StatusCode, &'static str, Notice) {
    let line = "Fix what is listed beside the button, or tick that you mean it.";
    (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice::bad("Nothing was published", line))
}

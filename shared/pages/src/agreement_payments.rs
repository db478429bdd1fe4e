//! An agreement's payments on its page: claim and proof in two columns that never look alike.

use shared::domain::agreement::Agreement;
use shared::domain::contact::Contact;
use shared::domain::ids::ParticipantId;
use shared::domain::ledger::{LedgerState, is_agreed};
use shared::domain::money::{Money, in_app};
use shared::domain::movement::Movement;
use shared::domain::movement::state::MovementState;
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::limits;
use shared::text;
use shared::text::movements::{self as words, reference_type};
use shared::text::reader::Shown as _;

use crate::labels::{Badge, payment_badge};
use crate::urls::movement_url;

/// The payments.
pub struct Payments {
    /// The payments that stand open on this page, those that need something first.
    pub rows: Vec<PaymentRow>,
    /// The others on it, behind a disclosure.
    pub folded: Vec<PaymentRow>,
    /// What the disclosure says.
    pub unfold: String,
    /// The previous page.
    pub before: Option<String>,
    /// The next page, and how many payments follow.
    pub after: Option<(String, String)>,
}

impl Payments {
    /// The payments of a page behind `offset` of `total`. On the first one only the beginning is open.
    #[must_use]
    pub fn new(mut rows: Vec<PaymentRow>, offset: usize, total: usize, url: &str) -> Self {
        let page = |from: usize| format!("{url}?payments={from}#payments");
        let (on_page, shown) = (rows.len(), offset + rows.len());
        let folded = if offset > 0 { Vec::new() } else { rows.split_off(on_page.min(limits::AGREEMENT_PAYMENTS_OPEN)) };
        let unfold = if shown == total {
            format!("Show all {total} payments")
        } else {
            format!("Show {}", text::counted(folded.len(), "more payment"))
        };
        Self {
            rows,
            folded,
            unfold,
            before: (offset > 0).then(|| page(offset.saturating_sub(limits::AGREEMENT_PAYMENTS_SHOWN))),
            after: (shown < total).then(|| (page(shown), text::counted(total - shown, "more payment"))),
        }
    }
}

/// A payment.
pub struct PaymentRow {
    /// Its page.
    pub url: String,
    /// What it is for.
    pub purpose: String,
    /// Its state.
    pub badge: Badge,
    /// Its amount, or an empty text.
    pub amount: String,
    /// Who pays.
    pub payer: String,
    /// Who is paid.
    pub payee: String,
    /// When it is due, and whether it is overdue.
    pub due: Option<(String, bool)>,
    /// The sender's claim, in lines; empty without one.
    pub claim: Vec<String>,
    /// What is proven, and what needs review.
    pub proof: Proof,
}

/// A payment's proof, in short.
pub struct Proof {
    /// The text, in lines.
    pub lines: Vec<String>,
    /// Whether a member confirmed the arrival. Only then it is green.
    pub is_confirmed: bool,
}

impl PaymentRow {
    /// A row.
    #[must_use]
    pub fn new(movement: &Movement, agreement: &Agreement, contacts: &[Contact], is_overdue: bool) -> Self {
        let terms = movement.terms();
        Self {
            url: movement_url(movement.id()),
            purpose: purpose_of(movement),
            // The record of an ended agreement's movement may lag behind.
            badge: payment_badge(&movement.as_told(agreement)),
            amount: terms.money.map(Money::for_people).unwrap_or_default(),
            payer: name_of(agreement, contacts, terms.sender),
            payee: name_of(agreement, contacts, terms.receiver),
            due: terms.due_on.map(|due| (due.shown(), is_overdue)),
            claim: claim(movement),
            proof: proof(movement),
        }
    }
}

/// Whether a payment is overdue, as lists and Home have it ([`LedgerState::is_overdue`]).
#[must_use]
pub fn is_overdue(movement: &Movement, agreement: &Agreement, zone: &TimeZone, now: Timestamp) -> bool {
    let due_at = movement.terms().due_on.map(|due| zone.end_of(due));
    let state = LedgerState::from(movement.as_told(agreement).state());
    state.is_overdue(is_agreed(agreement.lifecycle()), due_at, now)
}

fn claim(movement: &Movement) -> Vec<String> {
    let Some(claim) = movement.claim() else { return Vec::new() };
    let said = format!("Says it was sent on {}", claim.sent_on.shown());
    let references = claim
        .references
        .iter()
        .map(|reference| format!("{} {}", reference_type(reference.reference_type()), reference.value()));
    [said].into_iter().chain(references).collect()
}

fn proof(movement: &Movement) -> Proof {
    let due = movement.terms().money;
    if let Some(confirmation) = movement.confirmation() {
        let lines = vec!["Confirmed received".to_owned(), format!("By {}", words::basis(confirmation.basis))];
        return Proof { lines, is_confirmed: true };
    }
    let (mut lines, waiting) = (Vec::new(), movement.receipts().values().filter(|entry| !entry.is_accepted).count());
    if let (Some(receipt), Some(due)) = (movement.receipt(), due)
        && receipt.received_minor > 0
    {
        let received = in_app(receipt.received_minor, due.currency().code());
        lines.push(format!("{received} of {} accepted", due.for_people()));
    }
    if waiting > 0 && movement.state() == MovementState::Processing {
        lines.push(if waiting == 1 { "1 to review".to_owned() } else { format!("{waiting} to review") });
    }
    Proof { lines, is_confirmed: false }
}

/// A participant's name.
#[must_use]
pub fn name_of(agreement: &Agreement, contacts: &[Contact], id: Option<ParticipantId>) -> String {
    let contact = id.and_then(|id| agreement.participant(id)).map(|participant| participant.contact_id);
    let contact = contacts.iter().find(|known| Some(known.id) == contact);
    contact.map_or_else(|| "Not chosen yet".to_owned(), |contact| contact.display_name.as_str().to_owned())
}

/// A payment's purpose.
#[must_use]
pub fn purpose_of(movement: &Movement) -> String {
    movement.terms().purpose.as_ref().map_or_else(|| "Payment".to_owned(), |purpose| purpose.as_str().to_owned())
}

//! The payments of an agreement on its page: claim and proof of each in two columns that never look alike.

use shared::domain::agreement::Agreement;
use shared::domain::agreement::gate::{GateRule, GateStatus};
use shared::domain::contact::Contact;
use shared::domain::day::Day;
use shared::domain::ids::ParticipantId;
use shared::domain::money::{Money, in_app};
use shared::domain::movement::Movement;
use shared::domain::movement::state::MovementState;
use shared::domain::sentences::movements::{self as words, reference_type};
use shared::service::agreements::{AgreementReview, ShownMovements};

use crate::agreement_summary::{AgreementSummary, GateRow};
use crate::labels::{Badge, movement_badge};
use crate::layout::Link;
use crate::urls::{agreement_url, movement_url};

/// The payments.
pub struct Payments {
    pub rows: Vec<PaymentRow>,
    /// The page with those before these.
    pub before: Option<String>,
    /// The page with those after these, and how many they are.
    pub after: Option<(String, usize)>,
}

/// A payment.
pub struct PaymentRow {
    pub url: String,
    pub purpose: String,
    pub badge: Badge,
    pub amount: String,
    pub payer: String,
    pub payee: String,
    /// When it is due, and whether that is past.
    pub due: Option<(String, bool)>,
    /// What the sender says, a line each. Empty if they say nothing.
    pub claim: Vec<String>,
    /// What is proven, and what waits for review.
    pub proof: Proof,
}

/// The proof of a payment in short.
pub struct Proof {
    pub lines: Vec<String>,
    /// Whether a member confirmed the arrival: nothing else is green.
    pub is_confirmed: bool,
}

impl AgreementSummary {
    /// The summary of a published agreement with its payments, and with links to those for which its conditions wait. `today`
    /// is the day in the organization's zone.
    pub fn with_movements(mut self, review: &AgreementReview, today: Day) -> Self {
        let (agreement, contacts) = (&review.in_full.agreement, &review.in_full.contacts);
        let ShownMovements { by_id, on_page, offset, total } = &review.movements;
        for (step, stage) in self.steps.iter_mut().zip(&agreement.stages) {
            for (row, gate) in step.gates.iter_mut().zip(&stage.gates) {
                if let Some(id) = gate.rule.movement().filter(|_| agreement.was_published()) {
                    let purpose = by_id.get(&id).map(purpose_of);
                    let is_locked = gate.state.status() == GateStatus::Locked;
                    name_payment(
                        row,
                        (&gate.rule, is_locked),
                        Link { url: movement_url(id), text: purpose.unwrap_or_default() },
                    );
                }
            }
        }
        let rows: Vec<PaymentRow> = on_page
            .iter()
            .filter_map(|id| by_id.get(id))
            .map(|movement| PaymentRow::new(movement, (agreement, contacts), today))
            .collect();
        let page = |from: usize| format!("{}?payments={from}#payments", agreement_url(agreement.id()));
        let (shown, per_page) = (offset + on_page.len(), shared::limits::AGREEMENT_PAYMENTS_SHOWN);
        self.payments = (*total > 0).then(|| Payments {
            rows,
            before: (*offset > 0).then(|| page(offset.saturating_sub(per_page))),
            after: (shown < *total).then(|| (page(shown), total - shown)),
        });
        self
    }
}

/// Names the payment for which a condition waits, and links it.
fn name_payment(row: &mut GateRow, (rule, is_locked): (&GateRule, bool), payment: Link) {
    let name = if payment.text.is_empty() { "a payment".to_owned() } else { format!("“{}”", payment.text) };
    row.requirement = match rule {
        GateRule::MovementAuthorized { .. } => format!("Authorization of {name}"),
        _ => format!("Proof from the receiving side that {name} arrived"),
    };
    let text = if payment.text.is_empty() { "Payment".to_owned() } else { format!("Payment: {}", payment.text) };
    // What is not open yet is in the list of payments.
    if !is_locked {
        row.acts.push(Link { text, ..payment });
    }
}

impl PaymentRow {
    fn new(movement: &Movement, (agreement, contacts): (&Agreement, &[Contact]), today: Day) -> Self {
        let terms = movement.terms();
        // Of an agreement that has ended, the movement's own record may not say so yet.
        let state = agreement.movement_state(movement.id()).unwrap_or(movement.state());
        let is_past = |due: &Day| *due < today && !state.is_done();
        Self {
            url: movement_url(movement.id()),
            purpose: purpose_of(movement),
            badge: movement_badge(state),
            amount: terms.money.map(Money::for_people).unwrap_or_default(),
            payer: name_of(agreement, contacts, terms.sender),
            payee: name_of(agreement, contacts, terms.receiver),
            due: terms.due_on.map(|due| (due.for_people(), is_past(&due))),
            claim: claim(movement),
            proof: proof(movement),
        }
    }
}

/// What the sender says.
fn claim(movement: &Movement) -> Vec<String> {
    let Some(claim) = movement.claim() else { return Vec::new() };
    let said = format!("Says it was sent on {}", claim.sent_on.for_people());
    let references = claim
        .references
        .iter()
        .map(|reference| format!("{} {}", reference_type(reference.reference_type()), reference.value()));
    [said].into_iter().chain(references).collect()
}

/// What is proven.
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

/// The name of a participant of an agreement.
pub fn name_of(agreement: &Agreement, contacts: &[Contact], id: Option<ParticipantId>) -> String {
    let contact = id.and_then(|id| agreement.participant(id)).map(|participant| participant.contact_id);
    let contact = contacts.iter().find(|known| Some(known.id) == contact);
    contact.map_or_else(|| "Not chosen yet".to_owned(), |contact| contact.display_name.as_str().to_owned())
}

/// What a payment is for.
pub fn purpose_of(movement: &Movement) -> String {
    movement.terms().purpose.as_ref().map_or_else(|| "Payment".to_owned(), |purpose| purpose.as_str().to_owned())
}

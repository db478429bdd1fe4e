//! A participant's payments in words: tasks and status.
//!
//! Decision: mere claims are never green; only payments confirmed received are.

use pages::labels::{Badge, movement_badge};
use pages::layout::Link;
use pages::tasks::{TaskRow, WaitsFor};
use pages::urls::part_url;
use shared::domain::ids::ParticipantId;
use shared::domain::money::Money;
use shared::domain::movement::Movement;
use shared::domain::movement::state::MovementState;
use shared::limits;
use shared::service::participants::ParticipantView;
use shared::text;
use shared::text::reader::Shown as _;

use crate::name_of;

pub(super) fn payment_url(participant: ParticipantId, payment: &Movement) -> String {
    format!("{}/payments/{}", part_url(participant), payment.id())
}

pub(super) fn purpose(payment: &Movement) -> String {
    payment.terms().purpose.as_ref().map_or_else(|| "Payment".to_owned(), |purpose| purpose.as_str().to_owned())
}

pub(super) fn amount(payment: &Movement) -> String {
    payment.terms().money.map_or_else(|| "An amount to be agreed".to_owned(), Money::for_people)
}

pub(super) fn is_sender(payment: &Movement, participant: ParticipantId) -> bool {
    payment.terms().sender == Some(participant)
}

pub(super) fn is_receiver(payment: &Movement, participant: ParticipantId) -> bool {
    payment.terms().receiver == Some(participant)
}

pub(super) fn party_name(view: &ParticipantView, id: Option<ParticipantId>) -> &str {
    id.map_or("Not set", |id| name_of(view, id))
}

pub(super) struct PaymentRow {
    pub link: Link,
    pub about: String,
    pub badge: Badge,
}

/// A participant's payments: waiting ones first, then unfinished ones; and the number of others.
pub(super) fn payment_rows(view: &ParticipantView, by: ParticipantId) -> (Vec<PaymentRow>, usize) {
    let mut payments: Vec<&Movement> = view.payments.iter().collect();
    payments.sort_by_key(|payment| (task_of(view, payment, by).is_none(), payment.state().is_done()));
    let more = payments.len().saturating_sub(limits::OWN_PAYMENTS_SHOWN_MAX);
    let rows = payments.into_iter().take(limits::OWN_PAYMENTS_SHOWN_MAX).map(|payment| {
        let terms = payment.terms();
        let what = if is_sender(payment, by) {
            format!("You pay {} to {}", amount(payment), party_name(view, terms.receiver))
        } else {
            format!("You receive {} from {}", amount(payment), party_name(view, terms.sender))
        };
        let due = terms.due_on.map(|day| format!(" · Due {}", day.shown())).unwrap_or_default();
        PaymentRow {
            link: Link { url: payment_url(by, payment), text: purpose(payment) },
            about: format!("{what}{due}"),
            badge: movement_badge(payment.state()),
        }
    });
    (rows.collect(), more)
}

/// The payments that wait for a participant: for the sender to send, for the receiver to report the arrival. The sender
/// also reads what is missing of a payment: who has to act about that, nobody here knows.
pub(super) fn payment_tasks(view: &ParticipantView, by: ParticipantId) -> Vec<TaskRow> {
    let tasks = view.payments.iter().filter_map(|payment| task_of(view, payment, by));
    tasks.take(limits::OWN_PAYMENTS_SHOWN_MAX).collect()
}

fn task_of(view: &ParticipantView, payment: &Movement, by: ParticipantId) -> Option<TaskRow> {
    let (terms, rest) = (payment.terms(), text::payment_rest(payment));
    let what = rest.as_ref().map_or_else(|| amount(payment), |rest| format!("the other {rest}"));
    let (text, verb, waits_for) = match payment.state() {
        MovementState::InstructionsReady if is_sender(payment, by) => {
            let text = format!("Pay {what} to {}", party_name(view, terms.receiver));
            (text, "View instructions", WaitsFor::Participant)
        }
        MovementState::SenderReported | MovementState::ReceiptPending if is_receiver(payment, by) => {
            let text = format!("Say whether {what} from {} has arrived", party_name(view, terms.sender));
            (text, "Check and report", WaitsFor::Participant)
        }
        MovementState::SenderReported | MovementState::ReceiptPending if is_sender(payment, by) => {
            let text = format!("{} of {} is still missing", rest?, amount(payment));
            (text, "View payment", WaitsFor::Rest)
        }
        _ => return None,
    };
    let due = terms.due_on.map(|day| format!(" · Due {}", day.shown())).unwrap_or_default();
    Some(TaskRow {
        link: Link { url: payment_url(by, payment), text },
        verb,
        about: format!("Payment: {}{due}", purpose(payment)),
        waits_for,
        returnable: None,
    })
}

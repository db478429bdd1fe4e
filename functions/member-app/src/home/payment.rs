use pages::agreement_payments::purpose_of;
use pages::labels::{Badge, OVERDUE, actor_label, payment_badge};
use pages::urls::movement_url;
use shared::domain::money::Money;
use shared::domain::movement::Risk;
use shared::service::home::{PaymentToSee, PaymentWait};
use shared::text::movements::exception;
use shared::text::reader::Shown as _;

use crate::home::{Item, Urgency};

impl Item {
    /// A payment to look at. Suspected fraud and changed instructions come first, and all exceptions are red.
    pub(super) fn of_payment(payment: &PaymentToSee) -> Self {
        let movement = &payment.movement;
        let is_fraud = movement.risk() == Some(Risk::SuspectedFraud);
        let badge = match payment.wait {
            PaymentWait::InstructionsChanged | PaymentWait::VerificationEnded | PaymentWait::Exception => {
                payment_badge(movement)
            }
            PaymentWait::Evidence => Badge { text: "Evidence to review", class: "blue" },
            _ if payment.overdue_since.is_some() => OVERDUE,
            wait => Badge { text: to_do(wait), class: "amber" },
        };
        let is_told = badge.text == to_do(payment.wait);
        let why = match (payment.wait, movement.exception_reason(), movement.instructions()) {
            (PaymentWait::Exception, Some(reason), _) if !is_fraud => Some(exception(reason).to_owned()),
            (PaymentWait::InstructionsChanged, _, Some(instructions)) => {
                instructions.changes.last().map(|change| format!("changed by {}", actor_label(&change.by)))
            }
            (PaymentWait::VerificationEnded, ..) => {
                Some("wrong numbers were typed too many times: enter the instructions again".to_owned())
            }
            (PaymentWait::Others, ..) => Some(payment.waits_for.clone()).filter(|text| !text.is_empty()),
            (wait, ..) => Some(to_do(wait).to_owned()).filter(|text| !is_told && !text.is_empty()),
        };
        let due = movement.terms().due_on.map(|due| format!("due {}", due.shown()));
        let agreement = Some(payment.agreement.as_str().to_owned());
        let detail: Vec<String> = [agreement, due, why].into_iter().flatten().collect();
        let urgency = match payment.wait {
            PaymentWait::InstructionsChanged => Urgency::AtRisk,
            _ if is_fraud => Urgency::AtRisk,
            PaymentWait::VerificationEnded | PaymentWait::Exception => Urgency::Stopped,
            _ if payment.overdue_since.is_some() => Urgency::Late,
            _ => Urgency::Asked,
        };
        Self {
            at: payment.since,
            ends_at: payment.due_at,
            what: "Payment",
            amount: movement.terms().money.map(Money::for_people).unwrap_or_default(),
            when: payment.since.map(|since| ("since", since)),
            badge: Some((badge.text.to_owned(), badge.class)),
            ..Self::new(urgency, movement_url(movement.id()), &purpose_of(movement), detail.join(" · "))
        }
    }
}

fn to_do(wait: PaymentWait) -> &'static str {
    match wait {
        PaymentWait::Verification => "Instructions to verify",
        PaymentWait::Authorization => "To authorize",
        PaymentWait::Instructions => "Instructions to enter",
        PaymentWait::Release => "Instructions to release",
        PaymentWait::InstructionsChanged
        | PaymentWait::VerificationEnded
        | PaymentWait::Exception
        | PaymentWait::Evidence
        | PaymentWait::Others => "",
    }
}

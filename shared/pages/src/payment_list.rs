//! An agreement's payments, as one section among others.

use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::contact::Contact;
use shared::domain::ids::ParticipantId;
use shared::domain::money::Money;
use shared::domain::movement::Movement;
use shared::domain::movement::safe_text::SafeLine;
use shared::domain::movement::terms::PaymentTerms;
use shared::text;
use shared::text::reader::Shown as _;

use crate::agreement_summary::participant_name;
use crate::labels::{Badge, payment_badge};
use crate::urls::{agreement_url, movement_url, payment_url, payments_url};

const SHOWN_MAX: usize = 30;

/// A payment's title.
pub fn name(payment: &Movement) -> &str {
    payment.terms().purpose.as_ref().map_or("Payment without a purpose", SafeLine::as_str)
}

/// What a payment lacks before its draft can be published.
#[must_use]
pub fn lacking(terms: &PaymentTerms, agreement: &Agreement) -> Vec<&'static str> {
    let takes_part = |id: Option<ParticipantId>| id.is_some_and(|id| agreement.participant(id).is_some());
    let needed = [
        ("purpose", terms.purpose.is_some()),
        ("amount", terms.money.is_some()),
        ("payer", takes_part(terms.sender)),
        ("payee", takes_part(terms.receiver)),
    ];
    needed.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect()
}

/// A payment in a list.
pub struct PaymentRow {
    /// Its page.
    pub url: String,
    /// What it is called.
    pub name: String,
    /// Its amount, if it has one.
    pub amount: Option<String>,
    /// Who pays whom.
    pub parties: String,
    /// How, by when, and with which reference.
    pub detail: String,
    /// Whether it blocks publication.
    pub is_incomplete: bool,
    /// Its state; none in a draft.
    pub state: Option<Badge>,
}

impl PaymentRow {
    /// A payment of an agreement.
    pub fn new(payment: &Movement, agreement: &Agreement, contacts: &[Contact]) -> Self {
        let terms = payment.terms();
        let party = |id: Option<ParticipantId>| {
            let there = id.filter(|id| agreement.participant(*id).is_some());
            there.map(|id| participant_name(agreement, contacts, id))
        };
        let parties = match (party(terms.sender), party(terms.receiver)) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            (Some(from), None) => format!("From {from}, no payee yet"),
            (None, Some(to)) => format!("To {to}, no payer yet"),
            (None, None) => "No payer and no payee yet".to_owned(),
        };
        let due = terms.due_on.map(|day| format!("Due {}", day.shown()));
        let reference = terms.reference.as_ref().map(|reference| format!("Reference {}", reference.as_str()));
        let detail = [Some(text::movements::method(terms.method).to_owned()), due, reference];
        let is_draft = agreement.lifecycle() == Lifecycle::Draft;
        Self {
            url: if is_draft { payment_url(agreement.id(), payment.id()) } else { movement_url(payment.id()) },
            name: name(payment).to_owned(),
            amount: terms.money.map(Money::for_people),
            parties,
            detail: detail.into_iter().flatten().collect::<Vec<_>>().join(" · "),
            is_incomplete: is_draft && !lacking(terms, agreement).is_empty(),
            // An ended agreement may say so before its payment's record does.
            state: (!is_draft).then(|| payment_badge(&payment.as_told(agreement))),
        }
    }
}

/// An agreement's payments, as one section among others.
pub struct PaymentList {
    /// The first payments.
    pub rows: Vec<PaymentRow>,
    /// How many more there are.
    pub more: usize,
    /// The page with all of them.
    pub more_url: String,
}

impl PaymentList {
    /// The first payments, and how many more there are.
    #[must_use]
    pub fn new(payments: &[Movement], agreement: &Agreement, contacts: &[Contact]) -> Self {
        let rows = payments.iter().take(SHOWN_MAX).map(|payment| PaymentRow::new(payment, agreement, contacts));
        let rows: Vec<PaymentRow> = rows.collect();
        // The caller may have read only some.
        let all = if payments.is_empty() { 0 } else { agreement.movements().len().max(payments.len()) };
        let more_url = match agreement.lifecycle() {
            Lifecycle::Draft => payments_url(agreement.id()),
            _ => format!("{}#payments", agreement_url(agreement.id())),
        };
        Self { more: all.saturating_sub(rows.len()), rows, more_url }
    }
}

impl PaymentList {
    /// Whether rows link to their pages. Those of a draft don't: they show what is about to be published.
    #[must_use]
    pub fn are_linked(&self) -> bool {
        self.rows.iter().any(|row| row.state.is_some())
    }
}

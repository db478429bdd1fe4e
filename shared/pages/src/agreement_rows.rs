//! Agreements in lists.

use std::collections::BTreeSet;

use shared::domain::agreement::{Agreement, Lifecycle, ParticipantRole};
use shared::domain::day::Day;
use shared::domain::ids::ContactId;
use shared::domain::organization::Organization;
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::service::agreements::AgreementRows;
use shared::text::reader::Shown as _;
use shared::text::{self, WaitContext};

use crate::agreement_summary::participant_name;
use crate::labels::{Badge, agreement_badge};

/// An agreement in a list.
pub struct AgreementRow {
    /// Its page.
    pub url: String,
    /// Its name.
    pub name: String,
    /// Whom it is with: not the organization itself, and no observers.
    pub counterparties: String,
    /// Its amount of money, if one can be told.
    pub amount: String,
    /// Whom or what its current step waits for.
    pub waiting_for: String,
    /// The day on which it expires or its first payment is due, unless it has ended.
    pub due: String,
    /// Whether a payment of an active agreement is past due.
    pub is_overdue: bool,
    /// Its state.
    pub badge: Badge<String>,
}

impl AgreementRow {
    /// The rows of a page.
    #[must_use]
    pub fn rows(rows: &AgreementRows, organization: &Organization, now: Timestamp) -> Vec<Self> {
        let today = organization.time_zone.day_of(now);
        let row = |agreement: &Agreement| Self::new(agreement, rows, organization, today);
        rows.page.page.data.iter().map(row).collect()
    }

    fn new(agreement: &Agreement, rows: &AgreementRows, organization: &Organization, today: Day) -> Self {
        let own = &organization.own_contact_ids;
        let AgreementRows { contacts, payments, named, .. } = rows;
        let context = WaitContext { contacts, own, payments: payments.states(), named };
        let wait = text::current_wait(agreement, context);
        let (is_ready, is_proposed) =
            (rows.page.ready.contains(&agreement.id()), rows.page.proposed.contains(&agreement.id()));
        let payment = payments.due_of(agreement.id());
        Self {
            url: format!("/app/agreements/{}", agreement.id()),
            name: agreement.name.as_str().to_owned(),
            counterparties: counterparties(agreement, rows, own),
            amount: text::agreement_amount(agreement, rows.payments.amounts_of(agreement.id())),
            waiting_for: match agreement.lifecycle() {
                Lifecycle::Draft if is_ready || is_proposed => text::draft_wait(is_proposed).to_owned(),
                Lifecycle::Draft => "A member to finish it".to_owned(),
                _ => wait.map(|wait| wait.on).unwrap_or_default(),
            },
            due: due(agreement, payment, &organization.time_zone),
            is_overdue: agreement.lifecycle() == Lifecycle::Active && payment.is_some_and(|due| due < today),
            badge: agreement_badge(agreement, is_ready),
        }
    }
}

fn counterparties(agreement: &Agreement, rows: &AgreementRows, own: &BTreeSet<ContactId>) -> String {
    const NAMED_MAX: usize = 2;
    let observes = |roles: &BTreeSet<ParticipantRole>| roles.iter().eq([&ParticipantRole::Observer]);
    let others = agreement.participants.iter().filter(|participant| !own.contains(&participant.contact_id));
    let others: Vec<_> = others.filter(|participant| !observes(&participant.roles)).collect();
    let named = others.iter().take(NAMED_MAX).map(|other| participant_name(agreement, &rows.contacts, other.id));
    let named = named.collect::<Vec<_>>().join(", ");
    if others.len() > NAMED_MAX { format!("{named} and {} more", others.len() - NAMED_MAX) } else { named }
}

fn due(agreement: &Agreement, payment: Option<Day>, zone: &TimeZone) -> String {
    let goes_on = matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    let expires = agreement.expires_at.map(|at| zone.day_of(at));
    let first = expires.into_iter().chain(payment).min().filter(|_| goes_on);
    first.map(Day::shown).unwrap_or_default()
}

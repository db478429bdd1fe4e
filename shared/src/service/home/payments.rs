//! The payments of Home's work queue.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::agreement::gate::Gate;
use crate::domain::agreement::{Agreement, AgreementName, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, MemberId, MovementId};
use crate::domain::ledger::{LedgerState, is_agreed};
use crate::domain::movement::Movement;
use crate::domain::movement::instructions::InstructionsStatus;
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::limits;
use crate::service::home::shortlist::Shortlist;
use crate::service::scope::Scope;
use crate::store::Versioned;
use crate::store::agreements::{OpenAgreement, OpenAgreements};
use crate::store::movements::WaitingMovement;
use crate::text;

/// What a payment waits for, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaymentWait {
    /// Its instructions were changed, and nobody has verified them since.
    InstructionsChanged,
    /// Too many wrong tries ended the verification of its instructions.
    VerificationEnded,
    /// It is an exception.
    Exception,
    /// Receiver-side evidence is to be accepted or rejected.
    Evidence,
    /// Its instructions are to be verified by the member.
    Verification,
    /// It is to be authorized.
    Authorization,
    /// Its instructions are to be entered.
    Instructions,
    /// Its instructions are to be released to the payer.
    Release,
    /// Others: nothing, unless it is overdue.
    Others,
}

impl PaymentWait {
    /// What a payment waits for, as its record and its current agreement say.
    fn as_recorded(self, movement: &Movement, current: &Agreement) -> Self {
        match self {
            Self::Authorization if !current.lets_authorize(movement.id()) => Self::Others,
            Self::Authorization | Self::Instructions | Self::Release if current.lifecycle() != Lifecycle::Active => {
                Self::Others
            }
            // Rows that were written before they said so don't know of instructions.
            Self::Instructions | Self::Release => match movement.instructions() {
                None => Self::Instructions,
                Some(_) if current.lets_release(movement.id()) => Self::Release,
                Some(_) => Self::Others,
            },
            Self::InstructionsChanged
                if movement.instructions().is_some_and(InstructionsStatus::has_verification_ended) =>
            {
                Self::VerificationEnded
            }
            known => known,
        }
    }

    /// How soon a member should look at it, soonest first: what is overdue, the longest first, comes before what can
    /// wait.
    fn urgency(self, overdue_since: Option<Timestamp>) -> (u8, Option<Timestamp>, Self) {
        let can_wait = self > Self::Evidence;
        let overdue_since = overdue_since.filter(|_| can_wait);
        (u8::from(can_wait) + u8::from(can_wait && overdue_since.is_none()), overdue_since, self)
    }
}

/// A payment that a member should look at.
#[derive(Debug, Clone)]
pub struct PaymentToSee {
    /// The payment.
    pub movement: Movement,
    /// The name of its agreement.
    pub agreement: AgreementName,
    /// What it waits for.
    pub wait: PaymentWait,
    /// When it is due, if that is known.
    pub due_at: Option<Timestamp>,
    /// Since when it is overdue, if it is.
    pub overdue_since: Option<Timestamp>,
    /// Since when it waits, if known.
    pub since: Option<Timestamp>,
    /// Whom or what it waits for, if not for a member.
    pub waits_for: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RowToSee {
    pub row: WaitingMovement,
    pub wait: PaymentWait,
    due_at: Option<Timestamp>,
    is_overdue: bool,
}

impl RowToSee {
    fn overdue_since(&self) -> Option<Timestamp> {
        self.due_at.filter(|_| self.is_overdue)
    }

    /// The payment of the row, if a member should look at it.
    fn seen(&self, movement: Movement, current: &Agreement, contacts: &[Contact]) -> Option<PaymentToSee> {
        let wait = self.wait.as_recorded(&movement, current);
        let overdue_since = self.overdue_since().filter(|_| is_agreed(current.lifecycle()));
        let is_of_others = wait == PaymentWait::Others;
        if is_of_others && overdue_since.is_none() {
            return None;
        }
        let since = self.row.since_ms.and_then(|since| Timestamp::from_unix_ms(since).ok());
        let since = since.or_else(|| match wait {
            PaymentWait::Authorization => current.waiting_gates().filter_map(Gate::opened_at).min(),
            PaymentWait::Instructions | PaymentWait::Release => Some(movement.updated_at()),
            _ => None,
        });
        let is_on_its_way = matches!(
            movement.state(),
            MovementState::InstructionsReady | MovementState::SenderReported | MovementState::ReceiptPending
        );
        // Before that, a condition holds it back.
        let waits_for = if is_of_others && is_on_its_way {
            text::payment_wait(&movement, current, contacts)
        } else {
            String::new()
        };
        let agreement = current.name.clone();
        Some(PaymentToSee { movement, agreement, wait, due_at: self.due_at, overdue_since, since, waits_for })
    }
}

/// How many payments are read for each that Home shows: the clock may not have recorded yet that some have ended.
const READ_FOR_EACH: usize = 2;

/// The payments that a member should look at, most urgent first. The member doesn't verify instructions of `not_of`.
/// Overdue ones ([`LedgerState::is_overdue`]) are included even if others have to act.
pub(super) fn payments_to_see(
    waiting: &[WaitingMovement],
    open: &OpenAgreements,
    not_of: &BTreeSet<MemberId>,
    zone: &TimeZone,
    now: Timestamp,
) -> Shortlist<RowToSee> {
    let agreements: HashMap<AgreementId, &OpenAgreement> = open.open.iter().map(|open| (open.id, open)).collect();
    // Nobody is asked to prepare a payment while a condition is declined: its agreement may not go on.
    let is_declined = |row: &WaitingMovement| agreements.get(&row.agreement_id).is_some_and(|open| open.is_declined);
    // The record says so where the row doesn't.
    let may_release = |open: &OpenAgreement, id| open.to_release.as_ref().is_none_or(|ids| ids.contains(&id));
    let wait = |row: &WaitingMovement| match (row.state, row.unverified) {
        (_, Some((_, true))) => PaymentWait::InstructionsChanged,
        (MovementState::Exception, _) => PaymentWait::Exception,
        (MovementState::Processing, _) => PaymentWait::Evidence,
        _ if is_declined(row) => PaymentWait::Others,
        (_, Some((by, false))) if !not_of.contains(&by) => PaymentWait::Verification,
        (state, _) => match agreements.get(&row.agreement_id) {
            Some(open) if open.to_authorize.contains(&row.id) => PaymentWait::Authorization,
            Some(open) if open.is_active && state == MovementState::Authorized => match row.unverified {
                _ if !row.has_instructions => PaymentWait::Instructions,
                None if may_release(open, row.id) => PaymentWait::Release,
                _ => PaymentWait::Others,
            },
            _ => PaymentWait::Others,
        },
    };
    // Days end at the same moments for all of them.
    let mut ends = BTreeMap::new();
    let mut found: Vec<RowToSee> = waiting
        .iter()
        .filter_map(|row| {
            let due_at = row.due_on.map(|day| *ends.entry(day).or_insert_with(|| zone.end_of(day)));
            // If the agreement is not open, its record says whether it is completed or has ended otherwise.
            let is_agreed = agreements.get(&row.agreement_id).is_none_or(|open| open.is_active);
            let is_overdue = LedgerState::from(row.state).is_overdue(is_agreed, due_at, now);
            let wait = wait(row);
            let to_see = RowToSee { row: *row, wait, due_at, is_overdue };
            (wait != PaymentWait::Others || is_overdue).then_some(to_see)
        })
        .collect();
    let soon = now.plus_seconds(limits::CLOSES_SOON_S);
    found.sort_by_key(|to_see| {
        let due_soon = to_see.due_at.filter(|at| *at <= soon);
        let RowToSee { row, wait, .. } = to_see;
        let waits = (row.since_ms.unwrap_or(i64::MAX), row.due_on, row.id);
        (wait.urgency(to_see.overdue_since()), due_soon.is_none(), due_soon, waits)
    });
    Shortlist::of(found, limits::HOME_PAYMENTS_MAX * READ_FOR_EACH)
}

/// The payments of rows that Home shows.
pub(super) fn seen_payments(
    scope: &Scope,
    rows: &Shortlist<RowToSee>,
    movements: Vec<Versioned<Movement>>,
    agreements: &[Versioned<Agreement>],
    contacts: &[Contact],
) -> Shortlist<PaymentToSee> {
    let mut movements: HashMap<MovementId, Movement> =
        movements.into_iter().map(|movement| (movement.id(), movement.into_inner())).collect();
    let mut payments = rows.seen(|to_see| {
        let movement = movements.remove(&to_see.row.id)?;
        let agreement = agreements.iter().find(|agreement| agreement.id() == to_see.row.agreement_id)?;
        let current = agreement.as_of(agreement.facts(), scope.time_scale(), scope.now());
        if movement.ended_with(&current, scope.moment()).is_some() {
            return None;
        }
        to_see.seen(movement, &current, contacts)
    });
    payments.shown.sort_by_key(|payment| payment.wait.urgency(payment.overdue_since));
    payments.shown.truncate(limits::HOME_PAYMENTS_MAX);
    payments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authorized(has_instructions: bool) -> WaitingMovement {
        WaitingMovement {
            id: MovementId::new(),
            agreement_id: AgreementId::new(),
            state: MovementState::Authorized,
            has_instructions,
            unverified: None,
            due_on: None,
            since_ms: None,
        }
    }

    fn active(id: AgreementId, to_release: Option<BTreeSet<MovementId>>) -> OpenAgreement {
        OpenAgreement {
            id,
            is_active: true,
            contacts: Vec::new(),
            waited_for: BTreeSet::new(),
            is_declined: false,
            is_to_review: false,
            authorizations: 0,
            to_authorize: BTreeSet::new(),
            to_release,
            papers: Vec::new(),
            since_ms: 0,
            expires_ms: None,
        }
    }

    fn wait_of(row: WaitingMovement, to_release: Option<BTreeSet<MovementId>>) -> Option<PaymentWait> {
        let open = OpenAgreements { open: vec![active(row.agreement_id, to_release)], ended: 0 };
        let now = Timestamp::now();
        let found = payments_to_see(&[row], &open, &BTreeSet::new(), &TimeZone::default(), now);
        found.shown.first().map(|to_see| to_see.wait)
    }

    #[test]
    fn an_authorized_payment_waits_for_its_instructions_then_for_their_release_once_its_step_lets_it() {
        let (without, with) = (authorized(false), authorized(true));
        assert_eq!(wait_of(without, Some(BTreeSet::new())), Some(PaymentWait::Instructions));
        assert_eq!(wait_of(with, Some(BTreeSet::from([with.id]))), Some(PaymentWait::Release));
        assert_eq!(wait_of(with, Some(BTreeSet::new())), None, "its step has not come");
        let unverified = WaitingMovement { unverified: Some((MemberId::new(), false)), ..with };
        assert_eq!(wait_of(unverified, Some(BTreeSet::from([with.id]))), Some(PaymentWait::Verification));
    }

    #[test]
    fn where_an_agreements_row_was_written_before_it_said_what_can_be_released_the_payment_is_read() {
        assert_eq!(wait_of(authorized(true), None), Some(PaymentWait::Release));
    }
}

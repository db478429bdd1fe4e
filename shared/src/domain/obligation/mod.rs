//! Obligations: what participants owe each other once their promises came into force (specification, "Obligation").
//!
//! `projection` makes them from the promises of an agreement, once. `occurrences` says when they are due, `acts` has what
//! people do about them, `ending` what becomes of them when their agreement is cancelled or expires.
//!
//! Two facts are kept apart in every occurrence: *satisfied* is the promisor's claim that it is done, *confirmed* is the
//! other side's word, or a member's. A claim never becomes a confirmation.
//!
//! Decision: what is due is derived on read. A record has what people said, and not the occurrences for which nobody has
//! said anything: those follow from the schedule, the declared triggers or the last verification. So a recurrence without
//! end takes no space, and nothing is missed however late it is read: every occurrence up to now is there, and the next
//! [`limits::UPCOMING_SHOWN_MAX`](crate::limits::UPCOMING_SHOWN_MAX). Of confirmed occurrences, the latest
//! [`limits::OCCURRENCES_KEPT_MAX`](crate::limits::OCCURRENCES_KEPT_MAX) are kept in full, and the older ones as ranges of
//! numbers; [`limits::OCCURRENCES_WAITING_MAX`](crate::limits::OCCURRENCES_WAITING_MAX) claims may wait for confirmation.
//!
//! Decision: an obligation keeps the time zone that its organization had when it was projected. An organization that moves
//! to another zone moves no day that was agreed.
//!
//! Decision: the state of an obligation doesn't depend on the time, so rows and filters that were written once stay right.
//! Only the states of its occurrences and of a standing promise do. `dormant` waits for a trigger, and no claim waits for
//! confirmation; `satisfied` has nothing left to be done but claims that wait for confirmation; `confirmed` has nothing left
//! at all. A recurrence without end and a standing promise are `open` until they are cancelled.

mod acts;
mod ending;
#[cfg(test)]
pub(in crate::domain) mod fixtures;
#[cfg(test)]
mod histories;
mod occurrences;
mod projection;
mod sequences;

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

pub use acts::{Happening, ObligationContext, OwnClaim, Refused};
pub(super) use acts::{Satisfied, Speaker};
pub use ending::EndedObligation;
pub use occurrences::{Occurrence, OccurrenceOrigin, OccurrenceState, Standing, StandingState};
#[cfg(test)]
pub(super) use projection::project;
pub use projection::{begun, id_of, projected_at};

use super::actor::{Actor, ActorType};
use super::agreement::Label;
use super::agreement::promise::{Parties, PromiseKind};
use super::day::Day;
use super::event::ObligationData;
use super::ids::{AgreementId, MemberId, ObligationId, OccurrenceId, PromiseId, TriggerId, WorkspaceId};
use super::movement::evidence::EvidenceFile;
use super::participant::session::InPerson;
use super::proposal::Note;
use super::recurrence::Schedule;
use super::satisfaction::Satisfaction;
use super::time::Timestamp;
use super::time_zone::TimeZone;
use crate::crypto;
use crate::wire::enums::text_enum;
use sequences::Sequences;

text_enum! {
    /// Where an obligation is, as clients branch on it (contract, section 2).
    pub enum ObligationState {
        /// It waits for a trigger.
        Dormant = "dormant",
        /// Something is left to be done.
        Open = "open",
        /// The promisor says that all is done: a claim.
        Satisfied = "satisfied",
        /// The other side, or a member, has confirmed that all is done.
        Confirmed = "confirmed",
        /// It is no longer owed.
        Cancelled = "cancelled",
    }
}

/// An obligation as it is stored: one for each promise of an agreement.
///
/// Nothing but people's acts ([`member`](crate::domain::member), [`participant`](crate::domain::participant)) and the end of
/// its agreement changes what has been said about it:
///
/// ```compile_fail
/// use shared::domain::obligation::Obligation;
///
/// fn forget(obligation: &mut Obligation) {
///     obligation.cancellation = None;
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obligation {
    /// Its id: private, so that one obligation can't be written in the place of another.
    id: ObligationId,
    /// The agreement.
    agreement_id: AgreementId,
    /// The agreement's workspace.
    workspace_id: WorkspaceId,
    /// The promise in the agreement.
    promise_id: PromiseId,
    /// What was promised.
    name: Label,
    /// Who owes it to whom.
    parties: Parties,
    /// In which zone its days are.
    zone: TimeZone,
    /// When it is due.
    terms: Terms,
    /// The older confirmed occurrences.
    #[serde(default, skip_serializing_if = "Sequences::is_empty")]
    confirmed_before: Sequences,
    /// What was said about occurrences, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    said: Vec<SaidOf>,
    /// How it was cancelled, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancellation: Option<Cancellation>,
    /// When it was projected.
    created_at: Timestamp,
    /// When it was last changed.
    updated_at: Timestamp,
}

/// When an obligation is due, with what people declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Terms {
    Scheduled {
        schedule: Schedule,
    },
    Triggered {
        triggers: Vec<ObligationTrigger>,
    },
    Standing {
        reverify_every_days: NonZeroU16,
        /// The last verification.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verified_at: Option<Timestamp>,
    },
}

/// A trigger of an obligation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObligationTrigger {
    /// Its id, that of the promise's trigger.
    pub id: TriggerId,
    /// What happens.
    pub description: Label,
    /// How many days after it happened the obligation is due.
    pub due_after_days: u16,
    /// The day on which it happened, as whoever declared it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub happened_on: Option<Day>,
    /// The declaration that it happened, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Word>,
    /// The number of its occurrence among those of the obligation: declarations count from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sequence: Option<u32>,
}

/// What a person said: who, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// When.
    pub at: Timestamp,
    /// Who, as they were called then.
    pub by: Actor,
    /// The member in whose browser a participant said it, if it was one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
}

impl Word {
    /// The member whose word it counts as: who said it, or in whose browser it was said.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        self.in_person.as_ref().map(|host| host.member_id).or_else(|| self.by.member())
    }

    /// Who said it, with a mark if it was in a member's browser.
    #[must_use]
    pub fn who(&self) -> String {
        format!("{}{}", self.by.display_name, self.mark())
    }

    /// The end of a sentence about what was said in a member's browser; else nothing.
    #[must_use]
    pub fn mark(&self) -> String {
        self.in_person.as_ref().map(|host| format!(", {host}")).unwrap_or_default()
    }
}

/// What was said about an occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SaidOf {
    sequence: u32,
    /// The end of the day on which it was due.
    due_at: Timestamp,
    said: Said,
}

/// What was said about an occurrence: a claim, and then another's word for it. A standing promise is verified without a
/// claim: it asks for no act of the promisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Said {
    Satisfied { claim: Word, how: Satisfaction },
    Confirmed { claim: Word, how: Satisfaction, confirmation: Word },
    Verified { verification: Word },
}

impl Said {
    fn is_claim(&self) -> bool {
        matches!(self, Self::Satisfied { .. })
    }
}

/// How an obligation was cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub cause: CancelCause,
}

/// Why an obligation was cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum CancelCause {
    /// A member cancelled it.
    Member {
        /// The member.
        by: Actor,
        /// For this reason.
        reason: Note,
    },
    /// Its agreement was cancelled.
    AgreementCancelled,
    /// Its agreement expired.
    AgreementExpired,
}

impl Obligation {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> ObligationId {
        self.id
    }

    /// The agreement.
    #[must_use]
    pub fn agreement_id(&self) -> AgreementId {
        self.agreement_id
    }

    /// The agreement's workspace.
    #[must_use]
    pub fn workspace_id(&self) -> WorkspaceId {
        self.workspace_id
    }

    /// The promise in the agreement.
    #[must_use]
    pub fn promise_id(&self) -> PromiseId {
        self.promise_id
    }

    /// What was promised.
    #[must_use]
    pub fn name(&self) -> &Label {
        &self.name
    }

    /// Who owes it to whom.
    #[must_use]
    pub fn parties(&self) -> &Parties {
        &self.parties
    }

    /// The zone of its days.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> PromiseKind {
        match self.terms {
            Terms::Scheduled { .. } => PromiseKind::Scheduled,
            Terms::Triggered { .. } => PromiseKind::Triggered,
            Terms::Standing { .. } => PromiseKind::Standing,
        }
    }

    /// Its schedule, if it has one.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        if let Terms::Scheduled { schedule } = &self.terms { Some(schedule) } else { None }
    }

    /// Its triggers, in the promise's order; none if it is of another kind.
    #[must_use]
    pub fn triggers(&self) -> &[ObligationTrigger] {
        if let Terms::Triggered { triggers } = &self.terms { triggers } else { &[] }
    }

    /// How it was cancelled, if it was.
    #[must_use]
    pub fn cancellation(&self) -> Option<&Cancellation> {
        self.cancellation.as_ref()
    }

    /// When it was projected.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it was last changed.
    #[must_use]
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// How many occurrences are confirmed that the record no longer keeps in full.
    #[must_use]
    pub fn confirmed_before(&self) -> u32 {
        self.confirmed_before.count()
    }

    /// Its state, whatever the time.
    #[must_use]
    pub fn state(&self) -> ObligationState {
        if self.cancellation.is_some() {
            return ObligationState::Cancelled;
        }
        let waits = self.said.iter().any(|said| said.said.is_claim());
        let is_undeclared = self.triggers().iter().any(|trigger| trigger.declared.is_none());
        match (self.first_open_due().is_some(), is_undeclared, waits) {
            (true, _, _) | (false, true, true) => ObligationState::Open,
            (false, true, false) => ObligationState::Dormant,
            (false, false, true) => ObligationState::Satisfied,
            (false, false, false) => ObligationState::Confirmed,
        }
    }

    /// The claim that an occurrence is done, if it waits for confirmation.
    #[must_use]
    pub fn claim_of(&self, occurrence: OccurrenceId) -> Option<&Word> {
        let said = self.said.iter().find(|said| self.occurrence_id(said.sequence) == occurrence)?;
        if let Said::Satisfied { claim, .. } = &said.said { Some(claim) } else { None }
    }

    /// The claims that wait for confirmation, in the order of their occurrences; none once it is cancelled.
    pub fn waiting_claims(&self) -> impl Iterator<Item = &Word> {
        let said = self.said.iter().filter(|_| self.cancellation.is_none());
        said.filter_map(|said| match &said.said {
            Said::Satisfied { claim, .. } => Some(claim),
            Said::Confirmed { .. } | Said::Verified { .. } => None,
        })
    }

    /// The files with which members recorded that occurrences are done, as far as the record keeps them. Those of
    /// participants are in their receipts.
    pub fn files_of_members(&self) -> impl Iterator<Item = &EvidenceFile> {
        let claims = self.said.iter().filter_map(|said| match &said.said {
            Said::Satisfied { claim, how } | Said::Confirmed { claim, how, .. } => Some((claim, how)),
            Said::Verified { .. } => None,
        });
        let of_members = claims.filter(|(claim, _)| claim.by.actor_type == ActorType::Member);
        of_members.filter_map(|(_, how)| how.file.as_ref())
    }

    /// Whether nothing can happen to it anymore (contract, section 2, "Ledger row").
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state(), ObligationState::Confirmed | ObligationState::Cancelled)
    }

    /// When the first occurrence is due for which nobody has said that it is done, passed or not. None if there is none, or
    /// the obligation was cancelled.
    #[must_use]
    pub fn next_due_at(&self) -> Option<Timestamp> {
        if self.cancellation.is_some() { None } else { self.first_open_due() }
    }

    /// The data of its events.
    pub(super) fn event_data(&self) -> ObligationData {
        ObligationData { obligation_id: self.id, name: self.name.clone() }
    }

    /// The id of an occurrence: always the same, so that forms and responses agree on it before anything is stored.
    fn occurrence_id(&self, sequence: u32) -> OccurrenceId {
        OccurrenceId::from(derived_id(self.created_at, sequence, "occurrence", &[self.id.uuid()]))
    }
}

/// An id that follows from what it names. It has the form of every other one (`UUIDv7`), with the moment and the number as
/// its first bits, so that ids are in the order of both.
fn derived_id(at: Timestamp, number: u32, what: &str, of: &[Uuid]) -> Uuid {
    let of: Vec<u8> = of.iter().flat_map(|id| id.into_bytes()).collect();
    let hash = crypto::fingerprint(&[what.as_bytes(), &of, &number.to_be_bytes()]);
    let mut bytes = [0_u8; 10];
    for (byte, hashed) in bytes.iter_mut().zip(hash) {
        *byte = hashed;
    }
    // The version takes 4 bits of the first of these bytes, the variant 2 bits of the third. They stay the same: 0.
    let [high, low] = u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes();
    let [zero, first, other_zero, second, ..] = &mut bytes;
    (*zero, *first, *other_zero, *second) = (0, high, 0, low);
    let ms = u64::try_from(at.unix_ms()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(ms, &bytes).into_uuid()
}

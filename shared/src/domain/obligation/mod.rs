//! Obligations: what participants owe each other once their promises have taken effect (specification, "Obligation").
//!
//! Every occurrence separates two facts: *satisfied* is the promisor's claim that it is done, *confirmed* is the other
//! side's or a member's word. A claim never becomes a confirmation.
//!
//! Decision: what is due is derived on read. A record holds only what people said; other occurrences follow from the
//! schedule, the declared triggers or the last verification. So an endless recurrence takes no space, and nothing is
//! missed however late it is read.
//!
//! Decision: a record keeps the latest [`limits::OCCURRENCES_KEPT_MAX`](crate::limits::OCCURRENCES_KEPT_MAX) confirmed
//! occurrences in full. Older ones are items of their own beside it, which only readers of the whole record read; the
//! record keeps their numbers, as ranges. So acts and lists cost the same after decades, and no word is lost.
//!
//! Decision: an obligation keeps its organization's time zone from the projection, so moving the organization to
//! another zone moves no agreed day.
//!
//! Decision: the state of an obligation doesn't depend on time, so stored rows and filters stay right. `dormant` waits
//! for a trigger, without unconfirmed claims; `satisfied` only waits for confirmations; `confirmed` is finished. An
//! endless recurrence or a standing promise is `open` until cancelled.

mod acts;
mod ending;
#[cfg(test)]
pub(crate) mod fixtures;
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
pub(crate) use projection::project;
pub use projection::{begun, id_of, projected_at};

use super::actor::{Actor, ActorType};
use super::agreement::Label;
use super::agreement::promise::{Parties, PromiseKind};
use super::day::Day;
use super::event::ObligationData;
use super::ids::{AgreementId, MemberId, ObligationId, OccurrenceId, PromiseId, TriggerId, WorkspaceId};
use super::movement::evidence::EvidenceFile;
use super::note::Note;
use super::participant::session::InPerson;
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

/// An obligation as stored, one per promise of an agreement.
///
/// Only people's acts ([`member`](crate::domain::member), [`participant`](crate::domain::participant)) and its
/// agreement's end change what was said about it:
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
    /// Private, so that one obligation can't be written in place of another.
    id: ObligationId,
    /// The agreement.
    agreement_id: AgreementId,
    workspace_id: WorkspaceId,
    promise_id: PromiseId,
    /// What was promised.
    name: Label,
    parties: Parties,
    zone: TimeZone,
    /// When it is due.
    terms: Terms,
    #[serde(default, skip_serializing_if = "Sequences::is_empty")]
    confirmed_before: Sequences,
    /// What was said about occurrences, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    said: Vec<SaidOf>,
    /// Of what left the record, which keeps the numbers: what was read again, or left just now.
    #[serde(skip)]
    older: Vec<OlderOccurrence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancellation: Option<Cancellation>,
    created_at: Timestamp,
    /// When it was last changed.
    updated_at: Timestamp,
}

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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verified_at: Option<Timestamp>,
    },
}

/// A trigger of an obligation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObligationTrigger {
    /// Its id, the same as in the promise.
    pub id: TriggerId,
    /// What happens.
    pub description: Label,
    /// How many days after the trigger the obligation is due.
    pub due_after_days: u16,
    /// The day it happened, as declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub happened_on: Option<Day>,
    /// The declaration that it happened, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Word>,
    /// The number of its occurrence: declarations count from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sequence: Option<u32>,
}

/// A person's word: who, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// When.
    pub at: Timestamp,
    /// Who, by their name at the time.
    pub by: Actor,
    /// The member whose browser a participant used, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
}

impl Word {
    /// The member it counts as the word of: the speaker, or the one whose browser was used.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        self.in_person.as_ref().map(|host| host.member_id).or_else(|| self.by.member())
    }

    /// Who said it, noting a member's browser.
    #[must_use]
    pub fn who(&self) -> String {
        format!("{}{}", self.by.display_name, self.mark())
    }

    /// The note on a member's browser at the end of a sentence, if any.
    #[must_use]
    pub fn mark(&self) -> String {
        self.in_person.as_ref().map(|host| format!(", {host}")).unwrap_or_default()
    }
}

/// A confirmed occurrence that left its obligation's record: an item beside it, which never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OlderOccurrence(SaidOf);

impl OlderOccurrence {
    /// Its number among the occurrences of the obligation.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.0.sequence
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SaidOf {
    sequence: u32,
    due_at: Timestamp,
    said: Said,
}

/// A claim, then its confirmation; a standing promise is verified without a claim, since the promisor does nothing.
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

/// The cancellation of an obligation.
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
        /// The reason.
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

    /// Its schedule, if any.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        if let Terms::Scheduled { schedule } = &self.terms { Some(schedule) } else { None }
    }

    /// Its triggers, in the promise's order. Empty for other kinds.
    #[must_use]
    pub fn triggers(&self) -> &[ObligationTrigger] {
        if let Terms::Triggered { triggers } = &self.terms { triggers } else { &[] }
    }

    /// Its cancellation, if any.
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

    /// The older occurrences that were read, or that have just left the record.
    #[must_use]
    pub fn older(&self) -> &[OlderOccurrence] {
        &self.older
    }

    /// The number of confirmed occurrences beside the record that were not read.
    #[must_use]
    pub fn older_unread(&self) -> u32 {
        self.confirmed_before.count().saturating_sub(u32::try_from(self.older.len()).unwrap_or(u32::MAX))
    }

    /// The obligation with the occurrences that were read beside its record.
    #[must_use]
    pub fn with_older(self, mut older: Vec<OlderOccurrence>) -> Self {
        // One may have left the record after it was read.
        older.retain(|older| self.confirmed_before.contains(older.sequence()));
        Self { older, ..self }
    }

    fn all_said(&self) -> impl Iterator<Item = &SaidOf> {
        self.older.iter().map(|older| &older.0).chain(&self.said)
    }

    /// Its state, which doesn't depend on time.
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

    /// The claim for an occurrence, if it waits for confirmation.
    #[must_use]
    pub fn claim_of(&self, occurrence: OccurrenceId) -> Option<&Word> {
        let said = self.said.iter().find(|said| self.occurrence_id(said.sequence) == occurrence)?;
        if let Said::Satisfied { claim, .. } = &said.said { Some(claim) } else { None }
    }

    /// The claims that wait for confirmation, by occurrence. None once cancelled.
    pub fn waiting_claims(&self) -> impl Iterator<Item = &Word> {
        let said = self.said.iter().filter(|_| self.cancellation.is_none());
        said.filter_map(|said| match &said.said {
            Said::Satisfied { claim, .. } => Some(claim),
            Said::Confirmed { .. } | Said::Verified { .. } => None,
        })
    }

    /// The files of members' claims, as far as they were read. Participants' files are in their receipts.
    pub fn files_of_members(&self) -> impl Iterator<Item = &EvidenceFile> {
        let claims = self.all_said().filter_map(|said| match &said.said {
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

    /// When the first occurrence without a claim is or was due. None without one, or once cancelled.
    #[must_use]
    pub fn next_due_at(&self) -> Option<Timestamp> {
        if self.cancellation.is_some() { None } else { self.first_open_due() }
    }

    pub(super) fn event_data(&self) -> ObligationData {
        ObligationData { obligation_id: self.id, name: self.name.clone() }
    }

    /// The id of an occurrence, derived so that forms and responses agree on it before anything is stored.
    fn occurrence_id(&self, sequence: u32) -> OccurrenceId {
        OccurrenceId::from(derived_id(self.created_at, sequence, "occurrence", &[self.id.uuid()]))
    }
}

/// An id in the form of `UUIDv7`, derived from what it names. Ids sort by the moment, then the number.
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

//! Acts on an obligation. [`member`](crate::domain::member) and [`participant`](crate::domain::participant) define who
//! may do which.
//!
//! Decision: an act names the occurrence that its page showed. So if two people confirm at once, the second learns that
//! it is done, and nobody confirms a claim they haven't seen.
//!
//! Decision: where a second person's word is required, a participant's word from a member's browser counts as that
//! member's too: the member may have used the participant's link.

use super::occurrences::Open;
use super::{CancelCause, Cancellation, Obligation, OlderOccurrence, Said, SaidOf, Terms, Word};
use crate::domain::actor::Actor;
use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::day::Day;
use crate::domain::ids::{OccurrenceId, TriggerId};
use crate::domain::moment::Moment;
use crate::domain::note::Note;
use crate::domain::participant::session::InPerson;
use crate::domain::satisfaction::{Done, Satisfaction};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::limits;

/// The obligation that an act is about, and what its rules need.
#[derive(Debug, Clone, Copy)]
pub struct ObligationContext<'a> {
    /// The obligation.
    pub obligation: &'a Obligation,
    /// Its agreement.
    pub agreement: &'a Agreement,
    /// The facts recorded for the agreement.
    pub facts: &'a Facts,
    /// The speed of time.
    pub time_scale: TimeScale,
    /// The time and the call.
    pub moment: Moment,
}

/// A declaration that a trigger happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happening {
    /// The trigger.
    pub trigger: TriggerId,
    /// The day it happened.
    pub on: Day,
}

#[derive(Debug, Clone)]
pub(in crate::domain) struct Speaker {
    pub(in crate::domain) by: Actor,
    pub(in crate::domain) in_person: Option<InPerson>,
}

impl From<Actor> for Speaker {
    fn from(by: Actor) -> Self {
        Self { by, in_person: None }
    }
}

impl Speaker {
    fn said_at(self, at: Timestamp) -> Word {
        let Self { by, in_person } = self;
        Word { at, by, in_person }
    }
}

/// Why an act was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The agreement was cancelled or has expired, whether or not the obligation records that yet.
    AgreementEnded(Lifecycle),
    /// The obligation was cancelled.
    Cancelled,
    /// All of it is confirmed, so nothing is left to cancel.
    Confirmed,
    /// No such trigger or occurrence, or another kind of obligation.
    Unknown,
    /// Already done: the trigger declared, the occurrence satisfied, confirmed or verified.
    Done,
    /// The stated day has not come yet.
    InFuture,
    /// The stated day is long before the obligation was owed.
    TooEarly,
    /// The agreement's evidence has no room for the file.
    NoRoom,
    /// Nobody has claimed that it is done, so there is nothing to confirm.
    NotSatisfied,
    /// The member recorded the claim, or it came from their browser, and another member can confirm it.
    Own,
    /// The member counts as one with the recorder of the claim: one let the other in, or could act as them.
    OneSelf,
    /// [`limits::OCCURRENCES_WAITING_MAX`] claims wait for confirmation.
    TooManyWait,
}

/// Whether members may confirm their own records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnClaim {
    /// No: there is another member.
    Refused,
    /// No: the recorder counts as one with the member.
    OfOneSelf,
    /// Yes: nobody counts as a second member.
    Allowed,
}

#[derive(Debug)]
pub(in crate::domain) struct Satisfied {
    pub(in crate::domain) obligation: Obligation,
    pub(in crate::domain) agreement: Option<Agreement>,
}

impl<'a> ObligationContext<'a> {
    fn live(self) -> Result<&'a Obligation, Refused> {
        let Self { obligation, agreement, facts, time_scale, moment } = self;
        if obligation.cancellation.is_some() {
            return Err(Refused::Cancelled);
        }
        if obligation.agreement_id != agreement.id() {
            return Err(Refused::Unknown);
        }
        match agreement.as_of(facts, time_scale, moment.at()).lifecycle() {
            Lifecycle::Active | Lifecycle::Completed => Ok(obligation),
            ended @ (Lifecycle::Draft | Lifecycle::Cancelled | Lifecycle::Expired) => {
                Err(Refused::AgreementEnded(ended))
            }
        }
    }

    /// Declares that a trigger happened, which makes the obligation due some days later. Each trigger is declared once.
    pub(in crate::domain) fn declared(self, by: Speaker, happened: Happening) -> Result<Obligation, Refused> {
        let mut after = self.live()?.changed(self.moment);
        let Happening { trigger, on } = happened;
        let days = after.happened_days(self.moment.at());
        let Terms::Triggered { triggers } = &mut after.terms else { return Err(Refused::Unknown) };
        let before = triggers.iter().filter(|trigger| trigger.declared.is_some()).count();
        let found = triggers.iter_mut().find(|found| found.id == trigger).ok_or(Refused::Unknown)?;
        if found.declared.is_some() {
            return Err(Refused::Done);
        }
        if on > *days.end() {
            return Err(Refused::InFuture);
        }
        if on < *days.start() {
            return Err(Refused::TooEarly);
        }
        found.happened_on = Some(on);
        // This call's clock may be behind the projecting call's.
        found.declared = Some(by.said_at(self.moment.at().max(after.created_at)));
        found.sequence = Some(u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1));
        Ok(after)
    }

    pub(in crate::domain) fn satisfied(self, by: Speaker, done: Done, filer: Filer) -> Result<Satisfied, Refused> {
        let Done { occurrence, how } = done;
        let bytes = how.file.as_ref().map_or(0, |file| file.content.size_bytes);
        let open = self.to_satisfy(occurrence, &how, bytes, filer)?;
        let at = self.moment.at();
        let said = Said::Satisfied { claim: by.said_at(at), how };
        let mut obligation = self.obligation.changed(self.moment);
        obligation.say(SaidOf { sequence: open.sequence, due_at: open.due_at, said });
        let agreement = (bytes > 0).then(|| self.agreement.with_file(bytes, at));
        Ok(Satisfied { obligation, agreement })
    }

    pub(in crate::domain) fn to_satisfy(
        self,
        occurrence: OccurrenceId,
        how: &Satisfaction,
        file_bytes: u64,
        filer: Filer,
    ) -> Result<Open, Refused> {
        let obligation = self.live()?;
        // Standing promises are verified, not satisfied.
        if matches!(obligation.terms, Terms::Standing { .. }) {
            return Err(Refused::Unknown);
        }
        let now = self.moment.at();
        obligation.check_unsaid(occurrence)?;
        let mut upcoming = 0;
        let mut open = obligation.open().take_while(|open| {
            upcoming += usize::from(now < open.due_from);
            upcoming <= limits::UPCOMING_SHOWN_MAX
        });
        let open = open.find(|open| obligation.occurrence_id(open.sequence) == occurrence).ok_or(Refused::Unknown)?;
        if obligation.said.iter().filter(|said| said.said.is_claim()).count() >= limits::OCCURRENCES_WAITING_MAX {
            return Err(Refused::TooManyWait);
        }
        let days = obligation.done_days(open.due_at, now);
        if how.done_on > *days.end() {
            return Err(Refused::InFuture);
        }
        if how.done_on < *days.start() {
            return Err(Refused::TooEarly);
        }
        if file_bytes > 0 && !self.agreement.has_room_for(self.facts, file_bytes, filer) {
            return Err(Refused::NoRoom);
        }
        Ok(open)
    }

    /// Confirms the claim that an occurrence is done. Nobody confirms their own claim unless they are alone.
    pub(in crate::domain) fn confirmed(
        self,
        by: Speaker,
        occurrence: OccurrenceId,
        own: OwnClaim,
    ) -> Result<Obligation, Refused> {
        let obligation = self.live()?;
        let waiting = obligation.said.iter().find(|said| obligation.occurrence_id(said.sequence) == occurrence);
        let (claim, how) = match waiting.map(|found| &found.said) {
            Some(Said::Satisfied { claim, how }) => (claim.clone(), how.clone()),
            Some(Said::Confirmed { .. } | Said::Verified { .. }) => return Err(Refused::Done),
            None => return Err(obligation.why_nothing_waits(occurrence, self.moment.at())),
        };
        // This call's clock may be behind the claiming call's.
        let confirmation = by.said_at(self.moment.at().max(claim.at));
        match own {
            OwnClaim::OfOneSelf => return Err(Refused::OneSelf),
            OwnClaim::Refused if is_same(&claim, &confirmation) => return Err(Refused::Own),
            OwnClaim::Refused | OwnClaim::Allowed => {}
        }
        let mut after = obligation.changed(self.moment);
        let confirmed = Said::Confirmed { claim, how, confirmation };
        if let Some(said) = after.said.iter_mut().find(|said| obligation.occurrence_id(said.sequence) == occurrence) {
            said.said = confirmed;
        }
        after.fold();
        Ok(after)
    }

    /// Records the verification of a standing promise, possibly early. The next interval begins now.
    pub(in crate::domain) fn verified(self, by: Speaker, occurrence: OccurrenceId) -> Result<Obligation, Refused> {
        let obligation = self.live()?;
        let mut after = obligation.changed(self.moment);
        let Terms::Standing { verified_at, .. } = &mut after.terms else { return Err(Refused::Unknown) };
        obligation.check_unsaid(occurrence)?;
        let mut open = obligation.open();
        let open = open.find(|open| obligation.occurrence_id(open.sequence) == occurrence).ok_or(Refused::Unknown)?;
        // This call's clock may be behind the previous call's.
        let at = self.moment.at().max(verified_at.unwrap_or(obligation.created_at));
        *verified_at = Some(at);
        let said = Said::Verified { verification: by.said_at(at) };
        after.say(SaidOf { sequence: open.sequence, due_at: open.due_at, said });
        after.fold();
        Ok(after)
    }

    pub(in crate::domain) fn cancelled(self, by: Actor, reason: Note) -> Result<Obligation, Refused> {
        let obligation = self.live()?;
        if obligation.is_done() {
            return Err(Refused::Confirmed);
        }
        Ok(obligation.with_cancellation(CancelCause::Member { by, reason }, self.moment.at()))
    }
}

impl Obligation {
    pub(super) fn changed(&self, moment: Moment) -> Self {
        Self { updated_at: moment.at().max(self.updated_at), ..self.clone() }
    }

    pub(super) fn with_cancellation(&self, cause: CancelCause, at: Timestamp) -> Self {
        // This call's clock may be behind earlier calls, whose acts stand.
        let at = at.max(self.updated_at);
        Self { updated_at: at, cancellation: Some(Cancellation { at, cause }), ..self.clone() }
    }

    fn check_unsaid(&self, occurrence: OccurrenceId) -> Result<(), Refused> {
        let said = self.said.iter().map(|said| said.sequence).chain(self.confirmed_before.iter());
        let mut said = said.map(|sequence| self.occurrence_id(sequence));
        if said.any(|id| id == occurrence) { Err(Refused::Done) } else { Ok(()) }
    }

    fn why_nothing_waits(&self, occurrence: OccurrenceId, now: Timestamp) -> Refused {
        if self.check_unsaid(occurrence).is_err() {
            return Refused::Done;
        }
        let is_standing = matches!(self.terms, Terms::Standing { .. });
        let is_there = self.occurrences(now).iter().any(|found| found.id == occurrence);
        if is_there && !is_standing { Refused::NotSatisfied } else { Refused::Unknown }
    }

    fn say(&mut self, said: SaidOf) {
        let at = self.said.partition_point(|other| other.sequence < said.sequence);
        self.said.insert(at, said);
    }

    /// Keeps the latest confirmed occurrences in full, and only the numbers of others, which go beside the record.
    fn fold(&mut self) {
        let confirmed = self.said.iter().filter(|said| !said.said.is_claim()).count();
        let mut too_many = confirmed.saturating_sub(limits::OCCURRENCES_KEPT_MAX);
        let Self { said, older, confirmed_before, .. } = self;
        let goes = |said: &mut SaidOf| {
            let goes = too_many > 0 && !said.said.is_claim();
            too_many -= usize::from(goes);
            goes
        };
        for said in said.extract_if(.., goes) {
            confirmed_before.insert(said.sequence);
            older.push(OlderOccurrence(said));
        }
    }
}

/// Whether two words are the same person's, regardless of name, or count as one member's.
fn is_same(one: &Word, other: &Word) -> bool {
    let is_same_actor = other.by.id.is_some_and(|id| one.by.is(other.by.actor_type, id));
    is_same_actor || one.member().is_some_and(|member| other.member() == Some(member))
}

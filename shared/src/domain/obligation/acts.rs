//! What people do about an obligation. Each act is a pure function of the obligation, its agreement and the moment;
//! [`member`](crate::domain::member) and [`participant`](crate::domain::participant) say who may do which.
//!
//! Decision: an act names the occurrence that its page showed, so that of two people who confirm at once the second learns
//! that it is done, and nobody confirms a claim that they have not seen.
//!
//! Decision: what a participant says in a member's browser counts as that member's word, too, where a second person's is
//! asked for: whoever has the link could have said it.

use super::occurrences::Open;
use super::{CancelCause, Cancellation, Obligation, Said, SaidOf, Terms, Word};
use crate::domain::actor::Actor;
use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::day::Day;
use crate::domain::ids::{OccurrenceId, TriggerId};
use crate::domain::moment::Moment;
use crate::domain::participant::session::InPerson;
use crate::domain::proposal::Note;
use crate::domain::satisfaction::{Done, Satisfaction};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::limits;

/// The obligation that an act is about, with what its rules need.
#[derive(Debug, Clone, Copy)]
pub struct ObligationContext<'a> {
    /// The obligation.
    pub obligation: &'a Obligation,
    /// Its agreement.
    pub agreement: &'a Agreement,
    /// What has been recorded for the agreement.
    pub facts: &'a Facts,
    /// How fast time passes.
    pub time_scale: TimeScale,
    /// When, and in which call.
    pub moment: Moment,
}

/// That a trigger happened, as someone declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happening {
    /// The trigger.
    pub trigger: TriggerId,
    /// The day on which it happened.
    pub on: Day,
}

/// Who says something about an obligation.
#[derive(Debug, Clone)]
pub(in crate::domain) struct Speaker {
    /// Who.
    pub(in crate::domain) by: Actor,
    /// The member in whose browser they say it, if they are a participant and it is one's.
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
    /// The agreement was cancelled or has expired, whether or not that has reached the obligation yet.
    AgreementEnded(Lifecycle),
    /// The obligation was cancelled.
    Cancelled,
    /// All of it is confirmed: nothing is left to cancel.
    Confirmed,
    /// The obligation has no such trigger or occurrence, or is of another kind.
    Unknown,
    /// It was done already: the trigger declared, the occurrence satisfied, confirmed or verified.
    Done,
    /// The day on which it is said to have happened, or to have been done, has not come yet.
    InFuture,
    /// The day on which it is said to have happened, or to have been done, is long before it was owed.
    TooEarly,
    /// The agreement's evidence has no room for the file.
    NoRoom,
    /// Nobody has said that it is done, so there is nothing to confirm.
    NotSatisfied,
    /// The member recorded the claim, or it was made in their browser, and another member is there to confirm it.
    Own,
    /// The member does not count as a second one for who recorded the claim: one of them let the other in, or could act as
    /// them.
    OneSelf,
    /// [`limits::OCCURRENCES_WAITING_MAX`] claims wait for confirmation.
    TooManyWait,
}

/// Whether a member may confirm what they recorded themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnClaim {
    /// No: another member is there.
    Refused,
    /// No, and who recorded it counts as one with the member.
    OfOneSelf,
    /// Yes: nobody counts as a second member.
    Allowed,
}

/// An obligation of which an occurrence is said to be done.
#[derive(Debug)]
pub(in crate::domain) struct Satisfied {
    /// The obligation.
    pub(in crate::domain) obligation: Obligation,
    /// The agreement, if its evidence has one more file.
    pub(in crate::domain) agreement: Option<Agreement>,
}

impl<'a> ObligationContext<'a> {
    /// The obligation, if people may still act on it.
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

    /// Declares that a trigger happened: the obligation is due some days after that. Each trigger is declared once.
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
        // The clock of this call may be behind that of the call that projected it.
        found.declared = Some(by.said_at(self.moment.at().max(after.created_at)));
        found.sequence = Some(u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1));
        Ok(after)
    }

    /// Records the promisor's claim that an occurrence is done, which may be ahead of its time.
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

    /// The occurrence that can be said to be done in this way, with a file of so many bytes.
    pub(in crate::domain) fn to_satisfy(
        self,
        occurrence: OccurrenceId,
        how: &Satisfaction,
        file_bytes: u64,
        filer: Filer,
    ) -> Result<Open, Refused> {
        let obligation = self.live()?;
        // A standing promise asks for no act: it is verified.
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

    /// Confirms the claim that an occurrence is done. Nobody confirms their own claim, unless they are alone.
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
        // The clock of this call may be behind that of the call that recorded the claim.
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

    /// Records that a standing promise was verified. `occurrence` is the verification that was asked for, which may be
    /// ahead of its time: the next interval begins now.
    pub(in crate::domain) fn verified(self, by: Speaker, occurrence: OccurrenceId) -> Result<Obligation, Refused> {
        let obligation = self.live()?;
        let mut after = obligation.changed(self.moment);
        let Terms::Standing { verified_at, .. } = &mut after.terms else { return Err(Refused::Unknown) };
        obligation.check_unsaid(occurrence)?;
        let mut open = obligation.open();
        let open = open.find(|open| obligation.occurrence_id(open.sequence) == occurrence).ok_or(Refused::Unknown)?;
        // The clock of this call may be behind that of the call before.
        let at = self.moment.at().max(verified_at.unwrap_or(obligation.created_at));
        *verified_at = Some(at);
        let said = Said::Verified { verification: by.said_at(at) };
        after.say(SaidOf { sequence: open.sequence, due_at: open.due_at, said });
        after.fold();
        Ok(after)
    }

    /// Cancels the obligation. What was said about it stays on record.
    pub(in crate::domain) fn cancelled(self, by: Actor, reason: Note) -> Result<Obligation, Refused> {
        let obligation = self.live()?;
        if obligation.is_done() {
            return Err(Refused::Confirmed);
        }
        Ok(obligation.with_cancellation(CancelCause::Member { by, reason }, self.moment.at()))
    }
}

impl Obligation {
    /// The obligation as of an act, which is yet to change it.
    pub(super) fn changed(&self, moment: Moment) -> Self {
        Self { updated_at: moment.at().max(self.updated_at), ..self.clone() }
    }

    pub(super) fn with_cancellation(&self, cause: CancelCause, at: Timestamp) -> Self {
        // The clock of this call may be behind those of the calls before, whose acts stand.
        let at = at.max(self.updated_at);
        Self { updated_at: at, cancellation: Some(Cancellation { at, cause }), ..self.clone() }
    }

    /// Refuses when something was said about an occurrence.
    fn check_unsaid(&self, occurrence: OccurrenceId) -> Result<(), Refused> {
        let said = self.said.iter().map(|said| said.sequence).chain(self.confirmed_before.iter());
        let mut said = said.map(|sequence| self.occurrence_id(sequence));
        if said.any(|id| id == occurrence) { Err(Refused::Done) } else { Ok(()) }
    }

    /// Why an occurrence can't be confirmed about which the record says nothing.
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

    /// Keeps the latest confirmed occurrences in full, and of the others their numbers.
    fn fold(&mut self) {
        let confirmed = self.said.iter().filter(|said| !said.said.is_claim()).count();
        let mut too_many = confirmed.saturating_sub(limits::OCCURRENCES_KEPT_MAX);
        let Self { said, confirmed_before, .. } = self;
        said.retain(|said| {
            let goes = too_many > 0 && !said.said.is_claim();
            if goes {
                too_many -= 1;
                confirmed_before.insert(said.sequence);
            }
            !goes
        });
    }
}

/// Whether two words are one person's, whatever they were called, or count as one member's.
fn is_same(one: &Word, other: &Word) -> bool {
    let is_same_actor = other.by.id.is_some_and(|id| one.by.is(other.by.actor_type, id));
    is_same_actor || one.member().is_some_and(|member| other.member() == Some(member))
}

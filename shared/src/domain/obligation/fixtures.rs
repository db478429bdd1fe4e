//! Obligations of a small agreement, and people who act on them, for tests.

use super::{Obligation, ObligationContext, Speaker, project};
use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::fixtures::{Deal, contact, label, noon, promise, published, time_scale, until};
use crate::domain::agreement::gate::GateRule;
use crate::domain::agreement::promise::{Promise, PromiseTerms, Trigger, Triggers};
use crate::domain::agreement::{Agreement, StageAction};
use crate::domain::contact::{DisplayName, Email};
use crate::domain::day::Day;
use crate::domain::ids::{MemberId, OccurrenceId, OrgId, ParticipantId, ReceiptId, TriggerId};
use crate::domain::member::Member;
use crate::domain::moment::Moment;
use crate::domain::organization::{MemberRecord, Role};
use crate::domain::participant::session::InPerson;
use crate::domain::participant::{Access, ActingParticipant};
use crate::domain::recurrence::{Days, Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use crate::domain::satisfaction::{Done, Satisfaction};
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;

#[derive(Debug, Clone)]
pub(crate) struct World {
    /// Active, without expiry: its last step waits for an approval.
    pub(crate) agreement: Agreement,
    /// The first obligation, owed by Ben to Ada. Eve is no party.
    pub(crate) obligation: Obligation,
}

pub(crate) fn zone(name: &str) -> TimeZone {
    TimeZone::parse(name).unwrap()
}

pub(crate) fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Done on the day after the projection.
pub(crate) fn done(occurrence: OccurrenceId) -> Done {
    Done { occurrence, how: Satisfaction::on(day("2026-03-15")) }
}

pub(crate) fn every(unit: RecurrenceUnit, first: &str, end: RecurrenceEnd) -> PromiseTerms {
    let schedule = Schedule::Recurrence(Recurrence::new(1, unit, day(first), end).unwrap());
    PromiseTerms::Scheduled { schedule }
}

pub(crate) fn on(days: &[&str]) -> PromiseTerms {
    let days = Days::new(days.iter().map(|text| day(text)).collect()).unwrap();
    PromiseTerms::Scheduled { schedule: Schedule::Days(days) }
}

pub(crate) fn triggered(due_after_days: &[u16]) -> PromiseTerms {
    let trigger = |days: &u16| Trigger { id: TriggerId::new(), description: label("A round"), due_after_days: *days };
    PromiseTerms::Triggered { triggers: Triggers::new(due_after_days.iter().map(trigger).collect()).unwrap() }
}

/// A draft whose first step, with the actions, is done at noon, and whose second waits for an approval.
pub(crate) fn draft(terms: Vec<PromiseTerms>, actions: &[StageAction]) -> Agreement {
    let mut draft = Deal::complete().draft;
    (draft.stages, draft.expires_at) = (Vec::new(), None);
    let approval = GateRule::ParticipantApproval { participant_ids: [draft.participants[2].id].into() };
    for (actions, rule) in [(actions, until(noon())), (&[][..], approval)] {
        let (more, stage) = draft.add_stage(label("Step"), actions.iter().copied().collect(), noon()).unwrap();
        draft = more.add_gate(stage, rule, noon()).unwrap().0;
    }
    for terms in terms {
        let made = promise(&draft, "Quarterly report");
        draft = draft.put_promise(Promise { terms, ..made }, noon()).unwrap();
    }
    draft
}

impl World {
    pub(crate) fn of(terms: PromiseTerms, zone: &TimeZone) -> Self {
        let agreement = published(&draft(vec![terms], &[StageAction::ProjectObligations]).in_zone(zone));
        let obligation = project(&agreement).remove(0);
        Self { agreement, obligation }
    }

    pub(crate) fn context(&self, now: Timestamp) -> ObligationContext<'_> {
        ObligationContext {
            obligation: &self.obligation,
            agreement: &self.agreement,
            facts: self.agreement.facts(),
            time_scale: time_scale(),
            moment: Moment::test(now),
        }
    }

    pub(crate) fn participant(&self, n: usize) -> ActingParticipant {
        self.participant_with(n, Some(ReceiptId::new()))
    }

    pub(crate) fn participant_with(&self, n: usize, consent: Option<ReceiptId>) -> ActingParticipant {
        let id: ParticipantId = self.agreement.participants[n].id;
        let contact = contact(["Ada", "Ben", "Eve"][n]);
        let access = Access { consent, ..Access::default() };
        ActingParticipant::of_session(OrgId::new(), self.agreement.id(), id, &contact, access)
    }

    pub(crate) fn with(&self, obligation: &Obligation) -> Self {
        Self { obligation: obligation.clone(), ..self.clone() }
    }

    /// A participant's claim that an occurrence is done.
    pub(crate) fn satisfied(
        &self,
        n: usize,
        in_person: Option<InPerson>,
        occurrence: OccurrenceId,
        now: Timestamp,
    ) -> Self {
        let by = Speaker { by: self.participant(n).actor(), in_person };
        let said = self.context(now).satisfied(by, done(occurrence), Filer::of_participant(&[]));
        self.with(&said.unwrap().obligation)
    }

    pub(crate) fn facts(&self) -> Facts {
        self.agreement.facts().clone()
    }
}

pub(crate) fn member(name: &str) -> Member {
    let (name, email) = (DisplayName::parse(name).unwrap(), Email::parse("maren@example.org").unwrap());
    let record = MemberRecord { id: MemberId::new(), name, email, role: Role::Member, created_at: noon() };
    Member::of_session(OrgId::new(), &record)
}

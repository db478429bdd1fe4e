//! Projection: how an agreement's promises become obligations (stage action `project_obligations`).
//!
//! Decision: obligations and their ids derive from the agreement alone. They are the same however late they are
//! projected, and the agreement knows their ids before anything is read. It keeps its organization's zone from
//! publication.
//!
//! Decision: they are projected even if the agreement ends in the same transaction, when a late clock or the cancelling
//! decision records that the step was done. So an obligation exists exactly if the step is done.
//!
//! Decision: without a stage that has the action, they are projected at completion. A signed promise is never dropped
//! because a step lacks an action.
//!
//! Decision: days before the projection are owed, and overdue at once. Leaving them out would decide for the parties.

use super::{Obligation, ObligationTrigger, Sequences, Terms, derived_id};
use crate::domain::agreement::gate::GateState;
use crate::domain::agreement::promise::{Promise, PromiseTerms};
use crate::domain::agreement::{Agreement, Life, Stage, StageAction, StageState};
use crate::domain::ids::{ObligationId, PromiseId};
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;

/// When promises became obligations: when the first stage with the action was done or, without one, at completion.
#[must_use]
pub fn projected_at(agreement: &Agreement) -> Option<Timestamp> {
    let completed_at = match agreement.life() {
        Life::Completed { completed_at, .. } => Some(completed_at),
        Life::Draft | Life::Active { .. } | Life::Cancelled { .. } | Life::Expired { .. } => None,
    };
    let projecting = |stage: &&Stage| stage.actions.contains(&StageAction::ProjectObligations);
    agreement.stages.iter().find(projecting).map_or(completed_at, done_at)
}

fn done_at(stage: &Stage) -> Option<Timestamp> {
    let cleared_at = stage.gates.iter().map(|gate| match gate.state {
        GateState::Cleared { cleared_at, .. } => Some(cleared_at),
        _ => None,
    });
    if stage.state == StageState::Done { cleared_at.max().flatten() } else { None }
}

/// The obligations that begin with an agreement's change, one per promise, in order.
#[must_use]
pub fn begun(before: &Agreement, after: &Agreement) -> Vec<Obligation> {
    if projected_at(before).is_some() { Vec::new() } else { project(after) }
}

/// The obligation of a promise, once projected ([`projected_at`]).
#[must_use]
pub fn id_of(agreement: &Agreement, promise: PromiseId) -> Option<ObligationId> {
    let at = projected_at(agreement)?;
    let (number, _) = numbered(agreement).find(|(_, found)| found.id == promise)?;
    Some(derived(agreement, number, promise, at))
}

/// An agreement's obligations, one per promise, in order. None before they are projected ([`projected_at`]).
pub(crate) fn project(agreement: &Agreement) -> Vec<Obligation> {
    let Some(at) = projected_at(agreement) else { return Vec::new() };
    let zone = agreement.zone.clone().unwrap_or_default();
    numbered(agreement).map(|(number, promise)| projected(agreement, number, promise, &zone, at)).collect()
}

fn numbered(agreement: &Agreement) -> impl Iterator<Item = (u32, &Promise)> {
    (0_u32..).zip(&agreement.promises)
}

fn derived(agreement: &Agreement, number: u32, promise: PromiseId, at: Timestamp) -> ObligationId {
    ObligationId::from(derived_id(at, number, "obligation", &[agreement.id().uuid(), promise.uuid()]))
}

fn projected(agreement: &Agreement, number: u32, promise: &Promise, zone: &TimeZone, at: Timestamp) -> Obligation {
    Obligation {
        id: derived(agreement, number, promise.id, at),
        agreement_id: agreement.id(),
        workspace_id: agreement.workspace_id,
        promise_id: promise.id,
        name: promise.name.clone(),
        parties: promise.parties.clone(),
        zone: zone.clone(),
        terms: terms(&promise.terms),
        confirmed_before: Sequences::default(),
        said: Vec::new(),
        older: Vec::new(),
        cancellation: None,
        created_at: at,
        updated_at: at,
    }
}

fn terms(promised: &PromiseTerms) -> Terms {
    match promised {
        PromiseTerms::Scheduled { schedule } => Terms::Scheduled { schedule: schedule.clone() },
        PromiseTerms::Triggered { triggers } => {
            let triggers = triggers.iter().map(|trigger| ObligationTrigger {
                id: trigger.id,
                description: trigger.description.clone(),
                due_after_days: trigger.due_after_days,
                happened_on: None,
                declared: None,
                sequence: None,
            });
            Terms::Triggered { triggers: triggers.collect() }
        }
        PromiseTerms::Standing { reverify_every_days } => {
            Terms::Standing { reverify_every_days: *reverify_every_days, verified_at: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ObligationState;
    use super::super::fixtures::{draft, every, on, triggered, zone};
    use super::*;
    use crate::domain::agreement::facts::Facts;
    use crate::domain::agreement::fixtures::{after, noon, published, time_scale};
    use crate::domain::moment::Moment;
    use crate::domain::recurrence::{RecurrenceEnd, RecurrenceUnit};

    fn promises() -> Vec<PromiseTerms> {
        vec![
            on(&["2026-06-30"]),
            triggered(&[30]),
            PromiseTerms::standing(90).unwrap(),
            every(RecurrenceUnit::Month, "2026-03-31", RecurrenceEnd::Never),
        ]
    }

    #[test]
    fn each_promise_becomes_an_obligation_once() {
        let draft = draft(promises(), &[StageAction::ProjectObligations]);
        let live = published(&draft.in_zone(&zone("America/New_York")));
        let obligations = project(&live);
        assert_eq!(obligations.len(), 4);
        assert!(obligations.iter().all(|obligation| obligation.zone().as_str() == "America/New_York"));
        assert_eq!(begun(&draft, &live), obligations);
        let ids: Vec<_> = live.promises.iter().map(|promise| id_of(&live, promise.id)).collect();
        assert!(ids.into_iter().eq(obligations.iter().map(|obligation| Some(obligation.id()))));
        assert_eq!((id_of(&draft, draft.promises[0].id), id_of(&live, PromiseId::new())), (None, None));
        let approver = live.participants[2].id;
        let gate = live.stages[1].gates[0].id;
        let completed = live.recorded(&Facts::none(), time_scale(), after(90), |facts| {
            facts.approved.insert((gate, approver));
        });
        assert!(matches!(completed.life(), Life::Completed { .. }));
        assert_eq!((project(&completed), begun(&live, &completed)), (obligations.clone(), Vec::new()));
        for (obligation, promise) in obligations.iter().zip(&live.promises) {
            assert_eq!((obligation.promise_id(), obligation.kind()), (promise.id, promise.terms.kind()));
            assert_eq!((obligation.created_at(), obligation.name()), (noon(), &promise.name));
            assert_eq!(obligation.id().uuid().get_version_num(), 7);
            let stored: Obligation = serde_json::from_str(&serde_json::to_string(obligation).unwrap()).unwrap();
            assert_eq!(stored, *obligation);
        }
        assert!(obligations.windows(2).all(|pair| pair[0].id() < pair[1].id()), "ids are in the promises' order");
        let states: Vec<ObligationState> = obligations.iter().map(Obligation::state).collect();
        let (open, dormant) = (ObligationState::Open, ObligationState::Dormant);
        assert_eq!(states, [open, dormant, open, open]);
        let copy = published(&super::super::fixtures::draft(promises(), &[StageAction::ProjectObligations]));
        let mut others = project(&copy).into_iter();
        assert!(others.all(|other| obligations.iter().all(|own| own.id() != other.id())));
    }

    #[test]
    fn they_are_projected_when_the_step_is_done_or_else_at_the_end() {
        let (with, without) = (draft(promises(), &[StageAction::ProjectObligations]), draft(promises(), &[]));
        assert_eq!((projected_at(&with), project(&with).len()), (None, 0), "a draft owes nothing");
        assert_eq!(projected_at(&published(&with)), Some(noon()));
        let live = published(&without);
        assert_eq!(project(&live), []);
        let (gate, approver) = (live.stages[1].gates[0].id, live.participants[2].id);
        let completed = live.recorded(&Facts::none(), time_scale(), after(90), |facts| {
            facts.approved.insert((gate, approver));
        });
        assert_eq!((projected_at(&completed), begun(&live, &completed).len()), (Some(after(90)), 4));
        let cancelled = published(&with).cancelled(after(1));
        assert_eq!(project(&cancelled), project(&published(&with)), "an end does not undo them");
        assert_eq!(project(&live.cancelled(after(1))), []);
        assert_eq!(project(&with.cancelled(after(1))), [], "a discarded draft owes nothing");
        let mut later = draft(promises(), &[]);
        later.stages[1].actions = [StageAction::ProjectObligations].into();
        let waits = published(&later).as_of(&Facts::none(), time_scale(), after(50)).into_owned();
        assert_eq!(projected_at(&waits), None, "its step waits for an approval");
    }

    #[test]
    fn the_end_of_the_agreement_ends_what_is_not_confirmed() {
        let live = published(&draft(promises(), &[StageAction::ProjectObligations]));
        let open = project(&live).remove(0);
        let moment = Moment::test(after(5));
        assert_eq!(open.ended(&live, moment), None);
        let cancelled = live.cancelled(after(4));
        let ended = open.ended(&cancelled, moment).unwrap();
        assert_eq!(
            (ended.state(), ended.next_due_at(), ended.updated_at()),
            (ObligationState::Cancelled, None, after(5))
        );
        assert_eq!(ended.ended(&cancelled, moment), None, "once");
        let other = published(&draft(promises(), &[])).cancelled(after(4));
        assert_eq!(open.ended(&other, moment), None, "of another agreement");
    }
}

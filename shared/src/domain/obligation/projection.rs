//! How the promises of an agreement become obligations: the stage action `project_obligations`.
//!
//! Decision: the obligations, their ids included, follow from the agreement and the organization's zone alone. However often
//! and however late they are projected, they are the same, so a projection that was interrupted is simply done again.
//!
//! Decision: if no stage has the action, they are projected when the agreement is completed. A promise that everyone has
//! signed is never dropped because a step lacks an action.
//!
//! Decision: what was promised for a day before the projection is owed, and overdue at once. The parties agreed on that day;
//! leaving it out would decide for them.

use super::{Obligation, ObligationTrigger, Sequences, Terms, derived_id};
use crate::domain::agreement::gate::GateState;
use crate::domain::agreement::promise::{Promise, PromiseTerms};
use crate::domain::agreement::{Agreement, Life, Stage, StageAction, StageState};
use crate::domain::ids::ObligationId;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;

/// When the promises of an agreement became obligations: when the first stage with the action was done. None if they have
/// not yet, or the agreement was cancelled or expired.
#[must_use]
pub fn projected_at(agreement: &Agreement) -> Option<Timestamp> {
    let completed_at = match agreement.life() {
        Life::Active { .. } => None,
        Life::Completed { completed_at, .. } => Some(completed_at),
        Life::Draft | Life::Cancelled { .. } | Life::Expired { .. } => return None,
    };
    let projecting = |stage: &&Stage| stage.actions.contains(&StageAction::ProjectObligations);
    // Of several, the first is done first.
    agreement.stages.iter().find(projecting).map_or(completed_at, done_at)
}

/// When a stage was done: with the last of its gates.
fn done_at(stage: &Stage) -> Option<Timestamp> {
    let cleared_at = stage.gates.iter().map(|gate| match gate.state {
        GateState::Cleared { cleared_at, .. } => Some(cleared_at),
        _ => None,
    });
    if stage.state == StageState::Done { cleared_at.max().flatten() } else { None }
}

/// The obligations of an agreement, one for each promise, in their order. `zone` is the organization's. None before they
/// are due to be projected ([`projected_at`]).
#[must_use]
pub fn project(agreement: &Agreement, zone: &TimeZone) -> Vec<Obligation> {
    let Some(at) = projected_at(agreement) else { return Vec::new() };
    let numbered = (0_u32..).zip(&agreement.promises);
    numbered.map(|(number, promise)| projected(agreement, (number, promise), zone, at)).collect()
}

fn projected(agreement: &Agreement, (number, promise): (u32, &Promise), zone: &TimeZone, at: Timestamp) -> Obligation {
    let of = [agreement.id().uuid(), promise.id.uuid()];
    Obligation {
        id: ObligationId::from(derived_id(at, number, "obligation", &of)),
        agreement_id: agreement.id(),
        workspace_id: agreement.workspace_id,
        promise_id: promise.id,
        name: promise.name.clone(),
        parties: promise.parties.clone(),
        zone: zone.clone(),
        terms: terms(&promise.terms),
        confirmed_before: Sequences::default(),
        said: Vec::new(),
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
        let zone = zone("America/New_York");
        let live = published(&draft(promises(), &[StageAction::ProjectObligations]));
        let obligations = project(&live, &zone);
        assert_eq!(obligations.len(), 4);
        // The rest of its life changes nothing.
        let approver = live.participants[2].id;
        let gate = live.stages[1].gates[0].id;
        let completed = live.recorded(&Facts::none(), time_scale(), after(90), |facts| {
            facts.approved.insert((gate, approver));
        });
        assert!(matches!(completed.life(), Life::Completed { .. }));
        for again in [project(&live, &zone), project(&completed, &zone)] {
            assert_eq!(again, obligations);
        }
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
        let copy = published(&draft(promises(), &[StageAction::ProjectObligations]));
        let mut others = project(&copy, &zone).into_iter();
        assert!(others.all(|other| obligations.iter().all(|own| own.id() != other.id())));
    }

    #[test]
    fn they_are_projected_when_the_step_is_done_or_else_at_the_end() {
        let zone = zone("UTC");
        let (with, without) = (draft(promises(), &[StageAction::ProjectObligations]), draft(promises(), &[]));
        assert_eq!((projected_at(&with), project(&with, &zone).len()), (None, 0), "a draft owes nothing");
        assert_eq!(projected_at(&published(&with)), Some(noon()));
        let live = published(&without);
        assert_eq!(project(&live, &zone), []);
        let (gate, approver) = (live.stages[1].gates[0].id, live.participants[2].id);
        let completed = live.recorded(&Facts::none(), time_scale(), after(90), |facts| {
            facts.approved.insert((gate, approver));
        });
        assert_eq!((projected_at(&completed), project(&completed, &zone).len()), (Some(after(90)), 4));
        let cancelled = published(&with).cancelled(after(1));
        assert_eq!(project(&cancelled, &zone), []);
        let mut later = draft(promises(), &[]);
        later.stages[1].actions = [StageAction::ProjectObligations].into();
        let waits = published(&later).as_of(&Facts::none(), time_scale(), after(50)).into_owned();
        assert_eq!(projected_at(&waits), None, "its step waits for an approval");
    }

    #[test]
    fn the_end_of_the_agreement_ends_what_is_not_confirmed() {
        let live = published(&draft(promises(), &[StageAction::ProjectObligations]));
        let open = project(&live, &zone("UTC")).remove(0);
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

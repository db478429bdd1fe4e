//! The API's view of promises and their obligations.
//!
//! Decision: `occurrences` is `null` in lists, like an agreement's parts. A weekly promise that nobody keeps has 52 a
//! year, so a page of 200 obligations could exceed a response's limit.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::domain::agreement::promise::{Promise, PromiseKind, PromiseTerms};
use crate::domain::agreement::{Agreement, Label};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ObligationId, OccurrenceId, ParticipantId, PromiseId, TriggerId, WorkspaceId};
use crate::domain::obligation::{
    self, Obligation, ObligationState, ObligationTrigger, Occurrence, OccurrenceOrigin, OccurrenceState, Standing,
    StandingState,
};
use crate::domain::recurrence::{Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use crate::domain::time::Timestamp;
use crate::service::obligations::{ObligationInFull, ObligationPage};
use crate::text;
use crate::wire::fields::FieldErrors;
use crate::wire::page::Page;

/// An obligation's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct ObligationPath {
    /// The obligation.
    pub obligation_id: ObligationId,
}

/// What participants owe each other once a promise of their agreement is in force. `satisfied` is the promisor's claim,
/// `confirmed` the other side's word or a member's. In lists `occurrences` is `null`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Obligation, example = json!({
    "id": "01980a55-2b60-7e19-b7d4-08f1a2c3e4d5",
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "name": "Quarterly report",
    "kind": "scheduled",
    "state": "open",
    "state_sentence": "Due by 31 Mar 2026",
    "promisor_participant_ids": ["01980a55-1d20-7be3-9f04-8a7c6b5d4e32"],
    "promisee_participant_ids": ["01980a55-1d20-7be3-9f04-8a7c6b5d4e31"],
    "next_due_at": "2026-03-31T21:59:59.999Z",
    "occurrences": [{
        "id": "01980a55-2b60-7001-b7d4-18f1a2c3e4d6",
        "sequence": 1,
        "due_at": "2026-03-31T21:59:59.999Z",
        "origin": "schedule",
        "state": "due",
        "satisfied_at": null,
        "confirmed_at": null,
    }],
    "triggers": [],
    "standing": null,
    "created_at": "2026-03-14T09:26:53.589Z",
    "updated_at": "2026-03-14T09:26:53.589Z",
}))]
pub struct ObligationView {
    /// The id of the obligation.
    pub id: ObligationId,
    /// The workspace of its agreement.
    pub workspace_id: WorkspaceId,
    /// The agreement whose promise it was.
    pub agreement_id: AgreementId,
    /// What was promised.
    pub name: Label,
    /// When it is due.
    pub kind: PromiseKind,
    /// Where it is, whatever the time. Branch on this, and on the states of its occurrences.
    pub state: ObligationState,
    /// The same for a person. Changes freely; do not parse.
    pub state_sentence: String,
    /// The participants who owe it.
    pub promisor_participant_ids: Vec<ParticipantId>,
    /// To whom it is owed.
    pub promisee_participant_ids: Vec<ParticipantId>,
    /// When the first occurrence is due, or was, for which nobody has said that it is done.
    #[schema(required = true)]
    pub next_due_at: Option<Timestamp>,
    /// When it is due, was and will be: all that is due or overdue, the next 12, and all others about which something was
    /// said.
    #[schema(required = true)]
    pub occurrences: Option<Vec<OccurrenceView>>,
    /// What makes it due, of `triggered`.
    pub triggers: Vec<TriggerView>,
    /// Whether it holds, of `standing`.
    #[schema(required = true)]
    pub standing: Option<StandingView>,
    /// When the promise came into force.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// One time at which an obligation is due.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Occurrence)]
pub struct OccurrenceView {
    /// The id of the occurrence.
    pub id: OccurrenceId,
    /// Its number among those of the obligation, from 1.
    #[schema(minimum = 1)]
    pub sequence: u32,
    /// The end of the day on which it is due, in the time zone that the organization had when the agreement was published.
    pub due_at: Timestamp,
    /// Why it is due.
    pub origin: OccurrenceOrigin,
    /// Where it is now.
    pub state: OccurrenceState,
    /// When it was recorded that it is done: a claim. A verification of a standing promise has none.
    #[schema(required = true)]
    pub satisfied_at: Option<Timestamp>,
    /// When the other side, or a member, confirmed it.
    #[schema(required = true)]
    pub confirmed_at: Option<Timestamp>,
}

/// What makes an obligation due, once a person declares that it happened.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ObligationTrigger, example = json!({
    "id": "01980a55-2b60-7102-b7d4-28f1a2c3e4d7",
    "description": "A change of control",
    "declared_at": "2026-03-20T14:00:00.000Z",
    "due_after_days": 10,
}))]
pub struct TriggerView {
    /// The id of the trigger.
    pub id: TriggerId,
    /// What has to happen for it to become due.
    pub description: Label,
    /// When a person declared that it happened.
    #[schema(required = true)]
    pub declared_at: Option<Timestamp>,
    /// How many days after that it is due.
    pub due_after_days: u16,
}

/// What holds at all times, and is verified again and again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Standing, example = json!({
    "state": "holding",
    "verified_at": "2026-03-14T09:26:53.589Z",
    "reverify_every_days": 90,
    "next_reverify_at": "2026-06-12T21:59:59.999Z",
}))]
pub struct StandingView {
    /// Whether it holds, as far as it was verified.
    pub state: StandingState,
    /// When it was verified last.
    #[schema(required = true)]
    pub verified_at: Option<Timestamp>,
    /// The days between two verifications.
    pub reverify_every_days: u16,
    /// When it has to be verified again at the latest.
    pub next_reverify_at: Timestamp,
}

impl ObligationView {
    fn in_list(obligation: &Obligation, now: Timestamp) -> Self {
        let parties = obligation.parties();
        Self {
            id: obligation.id(),
            workspace_id: obligation.workspace_id(),
            agreement_id: obligation.agreement_id(),
            name: obligation.name().clone(),
            kind: obligation.kind(),
            state: obligation.state(),
            state_sentence: text::obligation_state(obligation, now),
            promisor_participant_ids: parties.promisors().iter().copied().collect(),
            promisee_participant_ids: parties.promisees().iter().copied().collect(),
            next_due_at: obligation.next_due_at(),
            occurrences: None,
            triggers: obligation.triggers().iter().map(TriggerView::from).collect(),
            standing: obligation.standing(now).map(StandingView::from),
            created_at: obligation.created_at(),
            updated_at: obligation.updated_at(),
        }
    }

    /// An obligation in full, as of `now`.
    #[must_use]
    pub fn in_full(found: &ObligationInFull, now: Timestamp) -> Self {
        let obligation = &found.obligation;
        Self {
            occurrences: Some(obligation.occurrences(now).into_iter().map(OccurrenceView::from).collect()),
            ..Self::in_list(obligation, now)
        }
    }

    /// A page of obligations, as of `now`.
    #[must_use]
    pub fn page(found: ObligationPage, now: Timestamp) -> Page<Self> {
        found.page.map(|obligation| Self::in_list(&obligation, now))
    }
}

impl Output for ObligationView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/obligations/{}", self.id))
    }
}

impl From<Occurrence> for OccurrenceView {
    fn from(occurrence: Occurrence) -> Self {
        // How something was done, as a claim says, is only for the people who confirm it.
        let Occurrence { id, sequence, due_from: _, due_at, origin, state, satisfied, how: _, confirmed } = occurrence;
        let (satisfied_at, confirmed_at) = (satisfied.map(|word| word.at), confirmed.map(|word| word.at));
        Self { id, sequence, due_at, origin, state, satisfied_at, confirmed_at }
    }
}

impl From<&ObligationTrigger> for TriggerView {
    fn from(trigger: &ObligationTrigger) -> Self {
        Self {
            id: trigger.id,
            description: trigger.description.clone(),
            declared_at: trigger.declared.as_ref().map(|word| word.at),
            due_after_days: trigger.due_after_days,
        }
    }
}

impl From<Standing> for StandingView {
    fn from(Standing { state, verified_at, reverify_every_days, next_reverify_at }: Standing) -> Self {
        Self { state, verified_at, reverify_every_days, next_reverify_at }
    }
}

/// What participants of an agreement promise each other beyond its steps. What does not apply to its kind is `null`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Promise, example = json!({
    "id": "01980a55-2b60-7e19-b7d4-08f1a2c3e4d5",
    "name": "Quarterly report",
    "kind": "scheduled",
    "due_sentence": "every quarter from 31 Mar 2026",
    "promisor_participant_ids": ["01980a55-1d20-7be3-9f04-8a7c6b5d4e32"],
    "promisee_participant_ids": ["01980a55-1d20-7be3-9f04-8a7c6b5d4e31"],
    "days": null,
    "recurrence": {"every": 1, "unit": "quarter", "first": "2026-03-31", "until": null, "count": 12},
    "triggers": null,
    "reverify_every_days": null,
    "obligation_id": null,
}))]
pub struct PromiseView {
    /// The id of the promise.
    pub id: PromiseId,
    /// What is promised.
    pub name: Label,
    /// When it is due.
    pub kind: PromiseKind,
    /// The same for a person. Changes freely; do not parse.
    pub due_sentence: String,
    /// The participants who owe it.
    pub promisor_participant_ids: Vec<ParticipantId>,
    /// To whom it is owed.
    pub promisee_participant_ids: Vec<ParticipantId>,
    /// The days, of `scheduled` on given days.
    #[schema(required = true)]
    pub days: Option<Vec<Day>>,
    /// The days that come again, of `scheduled` otherwise.
    #[schema(required = true)]
    pub recurrence: Option<RecurrenceView>,
    /// What makes it due, of `triggered`.
    #[schema(required = true)]
    pub triggers: Option<Vec<PromiseTriggerView>>,
    /// The days between two verifications, of `standing`.
    #[schema(required = true, example = 90)]
    pub reverify_every_days: Option<u16>,
    /// The obligation that it became, once it is in force.
    #[schema(required = true)]
    pub obligation_id: Option<ObligationId>,
}

/// Days that come again, from a first one on. At most one of `until` and `count` is there; without them it has no end.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Recurrence)]
pub struct RecurrenceView {
    /// The interval, in its unit.
    pub every: u16,
    /// The unit in which the interval is counted.
    pub unit: RecurrenceUnit,
    /// The first day.
    pub first: Day,
    /// The day on which it ends, included.
    #[schema(required = true)]
    pub until: Option<Day>,
    /// After how many days it ends.
    #[schema(required = true)]
    pub count: Option<u32>,
}

/// What makes a promise due, once a person declares that it happened.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PromiseTrigger, example = json!({
    "id": "01980a55-2b60-7102-b7d4-28f1a2c3e4d7",
    "description": "A change of control",
    "due_after_days": 10,
}))]
pub struct PromiseTriggerView {
    /// Its id, also in the obligation.
    pub id: TriggerId,
    /// What has to happen for it to become due.
    pub description: Label,
    /// How many days after the declaration it is due.
    pub due_after_days: u16,
}

impl PromiseView {
    /// A promise of an agreement.
    #[must_use]
    pub fn new(promise: &Promise, agreement: &Agreement) -> Self {
        let terms = &promise.terms;
        let schedule = if let PromiseTerms::Scheduled { schedule } = terms { Some(schedule) } else { None };
        Self {
            id: promise.id,
            name: promise.name.clone(),
            kind: terms.kind(),
            due_sentence: text::promise_terms(terms),
            promisor_participant_ids: promise.parties.promisors().iter().copied().collect(),
            promisee_participant_ids: promise.parties.promisees().iter().copied().collect(),
            days: match schedule {
                Some(Schedule::Days(days)) => Some(days.iter().collect()),
                _ => None,
            },
            recurrence: match schedule {
                Some(Schedule::Recurrence(recurrence)) => Some(RecurrenceView::from(recurrence)),
                _ => None,
            },
            triggers: match terms {
                PromiseTerms::Triggered { triggers } => {
                    let triggers = triggers.iter().map(|trigger| PromiseTriggerView {
                        id: trigger.id,
                        description: trigger.description.clone(),
                        due_after_days: trigger.due_after_days,
                    });
                    Some(triggers.collect())
                }
                _ => None,
            },
            reverify_every_days: match terms {
                PromiseTerms::Standing { reverify_every_days } => Some(reverify_every_days.get()),
                _ => None,
            },
            obligation_id: obligation::id_of(agreement, promise.id),
        }
    }
}

impl From<&Recurrence> for RecurrenceView {
    fn from(recurrence: &Recurrence) -> Self {
        let (until, count) = match recurrence.end() {
            RecurrenceEnd::Never => (None, None),
            RecurrenceEnd::Until(day) => (Some(day), None),
            RecurrenceEnd::After(count) => (None, Some(count)),
        };
        Self { every: recurrence.every(), unit: recurrence.unit(), first: recurrence.first(), until, count }
    }
}

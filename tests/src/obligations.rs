//! Promises and obligations: agreements with promises in force, and acts on them through use cases.

use serde_json::Value;
use shared::domain::agreement::gate::{Countdown, GateRule, GateState};
use shared::domain::agreement::promise::{Parties, Promise, PromiseTerms, Trigger, Triggers};
use shared::domain::agreement::{
    Agreement, Label, Life, NewParticipant, ParticipantRole, Roles, StageAction, StageState,
};
use shared::domain::contact::Email;
use shared::domain::day::Day;
use shared::domain::ids::{AgreementId, ObligationId, OccurrenceId, ParticipantId, PromiseId, ReceiptId, TriggerId};
use shared::domain::obligation::{self, Refused};
use shared::domain::participant::obligations::NotActedOnObligation;
use shared::domain::participant::receipt::{ObligationAct, Origin};
use shared::domain::participant::session::Part;
use shared::domain::participant::{Occasion, ParticipantLink};
use shared::domain::recurrence::{Days, Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};
use shared::domain::satisfaction::{Done, Satisfaction};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::retry::{Budget, retry_on_conflict};
use shared::service::due::Settlement;
use shared::service::identity::demo_call::MemberCall;
use shared::service::identity::demo_call::ParticipantCall;
use shared::service::obligations::{MemberAct, act, act_as_participant};
use shared::service::{agreements, endings, participants};
use shared::store::due::DueEntry;
use shared::store::keys::{self, Due};

use crate::app::Person;
use crate::drafts::{self, Drafted};
use crate::org::Org;

/// Due on these days, counted from today in UTC.
#[must_use]
pub fn on(days_from_today: &[i32]) -> PromiseTerms {
    let days = days_from_today.iter().map(|days| day(*days)).collect();
    PromiseTerms::Scheduled { schedule: Schedule::Days(Days::new(days).expect("days")) }
}

/// Due every month without end, from a day counted from today in UTC.
#[must_use]
pub fn monthly(first: i32) -> PromiseTerms {
    let recurrence = Recurrence::new(1, RecurrenceUnit::Month, day(first), RecurrenceEnd::Never).expect("a recurrence");
    PromiseTerms::Scheduled { schedule: Schedule::Recurrence(recurrence) }
}

/// Due this many days after each trigger.
#[must_use]
pub fn triggered(due_after_days: &[u16]) -> PromiseTerms {
    let description = label("The company raises a priced round");
    let trigger =
        |days: &u16| Trigger { id: TriggerId::new(), description: description.clone(), due_after_days: *days };
    PromiseTerms::Triggered { triggers: Triggers::new(due_after_days.iter().map(trigger).collect()).expect("triggers") }
}

/// Holds at all times.
#[must_use]
pub fn standing(reverify_every_days: u16) -> PromiseTerms {
    PromiseTerms::standing(reverify_every_days).expect("an interval")
}

/// A day in UTC, counted from today.
#[must_use]
pub fn day(from_today: i32) -> Day {
    TimeZone::default().day_of(Timestamp::now()).plus_days(from_today)
}

/// Marks an occurrence done today, the form's default.
#[must_use]
pub fn done(occurrence: OccurrenceId) -> Done {
    Done { occurrence, how: Satisfaction::on(day(0)) }
}

/// A moment some days ago.
#[must_use]
pub fn days_ago(days: i64) -> Timestamp {
    Timestamp::now().plus_seconds(-days * 86_400)
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("a label")
}

/// A promise by the second participant to the first.
#[must_use]
pub fn promise(draft: &Agreement, name: &str, terms: PromiseTerms) -> Promise {
    let [promisee, promisor] = [0, 1].map(|n| [draft.participants[n].id].into());
    let parties = Parties::new(promisor, promisee).expect("parties");
    Promise { id: PromiseId::new(), name: label(name), terms, parties }
}

/// Adds promises by the second participant to the first, named by number.
#[must_use]
pub fn with_promises(draft: &Agreement, terms: Vec<PromiseTerms>) -> Agreement {
    let mut draft = draft.clone();
    for (number, terms) in (1..).zip(terms) {
        let promise = promise(&draft, &format!("Promise {number}"), terms);
        draft = draft.put_promise(promise, Timestamp::now()).expect("a draft");
    }
    draft
}

/// Publishes an agreement with these promises some time ago. One step waits for a past countdown, one for approval.
pub async fn waiting(
    org: &Org,
    workspace: &Value,
    contacts: [&Value; 2],
    terms: Vec<PromiseTerms>,
    at: Timestamp,
) -> Drafted {
    let mut draft = drafts::empty(workspace, "Lease");
    for contact in contacts {
        let contact_id = contact["id"].as_str().expect("an id").parse().expect("an id");
        let participant = NewParticipant { contact_id, roles: Roles([ParticipantRole::Approver].into()) };
        draft = draft.add_participant(participant, at).expect("a participant").agreement;
    }
    let approver = draft.participants[0].id;
    for (action, rule) in [
        (Some(StageAction::ProjectObligations), GateRule::Countdown { until: Some(Countdown::At(at)) }),
        (None, GateRule::ParticipantApproval { participant_ids: [approver].into() }),
    ] {
        let (more, stage) = draft.add_stage(label("Step"), action.into_iter().collect(), at).expect("a step");
        draft = more.add_gate(stage, rule, at).expect("a gate").0;
    }
    draft = with_promises(&draft, terms);
    draft.stages[0].state = StageState::Current;
    draft.stages[0].gates[0].state = GateState::Open { opened_at: at, due_at: Some(at) };
    drafts::write(org, drafts::with_life(&draft, Life::Active { published_at: at })).await
}

/// Advances an agreement in time, as the clock does. Fails if another call came first.
pub async fn advance(org: &Org, agreement: &Drafted) -> Result<(), Error> {
    let (system, at) = (org.system(), agreement.agreement.created_at);
    let entry = DueEntry::of(keys::due(at, Due::Agreement, org.id, agreement.agreement.id().uuid()));
    let plan = agreements::advance(&system, &entry.expect("an entry")).await?;
    system.commit(plan).await.map(|_| ())
}

/// Ends up to `at_most` obligations of an ended agreement, and returns how many: the stack's clock may come first.
pub async fn end(org: &Org, agreement: AgreementId, at_most: usize) -> usize {
    let left = endings::left_to_end(&org.system(), agreement).await.expect("the table answers");
    let Some((agreement, left)) = left else { return 0 };
    let mut ended = 0;
    for one in left.into_iter().take(at_most) {
        let system = org.system();
        let plan = endings::end(&system, &agreement, one).await.expect("a plan");
        // A conflict means that the clock came first.
        ended += usize::from(matches!(system.commit(plan).await, Ok(Settlement::Settled)));
    }
    ended
}

/// An agreement with promises in force, and their obligations' ids.
pub async fn in_force(
    org: &Org,
    workspace: &Value,
    contacts: [&Value; 2],
    terms: Vec<PromiseTerms>,
    at: Timestamp,
) -> (Drafted, Vec<ObligationId>) {
    let agreement = waiting(org, workspace, contacts, terms, at).await;
    advance(org, &agreement).await.expect("nothing else changes it");
    let agreement = Drafted::of(org, &agreement.id()).await;
    let ids = ids(&agreement.agreement);
    (agreement, ids)
}

/// An agreement's obligations, in the order of its promises.
#[must_use]
pub fn ids(agreement: &Agreement) -> Vec<ObligationId> {
    let of = |promise: &Promise| obligation::id_of(agreement, promise.id).expect("an obligation");
    agreement.promises.iter().map(of).collect()
}

impl Org {
    /// Runs a member's act on an obligation, with the retries of the app's forms.
    pub async fn act_on(&self, by: &Person, id: ObligationId, doing: MemberAct) -> Result<Result<(), Refused>, Error> {
        let email = Email::parse(&by.email).expect("an address");
        let call = MemberCall::begin(self.store(), TimeScale::default(), "fixture", &email, &by.password).await?;
        let call = call.expect("signed in");
        retry_on_conflict(Budget::attempts(10), || async {
            call.commit(act(call.scope(), call.member(), id, doing.clone()).await?).await
        })
        .await
    }

    /// Runs a participant's act on an obligation.
    pub async fn act_as(
        &self,
        agreement: &Agreement,
        participant: ParticipantId,
        form: ReceiptId,
        id: ObligationId,
        doing: ObligationAct,
    ) -> Result<Result<(), NotActedOnObligation>, Error> {
        let call = self.participant_call(agreement, participant).await;
        retry_on_conflict(Budget::attempts(10), || async {
            let (doing, statement) = (doing.clone(), "I say so.".to_owned());
            let plan =
                act_as_participant(call.scope(), call.participant(), occasion(form), id, doing, statement).await?;
            call.commit(plan).await
        })
        .await
    }

    /// Gives a participant's consent to electronic records.
    pub async fn consent(&self, agreement: &Agreement, participant: ParticipantId) {
        let call = self.participant_call(agreement, participant).await;
        let given = participants::change_consent(call.scope(), call.participant(), occasion(ReceiptId::new()), true);
        call.commit(given.await.expect("a plan")).await.expect("a commit").expect("consent");
    }

    async fn participant_call(&self, agreement: &Agreement, participant: ParticipantId) -> ParticipantCall {
        let part = Part { organization_id: self.id, agreement_id: agreement.id(), participant_id: participant };
        let keys = self.stack().keyring();
        let link = ParticipantLink::new(keys, part, 0).expect("a link");
        let call = ParticipantCall::begin(self.store(), TimeScale::default(), "fixture", keys, &link).await;
        call.expect("the table answers").expect("the link opens")
    }
}

fn occasion(id: ReceiptId) -> Occasion {
    Occasion { id, origin: Origin::default() }
}

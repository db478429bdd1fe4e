//! The review of a proposal: summary, gate requirements, effects of confirming, and time left.

use super::names::{all_names, counted};
use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::gate::{Countdown, GateRule, GateState};
use crate::domain::agreement::{Agreement, Lifecycle, Stage, StageAction, StageState};
use crate::domain::contact::Contact;
use crate::domain::ids::{MovementId, ParticipantId};
use crate::domain::movement::Movement;
use crate::domain::movement::state::MovementState;
use crate::domain::obligation::projected_at;
use crate::domain::proposal::{Proposal, ProposalAction, Subject};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::domain::workspace::Workspace;
use crate::limits;
use crate::text::reader::Shown as _;

/// A proposal's `summary_sentence`.
#[must_use]
pub fn proposal_summary(proposal: &Proposal) -> String {
    let name = proposal.subject.name.as_str();
    match proposal.action {
        ProposalAction::PublishAgreement => format!("Publish “{name}”: {}.", size(&proposal.subject)),
        ProposalAction::CancelAgreement => format!("Cancel “{name}” permanently."),
    }
}

/// The size of a proposed agreement, such as `2 participants, 3 steps`.
#[must_use]
pub fn size(subject: &Subject) -> String {
    format!("{}, {}", counted(subject.participants, "participant"), counted(subject.steps, "step"))
}

/// Who and what an agreement refers to, as far as it is read, for sentences that name it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Named<'a> {
    /// The contacts of its participants.
    pub contacts: &'a [Contact],
    /// Its payments.
    pub payments: &'a [Movement],
}

/// A gate's requirement with the names of all participants and of its payment, if among the payments, since members
/// decide by it. Independent of the gate's state.
#[must_use]
pub fn requirement(rule: &GateRule, agreement: &Agreement, of: Named<'_>) -> String {
    let Named { contacts, payments } = of;
    let named: Vec<ParticipantId> = rule.named(agreement).into_iter().collect();
    let who = if named.is_empty() {
        "participants still to be chosen".to_owned()
    } else {
        all_names(agreement, &named, contacts)
    };
    match rule {
        GateRule::SignatureBlocks { .. } => format!("Signatures of {who}"),
        GateRule::DocumentSigned { document_id } => match document_id.and_then(|id| agreement.document(id)) {
            Some(document) => format!("“{}” with the signatures of {who}", document.name.as_str()),
            None => "The signatures on a document, still to be chosen".to_owned(),
        },
        GateRule::ParticipantApproval { .. } => format!("Approval by {who}"),
        GateRule::FileUpload { file, .. } => {
            let what = file.title.as_ref().map_or("A file".to_owned(), |title| format!("“{}”", title.as_str()));
            format!("{what} from {who}{}", if file.review { ", accepted by a member" } else { "" })
        }
        GateRule::Countdown { until } => match until {
            Some(Countdown::AfterHours(hours)) => format!("{} waiting period", period(*hours)),
            Some(Countdown::At(moment)) => format!("Waiting until {}", moment.shown()),
            None => "Waiting until a date, still to be chosen".to_owned(),
        },
        GateRule::MovementAuthorized { movement_id } => format!("Authorization of {}", payment(*movement_id, payments)),
        GateRule::MovementReconciled { movement_id } => {
            format!("Proof from the receiving side that {} arrived", payment(*movement_id, payments))
        }
        GateRule::InformationRequest { fields, .. } => {
            format!("Answers of {who} to {}, accepted by a member", counted(fields.len(), "question"))
        }
        GateRule::IdentityVerified { .. } => format!("Proof of identity of {who}"),
    }
}

fn payment(id: Option<MovementId>, payments: &[Movement]) -> String {
    named_payment(id, payments).unwrap_or_else(|| "a payment".to_owned())
}

/// A payment's purpose in quotation marks, if it is among these and has one.
pub(super) fn named_payment(id: Option<MovementId>, payments: &[Movement]) -> Option<String> {
    let found = payments.iter().find(|payment| Some(payment.id()) == id)?;
    found.terms().purpose.as_ref().map(|purpose| format!("“{}”", purpose.as_str()))
}

/// A number of hours as an adjective, such as `24-hour`, or in whole days.
fn period(hours: u32) -> String {
    if hours >= 48 && hours.is_multiple_of(24) { format!("{}-day", hours / 24) } else { format!("{hours}-hour") }
}

/// An action of a stage.
#[must_use]
pub fn stage_action(action: StageAction) -> &'static str {
    match action {
        StageAction::OpenSigning => "opens documents for signing",
        StageAction::OpenMovement => "lets members authorize payments",
        StageAction::ReleaseInstructions => "lets members release payment instructions",
        StageAction::ProjectObligations => "records the obligations",
    }
}

/// An action of a stage that is done.
#[must_use]
pub fn stage_action_done(action: StageAction) -> &'static str {
    match action {
        StageAction::OpenSigning => "opened documents for signing",
        StageAction::OpenMovement => "let members authorize payments",
        StageAction::ReleaseInstructions => "let members release payment instructions",
        StageAction::ProjectObligations => "recorded the obligations",
    }
}

/// The effects of confirming a proposal now, in order.
#[must_use]
pub fn effects(
    action: ProposalAction,
    agreement: &Agreement,
    workspace: &Workspace,
    of: Named<'_>,
    facts: &Facts,
    time_scale: TimeScale,
    now: Timestamp,
) -> Vec<String> {
    match action {
        ProposalAction::CancelAgreement => {
            let mut effects = vec![
                "The agreement is permanently cancelled.".to_owned(),
                "Its steps stop. No one is asked for anything anymore.".to_owned(),
            ];
            if !agreement.promises.is_empty() && projected_at(agreement).is_some() {
                effects.push("Its obligations that are not confirmed are cancelled.".to_owned());
            }
            effects.extend(funding_items_opened(agreement).map(str::to_owned));
            effects.extend(payments_ended(facts));
            effects
        }
        ProposalAction::PublishAgreement => {
            let mut effects = Vec::new();
            if workspace.activated_at.is_none() {
                effects.push(format!("The workspace “{}” is activated.", workspace.name.as_str()));
            }
            effects.push("The draft becomes an active agreement and can no longer be edited.".to_owned());
            let published = agreement.published(facts, time_scale, now);
            for (index, stage) in published.stages.iter().enumerate() {
                let (number, name) = (index + 1, stage.name.as_str());
                match stage.state {
                    StageState::Done => effects.push(format!("Step {number}, {name}, is done at once.")),
                    StageState::Current => {
                        let open = stage.gates.iter().filter(|gate| matches!(gate.state, GateState::Open { .. }));
                        let asked: Vec<String> = open.map(|gate| requirement(&gate.rule, agreement, of)).collect();
                        let asked = asked.join("; ");
                        // A name such as “Inc.” already ends with a period.
                        let stop = if asked.ends_with('.') { "" } else { "." };
                        effects.push(format!("Step {number}, {name}, opens. It asks for: {asked}{stop}"));
                    }
                    StageState::Upcoming => {}
                }
            }
            if !agreement.funding_item_ids.is_empty() {
                effects
                    .push("Its funding items are in progress, and wait for proof from the receiving side.".to_owned());
            }
            if published.lifecycle() == Lifecycle::Completed {
                effects.push("Nothing is left to wait for: the agreement is completed.".to_owned());
            }
            effects.extend(promises(agreement));
            effects.push("Countersign sends no email: tell the participants yourself.".to_owned());
            effects
        }
    }
}

fn funding_items_opened(agreement: &Agreement) -> Option<&'static str> {
    (!agreement.funding_item_ids.is_empty()).then(|| match agreement.lifecycle() {
        Lifecycle::Draft => "Its funding items are open again, to be papered anew.",
        _ => {
            "Its funding items that are not closed are open again: their claims end, and proof that was filed no longer counts."
        }
    })
}

fn payments_ended(facts: &Facts) -> Option<String> {
    let count = |is: fn(MovementState) -> bool| facts.movement_states().filter(|state| is(*state)).count();
    let open = match count(MovementState::ends_with_agreement) {
        0 => None,
        1 => Some("1 open payment is cancelled".to_owned()),
        many => Some(format!("{many} open payments are cancelled")),
    };
    let told = match count(|state| state == MovementState::InstructionsReady) {
        0 => String::new(),
        1 if facts.movement_states().count() == 1 => "; the payer no longer sees its instructions".to_owned(),
        1 => "; the payer of 1 no longer sees its instructions".to_owned(),
        many => format!("; the payers of {many} no longer see their instructions"),
    };
    let exceptions = match count(|state| state == MovementState::Exception) {
        0 => None,
        1 => Some("1 exception stays open.".to_owned()),
        many => Some(format!("{many} exceptions stay open.")),
    };
    let sentences: Vec<String> = open.map(|open| format!("{open}{told}.")).into_iter().chain(exceptions).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn promises(agreement: &Agreement) -> Option<String> {
    let projects = |stage: &Stage| stage.actions.contains(&StageAction::ProjectObligations);
    let stage = agreement.stages.iter().enumerate().find(|(_, stage)| projects(stage));
    let when = match stage {
        Some((index, stage)) => format!("step {}, {}, is done", index + 1, stage.name.as_str()),
        None => "the agreement is completed".to_owned(),
    };
    match agreement.promises.len() {
        0 => None,
        1 => Some(format!("1 obligation is in force when {when}.")),
        many => Some(format!("{many} obligations are in force when {when}.")),
    }
}

/// The time left, rounded.
#[must_use]
pub fn time_left(now: Timestamp, until: Timestamp) -> String {
    let minutes = usize::try_from((until.unix_ms() - now.unix_ms()).max(0) / 60_000).unwrap_or_default();
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "less than a minute left".to_owned(),
        (0, 0, minutes) => format!("{} left", counted(minutes, "minute")),
        (0, hours, _) => format!("{} left", counted(hours, "hour")),
        (days, 0, _) => format!("{} left", counted(days, "day")),
        (days, hours, _) => format!("{}, {} left", counted(days, "day"), counted(hours, "hour")),
    }
}

/// How long something has waited, if that is [`limits::STUCK_AFTER_S`] or longer.
#[must_use]
pub fn stuck(now: Timestamp, since: Timestamp) -> Option<String> {
    let waited_s = (now.unix_ms() - since.unix_ms()) / 1000;
    (waited_s >= limits::STUCK_AFTER_S).then(|| format!("Stuck for {} days", waited_s / (24 * 3600)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::{contact, draft, label, noon, part, published, with_movements};
    use crate::domain::agreement::promise::PromiseTerms;
    use crate::domain::agreement::{AgreementKind, ParticipantRole};
    use crate::domain::contact::DisplayName;
    use crate::domain::obligation::fixtures::draft as promising;
    use crate::domain::workspace::{NewWorkspace, WorkspaceName, WorkspaceNumber};

    #[test]
    fn what_confirming_does_is_what_it_will_do() {
        let now = noon();
        let workspace =
            Workspace::create(NewWorkspace { name: WorkspaceName::parse("Harbor").unwrap() }, WorkspaceNumber(1), now);
        let with = |countdowns: &[Countdown]| {
            countdowns.iter().fold(draft(AgreementKind::General), |draft, until| {
                let (draft, stage) = draft.add_stage(label("Notice"), [].into(), now).unwrap();
                draft.add_gate(stage, GateRule::Countdown { until: Some(*until) }, now).unwrap().0
            })
        };
        let says = |draft: &Agreement| {
            let (publish, scale) = (ProposalAction::PublishAgreement, TimeScale::default());
            effects(publish, draft, &workspace, Named::default(), &Facts::none(), scale, now)[2..].to_vec()
        };
        let (over, later) = (Countdown::At(now), Countdown::AfterHours(48));
        let end = "Countersign sends no email: tell the participants yourself.";
        let opens = "Step 1, Notice, opens. It asks for: 2-day waiting period.";
        assert_eq!(says(&with(&[later, over])), [opens, end]);
        let (done, opens) =
            ("Step 1, Notice, is done at once.", "Step 2, Notice, opens. It asks for: 2-day waiting period.");
        assert_eq!(says(&with(&[over, later])), [done, opens, end]);
        let completed = "Nothing is left to wait for: the agreement is completed.";
        assert_eq!(says(&with(&[over])), [done, completed, end]);
        let northwind =
            Contact { display_name: DisplayName::parse("Northwind, Inc.").unwrap(), ..contact("Northwind") };
        let added = draft(AgreementKind::General).add_participant(part(&northwind, &[ParticipantRole::Approver]), now);
        let added = added.unwrap();
        let (one, stage) = added.agreement.add_stage(label("Terms"), [].into(), now).unwrap();
        let rule = GateRule::ParticipantApproval { participant_ids: [added.participant.id].into() };
        let one = one.add_gate(stage, rule, now).unwrap().0;
        let (publish, scale) = (ProposalAction::PublishAgreement, TimeScale::default());
        let of = Named { contacts: &[northwind], payments: &[] };
        let effects = effects(publish, &one, &workspace, of, &Facts::none(), scale, now);
        assert_eq!(effects[2], "Step 1, Terms, opens. It asks for: Approval by Northwind, Inc.");
    }

    #[test]
    fn promises_are_named_with_what_becomes_of_them() {
        let workspace = Workspace::create(
            NewWorkspace { name: WorkspaceName::parse("Harbor").unwrap() },
            WorkspaceNumber(1),
            noon(),
        );
        let standing = || PromiseTerms::standing(90).unwrap();
        let says = |action, agreement: &Agreement| {
            effects(action, agreement, &workspace, Named::default(), &Facts::none(), TimeScale::default(), noon())
        };
        let publish = |draft: &Agreement| says(ProposalAction::PublishAgreement, draft);
        let one = promising(vec![standing()], &[StageAction::ProjectObligations]);
        assert!(publish(&one).contains(&"1 obligation is in force when step 1, Step, is done.".to_owned()));
        let two = promising(vec![standing(), standing()], &[]);
        let at_the_end = "2 obligations are in force when the agreement is completed.".to_owned();
        assert!(publish(&two).contains(&at_the_end));
        let cancelled = "Its obligations that are not confirmed are cancelled.".to_owned();
        let cancel = |agreement: &Agreement| says(ProposalAction::CancelAgreement, agreement).contains(&cancelled);
        assert!(cancel(&published(&one)) && !cancel(&published(&two)) && !cancel(&one), "only if there are any");
    }

    #[test]
    fn a_cancellation_says_what_becomes_of_the_payments() {
        use MovementState::{Authorized, Draft, Exception, InstructionsReady, Reconciled, Returned, SenderReported};
        let of = |states: &[MovementState]| {
            let movements = states.iter().map(|state| (MovementId::new(), *state)).collect();
            payments_ended(&with_movements(movements)).unwrap_or_default()
        };
        let open = "2 open payments are cancelled";
        for (states, expected) in [
            (&[][..], String::new()),
            (&[Reconciled, Returned, SenderReported], String::new()),
            (
                &[InstructionsReady],
                "1 open payment is cancelled; the payer no longer sees its instructions.".to_owned(),
            ),
            (&[Draft, Authorized, Reconciled], format!("{open}.")),
            (
                &[Draft, InstructionsReady, Exception],
                format!("{open}; the payer of 1 no longer sees its instructions. 1 exception stays open."),
            ),
            (
                &[InstructionsReady, InstructionsReady, Exception, Exception],
                format!("{open}; the payers of 2 no longer see their instructions. 2 exceptions stay open."),
            ),
        ] {
            assert_eq!(of(states), expected, "{states:?}");
        }
    }

    #[test]
    fn whole_days_are_days() {
        assert_eq!([1, 24, 36, 48, 336].map(period), ["1-hour", "24-hour", "36-hour", "2-day", "14-day"]);
    }

    #[test]
    fn time_left_is_rough() {
        let now = Timestamp::from_unix_ms(0).unwrap();
        let left = |minutes: i64| time_left(now, now.plus_seconds(minutes * 60));
        assert_eq!(
            [0, 1, 59, 60, 1440, 3000].map(left),
            [
                "less than a minute left",
                "1 minute left",
                "59 minutes left",
                "1 hour left",
                "1 day left",
                "2 days, 2 hours left",
            ]
        );
    }

    #[test]
    fn what_waits_for_a_week_is_stuck() {
        let now = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let since = |days: i64| now.plus_seconds(-days * 24 * 3600);
        assert_eq!(stuck(now, since(6)), None);
        assert_eq!(stuck(now, since(9)).as_deref(), Some("Stuck for 9 days"));
    }
}

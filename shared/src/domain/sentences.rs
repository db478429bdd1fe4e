//! Every text for people that the API gives, and what the app says about an agreement: its `status`, a gate's
//! `waiting_on`, what ends in `_sentence`, what a decision does and what has changed. They change freely; clients branch
//! on enums.

use std::collections::BTreeSet;

use super::agreement::gate::{Countdown, Gate, GateRule, GateState};
use super::agreement::progress::Facts;
use super::agreement::{
    Agreement, ConversionTiming, DocumentState, Life, Lifecycle, ParticipantRole, SafeTerms, Stage, StageAction,
    StageState,
};
use super::contact::{Contact, Email};
use super::event::EventType;
use super::ids::ParticipantId;
use super::proposal::{Proposal, ProposalAction, ProposalSnapshot, SnapshotPerson, Subject};
use super::time::Timestamp;
use super::workspace::Workspace;
use crate::domain::time_scale::TimeScale;

/// An agreement's `status`.
#[must_use]
pub fn agreement_status(agreement: &Agreement, is_ready: bool) -> String {
    match agreement.life {
        Life::Draft if is_ready => "Draft, ready to be proposed".to_owned(),
        Life::Draft => "Draft".to_owned(),
        Life::Active { .. } => {
            match agreement.stages.iter().enumerate().find(|(_, stage)| stage.state == StageState::Current) {
                Some((index, stage)) => {
                    format!("Active: step {} of {}, {}", index + 1, agreement.stages.len(), stage.name.as_str())
                }
                None => "Active".to_owned(),
            }
        }
        Life::Completed { .. } => "Completed".to_owned(),
        Life::Cancelled { .. } => "Cancelled".to_owned(),
        Life::Expired { .. } => "Expired".to_owned(),
    }
}

/// A gate's `waiting_on`.
#[must_use]
pub fn waiting_on(gate: &Gate, agreement: &Agreement, waited_for: &[ParticipantId], contacts: &[Contact]) -> String {
    let who = names(agreement, waited_for, contacts);
    let has_ended = !matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    match (&gate.state, &gate.rule) {
        (GateState::Locked | GateState::Open { .. }, _) if has_ended => "Nobody: the agreement has ended".to_owned(),
        (GateState::Locked, _) if agreement.lifecycle() == Lifecycle::Draft => "Publication".to_owned(),
        (GateState::Cleared { .. }, _) => "Done".to_owned(),
        (GateState::Declined { participant_id, .. }, _) => {
            format!("Declined by {}", names(agreement, &[*participant_id], contacts))
        }
        (GateState::Locked, _) => "The steps before".to_owned(),
        (GateState::Open { .. }, GateRule::SignatureBlocks { .. } | GateRule::DocumentSigned { .. }) => {
            format!("{who} to sign")
        }
        (GateState::Open { .. }, GateRule::ParticipantApproval { .. }) => format!("{who} to approve"),
        (GateState::Open { .. }, GateRule::FileUpload { .. }) => format!("{who} to upload a file"),
        (GateState::Open { .. }, GateRule::Countdown { .. }) => match gate.due_at() {
            Some(due) => due.for_people(),
            None => "A date to be set".to_owned(),
        },
        (GateState::Open { .. }, GateRule::MovementAuthorized { .. }) => "The payment to be authorized".to_owned(),
        (GateState::Open { .. }, GateRule::MovementReconciled { .. }) => {
            "Proof from the receiving side that the payment arrived".to_owned()
        }
        (GateState::Open { .. }, GateRule::InformationRequest { .. }) => {
            format!("{who} to answer, and a member to accept")
        }
        (GateState::Open { .. }, GateRule::IdentityVerified { .. }) => format!("{who} to be verified"),
    }
}

/// The names of participants, for where there is little room.
fn names(agreement: &Agreement, ids: &[ParticipantId], contacts: &[Contact]) -> String {
    let found = each_name(agreement, ids, contacts);
    match found.as_slice() {
        [first, rest @ ..] if rest.len() > 1 => format!("{first} and {} others", rest.len()),
        few => listed(few),
    }
}

/// The names of all participants.
fn all_names(agreement: &Agreement, ids: &[ParticipantId], contacts: &[Contact]) -> String {
    listed(&each_name(agreement, ids, contacts))
}

fn each_name<'a>(agreement: &Agreement, ids: &[ParticipantId], contacts: &'a [Contact]) -> Vec<&'a str> {
    let name = |id: &ParticipantId| {
        let participant = agreement.participant(*id)?;
        let contact = contacts.iter().find(|contact| contact.id == participant.contact_id)?;
        Some(contact.display_name.as_str())
    };
    ids.iter().filter_map(name).collect()
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "Somebody".to_owned(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// A proposal's `summary_sentence`.
#[must_use]
pub fn proposal_summary(proposal: &Proposal) -> String {
    let name = proposal.subject.name.as_str();
    match proposal.action {
        ProposalAction::PublishAgreement => format!("Publish “{name}”: {}.", size(&proposal.subject)),
        ProposalAction::CancelAgreement => format!("Cancel “{name}”, for good."),
    }
}

/// How large the agreement of a proposal was, such as `2 participants, 3 steps`.
#[must_use]
pub fn size(subject: &Subject) -> String {
    format!("{}, {}", counted(subject.participants, "participant"), counted(subject.steps, "step"))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What a gate asks for, and of whom: of everybody, since members decide by it. The same whatever its state.
#[must_use]
pub fn requirement(rule: &GateRule, agreement: &Agreement, contacts: &[Contact]) -> String {
    let named: Vec<ParticipantId> = rule.named(agreement).into_iter().collect();
    let who = if named.is_empty() {
        "somebody still to be chosen".to_owned()
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
        GateRule::FileUpload { .. } => format!("A file from {who}"),
        GateRule::Countdown { until } => match until {
            Some(Countdown::AfterHours(hours)) => format!("{} of waiting", hours_long(*hours)),
            Some(Countdown::At(moment)) => format!("Waiting until {}", moment.for_people()),
            None => "Waiting until a date, still to be chosen".to_owned(),
        },
        GateRule::MovementAuthorized { .. } => "Authorization of a payment".to_owned(),
        GateRule::MovementReconciled { .. } => "Proof from the receiving side that a payment arrived".to_owned(),
        GateRule::InformationRequest { fields, .. } => {
            format!("Answers of {who} to {}, accepted by a member", counted(fields.len(), "question"))
        }
        GateRule::IdentityVerified { .. } => format!("Proof of identity of {who}"),
    }
}

/// How long so many hours are: whole days as days.
fn hours_long(hours: u32) -> String {
    if hours >= 48 && hours.is_multiple_of(24) {
        counted(hours as usize / 24, "day")
    } else {
        counted(hours as usize, "hour")
    }
}

/// What a stage does when its gates are cleared.
#[must_use]
pub fn stage_action(action: StageAction) -> &'static str {
    match action {
        StageAction::OpenSigning => "sends documents out for signing",
        StageAction::OpenMovement => "opens a payment",
        StageAction::ReleaseInstructions => "releases payment instructions to the sender",
        StageAction::ProjectObligations => "records the promises",
    }
}

/// What happens when a proposal is confirmed now, in order.
#[must_use]
pub fn effects(
    action: ProposalAction,
    agreement: &Agreement,
    workspace: &Workspace,
    contacts: &[Contact],
    (facts, time_scale, now): (&Facts, TimeScale, Timestamp),
) -> Vec<String> {
    match action {
        ProposalAction::CancelAgreement => vec![
            "The agreement is cancelled, for good.".to_owned(),
            "Its steps stop. Nobody is asked for anything any more.".to_owned(),
        ],
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
                        let asked: Vec<String> =
                            open.map(|gate| requirement(&gate.rule, agreement, contacts)).collect();
                        let asked = asked.join("; ");
                        // A name such as “Inc.” ends with what a sentence ends with.
                        let stop = if asked.ends_with('.') { "" } else { "." };
                        effects.push(format!("Step {number}, {name}, opens. It asks for: {asked}{stop}"));
                    }
                    StageState::Upcoming => {}
                }
            }
            if published.lifecycle() == Lifecycle::Completed {
                effects.push("Nothing is left to wait for: the agreement is completed.".to_owned());
            }
            effects.push("Countersign sends no e-mail: you share the links.".to_owned());
            effects
        }
    }
}

/// How much time is left, roughly.
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

/// A role, for a person.
#[must_use]
pub fn role(role: ParticipantRole) -> &'static str {
    match role {
        ParticipantRole::Signer => "Signer",
        ParticipantRole::Funder => "Funder",
        ParticipantRole::Receiver => "Receiver",
        ParticipantRole::Approver => "Approver",
        ParticipantRole::Investor => "Investor",
        ParticipantRole::Issuer => "Issuer",
        ParticipantRole::Trustee => "Trustee",
        ParticipantRole::Contributor => "Contributor",
        ParticipantRole::Observer => "Observer",
    }
}

/// The terms of a SAFE, each with its name; what is not set is left out.
#[must_use]
pub fn terms(terms: &SafeTerms) -> Vec<(&'static str, String)> {
    let currency = terms.currency.as_deref().unwrap_or_default();
    let mut list = Vec::new();
    list.extend(terms.investment_amount_minor.map(|minor| ("Investment", amount(minor, currency))));
    list.extend(terms.valuation_cap_minor.map(|minor| ("Valuation cap", amount(minor, currency))));
    list.extend(terms.discount_rate.as_deref().map(|rate| ("Discount", percent(rate))));
    if terms.mfn {
        list.push(("Most favoured nation", "Yes".to_owned()));
    }
    if terms.pro_rata {
        list.push(("Pro-rata rights", "Yes".to_owned()));
    }
    list.extend(terms.conversion_timing.map(|timing| {
        let text = match timing {
            ConversionTiming::PostMoney => "After the new money (post-money)",
            ConversionTiming::PreMoney => "Before the new money (pre-money)",
        };
        ("Conversion", text.to_owned())
    }));
    list.extend(terms.governing_law.clone().map(|law| ("Governing law", law)));
    list
}

/// An amount in minor units, such as `USD 1,250.00`.
#[must_use]
pub fn amount(minor: i64, currency: &str) -> String {
    let digits = match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "VND" | "VUV"
        | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    };
    let sign = if minor < 0 { "-" } else { "" };
    let text = format!("{:0>width$}", minor.unsigned_abs(), width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    let point = if digits == 0 { "" } else { "." };
    format!("{currency} {sign}{}{point}{fraction}", groups.join(",")).trim_start().to_owned()
}

/// A decimal fraction such as `0.20` as `20 %`.
fn percent(rate: &str) -> String {
    match rate.split_once('.') {
        Some(("0", fraction)) if fraction.bytes().all(|byte| byte.is_ascii_digit()) && fraction.len() <= 2 => {
            let text = format!("{fraction:0<2}");
            let trimmed = text.trim_start_matches('0');
            format!("{} %", if trimmed.is_empty() { "0" } else { trimmed })
        }
        _ => rate.to_owned(),
    }
}

/// What is different in an agreement now from what was proposed, one sentence each: who takes part included.
#[must_use]
pub fn changes_since(proposed: &ProposalSnapshot, after: &Agreement, contacts: &[Contact]) -> Vec<String> {
    let before = &proposed.agreement;
    let mut changes = Vec::new();
    if before.lifecycle() != after.lifecycle() {
        let (from, to) = (before.lifecycle().as_str(), after.lifecycle().as_str());
        changes.push(format!("It was {from} and is {to} now."));
    }
    if before.name != after.name {
        changes.push(format!("It was called “{}”.", before.name.as_str()));
    }
    changes.extend(participant_changes(before, after, contacts));
    changes.extend(people_changes(&proposed.people, contacts));
    changes.extend(stage_changes(before, after));
    changes.extend(document_changes(before, after));
    if before.terms != after.terms {
        let shown = |agreement: &Agreement| agreement.terms.as_ref().map(terms).unwrap_or_default();
        let (old, new) = (shown(before), shown(after));
        for (name, value) in &new {
            match old.iter().find(|(other, _)| other == name) {
                Some((_, was)) if was != value => changes.push(format!("{name}: {value}; it was {was}.")),
                Some(_) => {}
                None => changes.push(format!("{name}: {value}; it was not set.")),
            }
        }
        let gone = old.iter().filter(|(name, _)| new.iter().all(|(other, _)| other != name));
        changes.extend(gone.map(|(name, was)| format!("{name} is not set any more; it was {was}.")));
    }
    if before.expires_at != after.expires_at {
        let day = |moment: Option<Timestamp>| moment.map_or_else(|| "never".to_owned(), Timestamp::for_people);
        changes.push(format!("It expires: {}; it was {}.", day(after.expires_at), day(before.expires_at)));
    }
    changes
}

fn participant_changes(before: &Agreement, after: &Agreement, contacts: &[Contact]) -> Vec<String> {
    let roles = |roles: &BTreeSet<ParticipantRole>| {
        let roles: Vec<String> = roles.iter().map(|found| role(*found).to_lowercase()).collect();
        roles.join(", ")
    };
    let mut changes = Vec::new();
    for participant in &after.participants {
        let who = names(after, &[participant.id], contacts);
        match before.participant(participant.id) {
            None => changes.push(format!("{who} was added as {}.", roles(&participant.roles))),
            Some(was) if was.roles != participant.roles => {
                changes.push(format!("{who} is {} now; before: {}.", roles(&participant.roles), roles(&was.roles)));
            }
            Some(_) => {}
        }
    }
    let gone = before.participants.iter().filter(|was| after.participant(was.id).is_none());
    changes.extend(gone.map(|was| format!("{} was removed.", names(before, &[was.id], contacts))));
    changes
}

/// An agreement refers to people, who can be called otherwise by now, or be reached elsewhere.
fn people_changes(before: &[SnapshotPerson], contacts: &[Contact]) -> Vec<String> {
    let mut changes = Vec::new();
    for was in before {
        let Some(contact) = contacts.iter().find(|contact| contact.id == was.contact_id) else { continue };
        let name = contact.display_name.as_str();
        if was.display_name != contact.display_name {
            changes.push(format!("{name} was called “{}”.", was.display_name.as_str()));
        }
        if was.email != contact.email {
            let shown = |email: &Option<Email>| {
                email.as_ref().map_or_else(|| "none".to_owned(), |email| email.as_str().to_owned())
            };
            changes.push(format!(
                "The e-mail address of {name} is {}; it was {}.",
                shown(&contact.email),
                shown(&was.email)
            ));
        }
    }
    changes
}

fn stage_changes(before: &Agreement, after: &Agreement) -> Vec<String> {
    let mut changes = Vec::new();
    let was = |stage: &Stage| before.stages.iter().position(|other| other.id == stage.id);
    // Where it has ended, nothing is open or waited for any more.
    let goes_on = matches!(after.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    for (index, stage) in after.stages.iter().enumerate() {
        let name = stage.name.as_str();
        let Some(earlier) = was(stage) else {
            changes.push(format!("Step {}, {name}, was added.", index + 1));
            continue;
        };
        let old = &before.stages[earlier];
        if old.name != stage.name {
            changes.push(format!("Step {} is called {name}; before: {}.", index + 1, old.name.as_str()));
        }
        if earlier != index {
            changes.push(format!("{name} is step {} now; before: step {}.", index + 1, earlier + 1));
        }
        let states = |stage: &Stage| stage.gates.iter().map(|gate| gate.state.status()).collect::<Vec<_>>();
        let rules = |stage: &Stage| stage.gates.iter().map(|gate| gate.rule.clone()).collect::<Vec<_>>();
        if rules(old) != rules(stage) || old.actions != stage.actions {
            changes.push(format!("What step {}, {name}, asks for or does was changed.", index + 1));
        }
        match (old.state, stage.state) {
            (StageState::Upcoming, StageState::Current) if goes_on => {
                changes.push(format!("Step {}, {name}, is open now.", index + 1));
            }
            (StageState::Upcoming | StageState::Current, StageState::Done) => {
                changes.push(format!("Step {}, {name}, is done.", index + 1));
            }
            (StageState::Current, StageState::Current) if goes_on && states(old) != states(stage) => {
                changes.push(format!("What step {}, {name}, still waits for has changed.", index + 1));
            }
            _ => {}
        }
    }
    let gone = before.stages.iter().filter(|old| after.stages.iter().all(|stage| stage.id != old.id));
    changes.extend(gone.map(|old| format!("The step {} was removed.", old.name.as_str())));
    changes
}

fn document_changes(before: &Agreement, after: &Agreement) -> Vec<String> {
    let mut changes = Vec::new();
    for document in &after.documents {
        let name = document.name.as_str();
        match before.document(document.id) {
            None => changes.push(format!("The document “{name}” was added.")),
            Some(was) => {
                if was.name != document.name {
                    changes.push(format!("The document “{name}” was called “{}”.", was.name.as_str()));
                }
                if was.content != document.content {
                    let what = match (&was.content, &document.content) {
                        (None, _) => "uploaded",
                        (_, None) => "removed",
                        _ => "replaced",
                    };
                    changes.push(format!("The file of “{name}” was {what}."));
                }
                if was.state != document.state {
                    changes.push(match document.state {
                        DocumentState::Draft => format!("“{name}” is not out for signing any more."),
                        DocumentState::Out => format!("“{name}” went out for signing."),
                        DocumentState::Signed => format!("“{name}” was signed by everybody."),
                    });
                }
                if was.blocks != document.blocks {
                    changes.push(format!("Who signs “{name}” was changed."));
                }
            }
        }
    }
    let gone = before.documents.iter().filter(|was| after.document(was.id).is_none());
    changes.extend(gone.map(|was| format!("The document “{}” was removed.", was.name.as_str())));
    changes
}

/// When an event of a type is sent.
#[must_use]
pub fn event_type(event_type: EventType) -> &'static str {
    match event_type {
        EventType::AgreementPublished => "A member confirmed its publication, and its steps begin",
        EventType::AgreementCompleted => "Its last step is done",
        EventType::ProposalCreated => "Somebody proposed to publish or cancel an agreement",
        EventType::ProposalConfirmed => "A member confirmed a proposal",
        EventType::ProposalDeclined => "A member declined a proposal",
        EventType::ProposalExpired => "Nobody decided a proposal within 72 hours",
        EventType::WorkspaceActivated => "A member activated a workspace",
        EventType::WebhookTest => "An admin pressed the test button",
    }
}

#[cfg(test)]
mod tests {
    use super::super::agreement::AgreementKind;
    use super::super::agreement::fixtures::{Deal, contact, draft, label, noon, part, published};
    use super::super::contact::DisplayName;
    use super::super::workspace::{NewWorkspace, WorkspaceName, WorkspaceNumber};
    use super::*;

    #[test]
    fn an_amount_has_the_digits_of_its_currency() {
        for (minor, currency, text) in [
            (125_000, "USD", "USD 1,250.00"),
            (5, "EUR", "EUR 0.05"),
            (1_234_567, "JPY", "JPY 1,234,567"),
            (1_234_567, "KWD", "KWD 1,234.567"),
            (-100, "USD", "USD -1.00"),
            (i64::MIN, "JPY", "JPY -9,223,372,036,854,775,808"),
        ] {
            assert_eq!(amount(minor, currency), text);
        }
        assert_eq!(["0.20", "0.2", "0.05", "0.125", "1"].map(percent), ["20 %", "20 %", "5 %", "0.125", "1"]);
    }

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
            let moment = (&Facts::none(), TimeScale::default(), now);
            effects(ProposalAction::PublishAgreement, draft, &workspace, &[], moment)[2..].to_vec()
        };
        let (over, later) = (Countdown::At(now), Countdown::AfterHours(48));
        let end = "Countersign sends no e-mail: you share the links.";
        let opens = "Step 1, Notice, opens. It asks for: 2 days of waiting.";
        assert_eq!(says(&with(&[later, over])), [opens, end]);
        let (done, opens) =
            ("Step 1, Notice, is done at once.", "Step 2, Notice, opens. It asks for: 2 days of waiting.");
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
        let moment = (&Facts::none(), TimeScale::default(), now);
        let effects = effects(ProposalAction::PublishAgreement, &one, &workspace, &[northwind], moment);
        assert_eq!(effects[2], "Step 1, Terms, opens. It asks for: Approval by Northwind, Inc.");
    }

    #[test]
    fn what_time_and_people_did_since_is_told() {
        let deal = Deal::complete();
        let live = published(&deal.draft.set_expiry(None, noon()).unwrap());
        let proposed = ProposalSnapshot { agreement: live.clone(), people: Vec::new() };
        let told = |after: &Agreement| changes_since(&proposed, after, &[]);
        assert_eq!(told(&live), Vec::<String>::new());
        let mut one_met = live.clone();
        one_met.stages[0].gates[0].state = GateState::Cleared { opened_at: noon(), cleared_at: noon() };
        assert_eq!(told(&one_met), ["What step 1, Step 0, still waits for has changed."]);
        let mut further = live.clone();
        for gate in &mut further.stages[0].gates {
            gate.state = GateState::Cleared { opened_at: noon(), cleared_at: noon() };
        }
        further.stages[0].state = StageState::Done;
        further.stages[1].state = StageState::Current;
        further.documents[0].state = DocumentState::Signed;
        let sentences = ["Step 1, Step 0, is done.", "Step 2, Step 1, is open now.", "“SAFE” was signed by everybody."];
        assert_eq!(told(&further), sentences);
        let ended = further.cancelled(noon());
        let sentences =
            ["It was active and is cancelled now.", "Step 1, Step 0, is done.", "“SAFE” was signed by everybody."];
        assert_eq!(told(&ended), sentences);
    }

    #[test]
    fn whole_days_are_days() {
        assert_eq!([1, 24, 36, 48, 336].map(hours_long), ["1 hour", "24 hours", "36 hours", "2 days", "14 days"]);
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
}

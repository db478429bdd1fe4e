use std::collections::BTreeSet;

use super::names::names;
use super::terms::{role, terms};
use crate::domain::agreement::{Agreement, DocumentState, Lifecycle, ParticipantRole, Stage, StageState};
use crate::domain::contact::{Contact, Email};
use crate::domain::money::Money;
use crate::domain::proposal::{ProposalSnapshot, SnapshotPayment, SnapshotPerson};
use crate::domain::time::Timestamp;
use crate::text::reader::Shown as _;

/// The differences between a proposal's snapshot, including participants, and the agreement, one sentence each.
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
    changes.extend(promise_changes(before, after));
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
        changes.extend(gone.map(|(name, was)| format!("{name} is not set anymore; it was {was}.")));
    }
    if before.expires_at != after.expires_at {
        let day = |moment: Option<Timestamp>| moment.map_or_else(|| "never".to_owned(), Timestamp::shown);
        changes.push(format!("It expires: {}; it was {}.", day(after.expires_at), day(before.expires_at)));
    }
    changes
}

/// The differences in a draft's payments since it was proposed, one sentence each.
#[must_use]
pub fn payment_changes(before: &[SnapshotPayment], after: &[SnapshotPayment]) -> Vec<String> {
    let called = |payment: &SnapshotPayment| match &payment.purpose {
        Some(purpose) => format!("The payment “{}”", purpose.as_str()),
        None => "A payment without a purpose".to_owned(),
    };
    let amount = |payment: &SnapshotPayment| payment.money.map_or_else(|| "nothing".to_owned(), Money::for_people);
    let mut changes = Vec::new();
    for payment in after {
        match before.iter().find(|was| was.id == payment.id) {
            None => changes.push(format!("{} was added: {}.", called(payment), amount(payment))),
            Some(was) if was.money != payment.money => {
                changes.push(format!("{} is {} now; it was {}.", called(payment), amount(payment), amount(was)));
            }
            Some(was) if was.fingerprint != payment.fingerprint => {
                changes.push(format!("{} was changed.", called(payment)));
            }
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|was| after.iter().all(|payment| payment.id != was.id));
    changes.extend(gone.map(|was| format!("{} was removed; it was {}.", called(was), amount(was))));
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

/// The changed names and email addresses of participants, which are in contacts rather than the agreement.
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
                "The email address of {name} is {}; it was {}.",
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
                        DocumentState::Draft => format!("“{name}” is no longer out for signing."),
                        DocumentState::Out => format!("“{name}” was sent for signature."),
                        DocumentState::Signed => format!("“{name}” was signed by everyone."),
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

fn promise_changes(before: &Agreement, after: &Agreement) -> Vec<String> {
    let mut changes = Vec::new();
    for promise in &after.promises {
        let name = promise.name.as_str();
        match before.promise(promise.id) {
            None => changes.push(format!("The obligation “{name}” was added.")),
            Some(was) => {
                if was.name != promise.name {
                    changes.push(format!("The obligation “{name}” was called “{}”.", was.name.as_str()));
                }
                if was.terms != promise.terms {
                    changes.push(format!("When the obligation “{name}” is due was changed."));
                }
                if was.parties != promise.parties {
                    changes.push(format!("Who owes the obligation “{name}”, and to whom, was changed."));
                }
            }
        }
    }
    let gone = before.promises.iter().filter(|was| after.promise(was.id).is_none());
    changes.extend(gone.map(|was| format!("The obligation “{}” was removed.", was.name.as_str())));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::Label;
    use crate::domain::agreement::fixtures::{Deal, cancelled, noon, published};
    use crate::domain::agreement::gate::GateState;
    use crate::domain::ids::MovementId;
    use crate::domain::money::Currency;

    #[test]
    fn each_change_of_a_payment_is_told() {
        let dollars = |minor| Money::new(minor, Currency::parse("USD").unwrap()).ok();
        let payment = |purpose, minor, fingerprint: &str| SnapshotPayment {
            id: MovementId::new(),
            purpose: Label::parse(purpose).ok(),
            money: dollars(minor),
            fingerprint: fingerprint.to_owned(),
        };
        let [same, raised, moved, gone] = ["Deposit", "Closing", "Fee", "Bonus"].map(|name| payment(name, 100, "a"));
        let added = payment("", 700, "b");
        let before = [same.clone(), raised.clone(), moved.clone(), gone];
        let raised = SnapshotPayment { money: dollars(250), fingerprint: "c".to_owned(), ..raised };
        let after = [same, raised, SnapshotPayment { fingerprint: "d".to_owned(), ..moved }, added];
        let sentences = [
            "The payment “Closing” is $2.50 USD now; it was $1.00 USD.",
            "The payment “Fee” was changed.",
            "A payment without a purpose was added: $7.00 USD.",
            "The payment “Bonus” was removed; it was $1.00 USD.",
        ];
        assert_eq!(payment_changes(&before, &after), sentences);
        assert_eq!(payment_changes(&before, &before), Vec::<String>::new());
    }

    #[test]
    fn what_time_and_people_did_since_is_told() {
        let deal = Deal::complete();
        let live = published(&deal.draft.set_expiry(None, noon()).unwrap());
        let proposed = ProposalSnapshot { agreement: live.clone(), people: Vec::new(), payments: None };
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
        let sentences = ["Step 1, Step 0, is done.", "Step 2, Step 1, is open now.", "“SAFE” was signed by everyone."];
        assert_eq!(told(&further), sentences);
        let ended = cancelled(&further, noon());
        let sentences =
            ["It was active and is cancelled now.", "Step 1, Step 0, is done.", "“SAFE” was signed by everyone."];
        assert_eq!(told(&ended), sentences);
    }
}

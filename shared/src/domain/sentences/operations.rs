//! What calls did, in words, for the audit log and for histories: one entry for each operation of the API, the app and the
//! service itself.

use std::borrow::Cow;

use crate::domain::agreement::acts::Act;
use crate::domain::audit::ObjectKind::{self, Agreement, Contact, Endpoint, Member, Proposal, Token, Workspace};
use crate::domain::event::EventType;
use crate::domain::proposal::ProposalAction;

/// An operation in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationWords {
    /// What it did, such as `Created a contact`.
    pub did: Cow<'static, str>,
    /// The kinds of the first objects that its audit rows name.
    pub objects: &'static [ObjectKind],
}

/// The operations with what they did and the kinds of the first objects in their audit rows: those that the path and the
/// body name, and then those that the call showed or changed.
const OPERATIONS: &[(&str, &str, &[ObjectKind])] = &[
    // Agreements
    ("list_agreements", "Listed agreements", &[]),
    ("get_agreement", "Read an agreement", &[Agreement]),
    ("create_agreement", "Drafted an agreement", &[Workspace, Agreement]),
    ("update_agreement", "Changed an agreement", &[Agreement]),
    ("duplicate_agreement", "Duplicated an agreement", &[Agreement]),
    ("discard_draft", "Discarded a draft", &[Agreement]),
    ("publish_agreement", "Published an agreement", &[Agreement]),
    ("add_agreement_participant", "Added a participant", &[Agreement, Contact]),
    ("add_participant", "Added a participant", &[Agreement]),
    ("remove_participant", "Removed a participant", &[Agreement]),
    ("describe_agreement", "Changed the name or kind", &[Agreement]),
    ("set_expiry", "Changed the expiry", &[Agreement]),
    ("set_terms", "Changed the terms", &[Agreement]),
    ("change_participant", "Changed a participant’s roles", &[Agreement]),
    ("add_document", "Uploaded a document", &[Agreement]),
    ("change_document", "Changed a document", &[Agreement]),
    ("remove_document", "Removed a document", &[Agreement]),
    ("add_signature_block", "Added a signature block", &[Agreement]),
    ("remove_signature_block", "Removed a signature block", &[Agreement]),
    ("add_step", "Added a step", &[Agreement]),
    ("change_step", "Changed a step", &[Agreement]),
    ("move_step", "Moved a step", &[Agreement]),
    ("remove_step", "Removed a step", &[Agreement]),
    ("add_condition", "Added a condition", &[Agreement]),
    ("change_condition", "Changed a condition", &[Agreement]),
    ("move_condition", "Moved a condition", &[Agreement]),
    ("remove_condition", "Removed a condition", &[Agreement]),
    ("add_question", "Added a question", &[Agreement]),
    ("change_question", "Changed a question", &[Agreement]),
    ("move_question", "Moved a question", &[Agreement]),
    ("remove_question", "Removed a question", &[Agreement]),
    ("view_document", "Viewed a document", &[Agreement]),
    ("download_document", "Downloaded a document", &[Agreement]),
    ("advance_agreement", "Advanced an agreement, because time passed", &[Agreement]),
    // Proposals
    ("list_proposals", "Listed proposals", &[]),
    ("get_proposal", "Read a proposal", &[Proposal]),
    ("create_proposal", "Made a proposal", &[Agreement, Proposal]),
    ("confirm_proposal", "Confirmed a proposal", &[Proposal, Agreement, Workspace]),
    ("decline_proposal", "Declined a proposal", &[Proposal, Agreement]),
    ("decide_proposal", "Sent a decision that could not be read", &[Proposal]),
    ("expire_proposal", "Recorded that a proposal expired", &[Proposal, Agreement]),
    // Contacts and workspaces
    ("list_contacts", "Listed contacts", &[]),
    ("get_contact", "Read a contact", &[Contact]),
    ("create_contact", "Created a contact", &[Contact]),
    ("update_contact", "Changed a contact", &[Contact]),
    ("list_workspaces", "Listed workspaces", &[]),
    ("get_workspace", "Read a workspace", &[Workspace]),
    ("create_workspace", "Created a workspace", &[Workspace]),
    ("activate_workspace", "Activated a workspace", &[Workspace]),
    ("add_workspace_contact", "Added a contact to a workspace", &[Workspace, Contact]),
    ("add_person", "Added a contact to a workspace", &[Workspace, Contact]),
    ("remove_person", "Removed a contact from a workspace", &[Workspace, Contact]),
    // Tokens and endpoints
    ("get_identity", "Checked the token’s identity", &[]),
    ("create_token", "Created an access token", &[Token]),
    ("revoke_token", "Revoked an access token", &[Token]),
    ("add_endpoint", "Added a webhook endpoint", &[Endpoint]),
    ("edit_endpoint", "Changed a webhook endpoint", &[Endpoint]),
    ("change_endpoint", "Changed a webhook endpoint", &[Endpoint]),
    ("delete_endpoint", "Deleted a webhook endpoint", &[Endpoint]),
    ("pause_endpoint", "Paused a webhook endpoint", &[Endpoint]),
    ("resume_endpoint", "Resumed a webhook endpoint", &[Endpoint]),
    ("rotate_secret", "Rotated a signing secret", &[Endpoint]),
    ("send_test_event", "Sent a test event", &[Endpoint]),
    ("count_undelivered", "Counted undelivered events", &[Endpoint]),
    ("replay_undelivered", "Replayed undelivered events", &[Endpoint]),
    ("replay_delivery", "Replayed a delivery", &[Endpoint]),
    // People and sessions
    ("remove_member", "Removed a member", &[Member]),
    ("change_role", "Changed a member’s role", &[Member]),
    ("save_name", "Changed their name", &[Member]),
    ("change_password", "Changed their password", &[]),
    ("set_up_second_factor", "Began to set up a second factor", &[]),
    ("turn_on_second_factor", "Turned on the second factor", &[]),
    ("create_recovery_codes", "Created new recovery codes", &[]),
    ("turn_off_second_factor", "Turned off the second factor", &[]),
    ("reset_second_factor", "Reset a member’s second factor", &[Member]),
    ("end_session", "Ended a session", &[]),
    ("invite_member", "Invited a member", &[]),
    ("revoke_invitation", "Revoked an invitation", &[]),
    ("accept_invitation", "Accepted an invitation", &[]),
    ("create_password_link", "Made a link to set a new password", &[Member]),
    ("set_password", "Set a new password", &[]),
    ("update_organization", "Changed the organization’s settings", &[]),
    ("add_own_contact", "Added an own contact", &[Contact]),
    ("remove_own_contact", "Removed an own contact", &[Contact]),
    ("choose_theme", "Chose light or dark", &[]),
    ("sign_in", "Signed in", &[]),
    ("sign_in_with_code", "Signed in with a second factor", &[]),
    ("sign_in_with_recovery_code", "Signed in with a recovery code", &[]),
    ("sign_out", "Signed out", &[]),
    ("sign_out_everywhere", "Signed out everywhere", &[]),
    ("switch_organization", "Switched to another organization", &[]),
    ("export_audit", "Exported the audit log", &[]),
    // The service itself
    ("set_up_demo", "Set up the demo", &[Agreement]),
    ("none", "Called an address that does not exist", &[]),
];

/// The ids of the operations that have words, in the order of the filter that offers them.
pub fn operations() -> impl Iterator<Item = (&'static str, &'static str)> {
    OPERATIONS.iter().map(|(id, did, _)| (*id, *did))
}

/// An operation in words. One that has none yet gets its id as words.
#[must_use]
pub fn operation(id: &str) -> OperationWords {
    let known = OPERATIONS.iter().find(|(known, ..)| *known == id);
    known.map_or_else(
        || OperationWords { did: Cow::Owned(id_as_words(id)), objects: &[] },
        |(_, did, objects)| OperationWords { did: Cow::Borrowed(did), objects },
    )
}

/// Whether an operation changes a record that the audit log names, rather than only reading it.
#[must_use]
pub fn changes_a_record(id: &str) -> bool {
    const READING: [&str; 5] = ["list_", "get_", "view_", "download_", "count_"];
    !operation(id).objects.is_empty() && READING.iter().all(|prefix| !id.starts_with(prefix))
}

fn id_as_words(id: &str) -> String {
    let words = id.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// An act of an agreement's history in words.
#[must_use]
pub fn act(act: &Act) -> Cow<'static, str> {
    let publishes = act.proposed == Some(ProposalAction::PublishAgreement);
    Cow::Borrowed(match act.operation.as_str() {
        "create_agreement" => "Drafted",
        "create_proposal" if publishes => "Proposed to publish",
        "create_proposal" => "Proposed to cancel",
        "confirm_proposal" if publishes => "Confirmed the publication",
        "confirm_proposal" => "Confirmed the cancellation",
        "decline_proposal" if publishes => "Declined the publication",
        "decline_proposal" => "Declined the cancellation",
        "expire_proposal" if publishes => "The proposal to publish expired undecided",
        "expire_proposal" => "The proposal to cancel expired undecided",
        "advance_agreement" if act.events.contains(&EventType::AgreementCompleted) => "Completed",
        "advance_agreement" => "Moved on, because time passed",
        other => return operation(other).did,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::time::Timestamp;

    #[test]
    fn every_operation_has_one_entry_and_an_unknown_one_reads_as_its_id() {
        let ids: BTreeSet<_> = operations().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
        assert_eq!(operation("create_contact").did, "Created a contact");
        assert_eq!(operation("move_stage").did, "Move stage");
        assert_eq!(operation("").did, "");
        assert!(["create_contact", "confirm_proposal", "revoke_token"].into_iter().all(changes_a_record));
        let others = ["get_contact", "list_contacts", "view_document", "download_document", "sign_in", "view_home", ""];
        assert!(!others.into_iter().any(changes_a_record));
    }

    #[test]
    fn the_acts_of_a_proposal_say_what_was_proposed() {
        let said = |operation: &str, proposed, events| {
            let operation = operation.to_owned();
            act(&Act { operation, actor: Actor::system(), at: Timestamp::now(), proposed, events }).into_owned()
        };
        let (publish, cancel) = (Some(ProposalAction::PublishAgreement), Some(ProposalAction::CancelAgreement));
        assert_eq!(said("confirm_proposal", publish, vec![]), "Confirmed the publication");
        assert_eq!(said("confirm_proposal", cancel, vec![]), "Confirmed the cancellation");
        assert_eq!(said("create_proposal", publish, vec![]), "Proposed to publish");
        assert_eq!(said("expire_proposal", cancel, vec![]), "The proposal to cancel expired undecided");
        assert_eq!(said("advance_agreement", None, vec![EventType::AgreementCompleted]), "Completed");
        assert_eq!(said("advance_agreement", None, vec![]), "Moved on, because time passed");
        assert_eq!(said("add_agreement_participant", None, vec![]), "Added a participant");
    }
}

//! What calls did, in words, for the audit log and histories: one entry per operation of API, app and service.

use std::borrow::Cow;

use super::names::condition;
use crate::domain::agreement::acts::{Act, EditedPart};
use crate::domain::audit::ObjectKind::{
    self, Agreement, Contact, Endpoint, FundingItem, Member, Obligation, Part, Payment, Proposal, Token, Trust,
    TrustOrItem, Workspace,
};
use crate::domain::audit::{NO_ROUTE, USE_MCP, WRONG_METHOD};
use crate::domain::event::EventType;
use crate::domain::ids::ContactId;
use crate::domain::proposal::ProposalAction;

/// An operation in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationWords {
    /// What it did, such as `Created a contact`.
    pub did: Cow<'static, str>,
    /// The kinds of the first objects in its audit rows.
    pub objects: &'static [ObjectKind],
}

/// The operations, what they did, and the kinds of the first objects of their audit rows, named ones first.
const OPERATIONS: &[(&str, &str, &[ObjectKind])] = &[
    // Agreements
    (USE_MCP, "Asked the agent endpoint", &[]),
    ("list_agreements", "Listed agreements", &[]),
    ("get_agreement", "Read an agreement", &[Agreement]),
    ("create_agreement", "Drafted an agreement", &[Workspace, Agreement, Contact, Contact]),
    ("duplicate_agreement", "Duplicated an agreement", &[Agreement]),
    ("discard_draft", "Discarded a draft", &[Agreement]),
    ("archive_draft", "Archived a draft", &[Agreement]),
    ("bring_back_draft", "Brought back an archived draft", &[Agreement]),
    ("keep_template", "Kept an agreement as a template", &[Agreement, Part]),
    ("rename_template", "Renamed a template", &[Part]),
    ("delete_template", "Deleted a template", &[Part]),
    ("publish_agreement", "Published an agreement", &[Agreement]),
    ("add_agreement_participant", "Added a participant", &[Agreement, Contact, Part]),
    ("add_participant", "Added a participant", &[Agreement, Contact]),
    ("remove_participant", "Removed a participant", &[Agreement, Part, Contact]),
    ("describe_agreement", "Changed the name or kind", &[Agreement]),
    ("set_expiry", "Changed the expiry", &[Agreement]),
    ("set_terms", "Changed the terms", &[Agreement]),
    ("change_participant", "Changed a participant’s roles", &[Agreement, Part, Contact]),
    ("add_document", "Uploaded a document", &[Agreement]),
    ("change_document", "Changed a document", &[Agreement, Part]),
    ("remove_document", "Removed a document", &[Agreement, Part]),
    ("add_signature_block", "Added a signature block", &[Agreement, Part, Contact]),
    ("remove_signature_block", "Removed a signature block", &[Agreement, Part, Contact]),
    ("add_step", "Added a step", &[Agreement]),
    ("change_step", "Changed a step", &[Agreement, Part]),
    ("move_step", "Moved a step", &[Agreement]),
    ("remove_step", "Removed a step", &[Agreement, Part]),
    ("add_condition", "Added a condition", &[Agreement, Part]),
    ("change_condition", "Changed a condition", &[Agreement, Part]),
    ("move_condition", "Moved a condition", &[Agreement, Part]),
    ("remove_condition", "Removed a condition", &[Agreement, Part]),
    ("add_question", "Added a question", &[Agreement, Part]),
    ("change_question", "Changed a question", &[Agreement, Part]),
    ("move_question", "Moved a question", &[Agreement, Part]),
    ("remove_question", "Removed a question", &[Agreement, Part]),
    ("add_payment", "Added a payment", &[Agreement, Part]),
    ("change_payment", "Changed a payment", &[Agreement, Part]),
    ("remove_payment", "Removed a payment", &[Agreement, Part]),
    ("add_promise", "Added an obligation", &[Agreement]),
    ("change_promise", "Changed an obligation", &[Agreement, Part]),
    ("move_promise", "Moved an obligation", &[Agreement]),
    ("remove_promise", "Removed an obligation", &[Agreement, Part]),
    ("record_verification", "Recorded a verified identity", &[Agreement, Part, Contact]),
    ("record_paper_signature", "Recorded a signature on paper", &[Agreement, Part, Part, Part, Contact]),
    ("confirm_paper_signature", "Confirmed a signature on paper", &[Agreement, Part, Part, Part]),
    ("reject_paper_signature", "Rejected a signature on paper", &[Agreement, Part, Part, Part]),
    ("download_paper_signature", "Downloaded the scan of a signature on paper", &[Agreement, Part, Part]),
    ("view_participant", "Viewed a participant’s page", &[Agreement, Part]),
    ("download_uploaded_file", "Downloaded an uploaded file", &[Agreement, Part]),
    ("view_uploaded_files", "Viewed a participant’s files", &[Agreement, Part, Part]),
    ("accept_files", "Accepted a participant’s file", &[Agreement, Part, Part, Contact]),
    ("return_files", "Returned a participant’s file", &[Agreement, Part, Part, Contact]),
    ("show_link", "Had a participant’s link shown", &[Agreement, Part]),
    ("confirm_contact", "Confirmed a participant’s new details", &[Agreement, Part, Contact]),
    ("reissue_link", "Reissued a participant’s link", &[Agreement, Part, Contact]),
    ("list_information", "Read the answers of participants", &[Agreement]),
    ("read_answers", "Read a participant’s answers", &[Agreement, Part, Part]),
    ("download_answer_file", "Downloaded a file of an answer", &[Agreement, Part, Part]),
    ("download_hashed_answers", "Downloaded answers as they were hashed", &[Agreement, Part, Part]),
    ("accept_answers", "Accepted answers", &[Agreement, Part, Part, Contact]),
    ("return_answers", "Returned answers", &[Agreement, Part, Part, Contact]),
    ("create_link_code", "Created a code for a participant’s link", &[Agreement, Part, Contact]),
    ("reopen_condition", "Opened a declined condition again", &[Agreement, Part]),
    // Acts of participants on their own pages
    ("view_participant_link", "Opened a participant’s link", &[]),
    ("open_participant_link", "Opened the agreement’s pages", &[Agreement, Part]),
    ("leave_agreement_pages", "Left the agreement’s pages", &[Part]),
    ("view_in_person_question", "Was asked whether they act in person", &[Part, Agreement]),
    ("act_in_person", "Began to act in person, in a member’s browser", &[Part, Agreement]),
    ("view_part", "Looked at what waits for them", &[Part, Agreement]),
    ("view_receipt", "Viewed a receipt", &[Part, Part, Agreement]),
    ("give_consent", "Agreed to electronic records", &[Part, Agreement]),
    ("withdraw_consent", "Withdrew the consent to electronic records", &[Part, Agreement]),
    ("view_document_to_sign", "Viewed a document", &[Part, Part, Agreement]),
    ("view_document_page", "Viewed a page of a document", &[Part, Part]),
    ("download_own_document", "Downloaded a document", &[Part, Part]),
    ("download_own_certificate", "Downloaded the certificate", &[Part, Agreement]),
    ("download_own_paper_signature", "Downloaded the scan of their signature on paper", &[Part, Part]),
    ("sign_document", "Signed a document", &[Part, Part, Agreement]),
    ("decline_document", "Declined to sign a document", &[Part, Part, Agreement]),
    ("view_condition_to_meet", "Viewed a condition", &[Part, Part, Agreement]),
    ("approve_condition", "Approved", &[Part, Part, Agreement]),
    ("save_answers", "Saved a draft of answers", &[Part, Part, Agreement]),
    ("send_answers", "Sent answers", &[Part, Part, Agreement]),
    ("upload_file", "Uploaded a file", &[Part, Part, Agreement]),
    ("decline_condition", "Declined a condition", &[Part, Part, Agreement]),
    ("view_own_payment", "Viewed a payment", &[Part, Payment, Agreement]),
    ("read_instructions", "Viewed the payment instructions", &[Part, Payment, Agreement]),
    ("report_payment_sent", "Reported a payment as sent", &[Part, Payment, Agreement]),
    ("hand_in_bank_document", "Handed in a document of their bank", &[Part, Payment, Agreement]),
    ("report_arrival", "Reported money as arrived", &[Part, Payment, Agreement]),
    ("withdraw_own_evidence", "Withdrew evidence that they had filed", &[Part, Payment, Part, Agreement]),
    ("download_own_satisfaction_file", "Downloaded a file about an obligation", &[Part, Obligation]),
    ("download_own_evidence", "Downloaded a file that they had filed", &[Part, Payment, Part]),
    ("declare_own_trigger", "Declared a trigger of their obligation", &[Part, Obligation, Agreement]),
    ("record_own_satisfaction", "Said that their obligation is done", &[Part, Obligation, Agreement]),
    ("confirm_own_obligation", "Confirmed an obligation owed to them", &[Part, Obligation, Agreement]),
    ("verify_own_obligation", "Verified an obligation owed to them", &[Part, Obligation, Agreement]),
    ("view_document", "Viewed a document", &[Agreement, Part]),
    ("download_document", "Downloaded a document", &[Agreement, Part]),
    ("export_evidence", "Exported the evidence", &[Agreement]),
    ("download_certificate", "Downloaded the certificate", &[Agreement]),
    ("proceed_agreement", "Advanced an agreement, because time passed", &[Agreement]),
    // Movements
    ("list_movements", "Listed payments", &[]),
    ("get_movement", "Read a payment", &[Payment, Agreement]),
    ("end_movement", "Cancelled a payment with its agreement", &[Agreement, Payment]),
    ("authorize_movement", "Authorized a payment", &[Payment, Agreement]),
    ("enter_instructions", "Entered payment instructions", &[Payment, Agreement]),
    ("verify_instructions", "Verified payment instructions", &[Payment, Agreement]),
    ("release_instructions", "Released payment instructions", &[Payment, Agreement]),
    ("record_claim", "Recorded that the sender says a payment was sent", &[Payment, Agreement]),
    ("ask_for_proof", "Asked for proof of a payment", &[Payment, Agreement]),
    ("file_evidence", "Filed evidence of a payment", &[Payment, Agreement, Part]),
    (
        "resolve_and_file_evidence",
        "Resolved the exception of a payment and filed evidence of it",
        &[Payment, Agreement, Part],
    ),
    ("accept_evidence", "Accepted evidence of a payment", &[Payment, Part, Agreement]),
    ("reject_evidence", "Rejected evidence of a payment", &[Payment, Part, Agreement]),
    ("withdraw_evidence", "Withdrew evidence of a payment", &[Payment, Part, Agreement]),
    ("download_evidence_file", "Downloaded a file of evidence", &[Payment, Part]),
    ("flag_exception", "Flagged a payment as an exception", &[Payment, Agreement]),
    ("resolve_exception", "Resolved the exception of a payment", &[Payment, Agreement]),
    ("record_return", "Recorded that a payment came back", &[Payment, Agreement]),
    ("cancel_movement", "Cancelled a payment", &[Payment, Agreement]),
    // Bank statements
    ("upload_statement", "Uploaded a bank statement", &[Part]),
    ("choose_statement_columns", "Said which column of a statement is which", &[Part]),
    ("discard_statement", "Discarded a bank statement", &[Part]),
    ("file_statement_entries", "Chose entries of a statement as evidence", &[Part]),
    // The ledger
    ("list_ledger", "Listed the ledger", &[]),
    ("export_ledger", "Exported the ledger", &[]),
    // Proposals
    ("list_proposals", "Listed proposals", &[]),
    ("get_proposal", "Read a proposal", &[Proposal]),
    ("create_proposal", "Made a proposal", &[Agreement, Proposal]),
    ("confirm_proposal", "Confirmed a proposal", &[Proposal, Agreement, Workspace]),
    ("decline_proposal", "Declined a proposal", &[Proposal, Agreement]),
    ("decide_proposal", "Sent a decision that could not be read", &[Proposal]),
    ("expire_proposal", "Recorded that a proposal expired", &[Proposal, Agreement]),
    // Obligations
    ("list_obligations", "Listed obligations", &[]),
    ("get_obligation", "Read an obligation", &[Obligation]),
    ("declare_trigger", "Declared a trigger", &[Obligation, Agreement]),
    ("record_satisfaction", "Recorded that an obligation is done", &[Obligation, Agreement]),
    ("download_satisfaction_file", "Downloaded a file about an obligation", &[Obligation]),
    ("confirm_obligation", "Confirmed an obligation", &[Obligation, Agreement]),
    ("verify_obligation", "Verified an obligation", &[Obligation, Agreement]),
    ("cancel_obligation", "Cancelled an obligation", &[Obligation, Agreement]),
    ("end_obligation", "Cancelled an obligation with its agreement", &[Agreement, Obligation]),
    // Trusts and funding
    ("list_trusts", "Listed trusts", &[]),
    ("create_trust", "Created or changed a trust", &[Workspace, Trust, Contact]),
    ("update_trust", "Changed a trust", &[Trust, Workspace]),
    ("get_funding_schedule", "Read the funding of a workspace", &[Workspace]),
    ("list_funding_items", "Listed funding items", &[]),
    ("get_funding_item", "Read a funding item", &[FundingItem]),
    ("create_funding_item", "Added a funding item", &[Workspace, TrustOrItem, TrustOrItem]),
    ("import_funding_items", "Added funding items from a file", &[Workspace, FundingItem, FundingItem]),
    ("update_funding_item", "Saved the facts of a funding item", &[FundingItem]),
    ("sort_funding_items", "Changed several funding items", &[Workspace]),
    ("select_funding_items", "Chose funding items to paper", &[Workspace]),
    ("upload_funding_items", "Uploaded a file of funding items", &[Workspace]),
    ("export_funding_schedule", "Exported the funding of a workspace", &[Workspace]),
    ("print_funding_schedule", "Printed the funding of a workspace", &[Workspace]),
    ("download_funding_proof", "Downloaded proof of a transfer", &[FundingItem]),
    ("park_funding_item", "Put a funding item on hold, or cleared the hold", &[FundingItem]),
    ("paper_funding_items", "Papered funding items", &[Workspace, Agreement, FundingItem, FundingItem, FundingItem]),
    ("close_funding_item", "Closed a funding item as unfunded", &[FundingItem]),
    ("record_funding_claim", "Recorded the owner’s claim of a transfer", &[FundingItem, Agreement]),
    ("withdraw_funding_claim", "Withdrew the owner’s claim of a transfer", &[FundingItem, Agreement]),
    ("file_funding_proof", "Filed proof of a transfer", &[FundingItem, Part, Agreement]),
    ("accept_funding_proof", "Accepted proof of a transfer", &[FundingItem, Part, Agreement]),
    ("reject_funding_proof", "Rejected proof of a transfer", &[FundingItem, Part, Agreement]),
    ("reopen_funding_item", "Reopened a funding item", &[FundingItem]),
    ("free_funding_item", "Reopened a funding item when its agreement ended", &[Agreement, FundingItem]),
    (
        "start_funding_item",
        "Set a funding item in progress when its agreement was published",
        &[Agreement, FundingItem],
    ),
    // Contacts and workspaces
    ("list_contacts", "Listed contacts", &[]),
    ("get_contact", "Read a contact", &[Contact]),
    ("create_contact", "Created a contact", &[Contact]),
    ("update_contact", "Changed a contact", &[Contact]),
    ("upload_contacts", "Uploaded a file of contacts", &[]),
    ("import_contacts", "Added contacts from a file", &[Contact, Contact]),
    ("merge_contact", "Merged a contact into another one", &[Contact, Contact]),
    ("separate_contact", "Separated a merged contact again", &[Contact, Contact]),
    ("archive_contact", "Archived a contact", &[Contact]),
    ("bring_back_contact", "Brought back an archived contact", &[Contact]),
    ("list_workspaces", "Listed workspaces", &[]),
    ("get_workspace", "Read a workspace", &[Workspace]),
    ("create_workspace", "Created a workspace", &[Workspace]),
    ("activate_workspace", "Activated a workspace", &[Workspace]),
    ("archive_workspace", "Archived a workspace", &[Workspace]),
    ("bring_back_workspace", "Brought back an archived workspace", &[Workspace]),
    ("add_workspace_contact", "Added a contact to a workspace", &[Workspace, Contact]),
    ("add_person", "Added a contact to a workspace", &[Workspace, Contact]),
    ("join_workspace", "Added a participant to the workspace", &[Workspace, Contact, Agreement]),
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
    ("say_own_account", "Said that an account is the organization’s", &[]),
    ("agree_to_own_account", "Agreed that an account is the organization’s", &[]),
    ("remove_own_account", "Removed an own account", &[]),
    ("choose_theme", "Chose light or dark", &[]),
    ("sign_in", "Signed in", &[]),
    ("sign_in_with_code", "Signed in with a second factor", &[]),
    ("sign_in_with_recovery_code", "Signed in with a recovery code", &[]),
    ("sign_out", "Signed out", &[]),
    ("sign_out_everywhere", "Signed out everywhere", &[]),
    ("switch_organization", "Switched to another organization", &[]),
    ("export_audit", "Exported the audit log", &[]),
    // The service itself
    ("suspend_organization", "Suspended the organization", &[]),
    ("resume_organization", "Resumed the organization", &[]),
    ("set_up_demo", "Set up the demo", &[Agreement]),
    (NO_ROUTE, "Called an address that does not exist", &[]),
    (WRONG_METHOD, "Called an address with a method that it does not take", &[]),
];

/// The ids and words of all operations, in the order of the filter.
pub fn operations() -> impl Iterator<Item = (&'static str, &'static str)> {
    OPERATIONS.iter().map(|(id, did, _)| (*id, *did))
}

/// An operation in words. Falls back to the words of its id.
#[must_use]
pub fn operation(id: &str) -> OperationWords {
    let known = OPERATIONS.iter().find(|(known, ..)| *known == id);
    known.map_or_else(
        || OperationWords { did: Cow::Owned(id_as_words(id)), objects: &[] },
        |(_, did, objects)| OperationWords { did: Cow::Borrowed(did), objects },
    )
}

/// How operations begin that only read, or come and go.
const READING: [&str; 13] = [
    "Listed ",
    "Read ",
    "Viewed ",
    "Downloaded ",
    "Exported ",
    "Printed ",
    "Counted ",
    "Looked ",
    "Opened the ",
    "Left the ",
    "Was asked ",
    "Began to act ",
    "Had a participant’s link shown",
];

/// Whether an operation changes a record that the audit log names, rather than only reading it.
#[must_use]
pub fn changes_a_record(id: &str) -> bool {
    let OperationWords { did, objects } = operation(id);
    !objects.is_empty() && READING.iter().all(|reading| !did.starts_with(reading))
}

/// Whether an operation is about a claim or evidence of a payment, which may be of another amount than the payment's.
#[must_use]
pub fn is_about_proof(id: &str) -> bool {
    let others = ["record_claim", "report_payment_sent", "hand_in_bank_document", "report_arrival"];
    id.contains("evidence") || others.contains(&id)
}

fn id_as_words(id: &str) -> String {
    let words = id.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What somebody did, as a sentence without its period, such as `Ines Duarte created a contact`.
#[must_use]
pub fn sentence(who: &str, did: &str) -> String {
    // These name who or what did it themselves.
    if did.starts_with("The ") || did.starts_with("Link ") {
        return did.to_owned();
    }
    let mut letters = did.chars();
    let did: String = letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default();
    format!("{who} {did}")
}

/// An act of an agreement's history in words, with known names of contacts.
#[must_use]
pub fn act<'a>(act: &Act, name_of: impl Fn(ContactId) -> Option<&'a str>) -> Cow<'static, str> {
    if act.operation == "show_link" {
        let contact = act.part.as_ref().and_then(EditedPart::contact_id).and_then(name_of);
        let whose = contact.map_or_else(|| "Link".to_owned(), |name| format!("Link of {name}"));
        return Cow::Owned(format!("{whose} shown to {}", act.actor.display_name));
    }
    if let Some(edited) = act.part.as_ref().and_then(|part| edited(&act.operation, part, name_of)) {
        return Cow::Owned(edited);
    }
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
        "proceed_agreement" if act.events.contains(&EventType::AgreementCompleted) => "Completed",
        "proceed_agreement" => "Moved on, because time passed",
        other => return operation(other).did,
    })
}

/// An edit of a part in words. None if the operation is about another part, or the name is unknown.
fn edited<'a>(operation: &str, part: &EditedPart, name_of: impl Fn(ContactId) -> Option<&'a str>) -> Option<String> {
    if let (EditedPart::Participant { contact_id }, Some((before, after))) = (part, about_participant(operation)) {
        return Some(format!("{before} {}{after}", name_of(*contact_id)?));
    }
    let (act, what) = operation.split_once('_')?;
    let (verb, where_to) = match act {
        "add" => ("Added", "to"),
        "change" => ("Changed", "in"),
        "move" => ("Moved", "in"),
        "remove" => ("Removed", "from"),
        "decline" if what == "condition" => ("Declined", "in"),
        "reopen" => ("Reopened", "in"),
        _ => return about(operation, part),
    };
    Some(match (part, what) {
        (EditedPart::Participant { contact_id }, "participant" | "agreement_participant") => {
            let name = name_of(*contact_id)?;
            match act {
                "add" => format!("Added {name} as a participant"),
                "change" => format!("Changed the roles of {name}"),
                _ => format!("Removed {name} from the participants"),
            }
        }
        (EditedPart::Document { name }, "document") => {
            let verb = if act == "add" { "Uploaded" } else { verb };
            format!("{verb} the document “{}”", name.as_str())
        }
        (EditedPart::SignatureBlock { document, contact_id }, "signature_block") => {
            let whose = contact_id.and_then(name_of).map(|name| format!(" for {name}")).unwrap_or_default();
            format!("{verb} a signature block{whose} {where_to} “{}”", document.as_str())
        }
        (EditedPart::Step { name }, "step") => format!("{verb} the step “{}”", name.as_str()),
        (EditedPart::Condition { gate, step }, "condition") => {
            format!("{verb} the condition “{}” {where_to} the step “{}”", condition(*gate), step.as_str())
        }
        (EditedPart::Question { label }, "question") => format!("{verb} the question “{}”", label.as_str()),
        (EditedPart::Payment { purpose }, "payment") => format!("{verb} the payment “{}”", purpose.as_ref()?.as_str()),
        (EditedPart::Promise { name }, "promise") => format!("{verb} the obligation “{}”", name.as_str()),
        _ => return None,
    })
}

/// What an act on a participant says before and after their name.
fn about_participant(operation: &str) -> Option<(&'static str, &'static str)> {
    Some(match operation {
        "record_verification" => ("Recorded that", " was verified"),
        "record_paper_signature" => ("Recorded a signature of", " on paper"),
        "confirm_paper_signature" => ("Confirmed the paper signature of", ""),
        "reject_paper_signature" => ("Rejected the paper signature of", ""),
        "confirm_contact" => ("Confirmed the new details of", ""),
        "reissue_link" => ("Reissued the link of", ""),
        "create_link_code" => ("Created a code for the link of", ""),
        "accept_files" => ("Accepted the file of", ""),
        "return_files" => ("Returned the file of", ""),
        "accept_answers" => ("Accepted the answers of", ""),
        "return_answers" => ("Returned the answers of", ""),
        _ => return None,
    })
}

/// An act on a document, a payment or an obligation, which it names.
fn about(operation: &str, part: &EditedPart) -> Option<String> {
    let (one, the, name) = match part {
        EditedPart::Document { name } => ("a document", "the document", name.as_str()),
        EditedPart::Payment { purpose } => ("a payment", "the payment", purpose.as_ref()?.as_str()),
        EditedPart::Promise { name } => ("an obligation", "the obligation", name.as_str()),
        _ => return None,
    };
    let did = self::operation(operation).did;
    Some(match did.split_once(one) {
        Some((did, rest)) => format!("{did}{the} “{name}”{rest}"),
        None => format!("{did}: “{name}”"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::agreement::Label;
    use crate::domain::agreement::gate::GateType;
    use crate::domain::movement::safe_text::SafeLine;
    use crate::domain::time::Timestamp;

    #[test]
    fn every_operation_has_one_entry_and_an_unknown_one_reads_as_its_id() {
        let ids: BTreeSet<_> = operations().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), OPERATIONS.len());
        assert_eq!(operation("create_contact").did, "Created a contact");
        assert_eq!(operation("move_stage").did, "Move stage");
        assert_eq!(operation("").did, "");
        let changes = ["create_contact", "confirm_proposal", "revoke_token", "reopen_condition", "save_answers"];
        assert!(changes.into_iter().all(changes_a_record));
        let others = [
            "get_contact",
            "list_contacts",
            "view_document",
            "download_document",
            "export_evidence",
            "read_instructions",
            "read_answers",
            "list_information",
            "print_funding_schedule",
            "open_participant_link",
            "act_in_person",
            "show_link",
            "sign_in",
            "view_home",
            "",
        ];
        assert!(!others.into_iter().any(changes_a_record));
    }

    #[test]
    fn the_acts_of_a_proposal_say_what_was_proposed() {
        let said = |operation: &str, proposed, events| {
            let operation = operation.to_owned();
            let act_of = Act { operation, actor: Actor::system(), at: Timestamp::now(), proposed, part: None, events };
            act(&act_of, |_| None).into_owned()
        };
        let (publish, cancel) = (Some(ProposalAction::PublishAgreement), Some(ProposalAction::CancelAgreement));
        assert_eq!(said("confirm_proposal", publish, vec![]), "Confirmed the publication");
        assert_eq!(said("confirm_proposal", cancel, vec![]), "Confirmed the cancellation");
        assert_eq!(said("create_proposal", publish, vec![]), "Proposed to publish");
        assert_eq!(said("expire_proposal", cancel, vec![]), "The proposal to cancel expired undecided");
        assert_eq!(said("proceed_agreement", None, vec![EventType::AgreementCompleted]), "Completed");
        assert_eq!(said("proceed_agreement", None, vec![]), "Moved on, because time passed");
        assert_eq!(said("add_agreement_participant", None, vec![]), "Added a participant");
    }

    #[test]
    fn an_edit_names_its_part() {
        let label = |text: &str| Label::parse(text).unwrap();
        let (ada, gone) = (ContactId::new(), ContactId::new());
        let said = |operation: &str, part| {
            let (operation, actor, at) = (operation.to_owned(), Actor::system(), Timestamp::now());
            let edit = Act { operation, actor, at, proposed: None, part: Some(part), events: vec![] };
            act(&edit, |id| (id == ada).then_some("Ada")).into_owned()
        };
        let participant = |contact_id| EditedPart::Participant { contact_id };
        assert_eq!(said("add_agreement_participant", participant(ada)), "Added Ada as a participant");
        assert_eq!(said("change_participant", participant(ada)), "Changed the roles of Ada");
        assert_eq!(said("remove_participant", participant(ada)), "Removed Ada from the participants");
        assert_eq!(said("remove_participant", participant(gone)), "Removed a participant", "no name is known");
        let document = || EditedPart::Document { name: label("SAFE") };
        assert_eq!(said("add_document", document()), "Uploaded the document “SAFE”");
        assert_eq!(said("remove_document", document()), "Removed the document “SAFE”");
        let block = |contact_id| EditedPart::SignatureBlock { document: label("SAFE"), contact_id };
        assert_eq!(said("add_signature_block", block(Some(ada))), "Added a signature block for Ada to “SAFE”");
        assert_eq!(said("remove_signature_block", block(None)), "Removed a signature block from “SAFE”");
        assert_eq!(said("move_step", EditedPart::Step { name: label("Closing") }), "Moved the step “Closing”");
        let condition = EditedPart::Condition { gate: GateType::ParticipantApproval, step: label("Closing") };
        assert_eq!(said("add_condition", condition), "Added the condition “Approval” to the step “Closing”");
        let question = EditedPart::Question { label: label("Your address?") };
        let condition = || EditedPart::Condition { gate: GateType::FileUpload, step: label("Papers") };
        let named = "the condition “File upload” in the step “Papers”";
        assert_eq!(said("decline_condition", condition()), format!("Declined {named}"));
        assert_eq!(said("reopen_condition", condition()), format!("Reopened {named}"));
        assert_eq!(said("accept_files", participant(ada)), "Accepted the file of Ada");
        assert_eq!(said("return_answers", participant(ada)), "Returned the answers of Ada");
        assert_eq!(said("return_files", participant(gone)), "Returned a participant’s file", "no name is known");
        assert_eq!(said("change_question", question), "Changed the question “Your address?”");
        let promise = EditedPart::Promise { name: label("Insurance") };
        assert_eq!(said("remove_promise", promise), "Removed the obligation “Insurance”");
        let payment = |purpose| EditedPart::Payment { purpose };
        let purpose = SafeLine::parse("Closing payment").ok();
        assert_eq!(said("add_payment", payment(purpose)), "Added the payment “Closing payment”");
        assert_eq!(said("change_payment", payment(None)), "Changed a payment");
        let act_on = |operation| said(operation, payment(SafeLine::parse("Closing payment").ok()));
        assert_eq!(act_on("cancel_movement"), "Cancelled the payment “Closing payment”");
        assert_eq!(act_on("report_payment_sent"), "Reported the payment “Closing payment” as sent");
        assert_eq!(act_on("enter_instructions"), "Entered payment instructions: “Closing payment”");
        assert_eq!(said("sign_document", document()), "Signed the document “SAFE”");
        assert_eq!(said("decline_document", document()), "Declined to sign the document “SAFE”");
        let promise = || EditedPart::Promise { name: label("Insurance") };
        assert_eq!(said("confirm_own_obligation", promise()), "Confirmed the obligation “Insurance” owed to them");
        assert_eq!(said("record_own_satisfaction", promise()), "Said that their obligation is done: “Insurance”");
        assert_eq!(said("set_terms", participant(ada)), "Changed the terms");
    }
}

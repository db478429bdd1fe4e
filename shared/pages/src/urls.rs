//! URLs of pages that other pages link to.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use shared::domain::ids::{
    AgreementId, ContactId, DocumentId, EndpointId, EvidenceId, FundingItemId, GateId, MovementId, ObligationId,
    ParticipantId, PromiseId, ProposalId, ReceiptId, StageId, StatementId, TemplateId, TrustId, WorkspaceId,
};

/// The funding of all workspaces.
pub const FUNDING: &str = "/app/funding";

/// The list of trusts.
pub const TRUSTS: &str = "/app/trusts";

/// PDFs of funding.
pub const PAPERS: &str = "/app/papers";

/// The URL of an invitation, without its secret.
pub const INVITATIONS: &str = "/app/invitations/";

/// The URL of a password link, without its secret.
pub const PASSWORD_LINKS: &str = "/app/password-links/";

/// The URL of a participant's link, without its secret.
pub const LINKS: &str = "/app/links/";

/// The list of statements.
pub const STATEMENTS: &str = "/app/money/statements";

/// Where a trust begins.
pub const NEW_TRUST: &str = "/app/trusts/new";

/// The list of agreements.
pub const AGREEMENTS: &str = "/app/agreements";

/// Where an agreement begins.
pub const NEW_AGREEMENT: &str = "/app/agreements/new";

/// The list of obligations.
pub const OBLIGATIONS: &str = "/app/obligations";

/// The audit log.
pub const AUDIT: &str = "/app/audit";

/// The organization's page.
pub const ORGANIZATION: &str = "/app/organization";

/// The access tokens.
pub const TOKENS: &str = "/app/developers/tokens";

/// The ledger.
pub const MONEY: &str = "/app/money";

/// The list of proposals.
pub const PROPOSALS: &str = "/app/proposals";

/// The list of workspaces.
pub const WORKSPACES: &str = "/app/workspaces";

/// The list of contacts.
pub const CONTACTS: &str = "/app/contacts";

/// The import of contacts. Below `/app/imports`, which has a function of its own.
pub const CONTACT_IMPORT: &str = "/app/imports/contacts";

/// The URL of an agreement's page.
#[must_use]
pub fn agreement_url(id: AgreementId) -> String {
    format!("/app/agreements/{id}")
}

/// The URL of a template that a member kept.
#[must_use]
pub fn template_url(id: TemplateId) -> String {
    format!("{AGREEMENTS}/templates/{id}")
}

/// The URL of a participant's access.
#[must_use]
pub fn access_url(agreement: AgreementId, participant: ParticipantId) -> String {
    format!("{}/participants/{participant}/access", agreement_url(agreement))
}

/// The URL of the files that a participant uploaded for a condition.
#[must_use]
pub fn files_url(agreement: AgreementId, gate: GateId, participant: ParticipantId) -> String {
    format!("{}/conditions/{gate}/files/{participant}", agreement_url(agreement))
}

/// The URL of a participant's answers to an information request.
#[must_use]
pub fn answers_url(agreement: AgreementId, gate: GateId, participant: ParticipantId) -> String {
    format!("{}/conditions/{gate}/answers/{participant}", agreement_url(agreement))
}

/// The URL of a participant's verification.
#[must_use]
pub fn verification_url(agreement: AgreementId, participant: ParticipantId) -> String {
    format!("{}/participants/{participant}/verification", agreement_url(agreement))
}

/// The URL of a document's page.
#[must_use]
pub fn document_url(agreement: AgreementId, document: DocumentId) -> String {
    format!("{}/documents/{document}", agreement_url(agreement))
}

/// The URL of the payments of a draft.
#[must_use]
pub fn payments_url(agreement: AgreementId) -> String {
    format!("{}/payments", agreement_url(agreement))
}

/// The URL of a payment's page in its draft.
#[must_use]
pub fn payment_url(agreement: AgreementId, movement: MovementId) -> String {
    format!("{}/{movement}", payments_url(agreement))
}

/// The URL of a step's page.
#[must_use]
pub fn step_url(agreement: AgreementId, stage: StageId) -> String {
    format!("{}/steps/{stage}", agreement_url(agreement))
}

/// The URL of a condition's page.
#[must_use]
pub fn condition_url(agreement: AgreementId, gate: GateId) -> String {
    format!("{}/conditions/{gate}", agreement_url(agreement))
}

/// The URL of a promise's page.
#[must_use]
pub fn promise_url(agreement: AgreementId, promise: PromiseId) -> String {
    format!("{}/promises/{promise}", agreement_url(agreement))
}

/// The URL of a contact's page.
#[must_use]
pub fn contact_url(id: ContactId) -> String {
    format!("{CONTACTS}/{id}")
}

/// The URL of a workspace's page.
#[must_use]
pub fn workspace_url(id: WorkspaceId) -> String {
    format!("{WORKSPACES}/{id}")
}

/// The URL of a proposal’s page.
#[must_use]
pub fn proposal_url(id: ProposalId) -> String {
    format!("{PROPOSALS}/{id}")
}

/// The URL of a payment's page.
#[must_use]
pub fn movement_url(id: MovementId) -> String {
    format!("/app/money/movements/{id}")
}

/// The URL of a piece of evidence.
#[must_use]
pub fn evidence_url(movement: MovementId, id: EvidenceId) -> String {
    format!("{}/evidence/{id}", movement_url(movement))
}

/// The URL of a statement's page.
#[must_use]
pub fn statement_url(id: StatementId) -> String {
    format!("{STATEMENTS}/{id}")
}

/// The URL of an obligation's page.
#[must_use]
pub fn obligation_url(id: ObligationId) -> String {
    format!("{OBLIGATIONS}/{id}")
}

/// The URL of the funding of a workspace.
#[must_use]
pub fn funding_url(id: WorkspaceId) -> String {
    format!("{FUNDING}/{id}")
}

/// The URL of an item's page.
#[must_use]
pub fn item_url(id: FundingItemId) -> String {
    format!("{FUNDING}/items/{id}")
}

/// The URL of a trust's page.
#[must_use]
pub fn trust_url(id: TrustId) -> String {
    format!("{TRUSTS}/{id}")
}

/// The preview of an agreement that papers a workspace's items.
#[must_use]
pub fn papers_url(workspace: WorkspaceId, items: &[FundingItemId]) -> String {
    let ids: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("{PAPERS}/{workspace}?items={}", ids.join(","))
}

/// The URL of an endpoint's page.
#[must_use]
pub fn endpoint_url(id: EndpointId) -> String {
    format!("/app/developers/endpoints/{id}")
}

/// The URL of a participant's first page.
#[must_use]
pub fn part_url(participant: ParticipantId) -> String {
    format!("/app/parts/{participant}")
}

/// The URL of a receipt.
#[must_use]
pub fn receipt_url(participant: ParticipantId, id: ReceiptId) -> String {
    format!("{}/receipts/{id}", part_url(participant))
}

/// The URL of a page of the members that a search finds.
#[must_use]
pub fn members_url(search: &str, offset: u64) -> String {
    format!("{ORGANIZATION}{}", members_query(search, offset))
}

/// The query of a list of members at an offset.
#[must_use]
pub fn members_query(search: &str, offset: u64) -> String {
    let search = (!search.is_empty()).then(|| format!("search={}", encode_query_value(search)));
    let offset = (offset > 0).then(|| format!("offset={offset}"));
    let pairs: Vec<String> = search.into_iter().chain(offset).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Percent-encodes the value of a query parameter.
#[must_use]
pub fn encode_query_value(text: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(text, ENCODED).to_string()
}

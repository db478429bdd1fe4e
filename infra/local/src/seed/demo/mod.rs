//! The three deals that `--seed demo` adds to an organization. Each step is done by the party that does it in production,
//! in process, so that it is checked, audited and stored like any other:
//!
//! | Who | What | Module |
//! |---|---|---|
//! | the organization's integration | creates contacts, workspaces and agreements, proposes to publish | `api_client` |
//! | the service | fills in drafts, as members do in the app | `drafts` |
//! | participants | consent, approve and sign, with the use cases of their pages | `participants` |
//! | a member | reviews and confirms proposals, with the use case of the app's form | here |
//!
//! `deals` is what they create.

mod api_client;
mod deals;
mod drafts;
mod participants;
mod pdf;

use std::collections::HashMap;

use files::Files;
use serde_json::json;
use shared::domain::contact::Email;
use shared::domain::ids::ProposalId;
use shared::domain::member::Refusal;
use shared::domain::proposal::{Note, ProposalState};
use shared::error::Error;
use shared::service::proposals::{self, Choice};
use shared::store::Store;
use shared::web::member_call::MemberCall;

use crate::data::{Member, OrganizationCredentials};
use crate::error::in_one_line;
use crate::functions::Functions;
use crate::seed::demo::api_client::ApiClient;
use crate::seed::demo::deals::{CONTACTS, NewAgreement, NewWorkspace, WORKSPACES};

/// How often the demo proposes to publish an agreement.
const PROPOSALS_MAX: usize = 10;

/// The ids of the contacts, by external reference.
type ContactIds = HashMap<&'static str, String>;

/// Creates the deals in an organization.
pub(crate) async fn create(
    functions: &Functions,
    store: &Store,
    files: &Files,
    organization: &OrganizationCredentials,
) -> Result<(), String> {
    let api = ApiClient { router: &functions.router, token: organization.read_write_token.value() };
    let contact_ids = create_contacts(&api).await?;
    let mut workspaces = Vec::new();
    for new in WORKSPACES {
        workspaces.push((new, create_workspace(&api, new, &contact_ids).await?));
    }
    for (workspace, workspace_id) in workspaces {
        for new in workspace.agreements {
            let agreement_id = create_agreement(&api, new, &workspace_id, &contact_ids).await?;
            edit_draft(store, files, organization, new, &agreement_id).await?;
            let Some(note) = new.proposal_note else { continue };
            let Some(confirmation) = new.confirmation_note else {
                propose_publication(&api, &agreement_id, note).await?;
                continue;
            };
            publish(functions, organization, (&api, &agreement_id), (note, confirmation)).await?;
            let id = agreement_id.parse().map_err(|error| in_one_line(&error))?;
            for act in new.acts {
                let acted = participants::act(functions, (organization.id, id), *act).await;
                acted.map_err(|error| in_one_line(&error))?;
            }
        }
    }
    Ok(())
}

async fn create_contacts(api: &ApiClient<'_>) -> Result<ContactIds, String> {
    let mut ids = HashMap::new();
    for new in CONTACTS {
        let contact = json!({
            "display_name": new.display_name, "kind": new.kind, "email": new.email,
            "external_reference": new.external_reference,
        });
        ids.insert(new.external_reference, api.create("/api/v1/contacts", &contact).await?);
    }
    Ok(ids)
}

async fn create_workspace(api: &ApiClient<'_>, new: &NewWorkspace, contact_ids: &ContactIds) -> Result<String, String> {
    let workspace_id = api.create("/api/v1/workspaces", &json!({ "name": new.name })).await?;
    let path = format!("/api/v1/workspaces/{workspace_id}/contacts");
    for reference in new.contacts {
        api.post(&path, &json!({ "contact_id": contact_ids.get(reference) })).await?;
    }
    Ok(workspace_id)
}

async fn create_agreement(
    api: &ApiClient<'_>,
    new: &NewAgreement,
    workspace_id: &str,
    contact_ids: &ContactIds,
) -> Result<String, String> {
    let agreement = json!({"workspace_id": workspace_id, "name": new.name, "kind": new.kind});
    let agreement_id = api.create("/api/v1/agreements", &agreement).await?;
    let path = format!("/api/v1/agreements/{agreement_id}/participants");
    for (reference, roles) in new.participants {
        api.post(&path, &json!({"contact_id": contact_ids.get(reference), "roles": roles})).await?;
    }
    Ok(agreement_id)
}

async fn edit_draft(
    store: &Store,
    files: &Files,
    organization: &OrganizationCredentials,
    new: &NewAgreement,
    agreement_id: &str,
) -> Result<(), String> {
    let org = organization.id;
    let agreement_id = agreement_id.parse().map_err(|error| in_one_line(&error))?;
    let file = match new.document {
        // A file is written before the record that names it.
        Some(lines) => Some(files.put(org, pdf::page(new.name, lines)).await.map_err(|error| in_one_line(&error))?),
        None => None,
    };
    drafts::commit_edit(store, org, agreement_id, new.edit, file).await.map_err(|error| in_one_line(&error))
}

async fn propose_publication(api: &ApiClient<'_>, agreement_id: &str, note: &str) -> Result<String, String> {
    let proposal = json!({"action": "publish_agreement", "agreement_id": agreement_id, "note": note});
    api.create("/api/v1/proposals", &proposal).await
}

/// Proposes to publish an agreement and confirms it. At a fast pace, on a busy machine, a proposal may expire in between.
async fn publish(
    functions: &Functions,
    organization: &OrganizationCredentials,
    (api, agreement_id): (&ApiClient<'_>, &str),
    (note, confirmation): (&str, &str),
) -> Result<(), String> {
    for _ in 0..PROPOSALS_MAX {
        let proposal_id = propose_publication(api, agreement_id, note).await?;
        if confirm_proposal(functions, organization, &proposal_id, confirmation).await? {
            return Ok(());
        }
    }
    Err("the demo's proposals expire before they are confirmed".to_owned())
}

/// Confirms a proposal as the organization's first member, who has reviewed it. False if it has expired.
async fn confirm_proposal(
    functions: &Functions,
    organization: &OrganizationCredentials,
    proposal_id: &str,
    note: &str,
) -> Result<bool, String> {
    let Some(member) = organization.members.first() else { return Ok(true) };
    let id: ProposalId = proposal_id.parse().map_err(|error| in_one_line(&error))?;
    let note = Note::parse(note).map_err(|(_, why)| format!("a note that {why}"))?;
    let decided = decide(functions, member, id, note).await.map_err(|error| in_one_line(&error))?;
    match decided {
        Ok(()) => Ok(true),
        Err(Refusal::NotPending(ProposalState::Expired)) => Ok(false),
        Err(refusal) => Err(format!("the demo's proposal was not confirmed: {refusal:?}")),
    }
}

async fn decide(
    functions: &Functions,
    member: &Member,
    id: ProposalId,
    note: Note,
) -> Result<Result<(), Refusal>, Error> {
    let email = Email::parse(&member.email).map_err(|(_, why)| Error::Internal(why))?;
    let call = MemberCall::begin(&functions.app, "confirm_proposal", &email, &member.password).await?;
    let call = call.ok_or(Error::Unauthenticated)?;
    let shown = proposals::review(call.scope(), id).await?.fingerprint;
    call.commit(proposals::decide(call.scope(), call.member(), id, Choice::Confirm, Some(note), &shown).await?).await
}

//! The two deals that `--seed demo` adds to an organization. Each step is done by the party that does it in production,
//! in process, so that it is checked, audited and stored like any other:
//!
//! | Who | What | Module |
//! |---|---|---|
//! | the organization's integration | creates contacts, workspaces and agreements, proposes to publish | `api_client` |
//! | the service | fills in drafts, as members do in the app | `drafts` |
//! | a member | reviews and confirms proposals in the app | `browser` |
//!
//! `deals` is what they create.

mod api_client;
mod browser;
mod deals;
mod drafts;
mod pdf;

use std::collections::HashMap;

use axum::Router;
use files::Files;
use serde_json::json;
use shared::store::Store;

use crate::data::OrganizationCredentials;
use crate::error::in_one_line;
use crate::seed::demo::api_client::ApiClient;
use crate::seed::demo::browser::Browser;
use crate::seed::demo::deals::{CONTACTS, NewAgreement, NewWorkspace, WORKSPACES};

/// The ids of the contacts, by external reference.
type ContactIds = HashMap<&'static str, String>;

/// Creates the deals in an organization. `router` answers the API and the app.
pub(crate) async fn create(
    router: &Router,
    store: &Store,
    files: &Files,
    organization: &OrganizationCredentials,
) -> Result<(), String> {
    let api = ApiClient { router, token: organization.read_write_token.value() };
    let contact_ids = create_contacts(&api).await?;
    let mut workspaces = Vec::new();
    for new in WORKSPACES {
        workspaces.push((new, create_workspace(&api, new, &contact_ids).await?));
    }
    for (workspace, workspace_id) in workspaces {
        for new in workspace.agreements {
            let agreement_id = create_agreement(&api, new, &workspace_id, &contact_ids).await?;
            edit_draft(store, files, organization, new, &agreement_id).await?;
            if let Some(note) = new.proposal_note {
                let proposal_id = propose_publication(&api, &agreement_id, note).await?;
                if let Some(note) = new.confirmation_note {
                    confirm_proposal(router, organization, &proposal_id, note).await?;
                }
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

/// Confirms a proposal as the organization's first member.
async fn confirm_proposal(
    router: &Router,
    organization: &OrganizationCredentials,
    proposal_id: &str,
    note: &str,
) -> Result<(), String> {
    let Some(member) = organization.members.first() else { return Ok(()) };
    let mut browser = Browser::sign_in(router, member).await?;
    browser.confirm(proposal_id, note).await?;
    browser.sign_out().await
}

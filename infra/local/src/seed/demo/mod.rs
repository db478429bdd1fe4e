//! The four deals that `--seed demo` adds to an organization. Each step is done here by those who do it in production, in
//! process, so that it is checked, audited and stored like any other:
//!
//! | Who | What | Module |
//! |---|---|---|
//! | the organization's integration | creates contacts, workspaces and agreements, proposes to publish | `api_client` |
//! | the service | fills in drafts, as members do in the app | `drafts` |
//! | participants | consent, approve and sign, with the use cases of their pages | `participants` |
//! | two members and payers | authorize, release, report and prove payments, as their forms do | `money` |
//! | the integration and a member | list, paper and prove what has to move into a trust | `funding` |
//! | a member | reviews and confirms proposals, with the use case of the app's form | here |
//!
//! `deals` lists what they create.

mod api_client;
mod context;
mod deals;
mod drafts;
mod funding;
mod money;
mod participants;
mod pdf;

use serde_json::json;
use shared::domain::agreement::warnings::to_tick;
use shared::domain::ids::{AgreementId, ProposalId};
use shared::domain::member::Refusal;
use shared::domain::note::Note;
use shared::domain::organization::NewOwnContact;
use shared::domain::proposal::ProposalState;
use shared::error::Error;
use shared::service::organizations;
use shared::service::proposals::{self, Choice};

use crate::data::Member;
use crate::error::in_one_line;
use crate::seed::demo::api_client::ApiClient;
use crate::seed::demo::context::ContactIds;
pub(crate) use crate::seed::demo::context::Demo;
use crate::seed::demo::deals::{CONTACTS, NewAgreement, NewWorkspace, OWN_CONTACT, WORKSPACES};

const PROPOSALS_MAX: usize = 10;

impl Demo<'_> {
    pub(crate) async fn create(&self) -> Result<(), String> {
        let api = ApiClient { router: &self.functions.router, token: self.organization.read_write_token.value() };
        let contact_ids = create_contacts(&api).await?;
        self.add_own_contact(&contact_ids).await?;
        let mut workspaces = Vec::new();
        for new in WORKSPACES {
            workspaces.push((new, create_workspace(&api, new, &contact_ids).await?));
        }
        for (workspace, workspace_id) in workspaces {
            for new in workspace.agreements {
                let agreement_id = create_agreement(&api, new, &workspace_id, &contact_ids).await?;
                self.bring_to_state(&api, new, &agreement_id).await?;
            }
            if workspace.name == funding::WORKSPACE {
                funding::create(self, &api, &workspace_id, &contact_ids).await?;
            }
        }
        Ok(())
    }

    /// Fills in a draft and advances the agreement to its state in the demo.
    async fn bring_to_state(&self, api: &ApiClient<'_>, new: &NewAgreement, agreement_id: &str) -> Result<(), String> {
        let id = agreement_id.parse().map_err(|error| in_one_line(&error))?;
        let mut payments = Vec::new();
        for payment in new.payments {
            let added = money::add(self, id, payment).await.map_err(|error| in_one_line(&error))?;
            payments.push((added, payment));
        }
        self.edit_draft(new, id).await?;
        let Some(note) = new.proposal_note else { return Ok(()) };
        let Some(confirmation) = new.confirmation_note else {
            return propose_publication(api, agreement_id, note).await.map(|_| ());
        };
        self.publish(api, agreement_id, note, confirmation).await?;
        for (place, act) in new.acts {
            let acted = participants::act(self.functions, self.organization.id, id, *place, *act).await;
            acted.map_err(|error| in_one_line(&error))?;
        }
        for (movement, payment) in payments {
            let brought = money::bring_to_state(self, (id, movement), payment).await;
            brought.map_err(|error| in_one_line(&error))?;
        }
        Ok(())
    }

    async fn edit_draft(&self, new: &NewAgreement, id: AgreementId) -> Result<(), String> {
        let org = self.organization.id;
        let file = new.document.map(|lines| pdf::page(new.name, lines).into());
        drafts::commit_edit(self.store, self.files, org, id, new.edit, file).await.map_err(|error| in_one_line(&error))
    }

    /// Sets the contact the organization acts as, which gives payments a direction. The first member is an admin.
    async fn add_own_contact(&self, contact_ids: &ContactIds) -> Result<(), String> {
        let added = async {
            let id = contact_ids.get(OWN_CONTACT).and_then(|id| id.parse().ok()).ok_or_else(Error::not_found)?;
            let admin = self.organization.members.first().ok_or_else(Error::not_found)?;
            let call = self.call(admin, "add_own_contact").await?;
            call.commit_as_admin(async |scope, admin| {
                organizations::add_own_contact(scope, admin, NewOwnContact { contact_id: id }).await
            })
            .await
        };
        added.await.map(|_| ()).map_err(|error| in_one_line(&error))
    }

    /// Proposes to publish and confirms. At a fast pace on a busy machine, the proposal may expire in between.
    async fn publish(
        &self,
        api: &ApiClient<'_>,
        agreement_id: &str,
        note: &str,
        confirmation: &str,
    ) -> Result<(), String> {
        for _ in 0..PROPOSALS_MAX {
            let proposal_id = propose_publication(api, agreement_id, note).await?;
            if confirm_proposal(self, &proposal_id, confirmation).await? {
                return Ok(());
            }
        }
        Err("the demo's proposals expire before they are confirmed".to_owned())
    }
}

async fn create_contacts(api: &ApiClient<'_>) -> Result<ContactIds, String> {
    let mut ids = ContactIds::new();
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

async fn propose_publication(api: &ApiClient<'_>, agreement_id: &str, note: &str) -> Result<String, String> {
    let proposal = json!({"action": "publish_agreement", "agreement_id": agreement_id, "note": note});
    api.create("/api/v1/proposals", &proposal).await
}

/// Confirms a proposal as the organization's first member. False if it has expired.
async fn confirm_proposal(demo: &Demo<'_>, proposal_id: &str, note: &str) -> Result<bool, String> {
    let Some(member) = demo.organization.members.first() else { return Ok(true) };
    let id: ProposalId = proposal_id.parse().map_err(|error| in_one_line(&error))?;
    let note = Note::parse(note).map_err(|(_, why)| format!("a note that {why}"))?;
    let decided = decide(demo, member, id, note).await.map_err(|error| in_one_line(&error))?;
    match decided {
        Ok(()) => Ok(true),
        Err(Refusal::NotPending(ProposalState::Expired)) => Ok(false),
        Err(refusal) => Err(format!("the demo's proposal was not confirmed: {refusal:?}")),
    }
}

async fn decide(demo: &Demo<'_>, member: &Member, id: ProposalId, note: Note) -> Result<Result<(), Refusal>, Error> {
    let call = demo.call(member, "confirm_proposal").await?;
    let review = proposals::review(call.scope(), id).await?;
    let (note, ticked) = (Some(note), to_tick(&review.warnings));
    let plan =
        proposals::decide(call.scope(), call.member(), id, Choice::Confirm, note, &review.shown, &ticked).await?;
    call.commit(plan).await
}

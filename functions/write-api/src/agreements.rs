//! Operations 11 and 14.

use http::{Method, StatusCode};
use shared::api::caller::WriteCaller;
use shared::api::operation::{OperationSpec, WriteOperation};
use shared::api::views::agreements::{AgreementPath, AgreementView, ParticipantView};
use shared::domain::agreement::{Agreement, NewAgreement, NewParticipant};
use shared::error::Error;
use shared::service::drafts;
use shared::store::commit::Committed;
use shared::store::{agreements, workspaces};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::Empty;
use uuid::Uuid;

/// The field that names the agreement.
const AGREEMENT: &str = "path.agreement_id";

/// Drafts an agreement.
pub struct CreateAgreement;

impl WriteOperation for CreateAgreement {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_agreement",
        method: Method::POST,
        path: "/api/v1/agreements",
        tag: "Agreements",
        summary: "Draft an agreement",
        description: "It begins as a draft, which sends nothing to anyone. Documents, steps and payments are configured at its `app_url`.",
        success: &[(201, "The draft.")],
        has_etag: false,
    };
    type Path = Empty;
    type Body = NewAgreement;
    type Output = AgreementView;

    fn references(body: &NewAgreement) -> Vec<Uuid> {
        vec![body.workspace_id.uuid()]
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewAgreement) -> Result<Committed<AgreementView>, Error> {
        // Read before the transaction rather than in it: workspaces are never deleted.
        let Some(workspace) = caller.store().workspace(new.workspace_id).await? else {
            let message = "is no workspace of your organization";
            return Err(Error::NotFound(FieldErrors::one("workspace_id", FieldCode::NotFound, message)));
        };
        let agreement = Agreement::draft(new, caller.actor().clone(), caller.now());
        let blockers = drafts::blockers_of(caller, &agreement, &workspace.value, &[]);
        let view = AgreementView::in_full(&agreement, &[], &blockers, false, caller.base_url());
        let draft = agreement.as_draft().map_err(|error| Error::Invalid(error.at("body")))?;
        let changes = agreements::create(caller.org(), &draft)?;
        caller.commit().with(changes).respond(StatusCode::CREATED, &view, None).await
    }
}

/// Adds a participant to a draft.
pub struct AddParticipant;

impl WriteOperation for AddParticipant {
    const SPEC: OperationSpec = OperationSpec {
        id: "add_agreement_participant",
        method: Method::POST,
        path: "/api/v1/agreements/{agreement_id}/participants",
        tag: "Agreements",
        summary: "Add a participant to a draft",
        description: "A contact that takes part already gets the new roles in addition, with status 200; no second participant is created. The contact also joins the workspace's people. An agreement has at most 100 participants.",
        success: &[
            (201, "The new participant."),
            (200, "The participant that the contact was already, with the roles merged."),
        ],
        has_etag: false,
    };
    type Path = AgreementPath;
    type Body = NewParticipant;
    type Output = ParticipantView;

    fn references(body: &NewParticipant) -> Vec<Uuid> {
        vec![body.contact_id.uuid()]
    }

    async fn run(
        caller: &WriteCaller,
        path: AgreementPath,
        new: NewParticipant,
    ) -> Result<Committed<ParticipantView>, Error> {
        let store = caller.store();
        let contact_id = new.contact_id;
        let contact = store.contact(contact_id).await?;
        let before = store.agreement(path.agreement_id).await?.ok_or_else(Error::not_found)?;
        let Some(contact) = contact else {
            let message = "is no contact of your organization";
            return Err(Error::NotFound(FieldErrors::one("contact_id", FieldCode::NotFound, message)));
        };
        let added = before.value.add_participant(new, caller.now());
        let added = added.map_err(|error| Error::Invalid(error.at(AGREEMENT)))?;
        let draft = added.agreement.as_draft().map_err(|error| Error::Invalid(error.at(AGREEMENT)))?;
        let status = if added.is_new { StatusCode::CREATED } else { StatusCode::OK };
        let mut changes = Vec::new();
        if *draft != before.value {
            changes.extend(agreements::edit(caller.org(), &before, &draft)?);
        }
        let workspace = drafts::workspace_of(caller, &before.value).await?.value;
        let joined = workspace.add_person(contact_id, caller.now()).map_err(Error::Invalid)?;
        if joined != workspace {
            changes.push(workspaces::add_person(caller.org(), &joined, contact_id));
        }
        let view = ParticipantView::new(path.agreement_id, added.participant, &contact.value);
        caller.commit().with(changes).respond(status, &view, None).await
    }
}

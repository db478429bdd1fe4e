//! Operations 11 and 14 of the specification.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, Rule, WriteOperation};
use shared::api::views::agreements::{AgreementPath, AgreementView, ParticipantView};
use shared::domain::agreement::{NewAgreement, NewParticipant};
use shared::error::Error;
use shared::service::agreements;
use shared::wire::fields::FieldCode;
use shared::wire::input::Empty;
use uuid::Uuid;

const AGREEMENT_FIELD: &str = "path.agreement_id";

/// Creates a draft agreement.
pub struct CreateAgreement;

impl WriteOperation for CreateAgreement {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_agreement",
        method: Method::POST,
        path: "/api/v1/agreements",
        tag: "Agreements",
        summary: "Draft an agreement",
        description: "It begins as a draft, which sends nothing to anyone. Documents, steps and payments are configured at its `app_url`.",
        agent: "Starts a draft in a workspace. It sends nothing to anyone and is not in force. Documents, steps and payments can't be set here: give the human its `app_url` for that. Next: `add_agreement_participant`, then read `publish_blockers` with `get_agreement`.",
        success: &[(201, "The draft.")],
        headers: &[],
    };
    type Path = Empty;
    type Body = NewAgreement;
    type Output = AgreementView;

    fn references(body: &NewAgreement) -> Vec<Uuid> {
        vec![body.workspace_id.uuid()]
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewAgreement) -> Result<Committed<AgreementView>, Error> {
        let plan = agreements::create(caller, new).await?;
        caller.respond(plan, |agreement| Response::created(AgreementView::of(agreement, caller.base_url()))).await
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
        agent: "Gives a contact roles in a draft; an existing participant gains these roles. Refused once the agreement is published. It invites nobody: that happens on publication. Next: `get_agreement` to read `publish_blockers`.",
        success: &[
            (201, "The new participant."),
            (200, "The participant that the contact was already, with the roles merged."),
        ],
        headers: &[],
    };
    type Path = AgreementPath;
    type Body = NewParticipant;
    type Output = ParticipantView;

    const RULES: &'static [Rule] = &[
        ("path.agreement_id", FieldCode::WrongState, "participants are added while the agreement is a draft"),
        ("contact_id", FieldCode::LimitReached, "has as many participants as an agreement may have"),
        ("path.agreement_id", FieldCode::LimitReached, "its workspace has as many people as one may have"),
    ];

    fn references(body: &NewParticipant) -> Vec<Uuid> {
        vec![body.contact_id.uuid()]
    }

    async fn run(
        caller: &WriteCaller,
        path: AgreementPath,
        new: NewParticipant,
    ) -> Result<Committed<ParticipantView>, Error> {
        let id = path.agreement_id;
        let plan = agreements::add_participant(caller, id, new).await?;
        let plan = plan.accepted().map_err(|refusal| Error::Invalid(refusal.at(AGREEMENT_FIELD)))?;
        caller
            .respond(plan, |added| {
                let view = ParticipantView::new(id, added.participant.clone(), &added.contact);
                if added.is_new { Response::created(view) } else { Response::ok(view) }
            })
            .await
    }
}

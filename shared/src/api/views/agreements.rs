//! The API's view of agreements and their parts.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::api::views::obligations::PromiseView;
use crate::domain::agreement::blockers::Blocker;
use crate::domain::agreement::gate::{Gate, GateRule, GateState, GateStatus, GateType, InformationField};
use crate::domain::agreement::{
    Agreement, AgreementKind, AgreementName, Document, DocumentState, Label, Life, Lifecycle, Participant,
    ParticipantRole, SafeTerms, SignatureBlock, Stage, StageAction, StageState,
};
use crate::domain::contact::{Contact, DisplayName};
use crate::domain::ids::{
    AgreementId, ContactId, DocumentId, FundingItemId, GateId, MovementId, ParticipantId, SignatureBlockId, StageId,
    WorkspaceId,
};
use crate::domain::note::Note;
use crate::domain::time::Timestamp;
use crate::platform::config::BaseUrl;
use crate::service::agreements::AgreementInFull;
use crate::text;
use crate::wire::fields::{FieldCode, FieldErrors};

/// An agreement's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct AgreementPath {
    /// The agreement.
    pub agreement_id: AgreementId,
}

/// An agreement. In lists `stages`, `documents`, `participants`, `terms`, `promises`, `publishable` and
/// `publish_blockers` are `null`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Agreement, example = json!({
    "id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "name": "Seed round SAFE",
    "kind": "general",
    "lifecycle": "draft",
    "status": "Draft",
    "stages": [{
        "id": "01980a53-2b6e-7d10-95aa-0f4c8e7b6a21",
        "position": 1,
        "name": "Approval",
        "state": "upcoming",
        "actions": [],
        "gates": [{
            "id": "01980a53-77c4-7e02-8b1d-63a5f0c9d814",
            "type": "participant_approval",
            "state": "locked",
            "waiting_on": "The steps before",
            "waiting_on_participant_ids": ["01980a55-1d20-7be3-9f04-8a7c6b5d4e31"],
            "cleared_at": null,
            "document_id": null,
            "movement_id": null,
            "due_at": null,
            "fields": null,
            "title": null,
            "help": null,
            "review": null,
            "signature_blocks": null,
        }],
    }],
    "documents": [{
        "id": "01980a54-0a9f-7c35-a2e8-4d1b7f6c9e50",
        "name": "SAFE",
        "sha256": null,
        "size_bytes": null,
        "state": "draft",
    }],
    "participants": [{
        "id": "01980a55-1d20-7be3-9f04-8a7c6b5d4e31",
        "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
        "contact_id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35",
        "display_name": "Ada Okafor",
        "roles": ["signer", "investor"],
    }],
    "terms": null,
    "promises": [],
    "publishable": false,
    "publish_blockers": [{
        "code": "document_missing",
        "message": "A document has no file. Upload it.",
        "url": "https://countersign.example/app/agreements/01980a52-90bd-7f6a-8e21-c4d2b7035a18",
        "document_id": "01980a54-0a9f-7c35-a2e8-4d1b7f6c9e50",
    }],
    "proposal_ready": false,
    "app_url": "https://countersign.example/app/agreements/01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "expires_at": null,
    "published_at": null,
    "completed_at": null,
    "cancelled_at": null,
    "funding_item_ids": [],
    "created_at": "2026-03-14T09:26:53.589Z",
    "updated_at": "2026-03-14T09:26:53.589Z",
}))]
pub struct AgreementView {
    /// The id of the agreement.
    pub id: AgreementId,
    /// The one workspace that it belongs to.
    pub workspace_id: WorkspaceId,
    /// What it is called. Searchable.
    pub name: AgreementName,
    /// The kind of agreement, such as a SAFE.
    pub kind: AgreementKind,
    /// Where it is in its life. Branch on this.
    pub lifecycle: Lifecycle,
    /// The same for a person. Changes freely; do not parse.
    #[schema(example = "Draft")]
    pub status: String,
    /// Its steps, in order. `null` in lists.
    #[schema(required = true)]
    pub stages: Option<Vec<StageView>>,
    /// Its documents. `null` in lists.
    #[schema(required = true)]
    pub documents: Option<Vec<DocumentView>>,
    /// Who takes part. `null` in lists.
    #[schema(required = true)]
    pub participants: Option<Vec<ParticipantView>>,
    /// The terms, of a SAFE. `null` in lists.
    #[schema(required = true)]
    pub terms: Option<SafeTerms>,
    /// What its participants promise each other beyond its steps, in order. `null` in lists.
    #[schema(required = true)]
    pub promises: Option<Vec<PromiseView>>,
    /// Of a draft that was fetched by itself: whether nothing at all is in the way of publication.
    #[schema(required = true)]
    pub publishable: Option<bool>,
    /// Of a draft that was fetched by itself: all that is in the way.
    #[schema(required = true)]
    pub publish_blockers: Option<Vec<BlockerView>>,
    /// Whether a publish proposal can be made. If not, a person finishes setup at `app_url`.
    pub proposal_ready: bool,
    /// Where it is in the app.
    #[schema(example = "https://countersign.example/app/agreements/01980a52-90bd-7f6a-8e21-c4d2b7035a18")]
    pub app_url: String,
    /// When it ends if it is not completed by then.
    #[schema(required = true)]
    pub expires_at: Option<Timestamp>,
    /// When it was published.
    #[schema(required = true)]
    pub published_at: Option<Timestamp>,
    /// When it was completed.
    #[schema(required = true)]
    pub completed_at: Option<Timestamp>,
    /// When it was cancelled.
    #[schema(required = true)]
    pub cancelled_at: Option<Timestamp>,
    /// The funding items that it papers.
    pub funding_item_ids: Vec<FundingItemId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A step.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stage)]
pub struct StageView {
    /// The id of the stage.
    pub id: StageId,
    /// Its place, from 1.
    pub position: usize,
    /// What it is called.
    pub name: Label,
    /// How far the stage has come.
    pub state: StageState,
    /// What runs when all gates are cleared.
    pub actions: Vec<StageAction>,
    /// What must be met.
    pub gates: Vec<GateView>,
}

/// A condition. What does not apply to its type is `null`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Gate)]
pub struct GateView {
    /// The id of the gate.
    pub id: GateId,
    /// What must be met.
    #[serde(rename = "type")]
    pub gate_type: GateType,
    /// Whether the gate waits, or how it ended.
    pub state: GateStatus,
    /// Who or what it waits for, for a person. Changes freely; do not parse.
    #[schema(example = "Ada Okafor to sign")]
    pub waiting_on: String,
    /// The participants that it waits for. Leaves out those who signed on paper until a member confirms or rejects it. Of
    /// `movement_reconciled`, that is the payer once the instructions are available, and the payee once the sender says it
    /// was sent, until proof is under review.
    pub waiting_on_participant_ids: Vec<ParticipantId>,
    /// When it was met.
    #[schema(required = true)]
    pub cleared_at: Option<Timestamp>,
    /// The document, of `document_signed`.
    #[schema(required = true)]
    pub document_id: Option<DocumentId>,
    /// The movement, of `movement_authorized` and `movement_reconciled`.
    #[schema(required = true)]
    pub movement_id: Option<MovementId>,
    /// When it ends, of `countdown`, once known.
    #[schema(required = true)]
    pub due_at: Option<Timestamp>,
    /// The questions, of `information_request`.
    #[schema(required = true)]
    pub fields: Option<Vec<InformationField>>,
    /// What file is asked for, of `file_upload`.
    #[schema(required = true, example = "LLC resolution")]
    pub title: Option<Label>,
    /// What helps to find the right file, of `file_upload`.
    #[schema(required = true)]
    pub help: Option<Note>,
    /// Whether a member must accept each participant's file, of `file_upload`.
    #[schema(required = true, example = true)]
    pub review: Option<bool>,
    /// The blocks, of `signature_blocks`.
    #[schema(required = true)]
    pub signature_blocks: Option<Vec<SignatureBlockView>>,
}

/// A place where one participant signs.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = SignatureBlock, example = json!({
    "id": "01980a56-3e11-7a52-8c07-1b2c3d4e5f60",
    "document_id": "01980a54-0a9f-7c35-a2e8-4d1b7f6c9e50",
    "participant_id": "01980a55-1d20-7be3-9f04-8a7c6b5d4e31",
    "label": "Investor",
}))]
pub struct SignatureBlockView {
    /// The id of the signature block.
    pub id: SignatureBlockId,
    /// In which document.
    pub document_id: DocumentId,
    /// Who signs there.
    pub participant_id: ParticipantId,
    /// What is written beside it.
    pub label: Label,
}

/// A document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Document)]
pub struct DocumentView {
    /// The id of the document.
    pub id: DocumentId,
    /// What it is called.
    pub name: Label,
    /// SHA-256 of its file, in hexadecimal.
    #[schema(required = true, example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    pub sha256: Option<String>,
    /// The size of its file in bytes.
    #[schema(required = true, example = 184_320)]
    pub size_bytes: Option<u64>,
    /// How far the document has come.
    pub state: DocumentState,
}

/// A contact's part in an agreement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Participant, example = json!({
    "id": "01980a55-1d20-7be3-9f04-8a7c6b5d4e31",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "contact_id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35",
    "display_name": "Ada Okafor",
    "roles": ["signer", "investor"],
}))]
pub struct ParticipantView {
    /// Their id in this agreement.
    pub id: ParticipantId,
    /// Which agreement.
    pub agreement_id: AgreementId,
    /// The contact who takes part.
    pub contact_id: ContactId,
    /// What the contact is called now.
    pub display_name: DisplayName,
    /// The roles that they have in the agreement.
    pub roles: Vec<ParticipantRole>,
}

impl Output for ParticipantView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.agreement_id.uuid(), self.id.uuid(), self.contact_id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/agreements/{}", self.agreement_id))
    }
}

impl Output for AgreementView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/agreements/{}", self.id))
    }
}

impl ParticipantView {
    /// Needs the participant's contact.
    #[must_use]
    pub fn new(agreement: AgreementId, participant: Participant, contact: &Contact) -> Self {
        Self {
            id: participant.id,
            agreement_id: agreement,
            contact_id: participant.contact_id,
            display_name: contact.display_name.clone(),
            roles: participant.roles.into_iter().collect(),
        }
    }
}

/// The agreement's page in the app.
#[must_use]
pub fn app_url(id: AgreementId, base_url: &BaseUrl) -> String {
    base_url.link(format_args!("/app/agreements/{id}"))
}

impl AgreementView {
    /// An agreement in a list.
    #[must_use]
    pub fn in_list(agreement: &Agreement, proposal_ready: bool, base_url: &BaseUrl) -> Self {
        let (completed_at, cancelled_at) = match agreement.life() {
            Life::Draft | Life::Active { .. } | Life::Expired { .. } => (None, None),
            Life::Completed { completed_at, .. } => (Some(completed_at), None),
            Life::Cancelled { cancelled_at, .. } => (None, Some(cancelled_at)),
        };
        Self {
            id: agreement.id(),
            workspace_id: agreement.workspace_id,
            name: agreement.name.clone(),
            kind: agreement.kind,
            lifecycle: agreement.lifecycle(),
            status: text::agreement_status(agreement, proposal_ready),
            stages: None,
            documents: None,
            participants: None,
            terms: None,
            promises: None,
            publishable: None,
            publish_blockers: None,
            proposal_ready,
            app_url: app_url(agreement.id(), base_url),
            expires_at: agreement.expires_at,
            published_at: agreement.published_at(),
            completed_at,
            cancelled_at,
            funding_item_ids: agreement.funding_item_ids.clone(),
            created_at: agreement.created_at,
            updated_at: agreement.updated_at,
        }
    }

    /// An agreement in full, from the use case's result.
    #[must_use]
    pub fn of(found: &AgreementInFull, base_url: &BaseUrl) -> Self {
        let mut view = Self::in_full(&found.agreement, &found.contacts, &found.blockers, found.is_proposed, base_url);
        let gates = view.stages.iter_mut().flatten().flat_map(|stage| &mut stage.gates);
        for gate in gates.filter(|gate| gate.gate_type == GateType::MovementReconciled) {
            let who = gate.movement_id.and_then(|id| found.payments_wait_for.get(&id));
            // A gate that is met waits for no one.
            if matches!(gate.state, GateStatus::Locked | GateStatus::Open) {
                gate.waiting_on_participant_ids.extend(who);
            }
        }
        view
    }

    /// An agreement in full, with its contacts and, for a draft, blockers and whether a publish proposal is pending.
    #[must_use]
    pub fn in_full(
        agreement: &Agreement,
        contacts: &[Contact],
        blockers: &[Blocker],
        is_proposed: bool,
        base_url: &BaseUrl,
    ) -> Self {
        let is_draft = agreement.life() == Life::Draft;
        let is_ready = is_draft && !is_proposed && blockers.iter().all(Blocker::allows_proposal);
        let url = app_url(agreement.id(), base_url);
        let participants = agreement.participants.iter().filter_map(|participant| {
            let contact = contacts.iter().find(|contact| contact.id == participant.contact_id)?;
            Some(ParticipantView::new(agreement.id(), participant.clone(), contact))
        });
        Self {
            stages: Some(stages(agreement, contacts)),
            documents: Some(agreement.documents.iter().map(DocumentView::from).collect()),
            participants: Some(participants.collect()),
            terms: agreement.terms.clone(),
            promises: Some(agreement.promises.iter().map(|promise| PromiseView::new(promise, agreement)).collect()),
            publishable: is_draft.then_some(blockers.is_empty()),
            publish_blockers: is_draft
                .then(|| blockers.iter().map(|blocker| BlockerView::new(blocker, url.clone())).collect()),
            ..Self::in_list(agreement, is_ready, base_url)
        }
    }
}

impl From<&Document> for DocumentView {
    fn from(document: &Document) -> Self {
        Self {
            id: document.id,
            name: document.name.clone(),
            sha256: document.content.as_ref().map(|content| content.sha256.clone()),
            size_bytes: document.content.as_ref().map(|content| content.size_bytes),
            state: document.state,
        }
    }
}

fn stages(agreement: &Agreement, contacts: &[Contact]) -> Vec<StageView> {
    let show = |(index, stage): (usize, &Stage)| StageView {
        id: stage.id,
        position: index + 1,
        name: stage.name.clone(),
        state: stage.state,
        actions: stage.actions.iter().copied().collect(),
        gates: stage.gates.iter().map(|gate| GateView::new(gate, agreement, contacts)).collect(),
    };
    agreement.stages.iter().enumerate().map(show).collect()
}

impl GateView {
    fn new(gate: &Gate, agreement: &Agreement, contacts: &[Contact]) -> Self {
        // An ended agreement waits for nobody.
        let is_waiting = matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active)
            && matches!(gate.state, GateState::Locked | GateState::Open { .. });
        let waited_for: Vec<ParticipantId> =
            if is_waiting { agreement.awaited_by(gate).into_iter().collect() } else { Vec::new() };
        let file = gate.rule.requested_file();
        Self {
            id: gate.id,
            gate_type: gate.rule.gate_type(),
            state: gate.state.status(),
            waiting_on: text::waiting_on(gate, agreement, text::Named { contacts, payments: &[] }),
            waiting_on_participant_ids: waited_for,
            cleared_at: match gate.state {
                GateState::Cleared { cleared_at, .. } => Some(cleared_at),
                _ => None,
            },
            document_id: match gate.rule {
                GateRule::DocumentSigned { document_id } => document_id,
                _ => None,
            },
            movement_id: match gate.rule {
                GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } => {
                    movement_id
                }
                _ => None,
            },
            due_at: gate.due_at(),
            fields: match &gate.rule {
                GateRule::InformationRequest { fields, .. } => Some(fields.clone()),
                _ => None,
            },
            title: file.and_then(|file| file.title.clone()),
            help: file.and_then(|file| file.help.clone()),
            review: file.map(|file| file.review),
            signature_blocks: match &gate.rule {
                GateRule::SignatureBlocks { block_ids } => {
                    Some(all_blocks(agreement).filter(|block| block_ids.contains(&block.id)).collect())
                }
                _ => None,
            },
        }
    }
}

fn all_blocks(agreement: &Agreement) -> impl Iterator<Item = SignatureBlockView> {
    agreement.documents.iter().flat_map(|document| {
        document.blocks.iter().map(|SignatureBlock { id, participant_id, label }| SignatureBlockView {
            id: *id,
            document_id: document.id,
            participant_id: *participant_id,
            label: label.clone(),
        })
    })
}

/// A blocker as the API shows it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Blocker)]
pub struct BlockerView {
    /// Branch on this.
    pub code: FieldCode,
    /// What is missing and what would help, for a person.
    pub message: &'static str,
    /// Where a person can fix it.
    pub url: String,
    /// The stage that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage_id: Option<StageId>,
    /// The gate that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<GateId>,
    /// The participant that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant_id: Option<ParticipantId>,
    /// The document that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentId>,
    /// The movement that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movement_id: Option<MovementId>,
}

impl BlockerView {
    /// A blocker, with the link to fix it.
    #[must_use]
    pub fn new(blocker: &Blocker, url: String) -> Self {
        let mut view = Self {
            code: blocker.code(),
            message: blocker.message(),
            url,
            stage_id: None,
            gate_id: None,
            participant_id: None,
            document_id: None,
            movement_id: None,
        };
        match blocker {
            Blocker::ParticipantEmailMissing { participant_id } => view.participant_id = Some(*participant_id),
            Blocker::StageEmpty { stage_id } => view.stage_id = Some(*stage_id),
            Blocker::GateIncomplete { stage_id, gate_id } | Blocker::GateParticipantMissing { stage_id, gate_id } => {
                (view.stage_id, view.gate_id) = (Some(*stage_id), Some(*gate_id));
            }
            Blocker::DocumentMissing { document_id } => view.document_id = Some(*document_id),
            Blocker::PaymentIncomplete { movement_id } | Blocker::PaymentPartiesMissing { movement_id } => {
                view.movement_id = Some(*movement_id);
            }
            Blocker::WorkspaceNotActivated
            | Blocker::NoParticipants
            | Blocker::NoStages
            | Blocker::SafeTermsIncomplete
            | Blocker::SafePartiesMissing
            | Blocker::FundingItemChanged
            | Blocker::ExpiryInPast => {}
        }
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of blocker, with its view's members besides `code`, `message` and `url`.
    fn blockers() -> Vec<(Blocker, &'static [&'static str])> {
        let (stage_id, gate_id) = (StageId::new(), GateId::new());
        let (document_id, movement_id) = (DocumentId::new(), MovementId::new());
        vec![
            (Blocker::WorkspaceNotActivated, &[]),
            (Blocker::NoParticipants, &[]),
            (Blocker::ParticipantEmailMissing { participant_id: ParticipantId::new() }, &["participant_id"]),
            (Blocker::NoStages, &[]),
            (Blocker::StageEmpty { stage_id }, &["stage_id"]),
            (Blocker::GateIncomplete { stage_id, gate_id }, &["stage_id", "gate_id"]),
            (Blocker::GateParticipantMissing { stage_id, gate_id }, &["stage_id", "gate_id"]),
            (Blocker::DocumentMissing { document_id }, &["document_id"]),
            (Blocker::PaymentIncomplete { movement_id }, &["movement_id"]),
            (Blocker::PaymentPartiesMissing { movement_id }, &["movement_id"]),
            (Blocker::SafeTermsIncomplete, &[]),
            (Blocker::SafePartiesMissing, &[]),
            (Blocker::FundingItemChanged, &[]),
            (Blocker::ExpiryInPast, &[]),
        ]
    }

    #[test]
    fn a_blocker_says_what_it_is_about() {
        for (blocker, expected) in blockers() {
            let view = serde_json::to_value(BlockerView::new(&blocker, "u".to_owned())).unwrap();
            let about: Vec<&str> = ["stage_id", "gate_id", "participant_id", "document_id", "movement_id"]
                .into_iter()
                .filter(|name| view.get(*name).is_some())
                .collect();
            assert_eq!(about, expected, "{blocker:?}");
            assert_eq!((&view["url"], view["message"].as_str().is_some_and(str::is_empty)), (&"u".into(), false));
        }
    }
}

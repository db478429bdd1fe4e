//! The page of a draft: its parts, each with a link to where it is edited, and what is left to do before it is published.

use askama::Template;
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::blockers::Blocker;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::gate::Gate;
use shared::domain::agreement::{Agreement, AgreementKind, Document, Participant, Stage};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, DocumentId, StageId};
use shared::domain::proposal::ProposalAction;
use shared::domain::sentences;
use shared::error::Error;
use shared::limits;
use shared::service::agreements::AgreementReview;
use shared::web::Request;

use super::condition::condition_url;
use super::documents::document_url;
use super::participants::participant_url;
use super::step::step_url;
use super::{participant_name, seen};
use crate::acts::Acts;
use crate::agreement::{PendingProposal, agreement_url};
use crate::agreement_summary::AgreementSummary;
use crate::contacts::contact_url;
use crate::fields::Fields;
use crate::labels::{Badge, DisplayTime, actor_label, lifecycle_badge};
use crate::layout::{Layout, Link, Notice};
use crate::response::PageResponse;
use crate::workspaces::workspace_url;

#[derive(Template)]
#[template(path = "draft.html")]
struct DraftPage {
    layout: Layout,
    id: AgreementId,
    notice: Option<Notice>,
    path: String,
    name: String,
    kind: &'static str,
    badge: Badge,
    workspace: Link,
    created_by: String,
    created_at: DisplayTime,
    expires_at: Option<String>,
    participants: Vec<ParticipantRow>,
    documents: Vec<DocumentRow>,
    steps: Vec<StepRow>,
    order: String,
    /// The terms that are set, if it is a SAFE.
    terms: Option<Vec<(&'static str, String)>>,
    blockers: Vec<BlockerRow>,
    /// Whether publishing it also activates its workspace.
    activates: bool,
    proposals: Vec<PendingProposal>,
    is_proposed: bool,
    fingerprint: String,
    new_step: StageId,
    new_document: DocumentId,
    copy: AgreementId,
    fields: Fields,
    acts: Acts,
}

struct ParticipantRow {
    url: String,
    name: String,
    email: Option<String>,
    roles: Vec<&'static str>,
}

struct DocumentRow {
    url: String,
    name: String,
    size: Option<String>,
    sha256: Option<String>,
    signers: String,
}

struct StepRow {
    id: StageId,
    url: String,
    name: String,
    up: Option<usize>,
    down: Option<usize>,
    conditions: Vec<Link>,
    actions: Vec<&'static str>,
}

/// A blocker of publication, with the place where it is removed.
pub(crate) struct BlockerRow {
    pub url: String,
    pub text: String,
}

/// The blockers of a draft as a checklist. The activation of the workspace is none: publishing does it.
pub(crate) fn blocker_rows(agreement: &Agreement, contacts: &[Contact], blockers: &[Blocker]) -> Vec<BlockerRow> {
    let blockers = blockers.iter().filter(|blocker| !blocker.allows_proposal());
    blockers.map(|blocker| blocker_row(agreement, contacts, blocker)).collect()
}

fn blocker_row(agreement: &Agreement, contacts: &[Contact], blocker: &Blocker) -> BlockerRow {
    let id = agreement.id();
    let own = agreement_url(id);
    let step_name = |stage: StageId| agreement.stage(stage).map_or("", |stage| stage.name.as_str());
    let (url, text) = match blocker {
        Blocker::WorkspaceNotActivated => (workspace_url(agreement.workspace_id), "Activate the workspace".to_owned()),
        Blocker::NoParticipants => (format!("{own}/participants"), "Add a participant".to_owned()),
        Blocker::ParticipantEmailMissing { participant_id } => {
            let contact = agreement.participant(*participant_id).map(|participant| participant.contact_id);
            let url = contact.map_or_else(|| own.clone(), contact_url);
            (url, format!("Add an email address for {}", participant_name(agreement, contacts, *participant_id)))
        }
        Blocker::NoStages => (format!("{own}#add-step"), "Add a step".to_owned()),
        Blocker::StageEmpty { stage_id } => {
            (step_url(id, *stage_id), format!("Add a condition to “{}”", step_name(*stage_id)))
        }
        Blocker::GateIncomplete { stage_id, gate_id } => {
            (condition_url(id, *gate_id), format!("Complete a condition of “{}”", step_name(*stage_id)))
        }
        Blocker::GateParticipantMissing { stage_id, gate_id } => {
            (condition_url(id, *gate_id), format!("Choose who must act in “{}”", step_name(*stage_id)))
        }
        Blocker::DocumentMissing { document_id } => {
            let name = agreement.document(*document_id).map_or("", |document| document.name.as_str());
            (document_url(id, *document_id), format!("Upload the file of “{name}”"))
        }
        Blocker::SafeTermsIncomplete => (format!("{own}/terms"), "Complete the SAFE terms".to_owned()),
        Blocker::SafePartiesMissing => {
            (format!("{own}#participants"), "Give one participant the role Investor and one the role Issuer".to_owned())
        }
        Blocker::ExpiryInPast => (format!("{own}/details"), "Choose an expiry in the future".to_owned()),
        Blocker::PaymentIncomplete { .. } | Blocker::PaymentPartiesMissing { .. } | Blocker::FundingItemChanged => {
            (own, blocker.message().to_owned())
        }
    };
    BlockerRow { url, text }
}

/// The page of a draft that is loaded. What a refused form typed and what is wrong with it is in the fields.
pub(crate) fn of_review(
    request: &Request,
    review: &AgreementReview,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    PageResponse::render(&draft_page(request, review, fields, notice)?)
}

fn draft_page(
    request: &Request,
    review: &AgreementReview,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<DraftPage, Error> {
    let AgreementReview { in_full, workspace, pending, fingerprint, acts, has_more_acts } = review;
    let (agreement, contacts) = (&in_full.agreement, &in_full.contacts);
    let (id, path) = (agreement.id(), agreement_url(agreement.id()));
    let view = AgreementView::of(in_full, &request.app().base_url);
    let summary = AgreementSummary::new(agreement, &view, contacts);
    let zone = &request.signed_in()?.organization().time_zone;
    let blockers = blocker_rows(agreement, contacts, &in_full.blockers);
    Ok(DraftPage {
        layout: Layout::new(request),
        id,
        notice,
        name: agreement.name.as_str().to_owned(),
        kind: match agreement.kind {
            AgreementKind::General => "Agreement",
            AgreementKind::Safe => "SAFE",
        },
        badge: lifecycle_badge(agreement.lifecycle()),
        workspace: Link { url: workspace_url(workspace.id()), text: workspace.name.as_str().to_owned() },
        created_by: actor_label(&agreement.created_by),
        created_at: agreement.created_at.into(),
        expires_at: agreement.expires_at.map(|at| zone.for_people(at)),
        participants: participant_rows(agreement, summary.participants),
        documents: document_rows(agreement, contacts, summary.documents),
        steps: step_rows(agreement, contacts),
        order: seen(agreement, Part::StageOrder),
        terms: (agreement.kind == AgreementKind::Safe).then_some(summary.terms),
        activates: workspace.activated_at().is_none(),
        blockers,
        is_proposed: pending.iter().any(|proposal| proposal.action == ProposalAction::PublishAgreement),
        proposals: pending.iter().map(|proposal| PendingProposal::new(proposal, request.now())).collect(),
        fingerprint: fingerprint.to_string(),
        new_step: StageId::new(),
        new_document: DocumentId::new(),
        copy: AgreementId::new(),
        acts: Acts::new(agreement, acts, *has_more_acts),
        fields,
        path,
    })
}

fn participant_rows(agreement: &Agreement, rows: Vec<crate::agreement_summary::ParticipantRow>) -> Vec<ParticipantRow> {
    let row = |(participant, row): (&Participant, crate::agreement_summary::ParticipantRow)| ParticipantRow {
        url: participant_url(agreement.id(), participant.id),
        name: row.name,
        email: row.email,
        roles: row.roles,
    };
    agreement.participants.iter().zip(rows).map(row).collect()
}

fn document_rows(
    agreement: &Agreement,
    contacts: &[Contact],
    rows: Vec<crate::agreement_summary::DocumentRow>,
) -> Vec<DocumentRow> {
    let row = |(document, row): (&Document, crate::agreement_summary::DocumentRow)| {
        let who = document.blocks.iter().map(|block| participant_name(agreement, contacts, block.participant_id));
        DocumentRow {
            url: document_url(agreement.id(), document.id),
            name: row.name,
            size: row.size,
            sha256: row.sha256,
            signers: who.collect::<Vec<_>>().join(", "),
        }
    };
    agreement.documents.iter().zip(rows).map(row).collect()
}

fn step_rows(agreement: &Agreement, contacts: &[Contact]) -> Vec<StepRow> {
    let id = agreement.id();
    let last = agreement.stages.len().saturating_sub(1);
    let condition = |gate: &Gate| Link {
        url: condition_url(id, gate.id),
        text: sentences::requirement(&gate.rule, agreement, contacts),
    };
    let row = |(n, stage): (usize, &Stage)| StepRow {
        id: stage.id,
        url: step_url(id, stage.id),
        name: stage.name.as_str().to_owned(),
        up: n.checked_sub(1),
        down: (n < last).then_some(n + 1),
        conditions: stage.gates.iter().map(condition).collect(),
        actions: stage.actions.iter().map(|action| sentences::stage_action(*action)).collect(),
    };
    agreement.stages.iter().enumerate().map(row).collect()
}

impl DraftPage {
    /// Whether nothing keeps it from publication but the activation of its workspace.
    fn is_ready(&self) -> bool {
        self.blockers.is_empty()
    }

    fn can_add_steps(&self) -> bool {
        self.steps.len() < limits::AGREEMENT_STAGES_MAX
    }

    fn can_add_documents(&self) -> bool {
        self.documents.len() < limits::AGREEMENT_DOCUMENTS_MAX
    }
}

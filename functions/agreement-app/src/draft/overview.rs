//! The page of a draft: its parts with links to their pages, and what is left to do before publication.

use askama::Template;
use pages::acts::Acts;
use pages::agreement_summary::{AgreementSummary, participant_name};
use pages::blockers::{BlockerRow, blocker_rows};
use pages::deal::{Deal, NextAct};
use pages::fields::Fields;
use pages::labels::{DisplayTime, actor_label, lifecycle_badge};
use pages::layout::{Layout, Link, Notice, shows_notice};
use pages::payment_list::PaymentList;
use pages::response::PageResponse;
use pages::urls::{agreement_url, condition_url, document_url, step_url, workspace_url};
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::gate::Gate;
use shared::domain::agreement::{Agreement, AgreementKind, Document, Participant, Stage};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, StageId};
use shared::domain::movement::Movement;
use shared::domain::proposal::ProposalAction;
use shared::error::Error;
use shared::limits;
use shared::service::agreements::AgreementReview;
use shared::text;
use shared::web::Request;
use shared::wire::page::Shelf;

use crate::draft::details::kind_label;
use crate::draft::participants::participant_url;
use crate::draft::promise_rows::{PromiseRow, in_force_text, promise_rows};
use crate::draft::seen;
use crate::pending_proposal::PendingProposal;

const SECTIONS: [&str; 6] = ["participants", "terms", "documents", "payments", "promises", "steps"];

#[derive(Template)]
#[template(path = "draft.html")]
struct DraftPage {
    layout: Layout,
    id: AgreementId,
    notice: Option<Notice>,
    section_notice: Option<Notice>,
    path: String,
    name: String,
    deal: Deal,
    workspace: Link,
    created_by: String,
    created_at: DisplayTime,
    participants: Vec<ParticipantRow>,
    documents: Vec<DocumentRow>,
    payments: PaymentList,
    promises: Vec<PromiseRow>,
    in_force: String,
    promise_order: String,
    steps: Vec<StepRow>,
    order: String,
    terms: Option<Vec<(&'static str, String)>>,
    blockers: Vec<BlockerRow>,
    activates: bool,
    proposals: Vec<PendingProposal>,
    is_proposed: bool,
    is_archived: bool,
    shown: String,
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

pub(crate) fn of_review(
    request: &Request,
    review: &AgreementReview,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    PageResponse::render(&draft_page(request, review, fields, notice))
}

fn draft_page(request: &Request, review: &AgreementReview, fields: Fields, notice: Option<Notice>) -> DraftPage {
    let AgreementReview { in_full, payments, workspace, pending, shown, .. } = review;
    let (agreement, contacts) = (&in_full.agreement, &in_full.contacts);
    let (id, path) = (agreement.id(), agreement_url(agreement.id()));
    let view = AgreementView::of(in_full, &request.app().base_url);
    let summary = AgreementSummary::new(agreement, &view, text::Named { contacts, payments });
    let blockers = blocker_rows(agreement, contacts, payments, &in_full.blockers);
    let is_of_section = |notice: &Notice| !shows_notice(Some(notice), &SECTIONS, "");
    let (section_notice, notice) =
        if notice.as_ref().is_some_and(is_of_section) { (notice, None) } else { (None, notice) };
    let (over, title) = (kind_label(agreement.kind), agreement.name.as_str().to_owned());
    let deal = Deal::new(over, title, lifecycle_badge(agreement.lifecycle()), workspace, agreement, &summary)
        .with_payments(payments, agreement, request.now());
    let edit = Link { url: format!("{path}/details"), text: "Edit name, kind and expiry".to_owned() };
    let proposals: Vec<PendingProposal> =
        pending.iter().map(|proposal| PendingProposal::new(proposal, agreement, request.now())).collect();
    let (waits_for, url, act) = match (proposals.first(), blockers.len()) {
        (Some(proposal), _) => (text::draft_wait(true).to_owned(), proposal.url.clone(), "Review the proposal"),
        (None, 0) => (text::draft_wait(false).to_owned(), format!("{path}/publish"), "Review and publish"),
        (None, left) => {
            (format!("{} before it can be published", counted(left)), "#blockers".to_owned(), "See what is left")
        }
    };
    let next_act = Some(NextAct::Open(Link { url, text: act.to_owned() }));
    DraftPage {
        layout: Layout::new(request),
        id,
        notice,
        section_notice,
        name: agreement.name.as_str().to_owned(),
        deal: Deal { edit: Some(edit), waits_for: vec![waits_for], next_act, ..deal },
        workspace: Link { url: workspace_url(workspace.id()), text: workspace.name.as_str().to_owned() },
        created_by: actor_label(&agreement.created_by),
        created_at: agreement.created_at.into(),
        participants: participant_rows(agreement, summary.participants),
        documents: document_rows(agreement, contacts, summary.documents),
        payments: PaymentList::new(payments, agreement, contacts),
        promises: promise_rows(agreement, contacts),
        in_force: in_force_text(agreement),
        promise_order: seen(agreement, Part::PromiseOrder),
        steps: step_rows(agreement, contacts, payments),
        order: seen(agreement, Part::StageOrder),
        terms: (agreement.kind == AgreementKind::Safe).then_some(summary.terms),
        activates: workspace.activated_at().is_none(),
        blockers,
        is_proposed: pending.iter().any(|proposal| proposal.action == ProposalAction::PublishAgreement),
        is_archived: agreement.shelf() == Shelf::Archived,
        proposals,
        shown: shown.to_string(),
        acts: Acts::new(review),
        fields,
        path,
    }
}

fn counted(things: usize) -> String {
    if things == 1 { "1 thing".to_owned() } else { format!("{things} things") }
}

fn participant_rows(agreement: &Agreement, rows: Vec<pages::agreement_summary::ParticipantRow>) -> Vec<ParticipantRow> {
    let row = |(participant, row): (&Participant, pages::agreement_summary::ParticipantRow)| ParticipantRow {
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
    rows: Vec<pages::agreement_summary::DocumentRow>,
) -> Vec<DocumentRow> {
    let row = |(document, row): (&Document, pages::agreement_summary::DocumentRow)| {
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

fn step_rows(agreement: &Agreement, contacts: &[Contact], payments: &[Movement]) -> Vec<StepRow> {
    let id = agreement.id();
    let last = agreement.stages.len().saturating_sub(1);
    let condition = |gate: &Gate| Link {
        url: condition_url(id, gate.id),
        text: text::requirement(&gate.rule, agreement, text::Named { contacts, payments }),
    };
    let row = |(n, stage): (usize, &Stage)| StepRow {
        id: stage.id,
        url: step_url(id, stage.id),
        name: stage.name.as_str().to_owned(),
        up: n.checked_sub(1),
        down: (n < last).then_some(n + 1),
        conditions: stage.gates.iter().map(condition).collect(),
        actions: stage.actions.iter().map(|action| text::stage_action(*action)).collect(),
    };
    agreement.stages.iter().enumerate().map(row).collect()
}

impl DraftPage {
    fn acted_in(&self, section: &str) -> bool {
        self.section_notice.as_ref().is_some_and(|notice| notice.section == section)
    }

    fn is_ready(&self) -> bool {
        self.blockers.is_empty()
    }

    fn can_add_steps(&self) -> bool {
        self.steps.len() < limits::AGREEMENT_STAGES_MAX
    }

    fn can_add_promises(&self) -> bool {
        self.promises.len() < limits::AGREEMENT_PROMISES_MAX
    }

    fn can_add_documents(&self) -> bool {
        self.documents.len() < limits::AGREEMENT_DOCUMENTS_MAX
    }
}

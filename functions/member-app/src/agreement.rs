//! An agreement in full.

use askama::Template;
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::{Agreement, AgreementKind, Life, Lifecycle};
use shared::domain::ids::AgreementId;
use shared::domain::proposal::ProposalAction;
use shared::domain::sentences;
use shared::error::Error;
use shared::service::agreements::{self, AgreementReview};
use shared::web::Request;

use crate::Page;
use crate::agreement_summary::{AgreementSummary, Badge, lifecycle_badge, who_is};
use crate::home::verb;
use crate::layout::{Answer, Layout, Moment};

#[derive(Template)]
#[template(path = "agreement.html")]
struct AgreementPage {
    layout: Layout,
    name: String,
    kind: &'static str,
    badge: Badge,
    status: String,
    workspace: (String, String),
    dates: Vec<(&'static str, Moment)>,
    made_by: String,
    agreement_summary: AgreementSummary,
    blockers: Vec<&'static str>,
    is_ready: bool,
    proposals: Vec<PendingLine>,
}

struct PendingLine {
    url: String,
    verb: &'static str,
    by: String,
    left: String,
}

/// The page.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Request) -> &'static str {
        "view_agreement"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let id: AgreementId = request.path_id("id")?;
        let AgreementReview { loaded, pending } = agreements::review(request.signed_in()?.scope(), id).await?;
        let (agreement, workspace, contacts) = (&**loaded.agreement(), loaded.workspace(), loaded.contacts());
        let blockers = match agreement.lifecycle() {
            Lifecycle::Draft => loaded.blockers(request.now()),
            _ => Vec::new(),
        };
        let is_proposed = pending.iter().any(|proposal| proposal.action == ProposalAction::PublishAgreement);
        let view = AgreementView::in_full(agreement, contacts, &blockers, is_proposed, &request.app().base_url);
        let page = AgreementPage {
            layout: Layout::new(request),
            name: agreement.name.as_str().to_owned(),
            kind: match agreement.kind {
                AgreementKind::General => "Agreement",
                AgreementKind::Safe => "SAFE",
            },
            badge: lifecycle_badge(agreement.lifecycle()),
            status: view.status.clone(),
            workspace: (format!("/app/workspaces/{}", workspace.id()), workspace.name.as_str().to_owned()),
            dates: dates(agreement, &view),
            made_by: who_is(&agreement.created_by),
            is_ready: view.proposal_ready,
            agreement_summary: AgreementSummary::new(agreement, &view, contacts),
            blockers: blockers.iter().map(shared::domain::agreement::blockers::Blocker::message).collect(),
            proposals: pending
                .iter()
                .map(|proposal| PendingLine {
                    url: format!("/app/proposals/{}", proposal.id()),
                    verb: verb(proposal.action),
                    by: who_is(&proposal.created_by),
                    left: sentences::time_left(request.now(), proposal.expires_at),
                })
                .collect(),
        };
        Ok(Answer::page(&page)?.showing([id.uuid()]))
    }
}

/// When what happened to it.
fn dates(agreement: &Agreement, view: &AgreementView) -> Vec<(&'static str, Moment)> {
    let mut dates = vec![("Created", agreement.created_at.into())];
    let later = [
        ("Published", view.published_at),
        ("Completed", view.completed_at),
        ("Cancelled", view.cancelled_at),
        match agreement.life() {
            Life::Draft | Life::Active { .. } => ("Expires", view.expires_at),
            Life::Expired { expired_at, .. } => ("Expired", Some(expired_at)),
            // It ended before.
            Life::Completed { .. } | Life::Cancelled { .. } => ("Expires", None),
        },
    ];
    dates.extend(later.into_iter().filter_map(|(name, moment)| Some((name, moment?.into()))));
    dates
}

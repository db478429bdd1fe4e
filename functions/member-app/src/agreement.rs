//! An agreement in full.

use askama::Template;
use shared::domain::agreement::view::AgreementView;
use shared::domain::agreement::{Agreement, AgreementKind, Life, Lifecycle};
use shared::domain::ids::AgreementId;
use shared::domain::proposal::ProposalAction;
use shared::domain::sentences;
use shared::draft;
use shared::error::Error;
use shared::visit::Visit;

use crate::Page;
use crate::frame::{Answer, Frame, Moment};
use crate::home::verb;
use crate::outline::{Badge, Outline, lifecycle_badge, who_is};

#[derive(Template)]
#[template(path = "agreement.html")]
struct AgreementPage {
    frame: Frame,
    name: String,
    kind: &'static str,
    badge: Badge,
    status: String,
    workspace: (String, String),
    dates: Vec<(&'static str, Moment)>,
    made_by: String,
    outline: Outline,
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
    fn operation(_: &Visit) -> &'static str {
        "view_agreement"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let act = visit.signed_in()?.act();
        let id: AgreementId = visit.path_id("id")?;
        let agreement = act.store().agreement(id).await?.ok_or_else(Error::not_found)?.value;
        let workspace = draft::workspace_of(act, &agreement).await?.value;
        let contacts = draft::contacts_of(act, [&agreement]).await?;
        let pending = act.store().pending_proposals(id, visit.now()).await?;
        let blockers = match agreement.lifecycle() {
            Lifecycle::Draft => draft::blockers_of(act, &agreement, &workspace, &contacts),
            _ => Vec::new(),
        };
        let is_proposed = pending.iter().any(|proposal| proposal.action == ProposalAction::PublishAgreement);
        let view = AgreementView::in_full(&agreement, &contacts, &blockers, is_proposed, &visit.app().base_url);
        let page = AgreementPage {
            frame: Frame::new(visit),
            name: agreement.name.as_str().to_owned(),
            kind: match agreement.kind {
                AgreementKind::General => "Agreement",
                AgreementKind::Safe => "SAFE",
            },
            badge: lifecycle_badge(agreement.lifecycle()),
            status: view.status.clone(),
            workspace: (format!("/app/workspaces/{}", workspace.id), workspace.name.as_str().to_owned()),
            dates: dates(&agreement, &view),
            made_by: who_is(&agreement.created_by),
            is_ready: view.proposal_ready,
            outline: Outline::new(&agreement, &view, &contacts),
            blockers: blockers.iter().map(shared::domain::agreement::blockers::Blocker::message).collect(),
            proposals: pending
                .iter()
                .map(|proposal| PendingLine {
                    url: format!("/app/proposals/{}", proposal.id),
                    verb: verb(proposal.action),
                    by: who_is(&proposal.created_by),
                    left: sentences::time_left(visit.now(), proposal.expires_at),
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

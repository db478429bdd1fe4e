use askama::Template;
use pages::acts::Acts;
use pages::agreement_summary::{AgreementSummary, next_line};
use pages::deal::Deal;
use pages::done::notice_of_act;
use pages::fields::Fields;
use pages::labels::{DisplayTime, actor_label, agreement_badge};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{agreement_url, funding_url};
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::{Agreement, Life, Lifecycle};
use shared::domain::ids::AgreementId;
use shared::domain::proposal::ProposalAction;
use shared::error::Error;
use shared::service::agreements::{self, AgreementReview};
use shared::text::{self, WaitContext};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::Offset;

use crate::answers::telling_completion;
use crate::draft::details::kind_label;
use crate::draft::overview;
use crate::pending_proposal::PendingProposal;

#[derive(Template)]
#[template(path = "agreement.html")]
struct AgreementPage {
    layout: Layout,
    id: String,
    name: String,
    deal: Deal,
    funding: Option<Link>,
    dates: Vec<(&'static str, DisplayTime)>,
    created_by: String,
    agreement_summary: AgreementSummary,
    proposals: Vec<PendingProposal>,
    notice: Option<Notice>,
    path: String,
    evidence: Option<EvidenceLinks>,
    can_be_cancelled: bool,
    fields: Fields,
    acts: Acts,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    let id: AgreementId = request.path_id("id")?;
    Ok(page(request, id, Fields::default(), notice).await?.with_cookie(cookie))
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    payments: Offset,
}

pub(crate) async fn page(
    request: &Request,
    id: AgreementId,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    let payments_from = usize::try_from(query.payments.get()).unwrap_or(usize::MAX);
    let review = agreements::review_from(request.signed_in()?.scope(), id, payments_from).await?;
    let page = if review.in_full.agreement.lifecycle() == Lifecycle::Draft {
        overview::of_review(request, &review, fields, notice)?
    } else {
        PageResponse::render(&agreement_page(request, &review, fields, notice)?)?
    };
    Ok(page.showing([id.uuid()]))
}

/// None without items, or once the agreement's end freed them.
fn funding_link(agreement: &Agreement) -> Option<Link> {
    let text = match agreement.funding_item_ids.len() {
        0 => return None,
        1 => "1 funding item".to_owned(),
        many => format!("{many} funding items"),
    };
    let url = funding_url(agreement.workspace_id);
    (!agreement.has_ended_early()).then_some(Link { url, text })
}

fn agreement_page(
    request: &Request,
    review: &AgreementReview,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<AgreementPage, Error> {
    let AgreementReview { in_full, workspace, pending, .. } = review;
    let agreement = &in_full.agreement;
    let view = AgreementView::of(in_full, &request.app().base_url);
    let named = text::Named { contacts: &in_full.contacts, payments: &review.movements.read };
    let summary = AgreementSummary::new(agreement, &view, named).with_verifications(agreement, &review.verifications);
    let summary = summary.with_papers(agreement, &review.papers).with_obligations(review, request.now());
    let zone = &request.signed_in()?.organization().time_zone;
    let summary = summary.with_movements(review, zone, request.now());
    let summary = summary.with_accesses(review);
    let notice = notice.map(|notice| telling_what_follows(notice, agreement, &summary));
    let payments = &review.movements.read.iter().map(|payment| (payment.id(), payment.state())).collect();
    let own = &request.signed_in()?.organization().own_contact_ids;
    let context = WaitContext { contacts: named.contacts, own, payments, named: named.payments };
    let wait = text::current_wait(agreement, context);
    let (title, badge) = (agreement.name.as_str().to_owned(), agreement_badge(agreement, false));
    let proposals: Vec<PendingProposal> =
        pending.iter().map(|proposal| PendingProposal::new(proposal, agreement, request.now())).collect();
    let deal = Deal::new(kind_label(agreement.kind), title, badge, workspace, agreement, &summary)
        .with_money(&review.money.sums, review.movements.total)
        .with_payment_due(review.money.due_on, agreement, request.now())
        .with_next_act(agreement, &summary, wait.as_ref())
        .with_proposal(proposals.first().map(|proposal| &proposal.url))
        .with_pressing(agreement, named.payments, wait.as_ref());
    Ok(AgreementPage {
        layout: Layout::new(request),
        id: agreement.id().to_string(),
        name: agreement.name.as_str().to_owned(),
        deal,
        funding: funding_link(agreement),
        dates: dates(agreement, &view),
        created_by: actor_label(&agreement.created_by),
        agreement_summary: summary,
        notice,
        path: agreement_url(agreement.id()),
        evidence: EvidenceLinks::of(agreement),
        can_be_cancelled: agreement.lifecycle() == Lifecycle::Active
            && pending.iter().all(|proposal| proposal.action != ProposalAction::CancelAgreement),
        fields,
        acts: Acts::new(review),
        proposals,
    })
}

/// Adds to the notice of an act, which has no line yet, what the agreement waits for now, or that the act completed it.
fn telling_what_follows(mut notice: Notice, agreement: &Agreement, summary: &AgreementSummary) -> Notice {
    let is_last_change = |completed_at| completed_at == agreement.updated_at;
    if matches!(agreement.life(), Life::Completed { completed_at, .. } if is_last_change(completed_at)) {
        return telling_completion(notice, agreement);
    }
    if notice.lines.is_empty() {
        notice.lines.extend(Some(next_line(summary)).filter(|line| !line.is_empty()));
    }
    notice
}

struct EvidenceLinks {
    bundle: String,
    certificate: Option<String>,
    is_active: bool,
}

impl EvidenceLinks {
    fn of(agreement: &Agreement) -> Option<Self> {
        let base = format!("/app/evidence/agreements/{}", agreement.id());
        let is_completed = agreement.lifecycle() == Lifecycle::Completed;
        agreement.was_published().then(|| Self {
            bundle: format!("{base}/bundle"),
            certificate: is_completed.then(|| format!("{base}/certificate")),
            is_active: agreement.lifecycle() == Lifecycle::Active,
        })
    }
}

fn dates(agreement: &Agreement, view: &AgreementView) -> Vec<(&'static str, DisplayTime)> {
    let mut dates = vec![("Created", agreement.created_at.into())];
    let later = [
        ("Published", view.published_at),
        ("Completed", view.completed_at),
        ("Cancelled", view.cancelled_at),
        match agreement.life() {
            Life::Draft | Life::Active { .. } => ("Expires", view.expires_at),
            Life::Expired { expired_at, .. } => ("Expired", Some(expired_at)),
            // It ended before its expiry.
            Life::Completed { .. } | Life::Cancelled { .. } => ("Expires", None),
        },
    ];
    dates.extend(later.into_iter().filter_map(|(name, time)| Some((name, time?.into()))));
    dates
}

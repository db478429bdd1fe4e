//! Acts on a draft or agreement as a whole: publish or discard in one act, propose either, copy.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use http::StatusCode;
use pages::agreement_summary::AgreementSummary;
use pages::blockers;
use pages::deal::Deal;
use pages::done::redirect_with_notice;
use pages::fields::Fields;
use pages::form;
use pages::labels::{lifecycle_badge, too_late};
use pages::layout::{Layout, Link, Notice};
use pages::payment_list::PaymentList;
use pages::response::PageResponse;
use pages::urls::{agreement_url, proposal_url};
use pages::warnings::{WarningGroup, not_meant, ticked, warning_groups};
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::Lifecycle;
use shared::domain::agreement::warnings::WarningKind;
use shared::domain::ids::AgreementId;
use shared::domain::member::{Changed, Refusal};
use shared::domain::note::Note;
use shared::domain::proposal::{NewProposal, ProposalAction};
use shared::error::Error;
use shared::platform::endings::end_at_once;
use shared::service::agreements::{self, AgreementInFull};
use shared::service::drafts;
use shared::service::proposals::{self, ActRefused, ActReview, Shown};
use shared::text;
use shared::web::Request;

form! {
    /// A proposal’s note.
    pub(crate) PROPOSAL: ProposalForm {
        note: Field::lines("note", "Note", 2000, 3).hint("Optional. The member who decides reads it."),
    }
}

pub(crate) async fn duplicate(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let copy: AgreementId = submitted.new_id();
    let title = "A copy was made";
    // Names are read before the act: the redirect carries the notice.
    let has_payments = !drafts::agreement(submitted.scope(), id).await?.movements().is_empty();
    let payments = if has_payments { " Payments are not copied: add its own." } else { "" };
    let line = format!("This is the copy, a draft of its own. Give it a name.{payments}");
    let redirect = redirect_with_notice(&submitted, agreement_url(copy), title, &line).await;
    submitted.run(|| drafts::duplicate(&submitted, id, copy)).await?;
    Ok(redirect.into())
}

#[derive(Template)]
#[template(path = "publish.html")]
struct PublishPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    deal: Deal,
    path: String,
    effects: Vec<String>,
    blockers: Vec<blockers::BlockerRow>,
    warnings: Vec<WarningGroup>,
    pending: Option<String>,
    agreement_summary: AgreementSummary,
    payments: PaymentList,
    shown: String,
}

pub(crate) async fn review(request: &mut Request) -> Result<PageResponse, Error> {
    publish_page(request, None, None).await
}

async fn publish_page(
    request: &Request,
    ticked: Option<&BTreeSet<WarningKind>>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let scope = request.signed_in()?.scope();
    let review = proposals::review_act(scope, id, ProposalAction::PublishAgreement).await?;
    let ActReview { agreement, contacts, payments, workspace, pending, is_possible, .. } = review;
    let ActReview { effects, blockers, warnings, shown, .. } = review;
    if !is_possible {
        return Ok(PageResponse::see_other(agreement_url(id)));
    }
    let rows = blockers::blocker_rows(&agreement, &contacts, &payments, &blockers);
    let warnings = warning_groups(&agreement, &payments, &warnings, ticked);
    let (is_proposed, payments_wait_for) = (pending.is_some(), BTreeMap::new());
    let in_full = AgreementInFull { agreement, contacts, blockers, is_proposed, payments_wait_for };
    let view = AgreementView::of(&in_full, &request.app().base_url);
    let named = text::Named { contacts: &in_full.contacts, payments: &payments };
    let summary = AgreementSummary::new(&in_full.agreement, &view, named);
    let title = format!("Publish “{}”?", in_full.agreement.name.as_str());
    let badge = lifecycle_badge(in_full.agreement.lifecycle());
    let page = PublishPage {
        payments: PaymentList::new(&payments, &in_full.agreement, &in_full.contacts),
        deal: Deal::new("Review before publication", title, badge, &workspace, &in_full.agreement, &summary)
            .with_payments(&payments, &in_full.agreement, request.now()),
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&in_full.agreement),
        path: format!("{}/publish", agreement_url(id)),
        effects,
        blockers: rows,
        warnings,
        pending: pending.map(|proposal| proposal_url(proposal.id())),
        agreement_summary: summary,
        shown: shown.to_string(),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(crate) async fn publish(request: &mut Request) -> Result<PageResponse, Error> {
    act(request, ProposalAction::PublishAgreement).await
}

pub(crate) async fn discard(request: &mut Request) -> Result<PageResponse, Error> {
    act(request, ProposalAction::CancelAgreement).await
}

async fn act(request: &Request, action: ProposalAction) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let meant = ticked(submitted.form());
    let again = async |notice: Notice| match action {
        ProposalAction::PublishAgreement => publish_page(request, Some(&meant), Some(notice)).await,
        ProposalAction::CancelAgreement => crate::agreement::page(request, id, Fields::default(), Some(notice)).await,
    };
    let shown = Shown::from_form(submitted.form().get("version"));
    if !shown.is_readable() {
        return Ok(again(Notice::bad("Nothing was done", "Read the page, then choose again.")).await?.unprocessable());
    }
    let (title, line) = match action {
        ProposalAction::PublishAgreement => ("Published", ""),
        ProposalAction::CancelAgreement => ("The draft was discarded", "Nothing was sent to anyone."),
    };
    let redirect = redirect_with_notice(&submitted, agreement_url(id), title, line).await;
    let new = NewProposal { action, agreement_id: id, note: None };
    let (scope, member) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| proposals::propose_and_confirm(scope, member, new.clone(), &shown, &meant)).await? {
        Ok(()) => {
            if action == ProposalAction::CancelAgreement {
                end_at_once(submitted.app(), scope.org(), id).await;
            }
            Ok(redirect.into())
        }
        Err(ActRefused::Proposed(proposal)) => {
            let title = "A proposal needs your decision first";
            let line = "This was proposed already. Confirm or decline it here.";
            Ok(redirect_with_notice(&submitted, proposal_url(proposal), title, line).await.into())
        }
        // Sent twice, or another member was faster: the page shows the result.
        Err(ActRefused::Decision(Refusal::TooLate(lifecycle))) if is_done(action, lifecycle) => Ok(redirect.into()),
        Err(ActRefused::Decision(refusal)) => {
            let (status, code, notice) = refused(action, &refusal);
            Ok(again(notice).await?.refused(status, code))
        }
    }
}

fn is_done(action: ProposalAction, lifecycle: Lifecycle) -> bool {
    match action {
        ProposalAction::PublishAgreement => matches!(lifecycle, Lifecycle::Active | Lifecycle::Completed),
        ProposalAction::CancelAgreement => lifecycle == Lifecycle::Cancelled,
    }
}

fn refused(action: ProposalAction, refusal: &Refusal) -> (StatusCode, &'static str, Notice) {
    let verb = match action {
        ProposalAction::PublishAgreement => "published",
        ProposalAction::CancelAgreement => "discarded",
    };
    match refusal {
        Refusal::Changed(Changed::Agreement) => {
            let line = "Nothing was done. The page shows the draft as it is now: read it again, then decide.";
            (StatusCode::CONFLICT, "conflict", Notice::warn("The draft changed after you opened this page", line))
        }
        Refusal::Changed(Changed::References) => {
            let line = "A contact or the workspace changed, so nothing was done. The page shows everything as it is now: read it again, then decide.";
            (StatusCode::CONFLICT, "conflict", Notice::warn("What the draft refers to has changed", line))
        }
        Refusal::TooLate(lifecycle) => {
            let title = format!("It can’t be {verb} anymore");
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice::bad(title, too_late(*lifecycle)))
        }
        Refusal::NotPending(_) => {
            let line = "Nothing was done. Read the page again, then decide.";
            (StatusCode::CONFLICT, "conflict", Notice::warn("Another decision came first", line))
        }
        Refusal::NotMeant(_) => not_meant(),
        Refusal::Blocked(errors) => {
            let lines = errors.clone().into_list().into_iter().map(|error| crate::draft::readable(&error.message));
            let notice = Notice::new("bad", format!("It can’t be {verb} yet"), lines);
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", notice)
        }
    }
}

pub(crate) async fn propose(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let form = submitted.form();
    let action = ProposalAction::parse(form.get("action")).ok_or_else(Error::not_found)?;
    let again = async |fields: Fields, lines: Vec<String>| {
        let notice = Notice::new("bad", "Nothing was proposed".to_owned(), lines);
        Ok(crate::agreement::page(request, id, fields, Some(notice)).await?.unprocessable())
    };
    let note = match form.get(PROPOSAL.note).trim() {
        "" => None,
        text => match Note::parse(text) {
            Ok(note) => Some(note),
            Err((code, message)) => {
                let line = format!("The note {message}.");
                let errors = shared::wire::fields::FieldErrors::one(PROPOSAL.note, code, message);
                return again(Fields::submitted(form, errors), vec![line]).await;
            }
        },
    };
    let new = NewProposal { action, agreement_id: id, note };
    let made = submitted.run(|| proposals::create(&submitted, new.clone())).await;
    match made {
        Ok(proposal) => {
            let title = "Proposed";
            let line = "Any member of your organization can confirm or decline it here.";
            Ok(redirect_with_notice(&submitted, proposal_url(proposal.id()), title, line).await.into())
        }
        Err(Error::Invalid(errors)) => {
            let pending = agreements::pending(submitted.scope(), id, action).await?;
            if let Some(pending) = pending {
                // Sent twice, or another member was faster: this is the one proposal.
                return Ok(PageResponse::see_other(proposal_url(pending.id())));
            }
            let lines = errors.into_list().into_iter().map(|error| crate::draft::readable(&error.message)).collect();
            again(Fields::of(form.typed()), lines).await
        }
        Err(error) => Err(error),
    }
}

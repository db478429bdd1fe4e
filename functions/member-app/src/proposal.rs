//! The page of a proposal, on which a member reviews what it would do, and decides.

use askama::Template;
use http::StatusCode;
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::Lifecycle;
use shared::domain::ids::ProposalId;
use shared::domain::member::{Changed, Refusal};
use shared::domain::proposal::{Decision, MemberDecision, Note, Proposal, ProposalState};
use shared::domain::sentences;
use shared::error::Error;
use shared::service::proposals::{self, Choice, ProposalReview, ReviewFingerprint};
use shared::web::{Form, Request};

use crate::Handler;
use crate::agreement_summary::AgreementSummary;
use crate::done::notice_of_act;
use crate::labels::{Badge, DisplayTime, action_verb, actor_label, lifecycle_badge, proposal_badge};
use crate::layout::{Layout, Link, Notice};
use crate::response::PageResponse;

#[derive(Template)]
#[template(path = "proposal.html")]
struct ProposalPage {
    layout: Layout,
    path: String,
    verb: &'static str,
    name: String,
    badge: Badge,
    summary: String,
    created_by: String,
    created_at: DisplayTime,
    expires_at: DisplayTime,
    time_left: String,
    note: Option<String>,
    agreement: Link,
    agreement_badge: Badge,
    workspace: Link,
    effects: Vec<String>,
    changes: Vec<String>,
    blockers: Vec<String>,
    agreement_summary: AgreementSummary,
    /// Whether the proposal can be decided.
    is_pending: bool,
    /// Whether it can never be confirmed any more.
    is_too_late: bool,
    /// Whether the page shows the agreement as it was proposed instead of its current state.
    shows_snapshot: bool,
    decision: Option<DecisionView>,
    /// The fingerprint of what the page shows, which the form submits with the decision.
    fingerprint: String,
    submitted_note: String,
    note_error: Option<String>,
    notice: Option<Notice>,
}

struct DecisionView {
    by: String,
    at: DisplayTime,
    note: Option<String>,
}

/// Shows the page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_proposal"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (notice, cookie) = notice_of_act(request).await;
        let review = proposals::review(request.signed_in()?.scope(), request.path_id("id")?).await?;
        let content = Submitted { notice, ..Submitted::default() };
        Ok(proposal_page(request, &review, content)?.with_cookie(cookie))
    }
}

/// Decides the proposal.
pub(crate) struct Decide;

impl Handler for Decide {
    fn operation(request: &Request) -> &'static str {
        match parse_choice(request.unverified_form().get("decision")) {
            Some(Choice::Confirm) => "confirm_proposal",
            Some(Choice::Decline) => "decline_proposal",
            None => "decide_proposal",
        }
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?;
        let (scope, member, form) = (submitted.scope(), submitted.submitter(), submitted.form());
        let id: ProposalId = request.path_id("id")?;
        let note = parse_note(form.get("note"));
        let choice = parse_choice(form.get("decision"));
        let shown = ReviewFingerprint::parse(form.get("version"));
        let (Ok(note), Some(choice), Some(shown)) = (&note, choice, &shown) else {
            let review = proposals::review(scope, id).await?;
            let notice = Notice::bad("Nothing was decided", "Check what is marked below, then choose again.");
            let content = Submitted::new(form, note.err(), notice);
            return Ok(proposal_page(request, &review, content)?.unprocessable());
        };
        match submitted.run(|| proposals::decide(scope, member, id, choice, note.clone(), shown)).await? {
            Ok(()) => Ok(PageResponse::see_other(proposal_url(id))),
            Err(refusal) => {
                let review = proposals::review(scope, id).await?;
                let (status, code, notice) = refusal_notice(choice, &refusal);
                let content = Submitted::new(form, None, notice);
                Ok(proposal_page(request, &review, content)?.refused(status, code))
            }
        }
    }
}

/// The submitted note. `None`, if it is blank.
///
/// # Errors
/// The message for the field.
fn parse_note(text: &str) -> Result<Option<Note>, String> {
    match text.trim() {
        "" => Ok(None),
        text => Note::parse(text).map(Some).map_err(|(_, message)| message),
    }
}

/// The choice of the pressed button.
fn parse_choice(text: &str) -> Option<Choice> {
    match text {
        "confirm" => Some(Choice::Confirm),
        "decline" => Some(Choice::Decline),
        _ => None,
    }
}

/// The status, code and notice for a refused decision.
fn refusal_notice(choice: Choice, refusal: &Refusal) -> (StatusCode, &'static str, Notice) {
    let participle = match choice {
        Choice::Confirm => "confirmed",
        Choice::Decline => "declined",
    };
    match refusal {
        Refusal::NotPending(state) => {
            let (title, line) = match state {
                ProposalState::Expired => (
                    "The time to decide is over".to_owned(),
                    "The proposal expired, and nothing has happened. Whoever proposed it can propose it again.",
                ),
                _ => (
                    format!("It was already {}", state.as_str()),
                    "The decision was taken before yours arrived; yours changed nothing. What was decided is below.",
                ),
            };
            (StatusCode::CONFLICT, "conflict", Notice::warn(title, line))
        }
        Refusal::Changed(changed) => {
            let (title, line) = match changed {
                Changed::Agreement => (
                    "The agreement has changed",
                    "It was changed after this page was opened, so it was not decided. The page shows it as it is now: read what has changed, then decide.",
                ),
                Changed::References => (
                    "Something that the agreement refers to has changed",
                    "A name, an email address or the workspace was changed after this page was opened, so nothing was decided. The page shows everything as it is now: read it again, then decide.",
                ),
            };
            (StatusCode::CONFLICT, "conflict", Notice::warn(title, line))
        }
        Refusal::TooLate(lifecycle) => {
            let title = format!("It can’t be {participle} anymore");
            let lines = [too_late(*lifecycle), "Nothing was decided. Decline the proposal, or let it expire."];
            let lines = lines.map(str::to_owned).into();
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice { class: "bad", title, lines })
        }
        Refusal::Blocked(errors) => {
            let title = format!("It can’t be {participle} yet");
            let mut lines: Vec<String> =
                errors.clone().into_list().into_iter().map(|error| sentence(&error.message)).collect();
            lines
                .push("The proposal keeps waiting. You can decline it, or confirm it when this is settled.".to_owned());
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice { class: "bad", title, lines })
        }
    }
}

/// Why an agreement is no longer in the state that the proposal needs.
pub(crate) fn too_late(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Draft | Lifecycle::Active => "The agreement has been published already.",
        Lifecycle::Completed => "The agreement is completed.",
        Lifecycle::Cancelled => "The agreement has been cancelled.",
        Lifecycle::Expired => "The agreement has expired.",
    }
}

/// A field error's message with a capital letter.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The submitted note with its error, and the notice for the refused form.
#[derive(Default)]
struct Submitted {
    note: String,
    note_error: Option<String>,
    notice: Option<Notice>,
}

impl Submitted {
    fn new(form: &Form, note_error: Option<String>, notice: Notice) -> Self {
        Self { note: form.get("note").to_owned(), note_error, notice: Some(notice) }
    }
}

pub(crate) fn proposal_url(id: ProposalId) -> String {
    format!("/app/proposals/{id}")
}

/// The blockers of the confirmation, as sentences.
fn blockers(review: &ProposalReview) -> Vec<String> {
    if review.is_too_late {
        return vec![too_late(review.current.lifecycle()).to_owned()];
    }
    review.blockers.iter().map(|blocker| blocker.message().to_owned()).collect()
}

fn decision_view(proposal: &Proposal) -> Option<DecisionView> {
    match proposal.decision() {
        Decision::Confirmed(MemberDecision { at, by, note }) | Decision::Declined(MemberDecision { at, by, note }) => {
            let note = note.as_ref().map(|note| note.as_str().to_owned());
            Some(DecisionView { by: actor_label(by), at: (*at).into(), note })
        }
        Decision::Pending | Decision::Expired { .. } => None,
    }
}

fn proposal_page(request: &Request, review: &ProposalReview, submitted: Submitted) -> Result<PageResponse, Error> {
    let (proposal, agreement) = (&review.proposal, review.agreement());
    let view = AgreementView::in_full(agreement, &review.contacts, &[], true, &request.app().base_url);
    let page = ProposalPage {
        layout: Layout::new(request),
        path: proposal_url(proposal.id()),
        verb: action_verb(proposal.action),
        name: agreement.name.as_str().to_owned(),
        badge: proposal_badge(review.state()),
        summary: sentences::proposal_summary(proposal),
        created_by: actor_label(&proposal.created_by),
        created_at: proposal.created_at.into(),
        expires_at: proposal.expires_at.into(),
        time_left: sentences::time_left(review.at, proposal.expires_at),
        note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
        agreement: Link {
            url: format!("/app/agreements/{}", review.current.id()),
            text: review.current.name.as_str().to_owned(),
        },
        agreement_badge: lifecycle_badge(review.current.lifecycle()),
        workspace: Link {
            url: format!("/app/workspaces/{}", review.workspace.id()),
            text: review.workspace.name.as_str().to_owned(),
        },
        blockers: blockers(review),
        agreement_summary: AgreementSummary::new(agreement, &view, &review.contacts),
        is_pending: review.is_pending,
        is_too_late: review.is_too_late,
        shows_snapshot: review.as_proposed.is_some(),
        decision: decision_view(proposal),
        fingerprint: review.fingerprint.to_string(),
        submitted_note: submitted.note,
        note_error: submitted.note_error,
        notice: submitted.notice,
        effects: review.effects.clone(),
        changes: review.changes.clone(),
    };
    Ok(PageResponse::render(&page)?.showing([proposal.id().uuid(), review.current.id().uuid()]))
}

//! The page of a proposal, on which a member reviews its effects and decides.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use pages::agreement_summary::{AgreementSummary, next_line};
use pages::blockers::{BlockerRow, blocker_rows};
use pages::deal::{Deadline, Deal};
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::Fields;
use pages::form;
use pages::labels::{Badge, DisplayTime, action_verb, actor_label, lifecycle_badge, proposal_badge, too_late};
use pages::layout::{Layout, Link, Notice};
use pages::payment_list::{PaymentList, name};
use pages::response::{PageResponse, to_sign_in};
use pages::routes::Operation;
use pages::urls::{agreement_url, encode_query_value, movement_url, proposal_url};
use pages::warnings::{WarningGroup, not_meant, ticked, warning_groups};
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::Document;
use shared::domain::agreement::warnings::WarningKind;
use shared::domain::ids::{MemberId, ProposalId};
use shared::domain::member::{Changed, Refusal};
use shared::domain::note::Note;
use shared::domain::proposal::{Decision, MemberDecision, Proposal, ProposalAction, ProposalState};
use shared::error::Error;
use shared::platform::endings::end_at_once;
use shared::service::proposals::{self, Choice, ProposalReview, Shown};
use shared::text;
use shared::web::{Flash, Form, Request, SubmittedForm};

use crate::sign_in::SESSION_ENDED;

const IN_FLIGHT_SHOWN: usize = 5;

form! {
    /// A member's decision.
    pub(crate) DECISION: DecisionForm {
        note: Field::lines("note", "Decision note", 2000, 3)
            .called("The note")
            .hint("Optional. The proposer can read it."),
    }
}

#[derive(Template)]
#[template(path = "proposal.html")]
struct ProposalPage {
    layout: Layout,
    path: String,
    deal: Deal,
    badge: Badge,
    action: ProposalAction,
    summary: String,
    created_by: String,
    created_at: DisplayTime,
    expires_at: DisplayTime,
    member: String,
    note: Option<String>,
    agreement: Link,
    agreement_badge: Badge,
    effects: Vec<String>,
    changes: Vec<String>,
    blockers: Vec<BlockerRow>,
    warnings: Vec<WarningGroup>,
    agreement_summary: AgreementSummary,
    payments: PaymentList,
    is_pending: bool,
    is_too_late: bool,
    in_flight: usize,
    shows_snapshot: bool,
    decision: Option<DecisionView>,
    shown: String,
    fields: Fields,
    notice: Option<Notice>,
}

impl ProposalPage {
    fn cancels(&self) -> bool {
        self.action == ProposalAction::CancelAgreement
    }
}

struct DecisionView {
    by: String,
    at: DisplayTime,
    note: Option<String>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let id: ProposalId = request.path_id("id")?;
    let signed_in = request.signed_in()?;
    let (notice, cookie) = notice_of_act(request).await;
    // The page also works when the keys for the note can't be read.
    let kept = Flash::DecisionNote(id, signed_in.member().id()).take(request).await.ok().flatten();
    let review = proposals::review(signed_in.scope(), id).await?;
    let (content, note_cookie) = match kept {
        Some((note, cookie)) => (Submitted::after_sign_in(&note, review.is_pending), cookie),
        None => (Submitted { notice, ..Submitted::default() }, None),
    };
    Ok(proposal_page(request, &review, content)?.with_cookie(cookie).with_cookie(note_cookie))
}

#[derive(Template)]
#[template(path = "session_ended.html")]
struct SessionEndedPage {
    layout: Layout,
    title: &'static str,
    note: String,
    sign_in_url: String,
}

/// After the session's end: the sign-in page, with the note in a sealed cookie, or shown to be copied if too large.
async fn session_ended(request: &Request) -> Result<PageResponse, Error> {
    let ended = || Error::Unauthenticated;
    let id: ProposalId = request.path_id("id").map_err(|_| ended())?;
    let form = request.form_of_ended_session().ok_or_else(ended)?;
    let member: MemberId = form.get("member").parse().map_err(|_| ended())?;
    let note = form.get(DECISION.note);
    let back = encode_query_value(&proposal_url(id));
    if let Ok(Some(cookie)) = Flash::DecisionNote(id, member).keep(request, note).await {
        let sign_in = to_sign_in(request, format!("/app/sign-in?next={back}&ended=decision"));
        return Ok(sign_in.with_cookie(Some(cookie)));
    }
    let page = SessionEndedPage {
        layout: Layout::signed_out(request),
        title: SESSION_ENDED,
        note: note.to_owned(),
        sign_in_url: format!("/app/sign-in?next={back}"),
    };
    Ok(PageResponse::render(&page)?.refused(StatusCode::UNAUTHORIZED, "unauthenticated"))
}

/// From a page of an earlier session, after signing in again in another window: the page with the typed note.
async fn signed_in_again(request: &Request) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let id: ProposalId = request.path_id("id")?;
    let form = request.form_of_ended_session().ok_or(Error::ForgedForm)?;
    if form.get("member") != signed_in.member().id().to_string() {
        return Err(Error::ForgedForm);
    }
    let review = proposals::review(signed_in.scope(), id).await?;
    let content = Submitted::after_sign_in(form.get(DECISION.note), review.is_pending);
    Ok(proposal_page(request, &review, content)?.refused(StatusCode::FORBIDDEN, "forbidden"))
}

pub(crate) const DECIDE_OPERATIONS: Operation = Operation::ByField {
    field: "decision",
    names: &[("confirm", "confirm_proposal"), ("decline", "decline_proposal")],
    otherwise: "decide_proposal",
};

pub(crate) async fn decide(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = match request.submitted_form() {
        Err(Error::Unauthenticated) => return session_ended(request).await,
        Err(Error::ForgedForm) => return signed_in_again(request).await,
        submitted => submitted?,
    };
    let (scope, member, form) = (submitted.scope(), submitted.submitter(), submitted.form());
    let id: ProposalId = request.path_id("id")?;
    let note = parse_note(form.get(DECISION.note));
    let choice = parse_choice(form.get("decision"));
    let (shown, ticked) = (&Shown::from_form(form.get("version")), &ticked(form));
    let (Ok(note), Some(choice), true) = (&note, choice, shown.is_readable()) else {
        let review = proposals::review(scope, id).await?;
        let notice = Notice::bad("Nothing was decided", "Check what is marked below, then choose again.");
        let content = Submitted::new(form, note.err(), notice);
        return Ok(proposal_page(request, &review, content)?.unprocessable());
    };
    // The page after the redirect knows the effect and the next step.
    let redirect = redirect_with_notice(&submitted, proposal_url(id), "Decided", "").await;
    let deciding = submitted.run(|| proposals::decide(scope, member, id, choice, note.clone(), shown, ticked));
    match Box::pin(deciding).await {
        Ok(Ok(())) => {
            if choice == Choice::Confirm {
                end_what_is_cancelled(&submitted, id).await;
            }
            Ok(redirect.into())
        }
        Err(Error::Unauthenticated) => session_ended(request).await,
        Err(error) => Err(error),
        Ok(Err(refusal)) => {
            let review = proposals::review(scope, id).await?;
            let (status, code, notice) = refusal_notice(choice, &refusal);
            let content = Submitted::new(form, None, notice);
            Ok(proposal_page(request, &review, content)?.refused(status, code))
        }
    }
}

/// Ends what ends with a cancelled agreement. A failure leaves it to the clock.
async fn end_what_is_cancelled(submitted: &SubmittedForm<'_>, id: ProposalId) {
    let scope = submitted.scope();
    if let Ok(proposal) = proposals::get(scope, id).await
        && proposal.action == ProposalAction::CancelAgreement
    {
        end_at_once(submitted.app(), scope.org(), proposal.agreement_id).await;
    }
}

/// `None` if blank. The error is the field's message.
fn parse_note(text: &str) -> Result<Option<Note>, String> {
    match text.trim() {
        "" => Ok(None),
        text => Note::parse(text).map(Some).map_err(|(_, message)| message),
    }
}

fn parse_choice(text: &str) -> Option<Choice> {
    match text {
        "confirm" => Some(Choice::Confirm),
        "decline" => Some(Choice::Decline),
        _ => None,
    }
}

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
                    "The proposal expired, and nothing has happened. It can be proposed again.",
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
                    "Nothing was decided. It was changed after you opened this page, which shows it as it is now: read what has changed, then decide.",
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
            let lines = lines.map(str::to_owned);
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice::new("bad", title, lines))
        }
        Refusal::NotMeant(_) => not_meant(),
        Refusal::Blocked(errors) => {
            let title = format!("It can’t be {participle} yet");
            let mut lines: Vec<String> =
                errors.clone().into_list().into_iter().map(|error| sentence(&error.message)).collect();
            lines
                .push("The proposal keeps waiting. You can decline it, or confirm it when this is settled.".to_owned());
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice::new("bad", title, lines))
        }
    }
}

fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[derive(Default)]
struct Submitted {
    fields: Fields,
    notice: Option<Notice>,
    ticked: Option<BTreeSet<WarningKind>>,
}

impl Submitted {
    fn new(form: &Form, note_error: Option<String>, notice: Notice) -> Self {
        let is_confirming = parse_choice(form.get("decision")) == Some(Choice::Confirm);
        let ticked = is_confirming.then(|| ticked(form));
        let errors = note_error.map_or_else(Fields::default, |error| Fields::wrong_one(DECISION.note, &error));
        Self { fields: errors.over(note_of(form.get(DECISION.note))), notice: Some(notice), ticked }
    }

    fn after_sign_in(note: &str, is_pending: bool) -> Self {
        let line = match (note.trim(), is_pending) {
            ("", _) => "Read the page again, then decide.".to_owned(),
            (_, true) => "Your note is kept below. Read the page again, then decide.".to_owned(),
            (note, false) => format!("Your note was: “{note}”"),
        };
        Self { fields: note_of(note), notice: Some(Notice::warn(SESSION_ENDED, line)), ticked: None }
    }
}

fn note_of(text: &str) -> Fields {
    Fields::of([(DECISION.note, text)])
}

fn blockers(review: &ProposalReview) -> Vec<BlockerRow> {
    if review.is_too_late {
        let text = too_late(review.current.lifecycle()).to_owned();
        return vec![BlockerRow { url: agreement_url(review.current.id()), text }];
    }
    let in_flight = review.in_flight().take(IN_FLIGHT_SHOWN).map(|payment| BlockerRow {
        url: movement_url(payment.id()),
        text: format!("Wait until “{}” has arrived or come back", name(payment)),
    });
    let more = review.in_flight().nth(IN_FLIGHT_SHOWN).map(|_| BlockerRow {
        url: format!("{}#payments", agreement_url(review.current.id())),
        text: "Wait for the other payments that are on their way".to_owned(),
    });
    let in_flight = in_flight.chain(more);
    let blockers = blocker_rows(&review.current, &review.contacts, &review.payments, &review.blockers);
    in_flight.chain(blockers).collect()
}

fn outcome(review: &ProposalReview, summary: &AgreementSummary) -> Notice {
    match (review.state(), review.proposal.action) {
        (ProposalState::Confirmed, ProposalAction::PublishAgreement) => Notice::good("Published", next_line(summary)),
        (ProposalState::Confirmed, ProposalAction::CancelAgreement) => {
            Notice::good("Cancelled", "The agreement is cancelled permanently. No one is asked for anything anymore.")
        }
        (_, ProposalAction::PublishAgreement) => Notice::good("Declined", "Nothing was published."),
        (_, ProposalAction::CancelAgreement) => Notice::good("Declined", "Nothing was cancelled."),
    }
}

/// The agreement's parts on the page. For an agreement as proposed, only unchanged documents can be opened.
fn summary_of(request: &Request, review: &ProposalReview) -> AgreementSummary {
    let agreement = review.agreement();
    let view = AgreementView::in_full(agreement, &review.contacts, &[], true, &request.app().base_url);
    let named = text::Named { contacts: &review.contacts, payments: &review.payments };
    let mut summary = AgreementSummary::new(agreement, &view, named);
    let current = |document: &Document| {
        review.current.document(document.id).is_some_and(|current| current.content == document.content)
    };
    for (row, document) in summary.documents.iter_mut().zip(&agreement.documents) {
        row.url = row.url.take().filter(|_| current(document));
    }
    summary
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

fn deal(review: &ProposalReview, summary: &AgreementSummary) -> Deal {
    let (proposal, agreement) = (&review.proposal, review.agreement());
    let question = if review.is_pending { "?" } else { "" };
    let title = format!("{} “{}”{question}", action_verb(proposal.action), agreement.name.as_str());
    let over = match proposal.action {
        ProposalAction::PublishAgreement => "Proposal to publish",
        ProposalAction::CancelAgreement => "Proposal to cancel",
    };
    let badge = proposal_badge(review.state());
    let deal = Deal::new(over, title, badge, &review.workspace, agreement, summary);
    let mut deal = deal.with_payments(&review.payments, agreement, review.at);
    if !review.payments.is_empty() {
        // Not all of many payments were read.
        deal.more_payments += review.current.movements().len().saturating_sub(review.payments.len());
    }
    if review.is_pending {
        let left = text::time_left(review.at, proposal.expires_at);
        let decide = Deadline { name: "Decide by", at: proposal.expires_at.into(), left: Some(left) };
        deal.deadlines.insert(0, decide);
    }
    deal
}

fn proposal_page(request: &Request, review: &ProposalReview, submitted: Submitted) -> Result<PageResponse, Error> {
    let proposal = &review.proposal;
    let summary = summary_of(request, review);
    // The notice of a decision has no line yet.
    let is_of_decision = |notice: &Notice| notice.lines.is_empty() && !review.is_pending;
    let notice =
        submitted.notice.map(|notice| if is_of_decision(&notice) { outcome(review, &summary) } else { notice });
    let page = ProposalPage {
        // A decided proposal's title says the decision.
        layout: Layout { outcome: None, ..Layout::new(request) },
        path: proposal_url(proposal.id()),
        deal: deal(review, &summary),
        action: proposal.action,
        member: request.signed_in()?.member().id().to_string(),
        badge: proposal_badge(review.state()),
        summary: text::proposal_summary(proposal),
        created_by: actor_label(&proposal.created_by),
        created_at: proposal.created_at.into(),
        expires_at: proposal.expires_at.into(),
        note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
        agreement: Link { url: agreement_url(review.current.id()), text: review.current.name.as_str().to_owned() },
        agreement_badge: lifecycle_badge(review.current.lifecycle()),
        blockers: blockers(review),
        warnings: warning_groups(&review.current, &review.payments, &review.warnings, submitted.ticked.as_ref()),
        agreement_summary: summary,
        payments: PaymentList::new(&review.payments, &review.current, &review.contacts),
        is_pending: review.is_pending,
        is_too_late: review.is_too_late,
        in_flight: review.in_flight().count(),
        shows_snapshot: review.as_proposed.is_some(),
        decision: decision_view(proposal),
        shown: review.shown.to_string(),
        fields: submitted.fields,
        notice,
        effects: review.effects.clone(),
        changes: review.changes.clone(),
    };
    Ok(PageResponse::render(&page)?.showing([proposal.id().uuid(), review.current.id().uuid()]))
}

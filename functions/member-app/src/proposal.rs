//! The review of a proposal: what it would do, in plain words, and the member's decision.

use askama::Template;
use http::StatusCode;
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::contact::Contact;
use shared::domain::ids::ProposalId;
use shared::domain::member::{Changed, Refusal};
use shared::domain::proposal::{Decided, Decision, Note, Proposal, ProposalAction, ProposalState, check_state};
use shared::domain::sentences;
use shared::domain::time_scale::TimeScale;
use shared::error::Error;
use shared::service::proposals::{self, Choice, LoadedProposal, Review, ReviewFingerprint};
use shared::web::Request;

use crate::Page;
use crate::agreement_summary::{AgreementSummary, Badge, lifecycle_badge, proposal_badge, who_is};
use crate::home::verb;
use crate::layout::{Answer, Layout, Moment, Notice};

#[derive(Template)]
#[template(path = "proposal.html")]
struct ReviewPage {
    layout: Layout,
    path: String,
    verb: &'static str,
    name: String,
    badge: Badge,
    summary: String,
    by: String,
    since: Moment,
    until: Moment,
    left: String,
    note: Option<String>,
    agreement: (String, String),
    agreement_badge: Badge,
    workspace: (String, String),
    effects: Vec<String>,
    changes: Vec<String>,
    blockers: Vec<String>,
    agreement_summary: AgreementSummary,
    /// Whether a decision can be taken at all.
    is_pending: bool,
    /// Whether it can't be confirmed, and never again.
    is_too_late: bool,
    /// Whether the agreement is shown as it was proposed, not as it is now.
    shows_proposed: bool,
    decided: Option<DecidedLine>,
    version: String,
    typed_note: String,
    note_error: Option<String>,
    notice: Option<Notice>,
}

struct DecidedLine {
    by: String,
    at: Moment,
    note: Option<String>,
}

/// The page.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Request) -> &'static str {
        "view_proposal"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let reviewed = proposals::review(request.signed_in()?.scope(), request.path_id("id")?).await?;
        show(request, &reviewed, Typed::default())
    }
}

/// The member's decision.
pub(crate) struct Decide;

impl Page for Decide {
    fn operation(request: &Request) -> &'static str {
        match read_choice(request.unverified_form().get("decision")) {
            Some(Choice::Confirm) => "confirm_proposal",
            Some(Choice::Decline) => "decline_proposal",
            None => "decide_proposal",
        }
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?;
        let id: ProposalId = request.path_id("id")?;
        let form = submitted.form();
        let mut typed = Typed { note: form.get("note").to_owned(), ..Typed::default() };
        let note = match typed.note.trim() {
            "" => Ok(None),
            text => Note::parse(text).map(Some),
        };
        let choice = read_choice(form.get("decision"));
        let shown = ReviewFingerprint::parse(form.get("version"));
        let (Ok(note), Some(choice), Some(shown)) = (&note, choice, &shown) else {
            let reviewed = proposals::review(submitted.scope(), id).await?;
            typed.note_error = note.err().map(|(_, message)| message);
            typed.notice = Some(Notice {
                look: "bad",
                title: "Nothing was decided".to_owned(),
                lines: vec!["Check what is marked below, then choose again.".to_owned()],
            });
            return Ok(show(request, &reviewed, typed)?.refused(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request"));
        };
        let (scope, member) = (submitted.scope(), submitted.submitter());
        match submitted.run(|| proposals::decide(scope, member, id, choice, note.clone(), shown)).await? {
            Ok(()) => Ok(Answer::see_other(path_of(id))),
            Err(refusal) => {
                let reviewed = proposals::review(submitted.scope(), id).await?;
                let (status, code, notice) = refused(choice, &refusal);
                typed.notice = Some(notice);
                Ok(show(request, &reviewed, typed)?.refused(status, code))
            }
        }
    }
}

/// What a member chose: the button that they pressed.
fn read_choice(text: &str) -> Option<Choice> {
    match text {
        "confirm" => Some(Choice::Confirm),
        "decline" => Some(Choice::Decline),
        _ => None,
    }
}

/// What a member is told whose decision was not taken.
fn refused(choice: Choice, refusal: &Refusal) -> (StatusCode, &'static str, Notice) {
    let wanted = match choice {
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
            (StatusCode::CONFLICT, "conflict", Notice { look: "warn", title, lines: vec![line.to_owned()] })
        }
        Refusal::Changed(changed) => {
            let (title, line) = match changed {
                Changed::Agreement => (
                    "The agreement has changed",
                    "It was changed after this page was opened, so it was not decided. The page shows it as it is now: read what has changed, then decide.",
                ),
                Changed::Surroundings => (
                    "Something that the agreement refers to has changed",
                    "A name, an e-mail address or the workspace was changed after this page was opened, so nothing was decided. The page shows everything as it is now: read it again, then decide.",
                ),
            };
            let (title, lines) = (title.to_owned(), vec![line.to_owned()]);
            (StatusCode::CONFLICT, "conflict", Notice { look: "warn", title, lines })
        }
        Refusal::TooLate(lifecycle) => {
            let title = format!("It can’t be {wanted} any more");
            let lines = [too_late(*lifecycle), "Nothing was decided. Decline the proposal, or let it expire."];
            let lines = lines.map(str::to_owned).into();
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice { look: "bad", title, lines })
        }
        Refusal::InTheWay(errors) => {
            let title = format!("It can’t be {wanted} yet");
            let mut lines: Vec<String> =
                errors.clone().into_list().into_iter().map(|error| sentence(&error.message)).collect();
            lines
                .push("The proposal keeps waiting. You can decline it, or confirm it when this is settled.".to_owned());
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", Notice { look: "bad", title, lines })
        }
    }
}

/// Why an agreement is not in the state that its proposal needs any more.
fn too_late(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Draft | Lifecycle::Active => "The agreement has been published already.",
        Lifecycle::Completed => "The agreement is completed.",
        Lifecycle::Cancelled => "The agreement has been cancelled.",
        Lifecycle::Expired => "The agreement has expired.",
    }
}

/// A field's message as a sentence.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What was typed, and what was wrong with it.
#[derive(Default)]
struct Typed {
    note: String,
    note_error: Option<String>,
    notice: Option<Notice>,
}

fn path_of(id: ProposalId) -> String {
    format!("/app/proposals/{id}")
}

/// What the page shows of the agreement: as it is now, or, once the proposal came to nothing, as it was proposed.
struct Shown<'a> {
    /// The agreement as it is decided on, whether or not the clock has written it down.
    current: &'a Agreement,
    /// The agreement that the page describes.
    agreement: &'a Agreement,
    /// The contacts of its participants, and of those who took part when it was proposed.
    contacts: Vec<Contact>,
    /// Whether a decision can be taken at all.
    is_pending: bool,
    /// Whether it can't be confirmed, and never again.
    is_too_late: bool,
    /// What has changed since it was proposed.
    changes: Vec<String>,
}

impl<'a> Shown<'a> {
    fn of(review: &'a Review, current: &'a Agreement) -> Self {
        let Review { loaded, snapshot, gone } = review;
        let is_pending = loaded.proposal().state_at(loaded.at()) == ProposalState::Pending;
        let contacts: Vec<Contact> = loaded.agreement().contacts().iter().chain(gone).cloned().collect();
        let (agreement, changes) = match snapshot {
            Some(before) if is_pending => (current, sentences::changes_since(before, current, &contacts)),
            Some(before) => (&before.agreement, Vec::new()),
            None => (current, Vec::new()),
        };
        let is_too_late = is_pending && check_state(loaded.proposal().action, current).is_err();
        Self { current, agreement, contacts, is_pending, is_too_late, changes }
    }

    /// What is in the way of confirming.
    fn blockers(&self, loaded: &LoadedProposal) -> Vec<String> {
        if self.is_too_late {
            return vec![too_late(self.current.lifecycle()).to_owned()];
        }
        if !self.is_pending || loaded.proposal().action != ProposalAction::PublishAgreement {
            return Vec::new();
        }
        let blockers = loaded.agreement().blockers(loaded.at());
        let blocking = blockers.iter().filter(|blocker| !blocker.allows_proposal());
        blocking.map(|blocker| blocker.message().to_owned()).collect()
    }

    /// What confirming does.
    fn effects(&self, loaded: &LoadedProposal, time_scale: TimeScale) -> Vec<String> {
        if !self.is_pending || self.is_too_late {
            return Vec::new();
        }
        let moment = (loaded.agreement().facts(), time_scale, loaded.at());
        let workspace = loaded.agreement().workspace();
        sentences::effects(loaded.proposal().action, self.agreement, workspace, &self.contacts, moment)
    }
}

fn decided(proposal: &Proposal) -> Option<DecidedLine> {
    match proposal.decision() {
        Decision::Confirmed(Decided { at, by, note }) | Decision::Declined(Decided { at, by, note }) => {
            let note = note.as_ref().map(|note| note.as_str().to_owned());
            Some(DecidedLine { by: who_is(by), at: (*at).into(), note })
        }
        Decision::Pending | Decision::Expired { .. } => None,
    }
}

fn show(request: &Request, review: &Review, typed: Typed) -> Result<Answer, Error> {
    let (loaded, time_scale) = (&review.loaded, request.app().time_scale);
    let (proposal, workspace) = (loaded.proposal(), loaded.agreement().workspace());
    let current = loaded.agreement().agreement().as_of(loaded.agreement().facts(), time_scale, loaded.at());
    let shown = Shown::of(review, &current);
    let agreement = shown.agreement;
    let view = AgreementView::in_full(agreement, &shown.contacts, &[], true, &request.app().base_url);
    let page = ReviewPage {
        layout: Layout::new(request),
        path: path_of(proposal.id()),
        verb: verb(proposal.action),
        name: agreement.name.as_str().to_owned(),
        badge: proposal_badge(proposal.state_at(loaded.at())),
        summary: sentences::proposal_summary(proposal),
        by: who_is(&proposal.created_by),
        since: proposal.created_at.into(),
        until: proposal.expires_at.into(),
        left: sentences::time_left(loaded.at(), proposal.expires_at),
        note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
        agreement: (format!("/app/agreements/{}", current.id()), current.name.as_str().to_owned()),
        agreement_badge: lifecycle_badge(current.lifecycle()),
        workspace: (format!("/app/workspaces/{}", workspace.id()), workspace.name.as_str().to_owned()),
        effects: shown.effects(loaded, time_scale),
        blockers: shown.blockers(loaded),
        agreement_summary: AgreementSummary::new(agreement, &view, &shown.contacts),
        is_pending: shown.is_pending,
        is_too_late: shown.is_too_late,
        shows_proposed: !shown.is_pending && review.snapshot.is_some(),
        changes: shown.changes,
        decided: decided(proposal),
        version: loaded.fingerprint().to_string(),
        typed_note: typed.note,
        note_error: typed.note_error,
        notice: typed.notice,
    };
    Ok(Answer::page(&page)?.showing([proposal.id().uuid(), current.id().uuid()]))
}

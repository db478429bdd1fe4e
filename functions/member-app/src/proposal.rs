//! The review of a proposal: what it would do, in plain words, and the member's decision.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use shared::api::caller::CallContext;
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::blockers::Blocker;
use shared::domain::agreement::progress::Facts;
use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::contact::Contact;
use shared::domain::ids::{ContactId, ProposalId};
use shared::domain::member::{self, Changed, DecisionContext, Refusal};
use shared::domain::moment::Moment as DecisionMoment;
use shared::domain::proposal::{
    Decided, Decision, Note, Proposal, ProposalAction, ProposalSnapshot, ProposalState, check_state,
};
use shared::domain::sentences;
use shared::domain::workspace::Workspace;
use shared::error::Error;
use shared::service::drafts::{self, ReviewFingerprint};
use shared::store::commit::Change;
use shared::store::{Versioned, agreements, contacts, proposals, workspaces};
use shared::web::request::{Request, SubmittedForm};

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

/// A proposal with all that a decision is about.
struct Loaded {
    proposal: Versioned<Proposal>,
    agreement: Versioned<Agreement>,
    workspace: Workspace,
    /// Of those who take part.
    contacts: Vec<Contact>,
    blockers: Vec<Blocker>,
    /// All of that as a form carries it.
    shown: ReviewFingerprint,
    /// The looks at the contacts, for a transaction: they must be what they are here.
    checks: Vec<Change>,
    /// When that was so.
    at: DecisionMoment,
}

/// What the page shows.
struct Reviewed {
    loaded: Loaded,
    /// What was proposed; none where that was confirmed: its page shows the agreement itself.
    proposed: Option<ProposalSnapshot>,
    /// Of those who took part when it was proposed, and take part no more.
    gone: Vec<Contact>,
}

async fn found(act: &CallContext, id: ProposalId) -> Result<Versioned<Proposal>, Error> {
    act.store().proposal(id).await?.ok_or_else(Error::not_found)
}

async fn load(act: &CallContext, proposal: Versioned<Proposal>) -> Result<Loaded, Error> {
    // Each attempt at a decision loads anew, and by then its time may be over.
    let at = act.attempt_moment();
    let agreement = act.store().agreement(proposal.value.agreement_id).await?;
    let agreement = agreement.ok_or_else(|| Error::Internal("a proposal without its agreement".to_owned()))?;
    let workspace = drafts::workspace_of(act, &agreement.value);
    let contacts = drafts::versioned_contacts_of(act, [&agreement.value]);
    let (workspace, contacts) = tokio::try_join!(workspace, contacts)?;
    let workspace = workspace.value;
    let shown = ReviewFingerprint::of(&agreement, &workspace, &contacts);
    let checks = contacts.iter().map(|contact| contacts::check(act.org(), contact)).collect();
    let contacts: Vec<Contact> = contacts.into_iter().map(|contact| contact.value).collect();
    let blockers = drafts::blockers_at(at.at(), &agreement.value, &workspace, &contacts);
    Ok(Loaded { proposal, agreement, workspace, contacts, blockers, shown, checks, at })
}

/// Loads what the page shows: what was proposed, too, which is large, and which no decision needs.
async fn review(act: &CallContext, id: ProposalId) -> Result<Reviewed, Error> {
    let proposal = found(act, id).await?;
    let is_confirmed = matches!(proposal.value.decision(), Decision::Confirmed(_));
    let proposed = async {
        if is_confirmed {
            return Ok(None);
        }
        let proposed = act.store().proposed(id).await?;
        proposed.map(Some).ok_or_else(|| Error::Internal("a proposal without what was proposed".to_owned()))
    };
    let (loaded, proposed) = tokio::try_join!(load(act, proposal), proposed)?;
    let took_part = proposed.iter().flat_map(|proposed| &proposed.agreement.participants);
    let takes_part = |id| loaded.contacts.iter().any(|contact| contact.id == id);
    let gone: BTreeSet<ContactId> =
        took_part.map(|participant| participant.contact_id).filter(|id| !takes_part(*id)).collect();
    let gone = act.store().contacts(gone).await?;
    Ok(Reviewed { loaded, proposed, gone })
}

/// The page.
pub(crate) struct Review;

impl Page for Review {
    fn operation(_: &Request) -> &'static str {
        "view_proposal"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let act = request.signed_in()?.act();
        let reviewed = review(act, request.path_id("id")?).await?;
        show(request, &reviewed, &Typed::default())
    }
}

/// The member's decision.
pub(crate) struct Decide;

impl Page for Decide {
    fn operation(request: &Request) -> &'static str {
        match Choice::read(request.typed().get("decision")) {
            Some(Choice::Confirm) => "confirm_proposal",
            Some(Choice::Decline) => "decline_proposal",
            None => "decide_proposal",
        }
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted()?;
        let id: ProposalId = request.path_id("id")?;
        let form = submitted.form();
        let mut typed = Typed { note: form.get("note").to_owned(), ..Typed::default() };
        let note = match typed.note.trim() {
            "" => Ok(None),
            text => Note::parse(text).map(Some),
        };
        let choice = Choice::read(form.get("decision"));
        let shown = ReviewFingerprint::parse(form.get("version"));
        let (Ok(note), Some(choice), Some(shown)) = (&note, choice, &shown) else {
            let reviewed = review(submitted.act(), id).await?;
            typed.note_error = note.err().map(|(_, message)| message);
            typed.notice = Some(Notice {
                look: "bad",
                title: "Nothing was decided".to_owned(),
                lines: vec!["Check what is marked below, then choose again.".to_owned()],
            });
            return Ok(show(request, &reviewed, &typed)?.refused(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request"));
        };
        match submitted.retry_on_conflict(|| decide(&submitted, id, choice, note.clone(), shown)).await? {
            Ok(()) => Ok(Answer::see_other(path_of(id)).recorded()),
            Err(refusal) => {
                let reviewed = review(submitted.act(), id).await?;
                let (status, code, notice) = refused(choice, &refusal);
                typed.notice = Some(notice);
                Ok(show(request, &reviewed, &typed)?.refused(status, code))
            }
        }
    }
}

/// What a member chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Confirm,
    Decline,
}

impl Choice {
    fn read(text: &str) -> Option<Self> {
        match text {
            "confirm" => Some(Self::Confirm),
            "decline" => Some(Self::Decline),
            _ => None,
        }
    }
}

/// Takes the decision, with all that it does, or nothing.
async fn decide(
    submitted: &SubmittedForm<'_>,
    id: ProposalId,
    choice: Choice,
    note: Option<Note>,
    shown: &ReviewFingerprint,
) -> Result<Result<(), Refusal>, Error> {
    let (act, member) = (submitted.act(), submitted.by());
    let loaded = load(act, found(act, id).await?).await?;
    let case = DecisionContext {
        proposal: &loaded.proposal.value,
        agreement: &loaded.agreement.value,
        changed: shown.changed_to(&loaded.shown),
        workspace: &loaded.workspace,
        blockers: &loaded.blockers,
        facts: &Facts::none(),
        time_scale: submitted.time_scale(),
    };
    let decided = match choice {
        Choice::Confirm => member::confirm(member, case, note, loaded.at),
        Choice::Decline => member::decline(member, case.proposal, note, loaded.at),
    };
    let outcome = match decided {
        Ok(outcome) => outcome,
        Err(refusal @ Refusal::NotPending(_)) => return Ok(Err(refusal)),
        Err(refusal) => {
            // It was found pending before the rest was read: what is another now may be what somebody else's decision
            // has just made of it.
            let now = act.store().proposal(id).await?.map(|proposal| proposal.version);
            let is_same = now == Some(loaded.proposal.version);
            return if is_same { Ok(Err(refusal)) } else { Err(Error::Conflict) };
        }
    };
    let mut changes = proposals::decide(act.org(), &loaded.proposal, &outcome.proposal)?;
    if let Some(agreement) = &outcome.agreement {
        changes.extend(agreements::execute(act.org(), &loaded.agreement, agreement)?);
    }
    changes.extend(outcome.workspace.as_ref().map(|workspace| workspaces::activate(act.org(), workspace)));
    let workspace = outcome.workspace.as_ref().map(|workspace| workspace.id().uuid());
    let objects: Vec<uuid::Uuid> =
        [id.uuid(), loaded.agreement.value.id().uuid()].into_iter().chain(workspace).collect();
    let mut commit = submitted.commit().at(loaded.at.at()).with(changes).emit(outcome.events)?;
    if choice == Choice::Confirm {
        // A transaction has room for some 85 of them. Of more, the rest was seen a moment ago, by strongly consistent
        // reads: who is renamed after those is as good as renamed after the decision, which names nobody.
        commit = commit.checking(loaded.checks);
    }
    commit.done_as(StatusCode::SEE_OTHER, &objects).await?;
    Ok(Ok(()))
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

fn show(request: &Request, reviewed: &Reviewed, typed: &Typed) -> Result<Answer, Error> {
    let Reviewed { loaded, proposed, gone } = reviewed;
    let now = loaded.at.at();
    let (proposal, facts, time_scale) = (&loaded.proposal.value, Facts::none(), request.app().time_scale);
    // What is decided on, whether or not the clock has written it down.
    let now_agreement = &*loaded.agreement.value.as_of(&facts, time_scale, now);
    let is_pending = proposal.state_at(now) == ProposalState::Pending;
    // Of those who are gone, too: the page says who they were.
    let contacts: Vec<Contact> = loaded.contacts.iter().chain(gone).cloned().collect();
    let (agreement, changes) = match proposed {
        Some(before) if is_pending => (now_agreement, sentences::changes_since(before, now_agreement, &contacts)),
        // It came to nothing.
        Some(before) => (&before.agreement, Vec::new()),
        None => (now_agreement, Vec::new()),
    };
    let view = AgreementView::in_full(agreement, &contacts, &[], true, &request.app().base_url);
    let is_publication = proposal.action == ProposalAction::PublishAgreement;
    let is_too_late = is_pending && check_state(proposal.action, now_agreement).is_err();
    let in_the_way: Vec<String> = if is_too_late {
        vec![too_late(now_agreement.lifecycle()).to_owned()]
    } else {
        let blockers = loaded.blockers.iter().filter(|blocker| is_publication && !blocker.allows_proposal());
        blockers.filter(|_| is_pending).map(|blocker| blocker.message().to_owned()).collect()
    };
    let decided = match proposal.decision() {
        Decision::Confirmed(Decided { at, by, note }) | Decision::Declined(Decided { at, by, note }) => {
            let note = note.as_ref().map(|note| note.as_str().to_owned());
            Some(DecidedLine { by: who_is(by), at: (*at).into(), note })
        }
        Decision::Pending | Decision::Expired { .. } => None,
    };
    let page = ReviewPage {
        layout: Layout::new(request),
        path: path_of(proposal.id()),
        verb: verb(proposal.action),
        name: agreement.name.as_str().to_owned(),
        badge: proposal_badge(proposal.state_at(now)),
        summary: sentences::proposal_summary(proposal),
        by: who_is(&proposal.created_by),
        since: proposal.created_at.into(),
        until: proposal.expires_at.into(),
        left: sentences::time_left(now, proposal.expires_at),
        note: proposal.note.as_ref().map(|note| note.as_str().to_owned()),
        agreement: (format!("/app/agreements/{}", now_agreement.id()), now_agreement.name.as_str().to_owned()),
        agreement_badge: lifecycle_badge(now_agreement.lifecycle()),
        workspace: (format!("/app/workspaces/{}", loaded.workspace.id()), loaded.workspace.name.as_str().to_owned()),
        effects: if is_pending && !is_too_late {
            let moment = (&facts, time_scale, now);
            sentences::effects(proposal.action, agreement, &loaded.workspace, &contacts, moment)
        } else {
            Vec::new()
        },
        changes,
        blockers: in_the_way,
        agreement_summary: AgreementSummary::new(agreement, &view, &contacts),
        is_pending,
        is_too_late,
        shows_proposed: !is_pending && proposed.is_some(),
        decided,
        version: loaded.shown.to_string(),
        typed_note: typed.note.clone(),
        note_error: typed.note_error.clone(),
        notice: typed.notice.as_ref().map(|notice| Notice {
            look: notice.look,
            title: notice.title.clone(),
            lines: notice.lines.clone(),
        }),
    };
    Ok(Answer::page(&page)?.showing([proposal.id().uuid(), now_agreement.id().uuid()]))
}

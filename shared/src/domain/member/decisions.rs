//! What members decide: they confirm and decline proposals, and activate workspaces.

use super::{ByMember, Member};
use crate::domain::agreement::blockers::Blocker;
use crate::domain::agreement::progress::Facts;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::event::{AgreementData, Authorization, EventKind, ProposalData, WorkspaceData};
use crate::domain::moment::Moment;
use crate::domain::proposal::{self, Decided, Decision, Note, Proposal, ProposalAction, ProposalState};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::domain::workspace::Workspace;
use crate::wire::fields::{FieldCode, FieldErrors};

/// What a member's decision makes of a proposal and of what it is about. Whatever is here changed, with its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The decided proposal.
    pub proposal: ByMember<Proposal>,
    /// The agreement, if the effect was executed.
    pub agreement: Option<ByMember<Agreement>>,
    /// The workspace, if confirming completed its activation.
    pub workspace: Option<ByMember<Workspace>>,
    /// What subscribers are told, in order.
    pub events: Vec<EventKind>,
}

impl Outcome {
    /// When the member decided, and in which call.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.proposal.moment()
    }
}

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It has been decided, or its time is over.
    NotPending(ProposalState),
    /// What would be confirmed is not what the page showed.
    Changed(Changed),
    /// The agreement is in this state by now, and never again in the one that the proposal needs. It stays pending until
    /// it is declined or expires.
    TooLate(Lifecycle),
    /// Something is in the way; the proposal stays pending.
    InTheWay(FieldErrors),
}

/// What has changed since the page that somebody decides on was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// The agreement itself.
    Agreement,
    /// What it refers to: names and e-mail addresses of those who take part, or its workspace.
    Surroundings,
}

/// What a decision is taken about.
#[derive(Debug, Clone, Copy)]
pub struct DecisionContext<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// The agreement as it is now.
    pub agreement: &'a Agreement,
    /// What is another now than the page showed, if anything is.
    pub changed: Option<Changed>,
    /// Its workspace.
    pub workspace: &'a Workspace,
    /// What is in the way of publishing it now.
    pub blockers: &'a [Blocker],
    /// What is recorded of what its gates wait for, and of its money.
    pub facts: &'a Facts,
    /// How long the service waits for what.
    pub time_scale: TimeScale,
}

/// Confirms a proposal and executes its effect, in one act (contract, section 3). Completes the workspace's
/// activation where a publication needs it.
///
/// # Errors
/// [`Refusal`]: nothing has changed then.
pub fn confirm(by: &Member, case: DecisionContext<'_>, note: Option<Note>, moment: Moment) -> Result<Outcome, Refusal> {
    let now = moment.at();
    check_pending(case.proposal, now)?;
    if let Some(changed) = case.changed {
        return Err(Refusal::Changed(changed));
    }
    // What time has done to it counts, whether or not the clock has been there: it is written down with the decision.
    let agreement = case.agreement.as_of(case.facts, case.time_scale, now);
    if proposal::check_state(case.proposal.action, &agreement).is_err() {
        return Err(Refusal::TooLate(agreement.lifecycle()));
    }
    let decision = Decision::Confirmed(Decided { at: now, by: by.actor(), note });
    let confirmed = ByMember { record: case.proposal.decided(decision), moment };
    let told = EventKind::ProposalConfirmed(ProposalData::from(case.proposal));
    match case.proposal.action {
        ProposalAction::PublishAgreement => {
            proposal::check_blockers(case.blockers, Blocker::allows_proposal).map_err(Refusal::InTheWay)?;
            let workspace = case.workspace.activated(now).map(|record| ByMember { record, moment });
            let activation = workspace.is_some().then_some(EventKind::WorkspaceActivated(WorkspaceData {
                workspace_id: case.workspace.id(),
                authorization: Authorization::Proposal,
            }));
            let data = AgreementData { agreement_id: agreement.id(), name: agreement.name.clone() };
            let published = agreement.published(case.facts, case.time_scale, now);
            let events = [told, EventKind::AgreementPublished(data)].into_iter().chain(published.completion());
            Ok(Outcome {
                proposal: confirmed,
                events: activation.into_iter().chain(events).collect(),
                agreement: Some(ByMember { record: published, moment }),
                workspace,
            })
        }
        ProposalAction::CancelAgreement => {
            if case.facts.has_movement_in_flight() {
                let message = "money is on its way; wait until it has arrived or come back";
                return Err(Refusal::InTheWay(FieldErrors::one("agreement_id", FieldCode::MovementInFlight, message)));
            }
            Ok(Outcome {
                proposal: confirmed,
                agreement: Some(ByMember { record: agreement.cancelled(now), moment }),
                workspace: None,
                events: vec![told],
            })
        }
    }
}

/// Declines a proposal: nothing else changes.
///
/// # Errors
/// [`Refusal::NotPending`].
pub fn decline(by: &Member, proposal: &Proposal, note: Option<Note>, moment: Moment) -> Result<Outcome, Refusal> {
    check_pending(proposal, moment.at())?;
    let decision = Decision::Declined(Decided { at: moment.at(), by: by.actor(), note });
    Ok(Outcome {
        proposal: ByMember { record: proposal.decided(decision), moment },
        agreement: None,
        workspace: None,
        events: vec![EventKind::ProposalDeclined(ProposalData::from(proposal))],
    })
}

/// Activates a workspace by the member's own act: once, and never undone. Nothing when it is activated already.
#[must_use]
pub fn activate(_by: &Member, workspace: &Workspace, moment: Moment) -> Option<(ByMember<Workspace>, EventKind)> {
    let activated = ByMember { record: workspace.activated(moment.at())?, moment };
    let told = EventKind::WorkspaceActivated(WorkspaceData {
        workspace_id: workspace.id(),
        authorization: Authorization::Direct,
    });
    Some((activated, told))
}

fn check_pending(proposal: &Proposal, now: Timestamp) -> Result<(), Refusal> {
    match proposal.state_at(now) {
        ProposalState::Pending => Ok(()),
        state => Err(Refusal::NotPending(state)),
    }
}

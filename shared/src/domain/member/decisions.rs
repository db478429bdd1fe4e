//! Members confirm and decline proposals, and activate workspaces.

use std::collections::BTreeSet;

use super::{ByMember, Member};
use crate::domain::agreement::blockers::Blocker;
use crate::domain::agreement::facts::Facts;
use crate::domain::agreement::warnings::WarningKind;
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::contact::Contact;
use crate::domain::event::{AgreementData, Authorization, EventKind, ProposalData, WorkspaceData};
use crate::domain::moment::Moment;
use crate::domain::note::Note;
use crate::domain::proposal::{self, Decision, MemberDecision, Proposal, ProposalAction, ProposalState};
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::domain::time_zone::TimeZone;
use crate::domain::workspace::Workspace;
use crate::wire::fields::{FieldCode, FieldErrors};

/// The records that a member's decision changes, and its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The decided proposal.
    pub proposal: ByMember<Proposal>,
    /// The agreement, if the decision executed the effect.
    pub agreement: Option<ByMember<Agreement>>,
    /// The workspace, if confirming activated it.
    pub workspace: Option<ByMember<Workspace>>,
    /// The events, in order of emission.
    pub events: Vec<EventKind>,
}

impl Outcome {
    /// The time and the call of the decision.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.proposal.moment()
    }
}

/// Why a decision is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The proposal has been decided or has expired.
    NotPending(ProposalState),
    /// The page that the member decided on is outdated.
    Changed(Changed),
    /// The agreement has permanently left the state that the action needs; the proposal stays until it ends.
    TooLate(Lifecycle),
    /// The agreement can't be published or cancelled yet. The proposal stays pending.
    Blocked(FieldErrors),
    /// Warnings about the publication were not ticked. The proposal stays pending.
    NotMeant(BTreeSet<WarningKind>),
}

/// What has changed since the decision's page was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// The agreement itself.
    Agreement,
    /// What the agreement refers to: its participants' contacts or its workspace.
    References,
}

/// The records that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct DecisionContext<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// The current agreement.
    pub agreement: &'a Agreement,
    /// What has changed since the page was shown, if anything.
    pub changed: Option<Changed>,
    /// The contacts of its participants.
    pub contacts: &'a [Contact],
    /// Its workspace.
    pub workspace: &'a Workspace,
    /// The current blockers of publication.
    pub blockers: &'a [Blocker],
    /// The kinds of warnings that still need a tick.
    pub not_meant: &'a BTreeSet<WarningKind>,
    /// The facts recorded for its gates, including movements.
    pub facts: &'a Facts,
    /// The scale of waits and expiries.
    pub time_scale: TimeScale,
    /// The zone of the organization.
    pub zone: &'a TimeZone,
}

/// Confirms a proposal and executes its effect in one transaction (contract, section 3).
pub fn confirm(
    by: &Member,
    context: DecisionContext<'_>,
    note: Option<Note>,
    moment: Moment,
) -> Result<Outcome, Refusal> {
    let now = moment.at();
    check_pending(context.proposal, now)?;
    if let Some(changed) = context.changed {
        return Err(Refusal::Changed(changed));
    }
    // Decide on the agreement as of now, even if the clock hasn't recorded that yet. The decision records it.
    let agreement = context.agreement.as_of(context.facts, context.time_scale, now);
    if proposal::check_state(context.proposal.action, &agreement).is_err() {
        return Err(Refusal::TooLate(agreement.lifecycle()));
    }
    let decision = Decision::Confirmed(MemberDecision { at: now, by: by.actor(), note });
    let confirmed = ByMember::new(context.proposal.decided(decision), by, moment);
    let event = EventKind::ProposalConfirmed(ProposalData::from(context.proposal));
    match context.proposal.action {
        ProposalAction::PublishAgreement => {
            proposal::check_blockers(context.blockers, Blocker::allows_proposal).map_err(Refusal::Blocked)?;
            if !context.not_meant.is_empty() {
                return Err(Refusal::NotMeant(context.not_meant.clone()));
            }
            let workspace = context.workspace.activated(now).map(|record| ByMember::new(record, by, moment));
            let activation = workspace.is_some().then_some(EventKind::WorkspaceActivated(WorkspaceData {
                workspace_id: context.workspace.id(),
                authorization: Authorization::Proposal,
            }));
            let data = AgreementData { agreement_id: agreement.id(), name: agreement.name.clone() };
            let draft = agreement.in_zone(context.zone).with_contact_versions(context.contacts);
            let published = draft.published(context.facts, context.time_scale, now);
            let events = [event, EventKind::AgreementPublished(data)].into_iter().chain(published.completion());
            Ok(Outcome {
                proposal: confirmed,
                events: activation.into_iter().chain(events).collect(),
                agreement: Some(ByMember::new(published, by, moment)),
                workspace,
            })
        }
        ProposalAction::CancelAgreement => {
            if context.facts.has_movement_in_flight() {
                let message = "money is on its way; wait until it has arrived or come back";
                return Err(Refusal::Blocked(FieldErrors::one("agreement_id", FieldCode::MovementInFlight, message)));
            }
            Ok(Outcome {
                proposal: confirmed,
                agreement: Some(ByMember::new(agreement.cancelled(now), by, moment)),
                workspace: None,
                events: vec![event],
            })
        }
    }
}

/// Declines a pending proposal. No other record changes.
pub fn decline(by: &Member, proposal: &Proposal, note: Option<Note>, moment: Moment) -> Result<Outcome, Refusal> {
    check_pending(proposal, moment.at())?;
    let decision = Decision::Declined(MemberDecision { at: moment.at(), by: by.actor(), note });
    Ok(Outcome {
        proposal: ByMember::new(proposal.decided(decision), by, moment),
        agreement: None,
        workspace: None,
        events: vec![EventKind::ProposalDeclined(ProposalData::from(proposal))],
    })
}

/// Activates a workspace permanently, by the member's own act. None if it is already active.
#[must_use]
pub fn activate(by: &Member, workspace: &Workspace, moment: Moment) -> Option<(ByMember<Workspace>, EventKind)> {
    let activated = ByMember::new(workspace.activated(moment.at())?, by, moment);
    let event = EventKind::WorkspaceActivated(WorkspaceData {
        workspace_id: workspace.id(),
        authorization: Authorization::Direct,
    });
    Some((activated, event))
}

fn check_pending(proposal: &Proposal, now: Timestamp) -> Result<(), Refusal> {
    match proposal.state_at(now) {
        ProposalState::Pending => Ok(()),
        state => Err(Refusal::NotPending(state)),
    }
}

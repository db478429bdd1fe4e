//! Members: people of an organization, signed in to the app; and what only they may do. Every function here takes a
//! [`Member`], which only a session that was checked makes: no API operation has one.

use super::actor::{Actor, ActorType};
use super::agreement::Agreement;
use super::agreement::blockers::Blocker;
use super::contact::DisplayName;
use super::event::{Authorization, EventKind, ProposalData};
use super::ids::{MemberId, OrgId};
use super::organization::{MemberRecord, Role};
use super::proposal::{self, Decided, Decision, Note, Proposal, ProposalAction, ProposalState};
use super::time::Timestamp;
use super::workspace::Workspace;
use crate::input::{FieldCode, FieldErrors};

/// A member, signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    id: MemberId,
    org: OrgId,
    name: DisplayName,
    role: Role,
}

impl Member {
    /// The member of a session that was checked. Only `session` calls this.
    pub(crate) fn of_session(org: OrgId, record: &MemberRecord) -> Self {
        Self { id: record.id, org, name: record.name.clone(), role: record.role }
    }

    /// Their id.
    #[must_use]
    pub fn id(&self) -> MemberId {
        self.id
    }

    /// The organization that they act for.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.org
    }

    /// Their name.
    #[must_use]
    pub fn name(&self) -> &DisplayName {
        &self.name
    }

    /// What they may do.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The member as whoever did something.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { actor_type: ActorType::Member, id: Some(self.id.uuid()), display_name: self.name.as_str().to_owned() }
    }
}

/// A member who may change the organization's settings.
#[derive(Debug, Clone, Copy)]
pub struct Admin<'a>(&'a Member);

impl<'a> Admin<'a> {
    /// Who it is.
    #[must_use]
    pub fn member(self) -> &'a Member {
        self.0
    }
}

impl Member {
    /// The member as an admin, if they are one.
    #[must_use]
    pub fn as_admin(&self) -> Option<Admin<'_>> {
        (self.role == Role::Admin).then_some(Admin(self))
    }
}

/// What a member's decision makes of a proposal and of what it is about. Whatever is here changed, with its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The decided proposal.
    pub proposal: Proposal,
    /// The agreement, if the effect was executed.
    pub agreement: Option<Agreement>,
    /// The workspace, if confirming completed its activation.
    pub workspace: Option<Workspace>,
    /// What subscribers are told, in order.
    pub events: Vec<EventKind>,
}

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It has been decided, or its time is over.
    NotPending(ProposalState),
    /// The draft is another one than the page showed.
    Changed,
    /// Something is in the way; the proposal stays pending.
    InTheWay(FieldErrors),
}

/// What a decision is taken about.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// The agreement as it is now.
    pub agreement: &'a Agreement,
    /// Its version as it is now, and as the page showed it.
    pub version: (u64, u64),
    /// Its workspace.
    pub workspace: &'a Workspace,
    /// What is in the way of publishing it now.
    pub blockers: &'a [Blocker],
    /// Whether money is on its way.
    pub movement_in_flight: bool,
}

/// Confirms a proposal and executes its effect, in one act (contract, section 3). Completes the workspace's
/// activation where a publication needs it.
///
/// # Errors
/// [`Refusal`]: nothing has changed then.
pub fn confirm(by: &Member, case: Case<'_>, note: Option<Note>, now: Timestamp) -> Result<Outcome, Refusal> {
    check_pending(case.proposal, now)?;
    let (version, shown) = case.version;
    if version != shown {
        return Err(Refusal::Changed);
    }
    proposal::check_state(case.proposal.action, case.agreement).map_err(Refusal::InTheWay)?;
    let confirmed = decided(case.proposal, Decision::Confirmed(Decided { at: now, by: by.actor(), note }));
    let told = EventKind::ProposalConfirmed(ProposalData::from(case.proposal));
    match case.proposal.action {
        ProposalAction::PublishAgreement => {
            proposal::check_blockers(case.blockers, Blocker::allows_proposal).map_err(Refusal::InTheWay)?;
            let workspace = case.workspace.activated(now);
            let activation = workspace.is_some().then_some(EventKind::WorkspaceActivated {
                workspace_id: case.workspace.id,
                authorization: Authorization::Proposal,
            });
            let published =
                EventKind::AgreementPublished { agreement_id: case.agreement.id, name: case.agreement.name.clone() };
            Ok(Outcome {
                proposal: confirmed,
                agreement: Some(case.agreement.published(now)),
                workspace,
                events: activation.into_iter().chain([told, published]).collect(),
            })
        }
        ProposalAction::CancelAgreement => {
            if case.movement_in_flight {
                let message = "money is on its way; wait until it has arrived or come back";
                return Err(Refusal::InTheWay(FieldErrors::one("agreement_id", FieldCode::MovementInFlight, message)));
            }
            Ok(Outcome {
                proposal: confirmed,
                agreement: Some(case.agreement.cancelled(now)),
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
pub fn decline(by: &Member, proposal: &Proposal, note: Option<Note>, now: Timestamp) -> Result<Outcome, Refusal> {
    check_pending(proposal, now)?;
    Ok(Outcome {
        proposal: decided(proposal, Decision::Declined(Decided { at: now, by: by.actor(), note })),
        agreement: None,
        workspace: None,
        events: vec![EventKind::ProposalDeclined(ProposalData::from(proposal))],
    })
}

/// Activates a workspace by the member's own act: once, and never undone. Nothing when it is activated already.
#[must_use]
pub fn activate(_by: &Member, workspace: &Workspace, now: Timestamp) -> Option<(Workspace, EventKind)> {
    let activated = workspace.activated(now)?;
    let told = EventKind::WorkspaceActivated { workspace_id: workspace.id, authorization: Authorization::Direct };
    Some((activated, told))
}

fn check_pending(proposal: &Proposal, now: Timestamp) -> Result<(), Refusal> {
    match proposal.state_at(now) {
        ProposalState::Pending => Ok(()),
        state => Err(Refusal::NotPending(state)),
    }
}

fn decided(proposal: &Proposal, decision: Decision) -> Proposal {
    Proposal { decision, ..proposal.clone() }
}

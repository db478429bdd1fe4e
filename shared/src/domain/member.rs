//! Members: people of an organization, signed in to the app; and what only they may do. Every function here takes a
//! [`Member`], which only a session that was checked makes: no API operation has one. What the functions give is
//! [`ByMember`], without which the store writes no protected transition.

use std::ops::Deref;

use super::actor::{Actor, ActorType};
use super::agreement::blockers::Blocker;
use super::agreement::progress::Facts;
use super::agreement::{Agreement, Lifecycle};
use super::contact::DisplayName;
use super::event::{AgreementData, Authorization, EventKind, ProposalData, WorkspaceData};
use super::ids::{MemberId, OrgId};
use super::moment::Moment;
use super::organization::{MemberRecord, Role};
use super::proposal::{self, Decided, Decision, Note, Proposal, ProposalAction, ProposalState};
use super::time::Timestamp;
use super::workspace::Workspace;
use crate::domain::time_scale::TimeScale;
use crate::wire::fields::{FieldCode, FieldErrors};

/// A member, signed in.
///
/// Nobody else can be made into one, a caller of the API who may write least of all:
///
/// ```
/// use shared::api::caller::WriteCaller;
/// use shared::domain::contact::DisplayName;
///
/// fn name(caller: &WriteCaller) -> Option<DisplayName> {
///     DisplayName::parse(&caller.actor().display_name).ok()
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::contact::DisplayName;
/// use shared::domain::ids::MemberId;
/// use shared::domain::member::Member;
/// use shared::domain::organization::Role;
///
/// fn promote(caller: &WriteCaller, name: DisplayName) -> Member {
///     Member { id: MemberId::new(), org: caller.org(), name, role: Role::Admin }
/// }
/// ```
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::member::Member;
/// use shared::domain::organization::MemberRecord;
///
/// fn promote(caller: &WriteCaller, record: &MemberRecord) -> Member {
///     Member::of_session(caller.org(), record)
/// }
/// ```
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

/// A member who may change the organization's settings. Only a form that they sent makes one, with a commit that holds
/// only while they are one still (`visit::SubmittedForm::by_admin`):
///
/// ```compile_fail
/// use shared::domain::member::{Admin, Member};
///
/// fn promote(member: &Member) -> Option<Admin<'_>> {
///     member.as_admin()
/// }
/// ```
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
    /// Whether they may change the organization's settings.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin
    }

    /// The member as an admin, if they are one.
    pub(crate) fn as_admin(&self) -> Option<Admin<'_>> {
        self.is_admin().then_some(Admin(self))
    }
}

/// What a member's act made of a record: published or cancelled, decided, activated. Only the functions here make one,
/// and the store writes such a change only as one of these.
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
/// use shared::domain::member::ByMember;
/// use shared::domain::moment::Moment;
///
/// fn without_a_member(record: Agreement, moment: Moment) -> ByMember<Agreement> {
///     ByMember { record, moment }
/// }
/// ```
///
/// The acts take no other caller:
///
/// ```compile_fail
/// use shared::api::caller::WriteCaller;
/// use shared::domain::member::{self, ByMember};
/// use shared::domain::workspace::Workspace;
///
/// fn activate(caller: &WriteCaller, workspace: &Workspace) -> Option<ByMember<Workspace>> {
///     member::activate(caller, workspace, caller.moment()).map(|(activated, _)| activated)
/// }
/// ```
///
/// And the store takes nothing else:
///
/// ```
/// use shared::domain::ids::OrgId;
/// use shared::domain::member::ByMember;
/// use shared::domain::workspace::Workspace;
/// use shared::store::commit::Change;
/// use shared::store::workspaces;
///
/// fn activation(org: OrgId, after: &ByMember<Workspace>) -> Change {
///     workspaces::activate(org, after)
/// }
/// ```
///
/// ```compile_fail
/// use shared::domain::ids::OrgId;
/// use shared::domain::workspace::Workspace;
/// use shared::store::commit::Change;
/// use shared::store::workspaces;
///
/// fn activation(org: OrgId, after: &Workspace) -> Change {
///     workspaces::activate(org, after)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByMember<T> {
    record: T,
    moment: Moment,
}

impl<T> ByMember<T> {
    /// When the member acted, and in which call.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The record as it is now.
    pub fn into_inner(self) -> T {
        self.record
    }
}

impl<T> Deref for ByMember<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.record
    }
}

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

/// Why an admin did not remove a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRemoved {
    /// Nobody removes themselves: so whoever removes somebody stays, and is an admin.
    Oneself,
    /// The organization has no such member.
    Unknown,
}

/// Why an operator did not remove a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRemovedByOperator {
    /// The organization has no such member.
    #[error("the organization has no such member")]
    Unknown,
    /// Nobody would be left who can change the organization's settings.
    #[error("the last admin stays")]
    LastAdmin,
}

/// A member who is to go, and an admin who stays: there is always one left who can change the organization's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    gone: MemberRecord,
    stays: Option<MemberId>,
}

impl Removal {
    /// Whoever goes.
    #[must_use]
    pub fn gone(&self) -> &MemberRecord {
        &self.gone
    }

    /// An admin who must still be one when the other goes. None where somebody stays in any case: with an admin's own
    /// act, which holds only while they are one, and where it is no admin that goes.
    #[must_use]
    pub fn stays(&self) -> Option<MemberId> {
        self.stays
    }

    /// A removal by an operator, from among all members.
    pub(crate) fn by_operator(members: &[MemberRecord], who: MemberId) -> Result<Self, NotRemovedByOperator> {
        let gone = members.iter().find(|member| member.id == who).ok_or(NotRemovedByOperator::Unknown)?;
        let stays = match gone.role {
            Role::Member => None,
            Role::Admin => {
                let other = members.iter().find(|member| member.id != who && member.role == Role::Admin);
                Some(other.ok_or(NotRemovedByOperator::LastAdmin)?.id)
            }
        };
        Ok(Self { gone: gone.clone(), stays })
    }
}

/// Removes whoever was found among the organization's members: an admin's act.
///
/// # Errors
/// [`NotRemoved`].
pub fn remove(by: Admin<'_>, found: Option<MemberRecord>) -> Result<Removal, NotRemoved> {
    let gone = found.ok_or(NotRemoved::Unknown)?;
    if gone.id == by.member().id { Err(NotRemoved::Oneself) } else { Ok(Removal { gone, stays: None }) }
}

fn check_pending(proposal: &Proposal, now: Timestamp) -> Result<(), Refusal> {
    match proposal.state_at(now) {
        ProposalState::Pending => Ok(()),
        state => Err(Refusal::NotPending(state)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::agreement::fixtures::noon;
    use super::super::contact::Email;
    use super::*;

    fn member(name: &str, role: Role) -> MemberRecord {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        MemberRecord { id: MemberId::new(), name: DisplayName::parse(name).unwrap(), email, role, created_at: noon() }
    }

    #[test]
    fn an_admin_removes_others_and_an_admin_always_stays() {
        let (ada, ben, eve) = (member("ada", Role::Admin), member("ben", Role::Member), member("eve", Role::Admin));
        let by = |record: &MemberRecord| Member::of_session(OrgId::new(), record);
        assert!(by(&ben).as_admin().is_none());
        let ada_signed_in = by(&ada);
        let by_ada = ada_signed_in.as_admin().unwrap();
        for gone in [&ben, &eve] {
            let removal = remove(by_ada, Some(gone.clone())).unwrap();
            assert_eq!((removal.gone(), removal.stays()), (gone, None));
        }
        assert_eq!(remove(by_ada, Some(ada.clone())), Err(NotRemoved::Oneself));
        assert_eq!(remove(by_ada, None), Err(NotRemoved::Unknown));
    }

    #[test]
    fn an_operator_leaves_an_admin_too() {
        let (ada, ben, eve) = (member("ada", Role::Admin), member("ben", Role::Member), member("eve", Role::Admin));
        let all = [ada.clone(), ben.clone(), eve.clone()];
        assert_eq!(Removal::by_operator(&all, ada.id).unwrap().stays(), Some(eve.id));
        assert_eq!(Removal::by_operator(&all, ben.id).unwrap().stays(), None);
        assert_eq!(Removal::by_operator(&all[..2], ada.id), Err(NotRemovedByOperator::LastAdmin));
        assert_eq!(Removal::by_operator(&all, MemberId::new()), Err(NotRemovedByOperator::Unknown));
    }
}

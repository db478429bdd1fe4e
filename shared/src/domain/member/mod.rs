//! Members: people of an organization, signed in to the app, and what only they may do. Functions take a [`Member`],
//! which only a checked session makes, and return a [`ByMember`], without which the store writes nothing protected.

mod answers;
mod decisions;
pub mod funding;
pub mod movements;
mod obligations;
mod paper_signature;
mod removal;
mod reopening;
mod roles;
pub mod second;
mod verification;

use std::ops::Deref;

pub use answers::{Judged, JudgedFile, Judgment, NotJudged, judge_answers, judge_file};
pub use decisions::{Changed, DecisionContext, Outcome, Refusal, activate, confirm, decline};
pub use obligations::{
    ObligationChange, cancel_obligation, check_satisfaction, confirm_satisfaction, declare_trigger,
    record_satisfaction, verify_standing,
};
pub use paper_signature::{
    NotDecided, NotRecorded, PaperChange, PaperDecision, decide_paper_signature, obstacle, record_paper_signature,
};
pub use removal::{NotRemoved, NotRemovedByOperator, Removal, remove};
pub use reopening::{NotReopened, Reopened, reopen_gate};
pub use roles::{RoleChange, RoleNotChanged, change_role};
pub use second::{Counting, SecondMembers};
pub use verification::{NotVerified, Verified, record_verification};

use super::actor::{Actor, ActorType};
use super::contact::DisplayName;
use super::ids::{MemberId, OrgId};
use super::moment::Moment;
use super::organization::{MemberRecord, Role};

/// A member, signed in.
///
/// No other caller can become one, not even an API caller with a read-write token:
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
    /// Only `service::identity` calls this: for a session, or after a password check.
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

    /// Their role, which determines their rights.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The member as an actor.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { actor_type: ActorType::Member, id: Some(self.id.uuid()), display_name: self.name.as_str().to_owned() }
    }
}

/// A member who may change the settings, as the commit checks again (`web::SubmittedForm::require_admin`):
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
    /// The member.
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

    pub(crate) fn as_admin(&self) -> Option<Admin<'_>> {
        self.is_admin().then_some(Admin(self))
    }
}

/// A record after a member's act. Only this module makes one, and the store requires one for protected transitions.
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
/// use shared::domain::member::{ByMember, Member};
/// use shared::domain::moment::Moment;
///
/// fn by_hand(record: Agreement, by: Member, moment: Moment) -> ByMember<Agreement> {
///     ByMember { record, by, moment }
/// }
/// ```
///
/// Acts take no other caller:
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
/// And the store accepts nothing else:
///
/// ```
/// use shared::domain::call_context::CallContext;
/// use shared::domain::member::ByMember;
/// use shared::domain::workspace::Workspace;
/// use shared::store::change::Changes;
/// use shared::store::workspaces;
///
/// fn activation(call: &CallContext, after: &ByMember<Workspace>) -> Changes {
///     workspaces::activate(call, after)
/// }
/// ```
///
/// ```compile_fail
/// use shared::domain::call_context::CallContext;
/// use shared::domain::workspace::Workspace;
/// use shared::store::change::Changes;
/// use shared::store::workspaces;
///
/// fn activation(call: &CallContext, after: &Workspace) -> Changes {
///     workspaces::activate(call, after)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByMember<T> {
    record: T,
    by: Member,
    moment: Moment,
}

impl<T> ByMember<T> {
    fn new(record: T, by: &Member, moment: Moment) -> Self {
        Self { record, by: by.clone(), moment }
    }

    /// The member, who must make the call that commits the change.
    pub(crate) fn by(&self) -> &Member {
        &self.by
    }

    /// The time and the call of the act.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The changed record.
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

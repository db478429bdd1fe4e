//! Links to set a new password, which admins make for members. No audit row or log has the link's secret.
//!
//! Decision: setting a new password does not sign in. The sign-in form follows: a second factor stays on.

use std::sync::OnceLock;

use tokio::sync::OnceCell;

use crate::crypto::LinkSecret;
use crate::domain::account::Account;
use crate::domain::actor::{Actor, ActorType};
use crate::domain::contact::Email;
use crate::domain::ids::MemberId;
use crate::domain::member::Admin;
use crate::domain::member::second::{Tie, TieKind};
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::password::{NewPassword, WeakPassword};
use crate::domain::password_link::{NotLinked, PasswordLink};
use crate::error::Error;
use crate::service::identity::call::{BrowserCall, Decided};
use crate::service::identity::credentials::hash_password;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::system::SystemContext;
use crate::store::{member_ties, members, password_links as stored};

/// Makes a link for a member, and returns the member. The caller shows the secret once.
pub async fn create(
    scope: &Scope,
    admin: Admin<'_>,
    id: MemberId,
    secret: &LinkSecret,
) -> Result<Plan<Result<MemberRecord, NotLinked>>, Error> {
    let Some(member) = scope.store().member(id).await? else {
        return Ok(Plan::new(scope, Err(NotLinked::Unknown)));
    };
    let account = scope.store().account_of(&member).await?;
    Ok(match PasswordLink::create(admin, Some(&member), account.as_ref(), scope.now()) {
        Ok(link) => {
            let changes = stored::create(scope.call(), admin, &link, secret.hash())?;
            Plan::new(scope, Ok(member)).change([changes]).showing([id.uuid()])
        }
        Err(refusal) => Plan::new(scope, Err(refusal)),
    })
}

/// Makes a link for an account by an operator, recorded as the service's own call. False if the account has left.
pub async fn create_as_operator(
    system: &SystemContext,
    email: &Email,
    secret: &LinkSecret,
) -> Result<Plan<bool>, Error> {
    let scope = system.scope();
    let Some(account) = scope.store().table().account(email).await? else { return Ok(Plan::new(scope, false)) };
    let mut memberships = account.memberships.iter();
    let Some(membership) = memberships.find(|membership| membership.organization_id == scope.call().org()) else {
        return Ok(Plan::new(scope, false));
    };
    let link = PasswordLink::by_operator(*membership, &account, scope.now());
    let changes = stored::create_as_operator(scope.call(), &link, secret.hash())?;
    Ok(Plan::new(scope, true).change([changes]).showing([membership.member_id.uuid()]))
}

/// A link to set a new password that can be used.
#[derive(Debug)]
pub struct OpenPasswordLink {
    /// The organization.
    pub organization: Organization,
    /// The address of the account.
    pub email: Email,
}

struct FoundLink {
    link: PasswordLink,
    organization: Organization,
    account: Account,
    member: MemberRecord,
}

impl FoundLink {
    async fn find(call: &BrowserCall<'_>, secret: &LinkSecret) -> Result<Option<Self>, Error> {
        let store = call.store();
        let Some(link) = store.password_link(secret.hash()).await? else { return Ok(None) };
        let org = link.organization_id;
        let (organization, account) = (store.organization(org).await?, store.account(&link.email).await?);
        let (Some(organization), Some(account)) = (organization, account) else { return Ok(None) };
        let ids: Vec<_> = [link.member_id].into_iter().chain(link.created_by).collect();
        let members = store.members_by_id(org, &ids).await?;
        let admin = members.iter().find(|member| Some(member.id) == link.created_by);
        let is_valid = link.is_valid_at(call.now(), &account, admin);
        let Some(member) = members.into_iter().find(|member| member.id == link.member_id) else { return Ok(None) };
        Ok(is_valid.then_some(Self { link, organization, account, member }))
    }
}

/// The link, if it can be used.
pub async fn open(call: &BrowserCall<'_>, secret: &LinkSecret) -> Result<Option<OpenPasswordLink>, Error> {
    let found = FoundLink::find(call, secret).await?;
    Ok(found.map(|found| OpenPasswordLink { organization: found.organization, email: found.account.email }))
}

/// The outcome of setting a new password.
#[derive(Debug)]
pub enum PasswordSet {
    /// The account has the password, and all its sessions have ended.
    Done,
    /// The link no longer works, or never did.
    Gone,
    /// The password is not accepted.
    Weak(WeakPassword),
}

/// Sets a new password with a link, which then stops working. The audit log shows it as the member's act.
pub async fn set_password(call: &BrowserCall<'_>, secret: &LinkSecret, password: &str) -> Result<PasswordSet, Error> {
    let new_hash = OnceCell::<String>::new();
    let tried = OnceLock::new();
    let set = || async {
        let Some(FoundLink { link, organization, account, member }) = FoundLink::find(call, secret).await? else {
            // An earlier attempt may have taken effect although its response was lost.
            let Some(email) = tried.get() else { return Ok(Decided::Nothing(PasswordSet::Gone)) };
            let account = call.store().account(email).await?;
            let is_set = account.is_some_and(|account| Some(&account.password_hash) == new_hash.get());
            return Ok(Decided::Nothing(if is_set { PasswordSet::Done } else { PasswordSet::Gone }));
        };
        let password = match NewPassword::check(password, account.email.as_str(), organization.name.as_str()) {
            Ok(password) => password,
            Err(weak) => return Ok(Decided::Nothing(PasswordSet::Weak(weak))),
        };
        let password_hash = new_hash.get_or_try_init(|| hash_password(&password)).await?;
        let actor = Actor {
            actor_type: ActorType::Member,
            id: Some(member.id.uuid()),
            display_name: member.name.as_str().to_owned(),
        };
        let scope = call.scope(link.organization_id, actor, Vec::new());
        let call = scope.call();
        let tie = |by| Tie { member_id: member.id, by, kind: TieKind::PasswordReset, at: call.now() };
        let to_admin = link.created_by.map(|by| member_ties::tie(call, &tie(by))).transpose()?;
        let set = stored::set_password(call, secret.hash(), &account, password_hash)?;
        let changes = [set, members::check_member(call, member.id)].into_iter().chain(to_admin);
        // A link's address does not change.
        let _ = tried.set(account.email.clone());
        let plan = Plan::new(&scope, PasswordSet::Done).change(changes).showing([member.id.uuid()]);
        Ok(Decided::Act(scope, plan))
    };
    call.run(set).await
}

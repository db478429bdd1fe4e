//! Organizations, members, templates, accounts, tokens and sessions.

use std::collections::BTreeSet;

use super::super::invitations::StoredInvitation;
use super::super::item::{Item, from_item, from_versioned_item, text};
use super::super::keys::{self, Key};
use super::super::record_kind::{Place, RecordKind};
use super::super::{invitations, sessions, tokens};
use super::{Problem, Sight};
use crate::domain::account::Account;
use crate::domain::agreement::outline::Outline;
use crate::domain::agreement::own_template::OwnTemplates;
use crate::domain::ids::{MemberId, OrgId};
use crate::domain::invitation::Invitation;
use crate::domain::organization::{MemberRecord, Organization};
use crate::domain::participant::session::StoredParticipantSession;
use crate::domain::password_link::PasswordLink;
use crate::domain::second_factor::SecondFactor;
use crate::domain::session::{FailedLogins, Session};
use crate::domain::token::Token;

pub(super) fn organization_of(item: &Item, place: Option<&Place>) -> Option<OrgId> {
    match place?.kind {
        RecordKind::Token | RecordKind::Session | RecordKind::InvitationPointer => {
            text(item, "organization_id")?.parse().ok()
        }
        RecordKind::ParticipantSession => {
            from_item::<StoredParticipantSession>(item.clone()).ok().map(|session| session.part.organization_id)
        }
        // An account of more organizations is inspected with its first.
        RecordKind::Account => {
            from_item::<Account>(item.clone()).ok()?.memberships.first().map(|of| of.organization_id)
        }
        _ => None,
    }
}

pub(super) fn read_organization(item: Option<&Item>) -> Option<Organization> {
    from_item(item?.clone()).ok()
}

pub(super) fn look(sight: &mut Sight<'_>, kind: RecordKind) {
    let is_readable = match kind {
        RecordKind::Token => return token(sight),
        RecordKind::Account => return account(sight),
        RecordKind::SecondFactor => return second_factor(sight),
        RecordKind::Session => return session(sight),
        RecordKind::ParticipantSession => return participant_session(sight),
        // Pointers outlive their targets.
        RecordKind::SessionPointer => text(sight.item, sessions::HASH).is_some(),
        RecordKind::InvitationPointer => from_item::<invitations::InvitedAddress>(sight.item.clone()).is_ok(),
        RecordKind::PasswordLink => from_item::<PasswordLink>(sight.item.clone()).is_ok(),
        RecordKind::FailedLogins => from_item::<FailedLogins>(sight.item.clone()).is_ok(),
        _ => true,
    };
    if !is_readable {
        sight.unreadable();
    }
}

pub(super) fn look_in_organization(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    match place.kind {
        RecordKind::Organization => organization(sight, org),
        RecordKind::Member => member(sight, org, place),
        RecordKind::Invitation => invitation(sight),
        RecordKind::OwnTemplates => templates(sight, org),
        RecordKind::Outline => outline(sight, org, place),
        _ => token_pointer(sight),
    }
}

fn organization(sight: &mut Sight<'_>, org: OrgId) {
    let Ok(organization) = from_item::<Organization>(sight.item.clone()) else { return sight.unreadable() };
    if organization.id != org {
        return sight.wrong(Problem::Misplaced, "has the record of another organization");
    }
    super::records::refers_to_contacts(sight, org, organization.own_contact_ids);
}

fn member(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    let Ok(member) = from_item::<MemberRecord>(sight.item.clone()) else { return sight.unreadable() };
    if place.first_id() != Some(member.id.uuid()) {
        return sight.wrong(Problem::Misplaced, "has the record of another member");
    }
    let account = keys::account(&member.email);
    sight.check([account.clone()], move |known| {
        let Some(found) = known.get(&account) else {
            return vec![(Problem::BrokenReference, format!("has no account: {account}"), None)];
        };
        if memberships(found).contains(&(org, member.id)) {
            return Vec::new();
        }
        vec![(Problem::Disagreement, format!("the account does not name the member: {account}"), None)]
    });
}

fn memberships(account: &Item) -> BTreeSet<(OrgId, MemberId)> {
    let account = from_item::<Account>(account.clone()).ok();
    let memberships = account.into_iter().flat_map(|account| account.memberships);
    memberships.map(|of| (of.organization_id, of.member_id)).collect()
}

fn account(sight: &mut Sight<'_>) {
    let Ok(account) = from_item::<Account>(sight.item.clone()) else { return sight.unreadable() };
    if keys::account(&account.email) != sight.key {
        return sight.wrong(Problem::Misplaced, "has the record of another address");
    }
    for of in account.memberships {
        let member = keys::member(of.organization_id, of.member_id);
        sight.refers(member, Problem::BrokenReference, "a member of it");
    }
}

fn second_factor(sight: &mut Sight<'_>) {
    if from_versioned_item::<SecondFactor>(sight.item.clone()).is_err() {
        sight.unreadable();
    }
    let account = keys::account_of_second_factor(&sight.key);
    super::records::owner(sight, account, "its account");
}

fn token(sight: &mut Sight<'_>) {
    let Ok(token) = from_item::<Token>(sight.item.clone()) else { return sight.unreadable() };
    let org = token.organization_id;
    let hash = tokens::hash_in(&sight.key);
    let pointer = hash.map(|hash| tokens::pointer(&token, hash));
    sight.refers(keys::organization(org), Problem::NoOrganization, "its organization");
    if token.is_valid_at(sight.now) {
        let (key, own) = (keys::organization(org), sight.key.clone());
        sight.check([key.clone()], move |known| match read_organization(known.get(&key)) {
            Some(of) if of.suspended_at != token.suspended_at => {
                let repair = vec![tokens::copy_suspension(own, of.suspended_at)];
                let says = format!("says otherwise than its organization whether it is suspended: {key}");
                vec![(Problem::Disagreement, says, Some(repair))]
            }
            _ => Vec::new(),
        });
    }
    match pointer {
        Some(pointer) => super::records::leads_here(sight, pointer, "pointer from its id, so it can't be revoked"),
        None => sight.unreadable(),
    }
}

fn token_pointer(sight: &mut Sight<'_>) {
    match tokens::pointed_hash(sight.item) {
        Ok(hash) => sight.refers(keys::token_by_hash(hash), Problem::BrokenReference, "its token"),
        Err(_) => sight.unreadable(),
    }
}

fn session(sight: &mut Sight<'_>) {
    let Ok(session) = from_item::<Session>(sight.item.clone()) else { return sight.unreadable() };
    sight.refers(keys::organization(session.organization_id), Problem::NoOrganization, "its organization");
    sight.refers(keys::account(&session.email), Problem::NoOwner, "its account");
    let pointer = keys::session_of_account(&session.email, session.id);
    sight.refers(pointer, Problem::NoPointer, "the pointer with which its person sees and ends it");
}

fn participant_session(sight: &mut Sight<'_>) {
    let Ok(session) = from_item::<StoredParticipantSession>(sight.item.clone()) else { return sight.unreadable() };
    let agreement = keys::agreement(session.part.organization_id, session.part.agreement_id);
    sight.refers(agreement, Problem::NoOwner, "its agreement");
}

fn invitation(sight: &mut Sight<'_>) {
    let Ok(stored) = from_versioned_item::<StoredInvitation>(sight.item.clone()) else { return sight.unreadable() };
    let Invitation { organization_id, email, .. } = &stored.invitation;
    if keys::invitation(*organization_id, email) != sight.key {
        return sight.wrong(Problem::Misplaced, "has the invitation of another address");
    }
    let pointer: Key = stored.pointer();
    sight.refers(pointer, Problem::NoPointer, "what its link leads to");
}

fn templates(sight: &mut Sight<'_>, org: OrgId) {
    let Ok(templates) = from_versioned_item::<OwnTemplates>(sight.item.clone()) else { return sight.unreadable() };
    for template in templates.iter() {
        sight.refers(keys::outline(org, template.id), Problem::BrokenReference, "a template that it names");
    }
}

fn outline(sight: &mut Sight<'_>, org: OrgId, place: &Place) {
    if from_item::<Outline>(sight.item.clone()).is_err() {
        sight.unreadable();
    }
    let (list, id) = (keys::own_templates(org), place.first_id());
    sight.check([list.clone()], move |known| {
        let templates = known.get(&list).and_then(|item| from_item::<OwnTemplates>(item.clone()).ok());
        let is_named = templates.is_some_and(|found| found.iter().any(|template| Some(template.id.uuid()) == id));
        if is_named { Vec::new() } else { vec![(Problem::NoOwner, format!("is in no list: {list}"), None)] }
    });
}

//! A new data directory's organizations, members and tokens, created with the operator's functions.

use ops::NewMember;
use shared::domain::organization::Role;
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use shared::store::Store;

use crate::data::{Credentials, Member, OrganizationCredentials, StoredToken};
use crate::error::{StartError, in_one_line};

struct NewOrganization {
    name: &'static str,
    /// Domain of the members' email addresses.
    domain: &'static str,
    /// Name, local part of the email address, role.
    members: &'static [(&'static str, &'static str, Role)],
}

/// A law firm that runs deals, and a family office that must never see them.
const ORGANIZATIONS: &[NewOrganization] = &[
    NewOrganization {
        name: "Harbor & Pine LLP",
        domain: "harborpine.example",
        members: &[("Maren Holt", "maren.holt", Role::Admin), ("Devin Okafor", "devin.okafor", Role::Member)],
    },
    NewOrganization {
        name: "Larkspur Family Office",
        domain: "larkspur.example",
        members: &[("Sofia Lindqvist", "sofia.lindqvist", Role::Admin)],
    },
];

/// `email_tag` becomes part of the email addresses, which makes them unique in a table shared with other stacks.
pub(crate) async fn create(store: &Store, email_tag: Option<&str>, now: Timestamp) -> Result<Credentials, StartError> {
    let email_tag = email_tag.map(|tag| format!("+{tag}")).unwrap_or_default();
    let mut organizations = Vec::new();
    for new in ORGANIZATIONS {
        let id = ops::create_organization(store, new.name).await.map_err(failed)?;
        let mut members = Vec::new();
        for &(name, local_part, role) in new.members {
            let email = format!("{local_part}{email_tag}@{}", new.domain);
            let password = random_secret(4)?;
            let member = NewMember { name, email: &email, password: &password, role };
            ops::create_member(store, id, member).await.map_err(failed)?;
            let role = match role {
                Role::Admin => "admin",
                Role::Member => "member",
            };
            members.push(Member { name: name.to_owned(), email, password, role: role.to_owned() });
        }
        organizations.push(OrganizationCredentials {
            id,
            name: new.name.to_owned(),
            read_write_token: StoredToken::issue(store, id, Scope::ReadWrite, now).await.map_err(failed)?,
            read_only_token: StoredToken::issue(store, id, Scope::Read, now).await.map_err(failed)?,
            members,
        });
    }
    Ok(Credentials { organizations })
}

/// A random secret of groups of four characters, 20 bits each, without look-alikes.
pub(crate) fn random_secret(groups: usize) -> Result<String, StartError> {
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = vec![0; groups * 4];
    getrandom::fill(&mut random).map_err(failed)?;
    let groups = random
        .chunks(4)
        .map(|group| group.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect::<String>());
    Ok(groups.collect::<Vec<_>>().join("-"))
}

fn failed(error: impl std::error::Error) -> StartError {
    StartError::Seed(in_one_line(&error))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_organization_has_an_admin_and_the_first_a_member_too() {
        assert!(ORGANIZATIONS.len() >= 2);
        for organization in ORGANIZATIONS {
            assert!(
                organization.members.iter().any(|(_, _, role)| matches!(role, Role::Admin)),
                "{}",
                organization.name
            );
        }
        assert!(ORGANIZATIONS[0].members.iter().any(|(_, _, role)| matches!(role, Role::Member)));
        let domains: HashSet<_> = ORGANIZATIONS.iter().map(|organization| organization.domain).collect();
        assert_eq!(domains.len(), ORGANIZATIONS.len(), "an email address could be in two organizations");
    }

    #[test]
    fn secrets_differ_and_have_four_groups() {
        let secrets: HashSet<_> = (0..1000).map(|_| random_secret(4).unwrap()).collect();
        assert_eq!(secrets.len(), 1000);
        for secret in secrets {
            assert_eq!(secret.split('-').map(str::len).collect::<Vec<_>>(), [4, 4, 4, 4], "{secret}");
        }
    }
}

//! What a new data directory begins with: organizations, members and tokens, made by the code that an operator's
//! commands use. The deal of `--seed demo` is in `demo`.

use ops::NewMember;
use shared::domain::organization::Role;
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use shared::store::Store;

use crate::credentials::{Credentials, OrganizationCredentials, Token};
use crate::error::{StartError, in_one_line};
use crate::ready::Member;

struct NewOrganization {
    name: &'static str,
    domain: &'static str,
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

/// Makes the organizations. With a `tag` the e-mail addresses carry it, so that they are unique in a table that others
/// use too.
pub(crate) async fn organizations(store: &Store, tag: Option<&str>, now: Timestamp) -> Result<Credentials, StartError> {
    let mut organizations = Vec::new();
    for new in ORGANIZATIONS {
        let id = ops::create_organization(store, new.name).await.map_err(failed)?;
        let mut members = Vec::new();
        for &(name, local_part, role) in new.members {
            let tag = tag.map(|tag| format!("+{tag}")).unwrap_or_default();
            let email = format!("{local_part}{tag}@{}", new.domain);
            let password = secret(4)?;
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
            read_write_token: Token::issue(store, id, Scope::ReadWrite, now).await.map_err(failed)?,
            read_only_token: Token::issue(store, id, Scope::Read, now).await.map_err(failed)?,
            members,
        });
    }
    Ok(Credentials { organizations })
}

/// Groups of four characters that a person can type without mistaking one for another, 20 bits each.
pub(crate) fn secret(groups: usize) -> Result<String, StartError> {
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
    fn there_are_two_organizations_with_an_admin_each_and_a_member_in_the_first() {
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
        assert_eq!(domains.len(), ORGANIZATIONS.len(), "an e-mail address could be in two organizations");
    }

    #[test]
    fn secrets_differ_and_have_the_form_that_people_can_type() {
        let secrets: HashSet<_> = (0..1000).map(|_| secret(4).unwrap()).collect();
        assert_eq!(secrets.len(), 1000);
        for secret in secrets {
            assert_eq!(secret.split('-').map(str::len).collect::<Vec<_>>(), [4, 4, 4, 4], "{secret}");
        }
    }
}

//! The organizations of a data directory with their tokens and passwords in clear. The store keeps only hashes, and a
//! restart has to give the same ones.

use serde::{Deserialize, Serialize};
use shared::domain::ids::OrgId;
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use shared::limits;
use shared::store::Store;

use ops::{NewToken, OpsError};

use crate::data_dir::DataDir;
use crate::error::{StartError, in_one_line};
use crate::ready::{Member, Organization};

const FILE: &str = "credentials.json";

/// A token that would die sooner than this, in seconds, is not handed out again.
const WORTH_HANDING_OUT_S: i64 = 24 * 3600;

/// The organizations that the ready file names.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Credentials {
    pub(crate) organizations: Vec<OrganizationCredentials>,
}

/// The ways into one organization.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OrganizationCredentials {
    pub(crate) id: OrgId,
    pub(crate) name: String,
    pub(crate) read_write_token: Token,
    pub(crate) read_only_token: Token,
    pub(crate) members: Vec<Member>,
}

/// A token's value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Token {
    value: String,
    issued_at: Timestamp,
}

impl Credentials {
    /// Reads what an earlier start wrote.
    pub(crate) fn read(data_dir: &DataDir) -> Result<Self, StartError> {
        serde_json::from_slice(&data_dir.read(FILE)?)
            .map_err(|error| data_dir.damaged(&format!("the file {FILE} cannot be read: {error}")))
    }

    /// Keeps them for the next start.
    pub(crate) fn write(&self, data_dir: &DataDir) -> Result<(), StartError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| StartError::Seed(in_one_line(&error)))?;
        data_dir.write(FILE, &text)
    }

    /// Issues new tokens in the place of those that are dead, or will be within a day. Says whether there were any.
    pub(crate) async fn renew_tokens(&mut self, store: &Store, now: Timestamp) -> Result<bool, OpsError> {
        let mut renewed = false;
        for organization in &mut self.organizations {
            for (token, scope) in [
                (&mut organization.read_write_token, Scope::ReadWrite),
                (&mut organization.read_only_token, Scope::Read),
            ] {
                if !token.is_worth_handing_out(now) {
                    *token = Token::issue(store, organization.id, scope, now).await?;
                    renewed = true;
                }
            }
        }
        Ok(renewed)
    }

    /// What the ready file says about them.
    pub(crate) fn organizations(&self) -> Vec<Organization> {
        self.organizations
            .iter()
            .map(|organization| Organization {
                id: organization.id.to_string(),
                name: organization.name.clone(),
                read_write_token: organization.read_write_token.value.clone(),
                read_only_token: organization.read_only_token.value.clone(),
                members: organization.members.clone(),
            })
            .collect()
    }
}

impl Token {
    /// Issues a token in an organization.
    pub(crate) async fn issue(store: &Store, org: OrgId, scope: Scope, now: Timestamp) -> Result<Self, OpsError> {
        let name = match scope {
            Scope::ReadWrite => "Local stack",
            Scope::Read => "Local stack, read-only",
        };
        let token = ops::create_token(store, org, NewToken { name, scope, issued_at: now }).await?;
        Ok(Self { value: token.value, issued_at: now })
    }

    /// The secret value.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    fn is_worth_handing_out(&self, now: Timestamp) -> bool {
        self.issued_at.plus_seconds(limits::TOKEN_LIFETIME_S - WORTH_HANDING_OUT_S) > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_handed_out_until_a_day_before_its_end() {
        let issued_at = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let token = Token { value: "cs_x".into(), issued_at };
        let day = 24 * 3600;
        assert!(token.is_worth_handing_out(issued_at));
        assert!(token.is_worth_handing_out(issued_at.plus_seconds(89 * day - 1)));
        assert!(!token.is_worth_handing_out(issued_at.plus_seconds(89 * day)));
        assert!(!token.is_worth_handing_out(issued_at.plus_seconds(91 * day)));
    }
}

//! Tokens and passwords in clear: the store keeps only hashes, and restarts write the same ready file.

use ops::{NewToken, OpsError};
use serde::{Deserialize, Serialize};
use shared::domain::ids::OrgId;
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use shared::limits;
use shared::store::Store;

use crate::data::directory::DataDir;
use crate::data::ready_file::{Member, Organization};
use crate::error::{StartError, in_one_line};

const FILE: &str = "credentials.json";

/// A start replaces tokens that expire within this many seconds.
const RENEW_BEFORE_EXPIRY_S: i64 = 24 * 3600;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Credentials {
    pub(crate) organizations: Vec<OrganizationCredentials>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OrganizationCredentials {
    pub(crate) id: OrgId,
    pub(crate) name: String,
    pub(crate) read_write_token: StoredToken,
    pub(crate) read_only_token: StoredToken,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredToken {
    value: String,
    issued_at: Timestamp,
}

impl Credentials {
    pub(crate) fn read(data_dir: &DataDir) -> Result<Self, StartError> {
        serde_json::from_slice(&data_dir.read(FILE)?)
            .map_err(|error| data_dir.damaged(&format!("the file {FILE} cannot be read: {error}")))
    }

    pub(crate) fn write(&self, data_dir: &DataDir) -> Result<(), StartError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| StartError::Seed(in_one_line(&error)))?;
        data_dir.write(FILE, &text)
    }

    /// Replaces tokens that have expired or expire within a day; true if there were any.
    pub(crate) async fn renew_tokens(&mut self, store: &Store, now: Timestamp) -> Result<bool, OpsError> {
        let mut renewed = false;
        for organization in &mut self.organizations {
            for (token, scope) in [
                (&mut organization.read_write_token, Scope::ReadWrite),
                (&mut organization.read_only_token, Scope::Read),
            ] {
                if token.needs_renewal(now) {
                    *token = StoredToken::issue(store, organization.id, scope, now).await?;
                    renewed = true;
                }
            }
        }
        Ok(renewed)
    }

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

impl StoredToken {
    pub(crate) async fn issue(store: &Store, org: OrgId, scope: Scope, now: Timestamp) -> Result<Self, OpsError> {
        let name = match scope {
            Scope::ReadWrite => "Local stack",
            Scope::Read => "Local stack, read-only",
        };
        let token = ops::create_token(store, org, NewToken { name, scope, issued_at: now }).await?;
        Ok(Self { value: token.value, issued_at: now })
    }

    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    fn needs_renewal(&self, now: Timestamp) -> bool {
        self.issued_at.plus_seconds(limits::TOKEN_LIFETIME_S - RENEW_BEFORE_EXPIRY_S) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_from_a_day_before_its_expiry_on() {
        let issued_at = Timestamp::from_unix_ms(1_800_000_000_000).unwrap();
        let token = StoredToken { value: "cs_x".into(), issued_at };
        let day = 24 * 3600;
        assert!(!token.needs_renewal(issued_at));
        assert!(!token.needs_renewal(issued_at.plus_seconds(89 * day - 1)));
        assert!(token.needs_renewal(issued_at.plus_seconds(89 * day)));
        assert!(token.needs_renewal(issued_at.plus_seconds(91 * day)));
    }
}

//! Access tokens: their scope and validity (specification, "Authentication").

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use super::actor::{Actor, ActorType};
use super::contact::DisplayName;
use super::ids::{OrgId, TokenId};
use super::member::Admin;
use super::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::FieldErrors;

text_enum! {
    /// What a token may do.
    pub enum Scope {
        /// Reads only.
        Read = "read",
        /// Reads and writes.
        ReadWrite = "read_write",
    }
}

/// A token as stored, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// The organization that it acts for.
    pub organization_id: OrgId,
    /// Its label.
    pub name: String,
    /// Its scope.
    pub scope: Scope,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Timestamp,
    /// The admin who created it in the app. None if an operator issued it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Actor>,
    /// The beginning of the hour in which it was last used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// When its organization was suspended, if it is: a copy of the organization's own value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<Timestamp>,
}

/// A token to be created.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct NewToken {
    /// Its label.
    pub name: DisplayName,
    /// Its scope.
    pub scope: Scope,
}

impl Token {
    /// A new token, valid for ninety days.
    #[must_use]
    pub fn issue(organization_id: OrgId, name: String, scope: Scope, now: Timestamp) -> Self {
        Self {
            id: TokenId::new(),
            organization_id,
            name,
            scope,
            created_at: now,
            expires_at: now.plus_seconds(limits::TOKEN_LIFETIME_S),
            created_by: None,
            last_used_at: None,
            revoked_at: None,
            suspended_at: None,
        }
    }

    /// A new token for the admin's organization, valid for ninety days.
    #[must_use]
    pub fn create(admin: Admin<'_>, new: &NewToken, now: Timestamp) -> Self {
        let issued = Self::issue(admin.member().org(), new.name.as_str().to_owned(), new.scope, now);
        Self { created_by: Some(admin.member().actor()), ..issued }
    }

    /// The token as an actor.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { actor_type: ActorType::Token, id: Some(self.id.uuid()), display_name: self.name.clone() }
    }

    /// The hour to record as its last use. None if that hour is already recorded.
    #[must_use]
    pub fn use_to_record(&self, now: Timestamp) -> Option<Timestamp> {
        let hour = now.start_of_hour();
        self.last_used_at.is_none_or(|last| last < hour).then_some(hour)
    }

    /// Whether it is valid at a moment, computed on read so that expiry is never late.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }

    /// Whether it is valid but ends soon.
    #[must_use]
    pub fn ends_soon(&self, now: Timestamp) -> bool {
        self.is_valid_at(now) && self.expires_at <= now.plus_seconds(limits::TOKEN_ENDS_SOON_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_recorded_once_an_hour() {
        const HOUR_MS: i64 = 3_600_000;
        let at = |ms| Timestamp::from_unix_ms(ms).unwrap();
        let token = Token::issue(OrgId::new(), "t".to_owned(), Scope::Read, at(0));
        assert_eq!(token.use_to_record(at(HOUR_MS + 1)), Some(at(HOUR_MS)));
        let used = Token { last_used_at: Some(at(HOUR_MS)), ..token };
        for (now, to_record) in
            [(HOUR_MS, None), (2 * HOUR_MS - 1, None), (2 * HOUR_MS, Some(2 * HOUR_MS)), (HOUR_MS - 1, None)]
        {
            assert_eq!(used.use_to_record(at(now)), to_record.map(at), "{now}");
        }
    }

    #[test]
    fn a_token_works_for_ninety_days_unless_revoked() {
        let issued = Timestamp::from_unix_ms(1_000_000).unwrap();
        let token = Token::issue(OrgId::new(), "t".to_owned(), Scope::Read, issued);
        let last = issued.plus_seconds(90 * 24 * 3600 - 1);
        assert!(token.is_valid_at(last));
        assert!(!token.is_valid_at(last.plus_seconds(1)));
        let soon = token.expires_at.plus_seconds(-limits::TOKEN_ENDS_SOON_S);
        assert!(token.ends_soon(soon) && token.ends_soon(last));
        assert!(!token.ends_soon(soon.plus_seconds(-1)) && !token.ends_soon(token.expires_at));
        let revoked = Token { revoked_at: Some(issued), ..token };
        assert!(!revoked.is_valid_at(issued));
    }
}

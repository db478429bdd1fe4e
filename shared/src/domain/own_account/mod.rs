//! The accounts at banks that an organization calls its own. Where no instructions of a payment name an account, they say whose
//! statement it is.
//!
//! Decision: one member says it, and a second one agrees, by the rule of second members. Until then
//! the account is nobody's. Removing one takes one member: nothing is believed because of that.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::bank_account::AccountDigest;
use super::ids::{MemberId, OwnAccountId};
use super::time::Timestamp;

pub mod agreeing;

/// An account that a member called the organization's. Its number is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnAccount {
    /// Its id, which the form carries.
    pub id: OwnAccountId,
    /// The last characters of its number.
    pub ending: String,
    /// What it is compared by.
    pub digest: AccountDigest,
    /// Who said so.
    pub said_by: Actor,
    /// When.
    pub said_at: Timestamp,
    /// The second member's word. None while it waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Agreed>,
}

/// A second member's word that an account is the organization's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    /// The member; whoever said so first, if nobody else counted.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Whether no second member counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alone: bool,
}

/// The digests of those that count: that a second member agreed to.
pub fn counted(own: &[OwnAccount]) -> impl Iterator<Item = &AccountDigest> {
    own.iter().filter(|own| own.agreed.is_some()).map(|own| &own.digest)
}

impl OwnAccount {
    /// The member who said so first.
    #[must_use]
    pub fn said_by_member(&self) -> Option<MemberId> {
        self.said_by.member()
    }
}

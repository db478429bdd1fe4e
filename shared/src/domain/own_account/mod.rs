//! An organization's own bank accounts: where no instructions name an account, they tell whose statement it is.
//!
//! Decision: an account counts once a second member agrees. Anyone may remove one, which makes nothing count.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::bank_account::AccountDigest;
use super::ids::{MemberId, OwnAccountId};
use super::time::Timestamp;

pub mod agreeing;

/// An account that a member marked as the organization's own, without its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnAccount {
    /// Its id, from the form.
    pub id: OwnAccountId,
    /// The last characters of its number.
    pub ending: String,
    /// The digest for comparisons.
    pub digest: AccountDigest,
    /// Who marked it.
    pub said_by: Actor,
    /// When.
    pub said_at: Timestamp,
    /// The second member's agreement, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Agreed>,
}

/// A second member's agreement that an account is the organization's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    /// The member: the one who marked it, if nobody else counted.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Whether no second member counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alone: bool,
}

/// The digests of accounts that count, to which a second member agreed.
pub fn counted(own: &[OwnAccount]) -> impl Iterator<Item = &AccountDigest> {
    own.iter().filter(|own| own.agreed.is_some()).map(|own| &own.digest)
}

impl OwnAccount {
    /// The member who marked it.
    #[must_use]
    pub fn said_by_member(&self) -> Option<MemberId> {
        self.said_by.member()
    }
}

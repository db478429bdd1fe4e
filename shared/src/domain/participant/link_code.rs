//! Codes read out by phone, where an organization requires one: a link may reach someone else, the phone the person.
//!
//! Decision: a code has six digits, because it is heard and typed. So it is useless without the link, after 15 minutes,
//! after five tries, or a second time. Each try is counted before it is compared, so parallel guesses gain nothing.
//!
//! Decision: the store holds a keyed hash of code, participant and link: no reader of the table can try all codes.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::session::Part;
use crate::crypto::hex;
use crate::crypto::keyring::{Keyring, SealError};
use crate::domain::time::Timestamp;
use crate::limits;

const CODES: u64 = 1_000_000;
const HASH_BYTES: usize = 32;

/// A code. Only the page that shows it once and the form that takes it have it in clear.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkCode(u64);

impl LinkCode {
    /// The random bytes for a code, enough to make all codes equally likely.
    pub const BYTES: usize = 16;

    /// The code from random bytes.
    #[must_use]
    pub fn of(bytes: [u8; Self::BYTES]) -> Self {
        let code = u128::from_be_bytes(bytes).rem_euclid(u128::from(CODES));
        Self(u64::try_from(code).unwrap_or_default())
    }

    /// Parses a typed code: six digits, optionally with blanks or hyphens.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        const DIGITS: usize = 6;
        let digits: String = text.chars().filter(|letter| !letter.is_whitespace() && *letter != '-').collect();
        let is_code = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| digits.parse().ok().map(Self)).flatten()
    }

    /// The code in clear, for reading out.
    #[must_use]
    pub fn reveal(&self) -> String {
        let (first, last) = (self.0 / 1000, self.0.rem_euclid(1000));
        format!("{first:03} {last:03}")
    }

    fn place(&self, part: Part, id: Uuid, generation: u64) -> String {
        let Part { organization_id, agreement_id, participant_id } = part;
        let code = self.0;
        format!(
            "code {code:06}, {id}, for link {generation} of participant {participant_id} of agreement {agreement_id} in {organization_id}"
        )
    }
}

impl fmt::Debug for LinkCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkCode")
    }
}

/// A participant's code as stored. A new one replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLinkCode {
    /// The id from the form, so that submitting twice makes one code.
    pub id: Uuid,
    /// The keyed hash of the code, in hexadecimal.
    hash: String,
    /// The generation of its link.
    generation: u64,
    /// When it ends.
    pub expires_at: Timestamp,
    tries: u32,
    /// Whether it has opened a session.
    is_used: bool,
}

impl StoredLinkCode {
    /// A new code for a participant's link in a generation.
    pub fn new(
        keys: &Keyring,
        part: Part,
        generation: u64,
        id: Uuid,
        code: &LinkCode,
        now: Timestamp,
    ) -> Result<Self, SealError> {
        let hash: [u8; HASH_BYTES] = keys.derive(&code.place(part, id, generation))?;
        let expires_at = now.plus_seconds(limits::LINK_CODE_LIFETIME_S);
        Ok(Self { id, hash: hex(&hash), generation, expires_at, tries: 0, is_used: false })
    }

    /// Whether it can still open a session with a link of this generation.
    #[must_use]
    pub fn works(&self, generation: u64, now: Timestamp) -> bool {
        !self.is_used && self.generation == generation && now < self.expires_at
    }

    /// The remaining tries.
    #[must_use]
    pub fn tries_left(&self) -> u32 {
        limits::LINK_CODE_TRIES_MAX.saturating_sub(self.tries)
    }

    /// Whether this is the participant's code, in constant time. Codes survive keyring rotations, as links do.
    #[must_use]
    pub fn is(&self, keys: &Keyring, part: Part, code: &LinkCode) -> bool {
        let made = keys.derive_with_each::<HASH_BYTES>(&code.place(part, self.id, self.generation));
        made.into_iter().any(|hash| bool::from(hex(&hash).as_bytes().ct_eq(self.hash.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::{after, noon};
    use crate::domain::ids::{AgreementId, OrgId, ParticipantId};

    fn part() -> Part {
        Part { organization_id: OrgId::new(), agreement_id: AgreementId::new(), participant_id: ParticipantId::new() }
    }

    #[test]
    fn a_code_is_six_digits_as_people_type_them() {
        let code = LinkCode::parse(" 012-345 ").unwrap();
        assert_eq!((code.reveal().as_str(), LinkCode::parse(&code.reveal())), ("012 345", Some(code.clone())));
        for wrong in ["", "12345", "1234567", "12345x", "١٢٣٤٥٦", "+12345", "12 34 5."] {
            assert_eq!(LinkCode::parse(wrong), None, "{wrong}");
        }
        assert_eq!(LinkCode::of([0; LinkCode::BYTES]).reveal(), "000 000");
        assert!(LinkCode::parse(&LinkCode::of([0xff; LinkCode::BYTES]).reveal()).is_some());
        assert_eq!(format!("{code:?}"), "LinkCode");
    }

    #[test]
    fn a_code_is_of_its_participant_and_link_and_ends() {
        let (keys, part) = (Keyring::new("one").unwrap(), part());
        let (code, id) = (LinkCode::of([7; LinkCode::BYTES]), Uuid::now_v7());
        let stored = StoredLinkCode::new(&keys, part, 3, id, &code, noon()).unwrap();
        assert!(stored.is(&keys, part, &code) && stored.works(3, after(0)));
        assert!(!stored.is(&keys, part, &LinkCode::parse("000000").unwrap()));
        assert!(!stored.is(&keys, self::part(), &code), "another participant's");
        assert!(!stored.is(&Keyring::new("one").unwrap(), part, &code), "other keys");
        assert!(stored.is(&keys.clone().with_new_key("two").unwrap(), part, &code), "a rotation ends no code");
        assert!(!stored.works(4, noon()), "the link was reissued");
        assert!(stored.works(3, noon().plus_seconds(899)) && !stored.works(3, noon().plus_seconds(900)));
        assert!(!StoredLinkCode { is_used: true, ..stored.clone() }.works(3, noon()));
        assert_eq!((stored.tries_left(), StoredLinkCode { tries: 9, ..stored.clone() }.tries_left()), (5, 0));
        let text = serde_json::to_string(&stored).unwrap();
        assert!(!text.contains(&code.reveal().replace(' ', "")), "{text}");
        assert_eq!(serde_json::from_str::<StoredLinkCode>(&text).unwrap(), stored);
    }
}

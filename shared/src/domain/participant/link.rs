//! Links of participants: ids and a code, the keyring's HMAC-SHA256 of participant and generation; nothing is stored.
//!
//! Decision: a code counts if any key makes it, so links survive rotations until their key is dropped.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::session::Part;
use crate::crypto::keyring::{Keyring, SealError};

const CODE_BYTES: usize = 20;

/// A parsed link. Only [`ParticipantLink::opens`] says whether its code is right.
#[derive(Clone, PartialEq, Eq)]
pub struct ParticipantLink {
    part: Part,
    code: [u8; CODE_BYTES],
}

impl ParticipantLink {
    /// A participant's link in a generation.
    pub fn new(keys: &Keyring, part: Part, generation: u64) -> Result<Self, SealError> {
        Ok(Self { part, code: keys.derive(&place(part, generation))? })
    }

    /// Parses a link's text. None if malformed.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text).ok()?;
        let (organization, rest) = bytes.split_first_chunk::<16>()?;
        let (agreement, rest) = rest.split_first_chunk::<16>()?;
        let (participant, code) = rest.split_first_chunk::<16>()?;
        let part = Part {
            organization_id: Uuid::from_bytes(*organization).into(),
            agreement_id: Uuid::from_bytes(*agreement).into(),
            participant_id: Uuid::from_bytes(*participant).into(),
        };
        Some(Self { part, code: code.try_into().ok()? })
    }

    /// The link's text, for the participant and the members who hand it over.
    #[must_use]
    pub fn reveal(&self) -> String {
        let Part { organization_id, agreement_id, participant_id } = self.part;
        let ids = [organization_id.uuid(), agreement_id.uuid(), participant_id.uuid()];
        let bytes: Vec<u8> = ids.iter().flat_map(|id| *id.as_bytes()).chain(self.code).collect();
        BASE64.encode(bytes)
    }

    /// The participant it claims to belong to.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// Whether it is its participant's link in a generation.
    #[must_use]
    pub fn opens(&self, keys: &Keyring, generation: u64) -> bool {
        let made = keys.derive_with_each::<CODE_BYTES>(&place(self.part, generation));
        made.into_iter().any(|code| bool::from(code.ct_eq(&self.code)))
    }
}

impl std::str::FromStr for ParticipantLink {
    type Err = NotALink;

    fn from_str(text: &str) -> Result<Self, NotALink> {
        Self::parse(text).ok_or(NotALink)
    }
}

/// The text is not a participant's link.
#[derive(Debug, thiserror::Error)]
#[error("not a link of a participant")]
pub struct NotALink;

impl std::fmt::Debug for ParticipantLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParticipantLink({})", self.part.participant_id)
    }
}

fn place(part: Part, generation: u64) -> String {
    let Part { organization_id, agreement_id, participant_id } = part;
    format!("link {generation} of participant {participant_id} of agreement {agreement_id} in {organization_id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{AgreementId, OrgId, ParticipantId};

    fn part() -> Part {
        Part { organization_id: OrgId::new(), agreement_id: AgreementId::new(), participant_id: ParticipantId::new() }
    }

    #[test]
    fn a_link_opens_for_its_participant_and_generation_only() {
        let (keys, part) = (Keyring::new("one").unwrap(), part());
        let link = ParticipantLink::new(&keys, part, 3).unwrap();
        let read = ParticipantLink::parse(&link.reveal()).unwrap();
        assert_eq!((&read, read.part()), (&link, part));
        assert!(read.opens(&keys, 3) && !read.opens(&keys, 2) && !read.opens(&keys, 4));
        assert!(!read.opens(&Keyring::new("one").unwrap(), 3), "other keys");
        for other in [
            Part { organization_id: OrgId::new(), ..part },
            Part { agreement_id: AgreementId::new(), ..part },
            Part { participant_id: ParticipantId::new(), ..part },
        ] {
            assert!(!ParticipantLink { part: other, code: link.code }.opens(&keys, 3), "{other:?}");
        }
        assert!(!format!("{link:?}").contains(&link.reveal()));
    }

    #[test]
    fn a_link_outlives_a_rotation_until_its_key_is_dropped() {
        let (old, part) = (Keyring::new("one").unwrap(), part());
        let link = ParticipantLink::new(&old, part, 0).unwrap();
        let rotated = old.with_new_key("two").unwrap();
        assert!(link.opens(&rotated, 0));
        assert_ne!(ParticipantLink::new(&rotated, part, 0).unwrap(), link);
        assert!(ParticipantLink::new(&rotated, part, 0).unwrap().opens(&rotated, 0));
    }

    #[test]
    fn a_text_of_another_form_is_no_link() {
        let text = ParticipantLink::new(&Keyring::new("one").unwrap(), part(), 0).unwrap().reveal();
        assert_eq!(text.len(), 91);
        for wrong in ["", "x", &text[1..], &format!("{text}AA"), &text.replace(&text[..1], "!")] {
            assert_eq!(ParticipantLink::parse(wrong), None, "{wrong}");
        }
    }
}

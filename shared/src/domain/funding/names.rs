//! A digest of the people's names in an item's document.

use serde::{Deserialize, Serialize};

use crate::crypto;
use crate::domain::contact::Contact;
use crate::domain::ids::ContactId;

pub(super) fn name_of(contacts: &[Contact], id: ContactId) -> &str {
    let contact = contacts.iter().find(|contact| contact.id == id);
    contact.map_or("…", |contact| contact.display_name.as_str())
}

/// A hash of the people's names in an item's document; collisions are very unlikely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NamesDigest(u64);

impl NamesDigest {
    /// The hash for an item's owners and its trust's trustees, by their contacts' current names.
    #[must_use]
    pub fn of(owners: &[ContactId], trustees: &[ContactId], contacts: &[Contact]) -> Self {
        let people = owners.iter().chain(trustees);
        let names: Vec<&[u8]> = people.map(|id| name_of(contacts, *id).as_bytes()).collect();
        let [first, second, third, fourth, fifth, sixth, seventh, eighth, ..] = crypto::fingerprint(&names);
        Self(u64::from_be_bytes([first, second, third, fourth, fifth, sixth, seventh, eighth]))
    }
}

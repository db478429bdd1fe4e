//! Schema versions: how a record is laid out, and what its list row has. The one place that knows them.
//!
//! Every record carries the version in which it was written. A record without one is of version 1, from before there were
//! versions. A release reads all versions up to its own and writes its own; it refuses newer ones, since it can't know what
//! they mean. `ops migrate` rewrites what is older.
//!
//! Decision: versions have one numbering for the whole table, and a step to the next one names the kinds of records that it
//! changes. All other kinds keep their number. So nothing is rewritten that has not changed, and a release that is rolled
//! back refuses only records of the kinds that the newer one changed.
//!
//! Decision: an attribute that is new and may be absent needs no step: `serde` has its default. A step is for what an older
//! release would misread, and for rows that derive from the record and have to be written anew.
//!
//! To add a step: add it to `STEPS` with the kinds that it changes; if it changes attributes, do so in `upgraded`; and
//! if rows of a kind that was never migrated change, write them in `migrate`. Changes in place (`Change::Update`) must be
//! right for records of both layouts, until all tables are migrated.

use aws_sdk_dynamodb::types::AttributeValue;

use super::StoreError;
use super::keys::{Item, Key, RecordKey};
use crate::wire::enums::text_enum;

/// The attribute of a record that holds its schema version.
pub(super) const SCHEMA: &str = "sv";

/// The version of records without one.
const FIRST: u32 = 1;

text_enum! {
    /// The kinds of records that a step has changed. The text is part of their keys.
    pub enum Kind {
        /// Agreements.
        Agreement = "AGREEMENT",
        /// Movements.
        Movement = "MOVEMENT",
        /// Obligations.
        Obligation = "OBLIGATION",
        /// Workspaces.
        Workspace = "WORKSPACE",
    }
}

impl Kind {
    /// The kind of the record with a key. None of other items, and of records that no step has changed.
    pub(super) fn of(key: &Key) -> Option<Self> {
        Self::parse(RecordKey::of(key)?.what)
    }
}

/// A step from one version to the next.
struct Step {
    /// The version to which it leads.
    to: u32,
    /// The kinds of records that it changes.
    kinds: &'static [Kind],
}

/// All steps, in their order.
const STEPS: &[Step] = &[
    // Rows of agreements have the contacts, the kind, and the payments that wait to be authorized, for Home. Rows of
    // movements and obligations are packed. The people of workspaces have rows of their own kind. Records are as they were.
    Step { to: 2, kinds: &[Kind::Agreement, Kind::Movement, Kind::Obligation, Kind::Workspace] },
];

/// The newest version of any kind of record: what this release writes.
pub const NEWEST: u32 = STEPS[STEPS.len() - 1].to;

/// The version in which records of a kind are written.
pub(super) fn newest(kind: Option<Kind>) -> u32 {
    let changed = |kind: Kind| STEPS.iter().rev().find(|step| step.kinds.contains(&kind));
    kind.and_then(changed).map_or(FIRST, |step| step.to)
}

/// The version of an item.
pub(super) fn version_of(item: &Item) -> u32 {
    let number = item.get(SCHEMA).and_then(|version| version.as_n().ok());
    number.and_then(|number| number.parse().ok()).unwrap_or(FIRST)
}

/// Adds the version in which records with a key are written.
pub(super) fn stamp(item: &mut Item, key: &Key) {
    item.insert(SCHEMA.to_owned(), AttributeValue::N(newest(Kind::of(key)).to_string()));
}

/// A record's item in the newest layout.
///
/// # Errors
/// [`StoreError::Newer`] when a newer release wrote it.
pub(super) fn upgraded(item: Item) -> Result<Item, StoreError> {
    let version = version_of(&item);
    // Without its key, it is a part of an item that was read for some attributes.
    let known = Key::of(&item).map_or(NEWEST, |key| newest(Kind::of(&key)));
    if version > known {
        return Err(StoreError::Newer(format!(
            "a record of schema version {version}, and this release knows {known}: a newer release wrote it"
        )));
    }
    // Version 2 changed rows only.
    Ok(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{AgreementId, ContactId, OrgId, RequestId};
    use crate::store::keys;

    #[test]
    fn steps_lead_from_each_version_to_the_next() {
        for (step, to) in STEPS.iter().zip(FIRST + 1..) {
            assert_eq!(step.to, to);
            assert!(!step.kinds.is_empty());
        }
        for kind in Kind::ALL {
            assert!(newest(Some(kind)) > FIRST, "{kind} was never changed");
        }
        assert_eq!(newest(None), FIRST);
    }

    #[test]
    fn only_records_alone_with_their_key_have_a_kind() {
        let (org, agreement) = (OrgId::new(), AgreementId::new());
        assert_eq!(Kind::of(&keys::agreement(org, agreement)), Some(Kind::Agreement));
        assert_eq!(Kind::of(&keys::workspace(org, agreement.uuid().into())), Some(Kind::Workspace));
        assert_eq!(Kind::of(&keys::contact(org, ContactId::new())), None);
        assert_eq!(Kind::of(&keys::act(org, agreement, RequestId::new())), None, "an act beside the agreement");
        assert_eq!(Kind::of(&keys::row(org, keys::Rows::Agreements, agreement.uuid())), None, "its row");
        assert_eq!(Kind::of(&Key::from_parts("ORG#not-an-id#AGREEMENT#x", ".")), None);
    }

    #[test]
    fn older_versions_are_read_and_newer_ones_refused() {
        let key = keys::agreement(OrgId::new(), AgreementId::new());
        let mut item = key.clone().into_item();
        assert_eq!(version_of(&item), FIRST);
        assert!(upgraded(item.clone()).is_ok(), "from before there were versions");
        stamp(&mut item, &key);
        assert_eq!(version_of(&item), NEWEST);
        assert!(upgraded(item.clone()).is_ok());
        item.insert(SCHEMA.to_owned(), AttributeValue::N((NEWEST + 1).to_string()));
        let refused = upgraded(item).unwrap_err();
        assert!(matches!(refused, StoreError::Newer(_)));
        assert_eq!(
            refused.to_string(),
            format!(
                "a record of schema version {}, and this release knows {NEWEST}: a newer release wrote it",
                NEWEST + 1
            )
        );
    }

    #[test]
    fn a_kind_that_has_not_changed_is_refused_from_the_next_version_on() {
        let mut item = keys::contact(OrgId::new(), ContactId::new()).into_item();
        item.insert(SCHEMA.to_owned(), AttributeValue::N((FIRST + 1).to_string()));
        assert!(matches!(upgraded(item), Err(StoreError::Newer(_))));
    }
}

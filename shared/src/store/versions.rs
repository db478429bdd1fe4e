//! Schema versions: the layout of records and their list rows. Only this module knows them.
//!
//! Every record carries its version. A release reads all up to its own and refuses newer; `ops migrate` rewrites.
//!
//! - Decision: versions have one numbering for the table; a step names the kinds of records that it changes. So nothing
//!   unchanged is rewritten, and a rolled-back release refuses only kinds that the newer one changed.
//! - Decision: a new optional attribute needs no step. Steps are for what an older release would misread.
//!
//! To add a step, add it to `STEPS`; if it changes rows that are not in their kind's own list, also write them in
//! `migrate`. Changes in place (`Change::Update`) must be right for both layouts until all tables are migrated.

use aws_sdk_dynamodb::types::AttributeValue;

use super::StoreError;
use super::keys::{Item, Key};
use super::record_kind::RecordKind as Kind;

pub(super) const SCHEMA: &str = "sv";

/// The first version of all kinds, also of records without one because they only change in place.
const FIRST: u32 = 1;

struct Step {
    to: u32,
    kinds: &'static [Kind],
    upgrade: fn(&mut Item),
}

struct Steps(&'static [Step]);

/// None yet.
const STEPS: Steps = Steps(&[]);

/// The newest version of any kind of record: what this release writes.
pub const NEWEST: u32 = STEPS.newest_of_all();

pub(super) fn version_of(item: &Item) -> u32 {
    let number = item.get(SCHEMA).and_then(|version| version.as_n().ok());
    number.and_then(|number| number.parse().ok()).unwrap_or(FIRST)
}

/// Adds the version in which records with a key are written.
pub(super) fn stamp(item: &mut Item, key: &Key) {
    set(item, STEPS.newest(Kind::of_listed(key)));
}

fn set(item: &mut Item, version: u32) {
    item.insert(SCHEMA.to_owned(), AttributeValue::N(version.to_string()));
}

/// The kind of a record that is older than this release's. None for other items. Fails if a newer release wrote it.
pub(super) fn older(item: &Item) -> Result<Option<Kind>, StoreError> {
    STEPS.older(item)
}

/// A record's item in the newest layout, with its version. Fails if a newer release wrote it.
pub(super) fn upgraded(item: Item) -> Result<Item, StoreError> {
    STEPS.upgraded(item)
}

impl Steps {
    const fn newest_of_all(&self) -> u32 {
        match self.0 {
            [.., last] => last.to,
            [] => FIRST,
        }
    }

    fn newest(&self, kind: Option<Kind>) -> u32 {
        let changed = |kind: Kind| self.0.iter().rev().find(|step| step.kinds.contains(&kind));
        kind.and_then(changed).map_or(FIRST, |step| step.to)
    }

    fn older(&self, item: &Item) -> Result<Option<Kind>, StoreError> {
        let (version, key) = (version_of(item), Key::of(item));
        let kind = key.as_ref().and_then(Kind::of_listed);
        // Without its key, it is a part of an item, read for some attributes.
        let known = if key.is_some() { self.newest(kind) } else { self.newest_of_all() };
        if version > known {
            return Err(StoreError::Newer(format!(
                "a record of schema version {version}, and this release knows {known}: a newer release wrote it"
            )));
        }
        Ok(kind.filter(|_| version < known))
    }

    fn upgraded(&self, mut item: Item) -> Result<Item, StoreError> {
        let Some(kind) = self.older(&item)? else { return Ok(item) };
        let version = version_of(&item);
        for step in self.0.iter().filter(|step| version < step.to && step.kinds.contains(&kind)) {
            (step.upgrade)(&mut item);
        }
        set(&mut item, self.newest(Some(kind)));
        Ok(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{AgreementId, ContactId, OrgId, RequestId};
    use crate::store::keys;

    const MADE_UP: Steps = Steps(&[
        Step { to: 2, kinds: &[Kind::Contact], upgrade: |item| rename(item, "display_name", "name") },
        Step { to: 3, kinds: &[Kind::Agreement], upgrade: |item| rename(item, "name", "title") },
        Step { to: 4, kinds: &[Kind::Contact, Kind::Workspace], upgrade: |item| rename(item, "name", "called") },
    ]);

    fn rename(item: &mut Item, from: &str, to: &str) {
        let value = item.remove(from).unwrap();
        item.insert(to.to_owned(), value);
    }

    fn contact(version: Option<u32>, name: &str) -> Item {
        let mut item = keys::contact(OrgId::new(), ContactId::new()).into_item();
        item.insert(name.to_owned(), AttributeValue::S("Ada".to_owned()));
        if let Some(version) = version {
            set(&mut item, version);
        }
        item
    }

    #[test]
    fn steps_lead_from_each_version_to_the_next() {
        for steps in [STEPS, MADE_UP] {
            for (step, to) in steps.0.iter().zip(FIRST + 1..) {
                assert_eq!(step.to, to);
                assert!(!step.kinds.is_empty());
            }
        }
        assert_eq!((MADE_UP.newest_of_all(), MADE_UP.newest(None)), (4, FIRST));
        let newest = |kind| MADE_UP.newest(Some(kind));
        assert_eq!([Kind::Agreement, Kind::Contact, Kind::Movement, Kind::Workspace].map(newest), [3, 4, FIRST, 4]);
    }

    #[test]
    fn only_records_alone_with_their_key_have_a_kind() {
        let (org, agreement) = (OrgId::new(), AgreementId::new());
        assert_eq!(Kind::of_listed(&keys::agreement(org, agreement)), Some(Kind::Agreement));
        assert_eq!(Kind::of_listed(&keys::workspace(org, agreement.uuid().into())), Some(Kind::Workspace));
        assert_eq!(Kind::of_listed(&keys::event(org, agreement.uuid().into())), None, "no list has it");
        assert_eq!(Kind::of_listed(&keys::act(org, agreement, RequestId::new())), None, "an act beside the agreement");
        assert_eq!(Kind::of_listed(&keys::row(org, keys::Rows::Agreements, agreement.uuid())), None, "its row");
        assert_eq!(Kind::of_listed(&Key::from_parts("ORG#not-an-id#AGREEMENT#x", ".")), None);
    }

    #[test]
    fn records_are_stamped_and_read_in_the_version_of_this_release() {
        let mut item = contact(None, "display_name");
        assert_eq!(version_of(&item), FIRST, "changed in place only");
        let key = Key::of(&item).unwrap();
        stamp(&mut item, &key);
        assert_eq!((version_of(&item), NEWEST), (1, 1));
        assert_eq!((older(&item).unwrap(), upgraded(item.clone()).unwrap()), (None, item));
    }

    #[test]
    fn an_older_record_is_read_in_the_newest_layout_by_the_steps_from_its_version_on() {
        for (version, name) in
            [(None, "display_name"), (Some(1), "display_name"), (Some(2), "name"), (Some(4), "called")]
        {
            let written = contact(version, name);
            let is_older = version.is_none_or(|version| version < 4);
            assert_eq!(MADE_UP.older(&written).unwrap(), is_older.then_some(Kind::Contact), "to be migrated");
            let read = MADE_UP.upgraded(written).unwrap();
            assert_eq!((version_of(&read), read["called"].as_s().unwrap().as_str()), (4, "Ada"), "{version:?}");
            assert!(!read.contains_key("display_name") && !read.contains_key("name"));
            assert_eq!(MADE_UP.upgraded(read.clone()).unwrap(), read, "once");
        }
        let mut movement = keys::movement(OrgId::new(), ContactId::new().uuid().into()).into_item();
        set(&mut movement, FIRST);
        assert_eq!(MADE_UP.upgraded(movement.clone()).unwrap(), movement, "no step changes it");
    }

    #[test]
    fn a_newer_record_is_refused_by_what_its_kind_has() {
        let refused = upgraded(contact(Some(2), "name")).unwrap_err();
        assert!(matches!(refused, StoreError::Newer(_)));
        assert_eq!(
            refused.to_string(),
            "a record of schema version 2, and this release knows 1: a newer release wrote it"
        );
        assert!(matches!(MADE_UP.upgraded(contact(Some(5), "called")), Err(StoreError::Newer(_))));
        let mut event = keys::event(OrgId::new(), ContactId::new().uuid().into()).into_item();
        set(&mut event, FIRST);
        assert!(MADE_UP.upgraded(event.clone()).is_ok());
        set(&mut event, FIRST + 1);
        assert!(matches!(MADE_UP.upgraded(event), Err(StoreError::Newer(_))), "its kind has not changed");
        let part = Item::from([(SCHEMA.to_owned(), AttributeValue::N("4".to_owned()))]);
        assert!(MADE_UP.upgraded(part).is_ok(), "a part of an item");
    }
}

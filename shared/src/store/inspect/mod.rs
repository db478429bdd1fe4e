//! Checks what must hold between items, and says what is wrong. `ops verify` shows each to an [`Inspector`].
//!
//! Each item states what must be true of others (`checks`): a record has its exact list row, what it refers to exists,
//! and what time does to it is on the due index. Derived items name their record.
//!
//! - Decision: a finding is checked again before it is reported: items are read one by one, with traffic in between.
//! - Decision: a repair writes derived items only, as their record says, and checks that the record is unchanged.

mod agreements;
mod beside;
mod deliveries;
mod due;
mod files;
mod funding;
mod people;
mod records;

pub use files::NamedFile;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};
use uuid::Uuid;

use super::change::{Change, Condition};
use super::due::DueEntry;
use super::failure::TransactionOutcome;
use super::item::{Item, VERSION, from_versioned_item, number};
use super::keys::{self, DROP_AT, Due, Key};
use super::list::{List, spread_row};
use super::query::Query;
use super::record_kind::{Chapter, Place, RecordKind};
use super::{Store, StoreError, Versioned};
use crate::domain::endpoint::Endpoint;
use crate::domain::ids::OrgId;
use crate::domain::shards::DueShards;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};
use crate::wire::enums::text_enum;

text_enum! {
    /// What can be wrong. Scripts tell findings apart by the text.
    pub enum Problem {
        /// Nothing in this release writes such a key.
        UnknownItem = "unknown_item",
        /// The item can't be read as what its key says.
        Unreadable = "unreadable",
        /// The record in the item belongs under another key.
        Misplaced = "misplaced",
        /// The item's organization does not exist.
        NoOrganization = "no_organization",
        /// A record has no row in its list.
        NoRow = "no_row",
        /// The row of a record is not as the record says.
        WrongRow = "wrong_row",
        /// A record has another number of something than there is.
        WrongCount = "wrong_count",
        /// A row has no record, or should not be there.
        RowWithoutRecord = "row_without_record",
        /// The item that leads to a record, by its id or by what is unique of it, is not there.
        NoPointer = "no_pointer",
        /// It leads elsewhere.
        WrongPointer = "wrong_pointer",
        /// It leads to nothing, or to a record that does not have it.
        PointerWithoutRecord = "pointer_without_record",
        /// What a record refers to does not exist.
        BrokenReference = "broken_reference",
        /// The record beside which an item is does not exist.
        NoOwner = "no_owner",
        /// What is to happen at a time is not on the due index.
        NoDueEntry = "no_due_entry",
        /// An entry of the due index has no reason.
        DueWithoutReason = "due_without_reason",
        /// An event was relayed, and an endpoint that subscribes to it has no delivery.
        NoDelivery = "no_delivery",
        /// A pending proposal has no claim, so a second one could be made.
        NoClaim = "no_claim",
        /// A claim of no pending proposal keeps new ones from being made.
        ClaimWithoutProposal = "claim_without_proposal",
        /// Two records that change together disagree.
        Disagreement = "disagreement",
        /// A record that should have ended with its agreement has not.
        NotEnded = "not_ended",
        /// A record is in a state in which nothing can have put it.
        Inconsistent = "inconsistent",
        /// A file that a record names is not there.
        NoFile = "no_file",
        /// It is not as it was written.
        DamagedFile = "damaged_file",
        /// A change is not in the audit log.
        NoAuditRow = "no_audit_row",
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What.
    pub problem: Problem,
    /// The item that shows it.
    pub key: Key,
    /// What the item is; none of an unknown one.
    pub kind: Option<RecordKind>,
    /// What is wrong with it, in plain words and with the keys of the others.
    pub says: String,
    repair: Option<Vec<Change>>,
}

impl Finding {
    /// Whether [`Inspector::repair`] can put it right.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        self.repair.is_some()
    }

    fn is_same_as(&self, other: &Self) -> bool {
        (self.problem, &self.key, &self.says) == (other.problem, &other.key, &other.says)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.map_or("item", RecordKind::as_str);
        write!(f, "{}: {} ({kind}) {}", self.problem.as_str(), self.key, self.says)
    }
}

struct Known {
    items: HashMap<Key, Item>,
    underway: Underway,
}

impl Known {
    fn has(&self, key: &Key) -> bool {
        self.items.contains_key(key)
    }

    fn get(&self, key: &Key) -> Option<&Item> {
        self.items.get(key)
    }
}

/// What due entries will do whose keys contain a call's moment and so follow from no record.
#[derive(Debug, Clone, Default)]
struct Underway {
    endings: HashSet<(OrgId, Uuid)>,
    endpoints: HashSet<(OrgId, Uuid)>,
    people: HashSet<(OrgId, Uuid)>,
}

type Judge<'a> = Box<dyn FnOnce(&Known) -> Vec<Finding> + Send + 'a>;

struct Check<'a> {
    reads: Vec<Key>,
    judge: Judge<'a>,
}

struct Sight<'a> {
    item: &'a Item,
    key: Key,
    kind: Option<RecordKind>,
    now: Timestamp,
    about: &'a About,
    findings: Vec<Finding>,
    checks: Vec<Check<'a>>,
}

/// What is read of partitions for the items that are looked at together.
#[derive(Debug, Default)]
struct About {
    endpoints: HashMap<OrgId, Arc<Vec<Endpoint>>>,
    /// How many people each workspace has.
    people: HashMap<Key, u64>,
}

impl<'a> Sight<'a> {
    fn finding(&self, problem: Problem, says: impl Into<String>, repair: Option<Vec<Change>>) -> Finding {
        Finding { problem, key: self.key.clone(), kind: self.kind, says: says.into(), repair }
    }

    fn wrong(&mut self, problem: Problem, says: impl Into<String>) {
        let finding = self.finding(problem, says, None);
        self.findings.push(finding);
    }

    fn unreadable(&mut self) {
        self.wrong(Problem::Unreadable, "can't be read");
    }

    /// Adds a check: what `judge` finds wrong, with the change that would repair it.
    fn check(
        &mut self,
        reads: impl IntoIterator<Item = Key>,
        judge: impl FnOnce(&Known) -> Vec<(Problem, String, Option<Vec<Change>>)> + Send + 'a,
    ) {
        let template = self.finding(Problem::Unreadable, "", None);
        let judge = Box::new(move |known: &Known| {
            let found = judge(known).into_iter();
            found.map(|(problem, says, repair)| Finding { problem, says, repair, ..template.clone() }).collect()
        });
        self.checks.push(Check { reads: reads.into_iter().collect(), judge });
    }

    fn refers(&mut self, to: Key, problem: Problem, what: &'static str) {
        self.check([to.clone()], move |known| {
            if known.has(&to) { Vec::new() } else { vec![(problem, format!("{what} does not exist: {to}"), None)] }
        });
    }

    /// Requires a derived item, exactly so.
    fn derives(&mut self, derived: Item, [missing, wrong]: [Problem; 2], what: &'static str) {
        let Some(at) = Key::of(&derived) else { return };
        let guard = self.guard();
        self.check([at.clone()], move |known| {
            let (problem, says) = match known.get(&at) {
                None => (missing, format!("has no {what}: {at}")),
                Some(found) if !is_same_row(found, &derived) => (wrong, format!("has a wrong {what}: {at}")),
                Some(_) => return Vec::new(),
            };
            vec![(problem, says, Some(vec![Change::Put(derived), guard]))]
        });
    }

    /// Requires the row of a record in a list, exactly so: that of the latest version, if it is in both places.
    fn has_row(&mut self, list: List, id: Uuid, derived: Item, what: &'static str) {
        let places = row_places(list, id);
        let [at, _] = places.clone();
        let guard = self.guard();
        self.check(places.clone(), move |known| {
            let latest = newest_row(known, &places);
            let is_so = latest.is_some_and(|(place, found)| {
                let mut derived = derived.clone();
                place.clone().insert_into(&mut derived);
                is_same_row(found, &derived)
            });
            if is_so {
                return Vec::new();
            }
            let (problem, says) = match latest {
                None => (Problem::NoRow, format!("has no {what}: {at}")),
                Some((place, _)) => (Problem::WrongRow, format!("has a wrong {what}: {place}")),
            };
            // Where it was, so that who passes over the rows meanwhile doesn't miss it.
            let there = latest.map_or(&at, |(place, _)| place).clone();
            let other = places.iter().find(|place| **place != there).cloned().map(Change::Delete);
            let mut derived = derived;
            there.insert_into(&mut derived);
            vec![(problem, says, Some([Change::Put(derived), guard].into_iter().chain(other).collect()))]
        });
    }

    fn is_due(&mut self, entry: Key, what: &'static str) {
        let guard = self.guard();
        self.check([entry.clone()], move |known| {
            if known.has(&entry) {
                return Vec::new();
            }
            let repair = vec![Change::Put(entry.clone().into_item()), guard];
            vec![(Problem::NoDueEntry, format!("is not on the due index for {what}: {entry}"), Some(repair))]
        });
    }

    /// This item derives from a record; a repair deletes it unless `is_of` confirms it.
    fn derives_from(
        &mut self,
        record: Key,
        problem: Problem,
        says: &'static str,
        is_of: impl FnOnce(&Item) -> bool + Send + 'a,
    ) {
        let own = self.key.clone();
        self.check([record.clone()], move |known| {
            let found = known.get(&record);
            if found.is_some_and(is_of) {
                return Vec::new();
            }
            vec![(problem, format!("{says}: {record}"), Some(vec![Change::Delete(own), unchanged(record, found)]))]
        });
    }

    /// The endpoints of an organization, if any of its events is inspected.
    fn endpoints(&self, org: OrgId) -> Arc<Vec<Endpoint>> {
        self.about.endpoints.get(&org).cloned().unwrap_or_default()
    }

    fn guard(&self) -> Change {
        unchanged(self.key.clone(), Some(self.item))
    }
}

fn unchanged(key: Key, found: Option<&Item>) -> Change {
    let version = found.and_then(|item| number(item, VERSION));
    match (found, version) {
        (Some(_), Some(version)) => Change::CheckVersion(key, version),
        (found, _) => Change::Check(Condition {
            key,
            expression: if found.is_some() { "attribute_exists(#pk)" } else { "attribute_not_exists(#pk)" },
            names: vec![("#pk", keys::PARTITION)],
            values: Vec::new(),
        }),
    }
}

/// Where a row may be.
fn row_places(list: List, id: Uuid) -> [Key; 2] {
    [keys::row(list.0, list.1, id), spread_row(list, id)]
}

fn newest_row<'a>(known: &'a Known, places: &'a [Key]) -> Option<(&'a Key, &'a Item)> {
    let found = places.iter().filter_map(|place| Some((place, known.get(place)?)));
    found.max_by_key(|(_, row)| number::<u64>(row, VERSION))
}

/// A row has the version of its record that wrote it, which need not be the last.
fn is_same_row(found: &Item, derived: &Item) -> bool {
    let mut derived = derived.clone();
    if let (Some(derived), Some(found)) = (derived.get_mut(VERSION), found.get(VERSION)) {
        found.clone_into(derived);
    }
    is_same(found, &derived)
}

/// Sets have no order.
fn is_same(one: &Item, other: &Item) -> bool {
    let same = |(name, value): (&String, &AttributeValue)| other.get(name).is_some_and(|found| is_equal(found, value));
    one.len() == other.len() && one.iter().all(same)
}

fn is_equal(one: &AttributeValue, other: &AttributeValue) -> bool {
    match (one, other) {
        (AttributeValue::Ss(one), AttributeValue::Ss(other)) => {
            one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>()
        }
        (AttributeValue::Bs(one), AttributeValue::Bs(other)) => {
            let set = |of: &[aws_sdk_dynamodb::primitives::Blob]| {
                of.iter().map(|blob| blob.as_ref().to_vec()).collect::<BTreeSet<_>>()
            };
            set(one) == set(other)
        }
        (one, other) => one == other,
    }
}

/// What became of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// It took effect.
    Done,
    /// The record has changed since it was read: look at it again.
    Changed,
    /// Nothing derives what is missing.
    Impossible,
}

/// Looks at items.
#[derive(Debug)]
pub struct Inspector<'a> {
    store: &'a Store,
    only: Option<OrgId>,
    underway: Underway,
}

/// How often a finding is checked again before it is reported, and the pause before each check.
const LOOKS_AGAIN: u32 = 2;
const PAUSE: Duration = Duration::from_millis(100);

impl<'a> Inspector<'a> {
    /// Inspects a whole table, or one organization's items.
    pub async fn new(store: &'a Store, only: Option<OrgId>) -> Result<Self, StoreError> {
        Ok(Self { store, only, underway: underway(store).await? })
    }

    /// What is wrong with these items, and still is when checked again.
    pub async fn inspect(&mut self, items: &[Item]) -> Result<Vec<Finding>, StoreError> {
        let mut confirmed = Vec::new();
        for items in items.chunks(limits::INSPECTED_AT_ONCE) {
            let suspected = self.look(items).await?;
            if !suspected.is_empty() {
                confirmed.extend(self.confirm(suspected).await?);
            }
        }
        Ok(confirmed)
    }

    /// Puts right what was found.
    pub async fn repair(&self, finding: &Finding) -> Result<Repair, StoreError> {
        let Some(changes) = &finding.repair else { return Ok(Repair::Impossible) };
        let changes = with_forgotten_rows(changes);
        let attempt = || self.store.transact(changes.clone());
        match retry_on_conflict(Budget::attempts(limits::OPERATOR_ATTEMPTS_MAX), attempt).await {
            Ok(TransactionOutcome::Committed) => Ok(Repair::Done),
            Ok(TransactionOutcome::ConditionsFailed(_)) | Err(StoreError::Conflict) => Ok(Repair::Changed),
            Err(error) => Err(error),
        }
    }

    async fn confirm(&mut self, mut suspected: Vec<Finding>) -> Result<Vec<Finding>, StoreError> {
        for _ in 0..LOOKS_AGAIN {
            tokio::time::sleep(PAUSE).await;
            self.underway = underway(self.store).await?;
            let keys: HashSet<Key> = suspected.iter().map(|finding| finding.key.clone()).collect();
            let items = self.store.get_all(&keys.into_iter().collect::<Vec<_>>()).await?;
            let again = self.look(&items).await?;
            suspected = again.into_iter().filter(|found| suspected.iter().any(|was| was.is_same_as(found))).collect();
            if suspected.is_empty() {
                break;
            }
        }
        Ok(suspected)
    }

    async fn look(&self, items: &[Item]) -> Result<Vec<Finding>, StoreError> {
        let (now, about) = (Timestamp::now(), self.about(items).await?);
        let (mut found, mut checks) = (Vec::new(), Vec::new());
        for sight in items.iter().filter_map(|item| self.sight(item, now, &about)) {
            found.extend(sight.findings);
            checks.extend(sight.checks);
        }
        let reads: HashSet<Key> = checks.iter().flat_map(|check: &Check<'_>| check.reads.iter().cloned()).collect();
        let read = self.store.get_all(&reads.into_iter().collect::<Vec<_>>()).await?;
        let items = read.into_iter().filter_map(|item| Some((Key::of(&item)?, item))).collect();
        let known = Known { items, underway: self.underway.clone() };
        found.extend(checks.into_iter().flat_map(|check| (check.judge)(&known)));
        Ok(found)
    }

    async fn about(&self, items: &[Item]) -> Result<About, StoreError> {
        let keys = items.iter().filter_map(|item| Some((Place::of(&Key::of(item)?)?, Key::of(item)?)));
        let is_asked_for = |place: &Place| self.only.is_none_or(|only| place.org == Some(only));
        let (mut orgs, mut people) = (BTreeSet::new(), Vec::new());
        for (place, key) in keys.filter(|(place, _)| is_asked_for(place)) {
            match place.kind {
                RecordKind::Event => orgs.extend(place.org),
                RecordKind::Workspace => {
                    let query = Query::of(key.partition().to_owned()).beginning(keys::people());
                    people.push(async move { Ok::<_, StoreError>((key, self.store.count(query).await?)) });
                }
                _ => {}
            }
        }
        let people = stream::iter(people).buffer_unordered(limits::BATCHES_AT_ONCE).try_collect().await?;
        let mut about = About { people, ..About::default() };
        for org in orgs {
            // Its own inspection reports an unreadable endpoint.
            let items = self.store.all(Query::of(keys::endpoints(org))).await?;
            let read = items.into_iter().filter_map(|item| from_versioned_item::<Endpoint>(item).ok());
            about.endpoints.insert(org, Arc::new(read.map(Versioned::into_inner).collect()));
        }
        Ok(about)
    }

    /// What an item says of itself and others. None if it may be gone at any moment, or is not asked for.
    fn sight<'i>(&self, item: &'i Item, now: Timestamp, about: &'i About) -> Option<Sight<'i>> {
        let key = Key::of(item)?;
        let place = Place::of(&key);
        let org = place.as_ref().and_then(|place| place.org).or_else(|| people::organization_of(item, place.as_ref()));
        if self.only.is_some_and(|only| org != Some(only)) {
            return None;
        }
        if number::<i64>(item, DROP_AT).is_some_and(|drop_at| drop_at <= now.unix_s()) {
            return None;
        }
        let kind = place.as_ref().map(|place| place.kind);
        let mut sight = Sight { item, key, kind, now, about, findings: Vec::new(), checks: Vec::new() };
        match place {
            None => sight.wrong(Problem::UnknownItem, "is nothing that this release of the service writes"),
            Some(place) => look_at(&mut sight, &place),
        }
        Some(sight)
    }
}

/// The organization that an item names, if its key has none.
pub(super) fn organization_of(item: &Item, place: Option<&Place>) -> Option<OrgId> {
    people::organization_of(item, place)
}

fn look_at(sight: &mut Sight<'_>, place: &Place) {
    let Some(org) = place.org else { return people::look(sight, place.kind) };
    if !matches!(place.kind, RecordKind::Organization | RecordKind::Due) {
        sight.refers(keys::organization(org), Problem::NoOrganization, "its organization");
    }
    match place.kind.declared().refers {
        Chapter::OfOrganization => people::look_in_organization(sight, org, place),
        Chapter::Records => records::look(sight, org, place),
        Chapter::Agreements => agreements::look(sight, org, place),
        Chapter::BesideAgreements => beside::look(sight, org, place),
        Chapter::Funding => funding::look(sight, org, place),
        Chapter::Deliveries => deliveries::look(sight, org, place),
        Chapter::Due => due::look(sight),
        Chapter::Alone => {}
    }
}

/// The changes of a repair, and the pointers to the stored rows of the lists that they change forgotten: no log tells of it.
fn with_forgotten_rows(changes: &[Change]) -> Vec<Change> {
    let key = |change: &Change| match change {
        Change::Put(item) => Key::of(item),
        Change::Update(update) => Some(update.key.clone()),
        Change::Delete(key) => Some(key.clone()),
        _ => None,
    };
    let list = |place: Place| Some((place.org?, place.rows.or(place.kind.declared().own_rows.map(|own| own.rows))?));
    let lists: BTreeSet<_> =
        changes.iter().filter_map(key).filter_map(|key| Place::of(&key)).filter_map(list).collect();
    let forgotten = lists.into_iter().map(|(org, rows)| Change::Delete(keys::stored_rows(org, rows)));
    changes.iter().cloned().chain(forgotten).collect()
}

/// Work under way whose due entries follow from no record.
async fn underway(store: &Store) -> Result<Underway, StoreError> {
    let mut underway = Underway::default();
    for shard in DueShards::FEWEST.all() {
        for (what, into) in [
            (Due::Ending, &mut underway.endings),
            (Due::Endpoint, &mut underway.endpoints),
            (Due::People, &mut underway.people),
        ] {
            let query = Query::of(keys::due_shard(shard)).beginning(keys::due_of_kind(what));
            let visit = |item: Item| {
                into.extend(Key::of(&item).and_then(DueEntry::of).map(|entry| (entry.org, entry.id)));
            };
            store.each(query.only(&[keys::PARTITION, keys::SORT]), visit).await?;
        }
    }
    Ok(underway)
}

//! Audit rows: one for each call, kept for good, with ids, codes and times but no user's text.
//!
//! The transaction of a change writes its row; for a read or a refusal, the row precedes the response. It is written
//! once per call, which makes it a fence: a call answered as failed can't take effect later.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use http::StatusCode;
use uuid::Uuid;

use super::item::{bytes, from_item, number, text};
use super::keys::{self, DROP_AT, Key, SORT};
use super::query::{Query, QueryPage};
use super::table::PutIf;
use super::{Item, OrgStore, Store, StoreError};
use crate::domain::actor::ActorType;
use crate::domain::agreement::acts::Act;
use crate::domain::audit::{AuditRow, Caller, DayRange, ObjectKind, Via};
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, RequestId};
use crate::domain::time::Timestamp;
use crate::limits;

/// The number of the attempt that took effect, counted from 0.
const ATTEMPT: &str = "attempt";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The HTTP status.
    pub status: u16,
    pub code: &'a str,
    /// The ids of the objects that the call named, showed or changed, 16 bytes each.
    pub objects: &'a [u8],
}

fn row(key: Key, operation: &str, outcome: Outcome<'_>, at: Timestamp) -> Item {
    let mut item = key.into_item();
    item.insert("operation".to_owned(), AttributeValue::S(operation.to_owned()));
    item.insert("status".to_owned(), AttributeValue::N(outcome.status.to_string()));
    item.insert("code".to_owned(), AttributeValue::S(outcome.code.to_owned()));
    item.insert("at".to_owned(), AttributeValue::S(at.to_string()));
    if !outcome.objects.is_empty() {
        item.insert("objects".to_owned(), AttributeValue::B(Blob::new(outcome.objects)));
    }
    item
}

fn of_call(call: &CallContext, outcome: Outcome<'_>) -> Item {
    let mut item = row(key(call), call.operation(), outcome, call.now());
    if let Some(via) = call.via() {
        item.insert(VIA.to_owned(), AttributeValue::S(via.as_str().to_owned()));
    }
    // Only the actor's id, because people choose the names.
    let attribute = match call.actor().actor_type {
        ActorType::Token => TOKEN,
        ActorType::Member => MEMBER,
        ActorType::Participant => PARTICIPANT,
        ActorType::System => return item,
    };
    if let Some(id) = call.actor().id {
        item.insert(attribute.to_owned(), AttributeValue::S(id.to_string()));
    }
    item
}

fn key(call: &CallContext) -> Key {
    keys::audit(call.org(), call.request_id())
}

pub(super) const OK: &str = "ok";

/// The row of a call that takes effect, for its transaction, with its status, code and attempt number.
pub(super) fn of_commit(call: &CallContext, status: StatusCode, code: &str, shown: &[u8], attempt: usize) -> Item {
    let objects = call.objects_with(shown);
    let mut item = of_call(call, Outcome { status: status.as_u16(), code, objects: &objects });
    item.insert(ATTEMPT.to_owned(), AttributeValue::N(attempt.to_string()));
    item
}

/// Whether a call changed something, be it refused: answers that can't be sent yet are kept, with their files.
pub(super) fn took_effect(row: &Item) -> bool {
    row.contains_key(ATTEMPT)
}

impl OrgStore {
    pub(super) async fn attempt_of(&self, call: &CallContext) -> Result<Option<usize>, StoreError> {
        let row = self.store.get(key(call)).await?;
        Ok(row.as_ref().and_then(|row| number(row, ATTEMPT)))
    }

    /// Writes the row of a call that changed nothing or failed. If the row exists, an attempt took effect after all:
    /// the row stays, and its attempt number is returned. If the row can't be written, the call must fail.
    pub(crate) async fn record_call(
        &self,
        call: &CallContext,
        outcome: Outcome<'_>,
    ) -> Result<Option<usize>, StoreError> {
        if self.store.put(of_call(call, outcome), PutIf::Absent).await? {
            return Ok(None);
        }
        self.attempt_of(call).await
    }
}

/// The rows of several shards, newest first, down to where a shard was not read further.
fn merged(of_shards: Vec<AuditRows>) -> AuditRows {
    let unread = of_shards.iter().filter(|rows| rows.has_more);
    let read_to = unread.filter_map(|rows| rows.rows.last()).map(|row| row.request_id).max();
    let has_more = read_to.is_some();
    let mut rows: Vec<AuditRow> = of_shards.into_iter().flat_map(|rows| rows.rows).collect();
    rows.retain(|row| read_to.is_none_or(|to| to <= row.request_id));
    rows.sort_by_key(|row| std::cmp::Reverse(row.request_id));
    AuditRows { rows, has_more }
}

#[derive(Debug)]
pub(crate) struct AuditRows {
    pub rows: Vec<AuditRow>,
    /// Whether the range may have older rows.
    pub has_more: bool,
}

impl OrgStore {
    pub(crate) async fn audit_rows(
        &self,
        days: DayRange,
        before: Option<RequestId>,
        limit: i32,
    ) -> Result<AuditRows, StoreError> {
        let first = first_id_at(days.start);
        let end = before.map_or(first_id_at(days.end), |before| before.uuid().as_u128().min(first_id_at(days.end)));
        let last = end.saturating_sub(1);
        if last < first {
            return Ok(AuditRows { rows: Vec::new(), has_more: false });
        }
        // Together, the shards are read as far as one would be, and further where most rows are in one of them.
        let shards: Vec<u8> = self.store.audit_shards.all().collect();
        let wanted = usize::try_from(limit).unwrap_or_default();
        let of_each =
            (limit / i32::try_from(shards.len()).unwrap_or(i32::MAX)).max(limits::AUDIT_ROWS_OF_SHARD_MIN.min(limit));
        let (mut found, mut last) = (AuditRows { rows: Vec::new(), has_more: true }, last);
        while found.has_more && found.rows.len() < wanted && first <= last {
            let ids = Uuid::from_u128(first)..=Uuid::from_u128(last);
            let read = shards.iter().map(|shard| self.audit_rows_of_shard(*shard, ids.clone(), of_each));
            let AuditRows { rows, has_more } = merged(try_join_all(read).await?);
            if let Some(oldest) = rows.last() {
                last = oldest.request_id.uuid().as_u128().saturating_sub(1);
            }
            found.rows.extend(rows);
            found.has_more = has_more;
        }
        Ok(found)
    }

    async fn audit_rows_of_shard(
        &self,
        shard: u8,
        ids: RangeInclusive<Uuid>,
        limit: i32,
    ) -> Result<AuditRows, StoreError> {
        let query = Query::of(keys::audit_rows(self.org, shard)).between(ids.start(), ids.end());
        let query = query.backward().limit(limit);
        let QueryPage { items, next, .. } = self.store.page_of(&query, None).await?;
        let rows = items.iter().map(read_row).collect::<Result<_, StoreError>>()?;
        Ok(AuditRows { rows, has_more: next.is_some() })
    }

    /// The rows of these calls, in order. Skips calls without a row.
    pub(crate) async fn audit_rows_of(
        &self,
        calls: impl IntoIterator<Item = RequestId>,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let keys: Vec<Key> = calls.into_iter().map(|call| keys::audit(self.org, call)).collect();
        self.store.get_all(&keys).await?.iter().map(read_row).collect()
    }

    /// The names of callers and objects, objects' kinds, and calls' acts in histories. Skips what no longer exists.
    pub(crate) async fn names_and_acts(
        &self,
        of: &[(ObjectKind, Uuid)],
        calls: &[(AgreementId, RequestId)],
    ) -> Result<(HashMap<Uuid, (ObjectKind, String)>, HashMap<RequestId, Act>), StoreError> {
        let act_keys: HashMap<Key, RequestId> =
            calls.iter().map(|(agreement, call)| (keys::act(self.org, *agreement, *call), *call)).collect();
        let of_names = of.iter().flat_map(|(kind, id)| self.named_by(*kind, *id)).map(|(_, key)| key);
        // An id may be wanted both as one of two kinds and as one of them, but a batch must have each key once.
        let keys: HashSet<Key> = of_names.chain(act_keys.keys().cloned()).collect();
        let keys: Vec<Key> = keys.into_iter().collect();
        let mut names: HashMap<Key, String> = HashMap::new();
        let mut acts: HashMap<RequestId, Act> = HashMap::new();
        for item in self.store.get_all(&keys).await? {
            if let Some(call) = Key::of(&item).and_then(|key| act_keys.get(&key)) {
                acts.insert(*call, from_item(item)?);
                continue;
            }
            let inner =
                |item: &Item, outer: &str, name: &str| item.get(outer)?.as_m().ok()?.get(name)?.as_s().ok().cloned();
            let plain = ["display_name", NAME, "url"].iter().find_map(|name| text(&item, name).map(str::to_owned));
            let name = plain.or_else(|| inner(&item, "subject", "name"));
            names.extend(Key::of(&item).zip(name));
        }
        let name = |(kind, id): &(ObjectKind, Uuid)| {
            let of_key = |(kind, key): (ObjectKind, Key)| Some((kind, names.get(&key)?.clone()));
            Some((*id, self.named_by(*kind, *id).into_iter().find_map(of_key)?))
        };
        Ok((of.iter().filter_map(name).collect(), acts))
    }

    fn named_by(&self, kind: ObjectKind, id: Uuid) -> Vec<(ObjectKind, Key)> {
        let org = self.org;
        let key = match kind {
            ObjectKind::Agreement => keys::agreement(org, id.into()),
            ObjectKind::Contact => keys::contact(org, id.into()),
            ObjectKind::Workspace => keys::workspace(org, id.into()),
            ObjectKind::Proposal => keys::proposal(org, id.into()),
            ObjectKind::Obligation => keys::obligation(org, id.into()),
            ObjectKind::Endpoint => keys::endpoint(org, id.into()),
            ObjectKind::Token => keys::token(org, id.into()),
            ObjectKind::Trust => keys::trust_pointer(org, id.into()),
            ObjectKind::FundingItem => keys::funding_item_pointer(org, id.into()),
            ObjectKind::TrustOrItem => {
                let of = |kind| self.named_by(kind, id);
                return [ObjectKind::Trust, ObjectKind::FundingItem].into_iter().flat_map(of).collect();
            }
            ObjectKind::Member => {
                return vec![(kind, keys::member(org, id.into())), (kind, keys::former_member(org, id.into()))];
            }
            ObjectKind::Payment | ObjectKind::Part => return Vec::new(),
        };
        vec![(kind, key)]
    }
}

/// The smallest id of a call at or after a moment: ids begin with milliseconds since 1970.
fn first_id_at(at: Timestamp) -> u128 {
    const BITS_BELOW_THE_TIME: u32 = 80;
    u128::from(u64::try_from(at.unix_ms()).unwrap_or_default()) << BITS_BELOW_THE_TIME
}

fn read_row(item: &Item) -> Result<AuditRow, StoreError> {
    let row = || {
        let id_of = |name| text(item, name)?.parse::<Uuid>().ok();
        let callers = [
            (ActorType::Token, id_of(TOKEN)),
            (ActorType::Member, id_of(MEMBER)),
            (ActorType::Participant, id_of(PARTICIPANT)),
        ];
        let caller = callers.into_iter().find(|(_, id)| id.is_some()).unwrap_or((ActorType::System, None));
        let objects = bytes(item, "objects").unwrap_or_default().chunks_exact(ID_BYTES);
        Some(AuditRow {
            request_id: text(item, SORT)?.parse().ok()?,
            at: text(item, "at")?.parse().ok()?,
            operation: text(item, "operation")?.to_owned(),
            caller: Caller { actor_type: caller.0, id: caller.1 },
            status: number(item, "status")?,
            code: text(item, "code")?.to_owned(),
            objects: objects.filter_map(|id| Uuid::from_slice(id).ok()).collect(),
            via: text(item, VIA).and_then(Via::parse),
        })
    };
    row().ok_or_else(|| StoreError::Unreadable("decoding an audit row".to_owned()))
}

/// The entrance through which a call came, if it was not HTTP.
const VIA: &str = "via";
/// The caller's id has an attribute for each kind of caller.
const TOKEN: &str = "token_id";
const MEMBER: &str = "member_id";
const PARTICIPANT: &str = "participant_id";
pub(super) const NAME: &str = "name";
const ID_BYTES: usize = 16;

impl Store {
    /// Adds a call with a missing, malformed or unknown token to the service-level trail, best effort.
    pub(crate) async fn record_unknown_caller(
        &self,
        request_id: RequestId,
        operation: &str,
        outcome: Outcome<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = keys::trail(now, fastrand::u8(..limits::TRAIL_SHARDS), request_id);
        let mut item = row(key, operation, outcome, now);
        let drop_at = now.plus_seconds(limits::TRAIL_LIFETIME_S).unix_s();
        item.insert(DROP_AT.to_owned(), AttributeValue::N(drop_at.to_string()));
        self.put(item, PutIf::Any).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &[u128], has_more: bool) -> AuditRows {
        let row = |id: &u128| AuditRow {
            request_id: Uuid::from_u128(*id).into(),
            at: Timestamp::now(),
            operation: "list_contacts".to_owned(),
            caller: Caller { actor_type: ActorType::System, id: None },
            status: 200,
            code: "ok".to_owned(),
            objects: Vec::new(),
            via: None,
        };
        AuditRows { rows: ids.iter().map(row).collect(), has_more }
    }

    #[test]
    fn rows_of_shards_are_those_down_to_where_one_has_unread_rows() {
        let of = |shards: Vec<AuditRows>| {
            let AuditRows { rows, has_more } = merged(shards);
            (rows.iter().map(|row| row.request_id.uuid().as_u128()).collect::<Vec<_>>(), has_more)
        };
        assert_eq!(of(vec![rows(&[9, 5, 1], false), rows(&[8, 2], false)]), (vec![9, 8, 5, 2, 1], false));
        assert_eq!(of(vec![rows(&[9, 5], true), rows(&[8, 2], false)]), (vec![9, 8, 5], true));
        assert_eq!(of(vec![rows(&[9, 5], true), rows(&[8, 7], true)]), (vec![9, 8, 7], true));
        assert_eq!(of(vec![rows(&[], false), rows(&[3], true)]), (vec![3], true));
        assert_eq!(of(vec![rows(&[], false), rows(&[], false)]), (vec![], false));
    }
}

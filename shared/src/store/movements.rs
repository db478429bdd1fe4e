//! Movements: a record each; evidence and sealed instructions, items beside it; a row in the list; and a unique item
//! for each document and bank reference that counts for it.
//!
//! A movement's version guards its evidence and instructions: each is written only together with it. Its agreement is
//! always written too, so that its gates and movements never disagree.
//!
//! Decision: the row has the purpose, the reference and the agreement's id. A search by agreement name reads the rows
//! of agreements first, so that a new name finds its movements at once. So does a filter for states that an ended
//! agreement brings its movements into or out of: the list shows them before the movements' own records do.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;

use super::agreements::KnownAgreements;
use super::change::{Change, Changes, Update};
use super::item::{Item, from_item, text, to_item};
use super::keys::{self, HELD_BY, Key, Rows};
use super::list::{HeldRow, RowFilter};
use super::movement_row::MovementRow;
use super::payments_of::PaymentsOf;
use super::query::Query;
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned, agreements, arrivals, participants, statements};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::acts::EditedPart;
use crate::domain::agreement::draft::Draft;
use crate::domain::call_context::CallContext;
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, EvidenceId, MemberId, MovementId, OrgId};
use crate::domain::member::movements::{EvidenceChange, InstructionsEntered, MovementChange, Resolved};
use crate::domain::movement::evidence::{Evidence, EvidenceKey, KeyChange};
use crate::domain::movement::instructions::SealedInstructions;
use crate::domain::movement::state::MovementState;
use crate::domain::movement::{EndedMovement, Movement};
use crate::domain::participant::movements::MovementActed;
use crate::limits;
use crate::wire::page::{Filter, Order, Page, Search, list_query};

list_query! {
    /// Which movements are listed.
    pub struct MovementQuery {
        /// In this state only.
        state: Filter<MovementState>,
        /// Of this agreement only.
        agreement_id: Option<AgreementId>,
        /// A part of the purpose, of the reference, or of the agreement's name, in any letter case.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
    }
}

pub(super) const HELD_IN: &str = "agreement_id";

impl Record for Movement {
    type Id = MovementId;
    type Listed = Self;
    const KIND: RecordKind = RecordKind::Movement;

    fn record_id(&self) -> MovementId {
        self.id()
    }

    fn row(&self) -> Row {
        MovementRow::write(self)
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

/// A movement that is not done, as its row has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitingMovement {
    /// The movement.
    pub id: MovementId,
    /// Its agreement.
    pub agreement_id: AgreementId,
    /// Where it is.
    pub state: MovementState,
    pub has_instructions: bool,
    pub unverified: Option<(MemberId, bool)>,
    pub due_on: Option<Day>,
    /// Since when a member should look at it, in milliseconds since 1970; none if its row does not know.
    pub since_ms: Option<i64>,
}

/// What rows of movements say for Home.
#[derive(Debug, Default)]
pub(crate) struct WaitingMovements {
    /// Those that wait for something.
    pub waiting: Vec<WaitingMovement>,
    /// All of them.
    pub payments: PaymentsOf,
}

fn waiting_movement(row: &MovementRow) -> Option<WaitingMovement> {
    let MovementRow { id, agreement_id, state, due_on, has_instructions, unverified, since_ms, .. } = *row;
    let waiting = WaitingMovement { id, agreement_id, state, has_instructions, unverified, due_on, since_ms };
    (!state.is_done()).then_some(waiting)
}

/// The movement for which a document counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvidenceHolder {
    /// The movement.
    pub movement_id: MovementId,
    /// Its agreement.
    pub agreement_id: AgreementId,
}

impl OrgStore {
    pub(crate) async fn movement(&self, id: MovementId) -> Result<Option<Versioned<Movement>>, StoreError> {
        self.find(id).await
    }

    /// The movements with these ids. Skips missing ones; reads nothing without ids.
    pub(crate) async fn movements(
        &self,
        ids: impl IntoIterator<Item = MovementId>,
    ) -> Result<Vec<Versioned<Movement>>, StoreError> {
        self.find_all(ids).await
    }

    pub(crate) async fn list_movements(&self, query: &MovementQuery) -> Result<Page<Movement>, StoreError> {
        let needle = query.search.needle();
        // An agreement's end brings no movement out of or into any other state.
        let state = query.state.get();
        let asks_for_ended =
            state.is_some_and(|state| state.ends_with_agreement() || state == MovementState::Cancelled);
        let KnownAgreements { named, ended } = self.known_agreements(needle, asks_for_ended).await?;
        let is_found = |row: HeldRow<'_>| {
            let Some(found) = MovementRow::read(row) else { return false };
            let told = if ended.contains(&found.agreement_id) { found.state.told_at_end() } else { found.state };
            query.agreement_id.is_none_or(|wanted| found.agreement_id == wanted)
                && state.is_none_or(|wanted| told == wanted)
                && needle.is_none_or(|needle| named.contains(&found.agreement_id) || row.searched().contains(needle))
        };
        let is_filtered = needle.is_some() || state.is_some() || query.agreement_id.is_some();
        let rows = RowFilter::default();
        let rows = if is_filtered { rows.matching(is_found) } else { rows };
        self.list::<Movement>(Order::OldestFirst, &rows, query.page()).await
    }

    pub(crate) async fn waiting_movements(&self) -> Result<WaitingMovements, StoreError> {
        let mut found = WaitingMovements::default();
        self.each_row(Rows::Movements, |row| {
            let Some(row) = MovementRow::read(row) else { return };
            found.payments.add(&row);
            found.waiting.extend(waiting_movement(&row));
        })
        .await?;
        Ok(found)
    }

    pub(crate) async fn evidence_of(&self, movement: MovementId) -> Result<Vec<Evidence>, StoreError> {
        let query = Query::of(keys::movement_items(self.org, movement)).beginning(keys::evidence_of_movement());
        let items = self.store.all(query).await?;
        let mut found = items.into_iter().map(from_item).collect::<Result<Vec<Evidence>, _>>()?;
        // Their ids come from forms, which may have been open for a while.
        found.sort_by_key(|evidence| (evidence.filed_at(), evidence.id()));
        Ok(found)
    }

    pub(crate) async fn evidence(&self, movement: MovementId, id: EvidenceId) -> Result<Option<Evidence>, StoreError> {
        self.store.get(keys::evidence(self.org, movement, id)).await?.map(from_item).transpose()
    }

    pub(crate) async fn sealed_instructions(
        &self,
        movement: MovementId,
        revision: u32,
    ) -> Result<Option<SealedInstructions>, StoreError> {
        self.store.get(keys::instructions(self.org, movement, revision)).await?.map(from_item).transpose()
    }

    pub(crate) async fn holders_by_key(
        &self,
        keys: &[EvidenceKey],
    ) -> Result<HashMap<EvidenceKey, EvidenceHolder>, StoreError> {
        let wanted: BTreeMap<&EvidenceKey, Key> =
            keys.iter().map(|key| (key, keys::evidence_key(self.org, key))).collect();
        let read: Vec<Key> = wanted.values().cloned().collect();
        let found = statements::by_key(self.store.get_all(&read).await?);
        let holder = |(key, at): (&EvidenceKey, Key)| Some((key.clone(), holder(found.get(&at)?)?));
        Ok(wanted.into_iter().filter_map(holder).collect())
    }

    pub(crate) async fn evidence_holders(&self, keys: &[EvidenceKey]) -> Result<Vec<EvidenceHolder>, StoreError> {
        let keys: Vec<Key> = keys.iter().map(|key| keys::evidence_key(self.org, key)).collect();
        let unreadable = || StoreError::Unreadable("decoding a claimed document".to_owned());
        self.store.get_all(&keys).await?.into_iter().map(|item| holder(&item).ok_or_else(unreadable)).collect()
    }
}

fn holder(item: &Item) -> Option<EvidenceHolder> {
    let (movement_id, agreement_id) = (text(item, HELD_BY)?.parse().ok()?, text(item, HELD_IN)?.parse().ok()?);
    Some(EvidenceHolder { movement_id, agreement_id })
}

/// A movement and its agreement as they were read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadedMovement<'a> {
    pub agreement: &'a Versioned<Agreement>,
    pub movement: &'a Versioned<Movement>,
}

/// Adds a payment to a draft. Its id must be free.
pub(crate) fn add(
    call: &CallContext,
    before: &Versioned<Agreement>,
    draft: &Draft,
    movement: &Movement,
) -> Result<[Changes; 2], StoreError> {
    check_is_draft(draft, movement)?;
    Ok([edit(call, before, draft, movement)?, Changes::of(call, record::create(call.org(), movement)?)])
}

/// Creates a payment of a draft that the same transaction creates.
pub(crate) fn create(call: &CallContext, draft: &Draft, movement: &Movement) -> Result<Changes, StoreError> {
    check_is_draft(draft, movement)?;
    Ok(Changes::of(call, record::create(call.org(), movement)?))
}

pub(crate) fn change(
    call: &CallContext,
    LoadedMovement { agreement: before, movement }: LoadedMovement<'_>,
    draft: &Draft,
    after: &Movement,
) -> Result<[Changes; 2], StoreError> {
    check_is_draft(draft, movement)?;
    check_is_draft(draft, after)?;
    Ok([edit(call, before, draft, after)?, Changes::of(call, record::replace(call.org(), movement, after)?)])
}

pub(crate) fn remove(
    call: &CallContext,
    LoadedMovement { agreement: before, movement }: LoadedMovement<'_>,
    draft: &Draft,
) -> Result<[Changes; 2], StoreError> {
    check_is_draft(before, movement)?;
    Ok([edit(call, before, draft, movement)?, Changes::of(call, record::delete(call.org(), movement))])
}

/// The edit of a draft whose payment is added, changed or removed. The draft's history names the payment.
fn edit(
    call: &CallContext,
    before: &Versioned<Agreement>,
    draft: &Draft,
    movement: &Movement,
) -> Result<Changes, StoreError> {
    Ok(agreements::edit(call, before, draft)?.about_part(draft.id(), Some(payment_part(movement))))
}

fn check_is_draft(draft: &Agreement, movement: &Movement) -> Result<(), StoreError> {
    if movement.state() == MovementState::Draft && movement.agreement_id() == draft.id() {
        return Ok(());
    }
    Err(StoreError::Failed("an edit of a movement that is no payment of the draft".to_owned()))
}

pub(crate) fn act(
    call: &CallContext,
    read: LoadedMovement<'_>,
    change: &MovementChange,
) -> Result<Vec<Changes>, StoreError> {
    let LoadedMovement { agreement, movement: before } = read;
    let MovementChange { movement, agreement: followed, .. } = change;
    let moved = Changes::decided_by_member(call, movement, record::replace(call.org(), before, &**movement)?);
    let followed = agreements::execute(call, agreement, followed)?;
    Ok(vec![followed.about_part(before.agreement_id(), Some(payment_part(before))), moved])
}

fn payment_part(movement: &Movement) -> EditedPart {
    EditedPart::Payment { purpose: movement.terms().purpose.clone() }
}

/// Counts a wrong try at verifying instructions. The agreement's history omits it: nothing was verified. The agreement
/// changes only if the movement's state does.
pub(crate) fn count_wrong_try(
    call: &CallContext,
    LoadedMovement { agreement, movement: before }: LoadedMovement<'_>,
    MovementChange { movement, agreement: followed, .. }: &MovementChange,
) -> Result<Vec<Changes>, StoreError> {
    let counted = Changes::decided_by_member(call, movement, record::replace(call.org(), before, &**movement)?);
    if movement.state() == before.state() {
        return Ok(vec![counted]);
    }
    Ok(vec![agreements::execute_untold(call, agreement, followed)?, counted])
}

pub(crate) fn resolve(
    call: &CallContext,
    read: LoadedMovement<'_>,
    resolved: &Resolved,
) -> Result<Vec<Changes>, StoreError> {
    let mut changes = act(call, read, &resolved.change)?;
    for evidence in &resolved.evidence {
        let item = Change::Put(evidence_item(call.org(), evidence)?);
        changes.push(Changes::decided_by_member(call, evidence, [item]));
    }
    Ok(changes)
}

/// Files a member's evidence, if no other movement of the organization has its documents.
pub(crate) fn file(
    call: &CallContext,
    read: LoadedMovement<'_>,
    filed: &EvidenceChange,
) -> Result<Vec<Changes>, StoreError> {
    changed_evidence(call, read, filed, Change::Create)
}

pub(crate) fn judge(
    call: &CallContext,
    read: LoadedMovement<'_>,
    judged: &EvidenceChange,
) -> Result<Vec<Changes>, StoreError> {
    let mut changes = changed_evidence(call, read, judged, Change::Put)?;
    changes.push(Changes::decided_by_member(call, &judged.evidence, arrivals::changes(call.org(), &judged.evidence)));
    Ok(changes)
}

fn changed_evidence(
    call: &CallContext,
    read: LoadedMovement<'_>,
    EvidenceChange { change, evidence, keys }: &EvidenceChange,
    write: fn(Item) -> Change,
) -> Result<Vec<Changes>, StoreError> {
    let written = write(evidence_item(call.org(), evidence)?);
    let of_statement = statements::filed_entry(call.org(), evidence)?;
    let keys = key_changes(call.org(), &change.movement, keys);
    let mut changes = act(call, read, change)?;
    let written = std::iter::once(written).chain(of_statement).chain(keys);
    changes.push(Changes::decided_by_member(call, evidence, written));
    Ok(changes)
}

/// Enters a member's instructions. Each revision is written once.
pub(crate) fn enter_instructions(
    call: &CallContext,
    read: LoadedMovement<'_>,
    InstructionsEntered { change, sealed }: &InstructionsEntered,
) -> Result<Vec<Changes>, StoreError> {
    let key = keys::instructions(call.org(), sealed.movement_id, sealed.revision);
    let entered = Change::Create(to_item(key, &**sealed)?);
    let mut changes = act(call, read, change)?;
    changes.push(Changes::decided_by_member(call, sealed, [entered]));
    Ok(changes)
}

/// A participant's act on a movement: the receipt, the movement, the agreement, and any evidence filed or withdrawn.
pub(crate) fn act_of_participant(
    call: &CallContext,
    LoadedMovement { agreement, movement: before }: LoadedMovement<'_>,
    acted: &MovementActed,
) -> Result<Vec<Changes>, StoreError> {
    let MovementActed { receipt, movement, agreement: followed, evidence, keys, .. } = acted;
    let org = call.org();
    let mut moved = record::replace(org, before, &**movement)?;
    if let Some(evidence) = evidence {
        let item = evidence_item(org, evidence)?;
        // Just-filed evidence is new. Withdrawn evidence exists, and the movement's version guards it.
        moved.push(if evidence.is_undecided() { Change::Create(item) } else { Change::Put(item) });
    }
    moved.extend(key_changes(org, movement, keys));
    let [recorded, left] = participants::leave(call, agreement, receipt, followed)?;
    let recorded = recorded.about_part(before.agreement_id(), Some(payment_part(before)));
    Ok(vec![recorded, left, Changes::by_participant(call, movement, moved)])
}

pub(crate) fn end(
    call: &CallContext,
    before: &Versioned<Movement>,
    after: &EndedMovement,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), record::replace::<Movement>(call.org(), before, after)?))
}

fn evidence_item(org: OrgId, evidence: &Evidence) -> Result<Item, StoreError> {
    to_item(keys::evidence(org, evidence.movement_id(), evidence.id()), evidence)
}

pub(super) fn key_item(org: OrgId, movement: &Movement, key: &EvidenceKey) -> Item {
    let mut item = keys::evidence_key(org, key).into_item();
    item.insert(HELD_BY.to_owned(), AttributeValue::S(movement.id().to_string()));
    item.insert(HELD_IN.to_owned(), AttributeValue::S(movement.agreement_id().to_string()));
    item
}

/// A claim holds if nobody has the document, or the movement itself.
fn key_changes(org: OrgId, movement: &Movement, keys: &KeyChange) -> impl Iterator<Item = Change> {
    let (id, agreement) = (movement.id().to_string(), movement.agreement_id().to_string());
    let claim = move |key: &EvidenceKey| {
        Change::Update(Update {
            key: keys::evidence_key(org, key),
            expression: "SET #movement = :movement, #agreement = :agreement",
            condition: "attribute_not_exists(#pk) OR #movement = :movement",
            names: vec![("#pk", keys::PARTITION), ("#movement", HELD_BY), ("#agreement", HELD_IN)],
            values: vec![
                (":movement", AttributeValue::S(id.clone())),
                (":agreement", AttributeValue::S(agreement.clone())),
            ],
        })
    };
    let free = move |key: &EvidenceKey| Change::Delete(keys::evidence_key(org, key));
    let changes: Vec<Change> = keys.claimed.iter().map(claim).chain(keys.released.iter().map(free)).collect();
    changes.into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::day::Day;
    use crate::domain::ids::{RequestId, WorkspaceId};
    use crate::domain::time::Timestamp;
    use crate::store::list::{OwnedRow, RowWrite};

    fn evidence(source: &str, amount_minor: i64) -> Evidence {
        let actor = Actor::system();
        serde_json::from_value(json!({
            "id": EvidenceId::new(),
            "movement_id": MovementId::new(),
            "source": source,
            "money": {"amount_minor": amount_minor, "currency": "USD"},
            "value_day": "2026-03-16",
            "reference": "BANKREF 7741",
            "file": {"name": "a.pdf", "content": {"sha256": "5f".repeat(32), "size_bytes": 7}},
            "filed_by": actor,
            "filed_at": Timestamp::now(),
            "state": {"state": "accepted", "at": Timestamp::now(), "by": actor},
        }))
        .unwrap()
    }

    fn movement() -> Movement {
        let (now, stamp) = (Timestamp::now(), json!({"at": Timestamp::now(), "by": Actor::system()}));
        serde_json::from_value(json!({
            "id": MovementId::new(),
            "agreement_id": AgreementId::new(),
            "workspace_id": WorkspaceId::from(uuid::Uuid::now_v7()),
            "terms": {
                "purpose": "Straße",
                "reference": "INV-7",
                "money": {"amount_minor": i64::MAX, "currency": "JPY"},
                "direction": "incoming",
                "method": "wire",
                "due_on": "2026-03-20",
            },
            "status": {"state": "reconciled", "confirmed_at": now, "confirmed_by": Actor::system(),
                "basis": "recipient_confirmation"},
            "authorized": stamp,
            "receipts": {EvidenceId::new().to_string(): {
                "source": "recipient_confirmation",
                "money": {"amount_minor": i64::MAX, "currency": "JPY"},
                "is_accepted": true,
            }},
            "keys": {EvidenceId::new().to_string(): ["reference:QX7"]},
            "evidence_filed": 3,
            "created_by": Actor::system(),
            "created_at": now,
            "updated_at": now,
        }))
        .unwrap()
    }

    #[test]
    fn records_are_read_as_they_were_written_to_the_last_minor_unit() {
        let movement = movement();
        assert_eq!(Movement::decode(movement.encode().unwrap()).unwrap(), movement);
        for source in ["sender_bank_document", "recipient_confirmation"] {
            let evidence = evidence(source, i64::MAX - 1);
            let item = evidence_item(OrgId::new(), &evidence).unwrap();
            assert_eq!(from_item::<Evidence>(item).unwrap(), evidence);
        }
    }

    #[test]
    fn a_row_has_ids_and_the_folded_texts_of_the_payment() {
        let movement = movement();
        let (org, call) = (OrgId::new(), RequestId::new());
        let call = CallContext::new(call, "test", Timestamp::now(), Actor::system(), org, Vec::new());
        let created = Changes::of(&call, record::create(org, &movement).unwrap()).into_list();
        let [_, Change::Row(RowWrite { row: Some(row), .. })] = &created[..] else { panic!("{created:?}") };
        let row = OwnedRow::of(row);
        assert_eq!(row.text, "strasse\ninv-7");
        let row = MovementRow::read(row.with_id(movement.id().uuid())).unwrap();
        assert_eq!(row, MovementRow::of(&movement));
        assert_eq!((row.id, row.agreement_id), (movement.id(), movement.agreement_id()));
        assert_eq!(row.due_on, Day::parse("2026-03-20"));
        let payment = row.payment().unwrap();
        assert_eq!((payment.money, payment.state), (movement.terms().money.unwrap(), MovementState::Reconciled));
        assert_eq!((payment.proven_minor, payment.is_claimed), (i64::MAX, false));
    }

    #[test]
    fn a_claim_holds_for_one_movement_and_no_key_has_the_reference() {
        let movement = movement();
        let keys = evidence("recipient_confirmation", 7).keys();
        assert_eq!(keys.len(), 2);
        let change = KeyChange { claimed: vec![keys[0].clone()], released: vec![keys[1].clone()] };
        let changes: Vec<Change> = key_changes(OrgId::new(), &movement, &change).collect();
        let [Change::Update(claimed), Change::Delete(_)] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!(claimed.condition, "attribute_not_exists(#pk) OR #movement = :movement");
        let of = AttributeValue::S(movement.id().to_string());
        assert!(claimed.values.contains(&(":movement", of)));
        let said = format!("{changes:?}");
        assert!(!said.contains("BANKREF") && !said.contains(&"5f".repeat(32)), "{said}");
    }
}

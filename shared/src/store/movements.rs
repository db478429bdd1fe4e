//! Movements: a record each; its evidence and its sealed instructions, items beside it; a row in the list; and a unique item
//! for each document and each bank reference that counts for it.
//!
//! The version of a movement guards its evidence and its instructions: each of them is written only together with it. The
//! agreement that names a movement is always written too, so that its gates and its movements never disagree.
//!
//! Decision: the row has the purpose and the reference, and the agreement's id. A search by the agreement's name reads the
//! rows of agreements first, so that a new name finds its movements at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Update};
use super::item::{Item, from_item, number, text, to_item};
use super::keys::{self, EVIDENCE, Key, Rows};
use super::list::{Attribute, Order, RowFilter, TEXT};
use super::record::{self, Record, Row};
use super::{OrgStore, StoreError, Versioned, agreements, participants, statements};
use crate::domain::agreement::Agreement;
use crate::domain::agreement::acts::EditedPart;
use crate::domain::agreement::draft::Draft;
use crate::domain::call_context::CallContext;
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, EvidenceId, MemberId, MovementId, OrgId, ParticipantId, WorkspaceId};
use crate::domain::member::movements::{EvidenceChange, InstructionsEntered, MovementChange, Resolved};
use crate::domain::money::{Currency, Money};
use crate::domain::movement::evidence::{Evidence, EvidenceKey, KeyChange};
use crate::domain::movement::instructions::{InstructionsStatus, SealedInstructions};
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::state::MovementState;
use crate::domain::movement::{EndedMovement, Movement};
use crate::domain::participant::movements::MovementActed;
use crate::limits;
use crate::wire::page::{Filter, Page, Search, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which movements are listed.
    pub struct MovementQuery {
        /// In this state only; empty means any.
        state: Filter<MovementState>,
        /// Of this agreement only.
        agreement_id: Option<AgreementId>,
        /// A part of the purpose, of the reference, or of the agreement's name, whatever its case or composition.
        search: Search<{ limits::SEARCH_CHARS_MAX }>,
    }
}

/// The attribute of a row that holds the state.
pub(super) const STATE: Attribute<MovementState> = Attribute::named("st");
/// The attribute of a row that holds the agreement.
pub(super) const AGREEMENT: Attribute<AgreementId> = Attribute::named("a");
/// The attribute of a row that holds the workspace.
pub(super) const WORKSPACE: Attribute<WorkspaceId> = Attribute::named("w");
/// The attribute of a row that holds the day by which the movement is due, if there is one.
pub(super) const DUE: Attribute<Day> = Attribute::named("d");
/// The attribute of a row that holds the payer, if there is one.
pub(super) const SENDER: &str = "f";
/// The attribute of a row that holds the payee, if there is one.
pub(super) const RECEIVER: &str = "o";
/// The attribute of a row that holds the amount, in minor units, if there is one.
pub(super) const AMOUNT: &str = "m";
/// The attribute of a row that holds the currency of the amount.
pub(super) const CURRENCY: Attribute<Currency> = Attribute::named("c");
/// The attribute of a row that is there, with any number, if the sender says that it was sent.
pub(super) const CLAIMED: &str = "q";
/// The attribute of a row that holds what accepted evidence shows, in minor units, if it shows any.
pub(super) const PROVEN: &str = "y";
/// The attribute of a row that holds who entered instructions that no other member has verified, while the movement goes on.
const UNVERIFIED: Attribute<MemberId> = Attribute::named("u");
/// The attribute of a row that says that such instructions were changed.
const CHANGED: &str = "g";
/// The attribute of a row that holds since when a member should look at the movement, in milliseconds since 1970.
const SINCE: &str = "t";
/// The attribute of a unique item that holds the movement for which the document counts.
const HELD_BY: &str = "movement_id";
/// The attribute of a unique item that holds the agreement of that movement.
const HELD_IN: &str = "agreement_id";

impl Record for Movement {
    type Id = MovementId;
    const ROWS: Rows = Rows::Movements;

    fn key(org: OrgId, id: MovementId) -> Key {
        keys::movement(org, id)
    }

    fn record_id(&self) -> MovementId {
        self.id()
    }

    fn row(&self) -> Row {
        let terms = self.terms();
        // The purpose is the first line, empty if there is none: the ledger searches that alone.
        let purpose = terms.purpose.as_ref().map_or("", SafeLine::as_str);
        let reference = terms.reference.as_ref().map(SafeLine::as_str);
        let proven = self.receipt().map(|receipt| receipt.received_minor).filter(|received| *received > 0);
        let row = Row::searched_by(Folded::join(std::iter::once(purpose).chain(reference)))
            .with(&STATE, &self.state())
            .with(&AGREEMENT, &self.agreement_id())
            .with(&WORKSPACE, &self.workspace_id())
            .with_id(SENDER, terms.sender.map(ParticipantId::uuid))
            .with_id(RECEIVER, terms.receiver.map(ParticipantId::uuid))
            .with_number(AMOUNT, terms.money.map(Money::amount_minor))
            .with_number(CLAIMED, self.claim().map(|_| 1))
            .with_number(PROVEN, proven);
        let row = match terms.money {
            Some(money) => row.with(&CURRENCY, &money.currency()),
            None => row,
        };
        let row = match &terms.due_on {
            Some(day) => row.with(&DUE, day),
            None => row,
        };
        let unverified = self.instructions().filter(|_| !self.state().is_done()).and_then(unverified_by);
        let waits = matches!(self.state(), MovementState::Processing | MovementState::Exception);
        let Some((by, is_changed)) = unverified else {
            return row.with_number(SINCE, waits.then(|| self.updated_at().unix_ms()));
        };
        let row = row.with(&UNVERIFIED, &by).with_number(CHANGED, is_changed.then_some(1));
        row.with_number(SINCE, Some(self.updated_at().unix_ms()))
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

/// The member who entered instructions that no one has verified, and whether they were changed.
fn unverified_by(instructions: &InstructionsStatus) -> Option<(MemberId, bool)> {
    let by = instructions.entered_by.member().filter(|_| instructions.verification.is_none())?;
    Some((by, !instructions.changes.is_empty()))
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
    /// Who entered instructions that no one has verified, and whether they were changed.
    pub unverified: Option<(MemberId, bool)>,
    /// The day by which it is due.
    pub due_on: Option<Day>,
    /// Since when a member should look at it, in milliseconds since 1970; none where its row does not know.
    pub since_ms: Option<i64>,
}

fn waiting_movement(row: &Item) -> Option<WaitingMovement> {
    let state = MovementState::parse(text(row, STATE.name)?).filter(|state| !state.is_done())?;
    Some(WaitingMovement {
        id: text(row, keys::SORT)?.parse().ok()?,
        agreement_id: text(row, AGREEMENT.name)?.parse().ok()?,
        state,
        due_on: text(row, DUE.name).and_then(Day::parse),
        unverified: text(row, UNVERIFIED.name)
            .and_then(|by| by.parse().ok())
            .map(|by| (by, number::<i64>(row, CHANGED).is_some())),
        since_ms: number(row, SINCE),
    })
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
    /// A movement.
    pub(crate) async fn movement(&self, id: MovementId) -> Result<Option<Versioned<Movement>>, StoreError> {
        self.find(id).await
    }

    /// The movements with these ids. Missing ones are left out. Nothing is read where there are none.
    pub(crate) async fn movements(
        &self,
        ids: impl IntoIterator<Item = MovementId>,
    ) -> Result<Vec<Versioned<Movement>>, StoreError> {
        self.find_all(ids).await
    }

    /// A page of the movements that a query asks for.
    pub(crate) async fn list_movements(&self, query: &MovementQuery) -> Result<Page<Movement>, StoreError> {
        let needle = query.search.needle();
        let named = match needle {
            Some(needle) => self.agreements_named(needle).await?,
            None => HashSet::new(),
        };
        let mut rows = RowFilter::default().equal(&STATE, query.state.get()).equal(&AGREEMENT, query.agreement_id);
        if let Some(needle) = needle {
            let is_found = move |row: &Item| {
                text(row, TEXT).is_some_and(|own| own.contains(needle))
                    || text(row, AGREEMENT.name).is_some_and(|agreement| named.contains(agreement))
            };
            rows = rows.matching(&[TEXT, AGREEMENT.name], is_found);
        }
        self.list(Order::OldestFirst, &rows, query.page()).await
    }

    /// The movements that are not done, from one pass over the rows.
    pub(crate) async fn waiting_movements(&self) -> Result<Vec<WaitingMovement>, StoreError> {
        let mut found = Vec::new();
        let attributes = [keys::SORT, AGREEMENT.name, STATE.name, DUE.name, UNVERIFIED.name, CHANGED, SINCE];
        let partition = keys::rows(self.org, Rows::Movements);
        let visit = |row: Item| found.extend(waiting_movement(&row));
        self.store.scan_partition(&partition, Order::OldestFirst, &attributes, visit).await?;
        Ok(found)
    }

    /// All evidence that was ever filed for a movement, the oldest first.
    pub(crate) async fn evidence_of(&self, movement: MovementId) -> Result<Vec<Evidence>, StoreError> {
        let items = self.beginning(&keys::movement_items(self.org, movement), EVIDENCE).await?;
        let mut found = items.into_iter().map(from_item).collect::<Result<Vec<Evidence>, _>>()?;
        // Their ids come from forms, which may have been open for a while.
        found.sort_by_key(|evidence| (evidence.filed_at(), evidence.id()));
        Ok(found)
    }

    /// Evidence of a movement.
    pub(crate) async fn evidence(&self, movement: MovementId, id: EvidenceId) -> Result<Option<Evidence>, StoreError> {
        self.store.get(keys::evidence(self.org, movement, id)).await?.map(from_item).transpose()
    }

    /// A revision of the sealed instructions of a movement.
    pub(crate) async fn sealed_instructions(
        &self,
        movement: MovementId,
        revision: u32,
    ) -> Result<Option<SealedInstructions>, StoreError> {
        self.store.get(keys::instructions(self.org, movement, revision)).await?.map(from_item).transpose()
    }

    /// The movements for which the documents of some keys count, by these keys.
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

    /// The movements for which the documents of some keys count.
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

/// A movement and its agreement as an act read them.
pub(crate) type Read<'a> = (&'a Versioned<Agreement>, &'a Versioned<Movement>);

/// The changes that add a payment to a draft. Its id must be free.
///
/// # Errors
/// When the movement is not of the draft, or set up already.
pub(crate) fn add(
    call: &CallContext,
    before: &Versioned<Agreement>,
    (draft, movement): (&Draft, &Movement),
) -> Result<[Changes; 2], StoreError> {
    check_is_draft(draft, movement)?;
    Ok([edit(call, before, (draft, movement))?, Changes::of(call, record::create(call.org(), movement)?)])
}

/// The changes that give a payment of a draft other terms.
///
/// # Errors
/// When the movement is not of the draft, or set up already.
pub(crate) fn change(
    call: &CallContext,
    (before, movement): Read<'_>,
    (draft, after): (&Draft, &Movement),
) -> Result<[Changes; 2], StoreError> {
    check_is_draft(draft, movement)?;
    check_is_draft(draft, after)?;
    Ok([edit(call, before, (draft, after))?, Changes::of(call, record::replace(call.org(), movement, after)?)])
}

/// The changes that remove a payment of a draft.
///
/// # Errors
/// When the movement is set up already.
pub(crate) fn remove(
    call: &CallContext,
    (before, movement): Read<'_>,
    draft: &Draft,
) -> Result<[Changes; 2], StoreError> {
    check_is_draft(before, movement)?;
    Ok([edit(call, before, (draft, movement))?, Changes::of(call, record::delete(call.org(), movement))])
}

/// The edit of a draft of which a payment is added, changed or removed. The draft's history names the payment.
fn edit(
    call: &CallContext,
    before: &Versioned<Agreement>,
    (draft, movement): (&Draft, &Movement),
) -> Result<Changes, StoreError> {
    let part = EditedPart::Payment { purpose: movement.terms().purpose.clone() };
    Ok(agreements::edit(call, before, draft)?.about_part(draft.id(), Some(part)))
}

/// A payment of a draft is not set up, and of no other agreement.
fn check_is_draft(draft: &Agreement, movement: &Movement) -> Result<(), StoreError> {
    if movement.state() == MovementState::Draft && movement.agreement_id() == draft.id() {
        return Ok(());
    }
    Err(StoreError::Failed("an edit of a movement that is no payment of the draft".to_owned()))
}

/// The changes of a member's act on a movement.
pub(crate) fn act(call: &CallContext, read: Read<'_>, change: &MovementChange) -> Result<Vec<Changes>, StoreError> {
    let (agreement, before) = read;
    let MovementChange { movement, agreement: followed, .. } = change;
    let moved = Changes::decided_by_member(call, movement, record::replace(call.org(), before, &**movement)?);
    Ok(vec![agreements::execute(call, agreement, followed)?, moved])
}

/// The changes with which a member resolves an exception.
pub(crate) fn resolve(call: &CallContext, read: Read<'_>, resolved: &Resolved) -> Result<Vec<Changes>, StoreError> {
    let mut changes = act(call, read, &resolved.change)?;
    for evidence in &resolved.evidence {
        let item = Change::Put(evidence_item(call.org(), evidence)?);
        changes.push(Changes::decided_by_member(call, evidence, [item]));
    }
    Ok(changes)
}

/// The changes with which a member files evidence. They hold only while no other movement of the organization has its
/// documents.
pub(crate) fn file(call: &CallContext, read: Read<'_>, filed: &EvidenceChange) -> Result<Vec<Changes>, StoreError> {
    changed_evidence(call, read, filed, Change::Create)
}

/// The changes with which a member accepts, rejects or withdraws evidence.
pub(crate) fn judge(call: &CallContext, read: Read<'_>, judged: &EvidenceChange) -> Result<Vec<Changes>, StoreError> {
    changed_evidence(call, read, judged, Change::Put)
}

fn changed_evidence(
    call: &CallContext,
    read: Read<'_>,
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

/// The changes with which a member enters instructions. Each revision is written once.
pub(crate) fn enter_instructions(
    call: &CallContext,
    read: Read<'_>,
    InstructionsEntered { change, sealed }: &InstructionsEntered,
) -> Result<Vec<Changes>, StoreError> {
    let key = keys::instructions(call.org(), sealed.movement_id, sealed.revision);
    let entered = Change::Create(to_item(key, &**sealed)?);
    let mut changes = act(call, read, change)?;
    changes.push(Changes::decided_by_member(call, sealed, [entered]));
    Ok(changes)
}

/// The changes of a participant's act on a movement: the receipt, the movement, the agreement, and the evidence if they filed
/// or withdrew any.
pub(crate) fn act_of_participant(
    call: &CallContext,
    (agreement, before): Read<'_>,
    acted: &MovementActed,
) -> Result<Vec<Changes>, StoreError> {
    let MovementActed { receipt, movement, agreement: followed, evidence, keys, .. } = acted;
    let org = call.org();
    let mut moved = record::replace(org, before, &**movement)?;
    if let Some(evidence) = evidence {
        let item = evidence_item(org, evidence)?;
        // What was just filed is new. What was withdrawn is there, and the movement's version guards it.
        moved.push(if evidence.is_undecided() { Change::Create(item) } else { Change::Put(item) });
    }
    moved.extend(key_changes(org, movement, keys));
    let mut changes = Vec::from(participants::leave(call, agreement, receipt, followed)?);
    changes.push(Changes::by_participant(call, movement, moved));
    Ok(changes)
}

/// The changes that cancel a movement with its agreement.
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

/// The changes of the unique items. A claim holds if nobody has the document, or the movement itself.
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
    use crate::domain::ids::RequestId;
    use crate::domain::time::Timestamp;

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
        let [_, Change::Put(row)] = &created[..] else { panic!("{created:?}") };
        assert_eq!(text(row, TEXT), Some("strasse\ninv-7"));
        assert_eq!(text(row, STATE.name), Some("reconciled"));
        assert_eq!(text(row, AGREEMENT.name), Some(movement.agreement_id().to_string().as_str()));
        assert_eq!(text(row, DUE.name), Some("2026-03-20"));
        let payment = crate::store::ledger::payment(row).unwrap();
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

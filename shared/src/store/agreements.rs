//! Agreements: a versioned record each, a row in the list, a row with document names, and a due entry for the next end.
//!
//! Decision: a page of agreements reads their records. Clients get the whole agreement, and the app its next act and whom
//! it waits for, which follow from all of it. Rows order, filter and add up.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::change::{Change, Changes};
use super::item::{Item, from_item};
use super::keys::{self, Due, Key, Rows};
use super::list::{Attribute, HeldRow, RowFilter, RowWrite, SHELF};
use super::payments_of::PaymentsOf;
use super::record::{self, Record, Row};
use super::record_kind::RecordKind;
use super::{OrgStore, StoreError, Versioned};
use crate::domain::agreement::acts::EditedPart;
use crate::domain::agreement::draft::Draft;
use crate::domain::agreement::progress::AdvancedAgreement;
use crate::domain::agreement::{Agreement, AgreementKind, Lifecycle, SafeTerms};
use crate::domain::call_context::CallContext;
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ContactId, MemberId, MovementId, OrgId, ParticipantId, WorkspaceId};
use crate::domain::ledger::{amounts_of, place_of};
use crate::domain::member::ByMember;
use crate::domain::obligation;
use crate::domain::participant::ByParticipant;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::limits;
use crate::wire::page::{Filter, Order, Page, PageRequest, Search, Shelf, list_query};
use crate::wire::text::Folded;

list_query! {
    /// Which agreements are listed.
    pub struct AgreementQuery {
        /// Of this workspace only.
        workspace_id: Option<WorkspaceId>,
        /// In this state only.
        lifecycle: Filter<Lifecycle>,
        /// A part of the name, in any letter case.
        search: Search<{ limits::AGREEMENT_SEARCH_CHARS_MAX }>,
    }
}

pub(super) const WORKSPACE: Attribute<WorkspaceId> = Attribute::named("w");
pub(super) const LIFECYCLE: Attribute<Lifecycle> = Attribute::named("l");
pub(super) const CONTACTS: &str = "p";
pub(super) const KIND: Attribute<AgreementKind> = Attribute::named("k");
/// The participants in the order of their contacts, if payments or promises name some.
pub(super) const PARTICIPANTS: &str = "r";
/// Since when a draft is unchanged or an active agreement's step is open, in milliseconds since 1970.
const SINCE: &str = "t";
const WAITED_FOR: &str = "q";
const DECLINED: &str = "d";
/// How many answers, files and identities wait for a member; absent if none.
const ANSWERS: &str = "n";
/// How many open conditions wait for a member to authorize a payment; absent if none.
const AUTHORIZES: &str = "az";
/// The payments that members can authorize; absent if there are none.
const TO_AUTHORIZE: &str = "ta";
/// The authorized payments whose instructions members can release, once there are any; absent if nothing is owed.
const TO_RELEASE: &str = "tr";
const PAPERS: &str = "g";
/// The investment of a SAFE, in minor units of its currency.
const INVESTED: &str = "am";
/// The code of its currency; empty if none is chosen.
const INVESTED_IN: Attribute<String> = Attribute::named("ac");
/// When the agreement expires, in milliseconds since 1970.
pub(super) const EXPIRES: &str = "x";

/// The row with these ids, if there are any.
fn with_any(row: Row, name: &'static str, ids: impl Iterator<Item = Uuid>) -> Row {
    let mut ids = ids.peekable();
    if ids.peek().is_some() { row.with_ids(name, ids) } else { row }
}

impl Record for Agreement {
    type Id = AgreementId;
    type Listed = Self;
    const KIND: RecordKind = RecordKind::Agreement;

    fn record_id(&self) -> AgreementId {
        self.id()
    }

    fn row(&self) -> Row {
        let row = Row::searched_by(Folded::new(self.name.as_str()))
            .on(self.shelf())
            .with(&WORKSPACE, &self.workspace_id)
            .with(&LIFECYCLE, &self.lifecycle())
            .with(&KIND, &self.kind)
            .with_ids(CONTACTS, self.participants.iter().map(|participant| participant.contact_id.uuid()))
            .with_ids(WAITED_FOR, self.waited_for().into_iter().map(ContactId::uuid))
            .with_number(DECLINED, self.is_declined().then_some(1))
            .with_number(ANSWERS, i64::try_from(self.reviews_waiting()).ok().filter(|count| *count > 0))
            .with_number(SINCE, self.open_since().map(Timestamp::unix_ms))
            .with_number(EXPIRES, self.expires_at.map(Timestamp::unix_ms));
        let is_owed = !self.movements().is_empty() || !self.promises.is_empty();
        let row = if is_owed {
            row.with_ids(PARTICIPANTS, self.participants.iter().map(|participant| participant.id.uuid()))
                .with_ids(TO_RELEASE, self.movements_to_release().map(MovementId::uuid))
        } else {
            row
        };
        let row =
            row.with_number(AUTHORIZES, i64::try_from(self.authorizations_waiting()).ok().filter(|count| *count > 0));
        let row = with_any(row, TO_AUTHORIZE, self.movements_to_authorize().map(MovementId::uuid));
        let row = match self.terms.as_ref().and_then(SafeTerms::investment) {
            Some((currency, minor)) => row.with_number(INVESTED, Some(minor)).with(&INVESTED_IN, &currency.to_owned()),
            None => row,
        };
        with_any(row, PAPERS, self.papers_to_confirm().map(|(_, paper)| paper.recorded_by.uuid()))
    }

    fn encode(&self) -> Result<Item, StoreError> {
        record::encoded(self)
    }

    fn decode(item: Item) -> Result<Self, StoreError> {
        from_item(item)
    }
}

impl OrgStore {
    /// An agreement.
    pub async fn agreement(&self, id: AgreementId) -> Result<Option<Versioned<Agreement>>, StoreError> {
        self.find(id).await
    }

    /// A page of the agreements that a query asks for.
    pub async fn list_agreements(
        &self,
        order: Order,
        wanted: Shelf,
        query: &AgreementQuery,
    ) -> Result<Page<Agreement>, StoreError> {
        if matches!(order, Order::ByDue | Order::ByAmount) {
            return self.ranked_agreements(order, wanted, query).await;
        }
        let rows = RowFilter::containing(query.search.needle())
            .equal(&WORKSPACE, query.workspace_id)
            .equal(&LIFECYCLE, query.lifecycle.get())
            .on(wanted);
        self.list::<Agreement>(order, &rows, query.page()).await
    }

    /// The same by due day or by amount, the newest first among equals.
    async fn ranked_agreements(
        &self,
        order: Order,
        wanted: Shelf,
        query: &AgreementQuery,
    ) -> Result<Page<Agreement>, StoreError> {
        let (mut rows, by_amount) = (Vec::new(), order == Order::ByAmount);
        let asked = self.each_row(Rows::Agreements, |row| rows.extend(ranked(row, wanted, query)));
        let (payments, ()) = tokio::try_join!(self.all_payments(), asked)?;
        rows.sort_by_cached_key(|row| {
            let invested = row.invested.as_ref().map(|(currency, minor)| (currency.as_str(), *minor));
            let amounts =
                if by_amount { amounts_of(row.lifecycle, invested, payments.amounts_of(row.id)) } else { Vec::new() };
            let due = if by_amount { None } else { row.due(&payments) };
            (place_of(&amounts), due.is_none(), due, Reverse(row.id))
        });
        let Page { data, pagination } = Page::slice(rows.into_iter().map(|row| row.id), query.page());
        let mut found: HashMap<AgreementId, Agreement> = self
            .agreements(data.iter().copied())
            .await?
            .into_iter()
            .map(|found| (found.id(), found.into_inner()))
            .collect();
        Ok(Page { data: data.iter().filter_map(|id| found.remove(id)).collect(), pagination })
    }
}

/// A row of a list that is ordered by due day or amount.
struct RankedRow {
    id: AgreementId,
    lifecycle: Lifecycle,
    /// In which currency, and how much of it, a SAFE invests.
    invested: Option<(String, i64)>,
    /// When it expires, unless it has ended.
    expires_at: Option<Timestamp>,
}

impl RankedRow {
    /// The day on which it expires, by UTC, or its first payment is due. None if it has ended.
    fn due(&self, payments: &PaymentsOf) -> Option<Day> {
        let goes_on = matches!(self.lifecycle, Lifecycle::Draft | Lifecycle::Active);
        let expires = self.expires_at.map(|at| TimeZone::default().day_of(at));
        expires.into_iter().chain(payments.due_of(self.id)).min().filter(|_| goes_on)
    }
}

/// None if the query doesn't ask for it.
fn ranked(row: HeldRow<'_>, wanted: Shelf, query: &AgreementQuery) -> Option<RankedRow> {
    let lifecycle = Lifecycle::parse(row.text(LIFECYCLE.name)?)?;
    let is_on_shelf = match wanted {
        Shelf::All => true,
        Shelf::Current => row.bytes(SHELF.name).is_none(),
        Shelf::Archived | Shelf::Merged => row.text(SHELF.name) == Some(wanted.as_str()),
    };
    let is_asked_for = query.search.needle().is_none_or(|needle| row.searched().contains(needle))
        && query.workspace_id.is_none_or(|wanted| row.text(WORKSPACE.name) == Some(wanted.to_string().as_str()))
        && query.lifecycle.get().is_none_or(|wanted| lifecycle == wanted);
    (is_on_shelf && is_asked_for).then(|| RankedRow {
        id: row.id(),
        lifecycle,
        invested: row.text(INVESTED_IN.name).map(ToOwned::to_owned).zip(row.number(INVESTED)),
        expires_at: row.number(EXPIRES).and_then(|ms| Timestamp::from_unix_ms(ms).ok()),
    })
}

impl OrgStore {
    pub(crate) async fn agreements_with_document(
        &self,
        needle: &str,
        page: PageRequest,
    ) -> Result<Page<Agreement>, StoreError> {
        let filter = RowFilter::containing(Some(needle));
        let slice = self.slice(Rows::AgreementDocuments, Order::OldestFirst, &filter, page).await?;
        let agreements = self.agreements(slice.found.into_iter().map(AgreementId::from)).await?;
        Ok(Page::new(agreements.into_iter().map(Versioned::into_inner).collect(), slice.total, page))
    }
}

#[derive(Debug, Default)]
pub(super) struct KnownAgreements {
    pub named: HashSet<AgreementId>,
    /// Cancelled or expired agreements: their movements and obligations show as ended, recorded or not.
    pub ended: HashSet<AgreementId>,
}

impl OrgStore {
    /// Finds agreements by the folded needle and those that have ended, from the rows, if needed.
    pub(super) async fn known_agreements(
        &self,
        needle: Option<&str>,
        asks_for_ended: bool,
    ) -> Result<KnownAgreements, StoreError> {
        let mut known = KnownAgreements::default();
        if needle.is_none() && !asks_for_ended {
            return Ok(known);
        }
        self.each_row(Rows::Agreements, |row| {
            if needle.is_some_and(|needle| row.searched().contains(needle)) {
                known.named.insert(row.id());
            }
            let lifecycle = row.text(LIFECYCLE.name).and_then(Lifecycle::parse);
            if asks_for_ended && lifecycle.is_some_and(Lifecycle::has_ended_early) {
                known.ended.insert(row.id());
            }
        })
        .await?;
        Ok(known)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgreementOfWorkspace {
    pub id: AgreementId,
    /// Whether it is a discarded draft or a cancelled agreement.
    pub is_cancelled: bool,
    pub is_archived: bool,
    pub contacts: Vec<ContactId>,
}

impl OrgStore {
    pub(crate) async fn agreements_of_contact(
        &self,
        contact: ContactId,
        page: PageRequest,
    ) -> Result<Page<Agreement>, StoreError> {
        let takes_part =
            move |row: HeldRow<'_>| row.ids(CONTACTS).is_some_and(|contacts| contacts.contains(&contact.uuid()));
        self.list::<Agreement>(Order::OldestFirst, &RowFilter::default().matching(takes_part), page).await
    }

    pub(crate) async fn agreements_of_workspace(
        &self,
        workspace: WorkspaceId,
    ) -> Result<Vec<AgreementOfWorkspace>, StoreError> {
        let (mut found, workspace) = (Vec::new(), workspace.to_string());
        let agreement = |row: HeldRow<'_>| {
            Some(AgreementOfWorkspace {
                id: row.id(),
                is_cancelled: row.text(LIFECYCLE.name) == Some(Lifecycle::Cancelled.as_str()),
                is_archived: row.bytes(SHELF.name).is_some(),
                contacts: row.ids(CONTACTS)?.into_iter().map(Into::into).collect(),
            })
        };
        self.each_row(Rows::Agreements, |row| {
            if row.text(WORKSPACE.name) == Some(&workspace) {
                found.push(agreement(row));
            }
        })
        .await?;
        let found: Option<Vec<_>> = found.into_iter().collect();
        found.ok_or_else(|| StoreError::Unreadable("decoding a row of an agreement".to_owned()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenAgreement {
    pub id: AgreementId,
    pub is_active: bool,
    pub contacts: Vec<ContactId>,
    /// The contacts for whom an active agreement's current step waits.
    pub waited_for: BTreeSet<ContactId>,
    pub is_declined: bool,
    /// Whether participants' answers, files or identities wait for a member.
    pub is_to_review: bool,
    pub authorizations: usize,
    pub to_authorize: BTreeSet<MovementId>,
    /// The authorized payments whose instructions members can release, once there are any. None if the row was
    /// written before rows said so, or nothing is owed.
    pub to_release: Option<BTreeSet<MovementId>>,
    /// Who recorded each paper signature of an active agreement that waits for a second member.
    pub papers: Vec<MemberId>,
    /// Since when a draft is unchanged or an active agreement's step is open, in milliseconds since 1970.
    pub since_ms: i64,
    pub expires_ms: Option<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct OpenAgreements {
    pub open: Vec<OpenAgreement>,
    pub ended: usize,
}

impl OrgStore {
    pub(crate) async fn open_agreements(&self) -> Result<OpenAgreements, StoreError> {
        let mut found = OpenAgreements::default();
        self.each_row(Rows::Agreements, |row| match open_agreement(row) {
            Some(open) => found.open.push(open),
            None => found.ended += 1,
        })
        .await?;
        Ok(found)
    }

    pub(crate) async fn agreements(
        &self,
        ids: impl IntoIterator<Item = AgreementId>,
    ) -> Result<Vec<Versioned<Agreement>>, StoreError> {
        self.find_all(ids).await
    }
}

fn open_agreement(row: HeldRow<'_>) -> Option<OpenAgreement> {
    let ids = |name| row.ids(name).unwrap_or_default();
    let is_active = match Lifecycle::parse(row.text(LIFECYCLE.name)?)? {
        // What a member put away asks nobody for anything.
        Lifecycle::Draft if row.bytes(SHELF.name).is_some() => return None,
        Lifecycle::Draft => false,
        Lifecycle::Active => true,
        Lifecycle::Completed | Lifecycle::Cancelled | Lifecycle::Expired => return None,
    };
    Some(OpenAgreement {
        id: row.id(),
        is_active,
        contacts: ids(CONTACTS).into_iter().map(Into::into).collect(),
        waited_for: ids(WAITED_FOR).into_iter().map(Into::into).collect(),
        is_declined: row.number::<i64>(DECLINED).is_some(),
        is_to_review: row.number::<i64>(ANSWERS).is_some(),
        authorizations: row.number(AUTHORIZES).unwrap_or_default(),
        to_authorize: ids(TO_AUTHORIZE).into_iter().map(Into::into).collect(),
        to_release: row.ids(TO_RELEASE).map(|ids| ids.into_iter().map(Into::into).collect()),
        papers: ids(PAPERS).into_iter().map(Into::into).collect(),
        since_ms: row.number(SINCE).unwrap_or_default(),
        expires_ms: row.number(EXPIRES),
    })
}

/// The changes that create an agreement.
pub fn create(call: &CallContext, draft: &Draft) -> Result<Changes, StoreError> {
    let mut created = record::create::<Agreement>(call.org(), draft)?;
    if !draft.documents.is_empty() {
        created.push(write_documents_row(call.org(), draft, 1, None));
    }
    Ok(Changes::of(call, created).about(draft.id(), None))
}

/// The changes from one state of a draft to the next. The record before must be a draft of the same agreement.
pub fn edit(call: &CallContext, before: &Versioned<Agreement>, after: &Draft) -> Result<Changes, StoreError> {
    if before.lifecycle() != Lifecycle::Draft {
        return Err(StoreError::Failed("an edit of what is not a draft".to_owned()));
    }
    Ok(Changes::of(call, next_version(call, before, after)?).about_part(after.id(), EditedPart::of_edit(before, after)))
}

/// The changes that execute what a member confirmed.
pub fn execute(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &ByMember<Agreement>,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided_by_member(call, after, next_version(call, before, after)?).about(after.id(), None))
}

/// Like [`execute`], for what the agreement's history does not show.
pub(super) fn execute_untold(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &ByMember<Agreement>,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided_by_member(call, after, next_version(call, before, after)?))
}

pub(super) fn record(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &ByMember<Agreement>,
    about: ParticipantId,
) -> Result<Changes, StoreError> {
    let part = participant_part(after, about);
    Ok(Changes::decided_by_member(call, after, next_version(call, before, after)?).about_part(after.id(), part))
}

pub(super) fn participant_part(agreement: &Agreement, participant: ParticipantId) -> Option<EditedPart> {
    let participant = agreement.participant(participant)?;
    Some(EditedPart::Participant { contact_id: participant.contact_id })
}

pub(super) fn record_act(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &ByParticipant<Agreement>,
) -> Result<Changes, StoreError> {
    Ok(Changes::by_participant(call, after, next_version(call, before, after)?).about(after.id(), None))
}

/// The changes that record how far time has advanced an agreement.
pub fn advance(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &AdvancedAgreement,
) -> Result<Changes, StoreError> {
    Ok(Changes::decided(call, after.moment(), next_version(call, before, after)?).about(after.id(), None))
}

/// Every write after drafting passes here. The version that brings promises into force also writes their obligations.
fn next_version(
    call: &CallContext,
    before: &Versioned<Agreement>,
    after: &Agreement,
) -> Result<Vec<Change>, StoreError> {
    let org = call.org();
    let mut changes = record::replace(org, before, after)?;
    if names_of_documents(before) != names_of_documents(after) {
        changes.push(write_documents_row(org, after, before.version() + 1, before.stamp()));
    }
    for obligation in obligation::begun(before, after) {
        changes.extend(record::create(org, &obligation)?);
    }
    let (was_due, is_due) = (before.next_due(), after.next_due());
    if was_due != is_due {
        changes.extend(was_due.map(|at| Change::Delete(due(org, after.id(), at))));
        changes.extend(is_due.map(|at| Change::Put(due(org, after.id(), at).into_item())));
    }
    // An agreement's end also ends its open movements and obligations, each in a transaction of its own. This
    // transaction opens as many of its papered items as fit; the clock removes later what they leave behind.
    let ends = after.has_ended_early() && !before.has_ended_early();
    let has_obligations = !after.promises.is_empty() && obligation::projected_at(after).is_some();
    let has_items = !after.funding_item_ids.is_empty();
    if ends && (before.open_movements().next().is_some() || has_obligations || has_items) {
        changes.push(leave_rest(call, after));
    }
    Ok(changes)
}

/// Leaves the rest of an act's consequences to the clock.
fn leave_rest(call: &CallContext, agreement: &Agreement) -> Change {
    Change::Put(keys::due(call.now(), Due::Ending, call.org(), agreement.id().uuid()).into_item())
}

/// Like `leave_rest`, for participants who have yet to become people of the workspace.
pub fn leave_people(call: &CallContext, draft: &Draft) -> Changes {
    Changes::of(call, [leave_rest(call, draft)])
}

/// Like `leave_rest`, for items that the publication has yet to set in progress.
pub fn leave_items(call: &CallContext, published: &ByMember<Agreement>) -> Changes {
    Changes::decided_by_member(call, published, [leave_rest(call, published)])
}

/// The row with the names of an agreement's documents, if it has any, to be written together with that version.
pub(super) fn documents_row(org: OrgId, agreement: &Agreement, version: u64) -> Option<Item> {
    let names = names_of_documents(agreement);
    let key = keys::row(org, Rows::AgreementDocuments, agreement.id().uuid());
    (!names.is_empty()).then(|| record::row_item(key, &names, version))
}

pub(super) fn write_documents_row(
    org: OrgId,
    agreement: &Agreement,
    version: u64,
    stamp_before: Option<i64>,
) -> Change {
    let id = agreement.id();
    Change::Row(RowWrite {
        org,
        rows: Rows::AgreementDocuments,
        id: id.uuid(),
        record: keys::agreement(org, id),
        version,
        stamp_before,
        row: documents_row(org, agreement, version),
    })
}

fn names_of_documents(agreement: &Agreement) -> String {
    Folded::join(agreement.documents.iter().map(|document| document.name.as_str())).as_str().to_owned()
}

fn due(org: OrgId, id: AgreementId, at: Timestamp) -> Key {
    keys::due(at, Due::Agreement, org, id.uuid())
}

/// The check that an agreement has not changed.
pub fn check(call: &CallContext, agreement: &Versioned<Agreement>) -> Changes {
    Changes::of(call, [record::check(call.org(), agreement)])
}

//! Participants' access to their pages, their sessions, and the receipts of what they did.
//!
//! - Decision: no item stores a link, only how often it was reissued, beside the consent in force; each act's
//!   transaction checks both. The item has no version: looking at a page, which moves `seen_at`, conflicts with no act.
//! - Decision: receipts are items under their participant: a page reads their own, the evidence all in one query.

use aws_sdk_dynamodb::types::AttributeValue;

use super::agreements;
use super::change::{Change, Changes, Condition, Update};
use super::item::{Item, from_item, number, text, to_attribute, to_item};
use super::keys::{self, DROP_AT, SORT};
use super::query::Query;
use super::{OrgStore, Store, StoreError, Versioned};
use crate::crypto::SecretHash;
use crate::domain::agreement::Agreement;
use crate::domain::agreement::acts::EditedPart;
use crate::domain::call_context::CallContext;
use crate::domain::contact::Contact;
use crate::domain::ids::{AgreementId, ContactId, GateId, ParticipantId};
use crate::domain::member::{Member, Reopened};
use crate::domain::organization::Organization;
use crate::domain::participant::consent::ConsentChange;
use crate::domain::participant::receipt::{Receipt, ReceiptAct};
use crate::domain::participant::session::{InPerson, Part, StoredParticipantSession};
use crate::domain::participant::{Access, Acted, ActingParticipant, ByParticipant};
use crate::domain::time::Timestamp;
use crate::limits;

pub(super) const GENERATION: &str = "generation";
const CONSENT: &str = "consent";
/// When the participant last looked, or a session was last used, in milliseconds since 1970.
const SEEN_AT: &str = "seen_at";

const CONTACT_VERSION: &str = "contact_version";

/// The bytes of all files stored by the link of this generation.
const FILE_BYTES: &str = "file_bytes";

fn access_of(item: &Item) -> Access {
    Access {
        generation: number(item, GENERATION).unwrap_or_default(),
        consent: text(item, CONSENT).and_then(|id| id.parse().ok()),
        seen_at: number(item, SEEN_AT).and_then(|ms| Timestamp::from_unix_ms(ms).ok()),
        contact_version: number(item, CONTACT_VERSION),
    }
}

/// The holder of a session: their access, the organization, and their contact.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) access: Access,
    pub(crate) organization: Organization,
    pub(crate) contact: Contact,
}

impl Store {
    /// The session whose secret has this hash, expired or not.
    pub(crate) async fn participant_session(
        &self,
        hash: SecretHash,
    ) -> Result<Option<StoredParticipantSession>, StoreError> {
        self.get(keys::participant_session(hash)).await?.map(from_item).transpose()
    }

    /// What every page of a session needs. None if a record is missing or the organization is suspended.
    pub(crate) async fn visitor(&self, part: Part, contact: ContactId) -> Result<Option<Visitor>, StoreError> {
        let org = part.organization_id;
        let keys = [keys::access(part), keys::organization(org), keys::contact(org, contact)];
        let Ok([access, organization, contact]) = <[Item; 3]>::try_from(self.get_all(&keys).await?) else {
            return Ok(None);
        };
        let organization: Organization = from_item(organization)?;
        if organization.suspended_at.is_some() {
            return Ok(None);
        }
        Ok(Some(Visitor { access: access_of(&access), organization, contact: from_item(contact)? }))
    }

    pub(crate) async fn note_visit(&self, part: Part, generation: u64, at: Timestamp) -> Result<(), StoreError> {
        self.update(seen(part, generation, at)).await.map(|_| ())
    }

    /// Writes nothing else: the session may have changed since the read. Best effort: a lost write ends it earlier.
    pub(crate) async fn refresh_participant_session(
        &self,
        hash: SecretHash,
        session: &StoredParticipantSession,
        at: Timestamp,
    ) {
        let Ok(seen_at) = to_attribute(&at) else { return };
        let used = Update {
            key: keys::participant_session(hash),
            expression: "SET #seen_at = :seen_at",
            condition: "attribute_exists(#part)",
            names: vec![("#seen_at", SEEN_AT), ("#part", "part")],
            values: vec![(":seen_at", seen_at)],
        };
        if let Ok(Some(_)) = self.update(used).await {
            let _ = self.note_visit(session.part, session.generation, at).await;
        }
    }

    /// Notes that the pages have to ask about a member in whose browser a session goes on, unless it has ended.
    pub(crate) async fn ask_in_person(&self, hash: SecretHash, member: &InPerson) -> Result<(), StoreError> {
        let open = Update {
            key: keys::participant_session(hash),
            expression: "SET #to_ask_about = :member",
            condition: "attribute_exists(#part)",
            names: vec![("#to_ask_about", "to_ask_about"), ("#part", "part")],
            values: vec![(":member", to_attribute(member)?)],
        };
        self.update(open).await.map(|_| ())
    }
}

impl OrgStore {
    pub(crate) async fn access(
        &self,
        agreement: AgreementId,
        participant: ParticipantId,
    ) -> Result<Access, StoreError> {
        let item = self.store.get(keys::access(self.part(agreement, participant))).await?;
        Ok(item.as_ref().map(access_of).unwrap_or_default())
    }

    /// The access of the participants who were ever there or got another link.
    pub(crate) async fn accesses(&self, agreement: AgreementId) -> Result<Vec<(ParticipantId, Access)>, StoreError> {
        let accesses = keys::accesses();
        let items = self.beside(agreement, accesses.clone()).await?;
        let participant = |item: &Item| text(item, SORT)?.strip_prefix(&accesses)?.parse().ok();
        Ok(items.iter().filter_map(|item| Some((participant(item)?, access_of(item)))).collect())
    }

    /// Oldest first.
    pub(crate) async fn receipts_of(
        &self,
        agreement: AgreementId,
        participant: ParticipantId,
    ) -> Result<Vec<Receipt>, StoreError> {
        self.receipts_beside(agreement, keys::receipts_of(participant)).await
    }

    pub(crate) async fn receipts(&self, agreement: AgreementId) -> Result<Vec<Receipt>, StoreError> {
        self.receipts_beside(agreement, keys::receipts()).await
    }

    async fn receipts_beside(&self, agreement: AgreementId, begin: String) -> Result<Vec<Receipt>, StoreError> {
        let items = self.beside(agreement, begin).await?;
        let mut receipts = items.into_iter().map(from_item).collect::<Result<Vec<Receipt>, _>>()?;
        // Their ids come from forms, which may have been open for a while.
        receipts.sort_by_key(|receipt| (receipt.at, receipt.id));
        Ok(receipts)
    }

    /// Counts a file's bytes before it is stored; false beyond [`limits::PARTICIPANT_FILE_BYTES_MAX`] in total.
    pub(crate) async fn count_file_bytes(&self, by: &ActingParticipant, bytes: u64) -> Result<bool, StoreError> {
        let Some(most) = limits::PARTICIPANT_FILE_BYTES_MAX.checked_sub(bytes) else { return Ok(false) };
        let counted = Update {
            key: keys::access(part_of(by)),
            expression: "ADD #file_bytes :bytes",
            condition: "attribute_not_exists(#file_bytes) OR #file_bytes <= :most",
            names: vec![("#file_bytes", FILE_BYTES)],
            values: vec![
                (":bytes", AttributeValue::N(bytes.to_string())),
                (":most", AttributeValue::N(most.to_string())),
            ],
        };
        Ok(self.store.update(counted).await?.is_some())
    }

    pub(super) fn part(&self, agreement_id: AgreementId, participant_id: ParticipantId) -> Part {
        Part { organization_id: self.org, agreement_id, participant_id }
    }

    pub(super) async fn beside(&self, agreement: AgreementId, begin: String) -> Result<Vec<Item>, StoreError> {
        self.store.all(Query::of(keys::acts(self.org, agreement)).beginning(begin)).await
    }
}

/// Begins a session. The link that opens it must still have its generation.
pub(crate) fn begin_session(
    call: &CallContext,
    hash: SecretHash,
    session: &StoredParticipantSession,
) -> Result<Changes, StoreError> {
    if session.part.organization_id != call.org() {
        return Err(StoreError::Failed("a session of another organization".to_owned()));
    }
    let begun = Change::Create(session_item(hash, session)?);
    Ok(Changes::of(call, [begun, Change::Update(seen(session.part, session.generation, session.seen_at))]))
}

/// Marks a session as going on in a member's browser, which answers the question about it.
pub(crate) fn act_in_person(call: &CallContext, hash: SecretHash, member: &InPerson) -> Result<Changes, StoreError> {
    let mark = Update {
        key: keys::participant_session(hash),
        expression: "SET #in_person = :in_person REMOVE #to_ask_about",
        condition: "attribute_exists(#part)",
        names: vec![("#in_person", "in_person"), ("#to_ask_about", "to_ask_about"), ("#part", "part")],
        values: vec![(":in_person", to_attribute(member)?)],
    };
    Ok(Changes::of(call, [Change::Update(mark)]))
}

pub(crate) fn end_session(call: &CallContext, hash: SecretHash) -> Changes {
    Changes::of(call, [Change::Delete(keys::participant_session(hash))])
}

fn session_item(hash: SecretHash, session: &StoredParticipantSession) -> Result<Item, StoreError> {
    let mut item = to_item(keys::participant_session(hash), session)?;
    item.insert(DROP_AT.to_owned(), AttributeValue::N(session.ends_at().unix_s().to_string()));
    Ok(item)
}

/// The link must still have this generation. Nothing may be stored for the first one.
fn is_of_generation(generation: u64) -> &'static str {
    if generation == 0 {
        "attribute_not_exists(#generation) OR #generation = :generation"
    } else {
        "#generation = :generation"
    }
}

fn seen(part: Part, generation: u64, at: Timestamp) -> Update {
    Update {
        key: keys::access(part),
        expression: "SET #generation = :generation, #seen_at = :seen_at",
        condition: is_of_generation(generation),
        names: vec![("#generation", GENERATION), ("#seen_at", SEEN_AT)],
        values: vec![
            (":generation", AttributeValue::N(generation.to_string())),
            (":seen_at", AttributeValue::N(at.unix_ms().to_string())),
        ],
    }
}

/// Reissues a participant's link. Ends the previous link and all sessions that it opened.
pub(crate) fn reissue(
    call: &CallContext,
    by: &Member,
    agreement: &Agreement,
    participant: ParticipantId,
    before: Access,
) -> Changes {
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id: participant };
    let reissued = Update {
        key: keys::access(part),
        // The old link may have reached someone else: whoever has the new one is asked for their own consent.
        expression: "SET #generation = :next REMOVE #consent, #file_bytes",
        condition: is_of_generation(before.generation),
        names: vec![("#generation", GENERATION), ("#consent", CONSENT), ("#file_bytes", FILE_BYTES)],
        values: vec![
            (":generation", AttributeValue::N(before.generation.to_string())),
            (":next", AttributeValue::N(before.generation.saturating_add(1).to_string())),
        ],
    };
    let changes = Changes::by_member(call, by, [Change::Update(reissued)]);
    changes.about_part(agreement.id(), agreements::participant_part(agreement, participant))
}

/// Notes in the agreement's history that a member has the link shown. It must still have its generation.
pub(crate) fn show_link(
    call: &CallContext,
    by: &Member,
    agreement: &Agreement,
    participant: ParticipantId,
    generation: u64,
) -> Changes {
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id: participant };
    let is_current = Condition {
        key: keys::access(part),
        expression: is_of_generation(generation),
        names: vec![("#generation", GENERATION)],
        values: vec![(":generation", AttributeValue::N(generation.to_string()))],
    };
    let changes = Changes::by_member(call, by, [Change::Check(is_current)]);
    changes.about_part(agreement.id(), agreements::participant_part(agreement, participant))
}

pub(crate) fn confirm_contact(
    call: &CallContext,
    by: &Member,
    agreement: &Agreement,
    participant: ParticipantId,
    version: u64,
) -> Changes {
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id: participant };
    let confirmed = Update {
        key: keys::access(part),
        expression: "SET #version = :version",
        condition: "",
        names: vec![("#version", CONTACT_VERSION)],
        values: vec![(":version", AttributeValue::N(version.to_string()))],
    };
    let changes = Changes::by_member(call, by, [Change::Update(confirmed)]);
    changes.about_part(agreement.id(), agreements::participant_part(agreement, participant))
}

/// The expression of the condition under which a participant may act, with its names and values.
type Standing = (&'static str, Vec<(&'static str, &'static str)>, Vec<(&'static str, AttributeValue)>);

fn standing(by: &ActingParticipant) -> Standing {
    let generation = (":generation", AttributeValue::N(by.access().generation.to_string()));
    let names = vec![("#generation", GENERATION), ("#consent", CONSENT)];
    match by.access().consent {
        Some(consent) => {
            let consent = (":consent", AttributeValue::S(consent.to_string()));
            ("#generation = :generation AND #consent = :consent", names, vec![generation, consent])
        }
        None => ("#generation = :generation AND attribute_not_exists(#consent)", names, vec![generation]),
    }
}

pub(super) fn part_of(by: &ActingParticipant) -> Part {
    Part { organization_id: by.org(), agreement_id: by.agreement_id(), participant_id: by.id() }
}

/// Link and consent must still be those that the act was decided with.
pub(crate) fn record(
    call: &CallContext,
    before: &Versioned<Agreement>,
    acted: &Acted,
) -> Result<[Changes; 2], StoreError> {
    leave(call, before, &acted.receipt, &acted.agreement)
}

/// Like [`record`], for an act that leaves a receipt only.
pub(super) fn leave(
    call: &CallContext,
    before: &Versioned<Agreement>,
    receipt: &Receipt,
    agreement: &ByParticipant<Agreement>,
) -> Result<[Changes; 2], StoreError> {
    let part = part_of(agreement.by());
    let left = Change::Create(to_item(keys::receipt(part, receipt.id), receipt)?);
    let stands = stands(agreement.by());
    let about = match &receipt.act {
        ReceiptAct::Declined { gate_ids, document: None, .. } => {
            gate_ids.first().and_then(|gate| EditedPart::condition(agreement, *gate))
        }
        act => act.document().map(|name| EditedPart::Document { name: name.clone() }),
    };
    let recorded = agreements::record_act(call, before, agreement)?.about_part(agreement.id(), about);
    Ok([recorded, Changes::by_participant(call, agreement, [left, stands])])
}

pub(super) fn stands(by: &ActingParticipant) -> Change {
    let (expression, names, values) = standing(by);
    Change::Check(Condition { key: keys::access(part_of(by)), expression, names, values })
}

pub(crate) fn change_consent(call: &CallContext, change: &ConsentChange) -> Result<Changes, StoreError> {
    let (by, receipt) = (change.receipt.by(), &change.receipt);
    let (condition, names, mut values) = standing(by);
    let expression = match change.in_force {
        Some(consent) => {
            values.push((":next", AttributeValue::S(consent.to_string())));
            "SET #consent = :next"
        }
        None => "REMOVE #consent",
    };
    let update = Update { key: keys::access(part_of(by)), expression, condition, names, values };
    let left = Change::Create(to_item(keys::receipt(part_of(by), receipt.id), &**receipt)?);
    let changes = Changes::by_participant(call, receipt, [Change::Update(update), left]);
    Ok(changes.about_part(by.agreement_id(), None))
}

pub(crate) fn reopen(
    call: &CallContext,
    before: &Versioned<Agreement>,
    reopened: &Reopened,
    gate: GateId,
) -> Result<Changes, StoreError> {
    let (after, condition) = (&reopened.agreement, EditedPart::condition(&reopened.agreement, gate));
    Ok(agreements::execute(call, before, after)?.about_part(after.id(), condition))
}

//! Evidence of a movement: what was filed about money that was sent or arrived. Its [source](super::source) determines
//! its side and assurance.
//!
//! Decision: evidence of each side has its own type, and only the receiving side's can be accepted.
//!
//! Decision: receiver-side evidence counts for one movement of the organization at a time. While undecided or accepted,
//! it claims its statement entry and the bank's references for the movement; rejecting or withdrawing releases them.
//! References are compared without their type: the same one with two types is more likely one transfer than two.
//!
//! Decision: references that a bank didn't choose claim nothing across movements: a payer's reference recurs monthly,
//! and what a party enters for one movement must never block proof of another. So an entry claims no `EndToEndId`, and
//! a typed reference claims only if it has the form of a UETR, IMAD or OMAD: nobody knows where another one comes from.
//! Even so, it claims nothing if a party typed it, if it is on the sender's side, or if it is in the payment's terms or
//! the sender's claim. Files claim nothing either: a paper statement shows several months. Within a movement, each side
//! files each of these once.
//!
//! Decision: what claims nothing is still compared when evidence is accepted: with the same reference, a member has to
//! say that these are two arrivals.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::evidence_account::{AccountStanding, EvidenceAccount, SpokenAccount};
use super::safe_text::{SafeLine, SafeNote};
use super::source::{ChosenSource, EvidenceSource, ReceiverSource, Side};
use super::{NotMoved, Stamp};
use crate::domain::actor::{Actor, ActorType};
use crate::domain::agreement::DocumentContent;
use crate::domain::day::Day;
use crate::domain::file_type::FileType;
use crate::domain::ids::{EvidenceId, MovementId, StatementId};
use crate::domain::money::Money;
use crate::domain::participant::session::InPerson;
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

pub use super::evidence_key::{BankReference, EvidenceKey, KeyChange};

/// The file of evidence in the file store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// Its name.
    pub name: SafeLine,
    /// Its content.
    pub content: DocumentContent,
    /// The verified file type. None for a statement file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_type: Option<FileType>,
}

/// Evidence to be filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvidence {
    pub(super) id: EvidenceId,
    pub(super) source: EvidenceSource,
    pub(super) facts: EvidenceFacts,
    pub(super) entry: Option<StatementEntry>,
    pub(super) account: Option<NewAccount>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NewAccount {
    Spoken(SpokenAccount),
    Compared(EvidenceAccount),
}

/// The statement entry that evidence was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementEntry {
    /// The statement.
    pub statement_id: StatementId,
    /// The entry's number, from 1.
    pub number: u32,
    /// Identifies the entry, even in another overlapping file.
    pub fingerprint: String,
    /// The references under which the entry counts once: made by banks and on no other entry of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_references: Vec<BankReference>,
    /// Its other references.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_references: Vec<BankReference>,
}

impl StatementEntry {
    /// The keys the entry counts under: itself and its unique references, but not its file, which has other entries.
    #[must_use]
    pub fn keys(&self) -> Vec<EvidenceKey> {
        let entry = EvidenceKey::of_entry(&self.fingerprint);
        let references = self.unique_references.iter().filter_map(EvidenceKey::of_reference);
        let mut keys = vec![entry];
        for key in references {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// Whether it has a reference, in any spelling.
    #[must_use]
    pub fn has_reference(&self, other: &str) -> bool {
        self.unique_references.iter().chain(&self.other_references).any(|own| own.is_same_as(other))
    }
}

/// The facts of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFacts {
    /// The amount sent or arrived.
    pub money: Money,
    /// The bank's value date.
    pub value_day: Day,
    /// The bank's reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<BankReference>,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<EvidenceFile>,
}

impl EvidenceFacts {
    /// The first and last day on which other evidence of the same arrival may count.
    #[must_use]
    pub fn days_around(&self) -> [Day; 2] {
        const DAYS_APART_MAX: i32 = 5;
        [-DAYS_APART_MAX, DAYS_APART_MAX].map(|days| self.value_day.plus_days(days))
    }
}

/// Checks a typed value date; `out_of_range` for a day after `today`, which is in the organization's zone.
pub fn typed_value_day(day: Day, today: Day) -> Result<Day, FieldErrors> {
    if day.is_to_come(today) {
        let message = "must not be in the future. Enter the day on which the bank counted it";
        return Err(FieldErrors::one("value_date", FieldCode::OutOfRange, message));
    }
    Ok(day)
}

impl NewEvidence {
    /// Evidence with typed facts and the form's id; `required` when the source is a document and the file is missing.
    pub fn typed(id: EvidenceId, source: ChosenSource, facts: EvidenceFacts) -> Result<Self, FieldErrors> {
        let source = source.source();
        if source.needs_file() && facts.file.is_none() {
            let message = "is missing. A document of a bank counts only with its file";
            return Err(FieldErrors::one("file", FieldCode::Required, message));
        }
        Ok(Self { id, source, facts, entry: None, account: None })
    }

    /// Evidence read from an entry of the receiving bank's statement file, with the statement's account.
    #[must_use]
    pub fn of_entry(id: EvidenceId, entry: StatementEntry, facts: EvidenceFacts, account: SpokenAccount) -> Self {
        let source = EvidenceSource::Receiver(ReceiverSource::StatementEntry);
        Self { id, source, facts, entry: Some(entry), account: None }.speaking_of(account)
    }

    /// Adds the account that it names.
    #[must_use]
    pub fn speaking_of(self, account: SpokenAccount) -> Self {
        Self { account: Some(NewAccount::Spoken(account)), ..self }
    }

    /// The account that it names, unless already compared.
    #[must_use]
    pub fn spoken_account(&self) -> Option<&SpokenAccount> {
        match &self.account {
            Some(NewAccount::Spoken(account)) => Some(account),
            Some(NewAccount::Compared(_)) | None => None,
        }
    }

    /// Adds the account as compared with the payment's. An entry of another or unknown account is a weaker source.
    #[must_use]
    pub fn with_account(self, account: EvidenceAccount) -> Self {
        let entry = match account.standing {
            AccountStanding::Instructed | AccountStanding::Own => ReceiverSource::StatementEntry,
            AccountStanding::Another => ReceiverSource::EntryOfOtherAccount,
            AccountStanding::Unclear | AccountStanding::Unknown => ReceiverSource::EntryOfUnknownAccount,
        };
        let source = match self.source {
            EvidenceSource::Receiver(ReceiverSource::StatementEntry) => EvidenceSource::Receiver(entry),
            source => source,
        };
        Self { source, account: Some(NewAccount::Compared(account)), ..self }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> EvidenceId {
        self.id
    }

    /// Its source.
    #[must_use]
    pub fn source(&self) -> EvidenceSource {
        self.source
    }

    /// Its facts.
    #[must_use]
    pub fn facts(&self) -> &EvidenceFacts {
        &self.facts
    }

    /// The filed evidence; [`NotMoved::OtherAccount`] while its account has not been compared.
    pub(in crate::domain) fn filed(
        self,
        movement_id: MovementId,
        filed: Stamp,
        is_late: bool,
    ) -> Result<Evidence, NotMoved> {
        let Self { id, source, facts, entry, account } = self;
        let account = match account {
            Some(NewAccount::Spoken(_)) => return Err(NotMoved::OtherAccount),
            Some(NewAccount::Compared(account)) => Some(account),
            None => None,
        };
        let (filed_at, filed_by, state) = (filed.at, filed.by, EvidenceState::Filed);
        let in_person = None;
        Ok(Evidence { id, movement_id, source, facts, entry, account, filed_by, filed_at, in_person, is_late, state })
    }
}

/// Evidence of a movement, stored as a separate record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    id: EvidenceId,
    movement_id: MovementId,
    source: EvidenceSource,
    #[serde(flatten)]
    facts: EvidenceFacts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<StatementEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<EvidenceAccount>,
    filed_by: Actor,
    filed_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_person: Option<InPerson>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_late: bool,
    pub(super) state: EvidenceState,
}

/// Members' decision about evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EvidenceState {
    /// None yet.
    Filed,
    /// A member accepted it: it counts.
    Accepted {
        /// When.
        at: Timestamp,
        /// The member.
        by: Actor,
        /// Whether the member called it a separate arrival despite resembling accepted evidence.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_another: bool,
    },
    /// A member rejected it: it never counted.
    Rejected {
        /// When.
        at: Timestamp,
        /// The member.
        by: Actor,
        /// Why.
        reason: SafeNote,
    },
    /// Withdrawn by a member, or by the filing party before a decision. It no longer counts.
    Withdrawn {
        /// When.
        at: Timestamp,
        /// The member, or the party.
        by: Actor,
        /// Why.
        reason: SafeNote,
    },
}

impl Evidence {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> EvidenceId {
        self.id
    }

    /// The movement that it was filed for.
    #[must_use]
    pub fn movement_id(&self) -> MovementId {
        self.movement_id
    }

    /// Its source, which determines its side and assurance.
    #[must_use]
    pub fn source(&self) -> EvidenceSource {
        self.source
    }

    /// Its facts.
    #[must_use]
    pub fn facts(&self) -> &EvidenceFacts {
        &self.facts
    }

    /// The statement entry that it was read from. None if typed.
    #[must_use]
    pub fn entry(&self) -> Option<&StatementEntry> {
        self.entry.as_ref()
    }

    /// The account it names, as compared when filed, if any.
    #[must_use]
    pub fn account(&self) -> Option<&EvidenceAccount> {
        self.account.as_ref()
    }

    /// Whether it names an account other than the payment's instructions.
    #[must_use]
    pub fn is_of_another_account(&self) -> bool {
        self.account.as_ref().is_some_and(EvidenceAccount::is_another)
    }

    /// Who filed it.
    #[must_use]
    pub fn filed_by(&self) -> &Actor {
        &self.filed_by
    }

    /// The member whose browser the filing participant used, if any.
    #[must_use]
    pub fn in_person(&self) -> Option<&InPerson> {
        self.in_person.as_ref()
    }

    pub(in crate::domain) fn filed_in_browser_of(self, in_person: Option<InPerson>) -> Self {
        Self { in_person, ..self }
    }

    /// When it was filed.
    #[must_use]
    pub fn filed_at(&self) -> Timestamp {
        self.filed_at
    }

    /// Whether it was filed after its movement ended with its agreement.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Whether two pieces of evidence may describe one arrival in two forms: an entry and the recipient's word, a batch
    /// and its details, two exports of one account. They share an amount or reference and, if for different payments,
    /// are close in time. Two entries of one statement are two arrivals.
    #[must_use]
    pub fn may_be_same_arrival(&self, other: &Self) -> bool {
        let statement = |evidence: &Self| evidence.entry.as_ref().map(|entry| entry.statement_id);
        let [from, to] = self.facts.days_around();
        let is_near = self.movement_id == other.movement_id || (from..=to).contains(&other.facts.value_day);
        let is_alike = self.facts.money == other.facts.money
            || !self.arrival_references().is_disjoint(&other.arrival_references());
        let is_of_one = statement(self).is_some_and(|own| statement(other) == Some(own));
        is_near && is_alike && !is_of_one
    }

    /// The references, in any spelling, that evidence of the same arrival may have too.
    pub(crate) fn arrival_references(&self) -> BTreeSet<EvidenceKey> {
        let entry = self.entry.iter().flat_map(|entry| entry.unique_references.iter().chain(&entry.other_references));
        let references = entry.chain(&self.facts.reference).filter(|reference| reference.tells_arrivals_apart());
        references.filter_map(EvidenceKey::of_reference).collect()
    }

    /// Members' decision about it.
    #[must_use]
    pub fn state(&self) -> &EvidenceState {
        &self.state
    }

    /// Whether it is undecided.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.state == EvidenceState::Filed
    }

    /// Whether it counts.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self.state, EvidenceState::Accepted { .. })
    }

    /// The keys it counts under. A statement entry doesn't count under its file, which has other entries.
    #[must_use]
    pub fn keys(&self) -> Vec<EvidenceKey> {
        if let Some(entry) = &self.entry {
            return entry.keys();
        }
        let is_of_sender = self.source.side() == Side::Sender;
        let is_by_party = self.filed_by.actor_type == ActorType::Participant;
        let file = self.facts.file.as_ref().map(|file| EvidenceKey::of_file(&file.content.sha256).own());
        let reference = self.facts.reference.as_ref().and_then(EvidenceKey::of_reference);
        let is_of_bank = self.facts.reference.as_ref().is_some_and(BankReference::names_one_transfer);
        let reference = reference.map(|key| if is_of_sender || is_by_party || !is_of_bank { key.own() } else { key });
        file.into_iter().chain(reference).collect()
    }

    /// The evidence, typed by side.
    #[must_use]
    pub fn split(self) -> Sided {
        match self.source {
            EvidenceSource::Sender(_) => Sided::Sender(SenderEvidence(self)),
            EvidenceSource::Receiver(source) => Sided::Receiver(ReceiverEvidence { source, evidence: self }),
        }
    }

    pub(super) fn decided(self, state: EvidenceState) -> Self {
        Self { state, ..self }
    }
}

/// Evidence, typed by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sided {
    /// The sender's side.
    Sender(SenderEvidence),
    /// The receiving side.
    Receiver(ReceiverEvidence),
}

/// Sender-side evidence, which never proves an arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderEvidence(Evidence);

impl SenderEvidence {
    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.0
    }
}

/// Receiver-side evidence, the only kind that a reconciliation takes. The sender's can't become one:
///
/// ```compile_fail
/// use shared::domain::movement::evidence::{Evidence, ReceiverEvidence};
/// use shared::domain::movement::source::ReceiverSource;
///
/// fn promote(evidence: Evidence) -> ReceiverEvidence {
///     ReceiverEvidence { source: ReceiverSource::BankStatement, evidence }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverEvidence {
    source: ReceiverSource,
    evidence: Evidence,
}

impl ReceiverEvidence {
    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Its source.
    #[must_use]
    pub fn source(&self) -> ReceiverSource {
        self.source
    }

    pub(super) fn into_evidence(self) -> Evidence {
        self.evidence
    }
}

#[cfg(test)]
mod tests;

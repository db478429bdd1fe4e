//! Evidence of a movement: what was filed about money that was sent, or that arrived. Its [source](super::source) gives its
//! side and its assurance.
//!
//! Decision: evidence is another type once it is split by side, and only the receiving side's can be accepted.
//!
//! Decision: evidence of the receiving side counts for one movement of the organization at a time. While it is undecided or
//! accepted, the movement claims its file, or its entry of a statement, and the references that the bank made; rejecting or
//! withdrawing it gives them free, since it may have been filed for the wrong movement. References are compared without their
//! type: two types of one reference are more likely one transfer than two.
//!
//! Decision: what others than the bank chose claims nothing across movements: a payer's reference comes again with each
//! month's payment, and what a party types or hands in for one movement must never stand in the way of another one's proof. So
//! an entry claims no `EndToEndId`, and a typed reference claims nothing if a party typed it, if it is of the sender's side, or
//! if it is the one of the payment's terms or of the sender's claim. Within one movement it is still filed once a side.

use serde::{Deserialize, Serialize};

use super::Stamp;
use super::safe_text::{SafeLine, SafeNote};
use super::source::{ChosenSource, EvidenceSource, ReceiverSource, Side};
use crate::domain::actor::{Actor, ActorType};
use crate::domain::agreement::{DocumentContent, Label};
use crate::domain::day::Day;
use crate::domain::ids::{EvidenceId, MovementId, StatementId};
use crate::domain::money::Money;
use crate::domain::participant::receipt::FileType;
use crate::domain::sensitive::has_iban;
use crate::domain::time::Timestamp;
use crate::wire::fields::{FieldCode, FieldErrors};

/// The reference under which a bank has a transfer.
///
/// Decision: it may be a long number, as many references are, but no IBAN. No response shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BankReference(Label);

impl BankReference {
    /// Checks a reference.
    ///
    /// # Errors
    /// `sensitive_value` for an IBAN, and those of a [`Label`].
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        let line = Label::parse(text)?;
        if has_iban(line.as_str()) {
            return Err((FieldCode::SensitiveValue, "must be a reference, not an account number".to_owned()));
        }
        Ok(Self(line))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether another text names the same reference, however it is written.
    #[must_use]
    pub fn is_same_as(&self, other: &str) -> bool {
        let others: String =
            other.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_uppercase).collect();
        self.normalized() == Some(others)
    }

    /// The reference without what people write differently; none if it is only the word that banks use for none.
    fn normalized(&self) -> Option<String> {
        const NONE: [&str; 6] = ["NOTPROVIDED", "NONREF", "NONE", "NA", "UNKNOWN", "NOREFERENCE"];
        let kept = self.as_str().chars().filter(|letter| letter.is_alphanumeric());
        let kept: String = kept.flat_map(char::to_uppercase).collect();
        Some(kept).filter(|text| !text.is_empty() && !NONE.contains(&text.as_str()))
    }
}

/// The file of evidence, which is in the file store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// Its name.
    pub name: SafeLine,
    /// Its content.
    pub content: DocumentContent,
    /// The type of the file, which was checked. None for a statement file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_type: Option<FileType>,
}

/// What tells a document apart from others: its file, an entry of a statement file, or a reference. Evidence counts under it
/// once for the organization, or, if it is the movement's own, once for the movement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvidenceKey(String);

impl EvidenceKey {
    const OWN: &str = "own:";
    const REFERENCE: &str = "reference:";

    /// The key of a bank's reference. None if it is only the word that banks use for none.
    fn of_reference(reference: &BankReference) -> Option<Self> {
        reference.normalized().map(|text| Self(format!("{}{text}", Self::REFERENCE)))
    }

    /// The same, but compared within one movement only.
    fn own(self) -> Self {
        Self(format!("{}{}", Self::OWN, self.0))
    }

    /// The key as the store writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it counts once for the organization, so that a movement claims it.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        !self.0.starts_with(Self::OWN)
    }

    /// Whether two keys of one movement are of the same document or reference.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.bare() == other.bare()
    }

    /// Whether it is a bank's reference. Both sides of one movement may name it, each once.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        self.bare().starts_with(Self::REFERENCE)
    }

    /// Whether it is that of a reference.
    pub(super) fn is_of(&self, reference: &BankReference) -> bool {
        Self::of_reference(reference).is_some_and(|key| key.is_same_as(self))
    }

    fn bare(&self) -> &str {
        self.0.strip_prefix(Self::OWN).unwrap_or(&self.0)
    }
}

/// The keys that a movement claims in the organization and gives free again, in the transaction of an act. A key that another
/// movement has refuses the act.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// The keys to claim for the movement, unless it has them already.
    pub claimed: Vec<EvidenceKey>,
    /// The keys to give free.
    pub released: Vec<EvidenceKey>,
}

/// Evidence to be filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvidence {
    pub(super) id: EvidenceId,
    pub(super) source: EvidenceSource,
    pub(super) facts: EvidenceFacts,
    pub(super) entry: Option<StatementEntry>,
}

/// The entry of a statement file from which evidence was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementEntry {
    /// The statement.
    pub statement_id: StatementId,
    /// Which of its entries, from 1.
    pub number: u32,
    /// What tells the entry from all others, also in another file that overlaps.
    pub fingerprint: String,
    /// The references under which the entry counts once: those that banks made, each on no other entry of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_references: Vec<BankReference>,
    /// Its other references.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_references: Vec<BankReference>,
}

impl StatementEntry {
    /// What the entry counts under: itself, and each of its unique references. Its file has other entries.
    #[must_use]
    pub fn keys(&self) -> Vec<EvidenceKey> {
        let entry = EvidenceKey(format!("entry:{}", self.fingerprint));
        let references = self.unique_references.iter().filter_map(EvidenceKey::of_reference);
        let mut keys = vec![entry];
        for key in references {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// Whether it has a reference, however that is written.
    #[must_use]
    pub fn has_reference(&self, other: &str) -> bool {
        self.unique_references.iter().chain(&self.other_references).any(|own| own.is_same_as(other))
    }
}

/// The facts of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFacts {
    /// How much was sent, or arrived.
    pub money: Money,
    /// The day on which it counts at the bank.
    pub value_day: Day,
    /// The bank's reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<BankReference>,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<EvidenceFile>,
}

/// Checks the value date that a person typed. `today` is the day in the organization's zone.
///
/// # Errors
/// `out_of_range` at `value_date` for a day that is still to come: nothing was sent or arrived on it.
pub fn typed_value_day(day: Day, today: Day) -> Result<Day, FieldErrors> {
    if day.is_to_come(today) {
        let message = "must not be in the future. Enter the day on which the bank counted it";
        return Err(FieldErrors::one("value_date", FieldCode::OutOfRange, message));
    }
    Ok(day)
}

impl NewEvidence {
    /// Evidence whose facts a person typed. The id is that of the form.
    ///
    /// # Errors
    /// `required` when the source is a document and there is no file.
    pub fn typed(id: EvidenceId, source: ChosenSource, facts: EvidenceFacts) -> Result<Self, FieldErrors> {
        let source = source.source();
        if source.needs_file() && facts.file.is_none() {
            let message = "is missing. A document of a bank counts only with its file";
            return Err(FieldErrors::one("file", FieldCode::Required, message));
        }
        Ok(Self { id, source, facts, entry: None })
    }

    /// Evidence that was read from an entry of a statement file of the receiving bank.
    #[must_use]
    pub fn of_entry(id: EvidenceId, entry: StatementEntry, facts: EvidenceFacts) -> Self {
        Self { id, source: EvidenceSource::Receiver(ReceiverSource::StatementEntry), facts, entry: Some(entry) }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> EvidenceId {
        self.id
    }

    /// Where it comes from.
    #[must_use]
    pub fn source(&self) -> EvidenceSource {
        self.source
    }

    /// What it says.
    #[must_use]
    pub fn facts(&self) -> &EvidenceFacts {
        &self.facts
    }

    /// Whether filed evidence says the same: its source, its facts, and its file, whatever the file's name.
    #[must_use]
    pub fn is_of(&self, filed: &Evidence) -> bool {
        fn said(facts: &EvidenceFacts) -> (Money, Day, Option<&BankReference>, Option<&DocumentContent>) {
            (facts.money, facts.value_day, facts.reference.as_ref(), facts.file.as_ref().map(|file| &file.content))
        }
        (self.id, self.source, &self.entry) == (filed.id, filed.source, &filed.entry)
            && said(&self.facts) == said(&filed.facts)
    }

    pub(in crate::domain) fn filed(self, movement_id: MovementId, filed: Stamp, is_late: bool) -> Evidence {
        let Self { id, source, facts, entry } = self;
        let Stamp { at: filed_at, by: filed_by } = filed;
        Evidence { id, movement_id, source, facts, entry, filed_by, filed_at, is_late, state: EvidenceState::Filed }
    }
}

/// Evidence of a movement, as it is stored: a record of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    id: EvidenceId,
    movement_id: MovementId,
    source: EvidenceSource,
    #[serde(flatten)]
    facts: EvidenceFacts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<StatementEntry>,
    filed_by: Actor,
    filed_at: Timestamp,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_late: bool,
    pub(super) state: EvidenceState,
}

/// What members decided about evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EvidenceState {
    /// Nothing yet.
    Filed,
    /// A member accepted it: it counts.
    Accepted {
        /// When.
        at: Timestamp,
        /// The member.
        by: Actor,
        /// Whether the member said that it is another arrival than what was accepted before and looks like it.
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
    /// A member took it back, or the party who had filed it did before a member decided: it counts no longer.
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

    /// Where it comes from, which gives its side and its assurance.
    #[must_use]
    pub fn source(&self) -> EvidenceSource {
        self.source
    }

    /// What it says.
    #[must_use]
    pub fn facts(&self) -> &EvidenceFacts {
        &self.facts
    }

    /// The entry of a statement file from which it was read. None of what was typed.
    #[must_use]
    pub fn entry(&self) -> Option<&StatementEntry> {
        self.entry.as_ref()
    }

    /// Who filed it.
    #[must_use]
    pub fn filed_by(&self) -> &Actor {
        &self.filed_by
    }

    /// When.
    #[must_use]
    pub fn filed_at(&self) -> Timestamp {
        self.filed_at
    }

    /// Whether it was filed after its movement had ended with its agreement.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Whether two pieces of evidence may be about one arrival, in two shapes: an entry and the recipient's word, a batch and its
    /// details, two exports of one account. They count on days that lie close together, and say the same amount or the same
    /// reference. Two entries of one statement are two arrivals.
    #[must_use]
    pub fn may_be_same_arrival(&self, other: &Self) -> bool {
        const DAYS_APART_MAX: i32 = 5;
        let statement = |evidence: &Self| evidence.entry.as_ref().map(|entry| entry.statement_id);
        let is_near = self.facts.value_day <= other.facts.value_day.plus_days(DAYS_APART_MAX)
            && other.facts.value_day <= self.facts.value_day.plus_days(DAYS_APART_MAX);
        let is_alike = self.facts.money == other.facts.money
            || self.references().any(|own| other.references().any(|theirs| own.is_same_as(theirs.as_str())));
        let is_of_one = statement(self).is_some_and(|own| statement(other) == Some(own));
        is_near && is_alike && !is_of_one
    }

    /// All references that it has.
    fn references(&self) -> impl Iterator<Item = &BankReference> {
        let entry = self.entry.iter().flat_map(|entry| entry.unique_references.iter().chain(&entry.other_references));
        entry.chain(&self.facts.reference)
    }

    /// What members decided about it.
    #[must_use]
    pub fn state(&self) -> &EvidenceState {
        &self.state
    }

    /// Whether a member has yet to decide about it.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.state == EvidenceState::Filed
    }

    /// Whether it counts.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self.state, EvidenceState::Accepted { .. })
    }

    /// What it counts under. An entry of a statement file does not count under the file, which has others.
    #[must_use]
    pub fn keys(&self) -> Vec<EvidenceKey> {
        if let Some(entry) = &self.entry {
            return entry.keys();
        }
        let is_of_sender = self.source.side() == Side::Sender;
        let is_by_party = self.filed_by.actor_type == ActorType::Participant;
        let file = self.facts.file.as_ref().map(|file| EvidenceKey(format!("file:{}", file.content.sha256)));
        let reference = self.facts.reference.as_ref().and_then(EvidenceKey::of_reference);
        let reference = reference.map(|key| if is_of_sender || is_by_party { key.own() } else { key });
        file.into_iter().chain(reference).collect()
    }

    /// The evidence by its side.
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

/// Evidence by its side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sided {
    /// The sender's side.
    Sender(SenderEvidence),
    /// The receiving side.
    Receiver(ReceiverEvidence),
}

/// Evidence of the sender's side, which never proves an arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderEvidence(Evidence);

impl SenderEvidence {
    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.0
    }
}

/// Evidence of the receiving side, the only kind that a reconciliation takes. It can't be made of the sender's:
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

    /// Where it comes from.
    #[must_use]
    pub fn source(&self) -> ReceiverSource {
        self.source
    }

    pub(super) fn into_evidence(self) -> Evidence {
        self.evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::noon;
    use crate::domain::money::Currency;

    fn facts(reference: Option<&str>, sha256: Option<&str>) -> EvidenceFacts {
        let content = |sha256: &str| DocumentContent { sha256: sha256.to_owned(), size_bytes: 9 };
        let name = SafeLine::parse("statement.pdf").unwrap();
        let file = sha256.map(|sha256| EvidenceFile { name, content: content(sha256), file_type: Some(FileType::Pdf) });
        EvidenceFacts {
            money: Money::new(1, Currency::parse("USD").unwrap()).unwrap(),
            value_day: Day::parse("2026-03-14").unwrap(),
            reference: reference.map(|text| BankReference::parse(text).unwrap()),
            file,
        }
    }

    fn stamp(by: Actor) -> Stamp {
        Stamp { at: noon(), by }
    }

    fn keys(new: NewEvidence) -> Vec<String> {
        keys_by(Actor::system(), new)
    }

    fn keys_by(by: Actor, new: NewEvidence) -> Vec<String> {
        let evidence = new.filed(MovementId::new(), stamp(by), false);
        let stored: Evidence = serde_json::from_str(&serde_json::to_string(&evidence).unwrap()).unwrap();
        assert_eq!(stored, evidence);
        evidence.keys().iter().map(|key| key.as_str().to_owned()).collect()
    }

    #[test]
    fn a_document_of_a_bank_needs_its_file() {
        let typed = |source, sha256| {
            NewEvidence::typed(EvidenceId::new(), ChosenSource::parse(source).unwrap(), facts(None, sha256)).is_ok()
        };
        for (source, needs_file) in [
            ("sender_statement", false),
            ("sender_bank_document", true),
            ("recipient_confirmation", false),
            ("receiving_bank_notification", true),
            ("receiving_bank_statement", true),
        ] {
            assert_eq!((typed(source, None), typed(source, Some("a"))), (!needs_file, true), "{source}");
        }
    }

    #[test]
    fn the_value_date_is_not_in_the_future() {
        let today = Day::parse("2026-03-14").unwrap();
        assert_eq!(typed_value_day(today.plus_days(1), today), Ok(today.plus_days(1)), "tomorrow has begun elsewhere");
        let wrong = typed_value_day(today.plus_days(2), today).unwrap_err().into_list();
        assert_eq!((&*wrong[0].field, wrong[0].code), ("value_date", FieldCode::OutOfRange));
    }

    #[test]
    fn a_form_that_says_something_else_is_another() {
        let (id, source) = (EvidenceId::new(), ChosenSource::parse("recipient_confirmation").unwrap());
        let typed = |facts| NewEvidence::typed(id, source, facts).unwrap();
        let own = facts(Some("TRN-1"), Some("a"));
        let filed = typed(own.clone()).filed(MovementId::new(), stamp(Actor::system()), false);
        assert!(typed(own.clone()).is_of(&filed));
        let money = Money::new(2, own.money.currency()).unwrap();
        for other in [
            EvidenceFacts { money, ..own.clone() },
            EvidenceFacts { value_day: own.value_day.plus_days(1), ..own.clone() },
            facts(Some("TRN-2"), Some("a")),
            facts(Some("TRN-1"), Some("b")),
            facts(Some("TRN-1"), None),
        ] {
            assert!(!typed(other.clone()).is_of(&filed), "{other:?}");
        }
    }

    #[test]
    fn one_arrival_may_have_two_shapes() {
        let of = |minor, day: &str, reference| {
            let money = Money::new(minor, Currency::parse("USD").unwrap()).unwrap();
            let facts = EvidenceFacts { money, value_day: Day::parse(day).unwrap(), ..facts(reference, None) };
            let source = ChosenSource::parse("recipient_confirmation").unwrap();
            let new = NewEvidence::typed(EvidenceId::new(), source, facts).unwrap();
            new.filed(MovementId::new(), stamp(Actor::system()), false)
        };
        let read = |statement_id, minor: i64, reference: &str| {
            let reference = BankReference::parse(reference).unwrap();
            let entry = StatementEntry {
                statement_id,
                number: 1,
                fingerprint: minor.to_string(),
                unique_references: Vec::new(),
                other_references: vec![reference],
            };
            let money = Money::new(minor, Currency::parse("USD").unwrap()).unwrap();
            let new = NewEvidence::of_entry(EvidenceId::new(), entry, EvidenceFacts { money, ..facts(None, None) });
            new.filed(MovementId::new(), stamp(Actor::system()), false)
        };
        let own = of(7, "2026-03-14", Some("QX7"));
        assert!(own.may_be_same_arrival(&of(7, "2026-03-19", None)), "the same amount, days apart");
        assert!(!own.may_be_same_arrival(&of(7, "2026-03-20", Some("QX7"))), "next week’s");
        assert!(!own.may_be_same_arrival(&of(8, "2026-03-14", Some("QX8"))));
        let (statement, other) = (StatementId::new(), StatementId::new());
        let batch = read(statement, 10, "BATCH 1");
        assert!(batch.may_be_same_arrival(&read(other, 4, "batch-1")), "its details, in another file");
        assert!(!batch.may_be_same_arrival(&read(statement, 4, "BATCH 1")), "two entries of one file are two");
        assert!(of(10, "2026-03-14", None).may_be_same_arrival(&batch), "the recipient’s word");
    }

    #[test]
    fn a_document_counts_under_its_file_or_entry_and_its_reference() {
        let typed = |reference, sha256| {
            let source = ChosenSource::parse("recipient_confirmation").unwrap();
            keys(NewEvidence::typed(EvidenceId::new(), source, facts(reference, sha256)).unwrap())
        };
        assert_eq!(typed(Some("trn 12-ab"), Some("f00")), ["file:f00", "reference:TRN12AB"]);
        assert_eq!(typed(Some(" TRN12AB "), None), ["reference:TRN12AB"]);
        assert_eq!(typed(Some("NOT PROVIDED"), None), [""; 0], "it is no reference");
        let by = |actor: Actor, source| {
            let source = ChosenSource::parse(source).unwrap();
            keys_by(actor, NewEvidence::typed(EvidenceId::new(), source, facts(Some("QX7"), Some("f00"))).unwrap())
        };
        let party = || Actor { actor_type: ActorType::Participant, ..Actor::system() };
        assert_eq!(by(party(), "recipient_confirmation"), ["file:f00", "own:reference:QX7"], "a party’s free text");
        for actor in [party(), Actor::system()] {
            let found = by(actor, "sender_bank_document");
            assert_eq!(found, ["file:f00", "own:reference:QX7"], "the sender’s side never counts");
        }
        let reference = |text: &str| BankReference::parse(text).unwrap();
        let entry = |unique_references| StatementEntry {
            statement_id: StatementId::new(),
            number: 12,
            fingerprint: "e1".to_owned(),
            unique_references,
            other_references: vec![reference("INVOICE 17")],
        };
        let read =
            |unique| NewEvidence::of_entry(EvidenceId::new(), entry(unique), facts(Some("INVOICE 17"), Some("f00")));
        assert_eq!(
            keys(read(vec![])),
            ["entry:e1"],
            "the file has other entries, and what a payer wrote may come twice"
        );
        let unique = vec![reference("ref-1"), reference("REF 1"), reference("uetr-2"), reference("NONREF")];
        assert_eq!(keys(read(unique.clone())), ["entry:e1", "reference:REF1", "reference:UETR2"]);
        assert!(entry(unique).has_reference("Uetr 2") && entry(vec![]).has_reference("invoice-17"));
        assert!(!entry(vec![]).has_reference("UETR2"));
        assert_eq!(BankReference::parse("DE89370400440532013000").unwrap_err().0, FieldCode::SensitiveValue);
        assert!(BankReference::parse("004829301847").is_ok());
        let read = |text: &str| BankReference::parse(text).unwrap();
        assert!(read("trn 12-ab").is_same_as("TRN12AB") && !read("TRN12AB").is_same_as("TRN12AC"));
        assert!(!read("none").is_same_as("NONE"), "two that are missing are not the same");
    }
}

use super::*;
use crate::domain::agreement::fixtures::noon;
use crate::domain::money::Currency;
use crate::domain::movement::source::{Assurance, Origin};

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

fn of_entry(entry: StatementEntry, facts: EvidenceFacts) -> NewEvidence {
    let new = NewEvidence::of_entry(EvidenceId::new(), entry, facts, SpokenAccount::default());
    assert_eq!(
        new.clone().filed(MovementId::new(), stamp(Actor::system()), false),
        Err(NotMoved::OtherAccount),
        "its account is compared first"
    );
    new.with_account(account(AccountStanding::Instructed))
}

fn account(standing: AccountStanding) -> EvidenceAccount {
    EvidenceAccount { ending: None, standing, reason: None }
}

fn stamp(by: Actor) -> Stamp {
    Stamp { at: noon(), by }
}

fn keys(new: NewEvidence) -> Vec<String> {
    keys_by(Actor::system(), new)
}

fn keys_by(by: Actor, new: NewEvidence) -> Vec<String> {
    let evidence = new.filed(MovementId::new(), stamp(by), false).unwrap();
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
fn an_entry_of_another_account_is_no_more_than_a_document_of_its_bank() {
    let entry = StatementEntry {
        statement_id: StatementId::new(),
        number: 1,
        fingerprint: "e1".to_owned(),
        unique_references: Vec::new(),
        other_references: Vec::new(),
    };
    let spoken = SpokenAccount::default();
    let new = NewEvidence::of_entry(EvidenceId::new(), entry, facts(None, Some("a")), spoken);
    for (standing, assurance) in [
        (AccountStanding::Instructed, Assurance::BankVerified),
        (AccountStanding::Own, Assurance::BankVerified),
        (AccountStanding::Unclear, Assurance::BankDocumented),
        (AccountStanding::Unknown, Assurance::BankDocumented),
        (AccountStanding::Another, Assurance::BankDocumented),
    ] {
        let compared = new.clone().with_account(account(standing));
        let filed = compared.filed(MovementId::new(), stamp(Actor::system()), false).unwrap();
        assert_eq!((filed.source().assurance(), filed.source().origin()), (assurance, Origin::Read), "{standing:?}");
    }
}

#[test]
fn one_arrival_may_have_two_shapes() {
    let of = |minor, day: &str, reference| {
        let money = Money::new(minor, Currency::parse("USD").unwrap()).unwrap();
        let facts = EvidenceFacts { money, value_day: Day::parse(day).unwrap(), ..facts(reference, None) };
        let source = ChosenSource::parse("recipient_confirmation").unwrap();
        let new = NewEvidence::typed(EvidenceId::new(), source, facts).unwrap();
        new.filed(MovementId::new(), stamp(Actor::system()), false).unwrap()
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
        let new = of_entry(entry, EvidenceFacts { money, ..facts(None, None) });
        new.filed(MovementId::new(), stamp(Actor::system()), false).unwrap()
    };
    let own = of(7, "2026-03-14", Some("QX7"));
    assert!(own.may_be_same_arrival(&of(7, "2026-03-19", None)), "the same amount, days apart");
    assert!(!own.may_be_same_arrival(&of(7, "2026-03-20", Some("QX7"))), "next week’s");
    assert!(!own.may_be_same_arrival(&of(8, "2026-03-14", Some("QX8"))));
    assert!(own.may_be_same_arrival(&of(8, "2026-03-19", Some("qx-7"))), "the same reference");
    let numbered = |minor| of(minor, "2026-03-14", Some("00017"));
    assert!(!numbered(7).may_be_same_arrival(&numbered(8)), "the 17th entries of two statements");
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
    assert_eq!(typed(Some("trn 12-ab"), Some("f00")), ["own:file:f00", "own:reference:TRN12AB"], "of whom is unknown");
    assert_eq!(typed(Some(" TRN12AB "), None), ["own:reference:TRN12AB"]);
    let imad = "20260314 B1QGC08C 000123";
    assert_eq!(typed(Some(imad), Some("f00")), ["own:file:f00", "reference:20260314B1QGC08C000123"]);
    let uetr = "97ed4827-7b6f-4491-a06f-b548d5a7512d";
    assert_eq!(typed(Some(uetr), None), ["reference:97ED48277B6F4491A06FB548D5A7512D"]);
    let other = "97ed4827-7b6f-1491-a06f-b548d5a7512d";
    assert_eq!(typed(Some(other), None), ["own:reference:97ED48277B6F1491A06FB548D5A7512D"], "no UETR");
    assert_eq!(typed(Some("NOT PROVIDED"), None), [""; 0], "it is no reference");
    let by = |actor: Actor, source| {
        let source = ChosenSource::parse(source).unwrap();
        keys_by(actor, NewEvidence::typed(EvidenceId::new(), source, facts(Some(imad), Some("f00"))).unwrap())
    };
    let party = || Actor { actor_type: ActorType::Participant, ..Actor::system() };
    let own = ["own:file:f00", "own:reference:20260314B1QGC08C000123"];
    assert_eq!(by(party(), "recipient_confirmation"), own, "a party’s free text");
    for actor in [party(), Actor::system()] {
        assert_eq!(by(actor, "sender_bank_document"), own, "the sender’s side never counts");
    }
    let reference = |text: &str| BankReference::parse(text).unwrap();
    let entry = |unique_references| StatementEntry {
        statement_id: StatementId::new(),
        number: 12,
        fingerprint: "e1".to_owned(),
        unique_references,
        other_references: vec![reference("INVOICE 17")],
    };
    let read = |unique| of_entry(entry(unique), facts(Some("INVOICE 17"), Some("f00")));
    assert_eq!(keys(read(vec![])), ["entry:e1"], "the file has other entries, and what a payer wrote may come twice");
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

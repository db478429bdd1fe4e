//! Bundles with payments: records that agree, and every way in which they may not.

use bundle::File;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::bundle_of;
use crate::cases::Case;

struct Payments {
    movements: Vec<Value>,
    sender: Vec<Value>,
    receiver: Vec<Value>,
    files: Vec<(&'static str, &'static [u8])>,
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn evidence(movement: &str, side: &str, state: &str, minor: i64, file: Option<(&str, &[u8])>) -> Value {
    let assurance = if side == "sender" { "sender_documented" } else { "bank_documented" };
    json!({"movement_id": movement, "side": side, "assurance": assurance, "state": state,
        "amount": {"amount_minor": minor, "currency": "USD"}, "file_sha256": file.map(|(_, content)| sha256(content)),
        "path": file.map(|(path, _)| path)})
}

fn payment(id: &str, state: &str) -> Value {
    let is_reconciled = state == "reconciled";
    let confirmed = |value: Value| if is_reconciled { value } else { Value::Null };
    json!({"movement_id": id, "amount": {"amount_minor": 100, "currency": "USD"}, "state": state,
        "reconciled": is_reconciled, "confirmed_at": confirmed(json!("2026-11-23T06:33:17.000Z")),
        "confirmed_by": confirmed(json!({"display_name": "Kim"})),
        "confirmation_basis": confirmed(json!("receiving_bank_statement"))})
}

impl Payments {
    /// One payment that arrived in two parts, with claimed and rejected evidence; and one only claimed.
    fn good() -> Self {
        let (slip, first, second) = (b"%PDF slip".as_slice(), b"%PDF first".as_slice(), b"%PDF second".as_slice());
        let [sent, one, two] =
            ["sender_evidence/001 slip.pdf", "receiver_evidence/001 a.pdf", "receiver_evidence/002 b.pdf"];
        Self {
            movements: vec![payment("m1", "reconciled"), payment("m2", "receipt_pending")],
            sender: vec![
                evidence("m1", "sender", "filed", 100, Some((sent, slip))),
                evidence("m2", "sender", "filed", 100, None),
            ],
            receiver: vec![
                evidence("m1", "receiver", "accepted", 60, Some((one, first))),
                evidence("m1", "receiver", "rejected", 100, Some((two, second))),
                evidence("m1", "receiver", "accepted", 40, None),
            ],
            files: vec![(sent, slip), (one, first), (two, second)],
        }
    }

    fn write(&self) -> Vec<u8> {
        let lines = |records: &[Value]| records.iter().fold(String::new(), |text, line| text + &format!("{line}\n"));
        let texts = [lines(&self.movements), lines(&self.receiver), lines(&self.sender)];
        let names = ["movements.jsonl", "receiver_evidence.jsonl", "sender_evidence.jsonl"];
        let records = names.into_iter().zip(&texts).map(|(path, text)| File { path, content: text.as_bytes() });
        let files = self.files.iter().map(|(path, content)| File { path, content });
        bundle_of(&records.chain(files).collect::<Vec<_>>())
    }
}

type Changed = (&'static str, fn(&mut Payments), &'static [&'static str]);

const OF_PAYMENTS: &[&str] = &["inconsistent movements.jsonl"];
const OF_SENDER: &[&str] = &["inconsistent sender_evidence.jsonl"];
const OF_RECEIVER: &[&str] = &["inconsistent receiver_evidence.jsonl"];

const PAYMENTS: [Changed; 15] = [
    ("a part too little", |all| all.receiver[0]["amount"]["amount_minor"] = json!(59), OF_PAYMENTS),
    ("a part too much", |all| all.receiver[2]["amount"]["amount_minor"] = json!(41), OF_PAYMENTS),
    ("a part of another payment", |all| all.receiver[2]["movement_id"] = json!("m2"), OF_PAYMENTS),
    ("a part in another currency", |all| all.receiver[2]["amount"]["currency"] = json!("EUR"), OF_PAYMENTS),
    ("a part that is not accepted", |all| all.receiver[2]["state"] = json!("filed"), OF_PAYMENTS),
    ("a part of too little assurance", |all| all.receiver[2]["assurance"] = json!("sender_documented"), OF_PAYMENTS),
    ("nothing is due", |all| all.movements[0]["amount"] = Value::Null, OF_PAYMENTS),
    ("reconciled by a claim", |all| all.movements[1] = payment("m2", "reconciled"), OF_PAYMENTS),
    ("reconciled in another state", |all| all.movements[0]["state"] = json!("processing"), OF_PAYMENTS),
    ("a state without its flag", |all| all.movements[0]["reconciled"] = json!(false), OF_PAYMENTS),
    ("confirmed by nobody", |all| all.movements[0]["confirmed_by"] = Value::Null, OF_PAYMENTS),
    ("confirmed and not reconciled", |all| all.movements[1]["confirmed_at"] = json!("now"), OF_PAYMENTS),
    ("a payment without an id", |all| all.movements[1]["movement_id"] = Value::Null, OF_PAYMENTS),
    ("an amount that is no number", |all| all.movements[0]["amount"]["amount_minor"] = json!(100.0), OF_PAYMENTS),
    ("a payment that is no object", |all| all.movements[1] = json!(["m2"]), OF_PAYMENTS),
];

const EVIDENCE: [Changed; 15] = [
    ("evidence of no payment", |all| all.sender[1]["movement_id"] = json!("m3"), OF_SENDER),
    ("an accepted claim", |all| all.sender[1]["state"] = json!("accepted"), OF_SENDER),
    ("a claim among the proofs", |all| all.receiver[1]["side"] = json!("sender"), OF_RECEIVER),
    ("a proof among the claims", |all| all.sender[1]["side"] = json!("receiver"), OF_SENDER),
    (
        "a document with another hash",
        |all| all.receiver[1]["file_sha256"] = json!(sha256(b"x")),
        &["inconsistent receiver_evidence.jsonl", "inconsistent receiver_evidence/002 b.pdf"],
    ),
    (
        "a document without a hash",
        |all| all.sender[0]["file_sha256"] = Value::Null,
        &["inconsistent sender_evidence.jsonl", "inconsistent sender_evidence/001 slip.pdf"],
    ),
    ("a document that is not there", |all| all.receiver[2]["path"] = json!("receiver_evidence/003 c.pdf"), OF_RECEIVER),
    (
        "a document of the other side",
        |all| all.receiver[2]["path"] = json!("sender_evidence/001 slip.pdf"),
        OF_RECEIVER,
    ),
    (
        "a document twice",
        |all| {
            for name in ["path", "file_sha256"] {
                all.receiver[2][name] = all.receiver[0][name].clone();
            }
        },
        OF_RECEIVER,
    ),
    (
        "a document without a line",
        |all| all.files.push(("sender_evidence/002 x.pdf", b"x")),
        &["inconsistent sender_evidence/002 x.pdf"],
    ),
    (
        "evidence that is no record",
        |all| all.receiver[1]["amount"] = json!(100),
        &["inconsistent receiver_evidence.jsonl", "inconsistent movements.jsonl"],
    ),
    (
        "a bank’s data of another account",
        |all| {
            all.receiver[2]["assurance"] = json!("bank_verified");
            all.receiver[2]["account"] = json!({"ending": "5555", "standing": "another", "reason": "Their new bank"});
        },
        OF_RECEIVER,
    ),
    (
        "a bank’s data of an account that nobody knows",
        |all| {
            all.receiver[2]["assurance"] = json!("bank_verified");
            all.receiver[2]["account"] = json!({"ending": null, "standing": "unclear", "reason": null});
        },
        OF_RECEIVER,
    ),
    (
        "an account that is no record",
        |all| all.receiver[1]["account"] = json!("5555"),
        &["inconsistent receiver_evidence.jsonl", "inconsistent movements.jsonl"],
    ),
    ("a path that is no text", |all| all.sender[1]["path"] = json!(7), OF_SENDER),
];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![Case::new("payments that agree", Payments::good().write(), &[])];
    for assurance in ["recipient_confirmed", "bank_verified"] {
        let mut payments = Payments::good();
        payments.receiver[2]["assurance"] = json!(assurance);
        cases.push(Case::new(format!("payments with {assurance}"), payments.write(), &[]));
    }
    for (assurance, standing) in
        [("bank_documented", "another"), ("bank_verified", "instructed"), ("bank_verified", "own")]
    {
        let mut payments = Payments::good();
        payments.receiver[2]["assurance"] = json!(assurance);
        payments.receiver[2]["account"] = json!({"ending": "5555", "standing": standing, "reason": null});
        cases.push(Case::new(format!("payments with an account that is {standing}"), payments.write(), &[]));
    }
    // More than the amount arrived, and somebody said what becomes of the rest.
    for (surplus, expected) in [(json!({"amount_minor": 5}), &[][..]), (json!({"amount_minor": 4}), OF_PAYMENTS)] {
        let mut payments = Payments::good();
        payments.receiver[2]["amount"]["amount_minor"] = json!(45);
        let name = format!("payments with a surplus of 5, and {surplus}");
        payments.movements[0]["surplus"] = surplus;
        cases.push(Case::new(name, payments.write(), expected));
    }
    let mut large = Payments::good();
    large.movements[0]["amount"]["amount_minor"] = json!(i64::MAX);
    large.receiver[0]["amount"]["amount_minor"] = json!(i64::MAX - 40);
    cases.push(Case::new("payments of the largest amount", large.write(), &[]));
    large.receiver[0]["amount"]["amount_minor"] = json!(i64::MAX - 41);
    cases.push(Case::new("payments of nearly the largest amount", large.write(), OF_PAYMENTS));
    // A parsed statement entry: its file is known by hash only.
    let mut read = Payments::good();
    read.receiver[2]["file_sha256"] = json!(sha256(b"statement"));
    cases.push(Case::new("payments with a statement that was read", read.write(), &[]));
    for (name, change, expected) in PAYMENTS.into_iter().chain(EVIDENCE) {
        let mut payments = Payments::good();
        change(&mut payments);
        cases.push(Case::new(format!("payments: {name}"), payments.write(), expected));
    }
    let mut empty = Payments { movements: vec![], sender: vec![], receiver: vec![], files: vec![] };
    cases.push(Case::new("without payments", empty.write(), &[]));
    empty.files.push(("receiver_evidence/001 a.pdf", b"a"));
    cases.push(Case::new("a document of no payment", empty.write(), &["inconsistent receiver_evidence/001 a.pdf"]));
    let mut damaged = Payments::good();
    damaged.receiver[0]["amount"]["amount_minor"] = json!(59);
    let mut bytes = damaged.write();
    let at = bytes.windows(10).rposition(|window| window == b"%PDF first").expect("the document");
    bytes[at] ^= 1;
    cases.push(Case::new("payments that do not agree, and damage", bytes, &["changed receiver_evidence/001 a.pdf"]));
    cases
}

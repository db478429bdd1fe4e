//! The payments in a bundle: what is to be paid, what senders say, and what was filed.
//!
//! - Decision: the sides have separate files and folders, so that no reader mistakes a claim for proof.
//! - Decision: rejected and withdrawn evidence is included, with state and reason: a bundle has all that was recorded.
//! - Decision: no line has anything of the instructions, nor a bank's reference of evidence, which may be an account
//!   number. The account of evidence has its last characters, which show what was compared; documents are whole.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use shared::domain::actor::Actor;
use shared::domain::bundle::{AgreementRecord, document_of};
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, MovementId, ParticipantId};
use shared::domain::money::Money;
use shared::domain::movement::claim::{Claim, TransferReference};
use shared::domain::movement::evidence::{Evidence, EvidenceState};
use shared::domain::movement::evidence_account::{AccountStanding, EvidenceAccount};
use shared::domain::movement::instructions::{
    InstructionsChange, InstructionsVerification, NumberSource, VerificationMethod,
};
use shared::domain::movement::past_exception::PastException;
use shared::domain::movement::safe_text::{SafeLine, SafeNote};
use shared::domain::movement::source::{Assurance, ConfirmationBasis, EvidenceSource, Origin, Side};
use shared::domain::movement::state::{ExceptionReason, MovementState};
use shared::domain::movement::surplus::Surplus;
use shared::domain::movement::terms::{Direction, Method};
use shared::domain::movement::{Movement, Release, ReleaseBasis, Status};
use shared::domain::participant::session::InPerson;
use shared::domain::time::Timestamp;

use super::files::{Files, file};
use super::lines::lines;
use super::{ExportError, paths};

/// The bundle's files about payments, by path. Fails if a file is missing from `files`.
pub(crate) fn contents(record: &AgreementRecord, files: &Files) -> Result<BTreeMap<String, Bytes>, ExportError> {
    let movements = || record.payments.iter().map(|payment| &payment.movement);
    let mut contents = BTreeMap::new();
    contents.insert("movements.jsonl".to_owned(), lines(movements().map(MovementLine::from))?.into());
    contents.insert("claims.jsonl".to_owned(), lines(movements().flat_map(ClaimLine::of))?.into());
    for (side, name) in [(Side::Sender, "sender_evidence"), (Side::Receiver, "receiver_evidence")] {
        let of_side = |evidence: &&Evidence| evidence.source().side() == side;
        let (mut records, mut documents) = (Vec::new(), 0);
        for evidence in record.payments.iter().flat_map(|payment| &payment.evidence).filter(of_side) {
            let mut path = None;
            if let Some((document, file_type)) = document_of(evidence) {
                documents += 1;
                let own = paths::numbered(name, documents, document.name.as_str(), file_type.extension());
                contents.insert(own.clone(), file(files, &document.content)?);
                path = Some(own);
            }
            records.push(EvidenceLine::new(evidence, path));
        }
        contents.insert(format!("{name}.jsonl"), lines(records.into_iter())?.into());
    }
    Ok(contents)
}

#[derive(Serialize)]
struct MovementLine<'a> {
    movement_id: MovementId,
    purpose: Option<&'a str>,
    reference: Option<&'a str>,
    amount: Option<Money>,
    direction: Direction,
    method: Method,
    sender_participant_id: Option<ParticipantId>,
    receiver_participant_id: Option<ParticipantId>,
    due_on: Option<Day>,
    state: MovementState,
    exception_reason: Option<ExceptionReason>,
    reason: Option<&'a str>,
    /// Those that ended, oldest first.
    past_exceptions: &'a [PastException],
    received_minor: i64,
    /// The part that came after the payment ended with its agreement.
    late_minor: i64,
    surplus: Option<&'a Surplus>,
    reconciled: bool,
    confirmed_at: Option<Timestamp>,
    confirmed_by: Option<&'a Actor>,
    confirmation_basis: Option<ConfirmationBasis>,
    instructions: Option<InstructionsLine<'a>>,
}

impl<'a> From<&'a Movement> for MovementLine<'a> {
    fn from(movement: &'a Movement) -> Self {
        let (terms, confirmation) = (movement.terms(), movement.confirmation());
        let reason = match movement.status() {
            Status::Exception(exception) => exception.note.as_ref(),
            Status::Returned(ending) | Status::Cancelled(ending) => ending.reason.as_ref(),
            _ => None,
        };
        Self {
            movement_id: movement.id(),
            purpose: terms.purpose.as_ref().map(SafeLine::as_str),
            reference: terms.reference.as_ref().map(SafeLine::as_str),
            amount: terms.money,
            direction: terms.direction,
            method: terms.method,
            sender_participant_id: terms.sender,
            receiver_participant_id: terms.receiver,
            due_on: terms.due_on,
            state: movement.state(),
            exception_reason: movement.exception_reason(),
            reason: reason.map(SafeNote::as_str),
            past_exceptions: movement.past_exceptions(),
            received_minor: movement.receipt().map_or(0, |receipt| receipt.received_minor),
            late_minor: movement.late_minor(),
            surplus: movement.surplus(),
            reconciled: movement.state().is_reconciled(),
            confirmed_at: confirmation.map(|found| found.confirmed_at),
            confirmed_by: confirmation.map(|found| &found.confirmed_by),
            confirmation_basis: confirmation.map(|found| found.basis),
            instructions: InstructionsLine::of(movement),
        }
    }
}

/// Who entered, verified and released instructions, and whom they called; nothing of the instructions themselves.
#[derive(Serialize)]
struct InstructionsLine<'a> {
    revision: u32,
    entered_by: &'a Actor,
    entered_at: Timestamp,
    #[serde(flatten)]
    course: InstructionsCourse<'a>,
    replaced: Vec<ReplacedInstructions<'a>>,
}

#[derive(Serialize)]
struct ReplacedInstructions<'a> {
    revision: usize,
    changed_by: &'a Actor,
    changed_at: Timestamp,
    #[serde(flatten)]
    course: InstructionsCourse<'a>,
}

#[derive(Serialize)]
struct InstructionsCourse<'a> {
    verified_by: Option<&'a Actor>,
    verified_at: Option<Timestamp>,
    verification_method: Option<VerificationMethod>,
    read_out_by: Option<&'a str>,
    number_called: Option<&'a str>,
    number_source: Option<NumberSource>,
    released_by: Option<&'a Actor>,
    released_at: Option<Timestamp>,
    release_basis: Option<ReleaseBasis>,
}

impl<'a> InstructionsLine<'a> {
    fn of(movement: &'a Movement) -> Option<Self> {
        let found = movement.instructions()?;
        let replaced = |(revision, change): (usize, &'a InstructionsChange)| ReplacedInstructions {
            revision,
            changed_by: &change.by,
            changed_at: change.at,
            course: InstructionsCourse::of(change.verification.as_ref(), change.release.as_ref()),
        };
        Some(Self {
            revision: found.revision,
            entered_by: &found.entered_by,
            entered_at: found.entered_at,
            course: InstructionsCourse::of(found.verification.as_ref(), movement.released()),
            replaced: (1..).zip(&found.changes).map(replaced).collect(),
        })
    }
}

impl<'a> InstructionsCourse<'a> {
    fn of(verification: Option<&'a InstructionsVerification>, release: Option<&'a Release>) -> Self {
        let call = verification.and_then(|done| done.call.as_ref());
        Self {
            verified_by: verification.map(|done| &done.by),
            verified_at: verification.map(|done| done.at),
            verification_method: verification.map(|done| done.method),
            read_out_by: verification.map(|done| done.read_out_by.as_str()),
            number_called: call.map(|call| call.number.as_str()),
            number_source: call.map(|call| call.source),
            released_by: release.map(|release| &release.by),
            released_at: release.map(|release| release.at),
            release_basis: release.map(|release| release.basis),
        }
    }
}

/// A line of `claims.jsonl`: what the sender of a payment says. It proves nothing.
#[derive(Serialize)]
struct ClaimLine<'a> {
    movement_id: MovementId,
    /// Counted from 1 per payment.
    attempt: usize,
    is_current: bool,
    participant_id: ParticipantId,
    reported_by: &'a Actor,
    reported_in_person: Option<&'a InPerson>,
    reported_at: Timestamp,
    sent_on: Day,
    references: &'a [TransferReference],
}

impl<'a> ClaimLine<'a> {
    fn of(movement: &'a Movement) -> impl Iterator<Item = Self> {
        let earlier = movement.earlier_claims().iter().map(|claim| (false, claim));
        let all = earlier.chain(movement.claim().map(|claim| (true, claim)));
        all.enumerate().map(|(n, (is_current, claim))| Self::new(movement.id(), n + 1, is_current, claim))
    }

    fn new(movement_id: MovementId, attempt: usize, is_current: bool, claim: &'a Claim) -> Self {
        let Claim { reported_at, participant_id, by, in_person, sent_on, references } = claim;
        Self {
            movement_id,
            attempt,
            is_current,
            participant_id: *participant_id,
            reported_by: by,
            reported_in_person: in_person.as_ref(),
            reported_at: *reported_at,
            sent_on: *sent_on,
            references,
        }
    }
}

#[derive(Serialize)]
struct EvidenceLine<'a> {
    id: EvidenceId,
    movement_id: MovementId,
    side: Side,
    source: EvidenceSource,
    assurance: Assurance,
    origin: &'static str,
    amount: Money,
    value_day: Day,
    file_name: Option<&'a str>,
    file_sha256: Option<&'a str>,
    size_bytes: Option<u64>,
    media_type: Option<&'static str>,
    path: Option<String>,
    account: Option<AccountLine<'a>>,
    filed_by: &'a Actor,
    filed_in_person: Option<&'a InPerson>,
    filed_at: Timestamp,
    is_late: bool,
    /// Whether the accepting member called it a separate arrival from one that looks like it.
    is_another: bool,
    state: &'static str,
    decided_by: Option<&'a Actor>,
    decided_at: Option<Timestamp>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct AccountLine<'a> {
    ending: Option<&'a str>,
    standing: AccountStanding,
    /// Why the evidence counts although it is a different account, according to the filing member.
    reason: Option<&'a str>,
}

impl<'a> From<&'a EvidenceAccount> for AccountLine<'a> {
    fn from(EvidenceAccount { ending, standing, reason }: &'a EvidenceAccount) -> Self {
        Self { ending: ending.as_deref(), standing: *standing, reason: reason.as_ref().map(SafeNote::as_str) }
    }
}

impl<'a> EvidenceLine<'a> {
    fn new(evidence: &'a Evidence, path: Option<String>) -> Self {
        let (source, facts) = (evidence.source(), evidence.facts());
        let (state, decided_by, decided_at, reason) = match evidence.state() {
            EvidenceState::Filed => ("filed", None, None, None),
            EvidenceState::Accepted { at, by, .. } => ("accepted", Some(by), Some(*at), None),
            EvidenceState::Rejected { at, by, reason } => ("rejected", Some(by), Some(*at), Some(reason.as_str())),
            EvidenceState::Withdrawn { at, by, reason } => ("withdrawn", Some(by), Some(*at), Some(reason.as_str())),
        };
        let document = facts.file.as_ref();
        Self {
            id: evidence.id(),
            movement_id: evidence.movement_id(),
            side: source.side(),
            source,
            assurance: source.assurance(),
            origin: match source.origin() {
                Origin::Typed => "typed",
                Origin::Read => "read",
            },
            amount: facts.money,
            value_day: facts.value_day,
            file_name: document.map(|document| document.name.as_str()),
            file_sha256: document.map(|document| document.content.sha256.as_str()),
            size_bytes: document.map(|document| document.content.size_bytes),
            media_type: document_of(evidence).map(|(_, file_type)| file_type.media_type()),
            path,
            account: evidence.account().map(AccountLine::from),
            filed_by: evidence.filed_by(),
            filed_in_person: evidence.in_person(),
            filed_at: evidence.filed_at(),
            is_late: evidence.is_late(),
            is_another: matches!(evidence.state(), EvidenceState::Accepted { is_another: true, .. }),
            state,
            decided_by,
            decided_at,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use shared::crypto;
    use shared::domain::bundle::RecordedPayment;

    use super::*;
    use crate::agreement::tests::{PAPER, at, record};

    const PAYMENT: &str = "019a0000-0000-7000-8000-111111111111";

    fn kim() -> Value {
        json!({"type": "member", "id": PAYMENT, "display_name": "Kim"})
    }

    fn of_another_account() -> Evidence {
        let mut stored = serde_json::to_value(evidence(
            6,
            "statement_entry_of_other_account",
            &json!({"state": "filed"}),
            Some("read"),
        ))
        .unwrap();
        stored["account"] = json!({"ending": "5555", "standing": "another", "reason": "Their new bank"});
        serde_json::from_value(stored).unwrap()
    }

    fn evidence(n: u8, source: &str, state: &Value, file: Option<&str>) -> Evidence {
        let content = json!({"sha256": crypto::sha256_hex(PAPER), "size_bytes": PAPER.len()});
        let file = file.map(|file_type| {
            let file_type = if file_type == "read" { Value::Null } else { json!(file_type) };
            json!({"name": "Advice: of / credit.pdf", "content": content, "file_type": file_type})
        });
        serde_json::from_value(json!({
            "id": format!("019a0000-0000-7000-8000-2000000000{n:02}"),
            "movement_id": PAYMENT,
            "source": source,
            "money": {"amount_minor": 25_000_000 + i64::from(n), "currency": "USD"},
            "value_day": "2026-03-14",
            "reference": "004829301847",
            "file": file,
            "filed_by": kim(),
            "filed_at": at(n.into()),
            "state": state,
        }))
        .unwrap()
    }

    fn with_payment() -> AgreementRecord {
        let claim = |day: &str| {
            json!({"reported_at": at(4), "participant_id": PAYMENT, "by": kim(), "sent_on": day,
            "in_person": {"member_id": PAYMENT, "member": "Maren"},
            "references": [{"type": "check_number", "value": "1042"}]})
        };
        let decided = |state: &str| json!({"state": state, "at": at(9), "by": kim(), "reason": "Not ours"});
        let filed = json!({"state": "filed"});
        let movement = json!({
            "id": PAYMENT, "agreement_id": PAYMENT, "workspace_id": PAYMENT,
            "terms": {"purpose": "Closing payment", "money": {"amount_minor": 25_000_000, "currency": "USD"},
                "direction": "incoming", "method": "wire"},
            "status": {"state": "exception", "reason": "amount_over", "note": "A cent more", "at": at(9), "by": kim()},
            "past_exceptions": [{"exception": {"reason": "not_received", "at": at(7), "by": kim()},
                "outcome": "await_proof", "ended": {"at": at(8), "by": kim()}}],
            "claim": claim("2026-03-14"), "earlier_claims": [claim("2026-03-12")],
            "receipts": {"019a0000-0000-7000-8000-200000000003": {"source": "receiving_bank_statement",
                "money": {"amount_minor": 25_000_003, "currency": "USD"}, "is_accepted": true}},
            "instructions": {"revision": 2, "kind": "aba", "ending": "6789", "accounts": [], "entered_by": kim(),
                "entered_at": at(3)},
            "evidence_filed": 6,
            "created_by": kim(), "created_at": at(1), "updated_at": at(9),
        });
        let evidence = vec![
            evidence(1, "sender_bank_document", &filed, Some("pdf")),
            evidence(2, "sender_statement", &decided("withdrawn"), None),
            evidence(3, "receiving_bank_statement", &decided("accepted"), Some("pdf")),
            evidence(4, "receiving_bank_notification", &decided("rejected"), Some("png")),
            evidence(5, "receiving_bank_statement_entry", &filed, Some("read")),
            of_another_account(),
        ];
        let mut record = record();
        record.payments.push(RecordedPayment { movement: serde_json::from_value(movement).unwrap(), evidence });
        record
    }

    fn read(contents: &BTreeMap<String, Bytes>, path: &str) -> Vec<Value> {
        let text = std::str::from_utf8(&contents[path]).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn claims_and_proofs_stand_apart_and_each_document_with_its_line() {
        let record = with_payment();
        let files: Files = [(crypto::sha256_hex(PAPER), Bytes::from_static(PAPER))].into();
        let contents = contents(&record, &files).unwrap();
        let paths: Vec<&str> = contents.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "claims.jsonl",
                "movements.jsonl",
                "receiver_evidence.jsonl",
                "receiver_evidence/001 Advice_ of _ credit.pdf",
                "receiver_evidence/002 Advice_ of _ credit.pdf.png",
                "sender_evidence.jsonl",
                "sender_evidence/001 Advice_ of _ credit.pdf",
            ]
        );
        let claims = read(&contents, "claims.jsonl");
        assert!(claims.iter().all(|line| line["reported_in_person"]["member"] == "Maren"), "{claims:?}");
        let attempts: Vec<Value> =
            claims.iter().map(|line| json!([line["attempt"], line["is_current"], line["sent_on"]])).collect();
        assert_eq!(attempts, [json!([1, false, "2026-03-12"]), json!([2, true, "2026-03-14"])]);
        let told = |path: &str| -> Vec<Value> {
            let line = |line: &Value| {
                assert_eq!(line["movement_id"], PAYMENT);
                json!([line["side"], line["source"], line["assurance"], line["origin"], line["state"], line["path"]])
            };
            read(&contents, path).iter().map(line).collect()
        };
        let sent = "sender_evidence/001 Advice_ of _ credit.pdf";
        assert_eq!(
            told("sender_evidence.jsonl"),
            [
                json!(["sender", "sender_bank_document", "sender_documented", "typed", "filed", sent]),
                json!(["sender", "sender_statement", "stated", "typed", "withdrawn", null]),
            ]
        );
        let [arrived, rejected] = [paths[3], paths[4]];
        assert_eq!(
            told("receiver_evidence.jsonl"),
            [
                json!(["receiver", "receiving_bank_statement", "bank_documented", "typed", "accepted", arrived]),
                json!(["receiver", "receiving_bank_notification", "bank_documented", "typed", "rejected", rejected]),
                json!(["receiver", "receiving_bank_statement_entry", "bank_verified", "read", "filed", null]),
                json!(["receiver", "statement_entry_of_other_account", "bank_documented", "read", "filed", null]),
            ]
        );
        let lines = read(&contents, "receiver_evidence.jsonl");
        assert_eq!((&lines[0]["reason"], &lines[1]["reason"]), (&Value::Null, &json!("Not ours")));
        assert_eq!(lines[0]["amount"], json!({"amount_minor": 25_000_003, "currency": "USD"}));
        assert_eq!(lines[2]["file_sha256"], crypto::sha256_hex(PAPER), "what was read is known by its hash");
        let account = json!({"ending": "5555", "standing": "another", "reason": "Their new bank"});
        assert_eq!((&lines[2]["account"], &lines[3]["account"]), (&Value::Null, &account));
        let movement = &read(&contents, "movements.jsonl")[0];
        assert_eq!(
            [&movement["state"], &movement["reason"], &movement["received_minor"], &movement["reconciled"]],
            [&json!("exception"), &json!("A cent more"), &json!(25_000_003), &json!(false)]
        );
        let past = &movement["past_exceptions"][0];
        assert_eq!(
            [&past["exception"]["reason"], &past["outcome"], &past["ended"]["by"]["display_name"]],
            ["not_received", "await_proof", "Kim"]
        );
    }

    #[test]
    fn neither_instructions_nor_banks_references_are_in_what_is_confirmed() {
        let files: Files = [(crypto::sha256_hex(PAPER), Bytes::from_static(PAPER))].into();
        let contents = contents(&with_payment(), &files).unwrap();
        // The instructions, down to their last characters.
        for (path, content) in &contents {
            let text = String::from_utf8_lossy(content);
            for secret in ["6789", "004829301847", &"ab".repeat(32)] {
                assert!(!text.contains(secret), "{secret} in {path}");
            }
        }
        assert!(
            contents["movements.jsonl"].windows(5).all(|part| part != b"claim"),
            "no claim among what is confirmed"
        );
    }

    #[test]
    fn a_document_of_evidence_counts_and_is_never_left_out() {
        let record = with_payment();
        assert!(matches!(contents(&record, &Files::new()), Err(ExportError::NoFile(_))));
        let wanted = record.files();
        assert_eq!(wanted.len(), 1, "one content, however often it was filed");
        let mut large = with_payment();
        let mut stored = serde_json::to_value(&large.payments[0].evidence[0]).unwrap();
        stored["file"]["content"]["size_bytes"] = json!(300_000_000);
        large.payments[0].evidence[0] = serde_json::from_value(stored).unwrap();
        assert!(large.check_size().is_err() && record.check_size().is_ok());
    }
}

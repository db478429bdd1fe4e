//! Participants' answers in a bundle.
//!
//! Decision: bank details are omitted, and their line says so. As in the API, answers and file names with account or
//! card numbers are omitted too; and the salt of the answers' hash, with which they could be guessed.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use shared::domain::actor::Actor;
use shared::domain::agreement::gate::GateRule;
use shared::domain::agreement::{Agreement, Label};
use shared::domain::bundle::AgreementRecord;
use shared::domain::ids::{FieldId, GateId, ParticipantId, SubmissionId};
use shared::domain::information::{Answer, AnswerFile, OpenAnswer, Submission, Verdict};
use shared::domain::time::Timestamp;

use super::files::{Files, file};
use super::lines::lines;
use super::{ExportError, paths};

/// The bundle's files about answers, by path. Fails if a file is missing from `files`.
pub(crate) fn contents(record: &AgreementRecord, files: &Files) -> Result<BTreeMap<String, Bytes>, ExportError> {
    let mut contents = BTreeMap::new();
    let kept = record.answer_files();
    for (n, kept) in kept.iter().enumerate() {
        contents.insert(path(n, kept), file(files, &kept.content)?);
    }
    let mut next = 0;
    let mut place = |answered: &AnswerFile| {
        let is_kept = kept.get(next).is_some_and(|kept| std::ptr::eq(*kept, answered));
        is_kept.then(|| {
            next += 1;
            path(next - 1, answered)
        })
    };
    let answered = record.submissions.iter().map(|found| SubmissionLine::new(found, &record.agreement, &mut place));
    contents.insert("answers.jsonl".to_owned(), lines(answered)?.into());
    Ok(contents)
}

fn path(n: usize, file: &AnswerFile) -> String {
    paths::numbered("answers", n + 1, file.shown_name().unwrap_or("File"), file.file_type.extension())
}

#[derive(Serialize)]
struct SubmissionLine<'a> {
    submission_id: SubmissionId,
    condition_id: GateId,
    participant_id: ParticipantId,
    revision: u32,
    sent_at: Timestamp,
    answers_sha256: String,
    answers: Vec<AnswerLine<'a>>,
    state: &'static str,
    decided_by: Option<&'a Actor>,
    decided_at: Option<Timestamp>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct AnswerLine<'a> {
    question_id: FieldId,
    question: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
    answer: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'static str>,
}

impl<'a> SubmissionLine<'a> {
    fn new(
        found: &'a Submission,
        agreement: &'a Agreement,
        place: &mut impl FnMut(&AnswerFile) -> Option<String>,
    ) -> Self {
        let (state, decided_by, decided_at, reason) = match &found.verdict {
            Verdict::Sent => ("sent", None, None, None),
            Verdict::Accepted { at, by } => ("accepted", Some(by), Some(*at), None),
            Verdict::Returned { at, by, reason } => ("returned", Some(by), Some(*at), Some(reason.as_str())),
        };
        let answer = |(id, answer): (&FieldId, &'a Answer)| {
            let question = question(agreement, found.gate_id, *id);
            AnswerLine::new(*id, question, answer, place)
        };
        Self {
            submission_id: found.id,
            condition_id: found.gate_id,
            participant_id: found.participant_id,
            revision: found.revision,
            sent_at: found.sent_at,
            answers_sha256: found.sha256(),
            answers: found.answers.iter().map(answer).collect(),
            state,
            decided_by,
            decided_at,
            reason,
        }
    }
}

impl<'a> AnswerLine<'a> {
    fn new(
        question_id: FieldId,
        question: Option<&'a str>,
        answer: &Answer,
        place: &mut impl FnMut(&AnswerFile) -> Option<String>,
    ) -> Self {
        let (kind, answer, left_out) = match answer {
            Answer::BankDetails { .. } => ("bank_details", Value::Null, Some("bank details are in no bundle")),
            Answer::Open(OpenAnswer::File(file)) => of_file(file, place(file).as_deref()),
            Answer::Open(open) => {
                let (kind, answer) = match open {
                    OpenAnswer::Text(text) => ("text", json!(text)),
                    OpenAnswer::Number(number) => ("number", json!(number)),
                    OpenAnswer::Date(day) => ("date", json!(day)),
                    OpenAnswer::Boolean(answer) => ("boolean", json!(answer)),
                    OpenAnswer::Choice(option) => ("choice", json!(option)),
                    OpenAnswer::MultiChoice(options) => ("multi_choice", json!(options)),
                    OpenAnswer::Address(address) => ("address", json!(address.lines())),
                    OpenAnswer::File(_) => ("file", Value::Null),
                };
                let has_number = "the answer has what looks like the number of an account or a card";
                if open.may_be_shown() { (kind, answer, None) } else { (kind, Value::Null, Some(has_number)) }
            }
        };
        Self { question_id, question, kind, answer, left_out }
    }
}

/// A file among the answers, with its path in the bundle. Omits names that look like they contain an account number.
fn of_file(file: &AnswerFile, path: Option<&str>) -> (&'static str, Value, Option<&'static str>) {
    let name = file.shown_name();
    let left_out = match (path, name) {
        (None, _) => Some("the bundle has no room for the file"),
        (_, None) => Some("the name of the file has what looks like the number of an account or a card"),
        (Some(_), Some(_)) => None,
    };
    let about = json!({
        "file_name": name,
        "file_sha256": file.content.sha256,
        "size_bytes": file.content.size_bytes,
        "media_type": file.file_type.media_type(),
        "path": path,
    });
    ("file", about, left_out)
}

fn question(agreement: &Agreement, gate: GateId, field: FieldId) -> Option<&str> {
    let gate = agreement.stages.iter().flat_map(|stage| &stage.gates).find(|found| found.id == gate)?;
    let GateRule::InformationRequest { fields, .. } = &gate.rule else { return None };
    fields.iter().find(|found| found.id == field).map(|found| Label::as_str(&found.label))
}

#[cfg(test)]
mod tests {
    use shared::crypto;
    use shared::limits;

    use super::*;
    use crate::agreement::tests::{PAPER, at, record};

    const ID: &str = "019a0000-0000-7000-8000-111111111111";

    fn submission(answers: &Value) -> Submission {
        serde_json::from_value(json!({
            "id": ID, "gate_id": ID, "participant_id": ID, "revision": 1, "salt": ID, "answers": answers,
            "sent_at": at(4), "verdict": {"state": "sent"},
        }))
        .unwrap()
    }

    fn file_of(size_bytes: usize) -> Value {
        let content = json!({"sha256": crypto::sha256_hex(PAPER), "size_bytes": size_bytes});
        json!({"file": {"name": "Passport", "content": content, "file_type": "pdf"}})
    }

    fn read(contents: &BTreeMap<String, Bytes>) -> Vec<Value> {
        let text = std::str::from_utf8(&contents["answers.jsonl"]).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn answers_are_there_and_bank_details_are_not() {
        let field = |n: u8| format!("019a0000-0000-7000-8000-3000000000{n:02}");
        let sealed = json!({"bank_details": {"sealed": {"key": "k", "text": "c2VhbGVk"}, "ending": "6789"}});
        let mut with_answers = record();
        with_answers.submissions.push(submission(&json!({
            field(1): {"text": "Harbor street"},
            field(2): {"boolean": true},
            field(3): file_of(PAPER.len()),
            field(4): sealed,
        })));
        let files: Files = [(crypto::sha256_hex(PAPER), Bytes::from_static(PAPER))].into();
        let found = contents(&with_answers, &files).unwrap();
        let paths: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(paths, ["answers.jsonl", "answers/001 Passport.pdf"]);
        let line = &read(&found)[0];
        let said = |n: usize| (line["answers"][n]["type"].clone(), line["answers"][n]["answer"].clone());
        assert_eq!(said(0), (json!("text"), json!("Harbor street")));
        assert_eq!(said(1), (json!("boolean"), json!(true)));
        assert_eq!(line["answers"][2]["answer"]["path"], "answers/001 Passport.pdf");
        assert_eq!(line["answers_sha256"], with_answers.submissions[0].sha256());
        assert_eq!(said(3), (json!("bank_details"), Value::Null));
        assert_eq!(line["answers"][3]["left_out"], "bank details are in no bundle");
        for secret in ["6789", "c2VhbGVk", "salt"] {
            assert!(!line.to_string().contains(secret), "{secret}: {line}");
        }
    }

    #[test]
    fn answers_with_numbers_of_accounts_or_cards_are_left_out() {
        let field = |n: u8| format!("019a0000-0000-7000-8000-3000000000{n:02}");
        let iban = "DE89 3704 0044 0532 0130 00";
        let address = json!({"line1": iban, "city": "Albany", "country": "USA"});
        let mut file = file_of(PAPER.len());
        file["file"]["name"] = json!(format!("Statement {iban}"));
        let mut with_answers = record();
        with_answers.submissions.push(submission(&json!({
            field(1): {"text": format!("Our IBAN is {iban}")},
            field(2): {"number": "4111111111111111"},
            field(3): {"address": address},
            field(4): file,
        })));
        let files: Files = [(crypto::sha256_hex(PAPER), Bytes::from_static(PAPER))].into();
        let found = contents(&with_answers, &files).unwrap();
        assert!(found.contains_key("answers/001 File.pdf"), "the file itself is there: {:?}", found.keys());
        let line = &read(&found)[0];
        assert!(!line.to_string().contains("3704") && !line.to_string().contains("4111"), "{line}");
        let answers = line["answers"].as_array().unwrap();
        assert!(answers.iter().all(|answer| answer["left_out"].is_string()), "{line}");
        let types: Vec<&Value> = answers.iter().map(|answer| &answer["type"]).collect();
        assert_eq!(types, ["text", "number", "address", "file"]);
        assert_eq!(answers[3]["answer"]["file_name"], Value::Null);
        assert_eq!(answers[3]["answer"]["path"], "answers/001 File.pdf");
    }

    #[test]
    fn a_file_for_which_there_is_no_room_is_named() {
        let mut large = record();
        let huge = usize::try_from(limits::BUNDLE_FILE_BYTES_MAX).unwrap();
        large.submissions.push(submission(&json!({ID: file_of(huge)})));
        let found = contents(&large, &Files::new()).unwrap();
        assert_eq!(found.len(), 1);
        let answer = &read(&found)[0]["answers"][0];
        assert_eq!(
            (&answer["answer"]["path"], &answer["left_out"]),
            (&Value::Null, &json!("the bundle has no room for the file"))
        );
        assert!(large.check_size().is_ok(), "the rest is exported");
    }
}

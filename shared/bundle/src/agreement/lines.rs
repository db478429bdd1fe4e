//! The records of a bundle as JSON: one object in `agreement.json`, and one line per record in the others.
//!
//! Decision: the formats are defined apart from stored ones, which change: outsiders read a bundle years later.

use std::collections::BTreeSet;

use serde::Serialize;
use shared::api::views::agreements::AgreementView;
use shared::domain::actor::Actor;
use shared::domain::agreement::Label;
use shared::domain::agreement::acts::EditedPart;
use shared::domain::agreement::verification::Verification;
use shared::domain::audit::{AuditRow, Via};
use shared::domain::bundle::AgreementRecord;
use shared::domain::bundle::TimelineEntry;
use shared::domain::contact::{ContactKind, Email as ContactEmail, FormerIdentity};
use shared::domain::day::Day;
use shared::domain::event::EventType;
use shared::domain::file_review::FileReview;
use shared::domain::ids::{
    DocumentId, EvidenceId, GateId, MovementId, ObligationId, PaperSignatureId, ParticipantId, ReceiptId, RequestId,
    SignatureBlockId, SubmissionId, VerificationId,
};
use shared::domain::member::Judgment;
use shared::domain::money::Money;
use shared::domain::movement::claim::ClaimedTransfer;
use shared::domain::movement::source::EvidenceSource;
use shared::domain::paper_signature::{PaperSignature, PaperState};
use shared::domain::participant::receipt::{Receipt, ReceiptAct, Signatory, Signature};
use shared::domain::participant::session::InPerson;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::text;

use super::satisfactions::{ObligationActLine, SatisfactionPaths};

#[derive(Serialize)]
pub(crate) struct AgreementFile<'a> {
    pub organization: Named<'a>,
    pub agreement: AgreementView,
    pub emails: Vec<Addressee<'a>>,
    pub document_paths: Vec<DocumentPath<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Named<'a> {
    pub id: String,
    pub name: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Addressee<'a> {
    pub participant_id: ParticipantId,
    pub email: Option<&'a str>,
    /// Absent if name, kind and address are unchanged since publication.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<Former<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Former<'a> {
    name: &'a str,
    kind: ContactKind,
    email: Option<&'a str>,
    until: Timestamp,
    changed_by: &'a Actor,
}

impl<'a> From<&'a FormerIdentity> for Former<'a> {
    fn from(was: &'a FormerIdentity) -> Self {
        Self {
            name: was.display_name.as_str(),
            kind: was.kind,
            email: was.email.as_ref().map(ContactEmail::as_str),
            until: was.until,
            changed_by: &was.changed_by,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct DocumentPath<'a> {
    pub document_id: DocumentId,
    pub path: &'a str,
}

#[derive(Serialize)]
pub(crate) struct ActLine<'a> {
    at: Timestamp,
    request_id: RequestId,
    operation: &'a str,
    what: String,
    actor: &'a Actor,
    proposed: Option<ProposalAction>,
    part: Option<&'a EditedPart>,
    events: &'a [EventType],
}

impl<'a> From<&'a TimelineEntry> for ActLine<'a> {
    fn from(TimelineEntry { call, act }: &'a TimelineEntry) -> Self {
        Self {
            at: act.at,
            request_id: *call,
            operation: &act.operation,
            // Without names of contacts, which may change.
            what: text::act(act, |_| None).into_owned(),
            actor: &act.actor,
            proposed: act.proposed,
            part: act.part.as_ref(),
            events: &act.events,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct ReceiptLine<'a> {
    id: ReceiptId,
    at: Timestamp,
    participant_id: ParticipantId,
    name: &'a str,
    address: Option<&'a str>,
    browser: Option<&'a str>,
    /// Absent without a member's session in the browser, which keeps older bundles' bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_person: Option<&'a InPerson>,
    #[serde(flatten)]
    act: ActFields<'a>,
}

#[derive(Serialize)]
#[serde(tag = "act", rename_all = "snake_case")]
enum ActFields<'a> {
    Consented {
        text_version: &'a str,
        text_sha256: &'a str,
    },
    Withdrew {
        consent: ReceiptId,
    },
    Signed {
        document_id: DocumentId,
        document: &'a str,
        document_sha256: &'a str,
        block_ids: &'a BTreeSet<SignatureBlockId>,
        statement: &'a str,
        #[serde(flatten)]
        signature: SignatureFields<'a>,
        /// Absent if the participant is a person, which keeps older bundles' bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        signatory: Option<&'a Signatory>,
        consent: ReceiptId,
    },
    Approved {
        condition_id: GateId,
        statement: &'a str,
        consent: ReceiptId,
    },
    Uploaded {
        condition_id: GateId,
        file_name: &'a str,
        file_sha256: &'a str,
        size_bytes: u64,
        media_type: &'static str,
        path: Option<&'a str>,
        consent: ReceiptId,
    },
    Answered {
        condition_id: GateId,
        submission_id: SubmissionId,
        revision: u32,
        answers_sha256: &'a str,
        consent: ReceiptId,
    },
    ReportedSent {
        movement_id: MovementId,
        claim: &'a ClaimedTransfer,
        consent: ReceiptId,
    },
    FiledEvidence {
        movement_id: MovementId,
        evidence_id: EvidenceId,
        source: EvidenceSource,
        amount: Money,
        value_day: Day,
        file_sha256: Option<&'a str>,
        consent: ReceiptId,
    },
    WithdrewEvidence {
        movement_id: MovementId,
        evidence_id: EvidenceId,
        reason: &'a str,
        consent: ReceiptId,
    },
    Declined {
        condition_ids: &'a BTreeSet<GateId>,
        document: Option<&'a str>,
        reason: &'a str,
    },
    ActedOnObligation {
        obligation_id: ObligationId,
        obligation: &'a str,
        #[serde(flatten)]
        did: ObligationActLine,
        statement: &'a str,
        consent: ReceiptId,
    },
}

#[derive(Serialize)]
struct SignatureFields<'a> {
    method: &'static str,
    typed: Option<&'a str>,
    drawn: Option<&'a str>,
}

impl<'a> From<&'a Signature> for SignatureFields<'a> {
    fn from(signature: &'a Signature) -> Self {
        match signature {
            Signature::Typed { name } => Self { method: "typed", typed: Some(name.as_str()), drawn: None },
            Signature::Drawn { drawing } => Self { method: "drawn", typed: None, drawn: Some(drawing.path()) },
        }
    }
}

impl<'a> ReceiptLine<'a> {
    pub(crate) fn new(receipt: &'a Receipt, path: Option<&'a str>, satisfactions: &SatisfactionPaths) -> Self {
        Self {
            id: receipt.id,
            at: receipt.at,
            participant_id: receipt.participant_id,
            name: receipt.name.as_str(),
            address: receipt.origin.address.as_deref(),
            browser: receipt.origin.browser.as_deref(),
            in_person: receipt.origin.in_person.as_ref(),
            act: ActFields::new(&receipt.act, path, satisfactions),
        }
    }
}

impl<'a> ActFields<'a> {
    fn new(act: &'a ReceiptAct, path: Option<&'a str>, satisfactions: &SatisfactionPaths) -> Self {
        match *act {
            ReceiptAct::Consented { version: ref text_version, sha256: ref text_sha256 } => {
                Self::Consented { text_version, text_sha256 }
            }
            ReceiptAct::Withdrew { consent } => Self::Withdrew { consent },
            ReceiptAct::Signed {
                document_id,
                ref document,
                sha256: ref document_sha256,
                ref block_ids,
                ref signature,
                ref signatory,
                ref statement,
                consent,
            } => Self::Signed {
                document_id,
                document: document.as_str(),
                document_sha256,
                block_ids,
                statement,
                signature: signature.into(),
                signatory: signatory.as_ref(),
                consent,
            },
            ReceiptAct::Approved { gate_id, ref statement, consent } => {
                Self::Approved { condition_id: gate_id, statement, consent }
            }
            ReceiptAct::Uploaded { gate_id, ref file_name, ref content, file_type, consent } => Self::Uploaded {
                condition_id: gate_id,
                file_name: file_name.as_str(),
                file_sha256: &content.sha256,
                size_bytes: content.size_bytes,
                media_type: file_type.media_type(),
                path,
                consent,
            },
            // `answers.jsonl` has the answers.
            ReceiptAct::Answered { gate_id, submission_id, revision, sha256: ref answers_sha256, consent } => {
                Self::Answered { condition_id: gate_id, submission_id, revision, answers_sha256, consent }
            }
            ReceiptAct::ReportedSent { movement_id, ref claim, consent } => {
                Self::ReportedSent { movement_id, claim, consent }
            }
            ReceiptAct::FiledEvidence { movement_id, evidence_id, source, money, value_day, ref file, consent } => {
                let file_sha256 = file.as_ref().map(|file| file.sha256.as_str());
                Self::FiledEvidence { movement_id, evidence_id, source, amount: money, value_day, file_sha256, consent }
            }
            ReceiptAct::WithdrewEvidence { movement_id, evidence_id, ref reason, consent } => {
                Self::WithdrewEvidence { movement_id, evidence_id, reason: reason.as_str(), consent }
            }
            ReceiptAct::Declined { gate_ids: ref condition_ids, ref document, ref reason } => {
                let document = document.as_ref().map(Label::as_str);
                Self::Declined { condition_ids, document, reason: reason.as_str() }
            }
            ReceiptAct::ActedOnObligation { obligation_id, ref obligation, ref did, ref statement, consent } => {
                let did = ObligationActLine::new(did, satisfactions);
                Self::ActedOnObligation { obligation_id, obligation: obligation.as_str(), did, statement, consent }
            }
        }
    }
}

#[derive(Serialize)]
pub(crate) struct VerificationLine<'a> {
    id: VerificationId,
    participant_id: ParticipantId,
    method: &'a str,
    reference: Option<&'a str>,
    day: String,
    recorded_by: &'a Actor,
    recorded_at: Timestamp,
}

impl<'a> From<&'a Verification> for VerificationLine<'a> {
    fn from(verification: &'a Verification) -> Self {
        Self {
            id: verification.id,
            participant_id: verification.participant_id,
            method: verification.method.as_str(),
            reference: verification.reference.as_ref().map(Label::as_str),
            day: verification.day.to_string(),
            recorded_by: &verification.recorded_by,
            recorded_at: verification.recorded_at,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct FileReviewLine<'a> {
    receipt_ids: Vec<ReceiptId>,
    condition_id: GateId,
    participant_id: ParticipantId,
    decision: &'static str,
    reason: Option<&'a str>,
    reviewed_by: &'a Actor,
    reviewed_at: Timestamp,
}

impl<'a> FileReviewLine<'a> {
    /// A review, with the receipts of the files that it covers: those since the review before.
    pub(crate) fn new(record: &'a AgreementRecord, review: &'a FileReview) -> Self {
        let of_same = |receipt: &&Receipt| receipt.is_upload_for(review.gate_id, review.participant_id);
        let uploads: Vec<ReceiptId> = record.receipts.iter().filter(of_same).map(|receipt| receipt.id).collect();
        let until = uploads.iter().position(|id| *id == review.receipt_id).map_or(0, |at| at + 1);
        let ends_one = |id: &ReceiptId| record.file_reviews.iter().any(|earlier| earlier.receipt_id == *id);
        let from = uploads.iter().take(until.saturating_sub(1)).rposition(ends_one).map_or(0, |at| at + 1);
        let receipt_ids = uploads.get(from..until).unwrap_or_default().to_vec();
        let (decision, reason) = match &review.judgment {
            Judgment::Accept => ("accepted", None),
            Judgment::Return(reason) => ("returned", Some(reason.as_str())),
        };
        Self {
            receipt_ids,
            condition_id: review.gate_id,
            participant_id: review.participant_id,
            decision,
            reason,
            reviewed_by: &review.reviewed_by,
            reviewed_at: review.reviewed_at,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct PaperLine<'a> {
    id: PaperSignatureId,
    participant_id: ParticipantId,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signatory: Option<&'a Signatory>,
    document_id: DocumentId,
    document: &'a str,
    document_sha256: &'a str,
    block_ids: &'a BTreeSet<SignatureBlockId>,
    signed_on: String,
    how_it_came: &'a str,
    scan_sha256: &'a str,
    path: &'a str,
    recorded_by: &'a Actor,
    recorded_at: Timestamp,
    state: &'static str,
    decided_by: Option<&'a Actor>,
    decided_at: Option<Timestamp>,
    reason: Option<&'a str>,
}

impl<'a> PaperLine<'a> {
    pub(crate) fn new(paper: &'a PaperSignature, path: &'a str) -> Self {
        let (state, decided_by, decided_at, reason) = match &paper.state {
            PaperState::Pending => ("pending", None, None, None),
            PaperState::CountedAlone { at } => ("counted_alone", None, Some(*at), None),
            PaperState::Confirmed { by, at } => ("confirmed", Some(by), Some(*at), None),
            PaperState::Rejected { by, at, reason } => ("rejected", Some(by), Some(*at), Some(reason.as_str())),
        };
        Self {
            id: paper.id,
            participant_id: paper.participant_id,
            name: paper.name.as_str(),
            signatory: paper.signatory.as_ref(),
            document_id: paper.document_id,
            document: paper.document.as_str(),
            document_sha256: &paper.sha256,
            block_ids: &paper.block_ids,
            signed_on: paper.signed_on.to_string(),
            how_it_came: paper.how_it_came.as_str(),
            scan_sha256: &paper.scan.content.sha256,
            path,
            recorded_by: &paper.recorded_by,
            recorded_at: paper.recorded_at,
            state,
            decided_by,
            decided_at,
            reason,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct AuditLine<'a> {
    request_id: RequestId,
    at: Timestamp,
    operation: &'a str,
    actor_type: &'static str,
    actor_id: Option<String>,
    /// Absent for a direct call, which keeps older bundles' bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'static str>,
    status: u16,
    code: &'a str,
    object_ids: Vec<String>,
}

impl<'a> From<&'a AuditRow> for AuditLine<'a> {
    fn from(row: &'a AuditRow) -> Self {
        Self {
            request_id: row.request_id,
            at: row.at,
            operation: &row.operation,
            actor_type: row.caller.actor_type.as_str(),
            actor_id: row.caller.id.map(|id| id.to_string()),
            via: row.via.map(Via::as_str),
            status: row.status,
            code: &row.code,
            object_ids: row.objects.iter().map(ToString::to_string).collect(),
        }
    }
}

pub(crate) fn lines<T: Serialize>(records: impl Iterator<Item = T>) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    for record in records {
        serde_json::to_writer(&mut bytes, &record)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

pub(crate) fn object(record: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(record)?;
    bytes.push(b'\n');
    Ok(bytes)
}

//! The evidence of an agreement: what the service recorded about it, gathered for those who have to prove it later.
//!
//! Decision: evidence is what was recorded, as it was recorded. An expiry or the end of a waiting period is in it once the
//! service has written it down, which takes at most a minute and a half, and not from the moment at which it counts.
//!
//! Decision: evidence has no clock of its own. It is as of its newest act, so it stays the same until there is another
//! act; whoever exports it twice gets the same twice.
//!
//! What participants answered is in it, without bank details. Those are not in it, nor are the instructions of a payment:
//! whoever checks an agreement need not know them.
//!
//! Decision: a statement file that was read is not in it either. It names the account, and has every other entry of it. The
//! entries that were accepted are in it as they were read, with the SHA-256 of the file.

use std::collections::BTreeSet;

use super::agreement::acts::Act;
use super::agreement::verification::Verification;
use super::agreement::{Agreement, DocumentContent, Life};
use super::audit::AuditRow;
use super::contact::Contact;
use super::event::EventType;
use super::file_type::FileType;
use super::ids::{DocumentId, ReceiptId, RequestId, StatementId};
use super::information::{Answer, AnswerFile, OpenAnswer, Submission};
use super::movement::{Movement, evidence as filed};
use super::obligation::Obligation;
use super::paper_signature::PaperSignature;
use super::participant::receipt::{Receipt, ReceiptAct};
use super::statement::Statement;
use super::time::Timestamp;
use crate::limits;

/// An act with the call that did it, whose audit row has the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The call.
    pub call: RequestId,
    /// What it did.
    pub act: Act,
}

/// A part of a history that has more than [`limits::EVIDENCE_ACTS_MAX`] acts: as many as that, the last part fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPart {
    /// Which part it is, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The time of the newest act of the whole history.
    pub newest: Timestamp,
}

impl HistoryPart {
    /// The place of its first act in the history, from 1.
    #[must_use]
    pub fn first_act(&self) -> usize {
        self.number.saturating_sub(1).saturating_mul(limits::EVIDENCE_ACTS_MAX).saturating_add(1)
    }
}

/// What was recorded about an agreement.
#[derive(Debug, Clone)]
pub struct AgreementRecord {
    /// The agreement. It was published.
    pub agreement: Agreement,
    /// The contacts of its participants, as they are now.
    pub contacts: Vec<Contact>,
    /// The acts of its history, the oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// The part of the history that the timeline is. None if it is all that is wanted.
    pub part: Option<HistoryPart>,
    /// What its participants left behind, the oldest first.
    pub receipts: Vec<Receipt>,
    /// The recorded verifications, the oldest first.
    pub verifications: Vec<Verification>,
    /// The recorded signatures on paper, the oldest first, those that count and those that don't.
    pub papers: Vec<PaperSignature>,
    /// Its payments, in the order of their ids.
    pub payments: Vec<RecordedPayment>,
    /// Its obligations, in the order of its promises. None where only a certificate is made.
    pub obligations: Vec<Obligation>,
    /// What its participants answered, the oldest first, whatever members decided about it. None where only a certificate is
    /// made.
    pub submissions: Vec<Submission>,
}

/// A payment with all that was filed about it.
#[derive(Debug, Clone)]
pub struct RecordedPayment {
    /// The payment.
    pub movement: Movement,
    /// The evidence that was ever filed for it, the oldest first, whatever members decided about it. None where only a
    /// certificate is made.
    pub evidence: Vec<filed::Evidence>,
}

/// The document of evidence that a bundle has: what was filed, not what was read.
#[must_use]
pub fn document_of(evidence: &filed::Evidence) -> Option<(&filed::EvidenceFile, FileType)> {
    let file = evidence.facts().file.as_ref()?;
    Some((file, file.file_type?))
}

/// The evidence of an agreement.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What was recorded about the agreement.
    pub record: AgreementRecord,
    /// What was recorded up to its completion, if it is completed: its certificate says so.
    pub completed: Option<CompletedRecord>,
    /// The audit rows of the calls in the timeline, in its order.
    pub audit_rows: Vec<AuditRow>,
    /// The statements with entries that prove its payments ([`AgreementRecord::statement_ids`]).
    pub statements: Vec<Statement>,
}

/// A later part of the evidence of an agreement, with acts alone: the first part has everything else.
#[derive(Debug, Clone)]
pub struct LaterActs {
    /// The agreement.
    pub agreement: Agreement,
    /// The part of its history.
    pub part: HistoryPart,
    /// The acts, the oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// The audit rows of their calls, in the same order.
    pub audit_rows: Vec<AuditRow>,
}

/// Why there is no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEvidence {
    /// The agreement was never published: a draft binds nobody.
    NotPublished,
    /// A certificate was asked for, and the agreement is not completed.
    NotCompleted,
    /// The agreement has more than [`limits::EVIDENCE_ACTS_MAX`] acts, and its evidence is in so many parts.
    InParts(usize),
    /// Its files have so many bytes in all, more than [`limits::EVIDENCE_FILE_BYTES_MAX`].
    TooLarge(u64),
}

impl AgreementRecord {
    /// The time of the newest act.
    #[must_use]
    pub fn as_of(&self) -> Timestamp {
        let newest = || self.timeline.last().map_or(self.agreement.updated_at, |entry| entry.act.at);
        self.part.map_or_else(newest, |part| part.newest)
    }

    /// What was recorded up to the completion, that included. Later acts, such as a reissued link, change nothing of it.
    ///
    /// # Errors
    /// [`NoEvidence::NotCompleted`].
    pub fn until_completion(mut self) -> Result<CompletedRecord, NoEvidence> {
        let Life::Completed { published_at, completed_at } = self.agreement.life() else {
            return Err(NoEvidence::NotCompleted);
        };
        let completes = |entry: &TimelineEntry| entry.act.events.contains(&EventType::AgreementCompleted);
        if let Some(last) = self.timeline.iter().position(completes) {
            self.timeline.truncate(last + 1);
        }
        let end = self.timeline.last().map_or(completed_at, |entry| entry.act.at.max(completed_at));
        self.receipts.retain(|receipt| receipt.at <= end);
        // Those that count were decided before the completion, which they were needed for.
        self.papers.retain(|paper| paper.counts_since().is_some());
        Ok(CompletedRecord { record: self, published_at, completed_at, has_more_acts: false })
    }

    /// The files with which people recorded that obligations are done: those of participants by their receipts, and those of
    /// members by the obligations.
    pub fn satisfaction_files(&self) -> impl Iterator<Item = &filed::EvidenceFile> {
        let of_participants = self.receipts.iter().filter_map(|receipt| match &receipt.act {
            ReceiptAct::ActedOnObligation { did, .. } => did.file(),
            _ => None,
        });
        of_participants.chain(self.obligations.iter().flat_map(Obligation::files_of_members))
    }

    /// The files of its documents, its uploads, the scans of what was signed on paper, the evidence of its payments and what
    /// shows that obligations are done. The same content may be there more than once.
    fn all_files(&self) -> impl Iterator<Item = &DocumentContent> {
        let documents = self.agreement.documents.iter().filter_map(|document| document.content.as_ref());
        let uploads = self.receipts.iter().filter_map(|receipt| match &receipt.act {
            ReceiptAct::Uploaded { content, .. } => Some(content),
            _ => None,
        });
        let scans = self.papers.iter().map(|paper| &paper.scan.content);
        let evidence = self.payments.iter().flat_map(|payment| &payment.evidence).filter_map(document_of);
        let evidence = evidence.map(|(file, _)| file).chain(self.satisfaction_files());
        documents.chain(uploads).chain(scans).chain(evidence.map(|file| &file.content))
    }

    /// The files among the answers that a bundle has room for beside all others, in the order of the answers: no participant
    /// keeps the proof of a payment out of it by large answers.
    #[must_use]
    pub fn answer_files(&self) -> Vec<&AnswerFile> {
        let others = self.all_files().fold(0_u64, |bytes, file| bytes.saturating_add(file.size_bytes));
        let mut left = limits::EVIDENCE_FILE_BYTES_MAX.saturating_sub(others);
        let answers = self.submissions.iter().flat_map(|submission| submission.answers.values());
        let files = answers.filter_map(|answer| match answer {
            Answer::Open(OpenAnswer::File(file)) => Some(file),
            _ => None,
        });
        let mut kept = Vec::new();
        for file in files {
            let Some(rest) = left.checked_sub(file.content.size_bytes) else { continue };
            left = rest;
            kept.push(file);
        }
        kept
    }

    /// The accepted evidence that was read from entries of statements, each with its statement.
    pub fn proving_entries(&self) -> impl Iterator<Item = (&filed::Evidence, &filed::StatementEntry)> {
        let evidence = self.payments.iter().flat_map(|payment| &payment.evidence).filter(|found| found.is_accepted());
        evidence.filter_map(|found| Some((found, found.entry()?)))
    }

    /// The statements that [`proving_entries`](Self::proving_entries) are of, each once.
    #[must_use]
    pub fn statement_ids(&self) -> BTreeSet<StatementId> {
        self.proving_entries().map(|(_, entry)| entry.statement_id).collect()
    }

    /// The files that it names, those of the answers as far as there is room ([`answer_files`](Self::answer_files)), each
    /// content once.
    #[must_use]
    pub fn files(&self) -> Vec<&DocumentContent> {
        let answers = self.answer_files().into_iter().map(|file| &file.content);
        let mut files: Vec<&DocumentContent> = self.all_files().chain(answers).collect();
        files.sort_by(|one, other| one.sha256.cmp(&other.sha256));
        files.dedup_by(|one, other| one.sha256 == other.sha256);
        files
    }

    /// Checks that its files fit in a bundle, in which each counts as often as it is there.
    ///
    /// # Errors
    /// [`NoEvidence::TooLarge`].
    pub fn check_size(&self) -> Result<(), NoEvidence> {
        let bytes = self.all_files().fold(0_u64, |bytes, file| bytes.saturating_add(file.size_bytes));
        if bytes > limits::EVIDENCE_FILE_BYTES_MAX { Err(NoEvidence::TooLarge(bytes)) } else { Ok(()) }
    }

    /// The signatures on a document that were given on paper and count.
    pub fn paper_signatures(&self, document: DocumentId) -> impl Iterator<Item = &PaperSignature> {
        let of_document = move |paper: &&PaperSignature| paper.document_id == document;
        self.papers.iter().filter(of_document).filter(|paper| paper.counts_since().is_some())
    }

    /// The signatures on a document that were given on screen.
    pub fn signatures(&self, document: DocumentId) -> impl Iterator<Item = &Receipt> {
        self.receipts.iter().filter(
            move |receipt| matches!(receipt.act, ReceiptAct::Signed { document_id, .. } if document_id == document),
        )
    }

    /// A receipt.
    #[must_use]
    pub fn receipt(&self, id: ReceiptId) -> Option<&Receipt> {
        self.receipts.iter().find(|receipt| receipt.id == id)
    }
}

/// What was recorded about an agreement up to its completion: what a certificate says.
#[derive(Debug, Clone)]
pub struct CompletedRecord {
    record: AgreementRecord,
    published_at: Timestamp,
    completed_at: Timestamp,
    has_more_acts: bool,
}

impl CompletedRecord {
    /// The same, of which only the first [`limits::EVIDENCE_ACTS_MAX`] acts were read.
    #[must_use]
    pub fn with_more_acts(mut self) -> Self {
        self.has_more_acts = true;
        self
    }

    /// Whether there are more acts up to the completion than it has.
    #[must_use]
    pub fn has_more_acts(&self) -> bool {
        self.has_more_acts
    }

    /// What was recorded.
    #[must_use]
    pub fn record(&self) -> &AgreementRecord {
        &self.record
    }

    /// When the agreement was completed.
    #[must_use]
    pub fn completed_at(&self) -> Timestamp {
        self.completed_at
    }

    /// The acts without the edits of the draft, which nobody but its authors saw.
    pub fn acts(&self) -> impl Iterator<Item = &TimelineEntry> {
        self.record.timeline.iter().filter(|entry| is_told(&entry.act, self.published_at))
    }
}

/// Whether a certificate tells an act of an agreement that was published then: the edits of a draft are not told.
#[must_use]
pub fn is_told(act: &Act, published_at: Timestamp) -> bool {
    act.at >= published_at || act.proposed.is_some() || act.operation == "create_agreement"
}

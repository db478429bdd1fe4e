//! What a bundle holds: all that the service recorded about an agreement, for those who must prove it later.
//!
//! - Decision: a bundle holds only what was recorded: an expiry appears at most a minute and a half later.
//! - Decision: a bundle is as of its newest act, so exporting it again gives the same until there is another.
//! - Decision: it omits bank details, instructions and statement files, but has accepted entries and their file's hash.

use std::collections::BTreeSet;

use super::agreement::acts::Act;
use super::agreement::verification::Verification;
use super::agreement::{Agreement, DocumentContent, Life};
use super::audit::AuditRow;
use super::contact::Contact;
use super::event::EventType;
use super::file_review::FileReview;
use super::file_type::FileType;
use super::ids::{DocumentId, ReceiptId, RequestId, StatementId};
use super::information::{Answer, AnswerFile, OpenAnswer, Submission};
use super::movement::Movement;
use super::movement::evidence::{Evidence, EvidenceFile, StatementEntry};
use super::obligation::Obligation;
use super::paper_signature::PaperSignature;
use super::participant::receipt::{Receipt, ReceiptAct};
use super::statement::Statement;
use super::time::Timestamp;
use crate::limits;

/// An act and the call that did it. The call's audit row has the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The call.
    pub call: RequestId,
    /// What it did.
    pub act: Act,
}

/// A part of a history with more than [`limits::BUNDLE_ACTS_MAX`] acts. Each part but the last has that many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPart {
    /// Its number, from 1.
    pub number: usize,
    /// The number of parts.
    pub of: usize,
    /// The time of the whole history's newest act.
    pub newest: Timestamp,
}

impl HistoryPart {
    /// The position of its first act in the history, from 1.
    #[must_use]
    pub fn first_act(&self) -> usize {
        self.number.saturating_sub(1).saturating_mul(limits::BUNDLE_ACTS_MAX).saturating_add(1)
    }
}

/// What was recorded about an agreement.
#[derive(Debug, Clone)]
pub struct AgreementRecord {
    /// The agreement, which was published.
    pub agreement: Agreement,
    /// The contacts of its participants, as they are now.
    pub contacts: Vec<Contact>,
    /// Its acts, oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// The part of the history in `timeline`. None if it is whole.
    pub part: Option<HistoryPart>,
    /// Its participants' receipts, oldest first.
    pub receipts: Vec<Receipt>,
    /// The recorded verifications, oldest first.
    pub verifications: Vec<Verification>,
    /// The recorded paper signatures, oldest first, including those that don't count.
    pub papers: Vec<PaperSignature>,
    /// Members' reviews of files that participants uploaded, oldest first.
    pub file_reviews: Vec<FileReview>,
    /// Its payments, by id.
    pub payments: Vec<RecordedPayment>,
    /// Its obligations, in the order of its promises. None for a certificate.
    pub obligations: Vec<Obligation>,
    /// Its participants' answers, oldest first, accepted or not. None for a certificate.
    pub submissions: Vec<Submission>,
}

/// A payment and everything filed about it.
#[derive(Debug, Clone)]
pub struct RecordedPayment {
    /// The payment.
    pub movement: Movement,
    /// All evidence filed for it, oldest first, accepted or not. None for a certificate.
    pub evidence: Vec<Evidence>,
}

/// The document of evidence in a bundle: the filed file, not what was read from it.
#[must_use]
pub fn document_of(evidence: &Evidence) -> Option<(&EvidenceFile, FileType)> {
    let file = evidence.facts().file.as_ref()?;
    Some((file, file.file_type?))
}

/// What the bundle of an agreement holds.
#[derive(Debug, Clone)]
pub struct BundleContents {
    /// What was recorded about the agreement.
    pub record: AgreementRecord,
    /// What was recorded up to completion, for the certificate. None if the agreement isn't completed.
    pub completed: Option<CompletedRecord>,
    /// The audit rows of the timeline's calls, in its order.
    pub audit_rows: Vec<AuditRow>,
    /// The statements whose entries prove its payments ([`AgreementRecord::statement_ids`]).
    pub statements: Vec<Statement>,
}

/// What the bundle of a later part of an agreement holds: only acts; the first part has everything else.
#[derive(Debug, Clone)]
pub struct LaterActs {
    /// The agreement.
    pub agreement: Agreement,
    /// The part of its history.
    pub part: HistoryPart,
    /// The acts, oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// The audit rows of their calls, in the same order.
    pub audit_rows: Vec<AuditRow>,
}

/// Why there is no bundle, or no certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoBundle {
    /// The agreement was never published: a draft binds nobody.
    NotPublished,
    /// A certificate requires a completed agreement.
    NotCompleted,
    /// The agreement has more than [`limits::BUNDLE_ACTS_MAX`] acts, so it has a bundle for each of this many parts.
    InParts(usize),
    /// The total bytes of its files, which exceed [`limits::BUNDLE_FILE_BYTES_MAX`].
    TooLarge(u64),
}

impl AgreementRecord {
    /// The time of the newest act.
    #[must_use]
    pub fn as_of(&self) -> Timestamp {
        let newest = || self.timeline.last().map_or(self.agreement.updated_at, |entry| entry.act.at);
        self.part.map_or_else(newest, |part| part.newest)
    }

    /// What was recorded up to and including completion. Later acts, such as a reissued link, don't change it.
    pub fn until_completion(mut self) -> Result<CompletedRecord, NoBundle> {
        let Life::Completed { published_at, completed_at } = self.agreement.life() else {
            return Err(NoBundle::NotCompleted);
        };
        let completes = |entry: &TimelineEntry| entry.act.events.contains(&EventType::AgreementCompleted);
        if let Some(last) = self.timeline.iter().position(completes) {
            self.timeline.truncate(last + 1);
        }
        let end = self.timeline.last().map_or(completed_at, |entry| entry.act.at.max(completed_at));
        self.receipts.retain(|receipt| receipt.at <= end);
        self.file_reviews.retain(|review| review.reviewed_at <= end);
        // Completion requires those that count, so they were decided before it.
        self.papers.retain(|paper| paper.counts_since().is_some());
        Ok(CompletedRecord { record: self, published_at, completed_at, has_more_acts: false })
    }

    /// Files that show obligations were satisfied: participants' from receipts, members' from obligations.
    pub fn satisfaction_files(&self) -> impl Iterator<Item = &EvidenceFile> {
        let of_participants = self.receipts.iter().filter_map(|receipt| match &receipt.act {
            ReceiptAct::ActedOnObligation { did, .. } => did.file(),
            _ => None,
        });
        of_participants.chain(self.obligations.iter().flat_map(Obligation::files_of_members))
    }

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

    /// Answer files that fit in a bundle after all other files: large answers can't push out the proof of a payment.
    #[must_use]
    pub fn answer_files(&self) -> Vec<&AnswerFile> {
        let others = self.all_files().fold(0_u64, |bytes, file| bytes.saturating_add(file.size_bytes));
        let mut left = limits::BUNDLE_FILE_BYTES_MAX.saturating_sub(others);
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

    /// Accepted evidence read from statement entries, with each entry.
    pub fn proving_entries(&self) -> impl Iterator<Item = (&Evidence, &StatementEntry)> {
        let evidence = self.payments.iter().flat_map(|payment| &payment.evidence).filter(|found| found.is_accepted());
        evidence.filter_map(|found| Some((found, found.entry()?)))
    }

    /// The statements of [`proving_entries`](Self::proving_entries), each once.
    #[must_use]
    pub fn statement_ids(&self) -> BTreeSet<StatementId> {
        self.proving_entries().map(|(_, entry)| entry.statement_id).collect()
    }

    /// Its files, each content once; answer files only as far as they fit ([`answer_files`](Self::answer_files)).
    #[must_use]
    pub fn files(&self) -> Vec<&DocumentContent> {
        let answers = self.answer_files().into_iter().map(|file| &file.content);
        let mut files: Vec<&DocumentContent> = self.all_files().chain(answers).collect();
        files.sort_by(|one, other| one.sha256.cmp(&other.sha256));
        files.dedup_by(|one, other| one.sha256 == other.sha256);
        files
    }

    /// Checks that its files fit in a bundle, counting every occurrence.
    pub fn check_size(&self) -> Result<(), NoBundle> {
        let bytes = self.all_files().fold(0_u64, |bytes, file| bytes.saturating_add(file.size_bytes));
        if bytes > limits::BUNDLE_FILE_BYTES_MAX { Err(NoBundle::TooLarge(bytes)) } else { Ok(()) }
    }

    /// The paper signatures on a document that count.
    pub fn paper_signatures(&self, document: DocumentId) -> impl Iterator<Item = &PaperSignature> {
        let of_document = move |paper: &&PaperSignature| paper.document_id == document;
        self.papers.iter().filter(of_document).filter(|paper| paper.counts_since().is_some())
    }

    /// The on-screen signatures on a document.
    pub fn signatures(&self, document: DocumentId) -> impl Iterator<Item = &Receipt> {
        self.receipts.iter().filter(
            move |receipt| matches!(receipt.act, ReceiptAct::Signed { document_id, .. } if document_id == document),
        )
    }

    /// The receipt with an id.
    #[must_use]
    pub fn receipt(&self, id: ReceiptId) -> Option<&Receipt> {
        self.receipts.iter().find(|receipt| receipt.id == id)
    }
}

/// What was recorded about an agreement up to its completion, for a certificate.
#[derive(Debug, Clone)]
pub struct CompletedRecord {
    record: AgreementRecord,
    published_at: Timestamp,
    completed_at: Timestamp,
    has_more_acts: bool,
}

impl CompletedRecord {
    /// Marks that only the first [`limits::BUNDLE_ACTS_MAX`] acts were read.
    #[must_use]
    pub fn with_more_acts(mut self) -> Self {
        self.has_more_acts = true;
        self
    }

    /// Whether more acts precede the completion than were read.
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

    /// The acts without the edits of the draft, which only its authors saw.
    pub fn acts(&self) -> impl Iterator<Item = &TimelineEntry> {
        self.record.timeline.iter().filter(|entry| is_told(&entry.act, self.published_at))
    }
}

/// Whether a certificate includes an act of an agreement published at `published_at`: edits of the draft are left out.
#[must_use]
pub fn is_told(act: &Act, published_at: Timestamp) -> bool {
    act.at >= published_at || act.proposed.is_some() || act.operation == "create_agreement"
}

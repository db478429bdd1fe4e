//! Paper signatures: a participant signs a printed copy, and a member records it with a scan. It is the member's
//! record, not a receipt: the participant did nothing on their pages, and needs no consent to electronic records.
//!
//! - Decision: it signs the blocks that the participant could sign on screen then, of the document with its SHA-256.
//! - Decision: a record's state changes once. To correct one that doesn't count, a member rejects it and makes another.
//! - Decision: members are counted just before the transaction: one who joins in between came after the record.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::agreement::{DocumentContent, Label};
use super::contact::DisplayName;
use super::day::Day;
use super::file_type::FileType;
use super::ids::{DocumentId, PaperSignatureId, ParticipantId, SignatureBlockId};
use super::note::Note;
use super::participant::receipt::Signatory;
use super::time::Timestamp;

/// A scan of what was signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The file's content.
    pub file_name: Label,
    /// The file's content.
    pub content: DocumentContent,
    /// The file's type, which was checked.
    pub file_type: FileType,
    /// Whether its pages match the unsigned document and the member said that it is signed all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_pages_of_document: bool,
}

/// A paper signature to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPaperSignature {
    /// Its id. The form carries it, so submitting twice records one.
    pub id: PaperSignatureId,
    /// Who signed.
    pub participant_id: ParticipantId,
    /// Their name.
    pub name: DisplayName,
    /// Who signed for a participant that is not a person.
    pub signatory: Option<Signatory>,
    /// The document.
    pub document_id: DocumentId,
    /// The SHA-256 of the document shown to the member.
    pub shown_sha256: String,
    /// The blocks shown to the member.
    pub shown_blocks: BTreeSet<SignatureBlockId>,
    /// The scan.
    pub scan: Scan,
    /// The day on which it was signed.
    pub signed_on: Day,
    /// How it reached the organization.
    pub how_it_came: Label,
    /// A note, if the member left one.
    pub note: Option<Note>,
}

/// A recorded paper signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaperSignature {
    /// Its id.
    pub id: PaperSignatureId,
    /// Who signed.
    pub participant_id: ParticipantId,
    /// Their name at the time.
    pub name: DisplayName,
    /// Who signed for a participant that is not a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatory: Option<Signatory>,
    /// The document.
    pub document_id: DocumentId,
    /// Its name.
    pub document: Label,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// The signed blocks.
    pub block_ids: BTreeSet<SignatureBlockId>,
    /// The scan.
    pub scan: Scan,
    /// The day on which it was signed.
    pub signed_on: Day,
    /// How it reached the organization.
    pub how_it_came: Label,
    /// A note, if the member left one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    /// The member who recorded it.
    pub recorded_by: Actor,
    /// When they recorded it.
    pub recorded_at: Timestamp,
    /// Whether it counts.
    pub state: PaperState,
}

/// Whether a paper signature counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PaperState {
    /// It waits for a second member.
    Pending,
    /// The recorder was the organization's only member: it counts on their word alone.
    CountedAlone {
        /// Since when.
        at: Timestamp,
    },
    /// A second member confirmed it.
    Confirmed {
        /// Who.
        by: Actor,
        /// When.
        at: Timestamp,
    },
    /// A member rejected it. It never counts.
    Rejected {
        /// Who.
        by: Actor,
        /// When.
        at: Timestamp,
        /// Why.
        reason: Note,
    },
}

impl PaperSignature {
    /// Who signed: the participant's name, and the signatory if the participant is not a person.
    #[must_use]
    pub fn signed_by(&self) -> String {
        let alone = || self.name.as_str().to_owned();
        self.signatory.as_ref().map_or_else(alone, |signatory| signatory.signing_for(&self.name))
    }

    /// When it began to count. None if it doesn't.
    #[must_use]
    pub fn counts_since(&self) -> Option<Timestamp> {
        match self.state {
            PaperState::CountedAlone { at } | PaperState::Confirmed { at, .. } => Some(at),
            PaperState::Pending | PaperState::Rejected { .. } => None,
        }
    }

    /// Whether it waits for a second member, regardless of what has happened to the document.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.state == PaperState::Pending
    }
}

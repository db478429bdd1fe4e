//! Signatures on paper: a participant who can't or won't sign on screen signs a printed copy, and a member records it with
//! a scan. It is a member's record and no receipt: the participant did nothing on their pages, and needs no consent to
//! electronic records for it.
//!
//! Decision: it signs exactly the blocks that the participant could sign on screen at that moment, and names the document by
//! its SHA-256. Until it counts, the participant can still sign on screen.
//!
//! Decision: a record is never changed but for its state, and that once. A member who made a mistake rejects it, also their
//! own, and records another one. What counts stays: it is a signature.
//!
//! Decision: how many members an organization has is read just before the transaction and is no part of it. A member who
//! joins in between joined after the record was made. A member who is removed and comes back is another member: that takes
//! an admin, who could have confirmed it themselves.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::agreement::{DocumentContent, Label};
use super::contact::DisplayName;
use super::day::Day;
use super::file_type::FileType;
use super::ids::{DocumentId, PaperSignatureId, ParticipantId, SignatureBlockId};
use super::participant::receipt::Signatory;
use super::proposal::Note;
use super::time::Timestamp;

/// A scan of what was signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The file's name.
    pub file_name: Label,
    /// The file's content.
    pub content: DocumentContent,
    /// The type of the file, which was checked.
    pub file_type: FileType,
    /// Whether its pages are those of the document that nobody has signed, and the member said that it is signed all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_pages_of_document: bool,
}

/// A signature on paper to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPaperSignature {
    /// Its id, which the form carries: a form that is sent twice records one.
    pub id: PaperSignatureId,
    /// Who signed.
    pub participant_id: ParticipantId,
    /// What they are called.
    pub name: DisplayName,
    /// Whose hand signed, for a participant that is no person.
    pub signatory: Option<Signatory>,
    /// The document.
    pub document_id: DocumentId,
    /// The SHA-256 of the document that was shown to the member.
    pub shown_sha256: String,
    /// The blocks that were shown to the member.
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

/// A recorded signature on paper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaperSignature {
    /// Its id.
    pub id: PaperSignatureId,
    /// Who signed.
    pub participant_id: ParticipantId,
    /// What they were called when it was recorded.
    pub name: DisplayName,
    /// Whose hand signed, for a participant that is no person.
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
    /// When.
    pub recorded_at: Timestamp,
    /// Whether it counts.
    pub state: PaperState,
}

/// Whether a signature on paper counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PaperState {
    /// It waits for a second member.
    Pending,
    /// Its recorder was the only member of the organization: it counts on their word alone.
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
    /// Who signed: what the participant was called, and by whom they signed if they are no person.
    #[must_use]
    pub fn signed_by(&self) -> String {
        let alone = || self.name.as_str().to_owned();
        self.signatory.as_ref().map_or_else(alone, |signatory| signatory.signing_for(&self.name))
    }

    /// Since when it counts. None if it doesn't.
    #[must_use]
    pub fn counts_since(&self) -> Option<Timestamp> {
        match self.state {
            PaperState::CountedAlone { at } | PaperState::Confirmed { at, .. } => Some(at),
            PaperState::Pending | PaperState::Rejected { .. } => None,
        }
    }

    /// Whether it waits for a second member, unless something else has happened to what it signs.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.state == PaperState::Pending
    }
}

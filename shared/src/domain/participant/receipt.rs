//! Receipts, which each act of a participant leaves, for them and for evidence. A receipt never changes.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::session::InPerson;
use crate::domain::agreement::{DocumentContent, Label};
use crate::domain::contact::DisplayName;
use crate::domain::day::Day;
use crate::domain::file_type::FileType;
use crate::domain::ids::{
    DocumentId, EvidenceId, GateId, MovementId, ObligationId, OccurrenceId, ParticipantId, ReceiptId, SignatureBlockId,
    SubmissionId, TriggerId,
};
use crate::domain::money::Money;
use crate::domain::movement::claim::ClaimedTransfer;
use crate::domain::movement::evidence::EvidenceFile;
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::movement::source::EvidenceSource;
use crate::domain::note::Note;
use crate::domain::satisfaction::Satisfaction;
use crate::domain::time::Timestamp;
use crate::limits;

/// The person who signs for a participant that is not a person, including a household: later readers must know who.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signatory {
    /// Their own name.
    pub name: DisplayName,
    /// Their function: `Managing Member`, `Trustee`.
    pub title: Label,
}

impl Signatory {
    /// Who signed: the participant, through this person.
    #[must_use]
    pub fn signing_for(&self, participant: &DisplayName) -> String {
        format!("{}, by {}, {}", participant.as_str(), self.name.as_str(), self.title.as_str())
    }
}

/// The receipt of an act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its id, from the act's form: submitting twice leaves one receipt.
    pub id: ReceiptId,
    /// The participant.
    pub participant_id: ParticipantId,
    /// Their name at the time.
    pub name: DisplayName,
    /// When they acted.
    pub at: Timestamp,
    /// The origin of the act.
    pub origin: Origin,
    /// What they did.
    pub act: ReceiptAct,
}

impl Receipt {
    /// Who acted, as a signature names them: the participant, and the signatory if the participant is not a person.
    #[must_use]
    pub fn signed_by(&self) -> String {
        match &self.act {
            ReceiptAct::Signed { signatory: Some(signatory), .. } => signatory.signing_for(&self.name),
            _ => self.name.as_str().to_owned(),
        }
    }

    /// Files in answers don't count.
    pub(in crate::domain) fn file_bytes(&self) -> u64 {
        match &self.act {
            ReceiptAct::Uploaded { content, .. } | ReceiptAct::FiledEvidence { file: Some(content), .. } => {
                content.size_bytes
            }
            ReceiptAct::ActedOnObligation { did, .. } => did.file().map_or(0, |file| file.content.size_bytes),
            _ => 0,
        }
    }
}

/// What a participant can repeat unasked, each with its own limit. What a step waits for is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeatable {
    /// Withdrawing the consent.
    Withdrawal,
    /// Uploading a file for a gate.
    Upload(GateId),
    /// Acting on payments.
    Payment,
    /// Acting on obligations.
    Obligation,
}

impl ReceiptAct {
    /// The payment that it is about.
    #[must_use]
    pub fn movement_id(&self) -> Option<MovementId> {
        match self {
            Self::ReportedSent { movement_id, .. }
            | Self::FiledEvidence { movement_id, .. }
            | Self::WithdrewEvidence { movement_id, .. } => Some(*movement_id),
            _ => None,
        }
    }

    /// The document that it is about, by its name.
    #[must_use]
    pub fn document(&self) -> Option<&Label> {
        match self {
            Self::Signed { document, .. } | Self::Declined { document: Some(document), .. } => Some(document),
            _ => None,
        }
    }
}

impl Repeatable {
    /// Whether it can be done once more, given all the participant's receipts.
    #[must_use]
    pub fn has_room(self, receipts: &[Receipt]) -> bool {
        let max = match self {
            Self::Withdrawal => limits::WITHDRAWALS_PER_PARTICIPANT_MAX,
            Self::Upload(_) => limits::UPLOADS_PER_CONDITION_MAX,
            Self::Payment => limits::PAYMENT_ACTS_PER_PARTICIPANT_MAX,
            Self::Obligation => limits::OBLIGATION_ACTS_PER_PARTICIPANT_MAX,
        };
        receipts.iter().filter(|receipt| Self::of(&receipt.act) == Some(self)).count() < max
    }

    fn of(act: &ReceiptAct) -> Option<Self> {
        match act {
            ReceiptAct::Withdrew { .. } => Some(Self::Withdrawal),
            ReceiptAct::Uploaded { gate_id, .. } => Some(Self::Upload(*gate_id)),
            ReceiptAct::ReportedSent { .. }
            | ReceiptAct::FiledEvidence { .. }
            | ReceiptAct::WithdrewEvidence { .. } => Some(Self::Payment),
            ReceiptAct::ActedOnObligation { .. } => Some(Self::Obligation),
            ReceiptAct::Consented { .. }
            | ReceiptAct::Signed { .. }
            | ReceiptAct::Approved { .. }
            | ReceiptAct::Answered { .. }
            | ReceiptAct::Declined { .. } => None,
        }
    }
}

/// Where a participant acted from, according to the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The network address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The browser's `User-Agent`, truncated to [`limits::BROWSER_CHARS_MAX`] characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The member whose browser they used, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_person: Option<InPerson>,
}

/// What a participant did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ReceiptAct {
    /// Consented to electronic records.
    Consented {
        /// The version of the text.
        version: String,
        /// The SHA-256 of the text, in hexadecimal.
        sha256: String,
    },
    /// Withdrew the consent.
    Withdrew {
        /// The receipt of the consent.
        consent: ReceiptId,
    },
    /// Signed a document.
    Signed {
        /// The document.
        document_id: DocumentId,
        /// Its name.
        document: Label,
        /// The SHA-256 of exactly the bytes shown, in hexadecimal.
        sha256: String,
        /// The signed blocks.
        block_ids: BTreeSet<SignatureBlockId>,
        /// The signature.
        signature: Signature,
        /// Who signed for a participant that is not a person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signatory: Option<Signatory>,
        /// The sentence above the button, which explains signing.
        statement: String,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Approved.
    Approved {
        /// The gate.
        gate_id: GateId,
        /// The sentence above the button.
        statement: String,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Uploaded a file.
    Uploaded {
        /// The gate.
        gate_id: GateId,
        /// The file's name.
        file_name: Label,
        /// The file's content.
        content: DocumentContent,
        /// The verified file type.
        file_type: FileType,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Sent answers to an information request.
    Answered {
        /// The gate.
        gate_id: GateId,
        /// The answers.
        submission_id: SubmissionId,
        /// How often the participant has sent answers to the request, including this time.
        revision: u32,
        /// The SHA-256 of the salted answers, in hexadecimal.
        sha256: String,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Claimed to have sent the money of a payment.
    ReportedSent {
        /// The payment.
        movement_id: MovementId,
        /// What they said.
        claim: ClaimedTransfer,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Filed evidence of a payment.
    FiledEvidence {
        /// The payment.
        movement_id: MovementId,
        /// The evidence.
        evidence_id: EvidenceId,
        /// Its source: their own word, or a document.
        source: EvidenceSource,
        /// The amount sent or arrived.
        money: Money,
        /// The value day.
        value_day: Day,
        /// The file, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<DocumentContent>,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Withdrew their own undecided evidence of a payment.
    WithdrewEvidence {
        /// The payment.
        movement_id: MovementId,
        /// The evidence.
        evidence_id: EvidenceId,
        /// Why.
        reason: SafeNote,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
    /// Declined a request.
    Declined {
        /// The gates, which now wait for a member.
        gate_ids: BTreeSet<GateId>,
        /// The document that the participant declined to sign, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document: Option<Label>,
        /// The reason.
        reason: Note,
    },
    /// Said something about an obligation.
    ActedOnObligation {
        /// The obligation.
        obligation_id: ObligationId,
        /// Its name.
        obligation: Label,
        /// What they said.
        did: ObligationAct,
        /// The sentence above the button.
        statement: String,
        /// The receipt of the consent in force.
        consent: ReceiptId,
    },
}

/// What a participant said about an obligation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum ObligationAct {
    /// A trigger happened.
    DeclaredTrigger {
        /// The trigger.
        trigger_id: TriggerId,
        /// The day it happened.
        happened_on: Day,
    },
    /// They claim to have done what they promised.
    Satisfied {
        /// The occurrence.
        occurrence_id: OccurrenceId,
        /// What they said about it.
        how: Satisfaction,
    },
    /// The other side has done what it promised.
    Confirmed {
        /// The occurrence.
        occurrence_id: OccurrenceId,
    },
    /// They have verified what the other side promised.
    Verified {
        /// The occurrence.
        occurrence_id: OccurrenceId,
    },
}

impl ObligationAct {
    /// The file of the claim, if any.
    #[must_use]
    pub fn file(&self) -> Option<&EvidenceFile> {
        if let Self::Satisfied { how, .. } = self { how.file.as_ref() } else { None }
    }
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Signature {
    /// A typed name.
    Typed {
        /// The name as typed.
        name: DisplayName,
    },
    /// Drawn with a finger, pen or mouse.
    Drawn {
        /// The drawing.
        drawing: Drawing,
    },
}

/// A drawn signature: lines of points in a field of 1,000 by 300, as the commands `M` and `L` of an SVG path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Drawing(String);

/// Why a drawing is not a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotADrawing {
    /// Nothing was drawn.
    #[error("is empty. Draw your signature, or type your name instead")]
    Empty,
    /// It isn't what the page sends.
    #[error("can’t be read. Draw your signature again, or type your name instead")]
    Unreadable,
    /// It has too many points.
    #[error("has too many strokes. Draw your signature again, or type your name instead")]
    TooLong,
}

impl Drawing {
    /// The field's width.
    pub const WIDTH: u16 = 1000;
    /// The field's height.
    pub const HEIGHT: u16 = 300;

    /// Parses a drawing: `M` begins and `L` continues a line, at most [`limits::DRAWING_POINTS_MAX`] points (`12 34`).
    pub fn parse(text: &str) -> Result<Self, NotADrawing> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NotADrawing::Empty);
        }
        let (mut drawing, mut points, mut has_line) = (String::new(), 0, false);
        let mut last = None;
        let mut rest = text;
        while let Some(command) = rest.chars().next() {
            let body = rest.strip_prefix(['M', 'L']).ok_or(NotADrawing::Unreadable)?;
            let end = body.find(['M', 'L']).unwrap_or(body.len());
            let (x, y) = body[..end].trim().split_once(' ').ok_or(NotADrawing::Unreadable)?;
            let coordinate = |text: &str, max: u16| text.parse::<u16>().ok().filter(|value| *value <= max);
            let point = coordinate(x, Self::WIDTH).zip(coordinate(y, Self::HEIGHT));
            let (x, y) = point.ok_or(NotADrawing::Unreadable)?;
            if points == 0 && command != 'M' {
                return Err(NotADrawing::Unreadable);
            }
            // A dot is a line that ends where it began.
            has_line |= command == 'L' && last != Some((x, y));
            last = Some((x, y));
            points += 1;
            if points > limits::DRAWING_POINTS_MAX {
                return Err(NotADrawing::TooLong);
            }
            drawing.extend([command.to_string(), x.to_string(), " ".to_owned(), y.to_string()]);
            rest = &body[end..];
        }
        // Taps alone are not a signature.
        if has_line { Ok(Self(drawing)) } else { Err(NotADrawing::Empty) }
    }

    /// The drawing as the `d` of an SVG path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Typed { .. } => "Typed name",
            Self::Drawn { .. } => "Drawn signature",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_is_lines_of_points_in_its_field() {
        let read = |text: &str| Drawing::parse(text).map(|drawing| drawing.path().to_owned());
        assert_eq!(read(" M0 0L1000 300M5 6 L7 8\n").as_deref(), Ok("M0 0L1000 300M5 6L7 8"));
        assert_eq!(read("M1 2L1 2M3 4L5 6").as_deref(), Ok("M1 2L1 2M3 4L5 6"), "dots are a part of it");
        for empty in ["", "  ", "M1 2", "M1 2M3 4", "M1 2L1 2M3 4L3 4"] {
            assert_eq!(read(empty), Err(NotADrawing::Empty), "{empty}");
        }
        let hostile = "M0 0L1 1\"/><script>";
        for wrong in ["L1 2M3 4", "M1001 0L1 1", "M0 301L1 1", "M-1 0L1 1", "M1L2", "M1.5 2L3 4", "C1 2", hostile] {
            assert_eq!(read(wrong), Err(NotADrawing::Unreadable), "{wrong}");
        }
        let of = |points: usize| format!("M0 0{}", "L1 1".repeat(points - 1));
        assert!(read(&of(10_000)).is_ok(), "a signature of 10,000 points is one");
        assert_eq!(read(&of(limits::DRAWING_POINTS_MAX + 1)), Err(NotADrawing::TooLong));
    }
}

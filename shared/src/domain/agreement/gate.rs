//! Gates: the conditions for a stage's actions. Each of the nine types names the participants it waits for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Agreement, Label};
use crate::domain::ids::{DocumentId, FieldId, GateId, MovementId, ParticipantId, SignatureBlockId};
use crate::domain::note::Note;
use crate::domain::time::Timestamp;
use crate::domain::time_scale::TimeScale;
use crate::wire::enums::text_enum;

/// A condition of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Its id.
    pub id: GateId,
    /// The rule that must be met.
    pub rule: GateRule,
    /// Its state.
    pub state: GateState,
}

/// The rule of a gate. In a draft, referenced parts may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum GateRule {
    /// These blocks are signed.
    SignatureBlocks {
        /// The blocks.
        block_ids: BTreeSet<SignatureBlockId>,
    },
    /// All blocks of the document are signed.
    DocumentSigned {
        /// The document.
        document_id: Option<DocumentId>,
    },
    /// These participants have approved.
    ParticipantApproval {
        /// The participants.
        participant_ids: BTreeSet<ParticipantId>,
    },
    /// These participants have each uploaded a file, which a member has accepted where the gate says so.
    FileUpload {
        /// The participants.
        participant_ids: BTreeSet<ParticipantId>,
        /// What they are asked for.
        #[serde(default, skip_serializing_if = "RequestedFile::says_nothing")]
        file: RequestedFile,
    },
    /// The time has passed.
    Countdown {
        /// The end. None while it is not set.
        until: Option<Countdown>,
    },
    /// The movement has been authorized and is not cancelled.
    MovementAuthorized {
        /// The movement.
        movement_id: Option<MovementId>,
    },
    /// Receiver-side evidence confirmed the movement's arrival; a claim never does.
    MovementReconciled {
        /// The movement.
        movement_id: Option<MovementId>,
    },
    /// A member has read and accepted these participants' latest answers.
    InformationRequest {
        /// The participants who answer.
        participant_ids: BTreeSet<ParticipantId>,
        /// The questions.
        fields: Vec<InformationField>,
    },
    /// These participants have a recorded verification.
    IdentityVerified {
        /// The participants.
        participant_ids: BTreeSet<ParticipantId>,
    },
}

/// The file that a gate asks participants for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedFile {
    /// What the file is, such as `LLC resolution`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Label>,
    /// What helps to find the right one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<Note>,
    /// Whether a member must accept each participant's file before the gate clears.
    #[serde(default)]
    pub review: bool,
}

impl RequestedFile {
    fn says_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl GateRule {
    /// The file that it asks for.
    #[must_use]
    pub fn requested_file(&self) -> Option<&RequestedFile> {
        if let Self::FileUpload { file, .. } = self { Some(file) } else { None }
    }

    /// Whether a member accepts, or returns, what its participants send.
    #[must_use]
    pub fn is_reviewed(&self) -> bool {
        match self {
            Self::InformationRequest { .. } => true,
            Self::FileUpload { file, .. } => file.review,
            _ => false,
        }
    }

    /// The participants that the rule names directly, not the signers of its documents.
    #[must_use]
    pub fn participant_ids(&self) -> Option<&BTreeSet<ParticipantId>> {
        match self {
            Self::ParticipantApproval { participant_ids }
            | Self::FileUpload { participant_ids, .. }
            | Self::InformationRequest { participant_ids, .. }
            | Self::IdentityVerified { participant_ids } => Some(participant_ids),
            Self::SignatureBlocks { .. }
            | Self::DocumentSigned { .. }
            | Self::Countdown { .. }
            | Self::MovementAuthorized { .. }
            | Self::MovementReconciled { .. } => None,
        }
    }
}

text_enum! {
    /// The type of a gate, as clients branch on it (specification, "Enumerations").
    pub enum GateType {
        /// Named blocks are signed.
        SignatureBlocks = "signature_blocks",
        /// A document is signed.
        DocumentSigned = "document_signed",
        /// Participants have approved.
        ParticipantApproval = "participant_approval",
        /// Participants have uploaded.
        FileUpload = "file_upload",
        /// Time has passed.
        Countdown = "countdown",
        /// A movement is authorized.
        MovementAuthorized = "movement_authorized",
        /// A movement is confirmed received.
        MovementReconciled = "movement_reconciled",
        /// Answers are accepted.
        InformationRequest = "information_request",
        /// Identities are verified.
        IdentityVerified = "identity_verified",
    }
}

/// The end of a countdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Countdown {
    /// This many hours after the gate opens.
    AfterHours(u32),
    /// At a fixed time.
    At(Timestamp),
}

/// A question of an information request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "01980a5b-4d22-7c61-9e18-2c3d4e5f6071",
    "label": "How is the entity taxed?",
    "type": "choice",
    "required": true,
    "options": ["Corporation", "Partnership"],
}))]
pub struct InformationField {
    /// The id of the question.
    pub id: FieldId,
    /// The question that is asked.
    pub label: Label,
    /// What an answer looks like.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// Whether an answer is needed.
    pub required: bool,
    /// What can be chosen, for `choice` and `multi_choice`.
    pub options: Vec<String>,
}

text_enum! {
    /// What an answer looks like.
    pub enum FieldType {
        /// One line.
        Text = "text",
        /// Several lines.
        LongText = "long_text",
        /// A number.
        Number = "number",
        /// A date.
        Date = "date",
        /// Yes or no.
        Boolean = "boolean",
        /// One of the options.
        Choice = "choice",
        /// Some of the options.
        MultiChoice = "multi_choice",
        /// A file.
        File = "file",
        /// A postal address.
        Address = "address",
        /// Bank details, which no response ever shows.
        BankDetails = "bank_details",
    }
}

/// The state of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum GateState {
    /// Its stage is not current yet.
    Locked,
    /// Not met yet.
    Open {
        /// When it opened.
        opened_at: Timestamp,
        /// When its countdown ends, if it has one.
        due_at: Option<Timestamp>,
    },
    /// It is met.
    Cleared {
        /// When it opened.
        opened_at: Timestamp,
        /// When it was met.
        cleared_at: Timestamp,
    },
    /// A participant said no.
    Declined {
        /// When it opened.
        opened_at: Timestamp,
        /// The participant.
        participant_id: ParticipantId,
        /// When the participant declined.
        declined_at: Timestamp,
    },
}

text_enum! {
    /// Where a gate is, as clients branch on it.
    pub enum GateStatus {
        /// Its stage is not current yet.
        Locked = "locked",
        /// It waits.
        Open = "open",
        /// It is met.
        Cleared = "cleared",
        /// A participant said no.
        Declined = "declined",
    }
}

impl GateRule {
    /// The movement it names.
    #[must_use]
    pub fn movement(&self) -> Option<MovementId> {
        match self {
            Self::MovementAuthorized { movement_id } | Self::MovementReconciled { movement_id } => *movement_id,
            _ => None,
        }
    }

    /// The type, as clients see it.
    #[must_use]
    pub fn gate_type(&self) -> GateType {
        match self {
            Self::SignatureBlocks { .. } => GateType::SignatureBlocks,
            Self::DocumentSigned { .. } => GateType::DocumentSigned,
            Self::ParticipantApproval { .. } => GateType::ParticipantApproval,
            Self::FileUpload { .. } => GateType::FileUpload,
            Self::Countdown { .. } => GateType::Countdown,
            Self::MovementAuthorized { .. } => GateType::MovementAuthorized,
            Self::MovementReconciled { .. } => GateType::MovementReconciled,
            Self::InformationRequest { .. } => GateType::InformationRequest,
            Self::IdentityVerified { .. } => GateType::IdentityVerified,
        }
    }

    /// When the countdown ends if its gate opens at `opened_at`. None for other rules.
    pub(super) fn due_at(&self, time_scale: TimeScale, opened_at: Timestamp) -> Option<Timestamp> {
        match self {
            // A countdown that ended before its gate opened clears when the gate opens.
            Self::Countdown { until: Some(Countdown::At(moment)) } => Some(opened_at.max(*moment)),
            Self::Countdown { until: Some(Countdown::AfterHours(hours)) } => {
                Some(time_scale.countdown_end(opened_at, *hours))
            }
            _ => None,
        }
    }

    /// The participants the rule waits for, ordered by id: the signers of documents; none for countdowns and movements.
    #[must_use]
    pub fn named(&self, agreement: &Agreement) -> BTreeSet<ParticipantId> {
        match self {
            Self::ParticipantApproval { participant_ids }
            | Self::FileUpload { participant_ids, .. }
            | Self::InformationRequest { participant_ids, .. }
            | Self::IdentityVerified { participant_ids } => participant_ids.clone(),
            Self::SignatureBlocks { block_ids } => {
                let blocks = agreement.documents.iter().flat_map(|document| &document.blocks);
                blocks.filter(|block| block_ids.contains(&block.id)).map(|block| block.participant_id).collect()
            }
            Self::DocumentSigned { document_id } => {
                let document = document_id.and_then(|id| agreement.document(id));
                document.into_iter().flat_map(|document| &document.blocks).map(|block| block.participant_id).collect()
            }
            Self::Countdown { .. } | Self::MovementAuthorized { .. } | Self::MovementReconciled { .. } => {
                BTreeSet::new()
            }
        }
    }
}

impl GateState {
    /// The state, as clients see it.
    #[must_use]
    pub fn status(&self) -> GateStatus {
        match self {
            Self::Locked => GateStatus::Locked,
            Self::Open { .. } => GateStatus::Open,
            Self::Cleared { .. } => GateStatus::Cleared,
            Self::Declined { .. } => GateStatus::Declined,
        }
    }
}

impl Gate {
    /// When it opened. None while locked.
    #[must_use]
    pub fn opened_at(&self) -> Option<Timestamp> {
        match self.state {
            GateState::Locked => None,
            GateState::Open { opened_at, .. }
            | GateState::Cleared { opened_at, .. }
            | GateState::Declined { opened_at, .. } => Some(opened_at),
        }
    }

    /// When a participant declined it, if anyone has.
    #[must_use]
    pub fn declined_at(&self) -> Option<Timestamp> {
        match self.state {
            GateState::Declined { declined_at, .. } => Some(declined_at),
            GateState::Locked | GateState::Open { .. } | GateState::Cleared { .. } => None,
        }
    }

    /// When the countdown ends, once known. None for other types.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        let GateRule::Countdown { until: Some(until) } = &self.rule else { return None };
        match (until, &self.state) {
            (Countdown::At(moment), _) => Some(*moment),
            (Countdown::AfterHours(_), GateState::Open { due_at, .. }) => *due_at,
            (Countdown::AfterHours(_), GateState::Cleared { cleared_at, .. }) => Some(*cleared_at),
            (Countdown::AfterHours(_), GateState::Locked | GateState::Declined { .. }) => None,
        }
    }
}

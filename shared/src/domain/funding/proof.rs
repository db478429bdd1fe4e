//! Claim and proof of a transfer into a trust: two facts that share no type.
//!
//! Decision: all proof comes from the receiving side: institution, recorder or new account. Owners only claim.

use serde::{Deserialize, Serialize};

use crate::domain::actor::Actor;
use crate::domain::day::Day;
use crate::domain::ids::ProofId;
use crate::domain::member::Member;
use crate::domain::movement::evidence::EvidenceFile;
use crate::domain::movement::safe_text::SafeNote;
use crate::domain::time::Timestamp;
use crate::wire::enums::text_enum;

/// The owner's word that the asset has moved, as recorded by a member. It proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// When it was recorded.
    pub claimed_at: Timestamp,
    /// The member who recorded it.
    pub by: Actor,
    /// What the owner said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<SafeNote>,
}

/// A withdrawn claim: recorded for the wrong item, or taken back by the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawnClaim {
    /// The claim, as it was recorded.
    pub claim: Claim,
    /// When it was withdrawn.
    pub at: Timestamp,
    /// The member who withdrew it.
    pub by: Actor,
    /// Why.
    pub reason: SafeNote,
}

text_enum! {
    /// The source of proof, always on the receiving side.
    pub enum ProofSource {
        /// The institution confirmed the new title, owner or beneficiary.
        InstitutionConfirmation = "institution_confirmation",
        /// The deed, with the recorder's stamp.
        RecordedDeed = "recorded_deed",
        /// A statement that shows the trust as holder.
        NewStatement = "new_statement",
    }
}

/// Proof to be filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProof {
    /// The id from its form.
    pub id: ProofId,
    /// Its source.
    pub source: ProofSource,
    /// The day of the document.
    pub dated: Day,
    /// The document. None if, for instance, it was confirmed by phone; the note says how.
    pub file: Option<EvidenceFile>,
    /// What it shows.
    pub note: Option<SafeNote>,
}

/// Proof from the receiving side, as filed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    id: ProofId,
    source: ProofSource,
    dated: Day,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<EvidenceFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<SafeNote>,
    filed_by: Actor,
    filed_at: Timestamp,
    pub(super) state: ProofState,
}

/// The decision about proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ProofState {
    /// Not yet decided.
    Undecided,
    /// A member accepted it.
    Accepted {
        /// When.
        at: Timestamp,
        /// Who.
        by: Actor,
    },
    /// A member rejected it.
    Rejected {
        /// When.
        at: Timestamp,
        /// Who.
        by: Actor,
        /// Why.
        reason: SafeNote,
    },
    /// The item was reopened after it was filed, so it proves nothing.
    SetAside {
        /// When.
        at: Timestamp,
    },
}

impl Proof {
    pub(super) fn file(new: NewProof, by: &Member, at: Timestamp) -> Self {
        let NewProof { id, source, dated, file, note } = new;
        Self { id, source, dated, file, note, filed_by: by.actor(), filed_at: at, state: ProofState::Undecided }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> ProofId {
        self.id
    }

    /// Its source.
    #[must_use]
    pub fn source(&self) -> ProofSource {
        self.source
    }

    /// The day of the document.
    #[must_use]
    pub fn dated(&self) -> Day {
        self.dated
    }

    /// The document, if any.
    #[must_use]
    pub fn document(&self) -> Option<&EvidenceFile> {
        self.file.as_ref()
    }

    /// What it shows, in words.
    #[must_use]
    pub fn note(&self) -> Option<&SafeNote> {
        self.note.as_ref()
    }

    /// Who filed it.
    #[must_use]
    pub fn filed_by(&self) -> &Actor {
        &self.filed_by
    }

    /// When it was filed.
    #[must_use]
    pub fn filed_at(&self) -> Timestamp {
        self.filed_at
    }

    /// The decision about it.
    #[must_use]
    pub fn state(&self) -> &ProofState {
        &self.state
    }

    /// Whether it is undecided.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.state == ProofState::Undecided
    }

    /// The proof, accepted by a member. None if it was already decided.
    pub(super) fn accepted(&self, by: &Member, at: Timestamp) -> Option<AcceptedProof> {
        let state = ProofState::Accepted { at, by: by.actor() };
        self.is_undecided().then(|| AcceptedProof(Self { state, ..self.clone() }))
    }
}

/// Proof that a member accepted. Nothing else makes an item funded, and only a [`Proof`] becomes one.
///
/// ```compile_fail
/// use shared::domain::funding::proof::{AcceptedProof, Claim};
///
/// fn believed(claim: Claim) -> AcceptedProof {
///     AcceptedProof(claim)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedProof(Proof);

impl AcceptedProof {
    pub(super) fn into_proof(self) -> Proof {
        self.0
    }
}

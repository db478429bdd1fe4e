//! Funding items: one asset each that has to move into a trust. The record and what derives from it.

use serde::{Deserialize, Serialize};

use super::facts::{AssetKind, Detail, Fact, Verb};
use super::names::NamesDigest;
use super::proof::{Claim, Proof, WithdrawnClaim};
use super::{CloseReason, FundingStatus, Phase, WaitingOn};
use crate::domain::actor::Actor;
use crate::domain::contact::{Contact, ExternalReference};
use crate::domain::ids::{AgreementId, ContactId, FundingItemId, ProofId, TrustId, WorkspaceId};
use crate::domain::note::Note;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::input::texts;
use crate::wire::text::Folded;

texts! {
    /// The name of an asset, without its account number.
    ItemLabel: max limits::NAME_CHARS_MAX, example "Checking at First National";
}

/// One of a workspace's places for items, from 1 to [`limits::WORKSPACE_FUNDING_ITEMS_MAX`]. Each item has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(u16);

impl Place {
    /// The first place.
    pub const FIRST: Self = Self(1);

    /// The place with a number.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        let number = u16::try_from(number).ok()?;
        (1..=limits::WORKSPACE_FUNDING_ITEMS_MAX).contains(&number).then_some(Self(number))
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }
}

/// A funding item as stored. Only tokens' and members' acts and its agreement's course change its status.
///
/// ```compile_fail
/// use shared::domain::funding::{FundingItem, Status};
///
/// fn reopen(mut item: FundingItem) -> FundingItem {
///     item.status = Status::Open;
///     item
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FundingItem {
    pub(super) id: FundingItemId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) place: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trust_id: Option<TrustId>,
    pub(super) label: ItemLabel,
    pub(super) asset_kind: AssetKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) external_reference: Option<ExternalReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) verb: Option<Verb>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) owner_contact_ids: Vec<ContactId>,
    #[serde(default, skip_serializing_if = "Detail::is_empty")]
    pub(super) detail: Detail,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hold: Option<Hold>,
    pub(super) status: Status,
    /// Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) proofs: Vec<Proof>,
    /// Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) withdrawn_claims: Vec<WithdrawnClaim>,
    pub(super) created_by: Actor,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// A hold: whom an item waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Whom it waits for.
    pub waiting_on: WaitingOn,
    /// A remark for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    /// When it began.
    pub since: Timestamp,
    /// Who put it on hold.
    pub by: Actor,
}

/// The agreement that papers an item, and the state of its data at the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Papering {
    /// The agreement.
    pub agreement_id: AgreementId,
    /// When it was drafted.
    pub papered_at: Timestamp,
    /// The version of the trust, whose name the document contains.
    pub trust_version: u64,
    /// A digest of the people's names in the document.
    pub names: NamesDigest,
}

/// The status of an item and its data. Only [`Status::Funded`] rests on proof; [`Status::Claimed`] never does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// Must be sorted or papered.
    Open,
    /// An agreement is drafted for it.
    Papered {
        /// The agreement.
        papering: Papering,
    },
    /// Its agreement is published.
    InProgress {
        /// The agreement.
        papering: Papering,
    },
    /// The owner says it is done.
    Claimed {
        /// The agreement.
        papering: Papering,
        /// What the owner said.
        claim: Claim,
    },
    /// A member accepted proof from the receiving side.
    Funded {
        /// The agreement.
        papering: Papering,
        /// What the owner said before, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<Claim>,
        /// The proof.
        proof_id: ProofId,
        /// When.
        funded_at: Timestamp,
        /// The member.
        by: Actor,
    },
    /// A member closed it without a transfer.
    Unfunded {
        /// Why.
        reason: CloseReason,
        /// A remark for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Note>,
        /// When.
        closed_at: Timestamp,
        /// The member.
        by: Actor,
    },
}

impl FundingItem {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> FundingItemId {
        self.id
    }

    /// Its workspace.
    #[must_use]
    pub fn workspace_id(&self) -> WorkspaceId {
        self.workspace_id
    }

    /// Its place among the workspace's items.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Its trust, once that is known.
    #[must_use]
    pub fn trust_id(&self) -> Option<TrustId> {
        self.trust_id
    }

    /// What it is called.
    #[must_use]
    pub fn label(&self) -> &ItemLabel {
        &self.label
    }

    /// What it is.
    #[must_use]
    pub fn asset_kind(&self) -> AssetKind {
        self.asset_kind
    }

    /// The caller's own key for it.
    #[must_use]
    pub fn external_reference(&self) -> Option<&ExternalReference> {
        self.external_reference.as_ref()
    }

    /// What is to be done with it.
    #[must_use]
    pub fn verb(&self) -> Option<Verb> {
        self.verb
    }

    /// Who owns it.
    #[must_use]
    pub fn owner_contact_ids(&self) -> &[ContactId] {
        &self.owner_contact_ids
    }

    /// Its facts.
    #[must_use]
    pub fn detail(&self) -> &Detail {
        &self.detail
    }

    /// The hold, if any.
    #[must_use]
    pub fn hold(&self) -> Option<&Hold> {
        self.hold.as_ref()
    }

    /// Its status and data.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Its status, as clients branch on it.
    #[must_use]
    pub fn funding_status(&self) -> FundingStatus {
        match self.status {
            Status::Funded { .. } => FundingStatus::Funded,
            Status::Unfunded { .. } => FundingStatus::Unfunded,
            Status::Open | Status::Papered { .. } | Status::InProgress { .. } | Status::Claimed { .. } => {
                FundingStatus::Open
            }
        }
    }

    /// Whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.funding_status() != FundingStatus::Open
    }

    /// Where it is on its way.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match &self.status {
            Status::Open if self.verb.is_none() => Phase::Unsorted,
            Status::Open if !self.missing_facts().is_empty() => Phase::Gathering,
            Status::Open => Phase::Ready,
            Status::Papered { .. } => Phase::Papered,
            Status::InProgress { .. } => Phase::InProgress,
            Status::Claimed { .. } => Phase::Claimed,
            Status::Funded { .. } | Status::Unfunded { .. } => Phase::Done,
        }
    }

    /// What is missing to paper it: `trust_id`, `owner_contact_ids`, and facts once the verb is chosen. Empty later.
    #[must_use]
    pub fn missing_facts(&self) -> Vec<&'static str> {
        if self.status != Status::Open {
            return Vec::new();
        }
        let is_left_out = self.verb == Some(Verb::LeaveOut);
        let trust = (!is_left_out && self.trust_id.is_none()).then_some("trust_id");
        let owners = (!is_left_out && self.owner_contact_ids.is_empty()).then_some("owner_contact_ids");
        let needed = self.verb.and_then(|verb| self.asset_kind.facts_for(verb)).unwrap_or_default();
        let facts = needed.iter().filter(|fact| self.detail.get(**fact).is_none());
        trust.into_iter().chain(owners).chain(facts.map(|fact: &Fact| fact.as_str())).collect()
    }

    /// The agreement that papers it, or by which it was funded.
    #[must_use]
    pub fn papering(&self) -> Option<&Papering> {
        match &self.status {
            Status::Papered { papering }
            | Status::InProgress { papering }
            | Status::Claimed { papering, .. }
            | Status::Funded { papering, .. } => Some(papering),
            Status::Open | Status::Unfunded { .. } => None,
        }
    }

    /// The id of that agreement.
    #[must_use]
    pub fn agreement_id(&self) -> Option<AgreementId> {
        self.papering().map(|papering| papering.agreement_id)
    }

    /// What the owner said if they said it is done. It proves nothing.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        match &self.status {
            Status::Claimed { claim, .. } => Some(claim),
            Status::Funded { claim, .. } => claim.as_ref(),
            _ => None,
        }
    }

    /// Why it was closed as unfunded.
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        if let Status::Unfunded { reason, .. } = &self.status { Some(*reason) } else { None }
    }

    /// All proof ever filed, oldest first.
    #[must_use]
    pub fn proofs(&self) -> &[Proof] {
        &self.proofs
    }

    /// Proof, by its id.
    #[must_use]
    pub fn proof(&self, id: ProofId) -> Option<&Proof> {
        self.proofs.iter().find(|proof| proof.id() == id)
    }

    /// Who added it.
    #[must_use]
    pub fn created_by(&self) -> &Actor {
        &self.created_by
    }

    /// When it was added.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it was last changed.
    #[must_use]
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The text that `search` matches: the label.
    #[must_use]
    pub fn search_text(&self) -> Folded {
        Folded::new(self.label.as_str())
    }

    /// Whether it differs from what an agreement papers (contract, section 5, `funding_item_changed`): it left the
    /// agreement or is on hold, the trust (trustees and version) has changed, or an owner or trustee was renamed.
    #[must_use]
    pub fn has_changed_since_papered(
        &self,
        agreement: AgreementId,
        trust: Option<(&[ContactId], u64)>,
        contacts: &[Contact],
    ) -> bool {
        let Status::Papered { papering } = &self.status else { return true };
        let Some((trustees, version)) = trust else { return true };
        let is_renamed = || papering.names != NamesDigest::of(&self.owner_contact_ids, trustees, contacts);
        papering.agreement_id != agreement || self.hold.is_some() || version != papering.trust_version || is_renamed()
    }
}

//! Proposals: protected effects that need a member's decision. Nothing executes before a member confirms.

use std::ops::Deref;

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::actor::Actor;
use super::agreement::blockers::Blocker;
use super::agreement::{Agreement, AgreementName, Label, Lifecycle};
use super::contact::{Contact, DisplayName, Email};
use super::ids::{AgreementId, ContactId, MovementId, ProposalId};
use super::moment::Moment;
use super::money::Money;
use super::note::Note;
use super::time::Timestamp;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};

text_enum! {
    /// What is proposed.
    pub enum ProposalAction {
        /// Publish a draft: its first stage opens.
        PublishAgreement = "publish_agreement",
        /// Permanently cancel a draft or an active agreement.
        CancelAgreement = "cancel_agreement",
    }
}

text_enum! {
    /// Where a proposal is, as clients branch on it (specification, "Enumerations").
    pub enum ProposalState {
        /// It needs a decision.
        Pending = "pending",
        /// A member confirmed it, and its effect has been executed.
        Confirmed = "confirmed",
        /// A member declined it.
        Declined = "declined",
        /// It expired undecided.
        Expired = "expired",
    }
}

/// The decision on a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Decision {
    /// None yet. After its expiry the proposal counts as expired, even before that is recorded.
    Pending,
    /// A member confirmed it.
    Confirmed(MemberDecision),
    /// A member declined it.
    Declined(MemberDecision),
    /// It expired undecided.
    Expired {
        /// When the expiry was recorded.
        settled_at: Timestamp,
    },
}

/// A member's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberDecision {
    /// The time of the decision.
    pub at: Timestamp,
    /// The member.
    pub by: Actor,
    /// The member's note.
    pub note: Option<Note>,
}

/// A proposal as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Private, so that one proposal can't be written in place of another.
    id: ProposalId,
    /// The proposed action.
    pub action: ProposalAction,
    /// The agreement.
    pub agreement_id: AgreementId,
    /// The agreement in short, as proposed.
    pub subject: Subject,
    /// The proposer's note.
    pub note: Option<Note>,
    /// The proposer.
    pub created_by: Actor,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// When the time to decide ends.
    pub expires_at: Timestamp,
    /// Private to the domain, whose functions alone change it.
    pub(super) decision: Decision,
}

/// A summary of the proposed agreement for lists and sentences. [`ProposalSnapshot`] has all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name.
    pub name: AgreementName,
    /// The number of its participants.
    pub participants: usize,
    /// The number of its steps.
    pub steps: usize,
}

impl Subject {
    fn new(agreement: &Agreement) -> Self {
        Self { name: agreement.name.clone(), participants: agreement.participants.len(), steps: agreement.stages.len() }
    }
}

/// A copy of the agreement and its people, made with the proposal and never changed: the decision page compares with
/// it. It is as large as the agreement, so a separate item, which lists and decisions don't read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalSnapshot {
    /// The agreement as it was.
    pub agreement: Agreement,
    /// Its participants' contacts as they were; the agreement only refers to them.
    pub people: Vec<SnapshotPerson>,
    /// The draft's payments as they were. None if the proposal doesn't publish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payments: Option<Vec<SnapshotPayment>>,
}

/// A payment of a draft in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotPayment {
    /// The payment.
    pub id: MovementId,
    /// Its purpose: the first [`limits::PROPOSED_PURPOSE_CHARS_MAX`](crate::limits::PROPOSED_PURPOSE_CHARS_MAX) characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Label>,
    /// Its amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// A fingerprint of all its terms.
    pub fingerprint: String,
}

/// A participant's contact in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotPerson {
    /// The contact.
    pub contact_id: ContactId,
    /// The contact's name at the time.
    pub display_name: DisplayName,
    /// The contact's email address at the time.
    pub email: Option<Email>,
}

impl SnapshotPerson {
    fn new(contact: &Contact) -> Self {
        Self { contact_id: contact.id, display_name: contact.display_name.clone(), email: contact.email.clone() }
    }
}

/// A proposal to be made.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({
    "action": "publish_agreement",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "note": "Terms as agreed on Tuesday's call.",
}))]
pub struct NewProposal {
    /// What is proposed.
    pub action: ProposalAction,
    /// For which agreement of your organization.
    pub agreement_id: AgreementId,
    /// For whoever decides.
    #[deserr(default)]
    #[schema(nullable)]
    pub note: Option<Note>,
}

/// A new, undecided proposal. Only [`propose`] makes one, so that none is written without its own snapshot.
///
/// ```compile_fail
/// use shared::domain::moment::Moment;
/// use shared::domain::proposal::{CreatedProposal, Proposal, ProposalSnapshot};
///
/// fn again(proposal: Proposal, snapshot: ProposalSnapshot, moment: Moment) -> CreatedProposal {
///     CreatedProposal { proposal, snapshot, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedProposal {
    proposal: Proposal,
    snapshot: ProposalSnapshot,
    moment: Moment,
}

impl CreatedProposal {
    /// The call that proposed it, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The proposal.
    #[must_use]
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// The snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &ProposalSnapshot {
        &self.snapshot
    }

    /// Adds the draft's payments, which are separate records.
    #[must_use]
    pub fn with_payments(mut self, payments: Vec<SnapshotPayment>) -> Self {
        self.snapshot.payments = Some(payments);
        self
    }

    /// The proposal, after the snapshot is written.
    #[must_use]
    pub fn into_proposal(self) -> Proposal {
        self.proposal
    }
}

/// Makes a proposal if the agreement's state allows the action. A publication's only allowed blocker is the workspace's
/// activation, which the confirming member completes. `people` are the participants' contacts.
pub fn propose(
    new: NewProposal,
    agreement: &Agreement,
    people: &[Contact],
    blockers: &[Blocker],
    created_by: Actor,
    moment: Moment,
    expires_at: Timestamp,
) -> Result<CreatedProposal, FieldErrors> {
    check_state(new.action, agreement)?;
    if new.action == ProposalAction::PublishAgreement {
        check_blockers(blockers, Blocker::allows_proposal)?;
    }
    let proposal = Proposal {
        id: ProposalId::new(),
        action: new.action,
        agreement_id: agreement.id(),
        subject: Subject::new(agreement),
        note: new.note,
        created_by,
        created_at: moment.at(),
        expires_at,
        decision: Decision::Pending,
    };
    let people = people.iter().map(SnapshotPerson::new).collect();
    let snapshot = ProposalSnapshot { agreement: agreement.clone(), people, payments: None };
    Ok(CreatedProposal { proposal, snapshot, moment })
}

/// Checks that the agreement's state allows an action.
pub fn check_state(action: ProposalAction, agreement: &Agreement) -> Result<(), FieldErrors> {
    let (fits, needed) = match action {
        ProposalAction::PublishAgreement => (agreement.lifecycle() == Lifecycle::Draft, "a draft"),
        ProposalAction::CancelAgreement => {
            (matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active), "a draft or active")
        }
    };
    if fits { Ok(()) } else { Err(FieldErrors::one(AGREEMENT, FieldCode::WrongState, format!("must be {needed}"))) }
}

pub(super) fn check_blockers(blockers: &[Blocker], tolerated: impl Fn(&Blocker) -> bool) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    for blocker in blockers.iter().filter(|blocker| !tolerated(blocker)) {
        errors.extend(FieldErrors::one(AGREEMENT, blocker.code(), blocker.message()));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

const AGREEMENT: &str = "agreement_id";

/// Checks that no pending proposal claims the agreement. Returns the claiming one as expired, if that is unrecorded.
pub fn take_over_claim(claiming: Option<&Proposal>, moment: Moment) -> Result<Option<ExpiredProposal>, FieldErrors> {
    match claiming {
        Some(other) if other.state_at(moment.at()) == ProposalState::Pending => {
            let message = "a proposal of this action is pending already";
            Err(FieldErrors::one(AGREEMENT, FieldCode::ProposalPending, message))
        }
        other => Ok(other.and_then(|other| other.expired(moment))),
    }
}

impl Proposal {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> ProposalId {
        self.id
    }

    /// Its state at a moment, computed on read so that expiry is never late.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> ProposalState {
        match &self.decision {
            Decision::Pending if now < self.expires_at => ProposalState::Pending,
            Decision::Pending | Decision::Expired { .. } => ProposalState::Expired,
            Decision::Confirmed(_) => ProposalState::Confirmed,
            Decision::Declined(_) => ProposalState::Declined,
        }
    }

    /// Whether it has expired and its record doesn't say so yet.
    #[must_use]
    pub fn has_unrecorded_expiry(&self, now: Timestamp) -> bool {
        self.decision == Decision::Pending && self.expires_at <= now
    }

    /// The recorded decision.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The proposal with its expiry recorded. None unless it has an unrecorded expiry.
    #[must_use]
    pub fn expired(&self, moment: Moment) -> Option<ExpiredProposal> {
        let decision = Decision::Expired { settled_at: moment.at() };
        let expired = ExpiredProposal { proposal: Self { decision, ..self.clone() }, moment };
        self.has_unrecorded_expiry(moment.at()).then_some(expired)
    }

    pub(super) fn decided(&self, decision: Decision) -> Self {
        Self { decision, ..self.clone() }
    }
}

/// A proposal that expired undecided: the only end without a member.
///
/// ```compile_fail
/// use shared::domain::moment::Moment;
/// use shared::domain::proposal::{Proposal, ExpiredProposal};
///
/// fn end(proposal: Proposal, moment: Moment) -> ExpiredProposal {
///     ExpiredProposal { proposal, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredProposal {
    proposal: Proposal,
    moment: Moment,
}

impl ExpiredProposal {
    /// The call that records the expiry, and its time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl Deref for ExpiredProposal {
    type Target = Proposal;

    fn deref(&self) -> &Proposal {
        &self.proposal
    }
}

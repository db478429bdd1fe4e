//! Proposals: protected effects that wait for a member's decision. Nothing executes before a member confirms.

use std::ops::Deref;

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::actor::Actor;
use super::agreement::blockers::Blocker;
use super::agreement::{Agreement, AgreementName, Lifecycle};
use super::contact::{Contact, DisplayName, Email};
use super::ids::{AgreementId, ContactId, ProposalId};
use super::moment::Moment;
use super::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};

text_enum! {
    /// What is proposed.
    pub enum ProposalAction {
        /// Publish a draft: its first stage opens.
        PublishAgreement = "publish_agreement",
        /// Cancel a draft or an active agreement, for good.
        CancelAgreement = "cancel_agreement",
    }
}

text_enum! {
    /// Where a proposal is, as clients branch on it (specification, "Enumerations").
    pub enum ProposalState {
        /// It waits for a decision.
        Pending = "pending",
        /// A member confirmed it, and its effect has been executed.
        Confirmed = "confirmed",
        /// A member declined it.
        Declined = "declined",
        /// Nobody decided in time.
        Expired = "expired",
    }
}

/// A free text for whoever decides, or from whoever decided: up to 2,000 characters, in lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, min_length = 1, max_length = 2000, example = "Terms as agreed on Tuesday's call.")]
pub struct Note(String);

impl Note {
    /// Checks a text: trimmed, CRLF becomes LF, tabs and line breaks are fine, other control characters are not.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, (FieldCode, String)> {
        let text = text.replace("\r\n", "\n");
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err((FieldCode::TooShort, "must not be blank".to_owned()));
        }
        if trimmed.chars().count() > limits::NOTE_CHARS_MAX {
            return Err((FieldCode::TooLong, format!("must have at most {} characters", limits::NOTE_CHARS_MAX)));
        }
        if trimmed.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\t')) {
            let message = "must have no control characters but tabs and line breaks";
            return Err((FieldCode::InvalidValue, message.to_owned()));
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deserr<FieldErrors> for Note {
    fn deserialize_from_value<V: deserr::IntoValue>(
        value: deserr::Value<V>,
        location: deserr::ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|(code, message)| FieldErrors::at(location, code, message))
    }
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Decision {
    /// Nothing yet. Past its time it counts as expired, whether or not that has been written down.
    Pending,
    /// A member confirmed it.
    Confirmed(Decided),
    /// A member declined it.
    Declined(Decided),
    /// Nobody decided in time.
    Expired {
        /// When that was written down.
        settled_at: Timestamp,
    },
}

/// A member's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Actor,
    /// What they said.
    pub note: Option<Note>,
}

/// A proposal as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its id: private, so that one proposal can't be written in the place of another.
    id: ProposalId,
    /// What is proposed.
    pub action: ProposalAction,
    /// For which agreement.
    pub agreement_id: AgreementId,
    /// What that was then, in short.
    pub subject: Subject,
    /// What the proposer said.
    pub note: Option<Note>,
    /// Who proposed it.
    pub created_by: Actor,
    /// When.
    pub created_at: Timestamp,
    /// Until when it can be decided.
    pub expires_at: Timestamp,
    /// What became of it: private to the domain, whose functions are the only way from one state to another.
    pub(super) decision: Decision,
}

/// The agreement of a proposal in short, as it was proposed: what lists and sentences say of it. [`ProposalSnapshot`] has all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What it was called.
    pub name: AgreementName,
    /// How many took part in it.
    pub participants: usize,
    /// How many steps it had.
    pub steps: usize,
}

impl Subject {
    fn new(agreement: &Agreement) -> Self {
        Self { name: agreement.name.clone(), participants: agreement.participants.len(), steps: agreement.stages.len() }
    }
}

/// What was proposed: a copy that is made with the proposal and never changes, for whoever decides to see what has
/// changed since, and to see later what came to nothing. As large as an agreement can be, so it is no part of the
/// proposal, and read only for that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalSnapshot {
    /// The agreement as it was.
    pub agreement: Agreement,
    /// Who took part in it, as they were: an agreement only refers to them.
    pub people: Vec<SnapshotPerson>,
}

/// Somebody who takes part in an agreement that is proposed, as they were then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotPerson {
    /// Who.
    pub contact_id: ContactId,
    /// What they were called.
    pub display_name: DisplayName,
    /// What their address was.
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

/// A proposal that is made just now, which nobody has decided, with what was proposed. Only [`propose`] makes one, so
/// that no proposal is written without its copy, or with another's.
///
/// ```compile_fail
/// use shared::domain::moment::Moment;
/// use shared::domain::proposal::{Made, Proposal, ProposalSnapshot};
///
/// fn again(proposal: Proposal, proposed: ProposalSnapshot, moment: Moment) -> Made {
///     Made { proposal, proposed, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    proposal: Proposal,
    proposed: ProposalSnapshot,
    moment: Moment,
}

impl Made {
    /// When it was made, and in which call.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// The proposal.
    #[must_use]
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// What was proposed.
    #[must_use]
    pub fn proposed(&self) -> &ProposalSnapshot {
        &self.proposed
    }

    /// The proposal, when what was proposed is written.
    #[must_use]
    pub fn into_proposal(self) -> Proposal {
        self.proposal
    }
}

/// Makes a proposal, if it may be made: the agreement's state allows its action, and for a publication there is nothing
/// in the way but activation, which the confirming member completes. `people` are those who take part.
///
/// # Errors
/// `wrong_state`, or one entry per blocker.
pub fn propose(
    new: NewProposal,
    agreement: &Agreement,
    people: &[Contact],
    blockers: &[Blocker],
    created_by: Actor,
    moment: Moment,
    expires_at: Timestamp,
) -> Result<Made, FieldErrors> {
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
    Ok(Made { proposal, proposed: ProposalSnapshot { agreement: agreement.clone(), people }, moment })
}

/// Whether the agreement's state allows an action.
///
/// # Errors
/// `wrong_state`.
pub fn check_state(action: ProposalAction, agreement: &Agreement) -> Result<(), FieldErrors> {
    let (fits, needed) = match action {
        ProposalAction::PublishAgreement => (agreement.lifecycle() == Lifecycle::Draft, "a draft"),
        ProposalAction::CancelAgreement => {
            (matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active), "a draft or active")
        }
    };
    if fits { Ok(()) } else { Err(FieldErrors::one(AGREEMENT, FieldCode::WrongState, format!("must be {needed}"))) }
}

/// One entry per blocker that is not tolerated, in their order.
pub(super) fn check_blockers(blockers: &[Blocker], tolerated: impl Fn(&Blocker) -> bool) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    for blocker in blockers.iter().filter(|blocker| !tolerated(blocker)) {
        errors.extend(FieldErrors::one(AGREEMENT, blocker.code(), blocker.message()));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The field that refusals are about.
const AGREEMENT: &str = "agreement_id";

/// Whether a new proposal can take the place of the one that had it, if there is one: not while that is pending. If its
/// time is over and that is still to be written down, that one is given back as it is then, settled.
///
/// # Errors
/// `proposal_pending`.
pub fn take_place_of(claiming: Option<&Proposal>, moment: Moment) -> Result<Option<Settled>, FieldErrors> {
    match claiming {
        Some(other) if other.state_at(moment.at()) == ProposalState::Pending => {
            let message = "a proposal of this action waits for a decision already";
            Err(FieldErrors::one(AGREEMENT, FieldCode::ProposalPending, message))
        }
        other => Ok(other.and_then(|other| other.settled(moment))),
    }
}

impl Proposal {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> ProposalId {
        self.id
    }

    /// Where it is at a moment. Decided on read, so that expiry is never late.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> ProposalState {
        match &self.decision {
            Decision::Pending if now < self.expires_at => ProposalState::Pending,
            Decision::Pending | Decision::Expired { .. } => ProposalState::Expired,
            Decision::Confirmed(_) => ProposalState::Confirmed,
            Decision::Declined(_) => ProposalState::Declined,
        }
    }

    /// Whether its time is over and that is still to be written down.
    #[must_use]
    pub fn is_to_be_settled(&self, now: Timestamp) -> bool {
        self.decision == Decision::Pending && self.expires_at <= now
    }

    /// What became of it, as it is written down.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The proposal, expired; nothing unless its time is over and that is still to be written down.
    #[must_use]
    pub fn settled(&self, moment: Moment) -> Option<Settled> {
        let decision = Decision::Expired { settled_at: moment.at() };
        let settled = Settled { proposal: Self { decision, ..self.clone() }, moment };
        self.is_to_be_settled(moment.at()).then_some(settled)
    }

    /// The proposal with a member's decision.
    pub(super) fn decided(&self, decision: Decision) -> Self {
        Self { decision, ..self.clone() }
    }
}

/// A proposal that nobody decided in time: the one end of a proposal that needs no member.
///
/// ```compile_fail
/// use shared::domain::moment::Moment;
/// use shared::domain::proposal::{Proposal, Settled};
///
/// fn end(proposal: Proposal, moment: Moment) -> Settled {
///     Settled { proposal, moment }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    proposal: Proposal,
    moment: Moment,
}

impl Settled {
    /// When that was decided, and in which call.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.moment
    }
}

impl Deref for Settled {
    type Target = Proposal;

    fn deref(&self) -> &Proposal {
        &self.proposal
    }
}

//! The API's view of movements.
//!
//! Decision: the sender's claim and the receiving side's proof are two objects without shared fields, each made from
//! its own domain type. No field of a movement says "paid".
//!
//! Decision: no field has instructions, bank references or files of evidence. A draft may lack an amount, a purpose or
//! a party, which are then `null`.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::domain::actor::Actor;
use crate::domain::ids::{AgreementId, MovementId, ParticipantId, StageId, WorkspaceId};
use crate::domain::money::Money;
use crate::domain::movement::claim::{Claim, ReferenceType, TransferReference};
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::source::{Assurance, ConfirmationBasis};
use crate::domain::movement::state::{ExceptionReason, MovementState};
use crate::domain::movement::terms::{Direction, Method};
use crate::domain::movement::{Confirmation, ReceiptSummary};
use crate::domain::time::Timestamp;
use crate::service::movements::MovementInFull;
use crate::text::movements::movement_sentence;
use crate::wire::fields::FieldErrors;

/// A movement's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct MovementPath {
    /// The movement.
    pub movement_id: MovementId,
}

/// A movement as the API shows it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Movement, example = json!({
    "id": "01980a5a-1f30-7b02-8c55-6a7b8c9d0e1f",
    "workspace_id": "01980a50-1c9d-7d2e-b6f3-8a4c5d6e7f80",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "stage_id": "01980a53-2e4f-7a60-9b71-0c1d2e3f4a5b",
    "state": "sender_reported",
    "state_sentence": "The sender says it was sent. There is no proof that it arrived.",
    "purpose": "Investment",
    "reference": "SAFE-2026-014",
    "amount_minor": 25_000_000,
    "currency": "USD",
    "amount_display": "USD 250,000.00",
    "direction": "incoming",
    "method": "wire",
    "sender_participant_id": "01980a52-a1b2-7c3d-8e4f-5a6b7c8d9e0f",
    "receiver_participant_id": "01980a52-b2c3-7d4e-9f50-6b7c8d9e0f1a",
    "due_at": "2026-03-20T23:59:59.999Z",
    "exception_reason": null,
    "claim": {
        "reported_at": "2026-03-14T15:02:11.040Z",
        "participant_id": "01980a52-a1b2-7c3d-8e4f-5a6b7c8d9e0f",
        "references": [{"type": "fedwire_imad", "value": "20260314B1QGC08C000123"}],
    },
    "receipt": null,
    "reconciled": false,
    "confirmed_at": null,
    "confirmed_by": null,
    "confirmation_basis": null,
    "created_at": "2026-03-12T10:15:00.000Z",
    "updated_at": "2026-03-14T15:02:11.040Z",
}))]
pub struct MovementView {
    /// The id of the movement.
    pub id: MovementId,
    /// The workspace of its agreement.
    pub workspace_id: WorkspaceId,
    /// Its agreement.
    pub agreement_id: AgreementId,
    /// The first step with a condition that names it.
    #[schema(required = true)]
    pub stage_id: Option<StageId>,
    /// Where it is. `sender_reported` is a claim and proves nothing; `reconciled` means that it arrived.
    pub state: MovementState,
    /// Where it is, for a person. Changes freely; do not parse.
    pub state_sentence: String,
    /// What it is for.
    #[schema(required = true)]
    pub purpose: Option<String>,
    /// What the sender writes on the transfer.
    #[schema(required = true)]
    pub reference: Option<String>,
    /// How much, in minor units of the currency.
    #[schema(required = true)]
    pub amount_minor: Option<i64>,
    /// The currency, of ISO 4217.
    #[schema(required = true, example = "USD")]
    pub currency: Option<String>,
    /// How much, for a person.
    #[schema(required = true)]
    pub amount_display: Option<String>,
    /// Its direction, seen from the organization.
    pub direction: Direction,
    /// How it is moved.
    pub method: Method,
    /// The participant who pays.
    #[schema(required = true)]
    pub sender_participant_id: Option<ParticipantId>,
    /// The participant who is paid.
    #[schema(required = true)]
    pub receiver_participant_id: Option<ParticipantId>,
    /// The end of the day by which it is due, in the organization's zone.
    #[schema(required = true)]
    pub due_at: Option<Timestamp>,
    /// Why it needs attention, or that it came back. `null` in other states.
    #[schema(required = true)]
    pub exception_reason: Option<ExceptionReason>,
    /// What the sender says. It proves nothing.
    #[schema(required = true)]
    pub claim: Option<ClaimView>,
    /// What the receiving side proves, and what waits for a member.
    #[schema(required = true)]
    pub receipt: Option<ReceiptView>,
    /// Whether evidence of the receiving side confirmed that it arrived.
    pub reconciled: bool,
    /// When the arrival was confirmed. `null` unless it is reconciled.
    #[schema(required = true)]
    pub confirmed_at: Option<Timestamp>,
    /// The member who accepted the proof. `null` unless it is reconciled.
    #[schema(required = true)]
    pub confirmed_by: Option<Actor>,
    /// What the confirmation rests on. `null` unless it is reconciled.
    #[schema(required = true)]
    pub confirmation_basis: Option<ConfirmationBasis>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The sender's claim that money was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MovementClaim)]
pub struct ClaimView {
    /// When it was reported.
    pub reported_at: Timestamp,
    /// The sender, whose claim it is.
    pub participant_id: ParticipantId,
    /// How banks find the transfer again, as the sender says.
    pub references: Vec<ReferenceView>,
}

/// A reference by which banks find a transfer again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TransferReference)]
pub struct ReferenceView {
    /// The type of reference.
    #[serde(rename = "type")]
    pub reference_type: ReferenceType,
    /// The reference.
    pub value: String,
}

/// What the receiving side proves, and what waits for a member.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MovementReceipt, example = json!({
    "evidence_count": 1,
    "best_assurance": "bank_documented",
    "received_minor": 25_000_000,
}))]
pub struct ReceiptView {
    /// How many pieces of evidence of the receiving side are accepted, or wait for a member.
    pub evidence_count: usize,
    /// The best assurance among them.
    pub best_assurance: Assurance,
    /// What was accepted, in minor units of the movement's currency. What waits for a member is not in it.
    pub received_minor: i64,
}

impl From<&Claim> for ClaimView {
    fn from(claim: &Claim) -> Self {
        let reference = |reference: &TransferReference| ReferenceView {
            reference_type: reference.reference_type(),
            value: reference.value().to_owned(),
        };
        Self {
            reported_at: claim.reported_at,
            participant_id: claim.participant_id,
            references: claim.references.iter().map(reference).collect(),
        }
    }
}

impl From<ReceiptSummary> for ReceiptView {
    fn from(ReceiptSummary { evidence_count, best_assurance, received_minor }: ReceiptSummary) -> Self {
        Self { evidence_count, best_assurance, received_minor }
    }
}

impl From<MovementInFull> for MovementView {
    fn from(MovementInFull { movement, stage_id, due_at }: MovementInFull) -> Self {
        let terms = movement.terms();
        let text = |line: &Option<SafeLine>| line.as_ref().map(|line| line.as_str().to_owned());
        let confirmation = movement.confirmation().cloned();
        let (confirmed, confirmation_basis) = confirmation
            .map(|Confirmation { confirmed_at, confirmed_by, basis }| ((confirmed_at, confirmed_by), basis))
            .unzip();
        let (confirmed_at, confirmed_by) = confirmed.unzip();
        Self {
            id: movement.id(),
            workspace_id: movement.workspace_id(),
            agreement_id: movement.agreement_id(),
            stage_id,
            state: movement.state(),
            state_sentence: movement_sentence(&movement),
            purpose: text(&terms.purpose),
            reference: text(&terms.reference),
            amount_minor: terms.money.map(Money::amount_minor),
            currency: terms.money.map(|money| money.currency().code().to_owned()),
            amount_display: terms.money.map(Money::amount_display),
            direction: terms.direction,
            method: terms.method,
            sender_participant_id: terms.sender,
            receiver_participant_id: terms.receiver,
            due_at,
            exception_reason: movement.exception_reason(),
            claim: movement.claim().map(ClaimView::from),
            receipt: movement.receipt().map(ReceiptView::from),
            reconciled: movement.state().is_reconciled(),
            confirmed_at,
            confirmed_by,
            confirmation_basis,
            created_at: movement.created_at(),
            updated_at: movement.updated_at(),
        }
    }
}

impl Output for MovementView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid(), self.agreement_id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/movements/{}", self.id))
    }
}

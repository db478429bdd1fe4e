//! The API's view of the ledger.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::operation::Output;
use crate::domain::contact::DisplayName;
use crate::domain::ids::{AgreementId, ContactId, MovementId, ObligationId, WorkspaceId};
use crate::domain::ledger::{LedgerDirection, LedgerProduct, LedgerRowType, LedgerState};
use crate::domain::money::Money;
use crate::domain::time::Timestamp;
use crate::platform::config::BaseUrl;
use crate::service::ledger::{LedgerRow, LedgerThing};

/// A thing owed or owing: an agreement, a payment or an obligation. An agreement and the payments under it are rows of their
/// own, and only payments have amounts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LedgerRow, example = json!({
    "id": "01980a5a-1f30-7b02-8c55-6a7b8c9d0e1f",
    "row_type": "movement",
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "agreement_id": "01980a52-90bd-7f6a-8e21-c4d2b7035a18",
    "movement_id": "01980a5a-1f30-7b02-8c55-6a7b8c9d0e1f",
    "obligation_id": null,
    "product": "safe",
    "title": "Investment",
    "counterparties": [{"contact_id": "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35", "display_name": "Northwind Robotics"}],
    "direction": "owed_to_us",
    "amount_minor": 25_000_000,
    "currency": "USD",
    "amount_display": "USD 250,000.00",
    "state": "sender_reported",
    "status_sentence": "The sender says it was sent. There is no proof that it arrived.",
    "due_at": "2026-03-20T23:59:59.999Z",
    "reconciled": false,
    "done": false,
    "app_url": "https://countersign.example/app/money/movements/01980a5a-1f30-7b02-8c55-6a7b8c9d0e1f",
}))]
pub struct LedgerRowView {
    /// The id of the agreement, movement or obligation.
    pub id: Uuid,
    /// Which of them it is.
    pub row_type: LedgerRowType,
    /// The workspace of its agreement.
    pub workspace_id: WorkspaceId,
    /// Its agreement, which may be the row itself.
    pub agreement_id: AgreementId,
    /// The movement. `null` in other rows.
    #[schema(required = true)]
    pub movement_id: Option<MovementId>,
    /// The obligation. `null` in other rows.
    #[schema(required = true)]
    pub obligation_id: Option<ObligationId>,
    /// The product of its agreement.
    pub product: LedgerProduct,
    /// The name of the agreement or of the obligation, or the purpose of the payment.
    pub title: String,
    /// Who takes part in the agreement, owes it, or is owed it, except for the organization's own contacts.
    pub counterparties: Vec<CounterpartyView>,
    /// Who owes it. `null` in the row of an agreement, which binds all who take part.
    #[schema(required = true)]
    pub direction: Option<LedgerDirection>,
    /// How much is to be paid, in minor units of the currency. `null` but in the row of a movement, and in that of a draft
    /// without an amount.
    #[schema(required = true)]
    pub amount_minor: Option<i64>,
    /// The currency, of ISO 4217.
    #[schema(required = true, example = "USD")]
    pub currency: Option<String>,
    /// How much is to be paid, for a person.
    #[schema(required = true)]
    pub amount_display: Option<String>,
    /// Where it is: the lifecycle of the agreement, or the state of the movement or obligation.
    pub state: LedgerState,
    /// Where it is, for a person. Changes freely; do not parse.
    pub status_sentence: String,
    /// When the agreement expires, when the payment is due, or when the next occurrence of the obligation is due or was.
    #[schema(required = true)]
    pub due_at: Option<Timestamp>,
    /// Whether evidence of the receiving side confirmed that the payment arrived. A claim never sets it.
    pub reconciled: bool,
    /// Whether it is finished: an agreement completed, cancelled or expired; a movement reconciled, returned or cancelled; an
    /// obligation confirmed or cancelled.
    pub done: bool,
    /// Its page in the app.
    pub app_url: String,
}

/// A contact on the other side.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Counterparty)]
pub struct CounterpartyView {
    /// The contact on the other side.
    pub contact_id: ContactId,
    /// The name that it has now.
    pub display_name: DisplayName,
}

impl LedgerRowView {
    /// A row of the ledger.
    #[must_use]
    pub fn new(row: LedgerRow, base_url: &BaseUrl) -> Self {
        let (movement_id, obligation_id) = match row.thing {
            LedgerThing::Agreement(_) => (None, None),
            LedgerThing::Movement(id) => (Some(id), None),
            LedgerThing::Obligation(id) => (None, Some(id)),
        };
        let money = row.payment.map(|payment| payment.money);
        let counterparty = |(contact_id, display_name)| CounterpartyView { contact_id, display_name };
        Self {
            id: row.thing.uuid(),
            row_type: row.thing.row_type(),
            workspace_id: row.workspace_id,
            agreement_id: row.agreement_id,
            movement_id,
            obligation_id,
            product: row.product,
            title: row.title,
            counterparties: row.counterparties.into_iter().map(counterparty).collect(),
            direction: row.direction,
            amount_minor: money.map(Money::amount_minor),
            currency: money.map(|money| money.currency().code().to_owned()),
            amount_display: money.map(Money::amount_display),
            state: row.state,
            status_sentence: row.status_sentence,
            due_at: row.due_at,
            reconciled: row.state == LedgerState::Reconciled,
            done: row.state.is_done(),
            app_url: base_url.link(row.thing.app_path()),
        }
    }
}

impl Output for LedgerRowView {
    fn objects(&self) -> Vec<Uuid> {
        vec![self.id]
    }
}

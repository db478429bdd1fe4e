//! Operations 15 and 16 of the specification. Movements are read-only over the API.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::movements::{MovementPath, MovementView};
use shared::error::Error;
use shared::service::movements::{self, MovementQuery};
use shared::wire::input::Empty;
use shared::wire::page::Page;

/// Lists movements.
pub struct ListMovements;

impl ReadOperation for ListMovements {
    const SPEC: OperationSpec = OperationSpec {
        id: "list_movements",
        method: Method::GET,
        path: "/api/v1/movements",
        tag: "Movements",
        summary: "List movements",
        description: "Money that moves against agreements, oldest first. `search` matches the purpose, the reference, or the agreement's name as it is now. `sender_reported` is a claim: only `reconciled` says that it arrived.",
        agent: "Money that is to move or moved under agreements, by agreement, state or text. `sender_reported` is the sender's claim and no proof; only `reconciled` = true means that the money arrived. Next: `get_movement`.",
        success: &[(200, "A page of movements.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = MovementQuery;
    type Output = Page<MovementView>;

    async fn run(caller: &ReadCaller, _: Empty, query: MovementQuery) -> Result<ReadResult<Page<MovementView>>, Error> {
        Ok(movements::list(caller, &query).await?.map(MovementView::from).into())
    }
}

/// Gets a movement.
pub struct GetMovement;

impl ReadOperation for GetMovement {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_movement",
        method: Method::GET,
        path: "/api/v1/movements/{movement_id}",
        tag: "Movements",
        summary: "Get a movement",
        description: "`claim` is what the sender says, `receipt` what the receiving side proves: two facts that share no field. `confirmed_at`, `confirmed_by` and `confirmation_basis` are `null` unless it is reconciled. People authorize, claim, prove and reconcile in the app.",
        agent: "One payment. `claim` is what the sender says, `receipt` what the receiving side proves; never report a claim as arrival. Only `reconciled` = true is proof, with `confirmation_basis`. Nothing here can authorize, reconcile or send money: people do that in the app.",
        success: &[(200, "The movement.")],
        headers: &[],
    };
    type Path = MovementPath;
    type Query = Empty;
    type Output = MovementView;

    async fn run(caller: &ReadCaller, path: MovementPath, _: Empty) -> Result<ReadResult<MovementView>, Error> {
        Ok(MovementView::from(movements::get(caller, path.movement_id).await?).into())
    }
}

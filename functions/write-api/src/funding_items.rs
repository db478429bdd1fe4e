//! Operations 27, 30 and 31 of the specification. Papering (28) is in a separate function.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, Rule, WriteOperation};
use shared::api::views::funding_items::{FundingItemPath, FundingItemView};
use shared::domain::funding::FundingItem;
use shared::domain::funding::input::{FundingItemChanges, NewFundingItem, Parking};
use shared::error::Error;
use shared::service::funding_items::{self, Upserted};
use shared::wire::fields::FieldCode;
use shared::wire::input::{Empty, NullablePatch, Patch};
use uuid::Uuid;

/// Adds a funding item, or returns the one with the same external reference.
pub struct CreateFundingItem;

impl WriteOperation for CreateFundingItem {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_funding_item",
        method: Method::POST,
        path: "/api/v1/funding-items",
        tag: "Funding",
        summary: "Add a funding item",
        description: "A label is enough; the rest can be sorted later. It contacts nobody. With an `external_reference` that an item of yours has already, that item is returned as it is, with status 200, and nothing is created. The header `ignored-fields` then names the fields that were sent with other values than the item has: change them with a PATCH. A workspace has at most 1,000 items.",
        agent: "Adds an asset that is to move into a trust; a label is enough. It is intent only: it contacts nobody and moves nothing. With an `external_reference` that exists, that item comes back unchanged. Next: `update_funding_item` with verb, trust, owners and facts.",
        success: &[(201, "The new item."), (200, "The item that has this reference already, unchanged.")],
        headers: &["etag", "ignored-fields"],
    };
    type Path = Empty;
    type Body = NewFundingItem;
    type Output = FundingItemView;

    const RULES: &'static [Rule] = &[
        ("trust_id", FieldCode::WrongWorkspace, "is a trust of another workspace"),
        (
            "workspace_id",
            FieldCode::WrongWorkspace,
            "is not the workspace of the item that has this external_reference",
        ),
        ("workspace_id", FieldCode::LimitReached, "has 1000 items, as many as a workspace may have"),
        ("label", FieldCode::SensitiveValue, "looks like an account number, a card number or a key"),
    ];

    fn references(body: &NewFundingItem) -> Vec<Uuid> {
        std::iter::once(body.workspace_id.uuid()).chain(body.trust_id.map(shared::domain::ids::TrustId::uuid)).collect()
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewFundingItem) -> Result<Committed<FundingItemView>, Error> {
        let plan = funding_items::create(caller, new).await?;
        caller
            .respond(plan, |upserted| match upserted {
                Upserted::Created(item) => Response::created(FundingItemView::from(item.clone())).at_version(1),
                Upserted::Existing(item, ignored) => Response::ok(FundingItemView::from(FundingItem::clone(item)))
                    .at_version(item.version())
                    .ignoring(ignored),
            })
            .await
    }
}

/// Sorts a funding item.
pub struct UpdateFundingItem;

impl WriteOperation for UpdateFundingItem {
    const SPEC: OperationSpec = OperationSpec {
        id: "update_funding_item",
        method: Method::PATCH,
        path: "/api/v1/funding-items/{item_id}",
        tag: "Funding",
        summary: "Sort a funding item",
        description: "Send only what to change. Facts in `detail` are merged; `null` removes one. `phase` and `missing_facts` follow. Refused once the item is papered or closed. Without `If-Match` the last write wins field by field.",
        agent: "Sorts an asset: sets what you send, merges `detail`, and `null` removes a fact. `missing_facts` in the result says what is still needed. Never send full account or card numbers or keys: last four digits only. Refused once papered or closed. Next: `paper_funding_items` when `phase` is `ready`.",
        success: &[(200, "The item after the change.")],
        headers: &["etag"],
    };
    type Path = FundingItemPath;
    type Body = FundingItemChanges;
    type Output = FundingItemView;

    const RULES: &'static [Rule] = &[
        ("path.item_id", FieldCode::WrongState, "can be changed only before it is papered or closed"),
        ("verb", FieldCode::VerbNotAllowed, "does not fit the kind of asset; so may a new asset_kind not fit the verb"),
        ("trust_id", FieldCode::WrongWorkspace, "is a trust of another workspace"),
        ("owner_contact_ids", FieldCode::LimitReached, "has too many contacts"),
        (
            "detail",
            FieldCode::SensitiveValue,
            "a fact of it, or the label, looks like an account number, a card number or a key",
        ),
    ];

    fn references(body: &FundingItemChanges) -> Vec<Uuid> {
        let trust = if let NullablePatch::Set(id) = &body.trust_id { Some(id.uuid()) } else { None };
        let owners = if let Patch::Set(owners) = &body.owner_contact_ids { owners.as_slice() } else { &[] };
        trust.into_iter().chain(owners.iter().map(|id| id.uuid())).collect()
    }

    async fn run(
        caller: &WriteCaller,
        path: FundingItemPath,
        changes: FundingItemChanges,
    ) -> Result<Committed<FundingItemView>, Error> {
        let plan = funding_items::update(caller, path.item_id, caller.expected_version(), changes).await?;
        caller.respond(plan, |(item, version)| Response::ok(item.clone().into()).at_version(*version)).await
    }
}

/// Puts a funding item on hold, or clears its hold.
pub struct ParkFundingItem;

impl WriteOperation for ParkFundingItem {
    const SPEC: OperationSpec = OperationSpec {
        id: "park_funding_item",
        method: Method::POST,
        path: "/api/v1/funding-items/{item_id}/park",
        tag: "Funding",
        summary: "Put a funding item on hold, or clear the hold",
        description: "A hold is beside the phase: it is shown by `waiting_on`, and an item on hold can't be papered. `waiting_on: null` clears it. Doing either twice changes nothing. A closed item can't be put on hold.",
        agent: "Puts an asset on hold for someone, or clears the hold with `waiting_on`: null. It tells nobody. An asset on hold can't be papered; a hold does not change the phase.",
        success: &[(200, "The item after the change.")],
        headers: &["etag"],
    };
    type Path = FundingItemPath;
    type Body = Parking;
    type Output = FundingItemView;

    const RULES: &'static [Rule] = &[
        ("path.item_id", FieldCode::WrongState, "is closed, and waits for nobody"),
        ("note", FieldCode::SensitiveValue, "looks like an account number, a card number or a key"),
    ];

    async fn run(
        caller: &WriteCaller,
        path: FundingItemPath,
        parking: Parking,
    ) -> Result<Committed<FundingItemView>, Error> {
        let plan = funding_items::park(caller, path.item_id, parking).await?;
        caller.respond(plan, |(item, version)| Response::ok(item.clone().into()).at_version(*version)).await
    }
}

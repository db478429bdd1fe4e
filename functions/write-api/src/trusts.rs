//! Operation 24 of the specification.

use http::Method;
use shared::api::caller::WriteCaller;
use shared::api::operation::{Committed, OperationSpec, Response, Rule, WriteOperation};
use shared::api::views::trusts::TrustView;
use shared::domain::trust::NewTrust;
use shared::error::Error;
use shared::service::trusts::{self, Upserted};
use shared::wire::fields::FieldCode;
use shared::wire::input::Empty;
use uuid::Uuid;

/// Creates a trust, or changes the one with the same external reference.
pub struct CreateTrust;

impl WriteOperation for CreateTrust {
    const SPEC: OperationSpec = OperationSpec {
        id: "create_trust",
        method: Method::POST,
        path: "/api/v1/trusts",
        tag: "Trusts",
        summary: "Create or change a trust",
        description: "Its contact, of the kind `trust`, is created with it. With an `external_reference` that a trust of yours has already, that trust gets the values that were sent, with status 200, and `trust.updated` is emitted if any of them differs; what is left out stays. In another workspace it is refused.",
        agent: "Registers a trust in a workspace, with its contact. With an `external_reference` that exists, that trust takes the values you send; what you leave out stays. It moves no asset. Next: `create_funding_item`.",
        success: &[
            (201, "The new trust."),
            (200, "The trust that has this reference already, with the values that were sent."),
        ],
        headers: &[],
    };
    type Path = Empty;
    type Body = NewTrust;
    type Output = TrustView;

    const RULES: &'static [Rule] = &[
        (
            "workspace_id",
            FieldCode::WrongWorkspace,
            "is not the workspace of the trust that has this external_reference",
        ),
        ("formal_name", FieldCode::SensitiveValue, "looks like an account number, a card number or a key"),
        ("settlor_contact_ids", FieldCode::LimitReached, "has too many contacts; so has trustee_contact_ids"),
    ];

    fn references(body: &NewTrust) -> Vec<Uuid> {
        vec![body.workspace_id.uuid()]
    }

    async fn run(caller: &WriteCaller, _: Empty, new: NewTrust) -> Result<Committed<TrustView>, Error> {
        let plan = trusts::create(caller, new).await?;
        caller
            .respond(plan, |upserted| match upserted {
                Upserted::Created(trust) => Response::created(TrustView::from(trust.clone())),
                Upserted::Existing(trust) => Response::ok(TrustView::from(trust.clone())),
            })
            .await
    }
}

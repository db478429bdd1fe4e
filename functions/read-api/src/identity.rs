//! Operation 1 of the specification.

use http::Method;
use shared::api::caller::ReadCaller;
use shared::api::operation::{OperationSpec, ReadOperation, ReadResult};
use shared::api::views::identity::Identity;
use shared::error::Error;
use shared::service::organizations;
use shared::wire::input::Empty;

/// Gets the token's identity.
pub struct GetIdentity;

impl ReadOperation for GetIdentity {
    const SPEC: OperationSpec = OperationSpec {
        id: "get_identity",
        method: Method::GET,
        path: "/api/v1/me",
        tag: "Identity",
        summary: "Get the token's identity",
        description: "The organization that the token belongs to, what the token may do, and when it expires.",
        agent: "Says which organization this token acts for, its scope (`read` or `read_write`) and when it expires. Call it first: with the scope `read`, tools that write are refused.",
        success: &[(200, "Who the token speaks for.")],
        headers: &[],
    };
    type Path = Empty;
    type Query = Empty;
    type Output = Identity;

    async fn run(caller: &ReadCaller, _: Empty, _: Empty) -> Result<ReadResult<Identity>, Error> {
        let organization = organizations::get(caller).await?;
        Ok(Identity::new(organization, caller.token()).into())
    }
}

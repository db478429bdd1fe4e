//! Operation 1.

use http::Method;
use shared::caller::ReadCaller;
use shared::domain::organization::Identity;
use shared::error::Error;
use shared::input::Nothing;
use shared::operation::{About, Found, ReadOperation};

/// Who the token speaks for.
pub struct GetIdentity;

impl ReadOperation for GetIdentity {
    const ABOUT: About = About {
        id: "get_identity",
        method: Method::GET,
        path: "/api/v1/me",
        tag: "Identity",
        summary: "Get the token's identity",
        description: "The organization that the token belongs to, what the token may do, and when it expires.",
        success: &[(200, "Who the token speaks for.")],
        has_etag: false,
    };
    type Path = Nothing;
    type Query = Nothing;
    type Output = Identity;

    async fn run(caller: &ReadCaller, _: Nothing, _: Nothing) -> Result<Found<Identity>, Error> {
        let organization = caller.store().organization().await?;
        Ok(Identity::new(organization, caller.token()).into())
    }
}

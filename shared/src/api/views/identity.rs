//! The API's view of a call's token.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::operation::Output;
use crate::domain::contact::DisplayName;
use crate::domain::ids::{OrgId, TokenId};
use crate::domain::organization::Organization;
use crate::domain::time::Timestamp;
use crate::domain::token::{Scope, Token};

/// Who a token speaks for (specification, "Identity").
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "organization_id": "01980a3c-11f2-7d05-8c3e-95b7f4a2d610",
    "organization_name": "Harbor & Pine LLP",
    "token_id": "01980a3d-77aa-7b12-a0f4-31c8de5b9042",
    "token_name": "CRM sync",
    "scope": "read_write",
    "expires_at": "2026-06-12T09:26:53.589Z",
}))]
pub struct Identity {
    /// Stable id to key local records off.
    pub organization_id: OrgId,
    /// What the organization is called.
    #[schema(example = "Harbor & Pine LLP")]
    pub organization_name: DisplayName,
    /// The token that was sent.
    pub token_id: TokenId,
    /// The label given to the token.
    #[schema(example = "CRM sync")]
    pub token_name: String,
    /// What the token may do.
    pub scope: Scope,
    /// When the token stops working.
    pub expires_at: Timestamp,
}

impl Identity {
    /// A token and its organization.
    #[must_use]
    pub fn new(organization: Organization, token: &Token) -> Self {
        Self {
            organization_id: organization.id,
            organization_name: organization.name,
            token_id: token.id,
            token_name: token.name.clone(),
            scope: token.scope,
            expires_at: token.expires_at,
        }
    }
}

impl Output for Identity {
    fn objects(&self) -> Vec<uuid::Uuid> {
        Vec::new()
    }
}

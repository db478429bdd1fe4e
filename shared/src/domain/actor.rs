//! Who did something, as the API shows it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What kind of somebody it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActorType {
    /// A member of the organization, in the app.
    Member,
    /// A participant of an agreement, on their page.
    Participant,
    /// An access token, over the API.
    Token,
    /// The service itself, when time has come.
    System,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"type": "token", "id": "01980a3d-77aa-7b12-a0f4-31c8de5b9042", "display_name": "CRM sync"}))]
pub struct Actor {
    /// What kind of somebody.
    #[serde(rename = "type")]
    pub actor_type: ActorType,
    /// Which; none for the service itself.
    #[schema(required = true)]
    pub id: Option<uuid::Uuid>,
    /// What they were called then.
    pub display_name: String,
}

impl Actor {
    /// The service itself.
    #[must_use]
    pub fn system() -> Self {
        Self { actor_type: ActorType::System, id: None, display_name: "Countersign".to_owned() }
    }
}

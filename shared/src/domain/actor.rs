//! Actors: the token, member or participant that did something, or the service itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::ids::MemberId;
use crate::wire::enums::text_enum;

text_enum! {
    /// The kind of actor.
    pub enum ActorType {
        /// A member of the organization, in the app.
        Member = "member",
        /// A participant of an agreement, on their page.
        Participant = "participant",
        /// An access token, over the API.
        Token = "token",
        /// The service itself, for effects of time.
        System = "system",
    }
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"type": "token", "id": "01980a3d-77aa-7b12-a0f4-31c8de5b9042", "display_name": "CRM sync"}))]
pub struct Actor {
    /// The kind of actor.
    #[serde(rename = "type")]
    pub actor_type: ActorType,
    /// The actor's id; none for the service.
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

    /// The member, if it is one.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        self.id.filter(|_| self.actor_type == ActorType::Member).map(MemberId::from)
    }

    /// Whether it is this member.
    #[must_use]
    pub fn is_member(&self, id: MemberId) -> bool {
        self.is(ActorType::Member, id.uuid())
    }

    /// Whether it has this kind and id.
    #[must_use]
    pub fn is(&self, actor_type: ActorType, id: uuid::Uuid) -> bool {
        self.actor_type == actor_type && self.id == Some(id)
    }
}

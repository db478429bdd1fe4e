//! Rows of the audit log: who called, and for what.

use shared::domain::actor::ActorType;
use shared::domain::audit::{AuditRow, Caller, ObjectKind, Via};
use shared::service::audit::Names;
use uuid::Uuid;

use crate::layout::Link;
use crate::urls::{item_url, movement_url, obligation_url, trust_url};

/// An object of a row: a link to its page if it has one.
#[derive(PartialEq, Eq)]
pub enum Object {
    /// Has a page.
    Linked(Link),
    /// Has only a name.
    Named(String),
}

impl Object {
    /// An object of a row. None if its name was not found.
    #[must_use]
    pub fn new(row: &AuditRow, id: Uuid, names: &Names, is_admin: bool) -> Option<Self> {
        // The kind comes with the name, since some operations don't state it.
        let (kind, text) = names.object_of(row, id)?;
        let text = text.to_owned();
        let url = match kind {
            ObjectKind::Agreement => format!("/app/agreements/{id}"),
            ObjectKind::Contact => format!("/app/contacts/{id}"),
            ObjectKind::Workspace => format!("/app/workspaces/{id}"),
            ObjectKind::Proposal => format!("/app/proposals/{id}"),
            ObjectKind::Obligation => obligation_url(id.into()),
            ObjectKind::Payment => movement_url(id.into()),
            ObjectKind::Trust => trust_url(id.into()),
            ObjectKind::FundingItem => item_url(id.into()),
            ObjectKind::Endpoint if is_admin => format!("/app/developers/endpoints/{id}"),
            ObjectKind::Token if is_admin => "/app/developers/tokens".to_owned(),
            ObjectKind::Member => "/app/organization".to_owned(),
            ObjectKind::TrustOrItem | ObjectKind::Endpoint | ObjectKind::Token | ObjectKind::Part => {
                return Some(Self::Named(text));
            }
        };
        let text = if kind == ObjectKind::Proposal { format!("Proposal for {text}") } else { text };
        Some(Self::Linked(Link { url, text }))
    }
}

/// The caller's name, and how a token called.
#[must_use]
pub fn caller_of(row: &AuditRow, names: &Names) -> String {
    let name = caller_name(row.caller, names);
    match (row.via, name.strip_suffix(OVER_THE_API)) {
        (Some(Via::Mcp), Some(token)) => format!("{token}{OVER_MCP}"),
        _ => name,
    }
}

/// Follows a token's name.
const OVER_THE_API: &str = " (over the API)";

/// Replaces [`OVER_THE_API`] if an agent called with the token.
const OVER_MCP: &str = " (over MCP)";

/// A caller's name. Marks a token's, which isn't a person's.
#[must_use]
pub fn caller_name(caller: Caller, names: &Names) -> String {
    let name = caller.id.and_then(|id| names.get(id));
    match (caller.actor_type, name) {
        (ActorType::Member | ActorType::Participant, Some(name)) => name.to_owned(),
        (ActorType::Token, Some(name)) => format!("{name}{OVER_THE_API}"),
        (ActorType::Member, None) => "A former member".to_owned(),
        (ActorType::Participant, None) => "A participant".to_owned(),
        (ActorType::Token, None) => format!("A token{OVER_THE_API}"),
        (ActorType::System, _) => "Countersign".to_owned(),
    }
}

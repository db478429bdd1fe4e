//! Rows of the audit log: who called, and what the call was about.

use shared::domain::actor::ActorType;
use shared::domain::audit::{AuditRow, Caller, ObjectKind, Via};
use shared::service::audit::Names;
use uuid::Uuid;

use crate::layout::Link;
use crate::urls::{item_url, obligation_url, trust_url};

/// An object of a row: a link to its page where the app has one.
pub enum Object {
    /// One with a page.
    Linked(Link),
    /// One without a page, by its name.
    Named(String),
}

impl Object {
    /// An object whose name was found.
    #[must_use]
    pub fn new((_, id): (ObjectKind, Uuid), names: &Names, is_admin: bool) -> Option<Self> {
        // What it is, where the operation leaves that open, its name tells.
        let (kind, text) = names.object(id)?;
        let text = text.to_owned();
        let url = match kind {
            ObjectKind::Agreement => format!("/app/agreements/{id}"),
            ObjectKind::Contact => format!("/app/contacts/{id}"),
            ObjectKind::Workspace => format!("/app/workspaces/{id}"),
            ObjectKind::Proposal => format!("/app/proposals/{id}"),
            ObjectKind::Obligation => obligation_url(id.into()),
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

/// The name of a row's caller, and how a token called.
#[must_use]
pub fn caller_of(row: &AuditRow, names: &Names) -> String {
    let name = caller_name(row.caller, names);
    match (row.via, name.strip_suffix(OVER_THE_API)) {
        (Some(Via::Mcp), Some(token)) => format!("{token}{OVER_MCP}"),
        _ => name,
    }
}

/// What stands behind the name of a token.
const OVER_THE_API: &str = " (over the API)";

/// The same where an agent called with it.
const OVER_MCP: &str = " (over MCP)";

/// The name of a caller. A token's name is marked, because it is no person's.
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

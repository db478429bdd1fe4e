//! The audit log as members read it: one row per call, with filters and paging.
//!
//! - Decision: every page view is recorded, since its row fences it, but the log hides those that would bury the acts.
//! - Decision: a page of the log continues from a call id. A made-up one reveals nothing of other organizations.

use uuid::Uuid;

use crate::domain::actor::ActorType;
use crate::domain::day::Day;
use crate::domain::ids::RequestId;
use crate::domain::time::Timestamp;
use crate::domain::time_zone::TimeZone;
use crate::wire::enums::text_enum;

/// The row of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// The call's id.
    pub request_id: RequestId,
    /// When the call began.
    pub at: Timestamp,
    /// The operation's id.
    pub operation: String,
    /// The caller.
    pub caller: Caller,
    /// The HTTP status.
    pub status: u16,
    /// `ok`, `replayed`, the error's code, or `unknown` when the effect is unknown.
    pub code: String,
    /// The objects that the call named, then those that it showed or changed.
    pub objects: Vec<Uuid>,
    /// The entrance of the call. None for the HTTP API and the app.
    pub via: Option<Via>,
}

/// The caller of a row, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The kind of caller.
    pub actor_type: ActorType,
    /// The caller's id; none for the service itself.
    pub id: Option<Uuid>,
}

text_enum! {
    /// An entrance to the API's operations other than HTTP. Calls through it do, and are recorded as, the same.
    pub enum Via {
        /// The agent endpoint, `/mcp`.
        Mcp = "mcp",
    }
}

text_enum! {
    /// How a call ended, for a filter.
    pub enum CallOutcome {
        /// The call succeeded.
        Success = "success",
        /// The call was refused; at most the refusal was counted, or what was typed was kept.
        Refused = "refused",
        /// The service failed.
        Failed = "failed",
    }
}

/// The kinds of objects that the log names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// An agreement.
    Agreement,
    /// A contact.
    Contact,
    /// A workspace.
    Workspace,
    /// A proposal.
    Proposal,
    /// An obligation.
    Obligation,
    /// A trust.
    Trust,
    /// A funding item.
    FundingItem,
    /// A trust or a funding item. A call that adds an item names its trust first, if any.
    TrustOrItem,
    /// A webhook endpoint.
    Endpoint,
    /// An access token.
    Token,
    /// A member.
    Member,
    /// A payment.
    Payment,
    /// A part of an agreement, which has no record of its own, or what belongs to a payment.
    Part,
}

/// The prefix of operations that only show a page. Document views count as acts and stay in the log.
const VIEW: &str = "view_";
const VIEW_DOCUMENT: &str = "view_document";
/// A call to an unknown path.
pub const NO_ROUTE: &str = "none";
/// A call with a method that its path doesn't allow.
pub const WRONG_METHOD: &str = "wrong_method";
/// A call to the agent endpoint that runs no operation: the handshake or the tool list.
pub const USE_MCP: &str = "use_mcp";

impl AuditRow {
    /// How the call ended.
    #[must_use]
    pub fn outcome(&self) -> CallOutcome {
        match (self.code.as_str(), self.status) {
            ("ok" | "replayed", _) => CallOutcome::Success,
            (_, 500..) => CallOutcome::Failed,
            _ => CallOutcome::Refused,
        }
    }

    /// Whether this is a plain page view, which the log hides, even with mistyped filters (422). Refused views are not.
    #[must_use]
    pub fn is_plain_view(&self) -> bool {
        let is_view = self.operation.starts_with(VIEW) && self.operation != VIEW_DOCUMENT;
        let has_succeeded = self.outcome() == CallOutcome::Success;
        is_view && (has_succeeded || self.status == 422) || self.operation == USE_MCP && has_succeeded
    }
}

/// Filters for rows. An absent condition matches every row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// By this caller.
    pub actor: Option<Uuid>,
    /// Of one of these operations, if there are any.
    pub operations: Vec<String>,
    /// About this object, or by it if it is a caller.
    pub object: Option<Uuid>,
    /// With this outcome.
    pub outcome: Option<CallOutcome>,
}

impl AuditFilter {
    /// Whether no condition is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the log shows a row.
    #[must_use]
    pub fn fits(&self, row: &AuditRow) -> bool {
        !row.is_plain_view()
            && self.actor.is_none_or(|actor| row.caller.id == Some(actor))
            && (self.operations.is_empty() || self.operations.contains(&row.operation))
            && self.object.is_none_or(|object| row.objects.contains(&object) || row.caller.id == Some(object))
            && self.outcome.is_none_or(|outcome| row.outcome() == outcome)
    }
}

/// A range of days as moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRange {
    /// The beginning of the first day.
    pub start: Timestamp,
    /// The end of the last day, exclusive.
    pub end: Timestamp,
}

impl DayRange {
    /// The days `first` to `last`, inclusive, in a time zone.
    #[must_use]
    pub fn of(first: Day, last: Day, zone: &TimeZone) -> Self {
        Self { start: zone.start_of(first), end: zone.start_of(last.plus_days(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(operation: &str, status: u16, code: &str) -> AuditRow {
        AuditRow {
            request_id: RequestId::new(),
            at: Timestamp::now(),
            operation: operation.to_owned(),
            caller: Caller { actor_type: ActorType::Member, id: Some(Uuid::now_v7()) },
            status,
            code: code.to_owned(),
            objects: vec![Uuid::now_v7()],
            via: None,
        }
    }

    #[test]
    fn plain_views_are_left_out_and_views_of_documents_and_refusals_are_not() {
        let shown = |row: &AuditRow| AuditFilter::default().fits(row);
        assert!(!shown(&row("view_home", 200, "ok")) && !shown(&row("view_audit", 200, "ok")));
        assert!(!shown(&row("view_audit", 422, "invalid_request")));
        assert!(!shown(&row(USE_MCP, 200, "ok")) && shown(&row(USE_MCP, 401, "unauthenticated")));
        for act in [
            row("view_document", 200, "ok"),
            row("download_document", 200, "ok"),
            row("view_tokens", 403, "forbidden"),
            row("view_agreement", 500, "internal_error"),
            row("get_contact", 200, "ok"),
            row("sign_out", 303, "ok"),
        ] {
            assert!(shown(&act), "{act:?}");
        }
    }

    #[test]
    fn the_outcome_follows_from_status_and_code() {
        for (status, code, outcome) in [
            (200, "ok", CallOutcome::Success),
            (303, "ok", CallOutcome::Success),
            (201, "replayed", CallOutcome::Success),
            (422, "invalid_request", CallOutcome::Refused),
            (303, "unauthenticated", CallOutcome::Refused),
            (500, "internal_error", CallOutcome::Failed),
            (503, "internal_error", CallOutcome::Failed),
            (500, "unknown", CallOutcome::Failed),
        ] {
            assert_eq!(row("create_contact", status, code).outcome(), outcome, "{status} {code}");
        }
    }

    #[test]
    fn every_condition_of_a_filter_must_hold() {
        let row = row("create_contact", 422, "invalid_request");
        let all = AuditFilter {
            actor: row.caller.id,
            operations: vec!["get_contact".to_owned(), row.operation.clone()],
            object: row.objects.first().copied(),
            outcome: Some(CallOutcome::Refused),
        };
        assert!(all.fits(&row) && !all.is_empty());
        assert!(AuditFilter { object: row.caller.id, ..all.clone() }.fits(&row));
        let other = Some(Uuid::now_v7());
        for differs in [
            AuditFilter { actor: other, ..all.clone() },
            AuditFilter { operations: vec!["update_contact".to_owned()], ..all.clone() },
            AuditFilter { object: other, ..all.clone() },
            AuditFilter { outcome: Some(CallOutcome::Success), ..all.clone() },
        ] {
            assert!(!differs.fits(&row), "{differs:?}");
        }
    }
}

//! The API's view of funding.
//!
//! Decision: the schedule shows items in full, facts included, so that one call has everything. If a workspace's facts
//! exceed [`SCHEDULE_FACTS_BYTES_MAX`], the schedule leaves them out of all items, because responses are limited; each
//! item has its own.

use deserr::Deserr;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::operation::Output;
use crate::api::views::trusts::TrustView;
use crate::domain::contact::ExternalReference;
use crate::domain::funding::item::ItemLabel;
use crate::domain::funding::summary::FundingSummary;
use crate::domain::funding::{AssetKind, CloseReason, Detail, FundingItem, FundingStatus, Phase, Verb, WaitingOn};
use crate::domain::ids::{AgreementId, ContactId, FundingItemId, TrustId, WorkspaceId};
use crate::domain::time::Timestamp;
use crate::limits::SCHEDULE_FACTS_BYTES_MAX;
use crate::service::funding_items::FundingSchedule;
use crate::text;
use crate::wire::fields::FieldErrors;

/// A funding item's id in a path.
#[derive(Debug, Clone, Copy, Deserr, IntoParams)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct FundingItemPath {
    /// The funding item.
    pub item_id: FundingItemId,
}

/// One asset that has to move into a trust. Branch on `phase` and `status`: `claimed` is the owner's word, `funded` was
/// confirmed by the receiving side.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FundingItem, example = json!({
    "id": "01980a61-2c33-7d44-9e55-6f7788990a1b",
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "trust_id": "01980a60-1b22-7c33-8d44-5e66f7788990",
    "label": "Checking at First National",
    "asset_kind": "bank_account",
    "external_reference": "asset-17",
    "verb": "retitle",
    "owner_contact_ids": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"],
    "detail": {"institution": "First National", "account_last4": "4411"},
    "phase": "gathering",
    "missing_facts": ["account_type", "current_title"],
    "waiting_on": null,
    "status": "open",
    "close_reason": null,
    "claimed_at": null,
    "agreement_id": null,
    "next_step_sentence": "Add what is missing: type of account, current title.",
    "created_at": "2026-03-14T09:26:53.589Z",
    "updated_at": "2026-03-14T09:26:53.589Z",
}))]
pub struct FundingItemView {
    /// The id of the funding item.
    pub id: FundingItemId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Its trust, once that is known.
    #[schema(required = true)]
    pub trust_id: Option<TrustId>,
    /// What it is called. Searchable.
    pub label: ItemLabel,
    /// The kind of asset.
    pub asset_kind: AssetKind,
    /// Your own key for it, unique in your organization. Creating again with the same reference returns this item.
    #[schema(required = true)]
    pub external_reference: Option<ExternalReference>,
    /// What is to be done with it.
    #[schema(required = true)]
    pub verb: Option<Verb>,
    /// The contacts who own the asset.
    pub owner_contact_ids: Vec<ContactId>,
    /// Its facts. `null` only in the schedule of a workspace with more facts than a response can have.
    #[schema(required = true)]
    pub detail: Option<Detail>,
    /// Where it is on its way. It is derived.
    pub phase: Phase,
    /// What is still needed before it can be papered: `trust_id`, `owner_contact_ids`, and the names of facts.
    #[schema(value_type = Vec<String>, example = json!(["account_type"]))]
    pub missing_facts: Vec<&'static str>,
    /// For whom it waits, if it is on hold.
    #[schema(required = true)]
    pub waiting_on: Option<WaitingOn>,
    /// Whether it is open, or how it was closed.
    pub status: FundingStatus,
    /// Why it was closed as unfunded.
    #[schema(required = true)]
    pub close_reason: Option<CloseReason>,
    /// When the owner said that it is done: a claim, and no proof.
    #[schema(required = true)]
    pub claimed_at: Option<Timestamp>,
    /// The agreement that papers it, or by which it was funded.
    #[schema(required = true)]
    pub agreement_id: Option<AgreementId>,
    /// What comes next, for a person. Changes freely; do not parse.
    pub next_step_sentence: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl From<FundingItem> for FundingItemView {
    fn from(item: FundingItem) -> Self {
        let detail = Some(item.detail().clone());
        Self::with_detail(&item, detail)
    }
}

impl FundingItemView {
    fn with_detail(item: &FundingItem, detail: Option<Detail>) -> Self {
        Self {
            id: item.id(),
            workspace_id: item.workspace_id(),
            trust_id: item.trust_id(),
            label: item.label().clone(),
            asset_kind: item.asset_kind(),
            external_reference: item.external_reference().cloned(),
            verb: item.verb(),
            owner_contact_ids: item.owner_contact_ids().to_vec(),
            detail,
            phase: item.phase(),
            missing_facts: item.missing_facts(),
            waiting_on: item.hold().map(|hold| hold.waiting_on),
            status: item.funding_status(),
            close_reason: item.close_reason(),
            claimed_at: item.claim().map(|claim| claim.claimed_at),
            agreement_id: item.agreement_id(),
            next_step_sentence: text::next_step_of_item(item),
            created_at: item.created_at(),
            updated_at: item.updated_at(),
        }
    }
}

impl Output for FundingItemView {
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.id.uuid()]
    }

    fn path(&self) -> Option<String> {
        Some(format!("/api/v1/funding-items/{}", self.id))
    }
}

/// The funding of a workspace: its trusts, all of its items, and how many are where.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FundingSchedule)]
pub struct FundingScheduleView {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Its trusts, the oldest first.
    pub trusts: Vec<TrustView>,
    /// Its items, the oldest first.
    pub items: Vec<FundingItemView>,
    /// How many are where. `done` counts only what is confirmed, or was closed by a member; a claim never moves it.
    pub summary: FundingSummary,
}

impl From<FundingSchedule> for FundingScheduleView {
    fn from(schedule: FundingSchedule) -> Self {
        let bytes: usize = schedule.items.iter().map(|item| item.detail().bytes()).sum();
        let has_room = bytes <= SCHEDULE_FACTS_BYTES_MAX;
        let trusts = schedule.trusts.iter().map(|trust| TrustView::new(trust.clone(), schedule.items_of(trust.id)));
        let show = |item: &FundingItem| {
            let detail = has_room.then(|| item.detail().clone());
            FundingItemView::with_detail(item, detail)
        };
        Self {
            workspace_id: schedule.workspace_id,
            trusts: trusts.collect(),
            items: schedule.items.iter().map(show).collect(),
            summary: schedule.summary,
        }
    }
}

impl Output for FundingScheduleView {
    /// Only the workspace: the call's audit row has no room for a thousand items.
    fn objects(&self) -> Vec<uuid::Uuid> {
        vec![self.workspace_id.uuid()]
    }
}

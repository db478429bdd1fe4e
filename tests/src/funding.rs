//! Trusts and funding items over the API, and members' acts on them through use cases.

use serde_json::{Value, json};
use shared::domain::day::Day;
use shared::domain::funding::proof::{NewProof, ProofSource};
use shared::domain::ids::{FundingItemId, ProofId};
use shared::domain::member::funding::NotDone;
use shared::domain::movement::safe_text::SafeNote;
use shared::service::funding_items::{self, FundingAct};

use crate::app::Person;
use crate::org::Org;

/// The path of trusts.
pub const TRUSTS: &str = "/api/v1/trusts";
/// The path of funding items.
pub const ITEMS: &str = "/api/v1/funding-items";
/// The path for papering items.
pub const PAPER: &str = "/api/v1/funding-items/paper";

/// A workspace with a trust and its people.
#[derive(Debug, Clone)]
pub struct Estate {
    /// The workspace.
    pub workspace: Value,
    /// The trust.
    pub trust: Value,
    /// The trustee.
    pub trustee: Value,
    /// The settlor, who owns everything.
    pub settlor: Value,
}

/// An item's path.
#[must_use]
pub fn item_path(item: &Value) -> String {
    format!("{ITEMS}/{}", item["id"].as_str().unwrap_or_default())
}

/// The path of a workspace's funding.
#[must_use]
pub fn funding_path(workspace: &Value) -> String {
    format!("/api/v1/workspaces/{}/funding", workspace["id"].as_str().unwrap_or_default())
}

/// The receiving side's proof, in words.
#[must_use]
pub fn proof() -> NewProof {
    NewProof {
        id: ProofId::new(),
        source: ProofSource::InstitutionConfirmation,
        dated: Day::parse("2026-03-14").expect("a day"),
        file: None,
        note: Some(SafeNote::parse("The bank confirmed the new title by letter").expect("a note")),
    }
}

impl Org {
    /// Creates a workspace with a trust, a trustee and a settlor.
    pub async fn estate(&self, name: &str) -> Estate {
        let (workspace, trustee, settlor) =
            (self.workspace(name).await, self.person("Tova").await, self.person("Sol").await);
        let body = json!({
            "workspace_id": workspace["id"],
            "formal_name": format!("The {name} Trust"),
            "settlor_contact_ids": [settlor["id"]],
            "trustee_contact_ids": [trustee["id"]],
        });
        let trust = self.post(TRUSTS, &body).send().await.ok(201);
        Estate { workspace, trust, trustee, settlor }
    }

    /// Creates an item with only a label.
    pub async fn funding_item(&self, workspace: &Value, label: &str) -> Value {
        let body = json!({"workspace_id": workspace["id"], "label": label});
        self.post(ITEMS, &body).send().await.ok(201)
    }

    /// Creates an item that can be papered.
    pub async fn ready_item(&self, estate: &Estate, label: &str) -> Value {
        let item = self.funding_item(&estate.workspace, label).await;
        let sorted = json!({
            "verb": "assign",
            "trust_id": estate.trust["id"],
            "owner_contact_ids": [estate.settlor["id"]],
            "detail": {"description": "A painting"},
        });
        self.patch(item_path(&item), &sorted).send().await.ok(200)
    }

    /// An item's current state.
    pub async fn item(&self, item: &Value) -> Value {
        self.get(item_path(item)).send().await.ok(200)
    }

    /// Papers items, and returns the draft.
    pub async fn paper(&self, items: &[&Value]) -> Value {
        let ids: Vec<&Value> = items.iter().map(|item| &item["id"]).collect();
        self.post(PAPER, &json!({"item_ids": ids})).send().await.ok(201)
    }

    /// Runs a member's act on an item.
    pub async fn act_on_item(&self, person: &Person, item: &Value, act: FundingAct) -> Result<(), NotDone> {
        let id: FundingItemId = item["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        self.as_member(person, "close_funding_item", async |call| {
            funding_items::act(call.scope(), call.member(), id, act).await
        })
        .await
    }
}

//! One organization per test, so that tests run in parallel on one table and count only their own records.

use std::ops::Deref;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use ops::{IssuedToken, NewToken, Scope};
use serde_json::{Value, json};
use shared::domain::ids::{OrgId, TokenId};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::service::system::SystemContext;
use shared::store::Store;
use shared::store::change::Changes;
use shared::store::keys::Rows;
use shared::store::operator::Operator;

use crate::client::Client;
use crate::rows;
use crate::stack::{Needs, Stack};

/// An organization with a read-write and a read-only token; calls use the first. Clones are the same organization.
#[derive(Debug, Clone)]
pub struct Org {
    client: Client,
    stack: Arc<Stack>,
    store: Store,
    /// The organization.
    pub id: OrgId,
    /// Its name.
    pub name: String,
    /// The read-write token.
    pub token: Arc<IssuedToken>,
    /// The read-only token.
    pub read_only_token: Arc<IssuedToken>,
}

/// The name of the token for writing.
pub const TOKEN_NAME: &str = "Integration";

impl Org {
    /// A new organization on a stack without special needs.
    pub async fn new() -> Self {
        Self::with(Needs::SHARED).await
    }

    /// A new organization on a stack for a test's needs.
    pub async fn with(needs: Needs) -> Self {
        Self::on(Stack::with(needs)).await
    }

    /// A new organization on a stack, created as operators do.
    pub async fn on(stack: Arc<Stack>) -> Self {
        let store = stack.table().store();
        let name = format!("Organization {}", uuid::Uuid::now_v7());
        let id = ops::create_organization(&store, &name).await.expect("an organization");
        let token = issue(&store, id, TOKEN_NAME, Scope::ReadWrite, Timestamp::now()).await;
        let read_only_token = issue(&store, id, "Reader", Scope::Read, Timestamp::now()).await;
        let client = Client::new(&stack.base_url).with_token(&token.value);
        let (token, read_only_token) = (Arc::new(token), Arc::new(read_only_token));
        Self { client, stack, store, id, name, token, read_only_token }
    }

    /// The organization's stack.
    #[must_use]
    pub fn stack(&self) -> &Arc<Stack> {
        &self.stack
    }

    /// The organization's store, bypassing the service.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A call by the service itself, for writing records directly.
    #[must_use]
    pub fn system(&self) -> SystemContext {
        SystemContext::begin(&self.store, self.id, "fixture", TimeScale::default())
    }

    /// Writes records directly, without an audit row.
    pub async fn load(&self, changes: impl IntoIterator<Item = Changes>) {
        Operator::new(&self.store).load(changes).await.expect("the table takes the records");
    }

    /// A caller that may only read.
    #[must_use]
    pub fn read_only(&self) -> Client {
        self.client.with_token(&self.read_only_token.value)
    }

    /// This organization's caller at another stack on the same table.
    #[must_use]
    pub fn at(&self, stack: &Stack) -> Client {
        self.client.at(&stack.base_url)
    }

    /// Issues a token.
    pub async fn issue(&self, name: &str, scope: Scope, issued_at: Timestamp) -> IssuedToken {
        issue(&self.store, self.id, name, scope, issued_at).await
    }

    /// Revokes a token.
    pub async fn revoke(&self, token: TokenId) {
        ops::revoke_token(&self.store, self.id, token, Timestamp::now()).await.expect("the token is revoked");
    }

    /// A new contact with this name.
    pub async fn contact(&self, name: &str) -> Value {
        self.post("/api/v1/contacts", &json!({"display_name": name, "kind": "person"})).send().await.ok(201)
    }

    /// A new workspace with this name.
    pub async fn workspace(&self, name: &str) -> Value {
        self.post("/api/v1/workspaces", &json!({"name": name})).send().await.ok(201)
    }

    /// A new contact with this name and an email address.
    pub async fn person(&self, name: &str) -> Value {
        let email = format!("{}@example.org", name.to_lowercase());
        let person = json!({"display_name": name, "kind": "person", "email": email});
        self.post("/api/v1/contacts", &person).send().await.ok(201)
    }

    /// A new draft, as empty as the API creates it.
    pub async fn empty_draft(&self, workspace: &Value, name: &str) -> Value {
        let draft = json!({"workspace_id": workspace["id"], "name": name});
        self.post("/api/v1/agreements", &draft).send().await.ok(201)
    }

    /// The organization's events, oldest first.
    pub async fn events(&self) -> Vec<Value> {
        rows::events(self.stack.table(), self.id).await
    }

    /// The organization's due entries, as the clock finds them.
    pub async fn due(&self) -> Vec<String> {
        rows::due(self.stack.table(), self.id).await
    }

    /// The number of records in a list.
    pub async fn total(&self, path: &str) -> u64 {
        let page = self.get(path).query("limit", 1).send().await.ok(200);
        page["pagination"]["total"].as_u64().unwrap_or_else(|| panic!("no total: {page}"))
    }

    /// All records of a list, page by page.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let mut records: Vec<Value> = Vec::new();
        loop {
            let page = self.get(path).query("limit", 200).query("offset", records.len()).send().await.ok(200);
            records.extend(page["data"].as_array().expect("a page of records").iter().cloned());
            if page["pagination"]["has_more"] != true {
                assert_eq!(page["pagination"]["total"], records.len(), "the total of {path}");
                return records;
            }
        }
    }

    /// All of the organization's items except audit rows: a refused call must not change them.
    pub async fn state(&self) -> Vec<Value> {
        rows::of_organization(self.stack.table(), self.id).await
    }

    /// The organization's audit rows, oldest first.
    pub async fn audit(&self) -> Vec<Value> {
        rows::audit(self.stack.table(), self.id).await
    }

    /// Deletes the records of who knew whom and who left, as the table does when they expire.
    pub async fn a_week_passes_for_members(&self) {
        self.delete_all_under(&format!("ORG#{}#MEMBERTIES", self.id)).await;
    }

    /// Deletes what was logged for lists of a kind, as the table does when it expires. A stack that holds the rows in
    /// memory may lack the last of them.
    pub async fn a_day_passes_for_lists_of(&self, rows: Rows) {
        self.delete_all_under(&format!("ORG#{}#{rows}#LOG", self.id)).await;
    }

    /// The pointer to the stored rows of a list.
    pub async fn stored_rows(&self, kind: Rows) -> Option<Value> {
        let table = self.stack.table();
        let partition = format!("ORG#{}#{kind}#STORED", self.id);
        rows::partition(&table.client(), table, &partition).await.pop()
    }

    async fn delete_all_under(&self, partition: &str) {
        let table = self.stack.table();
        for row in rows::partition(&table.client(), table, partition).await {
            let part = |name: &str| AttributeValue::S(row[name].as_str().expect("a key").to_owned());
            let delete = table.client().delete_item().table_name(&table.name);
            delete.key("pk", part("pk")).key("sk", part("sk")).send().await.expect("it goes");
        }
    }
}

impl Deref for Org {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

async fn issue(store: &Store, org: OrgId, name: &str, scope: Scope, issued_at: Timestamp) -> IssuedToken {
    ops::create_token(store, org, NewToken { name, scope, issued_at }).await.expect("a token")
}

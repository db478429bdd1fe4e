//! An organization with a record of each kind, and a successful call of every described operation.
//!
//! Tests that walk all operations use it, and fail if a path or body names a kind of record that it lacks.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::domain::ids::AgreementId;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;

use crate::client::{Client, Request};
use crate::funding::{ITEMS, TRUSTS};
use crate::org::Org;
use crate::spec::{self, Operation};
use crate::{drafts, obligations, payments};

/// Ids of records, by their names in paths and bodies.
pub type Ids = BTreeMap<String, String>;

/// The organization, its records, and the operations.
#[derive(Debug)]
pub struct Fixture {
    /// The organization.
    pub org: Org,
    /// The records that paths and bodies name. The agreement can be proposed for publication.
    pub ids: Ids,
    with_payments: AgreementId,
    operations: Vec<Operation>,
}

impl Fixture {
    /// A new organization with the records.
    pub async fn new() -> Self {
        Self::of(Org::new().await).await
    }

    /// Adds the records to an organization.
    pub async fn of(org: Org) -> Self {
        let (contact, workspace) = (org.person("Ada").await, org.workspace("Harbor").await);
        let agreement = drafts::write(&org, drafts::ready(&workspace, "Seed", &contact)).await;
        let other = drafts::write(&org, drafts::ready(&workspace, "Side letter", &contact)).await;
        let with_payments = other.agreement.id();
        let movement = org.payment(with_payments, payments::terms(&other.agreement, "Rent", "R-1")).await;
        let other = drafts::Drafted::of(&org, &other.id()).await;
        let in_an_hour = Timestamp::now().plus_seconds(3600);
        let proposal = drafts::propose_due(&org, &other.agreement, ProposalAction::PublishAgreement, in_an_hour).await;
        let (terms, at) = (vec![obligations::monthly(-40)], obligations::days_ago(45));
        let parties = [&contact, &org.person("Ben").await];
        let (_, owed) = obligations::in_force(&org, &workspace, parties, terms, at).await;
        let estate = org.estate("Ellery").await;
        let account = json!({"workspace_id": workspace["id"], "label": "Checking", "asset_kind": "bank_account"});
        let item = org.post(ITEMS, &account).send().await.ok(201);
        let trust = json!({"workspace_id": workspace["id"], "formal_name": "The Harbor Trust"});
        let trust = org.post(TRUSTS, &trust).send().await.ok(201);
        let ready = org.ready_item(&estate, "A painting").await;
        let id = |record: &Value| record["id"].as_str().expect("an id").to_owned();
        let ids = BTreeMap::from([
            ("contact_id".to_owned(), id(&contact)),
            ("workspace_id".to_owned(), id(&workspace)),
            ("agreement_id".to_owned(), agreement.id()),
            ("obligation_id".to_owned(), owed[0].to_string()),
            ("proposal_id".to_owned(), proposal.id().to_string()),
            ("movement_id".to_owned(), movement.to_string()),
            ("trust_id".to_owned(), id(&trust)),
            ("item_id".to_owned(), id(&item)),
            // A papered item can't be sorted anymore, so this is another one.
            ("item_ids".to_owned(), id(&ready)),
        ]);
        Self { org, ids, with_payments, operations: spec::all() }
    }

    /// All operations.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    /// The operations that return pages of records.
    pub fn lists(&self) -> impl Iterator<Item = &Operation> {
        self.operations().filter(|operation| operation.is_list())
    }

    /// The operations that change something.
    pub fn writes(&self) -> impl Iterator<Item = &Operation> {
        self.operations().filter(|operation| operation.is_write())
    }

    /// The operation with this id.
    #[must_use]
    pub fn operation(&self, id: &str) -> &Operation {
        self.operations().find(|operation| operation.id == id).unwrap_or_else(|| panic!("no operation {id}"))
    }

    /// Calls an operation on the records, with a valid body.
    pub fn call(&self, operation: &Operation) -> Request {
        self.call_by(&self.org, operation)
    }

    /// The same call by another caller.
    pub fn call_by(&self, client: &Client, operation: &Operation) -> Request {
        let request = client.call(operation.method.clone(), self.path(operation));
        match self.body(operation) {
            Some(body) => request.json(&body),
            None => request,
        }
    }

    /// An operation's path with the records' ids.
    #[must_use]
    pub fn path(&self, operation: &Operation) -> String {
        path(operation, &self.ids)
    }

    /// An operation's example body with the records' ids.
    #[must_use]
    pub fn body(&self, operation: &Operation) -> Option<Value> {
        operation.example_body().map(|example| with_ids(&example, &self.ids))
    }

    /// Adds a record by posting to the list's path, or directly for payments (ledger rows) and obligations.
    pub async fn add_to(&self, list: &Operation) -> Value {
        if list.id == "list_obligations" {
            let record = |name: &str| json!({"id": self.ids[name]});
            let (contact, terms) = (record("contact_id"), vec![obligations::standing(90)]);
            let parties = [&contact, &self.org.contact("Cleo").await];
            let (workspace, now) = (record("workspace_id"), Timestamp::now());
            let (_, owed) = obligations::in_force(&self.org, &workspace, parties, terms, now).await;
            return self.org.get(format!("/api/v1/obligations/{}", owed[0])).send().await.ok(200);
        }
        if ["list_movements", "list_ledger"].contains(&list.id.as_str()) {
            let id = self.org.payment(self.with_payments, PaymentTerms::default()).await;
            return self.org.get(format!("/api/v1/movements/{id}")).send().await.ok(200);
        }
        let create = self.writes().find(|operation| operation.path == list.path && operation.method == "POST");
        let create = create.unwrap_or_else(|| panic!("{} has no operation that adds to it", list.id));
        let mut body = self.body(create).expect("a body");
        // A repeated reference finds the same record, and only one proposal may be pending.
        match create.id.as_str() {
            "create_contact" | "create_trust" | "create_funding_item" => body["external_reference"] = Value::Null,
            "create_proposal" => {
                let record = |name: &str| json!({"id": self.ids[name]});
                let draft = drafts::ready(&record("workspace_id"), "Lease", &record("contact_id"));
                body["agreement_id"] = json!(drafts::write(&self.org, draft).await.id());
            }
            _ => {}
        }
        self.org.post(&create.path, &body).send().await.ok(201)
    }
}

/// An operation's path with some records' ids.
#[must_use]
pub fn path(operation: &Operation, ids: &Ids) -> String {
    let path = ids.iter().fold(operation.path.clone(), |path, (name, id)| path.replace(&format!("{{{name}}}"), id));
    assert!(!path.contains('{'), "a kind of record that the fixture has none of: {path}");
    path
}

/// Replaces the ids in a body.
#[must_use]
pub fn with_ids(body: &Value, ids: &Ids) -> Value {
    let member = |(name, value): (&String, &Value)| {
        let of_list = if name.ends_with("contact_ids") { ids.get("contact_id") } else { ids.get(name) };
        let value = match ids.get(name) {
            _ if value.is_array() && of_list.is_some() => json!([of_list]),
            Some(id) => json!(id),
            None if name.ends_with("_id") => panic!("a kind of record that the fixture has none of: {name} in {body}"),
            None => with_ids(value, ids),
        };
        (name.clone(), value)
    };
    match body {
        Value::Object(members) => Value::Object(members.iter().map(member).collect()),
        Value::Array(values) => values.iter().map(|value| with_ids(value, ids)).collect(),
        other => other.clone(),
    }
}

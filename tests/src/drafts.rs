//! Agreements as members set them up in the app, written directly to the store: the API only begins a draft.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use serde_json::{Value, json};
use shared::domain::actor::Actor;
use shared::domain::agreement::gate::{GateRule, GateState};
use shared::domain::agreement::{
    Agreement, AgreementKind, AgreementName, Label, Life, NewAgreement, NewParticipant, ParticipantRole, Roles,
};
use shared::domain::ids::{AgreementId, ContactId, ProposalId, RequestId};
use shared::domain::proposal::{NewProposal, Proposal, ProposalAction, propose};
use shared::domain::shards::AuditShards;
use shared::domain::time::Timestamp;
use shared::domain::workspace::{NewWorkspace, PeopledWorkspace, Workspace, WorkspaceName, WorkspaceNumber};
use shared::store::due::DueEntry;
use shared::store::keys::{self, Due, Key};
use shared::store::operator::Operator;
use shared::store::{agreements, proposals, workspaces};
use shared::wire::input::OrDefault;

use crate::org::Org;
use crate::outbox;
use crate::rows;

/// An agreement written by a test.
#[derive(Debug, Clone)]
pub struct Drafted {
    /// The agreement.
    pub agreement: Agreement,
}

impl Drafted {
    /// Reads an agreement from the table.
    pub async fn of(org: &Org, id: &str) -> Self {
        let table = org.stack().table();
        let key = keys::agreement(org.id, id.parse().expect("an id")).into_item();
        let get = table.client().get_item().table_name(&table.name).set_key(Some(key)).consistent_read(true);
        let item = get.send().await.expect("the table answers").item.expect("an agreement");
        Self { agreement: serde_dynamo::from_item(item).expect("an agreement") }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> String {
        self.agreement.id().to_string()
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/api/v1/agreements/{}", self.agreement.id())
    }

    /// The body of a proposal to publish it.
    #[must_use]
    pub fn publication(&self) -> Value {
        json!({"action": "publish_agreement", "agreement_id": self.id()})
    }

    /// Changes the draft.
    pub async fn change(&mut self, org: &Org, change: impl FnOnce(&mut Agreement)) {
        change(&mut self.agreement);
        org.edit(&self.agreement).await;
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("a label")
}

/// A draft as the API creates it.
#[must_use]
pub fn empty(workspace: &Value, name: &str) -> Agreement {
    let new = NewAgreement {
        workspace_id: workspace["id"].as_str().expect("an id").parse().expect("an id"),
        name: AgreementName::parse(name).expect("a name"),
        kind: OrDefault(AgreementKind::General),
    };
    Agreement::draft(new, Actor::system(), Timestamp::now())
}

/// A draft that lacks only the workspace's activation: a contact approves in its one step.
#[must_use]
pub fn ready(workspace: &Value, name: &str, contact: &Value) -> Agreement {
    let now = Timestamp::now();
    let contact_id: ContactId = contact["id"].as_str().expect("an id").parse().expect("an id");
    let participant = NewParticipant { contact_id, roles: Roles(BTreeSet::from([ParticipantRole::Approver])) };
    let added = empty(workspace, name).add_participant(participant, now).expect("a participant");
    let (draft, stage) = added.agreement.add_stage(label("Approval"), BTreeSet::new(), now).expect("a stage");
    let rule = GateRule::ParticipantApproval { participant_ids: BTreeSet::from([added.participant.id]) };
    draft.add_gate(stage, rule, now).expect("a gate").0
}

/// Writes an agreement in any state directly to the store.
pub async fn write(org: &Org, agreement: Agreement) -> Drafted {
    let draft = with_life(&agreement, Life::Draft).as_draft().expect("a draft");
    org.load([agreements::create(org.system().call(), &draft).expect("an agreement")]).await;
    if agreement.life() != Life::Draft {
        let life = serde_dynamo::to_attribute_value(agreement.life()).expect("a state");
        set(org, &format!("ORG#{}#AGREEMENT#{}", org.id, agreement.id()), ".", "life", life).await;
        let state = AttributeValue::S(agreement.lifecycle().as_str().to_owned());
        set(org, &format!("ORG#{}#AGREEMENTS", org.id), &agreement.id().to_string(), "l", state).await;
    }
    Drafted { agreement }
}

/// Writes a workspace with these people directly, to save many calls, and returns its id as the API does.
pub async fn crowded(org: &Org, name: &str, people: impl IntoIterator<Item = &str>) -> Value {
    let name = WorkspaceName::parse(name).expect("a name");
    let workspace = Workspace::create(NewWorkspace { name }, WorkspaceNumber(1), Timestamp::now());
    let people = people.into_iter().map(|id| id.parse().expect("an id")).collect();
    let workspace = PeopledWorkspace::new(workspace, people);
    org.load(workspaces::create(org.system().call(), &workspace).expect("a workspace")).await;
    json!({"id": workspace.id()})
}

async fn set(org: &Org, partition: &str, sort: &str, name: &str, value: AttributeValue) {
    set_at(org, Key::from_parts(partition, sort), name, value).await;
}

async fn set_at(org: &Org, key: Key, name: &str, value: AttributeValue) {
    let table = org.stack().table();
    let update = table.client().update_item().table_name(&table.name);
    let update = update
        .set_key(Some(key.into_item()))
        .update_expression("SET #name = :value")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_names("#name", name)
        .expression_attribute_values(":value", value);
    update.send().await.expect("the table takes it");
}

/// A draft in a new workspace that can be proposed for publication.
pub async fn written(org: &Org, name: &str) -> Drafted {
    let workspace = org.workspace(&format!("Workspace of {name}")).await;
    let contact = org.person("Ada").await;
    write(org, ready(&workspace, name, &contact)).await
}

/// An agreement in another state without anyone's decision. No constructor makes one, so it is read from JSON.
#[must_use]
pub fn with_life(agreement: &Agreement, life: Life) -> Agreement {
    let mut json = serde_json::to_value(agreement).expect("JSON");
    json["life"] = serde_json::to_value(life).expect("JSON");
    serde_json::from_value(json).expect("an agreement")
}

/// Makes an agreement active without anyone's decision.
#[must_use]
pub fn active(agreement: &Agreement) -> Agreement {
    with_life(agreement, Life::Active { published_at: Timestamp::now() })
}

/// Writes a proposal with this expiry, without a due entry.
pub async fn propose_until(
    org: &Org,
    agreement: &Agreement,
    action: ProposalAction,
    expires_at: Timestamp,
) -> Proposal {
    let proposal = propose_due(org, agreement, action, expires_at).await;
    let (table, due) = (org.stack().table(), keys::due(expires_at, Due::Proposal, org.id, proposal.id().uuid()));
    let delete = table.client().delete_item().table_name(&table.name).set_key(Some(due.into_item()));
    delete.send().await.expect("the table takes it");
    proposal
}

/// Writes a proposal with this expiry and a due entry.
pub async fn propose_due(org: &Org, agreement: &Agreement, action: ProposalAction, expires_at: Timestamp) -> Proposal {
    let system = org.system();
    let new = NewProposal { action, agreement_id: agreement.id(), note: None };
    let made = propose(new, agreement, &[], &[], Actor::system(), system.moment(), expires_at).expect("a proposal");
    org.load([proposals::create(system.call(), &made).expect("a proposal")]).await;
    made.into_proposal()
}

/// Moves a pending proposal's expiry to now, wherever it is stored, and returns it.
pub async fn expire_proposal(org: &Org, proposal: &Value) -> Timestamp {
    let text = |name: &str| proposal[name].as_str().expect("a text");
    let id: ProposalId = text("id").parse().expect("an id");
    let agreement: AgreementId = text("agreement_id").parse().expect("an id");
    let action = match text("action") {
        "publish_agreement" => ProposalAction::PublishAgreement,
        _ => ProposalAction::CancelAgreement,
    };
    let (before, now): (Timestamp, _) = (text("expires_at").parse().expect("a moment"), Timestamp::now());
    let number = |number: i64| AttributeValue::N(number.to_string());
    set_at(org, keys::proposal(org.id, id), "expires_at", AttributeValue::S(now.to_string())).await;
    // As if an older release had written it: migrating it writes its row, and tells the lists in memory.
    set_at(org, keys::proposal(org.id, id), "sv", number(0)).await;
    let mut behind = None;
    loop {
        let page = Operator::new(org.store()).migrate_page(behind.as_ref(), 1_000, false).await.expect("a migration");
        behind = page.1;
        if behind.is_none() {
            break;
        }
    }
    set_at(org, keys::pending(org.id, agreement, action), "until", number(now.unix_ms())).await;
    move_due(org, Due::Proposal, id.uuid(), [before, now]).await;
    now
}

/// A moment that an agreement waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coming {
    /// The end of running countdowns.
    Countdown,
    /// Its expiry, also of a draft.
    Expiry,
}

/// Moves a moment that an agreement waits for to now, wherever it is stored.
pub async fn make_due(org: &Org, id: &str, coming: Coming) {
    let (mut agreement, now) = (Drafted::of(org, id).await.agreement, Timestamp::now());
    let was_due = agreement.next_due();
    let (name, value) = match coming {
        Coming::Countdown => {
            for gate in agreement.stages.iter_mut().flat_map(|stage| &mut stage.gates) {
                if let GateState::Open { due_at: Some(due_at), .. } = &mut gate.state {
                    *due_at = now;
                }
            }
            ("stages", serde_dynamo::to_attribute_value(&agreement.stages))
        }
        Coming::Expiry => {
            agreement.expires_at = Some(now);
            ("expires_at", serde_dynamo::to_attribute_value(now))
        }
    };
    set_at(org, keys::agreement(org.id, agreement.id()), name, value.expect("an attribute")).await;
    if let (Some(before), Some(after)) = (was_due, agreement.next_due()) {
        move_due(org, Due::Agreement, agreement.id().uuid(), [before, after]).await;
    }
}

/// Changes an agreement's participants and documents in any state; the service allows that only in drafts.
pub async fn put_parts(org: &Org, id: AgreementId, change: impl FnOnce(&mut Agreement)) {
    let mut agreement = Drafted::of(org, &id.to_string()).await.agreement;
    change(&mut agreement);
    let parts = [
        ("participants", serde_dynamo::to_attribute_value(&agreement.participants)),
        ("documents", serde_dynamo::to_attribute_value(&agreement.documents)),
    ];
    for (name, value) in parts {
        set_at(org, keys::agreement(org.id, id), name, value.expect("an attribute")).await;
    }
}

/// Copies the newest act of an agreement's history `count` times, each with its audit row.
pub async fn add_acts(org: &Org, id: AgreementId, count: usize) {
    let (table, partition) = (org.stack().table(), format!("ORG#{}#AGREEMENT#{id}", org.id));
    let newest = table.client().query().table_name(&table.name);
    let newest = newest
        .key_condition_expression("pk = :pk AND begins_with(sk, :act)")
        .expression_attribute_values(":pk", AttributeValue::S(partition))
        .expression_attribute_values(":act", AttributeValue::S("ACT#".to_owned()))
        .limit(1);
    let newest = newest.send().await.expect("the table answers").items().first().cloned().expect("an act");
    let call = newest["sk"].as_s().ok().and_then(|sort| sort.strip_prefix("ACT#")?.parse::<uuid::Uuid>().ok());
    let call = call.expect("its key");
    let (pk, sk) = (format!("ORG#{}#AUDIT#1", org.id), uuid::Uuid::from_u128(!call.as_u128()).to_string());
    let row = table.client().get_item().table_name(&table.name);
    let row = row.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk)).send().await;
    let row = row.expect("the table answers").item.expect("the audit row of the act");
    let copy = |_| {
        let call = RequestId::in_any_of(AuditShards::FEWEST).uuid();
        let of = |item: &HashMap<String, AttributeValue>, sort: String| {
            let mut item = item.clone();
            item.insert("sk".to_owned(), AttributeValue::S(sort));
            item
        };
        // The newest call sorts first.
        [of(&newest, format!("ACT#{}", uuid::Uuid::from_u128(!call.as_u128()))), of(&row, call.to_string())]
    };
    outbox::put(org, (0..count).flat_map(copy)).await;
}

/// Sets an agreement's life directly.
pub async fn put_life(org: &Org, id: AgreementId, life: Life) {
    let life = serde_dynamo::to_attribute_value(life).expect("an attribute");
    set_at(org, keys::agreement(org.id, id), "life", life).await;
}

/// Makes all of an organization's uploads due now.
pub async fn make_uploads_due(org: &Org) {
    let (table, now) = (org.stack().table(), Timestamp::now());
    for item in rows::due_items(table, org.id, Due::Upload).await {
        let entry = Key::of(&item).and_then(DueEntry::of).expect("an entry of the due index");
        let mut moved = item.clone();
        keys::due(now, Due::Upload, org.id, entry.id).insert_into(&mut moved);
        table
            .client()
            .put_item()
            .table_name(&table.name)
            .set_item(Some(moved))
            .send()
            .await
            .expect("the table takes it");
        let key = Key::of(&item).expect("a key").into_item();
        table
            .client()
            .delete_item()
            .table_name(&table.name)
            .set_key(Some(key))
            .send()
            .await
            .expect("the table takes it");
    }
}

async fn move_due(org: &Org, what: Due, id: uuid::Uuid, [before, after]: [Timestamp; 2]) {
    let (table, due) = (org.stack().table(), |at| keys::due(at, what, org.id, id).into_item());
    let delete = table.client().delete_item().table_name(&table.name).set_key(Some(due(before)));
    let deleted = delete.return_values(ReturnValue::AllOld).send().await.expect("the table takes it");
    assert!(deleted.attributes.is_some(), "the clock knew of it");
    let put = table.client().put_item().table_name(&table.name).set_item(Some(due(after)));
    put.send().await.expect("the table takes it");
}

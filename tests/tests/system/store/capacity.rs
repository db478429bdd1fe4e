//! Each operation's cost in capacity units and round trips: golden in `tests/golden/capacity.json`, with arithmetic, to
//! review each change of the bill. `UPDATE_GOLDEN=1` rewrites the figures; a person fixes the arithmetic.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use shared::domain::agreement::Label;
use shared::domain::agreement::gate::GateRule;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::store::keys::Rows;
use tests::client::Request;
use tests::funding::{ITEMS, PAPER, TRUSTS, funding_path, item_path};
use tests::{Client, Faults, Org, Stack, log, obligations, payments, spec};

use crate::unknown_id;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";
const AGREEMENTS: &str = "/api/v1/agreements";
const PROPOSALS: &str = "/api/v1/proposals";
const MOVEMENTS: &str = "/api/v1/movements";
const OBLIGATIONS: &str = "/api/v1/obligations";
const LEDGER: &str = "/api/v1/ledger";

pub(crate) const FIGURES: [&str; 3] = ["read_units", "write_units", "round_trips"];

struct Meter<'a> {
    faults: &'a Faults,
    stack: &'a Stack,
    clients: [Client; 2],
    used_in: Option<Timestamp>,
    figures: Map<String, Value>,
}

impl Meter<'_> {
    async fn measure(&mut self, case: &str, status: u16, request: Request) -> Value {
        self.record_use().await;
        drop(self.faults.take_traffic());
        let answer = request.send().await;
        assert_eq!(answer.status, status, "{case}: {answer}");
        let line = log::line(self.stack.log_file(), &answer.request_id()).await;
        let traffic = self.faults.take_traffic();
        let figures = json!({
            "read_units": traffic.read_units,
            "write_units": traffic.write_units,
            "round_trips": traffic.round_trips(),
        });
        for figure in FIGURES {
            assert_eq!(line[figure].as_f64(), figures[figure].as_f64(), "{figure} of {case} in the log");
        }
        assert!(self.figures.insert(case.to_owned(), figures).is_none(), "{case} twice");
        answer.json()
    }
}

impl Meter<'_> {
    /// A token's first call in an hour records its use: 1 write unit and 1 round trip more. So all tokens are used now.
    async fn record_use(&mut self) {
        let hour = Timestamp::now().start_of_hour();
        if self.used_in != Some(hour) {
            drop(self.faults.take_traffic());
            for (client, first) in self.clients.iter().zip([true, false]) {
                client.get("/api/v1/me").send().await.ok(200);
                if first {
                    let first_use = self.faults.take_traffic();
                    assert_eq!((first_use.write_units, first_use.round_trips()), (2.0, 4), "once an hour");
                }
            }
            self.used_in = Some(hour);
        }
    }
}

const OTHER_CASES: [(&str, &str); 5] = [
    ("refused input", "costs the same at every operation: nothing is read but the token"),
    ("refused scope", "costs the same at every operation: nothing is read but the token"),
    ("no such route", "is of no operation"),
    ("no token", "costs the same at every operation: nothing is read"),
    ("description", "is the description itself, which reads nothing"),
];

fn assert_complete(figures: &Map<String, Value>) {
    let operations: BTreeSet<String> = spec::all().into_iter().map(|operation| operation.id).collect();
    let cases = figures.keys().map(|case| case.split(':').next().unwrap_or(case));
    let measured: BTreeSet<String> =
        cases.filter(|case| OTHER_CASES.iter().all(|(other, _)| other != case)).map(str::to_owned).collect();
    assert_eq!(measured, operations, "measured, and described");
}

fn golden_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

fn id(record: &Value) -> String {
    record["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn every_operation_costs_what_it_should() {
    let org = Org::new().await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    let clients = [client.clone(), client.with_token(&org.read_only_token.value)];
    let mut meter = Meter { faults: &faults, stack: &stack, clients, used_in: None, figures: Map::new() };
    measure_all(&mut meter, &org, &client).await;
    // Of instances that hold no rows yet.
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    let clients = [client.clone(), client.with_token(&org.read_only_token.value)];
    let mut meter = Meter { stack: &stack, clients, ..meter };
    measure_many_contacts(&mut meter, &org, &client).await;
    assert_complete(&meter.figures);
    // Stores differ in the reported cost of a transaction. The number of calls is the service's.
    let is_embedded = std::env::var_os(tests::stack::DYNAMODB).is_none();
    compare("capacity.json", &meter.figures, if is_embedded { &FIGURES } else { &["round_trips"] });
}

/// The first ledger of an instance takes the units of any other list's rows (goals, P3), and each later one those of what
/// was written since. `make bench` has one of 10,000 rows.
#[tokio::test]
async fn a_long_ledger_costs_no_more_than_other_lists() {
    const ROWS: u32 = 2_000;
    const PAGE: u32 = 50;
    let org = Org::new().await;
    let draft = org.ready_draft("Harbor purchase", |_| ()).await;
    let payment = org.payment(draft.id(), payments::terms(&draft, "Rent", "R-1")).await;
    tests::ledger::copy_payment(&org, payment, ROWS as usize - 2).await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    client.get("/api/v1/me").send().await.ok(200);
    let of_rows = f64::from((160 * ROWS).div_ceil(4096));
    let beside = f64::from(2 + 2 + PAGE + 1 + 2);
    let mut is_first = true;
    for (query, total) in [
        (&[][..], ROWS),
        (&[("offset", "1950")], ROWS),
        (&[("include_done", "false"), ("product", "agreement")], ROWS),
        (&[("search", "rent")], ROWS - 1),
        (&[("search", "zx")], 0),
    ] {
        let call = || query.iter().fold(client.get(LEDGER), |call, (name, value)| call.query(name, value));
        drop(faults.take_traffic());
        let page = call().query("limit", PAGE).send().await.ok(200);
        let units = faults.take_traffic().read_units;
        assert_eq!(page["pagination"]["total"], total, "{query:?}");
        let logs = 4.0;
        let expected = if is_first { of_rows / 2.0..=of_rows + beside } else { logs..=logs + beside };
        assert!(expected.contains(&units), "{query:?}: {units} of {of_rows} and {beside}");
        is_first = false;
    }
}

async fn measure_all(meter: &mut Meter<'_>, org: &Org, client: &Client) {
    let full = json!({
        "display_name": "Ada Okafor",
        "kind": "person",
        "email": "ada@okafor.example",
        "external_reference": "crm-4711",
    });
    let plain = json!({"display_name": "Ben Lindqvist", "kind": "person"});

    meter.measure("get_identity", 200, client.get("/api/v1/me")).await;
    meter.measure("list_contacts: none", 200, client.get(CONTACTS)).await;
    let ben = id(&meter.measure("create_contact", 201, client.post(CONTACTS, &plain)).await);
    let ben_path = format!("{CONTACTS}/{ben}");
    let keyed = client.post(CONTACTS, &plain).key("a key");
    meter.measure("create_contact: with a key", 201, keyed.clone()).await;
    meter.measure("create_contact: replayed", 201, keyed).await;
    let other = json!({"display_name": "Eve", "kind": "person"});
    meter.measure("create_contact: key reused", 409, client.post(CONTACTS, &other).key("a key")).await;
    let with_both = client.post(CONTACTS, &full).key("another key");
    meter.measure("create_contact: with a reference and a key", 201, with_both).await;
    meter.measure("create_contact: reference known", 200, client.post(CONTACTS, &full)).await;
    meter.measure("get_contact", 200, client.get(&ben_path)).await;
    meter.measure("get_contact: unknown", 404, client.get(format!("{CONTACTS}/{}", unknown_id()))).await;
    meter.measure("update_contact", 200, client.patch(&ben_path, &json!({"kind": "llc"}))).await;
    meter.measure("update_contact: no change", 200, client.patch(&ben_path, &json!({"kind": "llc"}))).await;
    let first_reference = json!({"external_reference": "crm-1"});
    meter.measure("update_contact: first reference", 200, client.patch(&ben_path, &first_reference)).await;
    let next_reference = json!({"external_reference": "crm-2"});
    meter.measure("update_contact: another reference", 200, client.patch(&ben_path, &next_reference)).await;
    let taken = json!({"external_reference": "crm-4711"});
    meter.measure("update_contact: reference taken", 422, client.patch(&ben_path, &taken)).await;
    let stale = client.patch(&ben_path, &plain).if_match("\"0\"");
    meter.measure("update_contact: stale If-Match", 409, stale).await;

    let harbor = id(&meter.measure("create_workspace", 201, client.post(WORKSPACES, &json!({"name": "Harbor"}))).await);
    let people = format!("{WORKSPACES}/{harbor}/contacts");
    let harbor = format!("{WORKSPACES}/{harbor}");
    meter.measure("get_workspace: empty", 200, client.get(&harbor)).await;
    let add = json!({"contact_id": ben});
    meter.measure("add_workspace_contact", 201, client.post(&people, &add)).await;
    meter.measure("add_workspace_contact: again", 201, client.post(&people, &add)).await;
    let nobody = json!({"contact_id": unknown_id()});
    meter.measure("add_workspace_contact: unknown contact", 404, client.post(&people, &nobody)).await;
    meter.measure("get_workspace: one person", 200, client.get(&harbor)).await;
    meter.measure("list_workspaces: one with one person", 200, client.get(WORKSPACES)).await;

    measure_agreements(meter, org, client, &ben).await;

    measure_movements(meter, org, client).await;
    measure_trusts(meter, org, client).await;
    measure_funding(meter, org, client).await;

    meter.measure("refused input", 422, client.get(CONTACTS).query("limit", 0)).await;
    meter.measure("refused scope", 403, client.with_token(&org.read_only_token.value).post(CONTACTS, &plain)).await;
    meter.measure("no such route", 404, client.get("/api/v1/nowhere")).await;
    meter.measure("no token", 401, client.anonymous().get("/api/v1/me")).await;
    meter.measure("description", 200, client.get("/openapi.json")).await;
}

/// Of some 260 contacts, long after they were made.
async fn measure_many_contacts(meter: &mut Meter<'_>, org: &Org, client: &Client) {
    for n in 0..250 {
        let body = json!({"display_name": format!("Contact number {n:03}"), "kind": "person", "email": format!("contact-{n:03}@example.org")});
        org.post(CONTACTS, &body).send().await.ok(201);
    }
    org.a_day_passes_for_lists_of(Rows::Contacts).await;
    let list = || client.get(CONTACTS);
    let by_reference = |reference| list().query("external_reference", reference);
    meter.measure("list_contacts: by reference, of many", 200, by_reference("crm-4711")).await;
    meter.measure("list_contacts: by a reference that none of many has", 200, by_reference("crm-0")).await;
    meter.measure("list_contacts: 50 of many, the first of an instance", 200, list()).await;
    meter.measure("list_contacts: 50 of many", 200, list()).await;
    meter.measure("list_contacts: 200 of many", 200, list().query("limit", 200)).await;
    meter.measure("list_contacts: search finds 10 of many", 200, list().query("search", "number 12")).await;
    meter.measure("list_contacts: search finds none of many", 200, list().query("search", "zzz")).await;
}

async fn measure_agreements(meter: &mut Meter<'_>, org: &Org, client: &Client, ben: &str) {
    let workspace = org.workspace("Pine").await;
    let ada = org.person("Ada").await;
    let draft = json!({"workspace_id": workspace["id"], "name": "Seed round"});
    let empty = id(&meter.measure("create_agreement", 201, client.post(AGREEMENTS, &draft)).await);
    let empty = format!("{AGREEMENTS}/{empty}");
    meter.measure("get_agreement: an empty draft", 200, client.get(&empty)).await;
    let part = json!({"contact_id": ada["id"], "roles": ["signer"]});
    let to = format!("{empty}/participants");
    meter.measure("add_agreement_participant", 201, client.post(&to, &part)).await;
    meter.measure("add_agreement_participant: no change", 200, client.post(&to, &part)).await;
    let merged = json!({"contact_id": ada["id"], "roles": ["funder"]});
    meter.measure("add_agreement_participant: roles merged", 200, client.post(&to, &merged)).await;
    meter.measure("get_agreement: a draft of one", 200, client.get(&empty)).await;
    meter.measure("list_information: no answers", 200, client.get(format!("{empty}/information"))).await;
    meter.measure("list_agreements: one draft", 200, client.get(AGREEMENTS)).await;

    let refused = json!({"action": "publish_agreement", "agreement_id": empty.rsplit('/').next()});
    meter.measure("create_proposal: blockers", 422, client.post(PROPOSALS, &refused)).await;
    let ready = tests::drafts::write(org, tests::drafts::ready(&workspace, "Ready", &ada)).await;
    meter.measure("list_agreements: two drafts, one of them ready", 200, client.get(AGREEMENTS)).await;
    let proposal = id(&meter.measure("create_proposal", 201, client.post(PROPOSALS, &ready.publication())).await);
    meter.measure("create_proposal: one is pending", 422, client.post(PROPOSALS, &ready.publication())).await;
    meter.measure("get_proposal", 200, client.get(format!("{PROPOSALS}/{proposal}"))).await;
    meter.measure("list_proposals: one", 200, client.get(PROPOSALS)).await;
    let cancel = json!({"action": "cancel_agreement", "agreement_id": ready.id()});
    meter.measure("create_proposal: of a cancellation", 201, client.post(PROPOSALS, &cancel)).await;
    let other = tests::drafts::write(org, tests::drafts::ready(&workspace, "Other", &ada)).await;
    let over = Timestamp::from_unix_ms(Timestamp::now().unix_ms() - 1).expect("a moment");
    tests::drafts::propose_until(org, &other.agreement, ProposalAction::PublishAgreement, over).await;
    meter.measure("create_proposal: one has expired", 201, client.post(PROPOSALS, &other.publication())).await;
    let mut large = tests::drafts::ready(&workspace, "Large", &ada);
    for n in 1..limits::AGREEMENT_STAGES_MAX {
        let name = Label::parse(&format!("{n:0>200}")).expect("a label");
        let (draft, stage) = large.add_stage(name, BTreeSet::new(), Timestamp::now()).expect("a stage");
        let participants = draft.participants.iter().map(|participant| participant.id);
        let rule = GateRule::ParticipantApproval { participant_ids: participants.collect() };
        large = draft.add_gate(stage, rule, Timestamp::now()).expect("a gate").0;
    }
    let large = tests::drafts::write(org, large).await;
    let proposal = client.post(PROPOSALS, &large.publication());
    let proposal = id(&meter.measure("create_proposal: of a large agreement", 201, proposal).await);
    meter.measure("get_proposal: of a large agreement", 200, client.get(format!("{PROPOSALS}/{proposal}"))).await;
    let of_large = client.get(PROPOSALS).query("agreement_id", large.id());
    meter.measure("list_proposals: one of a large agreement", 200, of_large).await;
    let part = json!({"contact_id": ben, "roles": ["signer"]});
    let live = tests::drafts::ready(&workspace, "Live", &ada);
    let live = tests::drafts::write(org, tests::drafts::active(&live)).await;
    let to = format!("{}/participants", live.path());
    meter.measure("add_agreement_participant: no draft", 422, client.post(to, &part)).await;

    meter.measure("list_obligations: none", 200, client.get(OBLIGATIONS)).await;
    meter
        .measure("list_ledger: none in a workspace", 200, client.get(LEDGER).query("workspace_id", unknown_id()))
        .await;
    let ben_record = json!({"id": ben});
    let (terms, at) = (vec![obligations::on(&[10])], obligations::days_ago(1));
    let (_, owed) = obligations::in_force(org, &workspace, [&ada, &ben_record], terms, at).await;
    meter.measure("list_obligations: one", 200, client.get(OBLIGATIONS)).await;
    meter.measure("get_obligation", 200, client.get(format!("{OBLIGATIONS}/{}", owed[0]))).await;
}

async fn measure_movements(meter: &mut Meter<'_>, org: &Org, client: &Client) {
    meter.measure("list_movements: none", 200, client.get(MOVEMENTS)).await;
    let (workspace, ada) = (org.workspace("Elm").await, org.person("Ada").await);
    let draft = tests::drafts::write(org, tests::drafts::ready(&workspace, "Paid", &ada)).await;
    let terms = |purpose: &str| payments::terms(&draft.agreement, purpose, "R-1");
    let without_day = PaymentTerms { due_on: None, ..terms("Deposit") };
    let deposit = org.payment(draft.agreement.id(), without_day).await;
    meter.measure("get_movement: without a due day", 200, client.get(format!("{MOVEMENTS}/{deposit}"))).await;
    let balance = org.payment(draft.agreement.id(), terms("Balance")).await;
    meter.measure("get_movement", 200, client.get(format!("{MOVEMENTS}/{balance}"))).await;
    meter.measure("get_movement: unknown", 404, client.get(format!("{MOVEMENTS}/{}", unknown_id()))).await;
    meter.measure("list_movements: two of one agreement", 200, client.get(MOVEMENTS)).await;
    meter.measure("list_movements: search finds one", 200, client.get(MOVEMENTS).query("search", "balance")).await;
    meter.measure("get_agreement: a draft with two payments", 200, client.get(draft.path())).await;
    let of_elm = || client.get(LEDGER).query("workspace_id", draft.agreement.workspace_id);
    meter.measure("list_ledger: a draft with two payments", 200, of_elm()).await;
    meter.measure("list_ledger: search finds one payment", 200, of_elm().query("search", "balance")).await;
    meter.measure("list_ledger: of a product that it has none of", 200, of_elm().query("product", "safe")).await;
}

async fn measure_trusts(meter: &mut Meter<'_>, org: &Org, client: &Client) {
    meter.measure("list_trusts: none", 200, client.get(TRUSTS)).await;
    let (workspace, ada) = (org.workspace("Birch").await, org.person("Ada").await);
    let plain = json!({"workspace_id": workspace["id"], "formal_name": "The Birch Trust"});
    meter.measure("create_trust", 201, client.post(TRUSTS, &plain)).await;
    let mut full = plain.clone();
    full["trustee_contact_ids"] = json!([ada["id"]]);
    full["external_reference"] = json!("trust-1");
    meter.measure("create_trust: with a reference and a trustee", 201, client.post(TRUSTS, &full)).await;
    meter.measure("create_trust: reference known", 200, client.post(TRUSTS, &full)).await;
    full["formal_name"] = json!("The Birch Family Trust");
    meter.measure("create_trust: another name", 200, client.post(TRUSTS, &full)).await;
    meter.measure("list_trusts: two of one workspace", 200, client.get(TRUSTS)).await;
    let by_reference = client.get(TRUSTS).query("external_reference", "trust-1");
    meter.measure("list_trusts: by reference", 200, by_reference).await;
}

async fn measure_funding(meter: &mut Meter<'_>, org: &Org, client: &Client) {
    meter.measure("list_funding_items: none", 200, client.get(ITEMS)).await;
    let estate = org.estate("Rowan").await;
    let workspace = &estate.workspace;
    meter.measure("get_funding_schedule: one trust, no items", 200, client.get(funding_path(workspace))).await;
    let plain = json!({"workspace_id": workspace["id"], "label": "Checking"});
    let item = meter.measure("create_funding_item", 201, client.post(ITEMS, &plain)).await;
    let full = json!({
        "workspace_id": workspace["id"],
        "trust_id": estate.trust["id"],
        "label": "Savings",
        "asset_kind": "bank_account",
        "external_reference": "asset-1",
    });
    meter.measure("create_funding_item: with a reference and a trust", 201, client.post(ITEMS, &full)).await;
    meter.measure("create_funding_item: reference known", 200, client.post(ITEMS, &full)).await;
    let path = item_path(&item);
    meter.measure("get_funding_item", 200, client.get(&path)).await;
    meter.measure("get_funding_item: unknown", 404, client.get(format!("{ITEMS}/{}", unknown_id()))).await;
    let sort = json!({
        "verb": "assign",
        "trust_id": estate.trust["id"],
        "owner_contact_ids": [estate.settlor["id"]],
        "detail": {"description": "A painting"},
    });
    meter.measure("update_funding_item", 200, client.patch(&path, &sort)).await;
    meter.measure("update_funding_item: no change", 200, client.patch(&path, &json!({"verb": "assign"}))).await;
    let facts = json!({"detail": {"description": "Two paintings"}});
    meter.measure("update_funding_item: facts", 200, client.patch(&path, &facts)).await;
    let stale = client.patch(&path, &facts).if_match("\"0\"");
    meter.measure("update_funding_item: stale If-Match", 409, stale).await;
    let park = format!("{path}/park");
    meter.measure("park_funding_item", 200, client.post(&park, &json!({"waiting_on": "counsel"}))).await;
    let ids = json!({"item_ids": [item["id"]]});
    meter.measure("paper_funding_items: on hold", 422, client.post(PAPER, &ids)).await;
    let clear = json!({"waiting_on": null});
    meter.measure("park_funding_item: cleared", 200, client.post(&park, &clear)).await;
    meter.measure("park_funding_item: cleared twice", 200, client.post(&park, &clear)).await;
    meter.measure("list_funding_items: two", 200, client.get(ITEMS)).await;
    meter.measure("get_funding_schedule: one trust, two items", 200, client.get(funding_path(workspace))).await;
    meter.measure("paper_funding_items", 201, client.post(PAPER, &ids)).await;
    let mut many = Vec::new();
    for n in 0..25 {
        many.push(org.ready_item(&estate, &format!("Asset {n}")).await["id"].clone());
    }
    let many = client.post(PAPER, &json!({"item_ids": many}));
    meter.measure("paper_funding_items: 25 of them", 201, many).await;
}

/// Compares figures with those of a golden file, or writes them into it.
pub(crate) fn compare(name: &str, figures: &Map<String, Value>, held: &[&str]) {
    let known: Value =
        std::fs::read(golden_file(name)).ok().and_then(|file| serde_json::from_slice(&file).ok()).unwrap_or_default();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let with_arithmetic = figures.iter().map(|(case, figures)| {
            let mut entry = figures.clone();
            entry["arithmetic"] = known[case]["arithmetic"].as_str().unwrap_or("not yet explained").into();
            (case.clone(), entry)
        });
        let text = serde_json::to_string_pretty(&Value::Object(with_arithmetic.collect())).expect("JSON");
        std::fs::write(golden_file(name), text + "\n").expect("the golden file");
        return;
    }
    for (case, figures) in figures {
        for figure in held {
            let (found, expected) = (figures[*figure].as_f64(), known[case][*figure].as_f64());
            assert_eq!(found, expected, "{figure} of {case}: see golden/{name}");
        }
        let arithmetic = known[case]["arithmetic"].as_str().unwrap_or_default();
        assert!(arithmetic.contains(|c: char| c.is_ascii_digit()), "{case} has no arithmetic");
    }
    assert_eq!(known.as_object().map(Map::len), Some(figures.len()), "the golden file has a case that is not measured");
}

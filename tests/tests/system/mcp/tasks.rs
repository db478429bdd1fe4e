//! Agents' tasks, played from recorded tool calls: `tests/fixtures/agent-tasks/`, one file each.
//!
//! A step is a call and its expected result. Its `because`, the sentence that makes an agent call, must be in the
//! tool's or the last tool's description or schema, in the last result, or in the initial instructions.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use shared::domain::day::Day;
use shared::domain::movement::Arrivals;
use shared::domain::movement::claim::{NewClaim, ReferenceType, TransferReference};
use shared::service::movements::{self, EvidenceDecision, MovementAct};
use tests::Fixture;
use tests::drafts;
use tests::mcp::{Called, Mcp};
use tests::payments::{Paying, dollars, evidence};

const TASKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/agent-tasks");

async fn records(fixture: &Fixture) -> BTreeMap<String, Value> {
    let org = &fixture.org;
    let people = [org.member("Maren Holt").await, org.member("Jonas Berg").await];
    let claimed = Paying::within(org.clone(), people.clone(), "Lease").await;
    let proven = Paying::within(org.clone(), people, "Sale").await;
    let day = Day::parse("2026-03-14").expect("a day");
    let reference =
        TransferReference::parse(ReferenceType::FedwireImad, "20260314B1QGC08C000123").expect("a reference");
    for paying in [&claimed, &proven] {
        paying.open().await;
        let claim = NewClaim::checked(day, day, vec![reference.clone()]).expect("a claim");
        org.act_on_movement(&paying.people[0], paying.id, MovementAct::RecordClaim(claim)).await;
    }
    let proof = evidence("receiving_bank_statement", dollars(25_000_000), 'a');
    let filed = org.as_member(&proven.people[0], "file_evidence", async |call| {
        movements::file_evidence(call.scope(), call.member(), org.stack().keyring(), proven.id, proof.clone()).await
    });
    filed.await.expect("the rules allow it");
    proven.judge(proof.id(), EvidenceDecision::Accept(Arrivals::One)).await.expect("the rules allow it");
    let workspace = json!({"id": fixture.ids["workspace_id"]});
    let unreachable = drafts::write(org, drafts::ready(&workspace, "Mooring", &org.contact("Grace").await)).await;
    let mut all: BTreeMap<String, Value> = fixture.ids.iter().map(|(name, id)| (name.clone(), json!(id))).collect();
    all.insert("claimed_movement_id".to_owned(), json!(claimed.id));
    all.insert("proven_movement_id".to_owned(), json!(proven.id));
    all.insert("unreachable_agreement_id".to_owned(), json!(unreachable.id()));
    all.insert("unknown_id".to_owned(), json!(crate::unknown_id()));
    all
}

fn filled(value: &Value, known: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => known.get(name).unwrap_or_else(|| panic!("nothing is called {name}")).clone(),
            None => value.clone(),
        },
        Value::Array(values) => values.iter().map(|value| filled(value, known)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), filled(value, known))).collect())
        }
        other => other.clone(),
    }
}

/// Checks a response against its step. `{"has": text}` matches a part of the value's JSON.
fn check(place: &str, step: &Value, called: &Called, known: &BTreeMap<String, Value>) {
    let answer = called.answer();
    assert_eq!(called.response()["status"], step["status"], "{place}: {answer}");
    for (pointer, expected) in step["expect"].as_object().into_iter().flatten() {
        let found = answer.pointer(pointer).unwrap_or(&Value::Null);
        match filled(&expected["has"], known).as_str() {
            Some(part) => assert!(found.to_string().contains(part), "{place}: {pointer} has no {part}: {answer}"),
            None => assert_eq!(*found, filled(expected, known), "{place}: {pointer} of {answer}"),
        }
    }
    let texts = called.texts().join("\n");
    for said in step["says"].as_array().into_iter().flatten() {
        assert!(texts.contains(said.as_str().expect("a text")), "{place} does not say {said}: {texts}");
    }
}

async fn play(
    name: &str,
    task: &Value,
    mcp: &Mcp,
    tools: &[Value],
    told_first: &str,
    records: &BTreeMap<String, Value>,
) {
    let mut known = records.clone();
    let mut before = String::new();
    let steps = task["steps"].as_array().expect("steps");
    assert!(task["task"].is_string() && !steps.is_empty(), "{name}");
    for (number, step) in steps.iter().enumerate() {
        let tool = step["call"].as_str().expect("a tool");
        let place = format!("{name}, step {}, {tool}", number + 1);
        let described =
            tools.iter().find(|described| described["name"] == tool).unwrap_or_else(|| panic!("{place}: no such tool"));
        let because = step["because"].as_str().unwrap_or_else(|| panic!("{place}: why?"));
        let about = format!("{}\n{}", described["description"].as_str().unwrap_or_default(), described["inputSchema"]);
        let read = format!("{about}\n{before}\n{told_first}");
        assert!(read.contains(because), "{place}: nothing says “{because}”: {read}");
        let called = mcp.call(tool, &filled(&step["with"], &known)).await;
        check(&place, step, &called, &known);
        let answer = called.answer();
        for (name, pointer) in step["keep"].as_object().into_iter().flatten() {
            let found = answer.pointer(pointer.as_str().expect("a pointer"));
            known.insert(
                name.clone(),
                found.unwrap_or_else(|| panic!("{place}: nothing at {pointer} of {answer}")).clone(),
            );
        }
        for (name, header) in step["keep_header"].as_object().into_iter().flatten() {
            known.insert(name.clone(), called.response()[header.as_str().expect("a header")].clone());
        }
        before = format!("{about}\n{}", called.texts().join("\n"));
    }
}

#[tokio::test]
async fn agents_do_their_tasks_by_what_the_tools_say() {
    let fixture = Fixture::new().await;
    let records = Box::pin(records(&fixture)).await;
    let writer = Mcp::of(&fixture.org);
    let tools = writer.tools().await;
    let found = writer.result("server/discover", &json!({})).await;
    let told_first = found["instructions"].as_str().expect("instructions");
    let mut files: Vec<_> =
        std::fs::read_dir(Path::new(TASKS)).expect("the tasks").map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 12, "a dozen tasks: {}", files.len());
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let task: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("a text"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mcp = if task["token"] == "read" { Mcp::of(&fixture.org.read_only()) } else { writer.clone() };
        play(&name, &task, &mcp, &tools, told_first, &records).await;
    }
}

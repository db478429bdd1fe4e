//! The tools: which exist, what they say, and their size.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::{Value, json};
use tests::mcp::Mcp;
use tests::{Fixture, Org, spec};

/// The most of an agent's context that the list of tools may take.
const TOKENS_MAX: usize = 12_000;
/// A lower bound on the list's bytes per token in any model. Three tokenizers measured 4.0, 4.2, and 4.4 (Claude's
/// published one 10,459 tokens, `o200k_base` 9,917, `cl100k_base` 9,542, on 2026-11-25).
const BYTES_OF_A_TOKEN: f64 = 3.5;

const KEPT: &str = include_str!("../../../../functions/mcp/tools.json");

#[test]
fn the_tools_are_those_of_the_declarations() {
    assert!(local::tools_json() == KEPT, "run `make generate`: the tools have changed");
}

#[tokio::test]
async fn there_is_a_tool_for_each_operation_and_no_other() {
    let org = Org::new().await;
    let tools = Mcp::of(&org).tools().await;
    assert_eq!(tools, Mcp::of(&org.read_only()).tools().await, "who may only read sees them all");
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    let operations = spec::all();
    let ids: BTreeSet<&str> = operations.iter().map(|operation| operation.id.as_str()).collect();
    assert_eq!((names.iter().copied().collect::<BTreeSet<_>>(), names.len()), (ids, operations.len()));
    for operation in &operations {
        let tool = &tools[names.iter().position(|name| *name == operation.id).expect("a tool")];
        let (input, hints) = (&tool["inputSchema"], &tool["annotations"]);
        for schema in [input, &tool["outputSchema"]] {
            jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|error| panic!("{}: {error}", operation.id));
            assert_eq!(schema["type"], "object", "{}", operation.id);
        }
        let mut takes: Vec<String> = ["path", "query"]
            .iter()
            .flat_map(|place| operation.parameters(place))
            .chain(operation.fields())
            .map(|field| field.name)
            .collect();
        takes.extend(operation.parameters("header").iter().map(|field| field.name.to_lowercase().replace('-', "_")));
        takes.sort();
        assert_eq!(crate::members(&input["properties"]), takes, "{}", operation.id);
        assert_eq!(input["additionalProperties"], false);
        let required: BTreeSet<String> = ["path", "query"]
            .iter()
            .flat_map(|place| operation.parameters(place))
            .chain(operation.fields())
            .filter(|field| field.is_required)
            .map(|field| field.name)
            .collect();
        let listed = input["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), required, "{}", operation.id);
        assert_eq!((&hints["readOnlyHint"], &hints["openWorldHint"]), (&json!(!operation.is_write()), &json!(false)));
        let destroys = operation.is_write().then(|| json!(DESTRUCTIVE.contains(&operation.id.as_str())));
        assert_eq!(hints.get("destructiveHint"), destroys.as_ref(), "{}", operation.id);
        if operation.is_write() {
            assert_eq!(hints["idempotentHint"], REPEATABLE.contains(&operation.id.as_str()), "{}", operation.id);
        }
        let about = tool["description"].as_str().expect("a description");
        assert_eq!(about.contains("Needs the scope `read_write`."), operation.is_write(), "{about}");
        assert_eq!(about.contains("10 rows a page"), operation.is_list(), "{about}");
        assert!((80..600).contains(&about.len()), "{}: {about}", operation.id);
        let sent_to = about.split('`').skip(1).step_by(2).filter(|word| {
            ["get_", "list_", "create_", "update_", "add_", "park_", "paper_"]
                .iter()
                .any(|begin| word.starts_with(begin))
        });
        for name in sent_to.filter(|name| name.len() > "update_".len()) {
            assert!(names.contains(&name), "{} names {name}", operation.id);
        }
    }
}

#[test]
fn the_list_leaves_room_for_the_conversation() {
    let entries: Vec<Value> = serde_json::from_str(KEPT).expect("JSON");
    let size = |entry: &Value| entry["tool"].to_string().len();
    let mut sizes: Vec<(usize, &str)> =
        entries.iter().map(|entry| (size(entry), entry["tool"]["name"].as_str().unwrap_or(""))).collect();
    sizes.sort_unstable();
    let bytes: usize = sizes.iter().map(|(size, _)| size).sum();
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some ten thousand"
    )]
    let tokens = (bytes as f64 / BYTES_OF_A_TOKEN).ceil() as usize;
    println!(
        "{} tools: {bytes} bytes, at most {tokens} tokens; the largest: {:?}",
        entries.len(),
        &sizes[sizes.len() - 5..]
    );
    assert!(tokens <= TOKENS_MAX, "{tokens} tokens: {sizes:?}");
}

/// Writing operations that do nothing more when repeated with the same arguments, without a key.
const REPEATABLE: [&str; 5] = [
    "add_workspace_contact",
    "add_agreement_participant",
    "park_funding_item",
    "update_contact",
    "update_funding_item",
];

/// Operations that overwrite. The others add.
const DESTRUCTIVE: [&str; 4] = ["create_trust", "park_funding_item", "update_contact", "update_funding_item"];

#[tokio::test]
async fn a_repeat_of_what_is_repeatable_changes_nothing() {
    for name in REPEATABLE {
        let fixture = Fixture::new().await;
        let operation = fixture.operation(name);
        let mut arguments = fixture.body(operation).expect("a body");
        for parameter in operation.parameters("path") {
            arguments[&parameter.name] = json!(fixture.ids[&parameter.name]);
        }
        let mcp = Mcp::of(&fixture.org);
        let before = fixture.org.state().await;
        let first = mcp.call(name, &arguments).await;
        assert!(!first.is_error(), "{name}: {}", first.0);
        let (state, events) = (fixture.org.state().await, fixture.org.events().await);
        let again = mcp.call(name, &arguments).await;
        assert_eq!(again.answer(), first.answer(), "{name}");
        assert_eq!((fixture.org.state().await, fixture.org.events().await), (state.clone(), events), "{name}");
        assert!(state != before, "{name} does nothing, so that its repeat tells nothing");
    }
}

#[tokio::test]
async fn a_list_is_short_by_default() {
    let fixture = Fixture::new().await;
    let mcp = Mcp::of(&fixture.org);
    for list in fixture.lists() {
        let page = mcp.call(&list.id, &json!({})).await.answer();
        assert_eq!(page["pagination"]["limit"], 10, "{}", list.id);
        let page = mcp.call(&list.id, &json!({"limit": 1, "offset": 0})).await.answer();
        assert_eq!(page["pagination"]["limit"], 1, "{}", list.id);
        let page = mcp.call(&list.id, &json!({"idempotency_key": "k"})).await;
        assert!(page.is_error(), "a list takes no key: {}", page.0);
    }
}

pub(super) fn results(tools: &[Value]) -> BTreeMap<String, Validator> {
    let validator = |tool: &Value| jsonschema::validator_for(&tool["outputSchema"]).expect("a schema");
    tools.iter().map(|tool| (tool["name"].as_str().expect("a name").to_owned(), validator(tool))).collect()
}

//! Fields of bodies: allowed values, and refusals of others.

use serde_json::{Value, json};
use tests::spec::{Field, Operation};
use tests::{Fixture, Org};

use crate::api::input::refused;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

fn wrong_values(write: &Operation, field: &Field) -> Vec<(Value, &'static str)> {
    let schema = &field.schema;
    let mut wrong =
        vec![(json!(1), "invalid_type"), (json!(true), "invalid_type"), (json!({"a": "b"}), "invalid_type")];
    if !field.is_nullable {
        // A create's optional field that isn't nullable has a default.
        let has_default = write.method == http::Method::POST && !field.is_required;
        wrong.push((Value::Null, if has_default { "invalid_type" } else { "required" }));
    }
    let length = |name: &str| schema[name].as_u64().map(|length| usize::try_from(length).expect("a length"));
    match schema["type"].as_str() {
        Some("string") => wrong.push((json!(["text"]), "invalid_type")),
        Some("array") => {
            wrong.push((json!("text"), "invalid_type"));
            wrong.extend(length("minItems").map(|_| (json!([]), "too_short")));
        }
        Some("object") => {
            wrong.retain(|(value, _)| !value.is_object());
            wrong.push((json!(["text"]), "invalid_type"));
            wrong.push((json!("text"), "invalid_type"));
        }
        other => panic!("no wrong values are known for the type {other:?} of {}", field.name),
    }
    wrong.extend(length("minLength").map(|_| (json!(""), "too_short")));
    wrong.extend(length("maxLength").map(|max| (json!("a".repeat(max + 1)), "too_long")));
    if schema["enum"].is_array() {
        wrong.push((json!("alien"), "invalid_value"));
    }
    if schema["format"] == "uuid" {
        wrong.push((json!("ada"), "invalid_format"));
    }
    wrong
}

#[tokio::test]
async fn every_field_of_every_body_is_held_to_its_description() {
    let fixture = Fixture::new().await;
    let fields: Vec<_> = fixture.writes().map(|write| (write, write.fields())).collect();
    let mut cases = Vec::new();
    for (write, fields) in &fields {
        assert!(!fields.is_empty(), "{} takes nothing", write.id);
        let good = fixture.body(write).expect("a body");
        for field in fields {
            let name = field.name.as_str();
            for (value, code) in wrong_values(write, field) {
                let mut body = good.clone();
                body[name] = value;
                cases.push((fixture.call(write).json(&body), vec![(name, code)]));
            }
            if field.is_required {
                let mut body = good.clone();
                body.as_object_mut().expect("an object").remove(name);
                cases.push((fixture.call(write).json(&body), vec![(name, "required")]));
            }
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn every_field_stands_once_in_a_body() {
    let fixture = Fixture::new().await;
    let fields: Vec<_> =
        fixture.writes().flat_map(|write| write.fields().into_iter().map(move |field| (write, field.name))).collect();
    let before = fixture.org.state().await;
    assert!(!fields.is_empty());
    for (write, name) in &fields {
        let body = fixture.body(write).expect("a body").to_string();
        let members = body.trim_end_matches('}');
        let escaped = name.replace('_', "\\u005f").replace('k', "\\u006b").replace('n', "\\u006e");
        for again in [name, &escaped] {
            let body = format!(r#"{members}, "{name}": "x", "{again}": "y"}}"#);
            let answer = fixture.call(write).body("application/json", body).send().await;
            assert_eq!(answer.status, 422, "{answer}");
            assert!(answer.errors().contains(&(name.clone(), "malformed_json".to_owned())), "{again}: {answer}");
        }
    }
    assert_eq!(fixture.org.state().await, before);
}

fn bad_names() -> Vec<(Value, &'static str)> {
    let mut bad = vec![
        (json!(1), "invalid_type"),
        (json!(true), "invalid_type"),
        (json!(["Ada"]), "invalid_type"),
        (json!({"en": "Ada"}), "invalid_type"),
        (json!(""), "too_short"),
        (json!("   "), "too_short"),
        (json!("\u{a0}\u{3000}"), "too_short"),
        (json!("a".repeat(201)), "too_long"),
        (json!("日".repeat(201)), "too_long"),
    ];
    for control in ['\0', '\u{1}', '\u{1b}', '\t', '\n', '\r', '\u{7f}', '\u{85}', '\u{9f}'] {
        bad.push((json!(format!("Ada{control}Okafor")), "invalid_value"));
    }
    for misleading in ('\u{2028}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
        bad.push((json!(format!("Ada{misleading}Okafor")), "invalid_value"));
    }
    for invisible in
        ["\u{200b}", "\u{feff}", " \u{200b} \u{200d} ", "\u{ad}", "\u{2060}\u{180e}", "\u{2800}", "\u{e0041}"]
    {
        bad.push((json!(invisible), "invalid_value"));
    }
    bad
}

#[tokio::test]
async fn a_name_keeps_the_joiners_of_its_script() {
    let org = Org::new().await;
    for name in ["می\u{200c}خواهم", "क\u{94d}\u{200d}ष", "Ada ❤\u{fe0f}", "أحمد \u{200f}"] {
        let contact = org.post(CONTACTS, &json!({"display_name": name, "kind": "person"})).send().await.ok(201);
        assert_eq!(contact["display_name"], name);
    }
}

#[tokio::test]
async fn a_field_with_a_default_is_left_out_rather_than_null() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let with = |kind: Option<Value>| {
        let mut draft = json!({"workspace_id": workspace["id"], "name": "Seed"});
        if let Some(kind) = kind {
            draft["kind"] = kind;
        }
        org.post("/api/v1/agreements", &draft)
    };
    assert_eq!(with(None).send().await.ok(201)["kind"], "general");
    assert_eq!(with(Some(json!("safe"))).send().await.ok(201)["kind"], "safe");
    let wrong = [(Value::Null, "invalid_type"), (json!(1), "invalid_type"), (json!(""), "invalid_value")];
    refused(&org, wrong.map(|(kind, code)| (with(Some(kind)), vec![("kind", code)])).into()).await;
}

#[tokio::test]
async fn names_are_text_of_one_to_two_hundred_characters() {
    let fixture = Fixture::new().await;
    let (org, contact_path) = (&fixture.org, fixture.path(fixture.operation("get_contact")));
    let mut cases = Vec::new();
    let required = [(Value::Null, "required")];
    for (value, code) in bad_names().into_iter().chain(required) {
        let contact = json!({"display_name": value, "kind": "person"});
        cases.push((org.post(CONTACTS, &contact), vec![("display_name", code)]));
        cases.push((org.patch(&contact_path, &json!({"display_name": value})), vec![("display_name", code)]));
        cases.push((org.post(WORKSPACES, &json!({"name": value})), vec![("name", code)]));
    }
    cases.push((org.post(CONTACTS, &json!({"kind": "person"})), vec![("display_name", "required")]));
    cases.push((org.post(WORKSPACES, &json!({})), vec![("name", "required")]));
    refused(org, cases).await;
}

#[tokio::test]
async fn references_are_text_of_one_to_two_hundred_characters() {
    let fixture = Fixture::new().await;
    let (org, contact_path) = (&fixture.org, fixture.path(fixture.operation("get_contact")));
    let mut cases = Vec::new();
    for (value, code) in bad_names() {
        let contact = json!({"display_name": "Ada", "kind": "person", "external_reference": value});
        cases.push((org.post(CONTACTS, &contact), vec![("external_reference", code)]));
        let change = json!({"external_reference": value});
        cases.push((org.patch(&contact_path, &change), vec![("external_reference", code)]));
    }
    refused(org, cases).await;
}

#[tokio::test]
async fn a_kind_is_one_of_eight() {
    let fixture = Fixture::new().await;
    let (org, contact_path) = (&fixture.org, fixture.path(fixture.operation("get_contact")));
    let mut cases = Vec::new();
    for (value, code) in [
        (json!("alien"), "invalid_value"),
        (json!("Person"), "invalid_value"),
        (json!(" person"), "invalid_value"),
        (json!(""), "invalid_value"),
        (json!(1), "invalid_type"),
        (json!(["person"]), "invalid_type"),
        (Value::Null, "required"),
    ] {
        let contact = json!({"display_name": "Ada", "kind": value});
        cases.push((org.post(CONTACTS, &contact), vec![("kind", code)]));
        cases.push((org.patch(&contact_path, &json!({"kind": value})), vec![("kind", code)]));
    }
    cases.push((org.post(CONTACTS, &json!({"display_name": "Ada"})), vec![("kind", "required")]));
    refused(org, cases).await;
}

#[tokio::test]
async fn an_email_is_an_address() {
    let fixture = Fixture::new().await;
    let (org, contact_path) = (&fixture.org, fixture.path(fixture.operation("get_contact")));
    let mut cases = Vec::new();
    let long = format!("{}@example.org", "a".repeat(250));
    for (value, code) in [
        (json!("ada"), "invalid_format"),
        (json!("ada@"), "invalid_format"),
        (json!("@okafor.example"), "invalid_format"),
        (json!("ada@okafor@example"), "invalid_format"),
        (json!("ada okafor@example.org"), "invalid_format"),
        (json!("ada@exa mple.org"), "invalid_format"),
        (json!("ada@example..org"), "invalid_format"),
        (json!("Ada <ada@okafor.example>"), "invalid_format"),
        (json!("ada@okafor.example, ben@okafor.example"), "invalid_format"),
        (json!("mailto:ada@okafor.example?subject=x"), "invalid_format"),
        (json!(""), "too_short"),
        (json!("  "), "too_short"),
        (json!(long), "too_long"),
        (json!("ada%mail.example@okafor.example"), "invalid_format"),
        (json!("ada@okafor%2e.example"), "invalid_format"),
        (json!("\"a@b\"@okafor.example"), "invalid_format"),
        (json!("ada@okafor"), "invalid_format"),
        (json!("ada@192.0.2.7"), "invalid_format"),
        (json!("ada@[192.0.2.7]"), "invalid_format"),
        (json!("ada@okafor.7"), "invalid_format"),
        (json!("ada@okafor.example."), "invalid_format"),
        (json!("ada@-okafor.example"), "invalid_format"),
        (json!("ada@okafor-.example"), "invalid_format"),
        (json!("ada@oka_for.example"), "invalid_format"),
        (json!(format!("ada@{}.example", "a".repeat(64))), "invalid_format"),
        (json!("ada\u{202e}@okafor.example"), "invalid_value"),
        (json!("ada\0@okafor.example"), "invalid_value"),
        (json!("ada@okafor.example\r\nBcc: x@example.org"), "invalid_value"),
        (json!(["ada@okafor.example"]), "invalid_type"),
        (json!(7), "invalid_type"),
    ] {
        let contact = json!({"display_name": "Ada", "kind": "person", "email": value});
        cases.push((org.post(CONTACTS, &contact), vec![("email", code)]));
        cases.push((org.patch(&contact_path, &json!({"email": value})), vec![("email", code)]));
    }
    refused(org, cases).await;
}

#[tokio::test]
async fn a_domain_may_be_in_any_script() {
    let org = Org::new().await;
    for email in [
        "ada@例え.テスト",
        "ada@münchen.example",
        "ada@xn--mnchen-3ya.example",
        "o'ada+x@a-1.b2.example",
        "ада@почта.рф",
    ] {
        let contact = json!({"display_name": "Ada", "kind": "person", "email": email});
        assert_eq!(org.post(CONTACTS, &contact).send().await.ok(201)["email"], email);
    }
}

#[tokio::test]
async fn a_reference_to_a_contact_is_a_uuid() {
    let fixture = Fixture::new().await;
    let (id, people) = (&fixture.ids["contact_id"], fixture.path(fixture.operation("add_workspace_contact")));
    let mut cases = Vec::new();
    for (value, code) in [
        (json!("ada"), "invalid_format"),
        (json!(""), "invalid_format"),
        (json!(format!("{{{id}}}")), "invalid_format"),
        (json!(id.replace('-', "")), "invalid_format"),
        (json!(1), "invalid_type"),
        (json!([id]), "invalid_type"),
        (json!({"id": id}), "invalid_type"),
        (Value::Null, "required"),
    ] {
        let add = fixture.org.post(&people, &json!({"contact_id": value}));
        cases.push((add, vec![("contact_id", code)]));
    }
    cases.push((fixture.org.post(&people, &json!({})), vec![("contact_id", "required")]));
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn an_unknown_field_is_refused_everywhere() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for write in fixture.writes() {
        for name in ["Kind", "id", "created_at", "organization_id", "extra", "people"] {
            let mut body = fixture.body(write).expect("a body");
            body[name] = json!("x");
            cases.push((fixture.call(write).json(&body), vec![(name, "unknown_field")]));
        }
    }
    refused(&fixture.org, cases).await;

    let before = fixture.org.state().await;
    for write in fixture.writes() {
        let mut body = fixture.body(write).expect("a body");
        body[""] = json!("x");
        let answer = fixture.call(write).json(&body).send().await;
        assert_eq!((answer.status, answer.errors().len()), (422, 1), "{answer}");
        assert_eq!(answer.errors()[0].1, "unknown_field", "{answer}");
    }
    assert_eq!(fixture.org.state().await, before);
}

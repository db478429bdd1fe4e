//! Bad bodies and bad fields in them: a clear refusal that names every field, and nothing has changed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Org, raw};

use crate::api::input::{Fixture, refused};

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";
const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_body_is_a_json_object() {
    let fixture = Fixture::new().await;
    let deep = format!("{{\"name\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let deep_objects = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let mut cases = Vec::new();
    for (request, _) in fixture.writes() {
        let with = |body: &[u8]| request.clone().body("application/json", body);
        cases.push((with(b""), vec![("body", "required")]));
        for body in [
            &b"{"[..],
            b"{}}",
            b"{} {}",
            b"{'name': 1}",
            b"{\"name\": NaN}",
            b"{\"a\": 1,}",
            b"// none\n{}",
            b"\xef\xbb\xbf{}",
            b"hello",
        ] {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [&b"{\"name\": \"\xff\"}"[..], b"\xff\xfe{\0}\0", b"{\"name\": \"\xc3\"}", b"{\"\xed\xa0\x80\": 1}"]
        {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [&b"{\"name\": \"a\nb\"}"[..], b"{\"name\": \"\\ud800\"}", b"{\"name\": \"\\x41\"}"] {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [deep.as_bytes(), deep_objects.as_bytes(), "[".repeat(100_000).as_bytes()] {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [&b"[]"[..], b"[{\"name\": \"a\"}]", b"\"text\"", b"1", b"true"] {
            cases.push((with(body), vec![("body", "invalid_type")]));
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn null_is_no_body() {
    let fixture = Fixture::new().await;
    let before = fixture.org.state().await;
    for (request, _) in fixture.writes() {
        let answer = request.json(&Value::Null).send().await;
        assert_eq!((answer.status, answer.errors().len()), (422, 1), "{answer}");
        assert_eq!(answer.errors()[0].0, "body", "{answer}");
    }
    assert_eq!(fixture.org.state().await, before);
}

#[tokio::test]
async fn a_key_stands_once_in_a_body() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let contact = |body: &str| org.post(CONTACTS, &json!({})).body("application/json", body);
    let workspace = |body: &str| org.post(WORKSPACES, &json!({})).body("application/json", body);
    let cases = [
        (
            contact(r#"{"display_name": "A", "kind": "person", "display_name": "B"}"#),
            vec![("display_name", "malformed_json")],
        ),
        (
            contact(r#"{"display_name": "A", "kind": "person", "\u006bind": "person"}"#),
            vec![("kind", "malformed_json")],
        ),
        (workspace(r#"{"name": "A", "name": "A"}"#), vec![("name", "malformed_json")]),
        (
            org.patch(&fixture.contact_path, &json!({})).body("application/json", r#"{"email": null, "email": null}"#),
            vec![("email", "malformed_json")],
        ),
        (
            org.post(&fixture.people_path, &json!({}))
                .body("application/json", r#"{"contact_id": "x", "contact_id": "y"}"#),
            vec![("contact_id", "malformed_json")],
        ),
    ];
    let before = org.state().await;
    for (request, errors) in cases {
        let answer = request.send().await;
        assert_eq!(answer.status, 422, "{answer}");
        for (field, code) in errors {
            assert!(answer.errors().contains(&(field.to_owned(), code.to_owned())), "{answer}");
        }
    }
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn a_body_has_at_most_a_mebibyte() {
    let fixture = Fixture::new().await;
    // Blanks are part of the body: what counts is what is sent.
    let padded = |body: &Value, length: usize| {
        let body = body.to_string();
        format!("{}{body}", " ".repeat(length - body.len()))
    };
    let mut cases = Vec::new();
    for (request, body) in fixture.writes() {
        let too_long = request.clone().body("application/json", padded(&body, MIB + 1));
        cases.push((too_long, vec![("body", "too_long")]));
        let far_too_long = request.clone().body("application/json", padded(&body, 3 * MIB));
        cases.push((far_too_long, vec![("body", "too_long")]));
    }
    refused(&fixture.org, cases).await;
    for (request, body) in fixture.writes() {
        let answer = request.body("application/json", padded(&body, MIB)).send().await;
        assert!(answer.status < 300, "{answer}");
    }
}

#[tokio::test]
async fn a_body_of_unannounced_length_is_measured_too() {
    let org = Org::new().await;
    let token = &org.token.value;
    let authorization = format!("authorization: Bearer {token}");
    let head: [&[u8]; 4] = [
        b"POST /api/v1/workspaces HTTP/1.1",
        authorization.as_bytes(),
        b"content-type: application/json",
        b"transfer-encoding: chunked",
    ];
    let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
    let mut body = chunk.repeat(17);
    body.extend_from_slice(b"c\r\n{\"name\":\"A\"}\r\n0\r\n\r\n");
    raw::send(org.base_url(), &head, &body).await.refused_for(422, &[("body", "too_long")]);
    assert_eq!(org.total(WORKSPACES).await, 0);

    let mut body = chunk.repeat(3);
    body.extend_from_slice(b"c\r\n{\"name\":\"A\"}\r\n0\r\n\r\n");
    raw::send(org.base_url(), &head, &body).await.ok(201);
    assert_eq!(org.total(WORKSPACES).await, 1);
}

#[tokio::test]
async fn a_body_says_that_it_is_json() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for (request, body) in fixture.writes() {
        let body = body.to_string();
        for content_type in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "json",
            "text/json",
            "multipart/form-data; boundary=x",
        ] {
            let wrong = request.clone().body(content_type, body.clone());
            cases.push((wrong, vec![("header.content-type", "invalid_value")]));
        }
        let missing = request.clone().body("application/json", body).without("content-type");
        cases.push((missing, vec![("header.content-type", "required")]));
    }
    refused(&fixture.org, cases).await;
    for content_type in ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"] {
        for (request, body) in fixture.writes() {
            let answer = request.body(content_type, body.to_string()).send().await;
            assert!(answer.status < 300, "{content_type}: {answer}");
        }
    }
}

/// A request for trouble must not be answered with more of it: a response has to fit through Lambda.
#[tokio::test]
async fn a_body_of_nothing_but_errors_gets_a_short_answer() {
    const LISTED: usize = 100;
    let fixture = Fixture::new().await;
    let before = fixture.org.state().await;
    for (request, body) in fixture.writes() {
        for count in [LISTED, LISTED + 1, 5_000] {
            let mut body = body.clone();
            for n in 0..count {
                body[format!("unknown-{n}")] = json!(n);
            }
            let answer = request.clone().json(&body).send().await;
            assert_eq!(answer.status, 422, "{answer}");
            assert!(answer.bytes.len() < 64 * 1024, "{} bytes", answer.bytes.len());
            let errors = answer.json()["error"]["errors"].as_array().expect("field errors").clone();
            let (listed, more) = errors.split_at(LISTED);
            for error in listed {
                assert!(error["field"].as_str().is_some_and(|field| field.starts_with("unknown-")), "{error}");
                assert_eq!(error["code"], "unknown_field", "{error}");
            }
            if count == LISTED {
                assert_eq!(more, [] as [Value; 0]);
                continue;
            }
            assert_eq!(more.len(), 1);
            assert_eq!((&more[0]["field"], &more[0]["code"]), (&json!("body"), &json!("limit_reached")));
            let message = more[0]["message"].as_str().expect("a message");
            let number: String = message.chars().filter(char::is_ascii_digit).collect();
            assert_eq!(number, (count - LISTED).to_string(), "how many more there are: {message}");
        }
    }
    assert_eq!(fixture.org.state().await, before);
}

#[tokio::test]
async fn a_name_of_half_a_megabyte_is_cut_where_it_is_told() {
    const CUT: usize = 200;
    let fixture = Fixture::new().await;
    let before = fixture.org.state().await;
    for (request, body) in fixture.writes() {
        for character in ["n", "日", "\u{1F58B}"] {
            let name = character.repeat(500_000 / character.len());
            let with = |text: String| request.clone().body("application/json", text);
            let inner = body.to_string();
            let inner = inner.trim_end_matches('}');
            let doubled = format!(r#"{inner}, "{name}": 1, "{name}": 2}}"#);
            for (request, code) in
                [(with(format!(r#"{inner}, "{name}": 1}}"#)), "unknown_field"), (with(doubled), "malformed_json")]
            {
                let answer = request.send().await;
                assert_eq!((answer.status, answer.errors().len()), (422, 1), "{}", answer.bytes.len());
                assert!(answer.bytes.len() < 4 * 1024, "{} bytes", answer.bytes.len());
                let (field, told) = answer.errors().remove(0);
                assert_eq!((told.as_str(), field.chars().take(CUT).collect()), (code, character.repeat(CUT)));
                assert!(field.chars().count() <= CUT + 1, "{field}");
            }
        }
    }
    assert_eq!(fixture.org.state().await, before);
}

/// How long an answer takes at best: what else the machine does only adds to it.
async fn quickest(org: &Org, body: &str) -> Duration {
    let mut quickest = Duration::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        let answer = org.post(CONTACTS, &json!({})).body("application/json", body).send().await;
        quickest = quickest.min(started.elapsed());
        assert_eq!(answer.status, 422, "{}", answer.bytes.len());
    }
    quickest
}

/// Two bodies of one length and one structure, of which one has its bytes in a name and the other in a text beside it,
/// take about the same time: the name of a parent is not written out for each of its children.
#[tokio::test]
async fn a_long_name_costs_no_more_than_a_long_text() {
    let org = Org::new().await;
    let numbers = format!("[{}0]", "0,".repeat(MIB / 4));
    let members: Vec<String> = (0..20_000).map(|n| format!("\"k{n}\":0")).collect();
    let members = format!("{{{}}}", members.join(","));
    let nested = format!("{}0{}", "[".repeat(100), "]".repeat(100));
    // Each of them is an error, of which a hundred are told.
    let doubled = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(3_000));
    for (what, children) in [("numbers", numbers), ("members", members), ("nested", nested), ("doubled", doubled)] {
        let rest = "x".repeat(MIB - children.len() - 64);
        let long_name = format!(r#"{{"{rest}": {children}, "text": ""}}"#);
        let long_text = format!(r#"{{"": {children}, "text": "{rest}"}}"#);
        assert_eq!(long_name.len(), long_text.len());
        let (name, text) = (quickest(&org, &long_name).await, quickest(&org, &long_text).await);
        assert!(name < text * 6, "{what}: {name:?} with a long name, {text:?} with a long text");
    }
}

/// What is wrong with the value of a name, whatever the field is called.
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
    bad
}

#[tokio::test]
async fn names_are_text_of_one_to_two_hundred_characters() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let mut cases = Vec::new();
    let required = [(Value::Null, "required")];
    for (value, code) in bad_names().into_iter().chain(required) {
        let contact = json!({"display_name": value, "kind": "person"});
        cases.push((org.post(CONTACTS, &contact), vec![("display_name", code)]));
        cases.push((org.patch(&fixture.contact_path, &json!({"display_name": value})), vec![("display_name", code)]));
        cases.push((org.post(WORKSPACES, &json!({"name": value})), vec![("name", code)]));
    }
    cases.push((org.post(CONTACTS, &json!({"kind": "person"})), vec![("display_name", "required")]));
    cases.push((org.post(WORKSPACES, &json!({})), vec![("name", "required")]));
    refused(org, cases).await;
}

#[tokio::test]
async fn references_are_text_of_one_to_two_hundred_characters() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let mut cases = Vec::new();
    for (value, code) in bad_names() {
        let contact = json!({"display_name": "Ada", "kind": "person", "external_reference": value});
        cases.push((org.post(CONTACTS, &contact), vec![("external_reference", code)]));
        let change = json!({"external_reference": value});
        cases.push((org.patch(&fixture.contact_path, &change), vec![("external_reference", code)]));
    }
    refused(org, cases).await;
}

#[tokio::test]
async fn a_kind_is_one_of_eight() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
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
        cases.push((org.patch(&fixture.contact_path, &json!({"kind": value})), vec![("kind", code)]));
    }
    cases.push((org.post(CONTACTS, &json!({"display_name": "Ada"})), vec![("kind", "required")]));
    refused(org, cases).await;
}

#[tokio::test]
async fn an_email_is_an_address() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
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
        (json!("ada\0@okafor.example"), "invalid_value"),
        (json!("ada@okafor.example\r\nBcc: x@example.org"), "invalid_value"),
        (json!(["ada@okafor.example"]), "invalid_type"),
        (json!(7), "invalid_type"),
    ] {
        let contact = json!({"display_name": "Ada", "kind": "person", "email": value});
        cases.push((org.post(CONTACTS, &contact), vec![("email", code)]));
        cases.push((org.patch(&fixture.contact_path, &json!({"email": value})), vec![("email", code)]));
    }
    refused(org, cases).await;
}

#[tokio::test]
async fn a_reference_to_a_contact_is_a_uuid() {
    let fixture = Fixture::new().await;
    let id = fixture.contact["id"].as_str().expect("an id");
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
        let add = fixture.org.post(&fixture.people_path, &json!({"contact_id": value}));
        cases.push((add, vec![("contact_id", code)]));
    }
    cases.push((fixture.org.post(&fixture.people_path, &json!({})), vec![("contact_id", "required")]));
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn an_unknown_field_is_refused_everywhere() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for (request, body) in fixture.writes() {
        for name in ["Kind", "id", "created_at", "organization_id", "extra", "people", ""] {
            let mut body = body.clone();
            body[name] = json!("x");
            cases.push((request.clone().json(&body), vec![(if name.is_empty() { "" } else { name }, "unknown_field")]));
        }
    }
    // An empty name has no path of its own; that it is refused is tested below.
    cases.retain(|(_, errors)| !errors[0].0.is_empty());
    refused(&fixture.org, cases).await;

    let before = fixture.org.state().await;
    for (request, mut body) in fixture.writes() {
        body[""] = json!("x");
        let answer = request.json(&body).send().await;
        assert_eq!((answer.status, answer.errors().len()), (422, 1), "{answer}");
        assert_eq!(answer.errors()[0].1, "unknown_field", "{answer}");
    }
    assert_eq!(fixture.org.state().await, before);
}

//! Bad paths, queries and headers, and the order of checks: refusals name every field, and nothing changes.

use serde_json::{Value, json};
use tests::Org;
use tests::client::Request;
use tests::fixture::{self, Fixture};
use tests::spec::{Field, Operation};

use crate::unknown_id;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

/// Asserts that each request is refused with 422 for exactly these fields, and that all together change nothing.
pub async fn refused(org: &Org, cases: Vec<(Request, Vec<(&str, &str)>)>) {
    assert!(!cases.is_empty(), "nothing is tried");
    let before = org.state().await;
    for (request, errors) in cases {
        // With a key, a refusal that consumed it would leave a row.
        request.key(unknown_id()).send().await.refused_for(422, &errors);
    }
    assert_eq!(org.state().await, before, "a refused call changed something");
}

#[tokio::test]
async fn limit_and_offset_have_bounds() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for list in fixture.lists() {
        for (name, value, code) in [
            ("limit", "0", "out_of_range"),
            ("limit", "201", "out_of_range"),
            ("limit", "-1", "out_of_range"),
            ("limit", "100000000000000000000", "out_of_range"),
            ("limit", "1e2", "invalid_type"),
            ("limit", "", "invalid_type"),
            ("limit", "ten", "invalid_type"),
            ("limit", "10.0", "invalid_type"),
            ("limit", "0x10", "invalid_type"),
            ("limit", "10 ", "invalid_type"),
            ("limit", "null", "invalid_type"),
            ("offset", "-1", "out_of_range"),
            ("offset", "100000000000000000000", "out_of_range"),
            ("offset", "9223372036854775808", "out_of_range"),
            ("offset", "", "invalid_type"),
            ("offset", "1e2", "invalid_type"),
            ("offset", "0.5", "invalid_type"),
        ] {
            cases.push((fixture.call(list).query(name, value), vec![(name, code)]));
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn a_parameter_is_given_once() {
    let fixture = Fixture::new().await;
    let parameters: Vec<(&Operation, Field)> = fixture
        .operations()
        .flat_map(|operation| operation.parameters("query").into_iter().map(move |field| (operation, field)))
        .collect();
    let value = |field: &Field, n: usize| match field.schema["enum"][n].as_str() {
        Some(value) => value.to_owned(),
        None if field.schema["format"] == "uuid" => unknown_id(),
        None if field.schema["type"] == "boolean" => (n > 0).to_string(),
        None => (10 + n).to_string(),
    };
    let mut cases = Vec::new();
    for (operation, field) in &parameters {
        let name = field.name.as_str();
        let first = value(field, 0);
        for second in [first.clone(), value(field, 1)] {
            let twice = fixture.call(operation).query(name, &first).query(name, second);
            cases.push((twice, vec![(name, "invalid_value")]));
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn search_is_counted_in_characters_as_sent() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for operation in fixture.operations().filter(|operation| operation.has("query", "search")) {
        let search = operation.parameters("query").into_iter().find(|field| field.name == "search").expect("search");
        let max = usize::try_from(search.schema["maxLength"].as_u64().expect("a length")).expect("a length");
        for text in ["a".repeat(max), "日".repeat(max), "ß".repeat(max), " ".repeat(max), String::new()] {
            fixture.call(operation).query("search", text).send().await.ok(200);
        }
        let too_long =
            ["a".repeat(max + 1), "日".repeat(max + 1), format!("{}a", " ".repeat(max)), " ".repeat(max + 1)];
        for text in too_long {
            cases.push((fixture.call(operation).query("search", text), vec![("search", "too_long")]));
        }
        for text in ["a\0", "\0", "a\u{1}b", "a\nb", "a\tb", "a\u{7f}b", "a\u{85}b"] {
            cases.push((fixture.call(operation).query("search", text), vec![("search", "invalid_value")]));
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn a_query_that_is_no_text_is_refused() {
    let org = Org::new().await;
    for piece in ["search=%ff", "search=a%C3", "search=%ED%A0%80"] {
        let answer = org.get(CONTACTS).raw_query(piece).send().await;
        assert_eq!((answer.status, answer.errors().len()), (422, 1), "{answer}");
        assert_eq!(answer.errors()[0].0, "search", "{answer}");
    }
}

#[tokio::test]
async fn a_parameter_without_a_readable_name_is_refused() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for operation in fixture.operations() {
        let call = || fixture.call(operation);
        for piece in ["=x", "=", "&=x", "=x&"] {
            cases.push((call().raw_query(piece), vec![("query", "unknown_parameter")]));
        }
        cases.push((call().raw_query("%ff=1"), vec![("query", "invalid_format")]));
        let both = call().raw_query("=x").raw_query("%ff");
        cases.push((both, vec![("query", "unknown_parameter"), ("query", "invalid_format")]));
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn a_long_name_of_a_parameter_is_cut_where_it_is_told() {
    let org = Org::new().await;
    let answer = org.get(CONTACTS).query(&"n".repeat(20_000), 1).send().await;
    assert_eq!(answer.status, 422, "{answer}");
    let (field, code) = answer.errors().remove(0);
    assert_eq!((code.as_str(), field.strip_prefix(&"n".repeat(200))), ("unknown_parameter", Some("…")));
    assert!(answer.bytes.len() < 2_000, "{} bytes", answer.bytes.len());
}

#[tokio::test]
async fn an_unknown_query_parameter_is_refused_everywhere() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for operation in fixture.operations() {
        let is_unknown = |name: &&str| !operation.has("query", name);
        let names = ["q", "Limit", "page", "lifecycle", "search[]", "limit", "fields", "upsert"];
        for name in names.into_iter().filter(is_unknown) {
            cases.push((fixture.call(operation).query(name, "x"), vec![(name, "unknown_parameter")]));
        }
        cases.push((fixture.call(operation).raw_query("cursor"), vec![("cursor", "unknown_parameter")]));
    }
    for list in fixture.lists() {
        let several = fixture.call(list).query("page", 1).query("limit", 0).query("offset", "x").query("per_page", 1);
        let expected = vec![
            ("page", "unknown_parameter"),
            ("per_page", "unknown_parameter"),
            ("limit", "out_of_range"),
            ("offset", "invalid_type"),
        ];
        cases.push((several, expected));
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn an_id_in_a_path_is_a_uuid() {
    let fixture = Fixture::new().await;
    let id = &fixture.ids["contact_id"];
    let parameters: Vec<(&Operation, String)> = fixture
        .operations()
        .flat_map(|operation| operation.parameters("path").into_iter().map(move |field| (operation, field.name)))
        .map(|(operation, name)| (operation, format!("path.{name}")))
        .collect();
    let bare = id.replace('-', "");
    let mut cases = Vec::new();
    for text in [
        "1",
        "me",
        "not-a-uuid",
        "null",
        "%20",
        "%00",
        "%ff",
        "..%2Fworkspaces",
        &id[1..],
        &format!("{id}0"),
        &format!("%20{id}"),
        &format!("%7B{id}%7D"),
        &format!("urn:uuid:{id}"),
        &bare,
        &id.replace('0', "g"),
    ] {
        for (operation, field) in &parameters {
            let mut ids = fixture.ids.clone();
            ids.insert(field.trim_start_matches("path.").to_owned(), text.to_owned());
            let request = fixture.org.call(operation.method.clone(), fixture::path(operation, &ids));
            let request = fixture.body(operation).iter().fold(request, Request::json);
            cases.push((request, vec![(field.as_str(), "invalid_format")]));
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn all_that_is_wrong_is_said_at_once() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let everything = json!({
        "display_name": " ",
        "kind": "alien",
        "email": "nowhere",
        "external_reference": 7,
        "nickname": "Ada",
        "age": 7,
    });
    let in_body = [
        ("display_name", "too_short"),
        ("kind", "invalid_value"),
        ("email", "invalid_format"),
        ("external_reference", "invalid_type"),
        ("nickname", "unknown_field"),
        ("age", "unknown_field"),
    ];
    let with = |more: &[(&'static str, &'static str)]| [in_body.as_slice(), more].concat();
    let before = org.state().await;

    org.post(CONTACTS, &everything).send().await.refused_for(422, &in_body);
    org.post(CONTACTS, &json!({})).send().await.refused_for(422, &[("display_name", "required"), ("kind", "required")]);
    org.post(CONTACTS, &everything)
        .key("k".repeat(256))
        .query("upsert", 1)
        .send()
        .await
        .refused_for(422, &with(&[("header.idempotency-key", "too_long"), ("upsert", "unknown_parameter")]));
    org.patch(format!("{CONTACTS}/ada"), &everything)
        .if_match("not an entity tag")
        .query("upsert", 1)
        .send()
        .await
        .refused_for(
            422,
            &with(&[
                ("path.contact_id", "invalid_format"),
                ("header.if-match", "invalid_format"),
                ("upsert", "unknown_parameter"),
            ]),
        );
    org.post(format!("{WORKSPACES}/x/contacts"), &json!({"contact_id": "y", "role": "signer"}))
        .send()
        .await
        .refused_for(
            422,
            &[("path.workspace_id", "invalid_format"), ("contact_id", "invalid_format"), ("role", "unknown_field")],
        );
    org.get(format!("{CONTACTS}/x"))
        .query("limit", 1)
        .send()
        .await
        .refused_for(422, &[("path.contact_id", "invalid_format"), ("limit", "unknown_parameter")]);
    // An unreadable body is one error beside those of path and query.
    org.patch(format!("{CONTACTS}/ada"), &json!({}))
        .body("application/json", "{")
        .query("upsert", 1)
        .send()
        .await
        .refused_for(
            422,
            &[("path.contact_id", "invalid_format"), ("upsert", "unknown_parameter"), ("body", "malformed_json")],
        );

    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn an_idempotency_key_is_short_printable_ascii() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    let posts = || fixture.writes().filter(|operation| operation.has("header", "Idempotency-Key"));
    assert!(posts().count() > 0);
    let before = org.state().await;
    for (key, code) in [
        ("k".repeat(256).into_bytes(), "too_long"),
        (format!("\"{}\"", "k".repeat(256)).into_bytes(), "too_long"),
        (Vec::new(), "invalid_format"),
        (b"\"\"".to_vec(), "invalid_format"),
        ("schlüssel".as_bytes().to_vec(), "invalid_format"),
        (b"a\xffb".to_vec(), "invalid_format"),
        (b"a\tb".to_vec(), "invalid_format"),
    ] {
        for post in posts() {
            let answer = fixture.call(post).header("idempotency-key", key.clone()).send().await;
            answer.refused_for(422, &[("header.idempotency-key", code)]);
        }
    }
    for post in posts() {
        let answer = fixture.call(post).key("one").key("two").send().await;
        assert_eq!(answer.status, 422, "{answer}");
        assert_eq!(answer.errors()[0].0, "header.idempotency-key", "{answer}");
    }
    assert_eq!(org.state().await, before);
    for (n, key) in ["k".repeat(255), format!("\"{}\"", "q".repeat(255)), "!#~{}:/?".to_owned()].iter().enumerate() {
        org.post(WORKSPACES, &json!({"name": format!("{n}")})).key(key).send().await.ok(201);
    }
}

#[tokio::test]
async fn if_match_is_an_entity_tag() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for tag in ["", "1", "not a tag", "\"open", "W/", "\"a\" \"b\""] {
        for operation in fixture.operations().filter(|operation| operation.has("header", "If-Match")) {
            cases.push((fixture.call(operation).if_match(tag), vec![("header.if-match", "invalid_format")]));
        }
    }
    assert!(!cases.is_empty());
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn refusals_come_in_one_order() {
    let fixture = Fixture::new().await;
    let (org, read_only) = (&fixture.org, fixture.org.read_only());
    let contact_path = fixture.path(fixture.operation("get_contact"));
    let malformed_id = format!("{CONTACTS}/x");
    let unknown = format!("{CONTACTS}/{}", unknown_id());
    let bad = json!({"kind": "alien"});
    let good = json!({"kind": "llc"});
    let before = org.state().await;

    let anonymous = org.anonymous();
    anonymous.get("/api/v1/nowhere").send().await.refused(401);
    anonymous.call(http::Method::DELETE, CONTACTS).send().await.refused(401);
    anonymous.patch(&malformed_id, &bad).send().await.refused(401);
    read_only.post("/api/v1/nowhere", &bad).send().await.refused(404);
    read_only.post(&contact_path, &bad).send().await.refused(405);
    read_only.call(http::Method::DELETE, CONTACTS).send().await.refused(405);
    read_only.patch(&malformed_id, &bad).if_match("x").send().await.refused(403);
    read_only.patch(&unknown, &good).send().await.refused(403);
    org.post(WORKSPACES, &json!({"name": "Keyed"})).key("order").send().await.ok(201);
    org.post(WORKSPACES, &json!({})).key("order").send().await.refused_for(422, &[("name", "required")]);
    let add = json!({"contact_id": unknown_id()});
    org.post(format!("{WORKSPACES}/{}/contacts", unknown_id()), &add).key("order").send().await.refused(409);
    org.patch(&unknown, &bad).send().await.refused_for(422, &[("kind", "invalid_value")]);
    org.patch(&unknown, &good).if_match("\"stale\"").send().await.refused(404);
    org.post(CONTACTS, &json!({"display_name": "H", "kind": "llc", "external_reference": "held"})).send().await.ok(201);
    let taken = json!({"external_reference": "held"});
    org.patch(&contact_path, &taken).if_match("\"stale\"").send().await.refused(409);
    org.patch(&contact_path, &taken).send().await.refused_for(422, &[("external_reference", "taken")]);

    let ours = |rows: Vec<Value>| {
        rows.into_iter()
            .filter(|row| row["pk"].as_str().is_some_and(|key| key.contains(&fixture.ids["contact_id"])))
            .collect::<Vec<_>>()
    };
    assert_eq!(ours(org.state().await), ours(before), "the contact changed");
    assert_eq!((org.total(CONTACTS).await, org.total(WORKSPACES).await), (7, 3));
}

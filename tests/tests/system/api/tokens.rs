//! Who may call: every operation × every kind of token.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use shared::store::Store;
use tests::client::Request;
use tests::spec::{self, Operation};
use tests::{Answer, Fixture, Org, fixture, raw};

use crate::unknown_id;

async fn operations(org: &Org) -> Vec<Operation> {
    spec::operations(&spec::description(org.base_url()).await)
}

fn changed(token: &str, place: usize) -> String {
    let replacement = if token.as_bytes()[place] == b'x' { "y" } else { "x" };
    format!("{}{replacement}{}", &token[..place], &token[place + 1..])
}

/// A well-formed token of another table.
async fn unknown_token(org: &Org) -> String {
    let elsewhere = Store::new(org.stack().table().client(), format!("elsewhere-{}", unknown_id()));
    elsewhere.create_table().await.expect("another table");
    let id = ops::create_organization(&elsewhere, "Elsewhere").await.expect("an organization elsewhere");
    let new = ops::NewToken { name: "Elsewhere", scope: Scope::ReadWrite, issued_at: Timestamp::now() };
    ops::create_token(&elsewhere, id, new).await.expect("a token elsewhere").value
}

#[track_caller]
fn assert_unauthenticated(answer: &Answer, like: &Answer) {
    answer.refused(401);
    assert_eq!(answer.header("www-authenticate"), "Bearer", "{answer}");
    assert_eq!(answer.without_request_id(), like.without_request_id(), "one refusal tells more than another");
    let names = |answer: &Answer| {
        let mut names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        names.retain(|name| !["date", "connection"].contains(&name.as_str()));
        names.sort();
        names
    };
    assert_eq!(names(answer), names(like), "one refusal has other headers than another");
    assert_eq!(answer.header("content-length"), like.header("content-length"));
}

#[tokio::test]
async fn who_is_not_known_is_refused_alike_everywhere() {
    let org = Org::new().await;
    let token = &org.token.value;
    let expired = org.issue("Expired", Scope::ReadWrite, Timestamp::now().plus_seconds(-90 * 24 * 3600)).await;
    let revoked = org.issue("Revoked", Scope::ReadWrite, Timestamp::now()).await;
    org.with_token(&revoked.value).get("/api/v1/me").send().await.ok(200);
    org.revoke(revoked.id).await;
    let authorizations: Vec<Option<Vec<u8>>> = vec![
        None,
        Some(b"".to_vec()),
        Some(b"Bearer".to_vec()),
        Some(b"Bearer ".to_vec()),
        Some(token.clone().into_bytes()),
        Some(format!("Basic {token}").into_bytes()),
        Some(format!("Token {token}").into_bytes()),
        Some(format!("Bearer{token}").into_bytes()),
        Some(format!("Bearer {token} {token}").into_bytes()),
        Some(format!("Bearer {token},Bearer {token}").into_bytes()),
        Some(b"Bearer nonsense".to_vec()),
        Some(b"Bearer \xff\xfe".to_vec()),
        Some(format!("Bearer {}", &token[..token.len() - 1]).into_bytes()),
        Some(format!("Bearer {token}0").into_bytes()),
        Some(format!("Bearer {}", token.to_uppercase()).into_bytes()),
        Some(format!("Bearer {}", changed(token, 3)).into_bytes()),
        Some(format!("Bearer {}", changed(token, 20)).into_bytes()),
        Some(format!("Bearer {}", changed(token, token.len() - 1)).into_bytes()),
        Some(format!("Bearer {}", unknown_token(&org).await).into_bytes()),
        Some(format!("Bearer {}", expired.value).into_bytes()),
        Some(format!("Bearer {}", revoked.value).into_bytes()),
    ];
    let contact = org.contact("Ada").await;
    let before = org.state().await;
    let anonymous = org.anonymous();
    let like = anonymous.get("/api/v1/me").send().await;
    for operation in operations(&org).await {
        for authorization in &authorizations {
            let mut request = operation.call(&anonymous, contact["id"].as_str().expect("an id"));
            if let Some(authorization) = authorization {
                request = request.header("authorization", authorization.clone());
            }
            assert_unauthenticated(&request.send().await, &like);
        }
    }
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn two_authorizations_are_none() {
    let org = Org::new().await;
    let like = org.anonymous().get("/api/v1/me").send().await;
    let header = format!("Authorization: Bearer {}", org.token.value).into_bytes();
    let other = format!("authorization: Bearer {}", org.read_only_token.value).into_bytes();
    for operation in operations(&org).await {
        let first_line = format!("{} {} HTTP/1.1", operation.method, operation.path_with(&unknown_id()));
        for second in [&header, &other] {
            let head: [&[u8]; 4] = [first_line.as_bytes(), &header, second, b"content-length: 0"];
            let answer = raw::send(org.base_url(), &head, b"").await;
            answer.refused(401);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert_eq!(answer.without_request_id(), like.without_request_id());
        }
    }
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case() {
    let org = Org::new().await;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        let authorization = format!("{scheme} {}", org.token.value);
        org.anonymous().get("/api/v1/me").header("authorization", authorization).send().await.ok(200);
    }
}

#[tokio::test]
async fn a_token_has_a_form_that_a_scanner_can_tell() {
    let org = Org::new().await;
    for token in [&org.token.value, &org.read_only_token.value] {
        let characters = token.strip_prefix("cs_").expect("the prefix");
        assert_eq!(characters.len(), 46);
        assert!(characters.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
    }
    assert_ne!(org.token.value, org.read_only_token.value);
}

#[tokio::test]
async fn a_token_dies_on_the_day_and_not_before() {
    const NINETY_DAYS_S: i64 = 90 * 24 * 3600;
    let org = Org::new().await;
    let now = Timestamp::now();
    let last_hour = org.issue("Last hour", Scope::Read, now.plus_seconds(3600 - NINETY_DAYS_S)).await;
    let dead = org.issue("Dead", Scope::Read, now.plus_seconds(-NINETY_DAYS_S)).await;
    org.with_token(&last_hour.value).get("/api/v1/me").send().await.ok(200);
    org.with_token(&dead.value).get("/api/v1/me").send().await.refused(401);
}

#[tokio::test]
async fn a_token_that_is_revoked_stops_and_the_others_go_on() {
    let org = Org::new().await;
    org.revoke(org.token.id).await;
    org.get("/api/v1/me").send().await.refused(401);
    org.post("/api/v1/workspaces", &json!({"name": "Late"})).send().await.refused(401);
    org.read_only().get("/api/v1/me").send().await.ok(200);
    assert_eq!(org.read_only().get("/api/v1/workspaces").send().await.ok(200)["pagination"]["total"], 0);
}

#[tokio::test]
async fn a_read_only_token_reads_everything_and_writes_nothing() {
    let fixture = Fixture::new().await;
    let (org, read_only) = (&fixture.org, fixture.org.read_only());
    for read in fixture.operations().filter(|operation| !operation.is_write()) {
        fixture.call_by(&read_only, read).send().await.ok(200);
    }
    let before = org.state().await;
    for write in fixture.writes() {
        let unknown = write.call(&read_only, &unknown_id());
        let malformed = write.call(&read_only, "not-a-uuid");
        for call in [fixture.call_by(&read_only, write), unknown, malformed] {
            for request in [
                call.clone(),
                call.clone().json(&json!({})),
                call.clone().json(&json!({"unknown": 1})),
                call.clone().json(&json!([])),
                call.clone().body("application/json", "{"),
                call.clone().body("application/json", ""),
                call.clone().body("text/plain", "hello"),
                call.clone().body("application/json", " ".repeat(1024 * 1024 + 1)),
                call.clone().query("unknown", 1),
                call.clone().key("k".repeat(300)),
                call.clone().key("a key"),
                call.clone().if_match("nonsense"),
            ] {
                request.send().await.refused(403);
            }
        }
    }
    assert_eq!(org.state().await, before);
}

async fn foreign_and_unknown(ours: &Fixture, operation: &Operation, name: &str, foreign: &str) -> [Answer; 2] {
    let call = async |id: &str| {
        let (mut path, mut body) = (ours.ids.clone(), ours.body(operation));
        if operation.has("path", name) {
            path.insert(name.to_owned(), id.to_owned());
        } else {
            let place = &mut body.as_mut().expect("a body")[name];
            *place = if place.is_array() { json!([id]) } else { json!(id) };
        }
        let request = ours.org.call(operation.method.clone(), fixture::path(operation, &path));
        body.iter().fold(request, Request::json).send().await
    };
    [call(foreign).await, call(&unknown_id()).await]
}

#[tokio::test]
async fn a_foreign_record_does_not_exist() {
    let (ours, theirs) = (Fixture::new().await, Fixture::new().await);
    let (before, before_theirs) = (ours.org.state().await, theirs.org.state().await);
    let mut covered = BTreeSet::new();
    for operation in ours.operations() {
        let in_path = operation.parameters("path").into_iter().map(|field| (field.name, None));
        let in_body = operation.fields().into_iter().filter(|field| ours.ids.contains_key(&field.name));
        let is_list = |name: &str| ours.body(operation).is_some_and(|body| body[name].is_array());
        let in_body = in_body.map(|field| {
            let told = if is_list(&field.name) { format!("{}[0]", field.name) } else { field.name.clone() };
            (field.name, Some(told))
        });
        for (name, field) in in_path.chain(in_body) {
            for foreign in theirs.ids.values() {
                let [foreign, unknown] = foreign_and_unknown(&ours, operation, &name, foreign).await;
                assert_eq!((foreign.status, unknown.status), (404, 404), "{} {foreign}", operation.id);
                assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "{}", operation.id);
                let errors: Vec<_> = field.iter().map(|field| (field.clone(), "not_found".to_owned())).collect();
                assert_eq!(foreign.errors(), errors, "{}", operation.id);
            }
            covered.insert(format!("{} {name}", operation.id));
        }
    }
    for place in [
        "get_contact contact_id",
        "add_workspace_contact contact_id",
        "create_proposal agreement_id",
        "list_information agreement_id",
        "get_funding_item item_id",
        "update_funding_item trust_id",
        "paper_funding_items item_ids",
    ] {
        assert!(covered.contains(place), "{place} is not among {covered:?}");
    }
    assert_eq!(ours.org.state().await, before);
    assert_eq!(theirs.org.state().await, before_theirs);
}

#[tokio::test]
async fn no_answer_carries_a_token() {
    let fixture = Fixture::new().await;
    let org = &fixture.org;
    for operation in fixture.operations() {
        let answer = fixture.call(operation).send().await;
        assert!(answer.status < 300, "{answer}");
        let text = String::from_utf8_lossy(&answer.bytes).into_owned() + &format!("{:?}", answer.headers);
        assert!(!text.contains(&org.token.value[3..]), "{}", operation.id);
    }
    let rows: Vec<Value> = tests::rows::all(org.stack().table()).await;
    let text = json!(rows).to_string();
    assert!(text.contains(&org.token.id.to_string()), "the rows are seen at all");
    for token in [&org.token.value, &org.read_only_token.value] {
        assert!(!text.contains(&token[3..]), "only a hash of a token is stored");
    }
}

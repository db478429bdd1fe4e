//! Audit rows: one per call, with ids and codes, and nothing that a user wrote.

use http::Method;
use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use tests::{Answer, Fixture, Org, log, rows};

use crate::unknown_id;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

async fn objects_of(org: &Org, answer: &Answer) -> Vec<String> {
    let audit = org.audit().await;
    let row = audit.iter().find(|row| row["sk"] == answer.request_id()).expect("a row");
    sorted(rows::objects(row))
}

#[tokio::test]
async fn every_call_of_a_known_token_has_one_row() {
    let org = Org::new().await;
    assert_eq!(org.audit().await, Vec::<Value>::new());
    let contact = json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"});
    // Operation, code, status, and whose ids the row must name.
    let mut expected: Vec<(Answer, &str, &str, Vec<String>)> = Vec::new();

    let created = org.post(CONTACTS, &contact).key("a").send().await;
    let ada = created.id(201);
    let ada_path = format!("{CONTACTS}/{ada}");
    expected.push((created, "create_contact", "ok", vec![ada.clone()]));
    let replayed = org.post(CONTACTS, &contact).key("a").send().await;
    expected.push((replayed, "create_contact", "replayed", vec![ada.clone()]));
    expected.push((org.post(CONTACTS, &contact).send().await, "create_contact", "ok", vec![ada.clone()]));
    let other = json!({"display_name": "Eve", "kind": "llc"});
    expected.push((org.post(CONTACTS, &other).key("a").send().await, "create_contact", "conflict", vec![]));
    expected.push((org.post(CONTACTS, &json!({})).send().await, "create_contact", "invalid_request", vec![]));
    let patched = org.patch(&ada_path, &json!({"kind": "llc"})).send().await;
    expected.push((patched, "update_contact", "ok", vec![ada.clone()]));
    let unchanged = org.patch(&ada_path, &json!({"kind": "llc"})).send().await;
    expected.push((unchanged, "update_contact", "ok", vec![ada.clone()]));
    let stale = org.patch(&ada_path, &json!({"kind": "llc"})).if_match("\"0\"").send().await;
    expected.push((stale, "update_contact", "conflict", vec![ada.clone()]));
    let read_only = org.read_only();
    let forbidden = read_only.patch(&ada_path, &json!({"kind": "llc"})).send().await;
    expected.push((forbidden, "update_contact", "forbidden", vec![ada.clone()]));

    let created = org.post(WORKSPACES, &json!({"name": "Harbor"})).send().await;
    let harbor = created.id(201);
    expected.push((created, "create_workspace", "ok", vec![harbor.clone()]));
    let people = format!("{WORKSPACES}/{harbor}/contacts");
    let added = org.post(&people, &json!({"contact_id": ada})).send().await;
    expected.push((added, "add_workspace_contact", "ok", vec![harbor.clone(), ada.clone()]));
    let nobody = unknown_id();
    let missing = org.post(&people, &json!({"contact_id": nobody})).send().await;
    expected.push((missing, "add_workspace_contact", "not_found", vec![harbor.clone(), nobody]));

    expected.push((org.get("/api/v1/me").send().await, "get_identity", "ok", vec![]));
    expected.push((read_only.get(&ada_path).send().await, "get_contact", "ok", vec![ada.clone()]));
    let unknown = unknown_id();
    expected.push((org.get(format!("{CONTACTS}/{unknown}")).send().await, "get_contact", "not_found", vec![unknown]));
    expected.push((org.get(format!("{CONTACTS}/x")).send().await, "get_contact", "invalid_request", vec![]));
    expected.push((org.get(CONTACTS).send().await, "list_contacts", "ok", vec![ada.clone()]));
    expected.push((org.get(CONTACTS).query("limit", 0).send().await, "list_contacts", "invalid_request", vec![]));
    expected.push((org.get(WORKSPACES).send().await, "list_workspaces", "ok", vec![harbor.clone()]));
    let got = org.get(format!("{WORKSPACES}/{harbor}")).send().await;
    expected.push((got, "get_workspace", "ok", vec![harbor.clone()]));
    expected.push((org.get("/api/v1/nowhere").send().await, "none", "not_found", vec![]));
    expected.push((org.call(Method::DELETE, &ada_path).send().await, "wrong_method", "method_not_allowed", vec![ada]));

    let audit = org.audit().await;
    assert_eq!(audit.len(), expected.len(), "one row for each call");
    // Rows are sorted by request id, and request ids by time.
    for (row, (answer, operation, code, objects)) in audit.iter().zip(&expected) {
        assert_eq!(row["sk"], answer.request_id(), "{operation}");
        assert_eq!(row["operation"], *operation);
        assert_eq!(row["code"], *code, "{operation}");
        assert_eq!(row["status"], answer.status.to_string());
        let is_read_only = *code == "forbidden" || answer.status == 200 && *operation == "get_contact";
        let token = if is_read_only { &org.read_only_token } else { &org.token };
        assert_eq!(row["token_id"], token.id.to_string());
        assert!(row["at"].as_str().is_some_and(|at| at.parse::<Timestamp>().is_ok()), "{row}");
        assert_eq!(sorted(rows::objects(row)), sorted(objects.clone()), "what {operation} {code} is about");
        assert!(row.get("ttl").is_none(), "rows of an organization are kept for good");
    }
}

#[tokio::test]
async fn the_row_of_a_call_has_the_name_of_its_operation() {
    let fixture = Fixture::new().await;
    for operation in fixture.operations() {
        let answer = fixture.call(operation).send().await;
        let audit = fixture.org.audit().await;
        let rows: Vec<&Value> = audit.iter().filter(|row| row["sk"] == answer.request_id()).collect();
        assert_eq!(rows.len(), 1, "{}", operation.id);
        assert_eq!((&rows[0]["operation"], &rows[0]["code"]), (&json!(operation.id), &json!("ok")));
        let named = rows::objects(rows[0]);
        let in_path = operation.parameters("path").into_iter().map(|field| field.name);
        for name in in_path.chain(operation.fields().into_iter().map(|field| field.name)) {
            if let Some(id) = fixture.ids.get(&name) {
                assert!(named.contains(id), "{} does not say which {name}: {named:?}", operation.id);
            }
        }
    }
}

/// Rows record a body's references like a path's, whatever became of the call.
#[tokio::test]
async fn a_row_names_what_path_and_body_refer_to() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (ada, harbor) = (org.contact("Ada").await, org.workspace("Harbor").await);
    let theirs = other.contact("Theirs").await;
    let nobody = json!({"id": unknown_id()});
    let add = |workspace: &Value, contact: &Value| {
        org.post(format!("{WORKSPACES}/{}/contacts", id(workspace)), &json!({"contact_id": contact["id"]}))
    };
    for (workspace, contact, status) in [
        (&harbor, &ada, 201),
        (&harbor, &ada, 201),
        (&harbor, &nobody, 404),
        (&harbor, &theirs, 404),
        (&nobody, &ada, 404),
    ] {
        let answer = add(workspace, contact).send().await;
        assert_eq!(answer.status, status, "{answer}");
        let both = [id(workspace), id(contact)].map(str::to_owned);
        assert_eq!(objects_of(&org, &answer).await, sorted(both.into()), "{answer}");
    }
    let answer = add(&nobody, &nobody).send().await;
    answer.refused(404);
    assert_eq!(objects_of(&org, &answer).await, [id(&nobody)]);
    let answer = org.post(format!("{WORKSPACES}/{}/contacts", id(&harbor)), &json!({"contact_id": 1})).send().await;
    answer.refused_for(422, &[("contact_id", "invalid_type")]);
    assert_eq!(objects_of(&org, &answer).await, [id(&harbor)]);
}

#[tokio::test]
async fn the_row_of_a_replay_names_what_was_answered_first() {
    let org = Org::new().await;
    let ada = org.contact("Ada").await;
    let harbor = org.workspace("Harbor").await;
    let people = format!("{WORKSPACES}/{}/contacts", id(&harbor));
    for (path, body) in [
        (CONTACTS, json!({"display_name": "Ben", "kind": "person"})),
        (WORKSPACES, json!({"name": "Pine"})),
        (&people, json!({"contact_id": ada["id"]})),
    ] {
        let request = org.post(path, &body).key(path);
        let original = request.clone().send().await;
        let replay = request.send().await;
        assert!(replay.is_replay());
        let objects = objects_of(&org, &original).await;
        assert!(objects.contains(&original.id(201)), "{objects:?}");
        assert_eq!(objects_of(&org, &replay).await, objects, "{path}");
    }
}

#[tokio::test]
async fn a_token_that_works_no_more_is_refused_on_its_organizations_record() {
    let org = Org::new().await;
    let expired = org.issue("Expired", Scope::Read, Timestamp::now().plus_seconds(-91 * 24 * 3600)).await;
    let revoked = org.issue("Revoked", Scope::Read, Timestamp::now()).await;
    org.revoke(revoked.id).await;
    for token in [&expired, &revoked] {
        let answer = org.with_token(&token.value).get("/api/v1/me").send().await;
        answer.refused(401);
        let audit = org.audit().await;
        let row = audit.iter().find(|row| row["sk"] == answer.request_id()).expect("a row");
        assert_eq!((&row["token_id"], &row["code"]), (&json!(token.id.to_string()), &json!("unauthenticated")));
    }
}

#[tokio::test]
async fn an_unknown_token_leaves_its_trace_in_the_services_trail() {
    const THIRTY_DAYS_S: i64 = 30 * 24 * 3600;
    let org = Org::new().await;
    let answers = [
        org.anonymous().get("/api/v1/me").send().await,
        org.with_token("nonsense").post(CONTACTS, &json!({})).send().await,
        org.anonymous().get("/api/v1/nowhere").send().await,
    ];
    let trail: Vec<Value> = rows::all(org.stack().table())
        .await
        .into_iter()
        .filter(|row| row["pk"].as_str().is_some_and(|pk| pk.starts_with("TRAIL#")))
        .collect();
    for answer in &answers {
        answer.refused(401);
        let entries: Vec<&Value> = trail.iter().filter(|row| row["sk"] == answer.request_id()).collect();
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0]["status"], &entries[0]["code"]), (&json!("401"), &json!("unauthenticated")));
        let drop_at: i64 = entries[0]["ttl"].as_str().expect("a time to drop it").parse().expect("seconds");
        let left_s = drop_at - Timestamp::now().unix_s();
        assert!((THIRTY_DAYS_S - 600..=THIRTY_DAYS_S).contains(&left_s), "the trail is kept thirty days: {left_s}");
    }
    assert_eq!(org.audit().await, Vec::<Value>::new(), "nobody's call is on no organization's record");
}

#[tokio::test]
async fn the_description_is_public_and_leaves_no_row() {
    let org = Org::new().await;
    let answers = [org.get("/openapi.json").send().await, org.anonymous().get("/openapi.json").send().await];
    let rows = rows::all(org.stack().table()).await;
    for answer in &answers {
        answer.ok(200);
        assert!(rows.iter().all(|row| row["sk"] != answer.request_id()));
    }
    assert_eq!(org.audit().await, Vec::<Value>::new());
}

#[tokio::test]
async fn no_row_and_no_log_line_holds_what_a_user_wrote() {
    let org = Org::new().await;
    let word = |name: &str| format!("canary-{name}-{}", uuid::Uuid::new_v4().simple());
    let (name, reference, deal, search, key, extra) =
        (word("name"), word("ref"), word("deal"), word("search"), word("key"), word("extra"));
    let email = format!("{}@canary.example", word("mail"));
    let typed_token = format!("cs_{}", word("token"));
    let body = json!({"display_name": name, "kind": "person", "email": email, "external_reference": reference});

    let mut answers = Vec::new();
    let created = org.post(CONTACTS, &body).key(&key).send().await;
    let ada_path = format!("{CONTACTS}/{}", created.id(201));
    answers.push(org.post(CONTACTS, &body).key(&key).send().await);
    answers.push(org.post(CONTACTS, &json!({"display_name": extra})).key(&key).send().await);
    answers.push(org.post(CONTACTS, &json!({"display_name": name, "kind": extra, (extra.as_str()): 1})).send().await);
    answers.push(org.patch(&ada_path, &json!({"display_name": format!("{name} II"), "email": extra})).send().await);
    answers.push(org.patch(&ada_path, &json!({"display_name": format!("{name} II")})).send().await);
    let workspace = org.post(WORKSPACES, &json!({"name": deal})).send().await;
    let people = format!("{WORKSPACES}/{}/contacts", workspace.id(201));
    answers.push(org.post(&people, &json!({"contact_id": id(&created.json())})).send().await);
    answers.push(org.post(&people, &json!({"contact_id": extra})).send().await);
    answers.push(org.get(CONTACTS).query("search", &search).send().await);
    answers.push(org.get(CONTACTS).query(&extra, &search).send().await);
    answers.push(org.get(WORKSPACES).query("search", &deal).send().await);
    answers.push(org.get(format!("{CONTACTS}/{extra}")).send().await);
    answers.push(org.get(format!("/api/v1/{extra}")).send().await);
    answers.push(org.patch(&ada_path, &json!({"kind": "llc"})).if_match(format!("\"{extra}\"")).send().await);
    answers.push(org.with_token(&typed_token).get("/api/v1/me").send().await);
    answers.push(
        org.get("/api/v1/me").header("user-agent", extra.clone()).header("x-request-id", extra.clone()).send().await,
    );
    answers.extend([created, workspace]);

    let log_file = org.stack().log_file();
    for answer in &answers {
        log::line(log_file, &answer.request_id()).await;
    }
    let log = std::fs::read_to_string(log_file).expect("the log");
    let is_record =
        |row: &&Value| row["pk"].as_str().is_some_and(|pk| pk.contains("#AUDIT#") || pk.starts_with("TRAIL#"));
    let rows = rows::all(org.stack().table()).await;
    let records: Vec<&Value> = rows.iter().filter(is_record).collect();
    assert!(records.len() >= answers.len());
    let records = json!(records).to_string();
    assert!(json!(rows).to_string().contains(&name), "the scan would see a name if it were there");
    let secrets =
        [&org.token.value[3..], &org.read_only_token.value[3..], &typed_token, &org.name, tests::org::TOKEN_NAME];
    for canary in
        [&name, &reference, &deal, &search, &key, &extra, &email].map(String::as_str).into_iter().chain(secrets)
    {
        assert!(!records.contains(canary), "{canary} in an audit row");
        assert!(!log.contains(canary), "{canary} in the log");
    }
}

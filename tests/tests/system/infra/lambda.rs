//! The functions as processes that take API Gateway's events from a Runtime API, on the local stack's store.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use shared::domain::agreement::Agreement;
use shared::domain::agreement::pdf::NotADocument;
use shared::error::Error;
use shared::platform::pdf_reader::{PdfReader, Picture};
use tests::app::{self, Browser, Page};
use tests::aws_services::AwsServices;
use tests::runtime_api::{self, EVENTS, Function, event, recorded};
use tests::{Answer, Org, drafts, hostile_pdf};
use tokio::time::Instant;

use crate::unknown_id;
use crate::webhooks::lambda::{self as webhook_lambda, Cloud};

const BASE_URL: &str = "https://api.countersign.example";

struct Recorded {
    event: &'static str,
    function: &'static str,
    check: fn(&Answer, &Org),
}

const RECORDED: [Recorded; 17] = [
    Recorded {
        event: "get-identity",
        function: "read-api",
        check: |answer, org| assert_eq!(answer.ok(200)["organization_id"], org.id.to_string()),
    },
    Recorded {
        event: "get-identity-without-token",
        function: "read-api",
        check: |answer, _| {
            answer.refused(401);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        },
    },
    Recorded {
        event: "get-openapi",
        function: "read-api",
        check: |answer, _| assert_eq!(answer.ok(200)["openapi"], "3.1.0"),
    },
    Recorded {
        event: "get-openapi-compressed",
        function: "read-api",
        check: |answer, _| {
            assert_eq!((answer.status, answer.header("content-encoding").as_str()), (200, "gzip"));
            assert_eq!(answer.bytes[..2], [0x1f, 0x8b], "a gzip file");
        },
    },
    Recorded { event: "unknown-path", function: "read-api", check: |answer, _| answer.refused(404) },
    Recorded {
        event: "create-contact",
        function: "write-api",
        check: |answer, _| {
            let contact = answer.ok(201);
            assert_eq!(contact["display_name"], "Zoë Ångström");
            assert_eq!(contact["external_reference"], "crm-1001");
            let id = contact["id"].as_str().unwrap_or_default();
            assert_eq!(answer.header("location"), format!("/api/v1/contacts/{id}"));
        },
    },
    Recorded {
        event: "create-contact-base64",
        function: "write-api",
        check: |answer, _| assert_eq!(answer.ok(201)["display_name"], "Straße & Söhne LLC"),
    },
    Recorded { event: "create-contact-read-only", function: "write-api", check: |answer, _| answer.refused(403) },
    Recorded {
        event: "update-contact",
        function: "write-api",
        check: |answer, _| {
            let contact = answer.ok(200);
            assert_eq!((&contact["display_name"], &contact["email"]), (&json!("Ada"), &json!("zoe@angstrom.example")));
            assert!(!answer.etag().is_empty());
        },
    },
    Recorded { event: "list-contacts", function: "read-api", check: finds_zoe },
    Recorded { event: "rest-list-contacts", function: "read-api", check: finds_zoe },
    Recorded {
        event: "rest-create-workspace",
        function: "write-api",
        check: |answer, _| {
            let workspace = answer.ok(201);
            assert_eq!(workspace["name"], "Ångström acquisition");
            assert_eq!((&workspace["people_count"], &workspace["people"]), (&json!(0), &json!([])));
            let app_url = workspace["app_url"].as_str().unwrap_or_default();
            assert!(app_url.starts_with(BASE_URL), "a link of the stage's own origin: {app_url}");
        },
    },
    Recorded {
        event: "create-proposal",
        function: "proposals",
        check: |answer, _| {
            let proposal = answer.ok(201);
            assert_eq!((&proposal["state"], &proposal["note"]), (&json!("pending"), &json!("As agreed with Zoë.")));
            let review = format!("{BASE_URL}/app/proposals/{}", proposal["id"].as_str().expect("an id"));
            assert_eq!(proposal["confirm_url"], review);
        },
    },
    Recorded {
        event: "get-proposal",
        function: "proposals",
        check: |answer, _| assert_eq!(answer.ok(200)["action"], "cancel_agreement"),
    },
    Recorded {
        event: "list-proposals",
        function: "proposals",
        check: |answer, _| {
            let page = answer.ok(200);
            assert_eq!((&page["pagination"]["total"], &page["pagination"]["limit"]), (&json!(2), &json!(10)));
            let actions = [&page["data"][0]["action"], &page["data"][1]["action"]];
            assert_eq!(actions, ["cancel_agreement", "publish_agreement"], "{answer}");
        },
    },
    Recorded {
        event: "mcp-get-identity",
        function: "mcp",
        check: |answer, org| {
            let result = &answer.ok(200)["result"];
            assert_eq!((&result["isError"], &result["resultType"]), (&json!(false), &json!("complete")));
            assert_eq!(result["structuredContent"]["organization_id"], org.id.to_string());
        },
    },
    Recorded {
        event: "paper-funding-items",
        function: "documents",
        check: |answer, _| {
            let draft = answer.ok(201);
            assert_eq!((&draft["name"], &draft["lifecycle"]), (&json!("Art to the trust of Zoë"), &json!("draft")));
            assert_eq!(draft["documents"][0]["name"], "Assignment: A painting");
            let app_url = draft["app_url"].as_str().unwrap_or_default();
            assert!(app_url.starts_with(BASE_URL), "a link of the stage's own origin: {app_url}");
        },
    },
];

const PAGES: [&str; 2] = ["view-sign-in", "sign-in"];

fn finds_zoe(answer: &Answer, _: &Org) {
    let page = answer.ok(200);
    assert_eq!((&page["pagination"]["total"], &page["pagination"]["limit"]), (&json!(1), &json!(10)), "{answer}");
    assert_eq!(page["data"][0]["display_name"], "Zoë Ångström");
}

#[tokio::test]
async fn every_recorded_event_gets_its_answer() {
    let replayed = RECORDED.iter().map(|recorded| recorded.event).chain(webhook_lambda::RECORDED).chain(PAGES);
    assert_eq!(recorded_files(), replayed.map(str::to_owned).collect());
    let org = Org::new().await;
    let contact_id = contact_of(&org).await;
    let draft = drafts::written(&org, "Lease").await;
    let cancellation = json!({"action": "cancel_agreement", "agreement_id": draft.id()});
    let proposal_id = org.post("/api/v1/proposals", &cancellation).send().await.id(201);
    let item = org.ready_item(&org.estate("Harbor").await, "A painting").await;
    let texts = [
        ("read_write_token", org.token.value.as_str()),
        ("read_only_token", &org.read_only_token.value),
        ("contact_id", &contact_id),
        ("agreement_id", &draft.id()),
        ("proposal_id", &proposal_id),
        ("item_id", item["id"].as_str().expect("an id")),
    ];
    let services = AwsServices::new().await;
    let mut functions: BTreeMap<&str, (Function, Vec<String>)> = BTreeMap::new();
    for function in ["read-api", "write-api", "proposals", "mcp"] {
        functions.insert(function, (start(function, &org).await, Vec::new()));
    }
    // It writes documents, so it has a bucket.
    let mut environment = runtime_api::environment(org.stack().table(), BASE_URL);
    environment.extend(services.environment());
    functions.insert("documents", (webhook_lambda::start("documents", &environment).await, Vec::new()));
    for Recorded { event: name, function, check } in RECORDED {
        let (process, answered) = functions.get_mut(function).expect("a function");
        let answer = invoke(process, &recorded(name, &texts)).await;
        eprintln!("{name}: {answer}");
        check(&answer, &org);
        answered.push(answer.request_id());
    }
    assert_eq!(org.total("/api/v1/contacts").await, 7);
    assert_eq!(org.total("/api/v1/workspaces").await, 3);
    assert_eq!(org.total("/api/v1/proposals").await, 2);
    let item = org.item(&item).await;
    let draft = format!("/api/v1/agreements/{}", item["agreement_id"].as_str().expect("a draft papers it"));
    let document = org.get(draft).send().await.ok(200)["documents"][0].clone();
    let files = services.files();
    let path = format!("none/{}/{}", org.id, document["sha256"].as_str().expect("a hash"));
    assert_eq!(files.keys().collect::<Vec<_>>(), [&path], "the one file that the draft names");
    assert_eq!(json!(files[&path].len()), document["size_bytes"]);
    let text = pdf::reading::text(&files[&path]).expect("a PDF");
    assert!(text.contains("The Harbor Trust") && text.contains("A painting"), "{text}");
    for (name, (process, answered)) in &functions {
        assert_eq!(logged(process), *answered, "{name}");
    }
}

/// A REST API passes base64 on as text, unless configured for binary types.
#[tokio::test]
async fn a_rest_api_gets_no_compressed_body() {
    let org = Org::new().await;
    let mut process = start("read-api", &org).await;
    let mut asked: Value = serde_json::from_str(&event("rest-list-contacts", &org, "")).expect("an event is JSON");
    let path = json!("/openapi.json");
    (asked["path"], asked["resource"]) = (path.clone(), path.clone());
    asked["requestContext"]["path"] = path;
    for query in ["queryStringParameters", "multiValueQueryStringParameters"] {
        asked[query] = Value::Null;
    }
    asked["headers"]["Accept-Encoding"] = json!("gzip");
    asked["multiValueHeaders"]["Accept-Encoding"] = json!(["gzip"]);
    let answer = invoke(&mut process, &asked.to_string()).await;
    assert_eq!((&answer.ok(200)["openapi"], answer.header("content-encoding").as_str()), (&json!("3.1.0"), ""));
}

/// API Gateway passes a form on as base64, and cookies apart from other headers, in both directions.
#[tokio::test]
async fn a_browser_signs_in_over_the_recorded_events() {
    let cloud = Cloud::new().await;
    let person = cloud.org.member("Maren Holt").await;
    let mut process = webhook_lambda::start("member-app", &cloud.environment()).await;
    let [view, sign_in] = PAGES;
    let page = open(&mut process, recorded(view, &[])).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let [(cookie, secret)] = &cookies(&page)[..] else { panic!("one cookie: {:?}", page.headers) };
    assert_eq!(cookie, "__Host-form");

    let (token, next) = (page.hidden("form_token"), page.hidden("next"));
    let sent = |password: &str| {
        let fields =
            [("form_token", token.as_str()), ("next", &next), ("email", &person.email), ("password", password)];
        let form = app::form(&fields);
        let texts = [
            ("cookie", format!("{cookie}={secret}")),
            ("form_length", form.len().to_string()),
            ("form_base64", STANDARD.encode(&form)),
        ];
        recorded(sign_in, &texts.each_ref().map(|(name, text)| (*name, text.as_str())))
    };
    let wrong = open(&mut process, sent("a wrong password")).await;
    assert_eq!((wrong.status, cookies(&wrong).len()), (422, 1), "{}", wrong.body);
    let entered = open(&mut process, sent(&person.password)).await;
    assert_eq!((entered.status, entered.location()), (303, "/app/proposals"), "{}", entered.body);
    let given = cookies(&entered);
    let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["__Host-session", "__Host-browser", "__Host-form", "__Host-owner"]);

    let mut again: Value = serde_json::from_str(&recorded(view, &[])).expect("an event is JSON");
    again["cookies"] = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let away = open(&mut process, again.to_string()).await;
    assert_eq!((away.status, away.location()), (303, "/app/proposals"), "{}", away.body);
    let answered = [&page, &wrong, &entered, &away].map(|page| page.headers["x-request-id"].to_str().expect("an id"));
    assert_eq!(logged(&process), answered);
}

#[tokio::test]
async fn the_apps_functions_share_its_pages() {
    let cloud = Cloud::new().await;
    let person = cloud.org.admin("Maren Holt").await;
    let browser = Browser::of(&cloud.org, &person).await;
    let session = browser.cookie("session").expect("a session");
    let part = format!("/app/parts/{}", unknown_id());
    let pictures = format!("/app/pictures/{0}/{0}", unknown_id());
    let (receipt, picture) = (format!("{part}/receipts/{}", unknown_id()), format!("{pictures}/1"));
    let other_picture = format!("{pictures}/2");
    let own_certificate = format!("/app/evidence/parts/{}/certificate", unknown_id());
    let other_certificate = format!("/app/evidence/parts/{}/certificate", unknown_id());
    let paths = [
        ("member-app", 200, ["/app", "/app/proposals"]),
        ("agreement-app", 200, ["/app/agreements", "/app/agreements/new"]),
        ("money-app", 200, ["/app/money", "/app/obligations"]),
        ("funding-app", 200, ["/app/funding", "/app/trusts"]),
        ("organization-app", 200, ["/app/audit", "/app/developers"]),
        ("participant-app", 401, [part.as_str(), &receipt]),
        ("pictures", 401, [picture.as_str(), &other_picture]),
        ("documents", 401, [own_certificate.as_str(), &other_certificate]),
    ];
    for (function, status, own) in paths {
        let mut process = webhook_lambda::start(function, &cloud.environment()).await;
        for path in paths.iter().flat_map(|(_, _, paths)| paths) {
            let mut asked: Value = serde_json::from_str(&recorded(PAGES[0], &[])).expect("an event is JSON");
            asked["rawPath"] = json!(path);
            asked["rawQueryString"] = json!("");
            asked["requestContext"]["http"]["path"] = json!(path);
            asked["cookies"] = json!([format!("__Host-session={session}")]);
            let page = open(&mut process, asked.to_string()).await;
            assert_eq!(page.status, if own.contains(path) { status } else { 404 }, "{function}: {path}");
        }
    }
}

#[tokio::test]
async fn what_opens_pdfs_starts_itself_for_each() {
    let (sound, page) = (Bytes::from(tests::pdf::pdf("sound", "")), Picture { page: 0, width_px: 400 });
    let soon = || Instant::now() + shared::limits::READING_DEADLINE;
    for function in ["agreement-app", "participant-app", "pictures"] {
        let reader = PdfReader::of(runtime_api::program(function));
        assert_eq!(reader.check(sound.clone(), soon()).await.expect("a process"), Ok(1), "{function}");
        assert_eq!(reader.page_sizes(sound.clone(), soon()).await.expect("a process"), [(595.0, 842.0)], "{function}");
        // Built with the whole workspace, the others can draw pages too.
        let drawn = reader.picture(sound.clone(), page, soon()).await.expect("a process");
        assert!(drawn.is_ok() || function != "pictures", "{function}: {drawn:?}");
        let deep = Bytes::from(hostile_pdf::deep(12_000, hostile_pdf::hidden));
        assert_eq!(reader.check(deep, soon()).await.expect("a process"), Err(NotADocument::TooDemanding), "{function}");
    }
    let none = PdfReader::of("/there/is/no/such/program".into()).check(sound, soon()).await;
    assert!(matches!(none, Err(Error::Internal(_))), "{none:?}");
}

#[tokio::test]
async fn a_bundle_of_the_documents_verifies_with_the_keys_that_it_publishes() {
    let cloud = Cloud::new().await;
    let browser = Browser::of(&cloud.org, &cloud.org.admin("Maren Holt").await).await;
    let without_files = |draft: &mut Agreement| {
        draft.documents.clear();
        draft.stages.truncate(1);
        draft.stages[0].actions.clear();
    };
    let draft = cloud.org.ready_draft("Approval", without_files).await;
    let proposal = cloud.org.propose("publish_agreement", &draft).await;
    let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(browser.decide(&review, "confirm", "").await.status, 303);

    let session = format!("__Host-session={}", browser.cookie("session").expect("a session"));
    let bundle_of_it = format!("/app/evidence/agreements/{}/bundle", draft.id());
    let mut process = webhook_lambda::start("documents", &cloud.environment()).await;
    let mut answers = Vec::new();
    for (path, cookies) in [(bundle_of_it.as_str(), json!([session])), ("/app/evidence-keys.json", json!([]))] {
        let mut asked: Value = serde_json::from_str(&recorded(PAGES[0], &[])).expect("an event is JSON");
        asked["rawPath"] = json!(path);
        asked["rawQueryString"] = json!("");
        asked["requestContext"]["http"]["path"] = json!(path);
        asked["cookies"] = cookies;
        let answer = open(&mut process, asked.to_string()).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answers.push(answer.bytes);
    }
    let keys = bundle::KeyDocument::parse(&answers[1]).expect("a key document");
    let report = bundle::verify(&answers[0], &keys);
    assert!(report.is_verified(), "{report}");
}

fn cookies(page: &Page) -> Vec<(String, String)> {
    let lines = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().expect("a cookie"));
    let pairs =
        lines.map(|line| line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie's pair"));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn a_key_is_remembered_by_the_next_process() {
    let org = Org::new().await;
    let event = event("create-contact", &org, &contact_of(&org).await);
    let first = invoke(&mut start("write-api", &org).await, &event).await;
    let again = invoke(&mut start("write-api", &org).await, &event).await;
    assert_eq!((first.status, first.is_replay()), (201, false), "{first}");
    assert_eq!((again.status, again.is_replay()), (201, true), "{again}");
    assert_eq!(again.bytes, first.bytes);
    assert_eq!(org.total("/api/v1/contacts").await, 2);
}

#[tokio::test]
async fn a_named_stage_is_no_part_of_the_path() {
    let org = Org::new().await;
    let mut event = identity_event(&org);
    event["rawPath"] = json!("/beta/api/v1/me");
    event["requestContext"]["http"]["path"] = json!("/beta/api/v1/me");
    event["requestContext"]["stage"] = json!("beta");
    let answer = invoke(&mut start("read-api", &org).await, &event.to_string()).await;
    assert_eq!(answer.ok(200)["organization_id"], org.id.to_string());
}

/// HTTP APIs join repeated headers with a comma; a caller with two tokens isn't identified.
#[tokio::test]
async fn a_doubled_token_is_refused() {
    let org = Org::new().await;
    let mut event = identity_event(&org);
    let token = event["headers"]["authorization"].as_str().expect("a token").to_owned();
    event["headers"]["authorization"] = json!(format!("{token},{token}"));
    invoke(&mut start("read-api", &org).await, &event.to_string()).await.refused(401);
}

#[tokio::test]
async fn a_function_without_its_settings_says_which_one_it_lacks() {
    let org = Org::new().await;
    let all = ["TABLE_NAME", "BASE_URL", "AWS_REGION"];
    for (function, needed) in [
        ("read-api", &all[..]),
        ("write-api", &all),
        ("proposals", &all),
        ("mcp", &["TABLE_NAME", "BASE_URL", "AWS_REGION", "DOCUMENTS_FUNCTION"]),
    ] {
        for missing in needed {
            let mut environment = runtime_api::environment(org.stack().table(), BASE_URL);
            environment.retain(|(name, _)| name != *missing);
            let program = runtime_api::program(function);
            let mut process = Function::start(&program, &environment, None).await.expect("the function's program");
            let (failed, told) = process.refusal().await.unwrap_or_else(|error| panic!("{error}"));
            assert!(failed && told.contains(missing), "{function} without {missing}: {told}");
        }
    }
}

async fn contact_of(org: &Org) -> String {
    org.contact("Ada").await["id"].as_str().expect("an id").to_owned()
}

fn identity_event(org: &Org) -> Value {
    serde_json::from_str(&event("get-identity", org, "")).expect("an event is JSON")
}

async fn start(function: &str, org: &Org) -> Function {
    let environment = runtime_api::environment(org.stack().table(), BASE_URL);
    Function::start(&runtime_api::program(function), &environment, None).await.expect("the function's program")
}

async fn invoke(function: &mut Function, event: &str) -> Answer {
    function.invoke(event.to_owned()).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn open(function: &mut Function, event: String) -> Page {
    function.open(event).await.unwrap_or_else(|error| panic!("{error}"))
}

fn recorded_files() -> BTreeSet<String> {
    let files = std::fs::read_dir(EVENTS).expect("the folder of events");
    let names = files.map(|file| file.expect("a file").path()).filter(|file| file.is_file());
    names.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect()
}

/// The request ids of a function's lines, each with those of its invocation and trace.
fn logged(function: &Function) -> Vec<String> {
    let request_id = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["requestId"].is_string(), "{line}");
        assert!(line["xrayTraceId"].as_str().is_some_and(|trace| trace.starts_with("Root=1-")), "{line}");
        line["request_id"].as_str().unwrap_or_default().to_owned()
    };
    function.log().iter().map(request_id).collect()
}

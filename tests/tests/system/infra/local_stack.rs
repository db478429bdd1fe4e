//! The local stack as people see it: ready file, banner, clean refusals, clean end.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Output;

use serde_json::{Value, json};
use shared::domain::agreement::DocumentContent;
use shared::domain::ids::OrgId;
use tempfile::TempDir;
use tests::Client;
use tests::app::Browser;
use tests::process::{Process, STALE, Serve, mode};

use crate::{STACK, members};

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// Asserts a useful refusal to start: one line that says what and where, without a panic.
#[track_caller]
fn assert_clean(refused: &Output, words: &[&str]) {
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains('\u{1b}'), "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word} is not in: {stderr}");
    }
}

#[tokio::test]
async fn the_ready_file_says_all_that_is_needed() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("elsewhere/ready.json");
    let process = Serve::over(STACK, dir.path().join("data")).ready_file(&file).start().await;
    let ready = &process.ready;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(members(ready), ["app_url", "base_url", "organizations"]);
    assert!(text(&ready["app_url"]).starts_with(text(&ready["base_url"])));
    let organizations = ready["organizations"].as_array().expect("organizations");
    assert!(organizations.len() >= 2);
    let mut emails = BTreeSet::new();
    for organization in organizations {
        assert_eq!(members(organization), ["id", "members", "name", "read_only_token", "read_write_token"]);
        let roles: Vec<&str> = organization["members"]
            .as_array()
            .expect("members")
            .iter()
            .map(|member| {
                assert_eq!(members(member), ["email", "name", "password", "role"]);
                assert!(emails.insert(text(&member["email"]).to_lowercase()), "an email is in two organizations");
                assert!(text(&member["password"]).len() >= 12);
                text(&member["role"])
            })
            .collect();
        assert!(roles.contains(&"admin"));
        for (token, scope) in [("read_write_token", "read_write"), ("read_only_token", "read")] {
            let me = Client::new(process.base_url())
                .with_token(text(&organization[token]))
                .get("/api/v1/me")
                .send()
                .await
                .ok(200);
            assert_eq!(
                (&me["organization_id"], &me["organization_name"]),
                (&organization["id"], &organization["name"])
            );
            assert_eq!(me["scope"], scope);
        }
    }
    assert!(organizations[0].to_string().contains("\"role\":\"member\""), "the first organization has a member too");
}

#[tokio::test]
async fn an_empty_seed_is_empty_and_a_demo_is_not() {
    let dir = TempDir::new().expect("a directory");
    let empty = Serve::over(STACK, dir.path().join("empty")).start().await;
    for organization in empty.ready["organizations"].as_array().expect("organizations") {
        let client = Client::new(empty.base_url()).with_token(text(&organization["read_only_token"]));
        for path in ["/api/v1/contacts", "/api/v1/workspaces"] {
            assert_eq!(client.get(path).send().await.ok(200)["pagination"]["total"], 0);
        }
    }

    let serve = Serve::over(STACK, dir.path().join("demo")).seed("demo");
    let demo = serve.start().await;
    let everything = async |process: &Process| {
        let mut lists = Vec::new();
        for path in ["/api/v1/contacts", "/api/v1/workspaces"] {
            lists.push(
                process.client().get(path).query("limit", 200).send().await.ok(200)["pagination"]["total"].clone(),
            );
        }
        lists
    };
    let before = everything(&demo).await;
    assert!(before.iter().all(|total| *total != json!(0)), "{before:?}");
    let workspace = demo.client().get("/api/v1/workspaces").send().await.ok(200)["data"][0].clone();
    assert!(workspace["people_count"].as_u64() > Some(0), "a deal has people");
    let second = Client::new(demo.base_url()).with_token(text(&demo.ready["organizations"][1]["read_only_token"]));
    assert_eq!(second.get("/api/v1/contacts").send().await.ok(200)["pagination"]["total"], 0);

    demo.kill().await;
    let again = serve.clone().seed("empty").start().await;
    assert_eq!(everything(&again).await, before);
    again.kill().await;
    let again = serve.start().await;
    assert_eq!(everything(&again).await, before, "the deal is added once");
}

#[tokio::test]
async fn the_documents_of_the_demo_have_their_files() {
    let dir = TempDir::new().expect("a directory");
    let demo = Serve::over(STACK, dir.path()).seed("demo").start().await;
    let organization: OrgId = text(&demo.ready["organizations"][0]["id"]).parse().expect("an id");
    let files = files::Files::in_folder(&dir.path().join("files")).expect("the folder");
    let agreements = demo.client().get("/api/v1/agreements").send().await.ok(200)["data"].clone();
    let mut read = 0;
    for agreement in agreements.as_array().expect("agreements") {
        let path = format!("/api/v1/agreements/{}", text(&agreement["id"]));
        let agreement = demo.client().get(&path).send().await.ok(200);
        for document in agreement["documents"].as_array().expect("documents") {
            let Some(sha256) = document["sha256"].as_str() else { continue };
            let size_bytes = document["size_bytes"].as_u64().expect("a size");
            let content = DocumentContent { sha256: sha256.to_owned(), size_bytes };
            let file = files.get(organization, &content).await.expect("the file that the record names");
            assert!(file.starts_with(b"%PDF-"), "{}", document["name"]);
            read += 1;
        }
    }
    assert!(read >= 3, "two agreements of the seed round and one that runs: {read}");
}

#[tokio::test]
async fn the_completed_agreement_of_the_demo_has_its_bundle() {
    let dir = TempDir::new().expect("a directory");
    let demo = Serve::over(STACK, dir.path()).seed("demo").start().await;
    let completed = demo.client().get("/api/v1/agreements?lifecycle=completed").send().await.ok(200)["data"].clone();
    let agreement = &completed.as_array().expect("agreements")[0];
    let member = &demo.ready["organizations"][0]["members"][0];
    let browser = Browser::new(demo.base_url());
    assert_eq!(browser.sign_in(text(&member["email"]), text(&member["password"]), "/app").await.status, 303);
    let bundle = browser.get(&format!("/app/evidence/agreements/{}/bundle", text(&agreement["id"]))).await;
    let keys = Browser::new(demo.base_url()).get("/app/evidence-keys.json").await;
    let keys = bundle::KeyDocument::parse(&keys.bytes).expect("a key document");
    let report = bundle::verify(&bundle.bytes, &keys);
    assert!(report.is_verified() && report.matching.iter().any(|path| path == "certificate.pdf"), "{report}");
}

/// What people see first after `make run`.
#[tokio::test]
async fn the_demo_names_who_did_what_and_tells_one_amount_of_a_deal() {
    let dir = TempDir::with_prefix("countersign-data-").expect("a directory");
    let demo = Serve::over(STACK, dir.path()).seed("demo").start().await;
    let member = &demo.ready["organizations"][0]["members"][0];
    let browser = Browser::new(demo.base_url());
    assert_eq!(browser.sign_in(text(&member["email"]), text(&member["password"]), "/app").await.status, 303);

    let home = browser.get("/app").await;
    let (_, activity) = home.body.split_once("Recent activity").expect("what happened lately");
    let log = browser.get("/app/audit").await;
    for (what, page) in [("Home", activity), ("the log", log.body.as_str())] {
        assert!(!page.contains("A participant"), "{what}: {page}");
    }
    assert!(!activity.contains("a payment"), "{activity}");

    let found = demo.client().get("/api/v1/agreements").query("search", "Office purchase").send().await.ok(200);
    let deal = browser.get(&format!("/app/agreements/{}", text(&found["data"][0]["id"]))).await;
    let (_, amount) = deal.body.split_once("<dt>Amount</dt>").expect("the deal has an amount");
    let amount = amount.split_once('$').expect("in dollars").1.split('<').next().expect("a figure").trim().to_owned();
    let list = browser.get("/app/agreements?search=Office").await;
    for (what, page) in [("the deal", &deal), ("the list", &list)] {
        assert!(page.body.contains(&format!("${amount}")), "{what}: {amount}: {}", page.body);
        assert!(page.body.contains("A member to review proof of “"), "{what}: {}", page.body);
    }
    assert!(deal.body.contains("A member to decide about “Reserve for repairs”"), "{}", deal.body);
    assert!(deal.body.contains(">Decide about the payment</a>"), "{}", deal.body);
    assert!(deal.body.contains("includes money to pass on"), "escrow has what the seller is owed: {}", deal.body);
    assert!(deal.body.contains("the payment “"), "its history names payments: {}", deal.body);
}

#[tokio::test]
async fn the_banner_says_where_and_what_to_paste_and_the_end_is_clean() {
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    let process = Serve::over(STACK, &data_dir).start().await;
    let (base_url, ready_file) = (process.base_url().to_owned(), data_dir.join("ready.json"));
    let tokens: Vec<String> = process.ready["organizations"]
        .as_array()
        .expect("organizations")
        .iter()
        .map(|organization| text(&organization["read_write_token"]).to_owned())
        .collect();
    let (status, stdout, stderr) = process.signal("INT").await;
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("Setting up"), "a person who waits is told for what: {stdout}");
    for word in
        [&base_url, "/api/v1", "curl", "/docs", "openapi.json", ready_file.to_str().expect("a path of text"), "Ctrl-C"]
    {
        assert!(stdout.contains(word), "{word} is not in: {stdout}");
    }
    assert!(tokens.iter().all(|token| !stdout.contains(token)), "output that is kept somewhere holds no token");
    assert!(!stdout.contains('\u{1b}'), "colours only for a terminal: {stdout:?}");
    assert!(!ready_file.exists(), "nobody may take a stopped stack for a running one");
    assert!(Client::new(&base_url).get("/openapi.json").try_send().await.is_err(), "it answers no more");

    let process = Serve::over(STACK, &data_dir).start().await;
    let (status, ..) = process.signal("TERM").await;
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn a_call_that_is_being_answered_is_finished_before_the_end() {
    let dir = TempDir::new().expect("a directory");
    let serve = Serve::over(STACK, dir.path().join("data"));
    let process = serve.start().await;
    let client = process.client();
    let writer = tokio::spawn(async move {
        let mut acknowledged = Vec::new();
        for n in 0.. {
            let body = json!({"display_name": format!("Contact {n}"), "kind": "person"});
            match client.post("/api/v1/contacts", &body).try_send().await {
                Ok(answer) => acknowledged.push(answer.ok(201)),
                Err(_) => break,
            }
        }
        acknowledged
    });
    // Some calls first, so that the end interrupts one.
    let client = process.client();
    while client.get("/api/v1/contacts").send().await.ok(200)["pagination"]["total"].as_u64() < Some(20) {}
    let (status, ..) = process.signal("INT").await;
    assert!(status.success());
    let acknowledged = writer.await.expect("the writer");
    let again = serve.start().await;
    let total = again.client().get("/api/v1/contacts").send().await.ok(200)["pagination"]["total"].clone();
    assert_eq!(total, acknowledged.len(), "what was not acknowledged did not happen either");
}

#[tokio::test]
async fn a_taken_port_is_said() {
    let dir = TempDir::new().expect("a directory");
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let data_dir = dir.path().join("data");
    std::fs::create_dir(&data_dir).expect("a directory");
    let ready_file = dir.path().join("ready.json");
    std::fs::write(&ready_file, STALE).expect("a stale ready file");
    let refused = Serve::over(STACK, &data_dir).ready_file(&ready_file).port(port).refuse().await;
    assert_clean(&refused, &[&port.to_string(), "--port"]);
    assert!(!ready_file.exists(), "a stale ready file is removed at start");
}

#[tokio::test]
async fn a_data_directory_in_use_is_said() {
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    let serve = Serve::over(STACK, &data_dir);
    let process = serve.start().await;
    let refused = serve.refuse().await;
    assert_clean(&refused, &[data_dir.to_str().expect("text"), "in use", process.base_url(), "--data-dir"]);
    process.client().get("/api/v1/me").send().await.ok(200);
    assert!(data_dir.join("ready.json").exists());
}

#[tokio::test]
async fn a_data_directory_of_another_version_is_said_and_left_alone() {
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    let serve = Serve::over(STACK, &data_dir);
    serve.start().await.kill().await;
    let format = data_dir.join("format");
    let current: u32 = std::fs::read_to_string(&format).expect("the format").trim().parse().expect("a number");
    let files = || {
        let mut files: Vec<_> = std::fs::read_dir(&data_dir)
            .expect("the directory")
            .map(|entry| entry.expect("an entry"))
            .filter(|entry| entry.file_name() != "lock" && entry.path().is_file())
            .map(|entry| (entry.file_name(), std::fs::read(entry.path()).expect("a file")))
            .collect();
        files.sort();
        files
    };
    let earlier = "made by an earlier build; delete it to start over";
    let newer = (current + 1).to_string();
    for (other, said) in [(newer, "newer version"), ((current - 1).to_string(), earlier), (String::new(), earlier)] {
        std::fs::write(&format, other).expect("another format");
        let before = files();
        let refused = serve.refuse().await;
        assert_clean(&refused, &[data_dir.to_str().expect("text"), said]);
        assert!(files() == before, "data of another version must not be touched");
    }
    std::fs::write(&format, format!("{current}\n")).expect("the format");
    serve.start().await.client().get("/api/v1/me").send().await.ok(200);
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_written_is_said() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("a file");
    std::fs::write(&file, "kept").expect("a file");
    let refused = Serve::over(STACK, &file).ready_file(dir.path().join("r.json")).refuse().await;
    assert_clean(&refused, &[file.to_str().expect("text"), "--data-dir"]);
    let below = file.join("below");
    let refused = Serve::over(STACK, &below).ready_file(dir.path().join("r.json")).refuse().await;
    assert_clean(&refused, &[below.to_str().expect("text")]);
    assert_eq!(std::fs::read(&file).expect("the file"), b"kept");

    let locked = dir.path().join("locked");
    std::fs::create_dir(&locked).expect("a directory");
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o555)).expect("permissions");
    // Root can write everywhere, so the refusal doesn't occur.
    if std::fs::metadata(&locked).expect("the directory").uid() != 0 {
        let refused = Serve::over(STACK, &locked).ready_file(dir.path().join("r.json")).refuse().await;
        assert_clean(&refused, &[locked.to_str().expect("text")]);
    }
}

#[tokio::test]
async fn secrets_are_for_their_owner_only() {
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    let process = Serve::over(STACK, &data_dir).start().await;
    let token = text(&process.ready["organizations"][0]["read_write_token"]).to_owned();
    let mut found = 0;
    for entry in std::fs::read_dir(&data_dir).expect("the directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700, "{} holds documents", path.display());
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        if bytes.windows(token.len()).any(|window| window == token.as_bytes()) {
            assert_eq!(mode(&path), 0o600, "{} holds a token", path.display());
            found += 1;
        }
    }
    assert!(found > 0, "the ready file holds it");
}

#[tokio::test]
async fn a_wrong_command_line_is_a_usage_error() {
    for arguments in [&["serve", "--port", "x"][..], &["serve", "--seed", "much"], &["sing"], &[]] {
        let output = tokio::process::Command::new(STACK).args(arguments).output().await.expect("the program");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--help"), "{arguments:?}");
    }
}

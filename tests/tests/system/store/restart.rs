//! The stack as a process: what was acknowledged survives a restart and `kill -9`, exactly once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::process::Serve;
use tests::{Client, Stack, rows};

use crate::STACK;

const CONTACTS: &str = "/api/v1/contacts";

async fn all(client: &Client, path: &str) -> Vec<Value> {
    let mut records: Vec<Value> = Vec::new();
    loop {
        let page = client.get(path).query("limit", 200).query("offset", records.len()).send().await.ok(200);
        records.extend(page["data"].as_array().expect("a page").iter().cloned());
        if page["pagination"]["has_more"] != true {
            assert_eq!(page["pagination"]["total"], records.len());
            return records;
        }
    }
}

#[tokio::test]
async fn a_restart_goes_on_where_it_stopped() {
    let dir = TempDir::new().expect("a directory");
    let serve = Serve::over(STACK, dir.path().join("data"));
    let first = serve.start().await;
    let body = json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"});
    let created = first.client().post(CONTACTS, &body).key("kept").send().await;
    let contact = created.ok(201);
    let workspace = first.client().post("/api/v1/workspaces", &json!({"name": "Harbor"})).send().await.ok(201);
    let ready = first.ready.clone();
    let (status, _, _) = first.signal("INT").await;
    assert!(status.success(), "{status}");

    let second = serve.start().await;
    assert_eq!(second.ready["organizations"], ready["organizations"], "the same organizations, tokens and members");
    let client = second.client();
    assert_eq!(all(&client, CONTACTS).await, std::slice::from_ref(&contact));
    let contact_path = format!("{CONTACTS}/{}", contact["id"].as_str().expect("an id"));
    let got = client.get(&contact_path).send().await;
    assert_eq!((got.ok(200), got.etag()), (contact.clone(), created.etag()));

    // Links are built on read: they lead to the stack's current address.
    let workspaces = all(&client, "/api/v1/workspaces").await;
    assert_eq!(workspaces.len(), 1);
    assert_eq!(workspaces[0]["reference"], workspace["reference"]);
    let app_url = workspaces[0]["app_url"].as_str().expect("an app_url");
    assert!(app_url.starts_with(second.base_url()), "{app_url}");

    let replay = client.post(CONTACTS, &body).key("kept").send().await;
    assert!(replay.is_replay());
    assert_eq!((replay.status, &replay.bytes), (201, &created.bytes));
    client.post(CONTACTS, &json!({"display_name": "Eve", "kind": "llc"})).key("kept").send().await.refused(409);
    assert_eq!(client.post(CONTACTS, &body).send().await.ok(200), contact);
}

#[derive(Default)]
struct Storm {
    acknowledged: Mutex<BTreeMap<String, Value>>,
    unanswered: Mutex<Vec<String>>,
    count: AtomicUsize,
}

fn body(reference: &str) -> Value {
    json!({"display_name": format!("Contact {reference}"), "kind": "person", "external_reference": reference})
}

impl Storm {
    async fn write(self: Arc<Self>, client: Client, round: usize, writer: usize) {
        for n in 0.. {
            let reference = format!("ref-{round}-{writer}-{n}");
            let sent = client.post(CONTACTS, &body(&reference)).key(format!("key-{reference}")).try_send().await;
            let Ok(answer) = sent else {
                self.unanswered.lock().expect("no writer panicked").push(reference);
                return;
            };
            self.acknowledged.lock().expect("no writer panicked").insert(reference, answer.ok(201));
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_before_a_kill_is_there_once() {
    const ROUNDS: usize = 4;
    const WRITERS: usize = 6;
    const WRITES_A_ROUND: usize = 60;
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    let serve = Serve::over(STACK, &data_dir);
    let storm = Arc::new(Storm::default());
    let mut tokens = None;
    for round in 0..ROUNDS {
        let process = serve.start().await;
        let organizations = process.ready["organizations"].clone();
        assert_eq!(*tokens.get_or_insert(organizations.clone()), organizations, "a crash changes no token");
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(Arc::clone(&storm).write(process.client(), round, writer)))
            .collect();
        while storm.count.load(Ordering::Relaxed) < (round + 1) * WRITES_A_ROUND {
            tokio::task::yield_now().await;
        }
        process.kill().await;
        for writer in writers {
            writer.await.expect("a writer");
        }
    }

    let process = serve.start().await;
    let client = process.client();
    let acknowledged = storm.acknowledged.lock().expect("no writer panicked").clone();
    let unanswered = storm.unanswered.lock().expect("no writer panicked").clone();
    assert!(acknowledged.len() >= ROUNDS * WRITES_A_ROUND && unanswered.len() == ROUNDS * WRITERS);
    let check = |records: &[Value]| {
        let mut by_reference: BTreeMap<&str, &Value> = BTreeMap::new();
        for record in records {
            let reference = record["external_reference"].as_str().expect("a reference");
            assert!(by_reference.insert(reference, record).is_none(), "{reference} is there twice");
        }
        for (reference, contact) in &acknowledged {
            assert_eq!(by_reference.get(reference.as_str()), Some(&contact), "{reference} was acknowledged");
        }
        let known = |reference: &&str| {
            acknowledged.contains_key(*reference) || unanswered.iter().any(|known| known == reference)
        };
        assert!(by_reference.keys().all(known), "there is something that nobody wrote");
    };
    check(&all(&client, CONTACTS).await);

    // An unanswered call may have taken effect; repeated with its key, it exists once.
    for reference in &unanswered {
        client.post(CONTACTS, &body(reference)).key(format!("key-{reference}")).send().await.ok(201);
    }
    for (reference, contact) in acknowledged.iter().take(20) {
        let replay = client.post(CONTACTS, &body(reference)).key(format!("key-{reference}")).send().await;
        assert!(replay.is_replay());
        assert_eq!(replay.ok(201), *contact);
    }
    let records = all(&client, CONTACTS).await;
    check(&records);
    assert_eq!(records.len(), acknowledged.len() + unanswered.len());
    process.kill().await;

    // Each has an audit row: the change and its row are one transaction. This process opens the table to look.
    let stack = Stack::on_data_of(&data_dir);
    let organization = stack.ready.organizations[0].id.parse().expect("an organization's id");
    let audit = rows::audit(stack.table(), organization).await;
    let created = audit
        .iter()
        .filter(|row| row["operation"] == "create_contact" && row["status"] == "201" && row["code"] == "ok");
    let mut created: Vec<String> = created.flat_map(rows::objects).collect();
    let mut ids: Vec<&str> = records.iter().map(|record| record["id"].as_str().expect("an id")).collect();
    created.sort_unstable();
    ids.sort_unstable();
    assert_eq!(created, ids, "each contact has the audit row of its creation, once");
}

#[tokio::test]
async fn a_kill_while_the_first_data_are_made_is_made_good() {
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    // Kills it at several moments of its first start, some of which hit the middle on any machine.
    for delay_ms in [1, 5, 20, 50, 100] {
        let mut child = tokio::process::Command::new(STACK)
            .args(["serve", "--port", "0", "--seed", "empty", "--data-dir"])
            .arg(&data_dir)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the stack's program");
        tokio::time::sleep(std::time::Duration::from_millis(delay_ms)).await;
        child.kill().await.expect("killed");
    }
    let process = Serve::over(STACK, &data_dir).start().await;
    let organizations = process.ready["organizations"].as_array().expect("organizations").clone();
    assert!(organizations.len() >= 2);
    for organization in &organizations {
        for (token, scope) in [("read_write_token", "read_write"), ("read_only_token", "read")] {
            let client = Client::new(process.base_url()).with_token(organization[token].as_str().expect("a token"));
            let me = client.get("/api/v1/me").send().await.ok(200);
            assert_eq!((&me["scope"], &me["organization_id"]), (&json!(scope), &organization["id"]));
        }
    }
}

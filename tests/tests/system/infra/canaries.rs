//! A whole deal with marked words and secrets, and where none of them may appear (goal S3).

use serde_json::{Value, json};
use shared::domain::agreement::AgreementName;
use tests::app::Browser;
use tests::{Org, rows};

fn word(name: &str) -> String {
    format!("canary-{name}-{}", uuid::Uuid::new_v4().simple())
}

#[tokio::test]
async fn a_deal_leaves_nothing_that_people_wrote_in_rows_and_logs_and_no_secret_anywhere() {
    let org = Org::new().await;
    let (note, answer, deal, person, wrong) =
        (word("note"), word("answer"), word("deal"), word("person"), word("password"));
    let subscriber = org.subscriber().await;
    let draft = org.ready_draft("Lease", |draft| draft.name = AgreementName::parse(&deal).expect("a name")).await;
    let contact = draft.participants[0].contact_id;
    org.patch(format!("/api/v1/contacts/{contact}"), &json!({"display_name": person})).send().await.ok(200);
    let body = json!({"action": "publish_agreement", "agreement_id": draft.id(), "note": note});
    let proposal = org.post("/api/v1/proposals", &body).send().await.ok(201);
    let path = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));

    let member = org.member(&word("member")).await;
    let browser = Browser::new(org.base_url());
    assert_eq!(browser.sign_in(&member.email, &wrong, "/app").await.status, 422);
    assert_eq!(browser.sign_in(&member.email, &member.password, "/app").await.status, 303);
    let page = browser.get(&path).await;
    assert!(page.says(&note) && page.says(&deal) && page.says(&person), "the page does show them");
    assert_eq!(browser.decide(&path, "confirm", &answer).await.status, 303);
    let arrivals = subscriber.receiver.wait_for(4).await;
    let rotated = subscriber.press("rotate", &[("old", "keep")]).await;
    assert_eq!(rotated.status, 303);
    let mut pages = vec![subscriber.admin.get(&subscriber.path()).await.body];
    for path in [&subscriber.path(), tests::subscriber::DEVELOPERS, "/app", "/app/account", "/app/organization"] {
        pages.push(subscriber.admin.get(path).await.body);
    }
    let responses = [
        org.get("/api/v1/me").send().await.json(),
        org.get("/api/v1/proposals").send().await.json(),
        org.get("/api/v1/agreements").send().await.json(),
        org.get("/openapi.json").send().await.json(),
    ];

    let all = rows::all(org.stack().table()).await;
    let is_record =
        |row: &&Value| row["pk"].as_str().is_some_and(|pk| pk.contains("#AUDIT#") || pk.starts_with("TRAIL#"));
    let records = json!(all.iter().filter(is_record).collect::<Vec<_>>()).to_string();
    let log = std::fs::read_to_string(org.stack().log_file()).expect("the log");
    let table = json!(all).to_string();
    assert!(table.contains(&note) && table.contains(&answer), "the scan would see a word if it were there");
    let told: Vec<String> =
        arrivals.iter().map(|arrival| String::from_utf8_lossy(&arrival.body).into_owned()).collect();

    for canary in [&note, &answer, &deal, &person, &wrong, &member.email, &member.password] {
        assert!(!records.contains(canary.as_str()), "{canary} in an audit row");
        assert!(!log.contains(canary.as_str()), "{canary} in the log");
    }
    // Events have a published agreement's name, but neither notes nor people.
    for canary in [&note, &answer, &person] {
        assert!(told.iter().all(|body| !body.contains(canary.as_str())), "{canary} in an event");
    }
    let secret = subscriber.secret.expose();
    let session = browser.cookie("session").expect("a session");
    for secret in [secret.as_str(), &session, &org.token.value, &wrong] {
        for (place, text) in [("the table", &table), ("the log", &log), ("a response", &json!(responses).to_string())] {
            assert!(!text.contains(secret), "a secret in {place}");
        }
        assert!(told.iter().all(|body| !body.contains(secret)), "a secret in an event");
        assert!(pages.iter().all(|page| !page.contains(secret)), "a secret on a page");
    }
}

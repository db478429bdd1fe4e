//! The list of proposals: filters in the URL, repeated in the title.

use serde_json::{Value, json};
use tests::Org;
use tests::app::Browser;

use crate::unknown_id;

const PROPOSALS: &str = "/app/proposals";

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

#[tokio::test]
async fn proposals_are_filtered_by_state_action_and_agreement() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Ines Duarte").await).await;
    let ready = org.ready_draft("Seed round", |_| {}).await;
    let harbor = org.workspace("Harbor").await;
    let lease = org.empty_draft(&harbor, "Lease").await;
    let publication = org.propose("publish_agreement", &ready).await;
    org.propose("cancel_agreement", &ready).await;
    let cancel = json!({"action": "cancel_agreement", "agreement_id": id(&lease)});
    let cancellation = org.post("/api/v1/proposals", &cancel).send().await.ok(201);
    assert_eq!(browser.decide(&format!("{PROPOSALS}/{}", id(&cancellation)), "decline", "").await.status, 303);

    for (filter, title, rows) in [
        (String::new(), "Proposals", 3),
        ("?state=pending".to_owned(), "Proposals, needs your decision", 2),
        ("?action=cancel_agreement".to_owned(), "Proposals to cancel", 2),
        ("?state=declined&action=cancel_agreement".to_owned(), "Proposals to cancel, declined", 1),
        ("?state=confirmed&action=publish_agreement".to_owned(), "Proposals to publish, confirmed", 0),
        (format!("?agreement={}", ready.id()), "Proposals: Seed round", 2),
        (format!("?agreement={}&action=publish_agreement", ready.id()), "Proposals to publish: Seed round", 1),
        (format!("?agreement={}", unknown_id()), "Proposals: one agreement", 0),
        ("?state=&action=&agreement=&search=".to_owned(), "Proposals", 3),
    ] {
        let page = browser.get(&format!("{PROPOSALS}{filter}")).await;
        assert_eq!(page.body.matches("<td class=\"main\">").count(), rows, "{filter}: {}", page.body);
        assert!(page.says(&format!("<title>{title} · Countersign</title>")), "{filter}: {}", page.body);
    }
    let page = browser.get(&format!("{PROPOSALS}?agreement={}", ready.id())).await;
    assert!(page.says(&format!("href=\"{PROPOSALS}/{}\"", id(&publication))), "{}", page.body);
    let agreement = browser.get(&format!("/app/agreements/{}", ready.id())).await;
    assert!(agreement.says(&format!("href=\"{PROPOSALS}?agreement={}\"", ready.id())), "{}", agreement.body);
    let other = Org::new().await;
    let stranger = Browser::of(&other, &other.member("Noor Vance").await).await;
    let page = stranger.get(&format!("{PROPOSALS}?agreement={}", ready.id())).await;
    assert!(page.status == 200 && !page.says("Seed round"), "{}", page.body);
}

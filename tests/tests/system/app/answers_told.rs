//! Sent answers: who must act, since when, and who may read them.

use shared::domain::agreement::gate::FieldType;
use shared::domain::time::Timestamp;
use shared::domain::token::Scope;
use tests::Org;

use super::information::{asking, information, judge, name, question, submit};
use crate::unknown_id;

#[tokio::test]
async fn answers_wait_since_they_were_sent() {
    let live = asking(vec![question("Who are you?", FieldType::Text, true)], true).await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let opened_at = live.read().await["published_at"].as_str().expect("it is published").to_owned();
    let sent_at = async |n: usize| information(&live).await[n]["sent_at"].as_str().expect("a time").to_owned();
    let since = |wait: &str, at: &str| format!("{wait}, since <time datetime=\"{at}\"");
    let (who, at) = (name(&live, 0), live.path());
    assert!(live.member.get(&at).await.says(&since("to answer, and a member to accept", &opened_at)));

    assert_eq!(submit(&live, &northwind, "send", &[(&who, "Northwind")]).await.status, 303);
    let first = sent_at(0).await;
    assert!(first > opened_at, "{first} {opened_at}");
    let page = live.member.get(&at).await;
    assert!(page.says(&since("Waiting for: Ada Okafor to answer", &opened_at)), "{}", page.body);
    assert!(page.says(&since("a member to read the answers of Northwind Robotics, Inc.", &first)), "{}", page.body);
    assert_eq!(submit(&live, &ada, "send", &[(&who, "Ada")]).await.status, 303);
    let page = live.member.get(&at).await;
    assert!(page.says("Waiting for: A member to read the answers of Ada Okafor and Northwind"), "{}", page.body);
    let home = live.member.get("/app").await;
    for page in [page, home] {
        assert!(page.says(&format!("since <time datetime=\"{first}\"")), "the first of them: {}", page.body);
    }

    assert_eq!(judge(&live, &live.member, northwind.participant, ("accept", "")).await.status, 303);
    let home = live.member.get("/app").await;
    let second = sent_at(1).await;
    assert!(home.says("Answers to read") && home.says(&format!("since <time datetime=\"{second}\"")), "{}", home.body);
}

/// Goal S1 for answers: only the organization's tokens get them, read-only ones the same as others.
#[tokio::test]
async fn answers_are_told_to_tokens_of_their_organization_alone() {
    let live = asking(vec![question("Who are you?", FieldType::Text, true)], true).await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let (who, other) = (name(&live, 0), Org::new().await);
    assert_eq!(submit(&live, &ada, "send", &[(&who, "Only Ada knows")]).await.status, 303);
    assert_eq!(submit(&live, &northwind, "save", &[(&who, "A draft of Northwind")]).await.status, 303);
    let path = format!("/api/v1/agreements/{}/information", live.agreement.id());
    let (org, now) = (&live.org, Timestamp::now());
    let expired = org.issue("Expired", Scope::ReadWrite, now.plus_seconds(-90 * 24 * 3600)).await;
    let revoked = org.issue("Revoked", Scope::ReadWrite, now).await;
    org.revoke(revoked.id).await;
    let mut told = Vec::new();
    for (client, status) in [
        (org.anonymous(), 401),
        (org.with_token("cs_nonsense"), 401),
        (org.with_token(format!("{}0", org.token.value)), 401),
        (org.with_token(&expired.value), 401),
        (org.with_token(&revoked.value), 401),
        (org.with_token(&other.token.value), 404),
        (org.with_token(&other.read_only_token.value), 404),
    ] {
        let answer = client.get(&path).send().await;
        answer.refused(status);
        told.push(format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.bytes)));
    }
    assert!(told.iter().all(|text| !text.contains("Ada") && !text.contains("Northwind")), "{told:?}");
    let unknown = other.get(format!("/api/v1/agreements/{}/information", unknown_id())).send().await;
    let foreign = other.get(&path).send().await;
    assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "a foreign agreement does not exist");
    let all = org.get(&path).send().await.ok(200);
    assert_eq!(org.read_only().get(&path).send().await.ok(200), all);
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    let text = all.to_string();
    assert!(text.contains("Only Ada knows") && !text.contains("A draft of Northwind"), "{text}");
}

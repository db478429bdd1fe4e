//! What was said about an obligation stays readable, however many occurrences were confirmed since.

use shared::domain::ids::OccurrenceId;
use shared::limits;
use shared::service::obligations::MemberAct;
use tests::obligations::{done, monthly};

use super::*;

#[tokio::test]
async fn what_was_said_and_filed_first_stays_readable_after_many_more_occurrences() {
    let (live, [ada, ben], ids) = live(vec![monthly(-31 * 60)]).await;
    let (path, at) = (format!("{LIST}/{}", ids[0]), format!("/obligations/{}", ids[0]));
    let occurrences = async || -> Value {
        let read: Value = live.org.get(format!("/api/v1/obligations/{}", ids[0])).send().await.ok(200);
        read["occurrences"].clone()
    };
    let overdue = occurrences().await;
    let occurrence: Vec<&str> = (0..57).map(|n| overdue[n]["id"].as_str().expect("an id")).collect();
    let page = live.member.get(&path).await;
    let token = page.hidden("form_token");
    let fields = [
        ("form_token", token.as_str()),
        ("occurrence", occurrence[0]),
        ("act", "satisfy"),
        ("note", "The first delivery."),
    ];
    let proof = pdf("First delivery", "");
    let recorded = live.member.upload(&path, &fields, ("file", "First.pdf", proof.as_slice())).await;
    assert_eq!(recorded.status, 303, "{}", recorded.body);
    assert_eq!(send_confirm_as(&live, &ada, ids[0], occurrence[0]).await, 303);
    // All of them but the third, so that the numbers of the older ones have a gap.
    let [one, two] = [live.org.member("Kim Sato").await, live.org.member("Lee Park").await];
    let others = occurrence[1..].iter().enumerate().filter(|(n, _)| *n != 1);
    for (_, other) in others.clone() {
        let id: OccurrenceId = other.parse().expect("an id");
        for (by, act) in [(&one, MemberAct::RecordSatisfaction(done(id))), (&two, MemberAct::Confirm(id))] {
            live.org.act_on(by, ids[0], act).await.expect("the table answers").expect("it is due");
        }
    }
    let confirmed = others.count() + 1;
    assert!(confirmed > limits::OCCURRENCES_KEPT_MAX, "{confirmed}");

    let all = occurrences().await;
    let states: Vec<&str> = (0..57).map(|n| all[n]["state"].as_str().expect("a state")).collect();
    assert_eq!(states.iter().filter(|state| **state == "confirmed").count(), confirmed, "{all}");
    assert_eq!(states[2], "overdue");
    assert_eq!((&all[0]["id"], &all[0]["sequence"]), (&json!(occurrence[0]), &json!(1)), "{all}");

    let download = format!("occurrences/{}/file", occurrence[0]);
    let latest = live.member.get(&path).await;
    assert!(!latest.says("The first delivery.") && latest.says("1 to 10 of 56"), "{}", latest.body);
    for (page, file) in [
        (live.member.get(&format!("{path}?offset=50")).await, live.member.get(&format!("{path}/{download}")).await),
        (ada.get(&format!("{at}?offset=50")).await, ada.get(&format!("{at}/{download}")).await),
        (ben.get(&format!("{at}?offset=50")).await, ben.get(&format!("{at}/{download}")).await),
    ] {
        assert!(page.says("The first delivery.") && page.says("51 to 56 of 56"), "{}", page.body);
        assert_eq!((file.status, &file.bytes[..]), (200, proof.as_slice()));
    }
    let last = live.member.get(&format!("{path}?offset=50")).await;
    assert!(!last.says("value=\"satisfy\""), "what is to be done is on the first page: {}", last.body);
    let behind = live.member.get(&format!("{path}?offset=60")).await;
    assert_eq!((behind.status, behind.location()), (303, path.as_str()));

    let files = unzipped(&live.member.get(&bundle_of(&live)).await.bytes);
    assert_eq!(files["obligations/001 First.pdf"], proof);
    let owed = lines(&files, "obligations.jsonl");
    let said = owed[0]["occurrences"].as_array().expect("occurrences");
    assert_eq!((said.len(), &said[0]["note"]), (confirmed, &json!("The first delivery.")), "{owed:?}");
}

async fn send_confirm_as(live: &Live, who: &Attendee, id: ObligationId, occurrence: &str) -> u16 {
    let pressed = press(who, id, "confirm").await;
    let read: Value = live.org.get(format!("/api/v1/obligations/{id}")).send().await.ok(200);
    assert_eq!(
        (&read["occurrences"][0]["id"], &read["occurrences"][0]["state"]),
        (&json!(occurrence), &json!("confirmed"))
    );
    pressed.status
}

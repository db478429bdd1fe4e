use super::*;

#[tokio::test]
async fn the_parties_keep_and_confirm_their_promises_also_after_completion() {
    let (live, [ada, ben], ids) = live(vec![on(&[-1, 5]), standing(30), triggered(&[7])]).await;
    let overview = ben.get("").await;
    assert!(overview.says("Record satisfaction: Promise 1") && overview.says(">Overdue</span>"), "{}", overview.body);
    assert!(!ada.get("").await.says("Record satisfaction"), "it is not hers");
    let approved = ada.approve(&live.agreement, 1, 0).await;
    assert_eq!(approved.status, 303, "{}", approved.body);
    assert_eq!(live.read().await["lifecycle"], "completed");

    let overview = ben.get("").await;
    assert!(overview.says("This agreement is completed.") && overview.says("Record satisfaction: Promise 1"));
    assert!(ben.get(&format!("/obligations/{}", ids[0])).await.says("It can’t be undone."));
    let claimed = press(&ben, ids[0], "satisfy").await;
    assert_eq!(claimed.status, 303, "{}", claimed.body);
    let receipt = ben.browser.get(claimed.location()).await;
    for text in ["You said that it is done: “Promise 1”", "I say that “Promise 1”, due", "is done."] {
        assert!(receipt.says(text), "{text}: {}", receipt.body);
    }
    let page = ben.get(&format!("/obligations/{}", ids[0])).await;
    assert!(!page.says("value=\"confirm\""), "nobody confirms their own word: {}", page.body);
    assert!(page.says("Northwind Robotics, Inc., ") && !page.says("class=\"badge green\""), "{}", page.body);

    let overview = ada.get("").await;
    assert!(overview.says("Confirm: Promise 1"), "{}", overview.body);
    let confirmed = press(&ada, ids[0], "confirm").await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);
    let confirmed = ada.get(&format!("/obligations/{}", ids[0])).await;
    assert!(confirmed.says("Ada Okafor, ") && confirmed.says("class=\"badge green\">Confirmed"), "{}", confirmed.body);

    // Either side declares; a standing promise's promisee verifies it when due.
    let ancient = press_saying(&ada, ids[2], "declare", "1900-01-01").await;
    assert!(ancient.status == 422 && ancient.says("must not be before "), "{}", ancient.body);
    let declared = press(&ada, ids[2], "declare").await;
    assert_eq!(declared.status, 303, "{}", declared.body);
    assert!(ben.get("").await.says("Record satisfaction: Promise 3"));
    let page = ada.get(&format!("/obligations/{}", ids[1])).await;
    assert!(page.says("Not verified yet") && page.says("Nothing waits for you here"), "{}", page.body);
    let member = live.member.get(&format!("{LIST}/{}", ids[0])).await;
    assert!(member.says("Northwind Robotics, Inc., ") && member.says("Ada Okafor, "), "{}", member.body);
    let record = live.member.get(&format!("{}/participants/{}/access", live.path(), ben.participant)).await;
    assert!(record.says("Said that it is done: “Promise 1”"), "{}", record.body);
}

async fn hosted(live: &Live, host: &Person, participant: ParticipantId) -> Attendee {
    let attendee = Attendee { browser: Browser::of(&live.org, host).await, participant };
    let opened = attendee.follow(&live.link(participant).await).await;
    assert_eq!(opened.status, 303, "{}", opened.body);
    let there = attendee.submit("", "/in-person", &[]).await;
    assert_eq!(there.status, 303, "{}", there.body);
    attendee
}

#[tokio::test]
async fn what_is_said_in_a_members_browser_is_marked_and_no_second_word_beside_that_members() {
    let (live, [ada, ben], ids) = live(vec![on(&[-2]), on(&[-1])]).await;
    let person = live.org.member("Noah Reyes").await;
    let noah = Browser::of(&live.org, &person).await;
    let mark = "in person, in Noah Reyes’s browser";
    let paths = [0, 1].map(|n: usize| format!("{LIST}/{}", ids[n]));

    let host = hosted(&live, &person, ben.participant).await;
    let claimed = press(&host, ids[0], "satisfy").await;
    assert_eq!(claimed.status, 303, "{}", claimed.body);
    let page = noah.get(&paths[0]).await;
    for text in [mark, "It was said in your browser.", "According to Northwind Robotics, Inc., in person"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(!page.says("value=\"confirm\""), "{}", page.body);
    assert!(!noah.get("/app").await.says("said to be done by"));
    let occurrence = live.org.get(format!("/api/v1/obligations/{}", ids[0])).send().await.ok(200);
    let occurrence = occurrence["occurrences"][0]["id"].as_str().expect("an id");
    let own = send(&noah, &paths[0], &[("act", "confirm"), ("occurrence", occurrence)]).await;
    assert_eq!(own.status, 409, "{}", own.body);
    notice(&own, "You recorded this claim");
    assert!(live.member.get("/app").await.says(mark), "another member may confirm it, and reads the mark");
    let confirmed = send_confirm(&live, &paths[0], occurrence).await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);

    let occurrence = noah.get(&paths[1]).await.hidden("occurrence");
    let recorded = send(&noah, &paths[1], &[("act", "satisfy"), ("occurrence", &occurrence)]).await;
    assert_eq!(recorded.status, 303, "{}", recorded.body);
    let host = hosted(&live, &person, ada.participant).await;
    let refused = press(&host, ids[1], "confirm").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    notice(&refused, "This claim can’t be confirmed in this browser");
    let confirmed = press(&ada, ids[1], "confirm").await;
    assert_eq!(confirmed.status, 303, "in a browser of her own: {}", confirmed.body);
    let files = unzipped(&live.member.get(&bundle_of(&live)).await.bytes);
    let owed = lines(&files, "obligations.jsonl");
    let hosts: Vec<_> = owed.iter().map(|line| &line["occurrences"][0]["satisfied_in_person"]["member"]).collect();
    assert_eq!(hosts, [&json!("Noah Reyes"), &json!(null)]);
    assert!(owed.iter().all(|line| line["occurrences"][0]["confirmed_in_person"].is_null()), "{owed:?}");
}

#[tokio::test]
async fn whoever_owes_and_is_owed_reads_it_before_they_consent_approve_and_sign() {
    let live = Live::new(|draft| {
        draft.stages.truncate(2);
        draft.stages[1].gates.truncate(1);
        *draft = with_promises(draft, vec![on(&[30]), standing(90)]);
    })
    .await;
    let [ada, ben] = live.ids();
    let when = format!("Northwind Robotics, Inc. to Ada Okafor, on {}", day(30).for_people());
    let assert_listed = |page: &Page, side: &str| {
        for text in ["Promise 1", &when, "Promise 2", "at all times, verified every 90 days", side] {
            assert!(page.says(text), "{text}: {}", page.body);
        }
    };
    let ada = live.open(ada).await;
    assert_listed(&ada.get("").await, "Owed to you");
    assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
    let overview = ada.get("").await;
    assert!(overview.says("Give your approval"), "{}", overview.body);
    assert_listed(&overview, "Owed to you");
    let condition = ada.get(&format!("/conditions/{}", live.agreement.stages[0].gates[0].id)).await;
    assert_listed(&condition, "Owed to you");
    let named = "In this agreement I am promised: “Promise 1”, “Promise 2”.";
    assert!(condition.says(named), "{}", condition.body);
    let approved = ada.approve(&live.agreement, 0, 0).await;
    assert!(ada.browser.get(approved.location()).await.says(named), "the receipt keeps it");

    let ben = live.attend(ben).await;
    assert_listed(&ben.get("").await, "You owe");
    let document = ben.get(&format!("/documents/{}", live.agreement.documents[0].id)).await;
    assert_listed(&document, "You owe");
    let named = "In this agreement I promise: “Promise 1”, “Promise 2”.";
    assert!(document.says(named), "{}", document.body);
    for who in [&ada, &ben] {
        assert_eq!(who.sign(&live.agreement, "Ada or Ben").await.status, 303);
    }
    assert_eq!(live.read().await["lifecycle"], "completed");
    let overview = ben.get("").await;
    assert!(overview.says(&when) && !overview.says("You owe"), "what is in force is an obligation: {}", overview.body);
}

#[tokio::test]
async fn only_the_parties_see_an_obligation_and_do_what_is_theirs() {
    let (live, [ada, ben], ids) = live(vec![on(&[-1])]).await;
    let (other, [stranger, _], foreign) = self::live(vec![on(&[-1])]).await;
    let at = format!("/obligations/{}", ids[0]);
    assert_eq!(stranger.get(&at).await.status, 404);
    assert_eq!(ada.get(&format!("/obligations/{}", foreign[0])).await.status, 404, "another agreement’s");
    let occurrence =
        live.org.get(format!("/api/v1/obligations/{}", ids[0])).send().await.ok(200)["occurrences"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
    let post = async |who: &Attendee, act: &str, statement: &str| {
        let token = who.get("").await.hidden("form_token");
        let fields =
            [("form_token", token.as_str()), ("occurrence", &occurrence), ("statement", statement), ("act", act)];
        who.browser.post(&who.at(&format!("{at}/act")), &fields).await
    };
    for (who, act) in [(&ada, "satisfy"), (&ben, "confirm"), (&ben, "verify")] {
        let refused = post(who, act, "I say so.").await;
        assert_eq!(refused.status, 409, "{act}: {}", refused.body);
    }
    let reworded = post(&ben, "satisfy", "I say nothing.").await;
    assert_eq!(reworded.status, 409);
    assert!(reworded.says("This page has changed"), "{}", reworded.body);
    assert_eq!(post(&ben, "forget", "").await.status, 404);
    let foreign = post(&stranger, "satisfy", "I say so.").await;
    assert_eq!(foreign.status, 404);
    let shown = live.org.get(format!("/api/v1/obligations/{}", ids[0])).send().await.ok(200);
    assert_eq!(shown["occurrences"][0]["state"], "overdue", "nothing was recorded");

    let withdrawn = ben.submit("", "/consent/withdraw", &[]).await;
    assert_eq!(withdrawn.status, 303, "{}", withdrawn.body);
    assert!(ben.get(&at).await.says("I agree"));
    drop(other);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_leaves_one_receipt() {
    let (live, [_, ben], ids) = live(vec![on(&[-1])]).await;
    let at = format!("/obligations/{}", ids[0]);
    let page = ben.get(&at).await;
    let fields = hidden(&page, "/act");
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let fields = [&fields[..], &[("act", "satisfy")]].concat();
    let path = ben.at(&format!("{at}/act"));
    let (one, two) = tokio::join!(ben.browser.post(&path, &fields), ben.browser.post(&path, &fields));
    assert_eq!((one.status, two.status), (303, 303), "{}{}", one.body, two.body);
    assert_eq!(one.location(), two.location());
    let again = ben.browser.post(&path, &fields).await;
    assert_eq!((again.status, again.location()), (303, one.location()));
    let events = live.org.events().await;
    assert_eq!(events.iter().filter(|event| event["type"] == "obligation.satisfied").count(), 1);
}

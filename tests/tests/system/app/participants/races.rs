//! Acts of participants that meet each other, or the end of their agreement.

use super::*;

#[tokio::test]
async fn two_signers_at_the_same_moment_both_count_and_the_last_gate_clears_once() {
    for _ in 0..3 {
        let live = two_signers().await;
        let [ada, northwind] = live.ids();
        let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
        let (one, other) = tokio::join!(ada.sign(&live.agreement, "Ada"), northwind.sign(&live.agreement, "Nora"));
        assert_eq!((one.status, other.status), (303, 303), "{} {}", one.body, other.body);
        let events = live.org.events().await;
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((count("signature.completed"), count("agreement.completed")), (2, 1));
        assert_eq!(live.read().await["lifecycle"], "completed");
    }
}

/// A form that began to arrive first takes effect last: it follows what came before, and completes the agreement.
#[tokio::test]
async fn a_signature_that_takes_long_to_arrive_follows_the_one_that_overtook_it() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let path = document(&live.agreement);
    let sign = format!("{path}/sign");
    let fields = hidden(&ada.get(&path).await, &sign);
    let fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([("signature", "Ada")]);
    let body = form(&fields.collect::<Vec<_>>());
    let cookie = format!("part-{}", ada.participant);
    let head = [
        format!("POST {} HTTP/1.1", ada.at(&sign)),
        format!("cookie: {cookie}={}", ada.browser.cookie(&cookie).expect("a session")),
        "content-type: application/x-www-form-urlencoded".to_owned(),
        format!("content-length: {}", body.len()),
    ];
    let head: Vec<&[u8]> = head.iter().map(String::as_bytes).collect();
    let (early, late) = body.as_bytes().split_at(body.len() / 2);
    let mut slow = raw::begin(live.org.base_url(), &head, early).await;
    // The request has begun once its call has a time; another page after it takes longer.
    northwind.get(&path).await;
    assert_eq!(northwind.sign(&live.agreement, "Nora Wind").await.status, 303);
    slow.write_all(late).await.expect("the rest is taken");
    let answer = String::from_utf8_lossy(&raw::rest(&mut slow).await).into_owned();
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");

    let completed_at = live.read().await["completed_at"].as_str().expect("it is completed").to_owned();
    let bundle = live.member.get(&format!("/app/evidence/agreements/{}/bundle", live.agreement.id())).await;
    let files = unzipped(&bundle.bytes);
    let signed = lines(&files, "receipts.jsonl");
    let at = |name: &str| {
        let receipt = signed.iter().find(|receipt| receipt["typed"] == name);
        receipt.and_then(|receipt| receipt["at"].as_str()).unwrap_or_else(|| panic!("{name}: {signed:?}")).to_owned()
    };
    assert!(at("Nora Wind") < at("Ada") && at("Ada") <= completed_at, "{signed:?} {completed_at}");
    let timeline = lines(&files, "timeline.jsonl");
    // Acts within a millisecond are in the order of their requests.
    let place = |act: &Value| ["at", "request_id"].map(|field| act[field].as_str().map(str::to_owned));
    assert!(timeline.is_sorted_by(|one, next| place(one) < place(next)), "{timeline:?}");
    assert_eq!(timeline.last().expect("acts")["events"], json!(["signature.completed", "agreement.completed"]));
}

#[tokio::test]
async fn sign_decline_and_cancel_race_to_one_outcome() {
    for _ in 0..3 {
        let live = two_signers().await;
        let [ada, northwind] = live.ids();
        let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
        let path = document(&live.agreement);
        let proposal = live.org.propose("cancel_agreement", &live.agreement).await;
        let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
        let decline = format!("{path}/decline");
        let (signed, declined, cancelled) = tokio::join!(
            ada.sign(&live.agreement, "Ada"),
            northwind.submit(&path, &decline, &[("reason", "No.")]),
            live.member.decide(&review, "confirm", ""),
        );
        let outcome = (signed.status, declined.status, cancelled.status);
        assert!([303, 404, 409].contains(&outcome.0) && [303, 404, 409].contains(&outcome.1), "{outcome:?}");
        let read = live.read().await;
        let is_cancelled = read["lifecycle"] == "cancelled";
        assert_eq!(is_cancelled, cancelled.status == 303, "{outcome:?} {read}");
        let events = live.org.events().await;
        let signatures = events.iter().filter(|event| event["type"] == "signature.completed").count();
        assert_eq!(signatures, usize::from(outcome.0 == 303));
        assert!(events.iter().all(|event| event["type"] != "agreement.completed"));
    }
}

#[tokio::test]
async fn a_replaced_document_or_an_ended_agreement_is_not_signed() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let ada = live.attend(ada).await;
    let path = document(&live.agreement);
    let page = ada.get(&path).await;
    let token = page.hidden("form_token");
    assert!(!token.is_empty());
    let other = "ab".repeat(32);
    let refused = ada.send(&page, &format!("{path}/sign"), &[("sha256", &other), ("signature", "Ada")]).await;
    assert!(refused.status == 409 && refused.says("The document is another one now"), "{}", refused.body);
    for (typed, says) in [
        (vec![("signature", " ")], "signature-error"),
        (vec![("signature", "a\u{202e}b")], "Your signature"),
        (vec![("signature", ""), ("drawing", "M1 1L9999 1")], "can’t be read"),
        (vec![("signature", ""), ("drawing", "M1 1")], "is empty"),
        (vec![("signature", "Ada"), ("drawing", "M1 1L2 2")], "is typed and drawn"),
    ] {
        let refused = ada.send(&page, &format!("{path}/sign"), &typed).await;
        assert!(refused.status == 422 && refused.says(says), "{says}: {}", refused.body);
        assert!(refused.title().starts_with("Error: "), "{}", refused.title());
    }
    for (shown, says) in
        [(("blocks", ""), "What you sign has changed"), (("statement", "I sign."), "This page has changed")]
    {
        let refused = ada.send(&page, &format!("{path}/sign"), &[("signature", "Ada"), shown]).await;
        assert!(refused.status == 409 && refused.says(says), "{says}: {}", refused.body);
    }
    let proposal = live.org.propose("cancel_agreement", &live.agreement).await;
    let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(live.member.decide(&review, "confirm", "").await.status, 303);
    let late = ada.send(&page, &format!("{path}/sign"), &[("signature", "Ada")]).await;
    assert!(late.status == 409 && late.says("This agreement was cancelled"), "{}", late.body);
    assert!(ada.get("").await.says("Nothing is asked of you anymore"));
    assert!(live.open(northwind).await.get("").await.says("This agreement was cancelled"));
}

#[tokio::test]
async fn a_drawn_signature_of_ten_thousand_points_is_kept() {
    let live = two_signers().await;
    let ada = live.attend(live.ids()[0]).await;
    let path = document(&live.agreement);
    let mut drawing = String::from("M0 0");
    for n in 1..10_000 {
        let _ = write!(drawing, "L{} {}", n % 1001, n % 301);
    }
    let page = ada.get(&path).await;
    let fields = hidden(&page, &format!("{path}/sign"));
    let own: Vec<_> = fields
        .iter()
        .filter(|(name, _)| name != "drawing")
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .chain([("drawing", drawing.as_str())])
        .collect();
    // As browsers send it, in parts: the form of a page without a file has the limit of small forms.
    let done = ada.browser.upload(&ada.at(&format!("{path}/sign")), &own, ("none", "", b"")).await;
    let receipt = receipt(&ada, &done).await;
    assert!(receipt.says(&format!("<path d=\"{drawing}\"/>")) && receipt.says("Drawn signature"));
}

#[tokio::test]
async fn an_agreement_that_expires_while_someone_signs_records_nothing() {
    let live = Live::new(|draft| {
        draft.stages.drain(..1);
        draft.stages.truncate(1);
        draft.expires_at = Some(Timestamp::now().plus_seconds(3));
    })
    .await;
    let ada = live.attend(live.ids()[0]).await;
    let path = document(&live.agreement);
    let page = ada.get(&path).await;
    let expired = || async {
        Clockwork::of(&live.org).tick().await;
        (live.read().await["lifecycle"] == "expired").then_some(())
    };
    eventually("the agreement expires", expired).await;
    let late = ada.send(&page, &format!("{path}/sign"), &[("signature", "Ada")]).await;
    assert!(late.status == 409 && late.says("This agreement has expired"), "{}", late.body);
    assert!(ada.get("").await.says("This agreement has expired"));
}

#[tokio::test]
async fn a_draft_has_no_links_and_leaving_ends_the_session() {
    let live = two_signers().await;
    let draft = live.org.ready_draft("Later", |_| {}).await;
    let access = format!("/app/agreements/{}/participants/{}/access", draft.id(), draft.participants[0].id);
    assert_eq!(live.member.get(&access).await.location(), format!("/app/agreements/{}", draft.id()));
    let ada = live.attend(live.ids()[0]).await;
    let lost = ada.get("/nothing/here").await;
    assert!(lost.status == 404 && lost.says("There is nothing here"), "no one is sent to sign in: {}", lost.location());
    let left = ada.submit("", "/leave", &[]).await;
    assert!(left.status == 200 && left.says("You have left"), "{}", left.body);
    assert_eq!(ada.get("").await.status, 401);
}

#[tokio::test]
async fn a_waiting_period_after_the_signatures_completes_the_agreement_by_itself() {
    let live = Live::new(|draft| {
        draft.stages.drain(..1);
        draft.stages[1].gates.remove(0);
        let past = Timestamp::now().plus_seconds(-60);
        draft.stages[1].gates[0].rule = GateRule::Countdown { until: Some(Countdown::At(past)) };
    })
    .await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    assert_eq!(ada.sign(&live.agreement, "Ada").await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "active");
    assert_eq!(northwind.sign(&live.agreement, "Nora").await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "completed", "its moment was over already");
}

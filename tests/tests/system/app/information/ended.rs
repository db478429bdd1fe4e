//! Requests for information that ended, or whose session did.

use super::*;

#[tokio::test]
async fn ended_agreements_and_declined_requests_take_no_answers() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let (at, who) = (condition(&live), name(&live, 0));
    let page = ada.get(&at).await;
    let reason = ada.submit(&at, &format!("{at}/decline"), &[("reason", "")]).await;
    assert!(reason.status == 422 && reason.says("Reason must not be blank"), "{}", reason.body);
    assert_eq!(ada.submit(&at, &format!("{at}/decline"), &[("reason", "I won’t.")]).await.status, 303);
    for act in ["save", "send"] {
        let late = ada.send(&page, &format!("{at}/answers/{act}"), &[(&who, "Ada")]).await;
        assert!(late.status == 409 && late.says("A participant has declined"), "{}", late.body);
    }
    let shown = live.member.get(&live.path()).await;
    let reopen = [("form_token", shown.hidden("form_token")), ("declined_at", shown.hidden("declined_at"))];
    let reopen = [("form_token", reopen[0].1.as_str()), ("declined_at", reopen[1].1.as_str())];
    assert_eq!(live.member.post(&format!("{}{at}/reopen", live.path()), &reopen).await.status, 303);
    assert_eq!(submit(&live, &ada, "send", &[(&who, "Ada")]).await.status, 303);
    let proposal = live.org.propose("cancel_agreement", &live.agreement).await;
    let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    let read = live.member.get(&answers(&live, ada.participant)).await;
    assert_eq!(live.member.decide(&review, "confirm", "").await.status, 303);
    let (token, submission) = (read.hidden("form_token"), read.hidden("submission"));
    let fields = [("form_token", token.as_str()), ("submission", &submission)];
    let late = live.member.post(&format!("{}/accept", answers(&live, ada.participant)), &fields).await;
    assert!(late.status == 409 && late.says("no longer active") && late.says("Not decided"), "{}", late.body);
    assert!(ada.get(&at).await.says("Not read before the agreement ended"));
    assert_eq!(information(&live).await[0]["state"], "sent");
}

#[tokio::test]
async fn answers_need_consent_and_are_refused_with_a_reason() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let (at, who) = (condition(&live), name(&live, 0));
    let page = ada.get(&at).await;
    for (typed, says) in [("a\u{202e}b", "change the direction of text"), ("  ", "is missing")] {
        let wrong = ada.send(&ada.get(&at).await, &format!("{at}/answers/send"), &[(&who, typed)]).await;
        assert!(wrong.status == 422 && wrong.says(says), "{says}: {}", wrong.body);
    }
    let when = name(&live, 1);
    let wrong = ada.send(&ada.get(&at).await, &format!("{at}/answers/send"), &[(&who, "Ada"), (&when, "soon")]).await;
    assert!(wrong.status == 422 && wrong.says("must be a date") && wrong.says("value=\"soon\""), "{}", wrong.body);
    assert_eq!(ada.submit("", "/consent/withdraw", &[]).await.status, 303);
    for act in ["save", "send"] {
        let late = ada.send(&page, &format!("{at}/answers/{act}"), &[(&who, "Ada")]).await;
        assert!(late.status == 409 && late.says("Your consent is needed first"), "{}", late.body);
    }
    assert!(information(&live).await.is_empty());
    let path = format!("/api/v1/agreements/{}/information", unknown_id());
    assert_eq!(live.org.get(path).send().await.status, 404);
}

#[tokio::test]
async fn what_was_typed_when_a_session_ended_is_kept_and_sent_after_the_link_is_opened_again() {
    let questions = [("Who are you?", FieldType::Text, true), ("Where do you live?", FieldType::Address, false)];
    let live = asking(questions.map(|(label, kind, required)| question(label, kind, required)).into(), false).await;
    let ada = live.attend(live.ids()[0]).await;
    let at = condition(&live);
    let page = ada.get(&at).await;
    let action = format!("{at}/answers/send");
    let cookie = format!("part-{}", ada.participant);
    let own = [("origin", live.org.base_url())];
    let (typed, postal_code) = (name(&live, 0), format!("{}.postal_code", name(&live, 1)));
    let form = |page: &Page, action: &str| -> Vec<(String, String)> {
        // A postal code isn't secret, and is sent even if empty.
        let own = [(typed.clone(), "Ada & co".to_owned()), (postal_code.clone(), String::new())];
        let mut fields = hidden(page, action);
        fields.retain(|(name, _)| own.iter().all(|(own, _)| name != own));
        fields.into_iter().chain(own).collect()
    };
    let post = async |fields: &[(String, String)], headers: &[(&str, &str)]| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        ada.browser.post_with(&ada.at(&action), &fields, headers).await
    };
    let sent = form(&page, &action);
    let session = ada.browser.cookie(&cookie).expect("a session");
    ada.browser.set_cookie(&cookie, "");
    let kept = post(&sent, &own).await;
    assert!(kept.status == 401 && kept.title().starts_with("Error: Your session ended"), "{}", kept.body);
    for text in ["Nothing was saved", "Open your link in another tab", "<dt>Answer</dt>", "Ada & co</dd>"] {
        assert!(unescaped(&kept.body).contains(text), "{text}: {}", kept.body);
    }
    // Pressed too early, the page stays. Forms from another origin may be planted, and aren't shown.
    let early = post(&form(&kept, &ada.at(&action)), &own).await;
    assert!(early.status == 401 && early.says("I’ve opened my link"), "{}", early.body);
    for headers in [&[][..], &[("origin", "https://evil.example")]] {
        let planted = post(&sent, headers).await;
        assert!(planted.status == 401 && !planted.says("Ada &amp; co"), "{}", planted.body);
    }
    let mut with_number = sent.clone();
    with_number.push((format!("{typed}.number"), IBAN.to_owned()));
    let to_enter = post(&with_number, &own).await;
    assert!(to_enter.status == 401 && to_enter.says("Account numbers are never shown again"), "{}", to_enter.body);
    assert!(!to_enter.body.contains(IBAN) && !to_enter.says("I’ve opened my link"), "{}", to_enter.body);

    let opened = ada.follow(&live.link(ada.participant).await).await;
    assert_eq!(opened.status, 303, "{}", opened.body);
    assert_ne!(ada.browser.cookie(&cookie), Some(session));
    let again = post(&form(&kept, &ada.at(&action)), &own).await;
    assert!(again.status == 403 && again.says("Submit again"), "{}", again.body);
    assert_eq!(information(&live).await, Vec::<Value>::new());
    let done = post(&form(&again, &ada.at(&action)), &own).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(information(&live).await[0]["answers"][0]["value"], "Ada & co");
}

#[tokio::test]
async fn a_refused_file_hides_nothing_else_that_is_wrong() {
    let live =
        asking(vec![question("Proof?", FieldType::File, true), question("Who are you?", FieldType::Text, true)], false)
            .await;
    let ada = live.attend(live.ids()[0]).await;
    let at = condition(&live);
    let action = format!("{at}/answers/send");
    let page = ada.get(&at).await;
    let fields = hidden(&page, &action);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let file = (name(&live, 0), "page.html", b"<script>alert(1)</script>");
    let refused = ada.browser.upload(&ada.at(&action), &fields, (&file.0, file.1, file.2)).await;
    assert!(refused.status == 422 && refused.says("Some answers need another look"), "{}", refused.body);
    let count = |text: &str| unescaped(&refused.body).matches(text).count();
    assert_eq!((count("Your answer is missing"), refused.says("PDF")), (1, true), "{}", refused.body);
}

#[tokio::test]
async fn answers_that_were_not_sent_are_a_refusal_in_the_log_and_no_change_on_home() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let (who, since) = (name(&live, 0), name(&live, 1));
    for _ in 0..2 {
        let wrong = submit(&live, &ada, "send", &[(&who, "Ada"), (&since, "soon")]).await;
        assert!(wrong.status == 422 && wrong.says("Nothing was sent."), "{}", wrong.body);
    }
    let log = live.member.get("/app/audit?operation=send_answers").await;
    assert_eq!((log.body.matches("422 invalid_request").count(), log.says("303 ok")), (2, false), "{}", log.body);
    assert!(!log.says(">Success</span>"), "{}", log.body);
    assert!(!live.member.get("/app").await.says("sent answers"));
    assert_eq!(submit(&live, &ada, "send", &[(&who, "Ada"), (&since, "")]).await.status, 303);
    assert!(live.member.get("/app/audit?operation=send_answers").await.says("303 ok"));
    assert!(live.member.get("/app").await.says("sent answers"));
}

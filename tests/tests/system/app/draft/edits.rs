//! Edits in separate forms: name, participants and terms, also by two members at once.

use serde_json::json;
use tests::app::FormCopy;
use tests::pages::{self, WAITS_MAX};

use super::{Desk, NEW, notice};

#[tokio::test]
async fn members_who_edit_different_parts_both_keep_their_edits() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.two_party().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let steps = format!("{page}/steps/{step}");
    let (details, step_page) = (desk.seen(&format!("{page}/details")).await, other.get(&steps).await.hidden("seen"));
    let named =
        desk.send(&format!("{page}/details"), &[("seen", &details), ("name", "Refit"), ("kind", "general")]).await;
    let stepped =
        other.post(&steps, &[("form_token", &other_token), ("seen", &step_page), ("name", "Signatures")]).await;
    assert_eq!((named.status, stepped.status), (303, 303), "{}{}", named.body, stepped.body);
    let again = [("form_token", other_token.as_str()), ("seen", &step_page), ("name", "Signatures")];
    assert_eq!(other.post(&steps, &again).await.status, 303);
    let agreement = desk.agreement(&page).await;
    assert_eq!((&agreement["name"], &agreement["stages"][0]["name"]), (&json!("Refit"), &json!("Signatures")));

    // The same part: the second member is told, keeps what they typed, and can then replace it.
    let stale = desk.send(&steps, &[("seen", &step_page), ("name", "Closing <b>dinner</b>")]).await;
    assert_eq!(stale.status, 409);
    notice(&stale, "Ines Duarte changed this while you were typing");
    assert!(
        stale.says("Step name: now “Signatures”; you typed “Closing &#60;b&#62;dinner&#60;/b&#62;”."),
        "{}",
        stale.body
    );
    assert!(
        stale.says("Signatures") && stale.says("value=\"Closing &#60;b&#62;dinner&#60;/b&#62;\""),
        "{}",
        stale.body
    );
    let replaced = desk.send(&steps, &[("seen", &stale.hidden("seen")), ("name", "Closing")]).await;
    assert_eq!(replaced.status, 303, "{}", replaced.body);

    let seen = desk.seen(&steps).await;
    assert_eq!(other.post(&steps, &[("form_token", &other_token), ("act", "remove")]).await.status, 303);
    let gone = desk.send(&steps, &[("seen", &seen), ("name", "A long thought")]).await;
    assert_eq!(gone.status, 409);
    assert!(gone.says("removed by another member") && gone.says("A long thought"), "{}", gone.body);
}

#[tokio::test]
async fn a_participant_is_added_with_roles() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/participants");
    let shown = desk.browser.get(&format!("{path}?search=ada")).await;
    assert!(shown.says("Ada") && !shown.says("Ben"), "{}", shown.body);
    let nobody = desk.send(&path, &[]).await;
    assert!(nobody.status == 422 && nobody.says("must be chosen from the list") && nobody.says("at least one choice"));
    let added = desk.send(&path, &[("contact_id", &desk.people[0]), ("role.signer", "on")]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    notice(&desk.browser.get(&page).await, "Ada takes part");
    let again = desk.send(&path, &[("contact_id", &desk.people[0]), ("role.approver", "on")]).await;
    assert_eq!(again.status, 303);
    let participants = desk.agreement(&page).await["participants"].clone();
    assert_eq!(participants.as_array().map(Vec::len), Some(1), "roles merge");
    assert_eq!(participants[0]["roles"], json!(["signer", "approver"]));
    let stranger = Desk::new().await;
    let foreign = desk.send(&path, &[("contact_id", &stranger.people[0]), ("role.signer", "on")]).await;
    assert_eq!(foreign.status, 404);
    let party = [
        ("workspace", desk.workspace.as_str()),
        ("template", "safe"),
        ("name", "A"),
        ("party.investor", &stranger.people[0]),
    ];
    let foreign = desk.send(NEW, &party).await;
    assert_eq!(foreign.status, 422, "{}", foreign.body);
}

#[tokio::test]
async fn terms_are_read_as_people_type_them() {
    let desk = Desk::new().await;
    let page = desk.begin("blank-safe", &[]).await;
    let path = format!("{page}/terms");
    let seen = desk.seen(&path).await;
    let fields = [
        ("seen", seen.as_str()),
        ("investment", "$750k"),
        ("currency", "usd"),
        ("cap", "8,000,000"),
        ("discount", "20 %"),
        ("timing", "post_money"),
        ("law", "Delaware"),
        ("pro_rata", "on"),
    ];
    let saved = desk.send(&path, &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let terms = desk.agreement(&page).await["terms"].clone();
    assert_eq!(terms["investment_amount_minor"], 75_000_000);
    assert_eq!((&terms["valuation_cap_minor"], &terms["discount_rate"]), (&json!(800_000_000), &json!("0.20")));
    assert_eq!((&terms["currency"], &terms["mfn"], &terms["pro_rata"]), (&json!("USD"), &json!(false), &json!(true)));
    let shown = desk.browser.get(&page).await;
    notice(&shown, "Terms saved");
    assert!(shown.says("Investment: $750,000.00 USD"), "what was understood: {}", shown.body);
    let (header, rest) = shown.body.split_once("</dl>").expect("the header of the deal");
    for text in ["$750,000.00 USD", "No participants yet", "Valuation cap", "20%", "Edit name, kind and expiry"] {
        assert!(header.contains(text), "the deal comes first: {text}");
    }
    assert!(rest.contains("id=\"notice\""), "the notice stands by the terms");
    let shown = desk.browser.get(&path).await;
    assert!(shown.says("value=\"750,000.00\"") && shown.says("value=\"20%\""), "{}", shown.body);
    let wrong = [
        ("seen", shown.hidden("seen")),
        ("investment", "1.234,56".into()),
        ("currency", "USD".into()),
        ("discount", "0.2".into()),
    ];
    let wrong: Vec<_> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = desk.send(&path, &wrong).await;
    assert_eq!(refused.status, 422);
    let texts = [
        "Did you mean 20%?<",
        "investment-error",
        "discount-error",
        "value=\"1.234,56\"",
        "value=\"0.2\"",
        "<title>Error: ",
    ];
    for text in texts {
        assert!(refused.says(text), "{text}: {}", refused.body);
    }
}

#[tokio::test]
async fn name_kind_and_expiry_are_edited() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/details");
    let long = "宽".repeat(250);
    for (name, status) in [("", 422), ("a\u{202e}b", 422), (long.as_str(), 303)] {
        let seen = desk.seen(&path).await;
        let saved = desk.send(&path, &[("seen", &seen), ("name", name), ("kind", "safe")]).await;
        assert_eq!(saved.status, status, "{name}: {}", saved.body);
    }
    let agreement = desk.agreement(&page).await;
    assert_eq!((&agreement["kind"], &agreement["name"]), (&json!("safe"), &json!(long)));
    let body = desk.browser.get(&path).await.body;
    let expiry =
        body.split("name=\"seen\" value=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("seen").to_owned();
    let fields = [("act", "expiry"), ("seen", expiry.as_str()), ("expires_at", "2031-01-31T09:00")];
    assert_eq!(desk.send(&path, &fields).await.status, 303);
    assert_eq!(desk.agreement(&page).await["expires_at"], "2031-01-31T09:00:00.000Z");
}

#[tokio::test]
async fn an_expiry_is_read_as_people_type_it_and_shown_as_it_was_understood() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/details");
    let save = async |typed: &str| {
        let body = desk.browser.get(&path).await.body;
        let seen = body.split("name=\"seen\" value=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("seen");
        desk.send(&path, &[("act", "expiry"), ("seen", seen), ("expires_at", typed)]).await
    };
    for (typed, expected) in [
        ("31/12/2031", "2031-12-31T23:59:59.999Z"),
        ("Dec 31, 2031 5pm", "2031-12-31T17:00:00.000Z"),
        ("31 December 2031", "2031-12-31T23:59:59.999Z"),
        ("2031-12-30", "2031-12-30T23:59:59.999Z"),
        ("2031-12-31T09:00", "2031-12-31T09:00:00.000Z"),
    ] {
        assert_eq!(save(typed).await.status, 303, "{typed}");
        assert_eq!(desk.agreement(&page).await["expires_at"], expected, "{typed}");
    }
    notice(&desk.browser.get(&page).await, "Expires 31 Dec 2031, 09:00 UTC");
    assert!(desk.browser.get(&path).await.says("value=\"31 Dec 2031, 09:00\""));
    for (typed, reason) in [
        ("12/31/2031", "such as 26 Nov 2026 17:00 or 26/11/2026"),
        ("30/2/2031", "must be a day that exists"),
        ("tomorrow", "must be a date"),
        ("31/12/9999", "must be in the years 1900 to 2199"),
    ] {
        let wrong = save(typed).await;
        assert_eq!(wrong.status, 422, "{typed}");
        assert!(
            wrong.says("expires_at-error") && wrong.says(reason) && wrong.says(&format!("value=\"{typed}\"")),
            "{typed}"
        );
    }
    // A past date is no error, but blocks publication.
    assert_eq!(save("2/1/2020").await.status, 303);
    let shown = desk.browser.get(&page).await;
    assert!(shown.says("class=\"notice warn\"") && shown.says("That is in the past"), "{}", shown.body);
    assert!(shown.says("Choose an expiry in the future"), "{}", shown.body);
}

#[tokio::test]
async fn two_who_rename_one_draft_are_told_of_each_other() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/details");
    let seen = desk.seen(&path).await;
    let renamed = [("form_token", other_token.as_str()), ("seen", &seen), ("name", "Charter"), ("kind", "safe")];
    assert_eq!(other.post(&path, &renamed).await.status, 303);
    let stale = desk.send(&path, &[("seen", &seen), ("name", "Refit"), ("kind", "general")]).await;
    assert_eq!(stale.status, 409);
    notice(&stale, "Ines Duarte changed this while you were typing");
    for text in [
        "Agreement name: now “Charter”; you typed “Refit”.",
        "Kind: now “SAFE”; you typed “Agreement”.",
        "value=\"Refit\"",
    ] {
        assert!(stale.says(text), "{text}: {}", stale.body);
    }
    let seen = desk.seen(&path).await;
    assert_eq!(desk.send(&path, &[("seen", &seen), ("name", "Tender"), ("kind", "safe")]).await.status, 303);
    let stale = desk.send(&path, &[("seen", &seen), ("name", "Refit"), ("kind", "safe")]).await;
    notice(&stale, "You changed this in another window");
}

#[tokio::test]
async fn histories_name_the_part_that_was_edited() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let id = page.rsplit('/').next().expect("an id");
    let cleo = desk.org.person("Cleo").await["id"].clone();
    let part = json!({"contact_id": cleo, "roles": ["observer"]});
    let path = format!("/api/v1/agreements/{id}/participants");
    let part = desk.org.post(path, &part).send().await.ok(201)["id"].as_str().expect("an id").to_owned();
    let FormCopy { name: copy, id: step } = desk.copy();
    let added =
        desk.send(&format!("{page}/steps"), &[("act", "add"), ("copy", &copy), ("step_name", "Closing <b>")]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let wait = [("type", "countdown"), ("wait", "3"), ("unit", "days")];
    assert_eq!(desk.send(&format!("{page}/steps/{step}/conditions"), &wait).await.status, 303);
    let removed = desk.send(&format!("{page}/participants/{part}"), &[("act", "remove")]).await;
    assert_eq!(removed.status, 303, "{}", removed.body);
    assert_eq!(desk.send(&format!("{page}/steps/{step}"), &[("act", "remove")]).await.status, 303);
    let proposal = json!({"action": "cancel_agreement", "agreement_id": id});
    desk.org.post("/api/v1/proposals", &proposal).send().await.ok(201);

    let edits = [
        "Removed the step “Closing &#60;b&#62;”",
        "Removed Cleo from the participants",
        "Added Cleo as a participant",
        "Added the condition “Waiting period” to the step “Closing &#60;b&#62;”",
        "Added the step “Closing &#60;b&#62;”",
    ];
    for place in [page.as_str(), "/app", "/app/audit"] {
        let shown = desk.browser.get(place).await;
        for edit in edits.iter().chain(&["Proposed to cancel"]) {
            // Home says it in a sentence that begins with who did it.
            assert!(shown.says(&edit[1..]), "{place}, {edit}: {}", shown.body);
        }
        assert!(pages::waits(&desk.org, &desk.browser, place).await <= WAITS_MAX, "{place}");
    }
    let trail = desk.browser.get(&format!("/app/audit?object={}", cleo.as_str().expect("an id"))).await;
    assert!(trail.says("Removed Cleo from the participants") && !trail.says("and 1 more"), "{}", trail.body);
}

#[tokio::test]
async fn a_step_that_is_moved_while_another_member_edits_it_keeps_both() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.begin("blank", &[]).await;
    let steps = format!("{page}/steps");
    for name in ["One", "Two"] {
        assert_eq!(desk.send(&steps, &[("act", "add"), ("step_name", name)]).await.status, 303);
    }
    let agreement = desk.agreement(&page).await;
    let second = agreement["stages"][1]["id"].as_str().expect("an id");
    let path = format!("{steps}/{second}");
    let open_form = desk.seen(&path).await;
    let order = other.get(&page).await.hidden("seen");
    let up = [("form_token", other_token.as_str()), ("act", "move"), ("id", second), ("to", "0"), ("seen", &order)];
    assert_eq!(other.post(&steps, &up).await.status, 303);
    let renamed = desk.send(&path, &[("seen", &open_form), ("name", "Closing")]).await;
    assert_eq!(renamed.status, 303, "{}", renamed.body);
    let stages = desk.agreement(&page).await["stages"].clone();
    assert_eq!((&stages[0]["name"], &stages[1]["name"]), (&json!("Closing"), &json!("One")));
}

/// A participant joins the workspace's people, whichever workspace knew them before (contract, section 2).
#[tokio::test]
async fn a_contact_of_another_workspace_joins_this_one() {
    let desk = Desk::new().await;
    let contact = desk.org.person("Cleo").await["id"].as_str().expect("an id").to_owned();
    let elsewhere = desk.org.workspace("Elsewhere").await["id"].as_str().expect("an id").to_owned();
    let attach = format!("/api/v1/workspaces/{elsewhere}/contacts");
    desk.org.post(&attach, &json!({"contact_id": contact})).send().await.ok(201);
    let page = desk.begin("two-party-signature", &[("party.first", &contact)]).await;
    assert_eq!(desk.agreement(&page).await["participants"][0]["contact_id"], json!(contact));
    let people = |workspace: serde_json::Value| workspace["people"].as_array().expect("people").clone();
    let here = desk.org.get(format!("/api/v1/workspaces/{}", desk.workspace)).send().await.ok(200);
    assert!(people(here).iter().any(|person| person["contact_id"] == json!(contact)));
    let there = desk.org.get(format!("/api/v1/workspaces/{elsewhere}")).send().await.ok(200);
    assert_eq!(people(there).len(), 1, "and stays in the other one");
}

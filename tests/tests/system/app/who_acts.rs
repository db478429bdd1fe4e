//! Proof of who acts: shown links are recorded, acts in members' browsers marked, and entities sign by a person.

use serde_json::json;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::{Browser, Page, Person, unescaped};
use tests::attending::{Attendee, Live, hidden, shown_link};
use tests::pdf::pdf;
use tests::{Org, Rule, Shaky, rows};

use super::evidence::{lines, unzipped};

async fn to_sign() -> (Live, Person) {
    to_sign_by("person").await
}

async fn to_sign_by(kind: &str) -> (Live, Person) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let member = Browser::of(&org, &person).await;
    let draft = org
        .ready_draft("Lease", |draft| {
            draft.stages.drain(..1);
            draft.stages.truncate(1);
            draft.stages[0].gates.truncate(1);
        })
        .await;
    let northwind = format!("/api/v1/contacts/{}", draft.participants[1].contact_id);
    org.patch(&northwind, &json!({"kind": kind})).send().await.ok(200);
    (Live::publish(org, member, draft).await, person)
}

fn says(page: &Page, texts: &[&str]) {
    let body = unescaped(&page.body);
    for text in texts {
        assert!(body.contains(text), "{text}: {body}");
    }
}

fn lacks(page: &Page, texts: &[&str]) {
    let body = unescaped(&page.body);
    for text in texts {
        assert!(!body.contains(text), "{text}: {body}");
    }
}

fn access_of(live: &Live) -> String {
    format!("{}/participants/{}/access", live.path(), live.ids()[0])
}

async fn exported(live: &Live, file: &str) -> Vec<serde_json::Value> {
    let bundle = live.member.get(&format!("/app/evidence/agreements/{}/bundle", live.agreement.id())).await;
    assert_eq!(bundle.status, 200, "{}", bundle.body);
    lines(&unzipped(&bundle.bytes), file)
}

#[tokio::test]
async fn a_link_is_shown_on_demand_and_on_record() {
    let (live, _) = to_sign().await;
    let ada = live.ids()[0];
    for path in [live.path(), access_of(&live)] {
        let page = live.member.get(&path).await;
        says(&page, &["Show link"]);
        lacks(&page, &["/app/links/", "mailto:"]);
    }
    // The header does it itself, under the name that the act has below.
    let page = live.member.get(&live.path()).await;
    assert!(page.says("<dt>Amount</dt><dd class=\"quiet\">No payments</dd>"), "{}", page.body);
    let (header, below) = page.body.split_once("id=\"steps\"").expect("the steps");
    for (part, text) in [(header, "Show link of Ada Okafor"), (below, "Show link")] {
        let button = format!("aria-label=\"Show link of Ada Okafor\">{text}</button>");
        let action = format!("action=\"{}/link\"", access_of(&live));
        assert!(part.contains(&button) && part.contains(&action), "{part}");
    }
    lacks(&live.member.get(&live.path()).await, &["Link of Ada Okafor shown to"]);

    let shown = shown_link(&live.member, live.agreement.id(), ada).await;
    says(&shown, &["/app/links/", "mailto:ada%40okafor.example?", "Link shown"]);
    says(&live.member.get(&live.path()).await, &["Link of Ada Okafor shown to Maren Holt"]);
    let timeline = exported(&live, "timeline.jsonl").await;
    assert!(timeline.iter().any(|act| act["what"] == "Link shown to Maren Holt"), "{timeline:?}");
    let rows = live.org.audit().await;
    assert_eq!(rows.iter().filter(|row| row["operation"] == "show_link").count(), 1);

    let kim = Browser::of(&live.org, &live.org.member("Kim Sato").await).await;
    lacks(&kim.get(&access_of(&live)).await, &["/app/links/", "mailto:"]);
    live.member.expire_flashes();
    lacks(&live.member.get(&access_of(&live)).await, &["/app/links/", "mailto:"]);

    let page = live.member.get(&access_of(&live)).await;
    let fields = [("form_token", page.hidden("form_token")), ("generation", "1".to_owned())];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refused = live.member.post(&format!("{}/link", access_of(&live)), &fields).await;
    let page = live.member.get(refused.location()).await;
    says(&page, &["The link wasn’t shown"]);
    lacks(&page, &["/app/links/"]);
}

#[tokio::test]
async fn what_is_done_in_a_members_browser_asks_first_and_is_marked() {
    let (live, person) = to_sign().await;
    let [ada, northwind] = live.ids();
    let host = Attendee { browser: Browser::of(&live.org, &person).await, participant: ada };
    let opened = host.follow(&live.link(ada).await).await;
    assert_eq!(opened.status, 303, "{}", opened.body);
    let question = host.get("").await;
    says(&question, &["Is Ada Okafor here with you?", "Maren Holt", "continue in person"]);
    lacks(&question, &["I agree", "What waits for you"]);
    for (path, fields) in [("/consent", vec![]), (&*document(&live, "/sign"), vec![("signature", "Ada Okafor")])] {
        let token = question.hidden("form_token");
        let fields: Vec<_> = std::iter::once(("form_token", token.as_str())).chain(fields).collect();
        let refused = host.browser.post(&host.at(path), &fields).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        says(&refused, &["Nothing was recorded", "Is Ada Okafor here with you?"]);
    }
    let picture = host.browser.get(&format!("/app/evidence/parts/{ada}/certificate")).await;
    says(&picture, &["Is Ada Okafor here with you?"]);

    let confirmed = host.send(&question, "/in-person", &[]).await;
    assert_eq!((confirmed.status, confirmed.location()), (303, host.at("").as_str()), "{}", confirmed.body);
    says(&host.get("").await, &["I agree", "in person, in Maren Holt’s browser"]);
    assert_eq!(host.submit("", "/consent", &[]).await.status, 303);
    let signed = host.sign(&live.agreement, "Ada Okafor").await;
    assert_eq!(signed.status, 303, "{}", signed.body);
    let mark = "n person, in Maren Holt’s browser";
    says(&host.browser.get(signed.location()).await, &[&format!("I{mark}")]);
    says(&live.member.get(&access_of(&live)).await, &[&format!("Signed “Purchase agreement”, i{mark}")]);

    sign_out(&host.browser).await;
    assert_eq!(host.submit("", "/consent/withdraw", &[]).await.status, 303);

    // In one's own browser, the question isn't asked and nothing is marked; nor with another organization's session.
    let other = Org::new().await;
    let stranger = other.member("Ida Berg").await;
    let theirs = Attendee { browser: Browser::of(&other, &stranger).await, participant: northwind };
    assert_eq!(theirs.follow(&live.link(northwind).await).await.status, 303);
    assert_eq!(theirs.submit("", "/consent", &[]).await.status, 303);
    assert_eq!(theirs.sign(&live.agreement, "Nora Wind").await.status, 303);

    let receipts = exported(&live, "receipts.jsonl").await;
    let marks: Vec<_> = receipts.iter().map(|line| (&line["act"], line["in_person"]["member"].clone())).collect();
    let maren = json!("Maren Holt");
    let by = |act: &str| marks.iter().filter(|(done, _)| *done == act).map(|(_, mark)| mark).collect::<Vec<_>>();
    assert_eq!(by("consented"), [&maren, &json!(null)]);
    assert_eq!(by("signed"), [&maren, &json!(null)]);
    assert_eq!(by("withdrew"), [&maren]);
}

fn document(live: &Live, path: &str) -> String {
    format!("/documents/{}{path}", live.agreement.documents[0].id)
}

async fn sign_out(browser: &Browser) {
    let home = browser.get("/app").await;
    let out = browser.post("/app/sign-out", &[("form_token", &home.hidden("form_token"))]).await;
    assert_eq!(out.status, 303, "{}", out.body);
}

#[tokio::test]
async fn signing_out_does_not_answer_the_question() {
    let (live, person) = to_sign().await;
    let ada = live.ids()[0];
    let asked = ["Is Ada Okafor here with you?", "Maren Holt of"];
    let host = Attendee { browser: Browser::of(&live.org, &person).await, participant: ada };
    let link = live.link(ada).await;
    assert_eq!(host.follow(&link).await.status, 303);
    sign_out(&host.browser).await;
    says(&host.get("").await, &asked);
    assert_eq!(host.follow(&link).await.status, 303);
    says(&host.get("").await, &asked);

    // Whoever signs in beside open pages was seen once the question was shown.
    let own = live.attend(ada).await;
    assert_eq!(own.browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    says(&own.get("").await, &asked);
    sign_out(&own.browser).await;
    let question = own.get("").await;
    says(&question, &asked);
    assert_eq!(own.send(&question, "/in-person", &[]).await.status, 303);
    let signed = own.sign(&live.agreement, "Ada Okafor").await;
    assert_eq!(signed.status, 303, "{}", signed.body);
    says(&own.browser.get(signed.location()).await, &["In person, in Maren Holt’s browser"]);
}

#[tokio::test]
async fn a_page_under_way_does_not_take_back_the_answer() {
    let (live, person) = to_sign().await;
    let host = Attendee { browser: Browser::of(&live.org, &person).await, participant: live.ids()[0] };
    assert_eq!(host.follow(&live.link(host.participant).await).await.status, 303);
    let question = host.get("").await;
    let cookie = format!("part-{}", host.participant);
    let secret = host.browser.cookie(&cookie).expect("a session");
    let long_ago = Timestamp::now().plus_seconds(-2 * limits::SESSION_REFRESH_S);
    rows::age_participant_session(live.org.stack().table(), &secret, long_ago, long_ago).await;
    let shaky = Shaky::beside(&live.org);
    let slow = Attendee { browser: shaky.browser(), participant: host.participant };
    slow.browser.set_cookie(&cookie, &secret);
    let seen = Rule::on("UpdateItem").containing("PARTICIPANTSESSION#");
    let answer = async { assert_eq!(host.send(&question, "/in-person", &[]).await.status, 303) };
    let page = shaky.meanwhile(seen, slow.get(""), answer).await;
    says(&page, &["Is Ada Okafor here with you?"]);
    says(&host.get("").await, &["I agree", "in person, in Maren Holt’s browser"]);
}

#[tokio::test]
async fn a_member_who_signs_in_beside_open_pages_is_asked_about_too() {
    let (live, person) = to_sign().await;
    let ada = live.attend(live.ids()[0]).await;
    let page = ada.get(&document(&live, "")).await;
    assert_eq!(ada.browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    let refused = ada.send(&page, &document(&live, "/sign"), &[("signature", "Ada Okafor")]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    let question = ada.get(&document(&live, "")).await;
    says(&question, &["Is Ada Okafor here with you?"]);
    let confirmed = ada.send(&question, "/in-person", &[]).await;
    assert_eq!(confirmed.location(), ada.at(&document(&live, "")), "the page that was asked for");
    assert_eq!(ada.sign(&live.agreement, "Ada Okafor").await.status, 303);
    let left = ada.send(&question, "/leave", &[]).await;
    assert_eq!(left.status, 200, "{}", left.body);
}

#[tokio::test]
async fn an_entity_signs_by_a_person_with_name_and_title() {
    let (live, _) = to_sign_by("corporation").await;
    let [ada, northwind] = live.ids();
    assert_eq!(live.attend(ada).await.sign(&live.agreement, "Ada Okafor").await.status, 303);
    let nora = live.attend(northwind).await;
    let (path, action) = (document(&live, ""), document(&live, "/sign"));
    let page = nora.get(&path).await;
    says(&page, &["You sign for Northwind Robotics, Inc.", "Your name", "Your title", "which I am authorized to bind"]);
    lacks(&nora_receipts(&live).await, &["Signed “Purchase agreement”"]);
    for (typed, errors) in [
        (vec![("signature", "Nora Wind")], &["signer_name-error", "signer_title-error"][..]),
        (vec![("signature", "Nora Wind"), ("signer_name", "Nora Wind")], &["signer_title-error"]),
        (vec![("signer_name", " "), ("signer_title", "President")], &["signer_name-error", "signature-error"]),
        (
            vec![("signature", "Nora Wind"), ("signer_name", "NORTHWIND Robotics Inc"), ("signer_title", ".")],
            &["Your name must be a person’s own, not “Northwind Robotics, Inc.”", "Your title must be in words"],
        ),
        (
            vec![("signature", "Mickey Mouse"), ("signer_name", "Nora Wind"), ("signer_title", "President")],
            &["Your signature must be your own name, “Nora Wind”"],
        ),
    ] {
        let refused = nora.send(&page, &action, &typed).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        says(&refused, errors);
    }
    let own = [("signature", "nora wind"), ("signer_name", "Nora Wind"), ("signer_title", "President")];
    let signed = nora.send(&page, &action, &own).await;
    assert_eq!(signed.status, 303, "{}", signed.body);
    let name = "Northwind Robotics, Inc., by Nora Wind, President";
    says(&nora.browser.get(signed.location()).await, &[name]);
    says(&nora_receipts(&live).await, &[name]);
    let receipts = exported(&live, "receipts.jsonl").await;
    let signatories: Vec<_> =
        receipts.iter().filter(|line| line["act"] == "signed").map(|line| &line["signatory"]).collect();
    assert_eq!(signatories, [&json!(null), &json!({"name": "Nora Wind", "title": "President"})]);
}

#[tokio::test]
async fn a_contact_that_becomes_a_person_after_the_publication_still_signs_by_one() {
    let (live, _) = to_sign_by("corporation").await;
    let northwind = live.ids()[1];
    let access = format!("{}/participants/{northwind}/access", live.path());
    let paper = format!("{}/participants/{northwind}/paper/{}", live.path(), live.agreement.documents[0].id);
    let contact = format!("/api/v1/contacts/{}", live.agreement.participants[1].contact_id);
    live.org.patch(&contact, &json!({"kind": "person"})).send().await.ok(200);
    let nora = live.attend(northwind).await;
    let (path, action) = (document(&live, ""), document(&live, "/sign"));
    let page = nora.get(&path).await;
    says(&page, &["You sign for Northwind Robotics, Inc.", "Your name", "Your title"]);
    let refused = nora.send(&page, &action, &[("signature", "Northwind Robotics, Inc.")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    says(&refused, &["signer_name-error", "signer_title-error"]);
    says(&live.member.get(&paper).await, &["Signer’s name", "Signer’s title"]);

    // The page says who made it a person, and when, until a member confirms that it is one.
    let page = live.member.get(&access).await;
    let (was, is) = ("Northwind Robotics, Inc. (Corporation)", "Northwind Robotics, Inc. (Person)");
    says(&page, &["Name or kind changed since publication", was, &format!("(over the API) changed it to {is}")]);
    says(&live.member.get(&format!("/app{}", &contact["/api/v1".len()..])).await, &["Earlier details", was]);
    let confirm = hidden(&page, &format!("{access}/contact"));
    let fields: Vec<_> = confirm.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(live.member.post(&format!("{access}/contact"), &fields).await.status, 303);
    lacks(&nora.get(&path).await, &["You sign for", "Your title"]);
    lacks(&live.member.get(&paper).await, &["Signer’s title"]);
}

#[tokio::test]
async fn nothing_goes_to_an_address_that_was_changed_after_the_publication_before_a_member_confirms_it() {
    let (live, _) = to_sign().await;
    let [ada, northwind] = live.ids();
    let access = access_of(&live);
    let admin = Browser::of(&live.org, &live.org.admin("Kim Sato").await).await;
    let token = admin.get("/app").await.hidden("form_token");
    let settings = [("form_token", &*token), ("name", "Harbor"), ("time_zone", "UTC"), ("asks_for_codes", "on")];
    assert_eq!(admin.post("/app/organization", &settings).await.status, 303);
    let shown = shown_link(&live.member, live.agreement.id(), ada).await;
    says(&shown, &["mailto:ada%40okafor.example?"]);

    // A token redirects the contact while the link is on the screen.
    let contact = format!("/api/v1/contacts/{}", live.agreement.participants[0].contact_id);
    let there = json!({"email": "ada@elsewhere.example"});
    live.org.patch(&contact, &there).send().await.ok(200);
    let page = live.member.get(&access).await;
    says(
        &page,
        &[
            "Address changed since publication",
            "Ada Okafor, ada@okafor.example",
            "Ada Okafor, ada@elsewhere.example",
            "(over the API) changed it to Ada Okafor, ada@elsewhere.example",
            "Confirm ada@elsewhere.example",
        ],
    );
    lacks(&page, &["/app/links/", "mailto:", ">Show link</button>"]);
    says(&live.member.get(&live.path()).await, &["Was ada@okafor.example at publication, changed by"]);
    let form_token = page.hidden("form_token");
    for (path, said) in [("/link", "The link wasn’t shown"), ("/code", "No code was made")] {
        let fields = [("form_token", &*form_token), ("generation", "0")];
        let refused = live.member.post(&format!("{access}{path}"), &fields).await;
        let page = live.member.get(refused.location()).await;
        says(&page, &[said, "Confirm the change first"]);
        lacks(&page, &["/app/links/", "mailto:", "id=\"code\""]);
    }
    says(&shown_link(&live.member, live.agreement.id(), northwind).await, &["mailto:"]);

    let confirm = hidden(&page, &format!("{access}/contact"));
    let fields: Vec<_> = confirm.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    live.org.patch(&contact, &json!({"email": "ada@third.example"})).send().await.ok(200);
    let stale = live.member.post(&format!("{access}/contact"), &fields).await;
    says(&live.member.get(stale.location()).await, &["Nothing was confirmed", "ada@third.example"]);
    live.org.patch(&contact, &there).send().await.ok(200);
    let page = live.member.get(&access).await;
    let confirm = hidden(&page, &format!("{access}/contact"));
    let fields: Vec<_> = confirm.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let confirmed = live.member.post(&format!("{access}/contact"), &fields).await;
    let page = live.member.get(confirmed.location()).await;
    says(&page, &["New details confirmed"]);
    lacks(&page, &["Address changed since publication"]);
    says(&live.member.get(&live.path()).await, &["Confirmed the new details of Ada Okafor"]);
    says(&shown_link(&live.member, live.agreement.id(), ada).await, &["mailto:ada%40elsewhere.example?"]);

    let own = live.member.get(&format!("/app/contacts/{}", live.agreement.participants[0].contact_id)).await;
    says(&own, &["Earlier details", "Ada Okafor, ada@okafor.example", "Ada Okafor, ada@third.example"]);
    let bundle = live.member.get(&format!("/app/evidence/agreements/{}/bundle", live.agreement.id())).await;
    let agreement: serde_json::Value =
        serde_json::from_slice(&unzipped(&bundle.bytes)["agreement.json"]).expect("JSON");
    let former = agreement["emails"][0]["former"].as_array().expect("former addresses");
    let emails: Vec<_> = former.iter().map(|was| was["email"].as_str().unwrap_or_default()).collect();
    assert_eq!(emails, ["ada@okafor.example", "ada@elsewhere.example", "ada@third.example"]);
    assert!(agreement["emails"][1].get("former").is_none());
}

#[tokio::test]
async fn an_address_that_was_removed_after_the_publication_is_confirmed_as_none() {
    let (live, _) = to_sign().await;
    let access = access_of(&live);
    let contact = format!("/api/v1/contacts/{}", live.agreement.participants[0].contact_id);
    live.org.patch(&contact, &json!({"email": null})).send().await.ok(200);
    let page = live.member.get(&access).await;
    says(
        &page,
        &[
            "Address changed since publication",
            "Ada Okafor, ada@okafor.example",
            "changed it to Ada Okafor, No email address",
            "No link or code is given out before a member confirms that there is no address.",
            "Confirm: no email address",
        ],
    );
    lacks(&page, &["goes to No email address", "Confirm No email address", ">Show link</button>"]);
    let agreement = live.member.get(&live.path()).await;
    says(&agreement, &["Was ada@okafor.example at publication", "Confirm that there is none"]);
    says(&agreement, &[&format!("href=\"{access}\">Confirm the address of Ada Okafor</a>")]);
    lacks(&agreement, &["Show link of Ada Okafor"]);
    let confirm = hidden(&page, &format!("{access}/contact"));
    let fields: Vec<_> = confirm.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(live.member.post(&format!("{access}/contact"), &fields).await.status, 303);
    let shown = shown_link(&live.member, live.agreement.id(), live.ids()[0]).await;
    says(&shown, &["/app/links/"]);
    lacks(&shown, &["Address changed since publication", "mailto:"]);
}

#[tokio::test]
async fn a_changed_name_is_told_and_a_change_that_was_taken_back_is_none() {
    let (live, _) = to_sign().await;
    let contact = format!("/api/v1/contacts/{}", live.agreement.participants[0].contact_id);
    live.org.patch(&contact, &json!({"display_name": "Eve Moss"})).send().await.ok(200);
    let page = live.member.get(&access_of(&live)).await;
    says(&page, &["Name or kind changed since publication", "Ada Okafor, ada@okafor.example", "Eve Moss", "Show link"]);
    live.org.patch(&contact, &json!({"display_name": "Ada Okafor"})).send().await.ok(200);
    lacks(&live.member.get(&access_of(&live)).await, &["changed since publication"]);
}

async fn nora_receipts(live: &Live) -> Page {
    live.member.get(&format!("{}/participants/{}/access", live.path(), live.ids()[1])).await
}

#[tokio::test]
async fn a_paper_signature_of_an_entity_names_whose_hand_it_is() {
    let (live, _) = to_sign_by("llc").await;
    let northwind = live.ids()[1];
    let path = format!("{}/participants/{northwind}/paper/{}", live.path(), live.agreement.documents[0].id);
    let page = live.member.get(&path).await;
    says(&page, &["Signer’s name", "Signer’s title"]);
    let fields = hidden(&page, &path);
    let own: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let record = async |more: &[(&str, &str)]| {
        let typed = [("day", "14/3/2024"), ("how", "By mail")];
        let all: Vec<_> = own.iter().copied().chain(typed).chain(more.iter().copied()).collect();
        live.member.upload(&path, &all, ("file", "Scan.pdf", &pdf("A scan", ""))).await
    };
    let refused = record(&[]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    says(&refused, &["signer_name-error", "signer_title-error"]);
    let refused = record(&[("signer_name", "Northwind Robotics, Inc."), ("signer_title", "-")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    says(&refused, &["Signer’s name must be a person’s own", "Signer’s title must be in words"]);
    let recorded = record(&[("signer_name", "Nora Wind"), ("signer_title", "Managing Member")]).await;
    assert_eq!(recorded.status, 303, "{}", recorded.body);
    let name = "Northwind Robotics, Inc., by Nora Wind, Managing Member";
    says(&nora_receipts(&live).await, &[name]);
    says(&live.member.get(&live.path()).await, &[name]);
    let papers = exported(&live, "paper_signatures.jsonl").await;
    assert_eq!(papers[0]["signatory"], json!({"name": "Nora Wind", "title": "Managing Member"}));
}

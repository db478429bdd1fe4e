//! Likely mistakes in a draft: listed on publication page and proposal, each with a fix and a tick if meant.

use tests::obligations::{on, with_promises};
use tests::pdf::pdf;

use super::*;

impl Desk {
    async fn with_unawaited_payment(&self) -> String {
        let (page, [ada, ben]) = self.with_parties().await;
        self.with_file(&page).await;
        let fields = [("purpose", "Rent"), ("amount", "10"), ("currency", "USD"), ("payer", &*ada), ("payee", &*ben)];
        self.pay(&page, &fields).await;
        page
    }

    async fn with_file(&self, page: &str) {
        let document = self.agreement(page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
        let path = format!("{page}/documents/{document}");
        let seen = self.seen(&path).await;
        assert_eq!(self.upload(&path, &[("seen", &seen), ("name", "Agreement")], &pdf("one", "")).await.status, 303);
    }

    async fn publish(&self, page: &str, ticked: &[(&str, &str)]) -> Page {
        let path = format!("{page}/publish");
        let version = self.browser.get(&path).await.hidden("version");
        self.send(&path, &[&[("version", version.as_str())], ticked].concat()).await
    }
}

const UNAWAITED: (&str, &str) = ("although.unawaited", "on");
const UNHELD: (&str, &str) = ("although.unheld", "on");
const SAFE_TERMS: (&str, &str) = ("although.safe_terms", "on");
const OVERDUE: (&str, &str) = ("although.overdue", "on");

#[tokio::test]
async fn what_no_condition_waits_for_is_listed_and_takes_a_tick() {
    let desk = Desk::new().await;
    let page = desk.with_unawaited_payment().await;
    let added = desk.upload(&format!("{page}/documents"), &[], &pdf("rules", "")).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let review = desk.browser.get(&format!("{page}/publish")).await;
    for text in [
        "No condition waits for this:",
        "The payment “Rent”: add a condition for it",
        "The document “deed”: add a signature block",
        "Publish although nothing waits for: “Rent”, “deed”",
        "#add\">The payment",
        "#add-block\">The document",
    ] {
        assert!(review.says(text), "{text}: {}", review.body);
    }
    assert!(!review.says("The document “Agreement”"), "a condition waits for it: {}", review.body);
    for ticked in [&[][..], &[OVERDUE]] {
        let refused = desk.publish(&page, ticked).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        notice(&refused, "Nothing was published");
        assert!(refused.says("Fix what is listed, or tick this.") && refused.says("aria-invalid"), "{}", refused.body);
    }
    assert_eq!(desk.agreement(&page).await["lifecycle"], "draft");
    let published = desk.publish(&page, &[UNAWAITED]).await;
    assert_eq!(published.status, 303, "{}", published.body);
    assert_eq!(desk.agreement(&page).await["lifecycle"], "active");
}

#[tokio::test]
async fn a_condition_of_a_later_step_holds_its_payment_back_unless_it_is_told_not_to() {
    let desk = Desk::new().await;
    for hold in [Some(("hold_back", "on")), None] {
        let page = desk.with_unawaited_payment().await;
        assert_eq!(desk.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", "Closing")]).await.status, 303);
        let steps = desk.agreement(&page).await["stages"].clone();
        let step = |n: usize| format!("{page}/steps/{}", steps[n]["id"].as_str().expect("an id"));
        let label = format!("Hold the payment back until “{}” is done", steps[0]["name"].as_str().expect("a name"));
        let first = desk.browser.get(&format!("{}/conditions?type=movement_reconciled", step(0))).await;
        assert!(!first.says("Hold the payment back"), "nothing precedes it: {}", first.body);
        let form = desk.browser.get(&format!("{}/conditions?type=movement_reconciled", step(1))).await;
        assert!(form.says(&label) && form.says("name=\"hold_back\" type=\"checkbox\" checked"), "{}", form.body);
        let (_, option) = form.body.split_once("<select id=\"movement_id\"").expect("a choice of payments");
        let payment = option.split("<option value=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("one");
        let fields = [("type", "movement_reconciled"), ("movement_id", payment)];
        let fields: Vec<_> = fields.into_iter().chain(hold).collect();
        let added = desk.send(&format!("{}/conditions", step(1)), &fields).await;
        assert_eq!(added.status, 303, "{}", added.body);
        let actions = desk.agreement(&page).await["stages"][0]["actions"].clone();
        assert_eq!(actions, hold.map_or(json!([]), |_| json!(["open_movement"])));
        let review = desk.browser.get(&format!("{page}/publish")).await;
        assert_eq!(review.says(UNHELD.0), hold.is_none(), "{}", review.body);
    }
}

#[tokio::test]
async fn a_document_that_is_there_to_be_read_takes_no_tick() {
    let desk = Desk::new().await;
    let page = desk.begin("notice-period", &[("party.recipient", &desk.people[0])]).await;
    let document = desk.agreement(&page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
    let path = format!("{page}/documents/{document}");
    let shown = desk.browser.get(&path).await;
    assert!(shown.says("Nobody signs this document") && shown.says("type=\"checkbox\" checked"), "{}", shown.body);
    let save = async |more: &[(&str, &str)]| {
        let seen = desk.seen(&path).await;
        let fields = [&[("seen", seen.as_str()), ("name", "Notice")], more].concat();
        assert_eq!(desk.upload(&path, &fields, &pdf("notice", "")).await.status, 303);
    };
    save(&[]).await;
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(review.says("add a signature block, or say that nobody signs it"), "{}", review.body);
    save(&[("for_reading", "on")]).await;
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(!review.says(UNAWAITED.0), "{}", review.body);
    let published = desk.publish(&page, &[]).await;
    assert_eq!(published.status, 303, "{}", published.body);
}

#[tokio::test]
async fn the_page_of_a_proposal_asks_the_same() {
    let desk = Desk::new().await;
    let page = desk.with_unawaited_payment().await;
    let id = page.rsplit('/').next().expect("an id");
    let proposal = json!({"action": "publish_agreement", "agreement_id": id});
    let proposal = desk.org.post("/api/v1/proposals", &proposal).send().await.ok(201);
    let proposal = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    let shown = desk.browser.get(&proposal).await;
    assert!(shown.says("Publish although nothing waits for: “Rent”"), "{}", shown.body);
    let version = shown.hidden("version");
    let fields = [("version", version.as_str()), ("note", "As agreed."), ("decision", "confirm")];
    let refused = desk.send(&proposal, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    notice(&refused, "Nothing was published");
    assert!(refused.says("As agreed.") && refused.says("Fix what is listed, or tick this."), "{}", refused.body);
    let confirmed = desk.send(&proposal, &[&fields[..], &[UNAWAITED]].concat()).await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);
    assert_eq!(desk.agreement(&page).await["lifecycle"], "active");
    let other = desk.with_unawaited_payment().await;
    let id = other.rsplit('/').next().expect("an id");
    let proposal = json!({"action": "publish_agreement", "agreement_id": id});
    let proposal = desk.org.post("/api/v1/proposals", &proposal).send().await.ok(201);
    let proposal = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    let version = desk.browser.get(&proposal).await.hidden("version");
    let declined = desk.send(&proposal, &[("version", &version), ("decision", "decline")]).await;
    assert_eq!(declined.status, 303, "{}", declined.body);
}

#[tokio::test]
async fn a_safe_begins_with_its_payment_and_terms_that_differ_are_listed() {
    let desk = Desk::new().await;
    let parties = [("party.issuer", desk.people[0].as_str()), ("party.investor", desk.people[1].as_str())];
    let page = desk.begin("safe", &parties).await;
    desk.with_file(&page).await;
    let agreement = desk.agreement(&page).await;
    let steps: Vec<&str> = agreement["stages"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| step["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(steps, ["Terms", "Signing", "Closing", "Funding"]);
    let gate = &agreement["stages"][3]["gates"][0];
    assert_eq!(gate["type"], "movement_reconciled");
    let payment = format!("{page}/payments/{}", gate["movement_id"].as_str().expect("the payment"));
    let terms = format!("{page}/terms");
    let save = async |cap: &str| {
        let seen = desk.seen(&terms).await;
        let fields = [
            ("seen", seen.as_str()),
            ("investment", "300,000"),
            ("currency", "USD"),
            ("cap", cap),
            ("timing", "post_money"),
            ("law", "Delaware"),
        ];
        let saved = desk.send(&terms, &fields).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
    };
    save("100").await;
    let pay = async |amount: &str| {
        let shown = desk.browser.get(&payment).await;
        let party = |n: usize| agreement["participants"][n]["id"].as_str().expect("an id").to_owned();
        let (seen, issuer, investor) = (shown.hidden("seen"), party(0), party(1));
        let fields = [
            ("seen", seen.as_str()),
            ("purpose", "Investment"),
            ("amount", amount),
            ("currency", "USD"),
            ("payer", &investor),
            ("payee", &issuer),
        ];
        let saved = desk.send(&payment, &fields).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
    };
    let suggested = desk.browser.get(&payment).await;
    assert!(suggested.says("value=\"300,000.00\""), "the amount of the terms is typed once: {}", suggested.body);
    pay("250,000").await;
    assert!(!desk.browser.get(&format!("{page}/payments")).await.says("value=\"300,000.00\""), "once it is paid");
    let review = desk.browser.get(&format!("{page}/publish")).await;
    for text in [
        "Check the terms of the SAFE:",
        "The terms say $300,000.00 USD, and the investor pays $250,000.00 USD (“Investment”)",
        "The valuation cap of $100.00 USD is not above the investment of $300,000.00 USD",
        "/terms\">The terms say",
    ] {
        assert!(review.says(text), "{text}: {}", review.body);
    }
    assert!(!review.says("although.unawaited"), "its conditions wait for all: {}", review.body);
    assert_eq!(desk.publish(&page, &[UNAWAITED]).await.status, 422);
    save("8,000,000").await;
    pay("300,000").await;
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(!review.says("Check the terms of the SAFE") && !review.says(SAFE_TERMS.0), "{}", review.body);
    let in_header = async |amount: &str| {
        let page = desk.browser.get(&page).await;
        let (header, _) = page.body.split_once("</dl>").expect("the header of the deal");
        header.matches(amount).count()
    };
    assert_eq!(in_header("$300,000.00 USD").await, 1, "the payment is the investment");
    // Its closing holds the payment back.
    assert!(!review.says(UNHELD.0), "{}", review.body);
    let closing = format!("{page}/steps/{}", agreement["stages"][2]["id"].as_str().expect("an id"));
    let step = desk.browser.get(&closing).await;
    assert!(step.says("Countersign lets members authorize payments, and not before"), "{}", step.body);
    let seen = step.hidden("seen");
    let unheld = desk.send(&closing, &[("seen", &seen), ("name", "Closing")]).await;
    assert_eq!(unheld.status, 303, "{}", unheld.body);
    let review = desk.browser.get(&format!("{page}/publish")).await;
    for text in [
        "No step holds this back:",
        &format!("{closing}\">The payment “Investment”: have the step before its own let members authorize payments"),
        "Publish although members can authorize and release this at once: “Investment”",
    ] {
        assert!(review.says(text), "{text}: {}", review.body);
    }
    assert_eq!(desk.publish(&page, &[]).await.status, 422);
    let published = desk.publish(&page, &[UNHELD]).await;
    assert_eq!(published.status, 303, "{}", published.body);
    assert_eq!(in_header("$300,000.00 USD").await, 2, "the investment, and that all of it is owed");
}

#[tokio::test]
async fn promises_for_days_that_have_passed_are_listed_and_many_take_a_tick() {
    let desk = Desk::new().await;
    let few = desk.org.ready_draft("Lease", |draft| *draft = with_promises(draft, vec![on(&[-3, -2, 10])])).await;
    let page = format!("/app/agreements/{}", few.id());
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(review.says("“Promise 1” was already due on 2 dates"), "{}", review.body);
    assert!(review.says("Overdue from the start:") && !review.says(OVERDUE.0), "{}", review.body);
    assert_eq!(desk.publish(&page, &[]).await.status, 303, "two are listed, and no more");

    let days: Vec<i32> = (1..=13).map(|days| -days).collect();
    let many = desk.org.ready_draft("Lease", |draft| *draft = with_promises(draft, vec![on(&days)])).await;
    let page = format!("/app/agreements/{}", many.id());
    let refused = desk.publish(&page, &[]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.says("“Promise 1” was already due on 13 dates"), "{}", refused.body);
    assert_eq!(desk.publish(&page, &[OVERDUE]).await.status, 303, "if it is meant");
}

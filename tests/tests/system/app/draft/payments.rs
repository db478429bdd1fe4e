//! A draft's payments: added, changed and removed in forms, and conditions that wait for them.

use serde_json::{Value, json};
use tests::app::FormCopy;

use super::{Desk, notice};

const IBAN: &str = "DE89 3704 0044 0532 0130 00";

impl Desk {
    pub(super) async fn with_parties(&self) -> (String, [String; 2]) {
        let page = self.two_party().await;
        let agreement = self.agreement(&page).await;
        let id = |n: usize| agreement["participants"][n]["id"].as_str().expect("an id").to_owned();
        (page, [id(0), id(1)])
    }

    pub(super) async fn pay(&self, page: &str, fields: &[(&str, &str)]) -> String {
        let FormCopy { name: copy, id } = self.copy();
        let fields: Vec<_> = [("copy", copy.as_str())].into_iter().chain(fields.iter().copied()).collect();
        let added = self.send(&format!("{page}/payments"), &fields).await;
        assert_eq!(added.status, 303, "{}", added.body);
        format!("{page}/payments/{id}")
    }

    async fn movements(&self, page: &str) -> Vec<Value> {
        let id = page.rsplit('/').next().expect("an id");
        let found = self.org.get("/api/v1/movements").query("agreement_id", id).send().await.ok(200);
        found["data"].as_array().cloned().expect("a page")
    }
}

#[tokio::test]
async fn a_payment_is_added_changed_and_removed() {
    let desk = Desk::new().await;
    let (page, [ada, ben]) = desk.with_parties().await;
    let without = "<dt>Amount</dt><dd class=\"quiet\">No payments</dd>";
    let draft = desk.browser.get(&page).await;
    assert!(draft.says(without), "a reader looks for no amount: {}", draft.body);
    let form = desk.browser.get(&format!("{page}/payments")).await;
    for label in ["Purpose", "Reference", "Amount", "Currency", "Payer", "Payee", "Direction", "Method", "Due"] {
        assert!(form.says(&format!(">{label}</label>")), "{label}: {}", form.body);
    }
    let FormCopy { name: copy, id } = form.copy();
    let fields = [
        ("copy", copy.as_str()),
        ("purpose", "Closing payment"),
        ("reference", "Invoice 2026-117"),
        ("amount", "$250k"),
        ("currency", "usd"),
        ("payer", &ben),
        ("payee", &ada),
        ("direction", "incoming"),
        ("method", "swift"),
        ("due", "20/3/2031"),
    ];
    for _ in 0..2 {
        let added = desk.send(&format!("{page}/payments"), &fields).await;
        assert_eq!((added.status, added.location()), (303, format!("{page}#notice").as_str()), "{}", added.body);
    }
    let shown = desk.browser.get(&page).await;
    notice(&shown, "The payment “Closing payment” was added");
    for text in ["$250,000.00 USD", "Ben to Ada", "SWIFT", "Due 20 Mar 2031", "Reference Invoice 2026-117"] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
    let (header, _) = shown.body.split_once("id=\"participants\"").expect("the sections");
    assert!(header.contains("$250,000.00 USD") && !header.contains(without), "the header of the deal says how much");
    let found = desk.movements(&page).await;
    assert_eq!(found.len(), 1);
    for (field, value) in [
        ("id", json!(id)),
        ("state", json!("draft")),
        ("purpose", json!("Closing payment")),
        ("reference", json!("Invoice 2026-117")),
        ("amount_minor", json!(25_000_000)),
        ("currency", json!("USD")),
        ("sender_participant_id", json!(ben)),
        ("receiver_participant_id", json!(ada)),
        ("direction", json!("incoming")),
        ("method", json!("swift")),
        ("due_at", json!("2031-03-20T23:59:59.999Z")),
    ] {
        assert_eq!(found[0][field], value, "{field}");
    }

    let path = format!("{page}/payments/{id}");
    let edit = desk.browser.get(&path).await;
    for text in
        ["value=\"250,000.00\"", "value=\"20 Mar 2031\"", "value=\"incoming\" selected", "value=\"swift\" selected"]
    {
        assert!(edit.says(text), "{text}: {}", edit.body);
    }
    let seen = edit.hidden("seen");
    let changed = [("seen", seen.as_str()), ("purpose", "Deposit"), ("amount", "1,250"), ("currency", "JPY")];
    let changed: Vec<_> = changed.into_iter().chain([("payer", ada.as_str()), ("payee", &ben)]).collect();
    assert_eq!(desk.send(&path, &changed).await.status, 303);
    assert_eq!(desk.send(&path, &changed).await.status, 303, "the second press of a double click");
    notice(&desk.browser.get(&page).await, "The payment “Deposit” was saved");
    let found = desk.movements(&page).await;
    assert_eq!((&found[0]["amount_minor"], &found[0]["amount_display"]), (&json!(1250), &json!("JPY 1,250")));
    assert_eq!((&found[0]["reference"], &found[0]["direction"]), (&Value::Null, &json!("third_party")));
    // The direction stays automatic, so that it follows the parties when they change.
    let again = desk.browser.get(&path).await;
    assert!(!again.says("value=\"third_party\" selected"), "{}", again.body);

    for _ in 0..2 {
        assert_eq!(desk.send(&path, &[("act", "remove")]).await.status, 303);
    }
    notice(&desk.browser.get(&page).await, "The payment was removed");
    assert_eq!(desk.movements(&page).await, Vec::<Value>::new());
    let history = desk.browser.get(&page).await;
    for act in ["Removed the payment “Deposit”", "Changed the payment “Deposit”", "Added the payment “Closing payment”"]
    {
        assert!(history.says(act), "{act}: {}", history.body);
    }
}

#[tokio::test]
async fn what_a_payment_lacks_is_a_blocker_that_leads_to_it() {
    let desk = Desk::new().await;
    let (page, [ada, ben]) = desk.with_parties().await;
    let path = desk.pay(&page, &[("purpose", "Rent")]).await;
    let shown = desk.browser.get(&page).await;
    assert!(shown.says("class=\"notice warn\"") && shown.says("Still to do: amount, payer, payee."), "{}", shown.body);
    for text in [
        &format!("<a href=\"{path}\">Complete the payment “Rent”: amount</a>"),
        &format!("<a href=\"{path}\">Choose who takes part in the payment “Rent”: payer and payee</a>"),
        "Incomplete",
        "<dt>Amount</dt><dd class=\"quiet\">No amount yet</dd>",
    ] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
    let codes = async || {
        let blockers = desk.agreement(&page).await["publish_blockers"].as_array().cloned().expect("blockers");
        blockers.into_iter().map(|blocker| blocker["code"].as_str().expect("a code").to_owned()).collect::<Vec<_>>()
    };
    let found = codes().await;
    assert!(["payment_incomplete", "payment_parties_missing"].iter().all(|code| found.iter().any(|one| one == code)));
    let seen = desk.seen(&path).await;
    let fields = [("seen", seen.as_str()), ("purpose", "Rent"), ("amount", "10"), ("currency", "EUR")];
    let fields: Vec<_> = fields.into_iter().chain([("payer", ada.as_str()), ("payee", &ben)]).collect();
    assert_eq!(desk.send(&path, &fields).await.status, 303);
    assert!(codes().await.iter().all(|code| !code.starts_with("payment_")));
    assert!(!desk.browser.get(&page).await.says("Complete the payment"));
}

#[tokio::test]
async fn what_is_wrong_with_a_payment_is_said_at_its_field_and_nothing_typed_is_lost() {
    let desk = Desk::new().await;
    let (page, [ada, _]) = desk.with_parties().await;
    let path = format!("{page}/payments");
    for (field, value, currency, reason) in [
        ("amount", "0", "USD", "must be more than zero"),
        ("amount", "-5", "USD", "must be more than zero"),
        ("amount", "1.234", "USD", "must have at most 2 decimals: USD has no more"),
        ("amount", "1.5", "JPY", "JPY has no decimals"),
        ("amount", "9223372036854775808", "USD", "is more than any bank moves"),
        ("amount", "1,2,3", "USD", "must be a number such as"),
        ("amount", "5", "", "must be given with the amount"),
        ("currency", "XXQ", "", "must be a currency of ISO 4217"),
        ("due", "12/31/2031", "USD", "must be a date"),
        ("payer", "nobody", "USD", "must be one of the draft’s participants"),
        ("method", "pigeon", "USD", "must be one of those in the list"),
        ("direction", "up", "USD", "must be one of those in the list"),
    ] {
        let mut fields = vec![("purpose", "Rent <b>"), (field, value)];
        fields.extend((field != "currency").then_some(("currency", currency)));
        let refused = desk.send(&path, &fields).await;
        assert_eq!(refused.status, 422, "{field} {value}: {}", refused.body);
        for text in [reason, "value=\"Rent &#60;b&#62;\"", "<title>Error: ", "aria-invalid=\"true\""] {
            assert!(refused.says(text), "{field} {value}, {text}: {}", refused.body);
        }
    }
    let same = [("purpose", "Rent"), ("payer", ada.as_str()), ("payee", &ada)];
    let refused = desk.send(&path, &same).await;
    assert!(refused.status == 422 && refused.says("id=\"payee-error\""), "{}", refused.body);
    desk.pay(&page, &[("purpose", "Dinar"), ("amount", "1.234"), ("currency", "KWD")]).await;
    assert_eq!(desk.movements(&page).await[0]["amount_minor"], 1234);
    desk.pay(&page, &[("purpose", "Whole dinars"), ("amount", "5"), ("currency", "KWD")]).await;
    let whole = &desk.movements(&page).await[1];
    assert_eq!((&whole["amount_minor"], &whole["amount_display"]), (&5000.into(), &"KWD 5.000".into()));
}

#[tokio::test]
async fn an_account_number_is_refused_and_shown_nowhere() {
    let desk = Desk::new().await;
    let (page, _) = desk.with_parties().await;
    let path = desk.pay(&page, &[("purpose", "Rent")]).await;
    let seen = desk.seen(&path).await;
    let numbers = [(IBAN, "3704 0044"), ("IBANGB29NWBK60161331926819", "NWBK"), ("ACCT55779911", "55779911")];
    for (field, (number, shown)) in
        ["purpose", "reference"].into_iter().flat_map(|field| numbers.map(|one| (field, one)))
    {
        let text = format!("To {number}");
        let other = if field == "purpose" { ("reference", "Invoice 7") } else { ("purpose", "Invoice 7") };
        for (at, seen) in [(format!("{page}/payments"), ""), (path.clone(), seen.as_str())] {
            let refused = desk.send(&at, &[("seen", seen), (field, &text), other]).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(refused.says("must not contain an account or card number"), "{}", refused.body);
            assert!(!refused.says(shown) && refused.says("value=\"Invoice 7\""), "{}", refused.body);
        }
    }
    assert_eq!(desk.movements(&page).await.len(), 1);
    let stored = Value::from(desk.org.state().await).to_string();
    assert!(numbers.iter().all(|(_, shown)| !stored.contains(shown)), "nothing of it was kept");
    desk.pay(&page, &[("purpose", "Rent on account, due 20261124"), ("reference", "Invoice 202611240001")]).await;
    assert_eq!(desk.movements(&page).await.len(), 2);
}

#[tokio::test]
async fn conditions_wait_for_payments_which_stay_as_long_as_they_do() {
    let desk = Desk::new().await;
    let (page, [ada, ben]) = desk.with_parties().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let steps = format!("{page}/steps/{step}");
    let conditions = format!("{steps}/conditions");
    let listed = desk.browser.get(&steps).await;
    assert!(listed.says("Authorized payment") && listed.says("Confirmed payment"), "{}", listed.body);
    assert!(!listed.says("lets members authorize payments"), "there are none yet");

    let FormCopy { name: copy, id: gate } = desk.copy();
    let add = [("copy", copy.as_str()), ("type", "movement_reconciled")];
    assert_eq!(desk.send(&conditions, &add).await.status, 303);
    let shown = desk.browser.get(&page).await;
    let to_add = format!("<a href=\"{page}/payments\">Add a payment, for “Confirmed payment” in “Signing”</a>");
    assert!(shown.says(&to_add), "{}", shown.body);
    assert!(desk.browser.get(&format!("{page}/conditions/{gate}")).await.says("The draft has no payments yet."));

    let fields = [("purpose", "Rent"), ("amount", "10"), ("currency", "USD"), ("payer", &ada), ("payee", &ben)];
    let payment = desk.pay(&page, &fields).await;
    let id = payment.rsplit('/').next().expect("an id");
    let shown = desk.browser.get(&page).await;
    let to_choose =
        format!("<a href=\"{page}/conditions/{gate}\">Choose the payment of “Confirmed payment” in “Signing”</a>");
    assert!(shown.says(&to_choose), "{}", shown.body);
    let condition = format!("{page}/conditions/{gate}");
    let form = desk.browser.get(&condition).await;
    assert!(form.says("Rent, $10.00 USD"), "{}", form.body);
    let set = desk.send(&condition, &[("seen", &form.hidden("seen")), ("movement_id", id)]).await;
    assert_eq!(set.status, 303, "{}", set.body);
    let shown = desk.browser.get(&condition).await;
    assert!(shown.says("class=\"notice good\"") && shown.says("Proof from the receiving side that “Rent” arrived"));
    assert!(!desk.browser.get(&page).await.says("Choose the payment"));
    let FormCopy { name: copy, id: authorized } = desk.copy();
    let add = [("copy", copy.as_str()), ("type", "movement_authorized"), ("movement_id", id)];
    assert_eq!(desk.send(&conditions, &add).await.status, 303);
    let gates = desk.agreement(&page).await["stages"][0]["gates"].as_array().cloned().expect("gates");
    for gate in [&gate, &authorized] {
        let found = gates.iter().find(|found| found["id"] == json!(gate)).expect("the gate");
        assert_eq!(found["movement_id"], json!(id));
    }

    assert!(desk.browser.get(&payment).await.says(&format!("href=\"{condition}\"")));
    let refused = desk.send(&payment, &[("act", "remove")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("condition of the step “Signing”"), "{}", refused.body);
    assert!(refused.says(&format!("<a href=\"{condition}\">Open “Confirmed payment” in “Signing”</a>")));
    assert_eq!(desk.movements(&page).await.len(), 1);

    let (other, _) = desk.with_parties().await;
    let foreign = desk.pay(&other, &[("purpose", "Other")]).await;
    let foreign = foreign.rsplit('/').next().expect("an id").to_owned();
    let seen = desk.seen(&condition).await;
    let refused = desk.send(&condition, &[("seen", &seen), ("movement_id", &foreign)]).await;
    assert!(refused.status == 422 && refused.says("is no payment of this agreement"), "{}", refused.body);
    // No form chooses the id of what it makes.
    assert_eq!(desk.send(&format!("{page}/payments"), &[("id", &foreign), ("purpose", "Mine")]).await.status, 303);
    assert!(desk.movements(&page).await.iter().all(|payment| payment["id"] != json!(foreign)));
    assert_eq!(desk.movements(&other).await[0]["purpose"], "Other");

    let form = desk.browser.get(&steps).await;
    assert!(form.says("Countersign lets members authorize payments"), "{}", form.body);
    // The step's own form follows those that move its conditions.
    let seen = form.body.rsplit("name=\"seen\" value=\"").next().and_then(|rest| rest.split('"').next()).expect("seen");
    let fields = [("seen", seen.to_owned()), ("name", "Signing".to_owned()), ("action.open_movement", "on".to_owned())];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(desk.send(&steps, &fields).await.status, 303);
    assert_eq!(desk.agreement(&page).await["stages"][0]["actions"], json!(["open_movement"]));
}

#[tokio::test]
async fn two_members_edit_payments_at_once() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let (page, [ada, ben]) = desk.with_parties().await;
    let [first, second] =
        [desk.pay(&page, &[("purpose", "Rent")]).await, desk.pay(&page, &[("purpose", "Deposit")]).await];
    let [seen_first, seen_second] = [desk.seen(&first).await, desk.seen(&second).await];
    let one = desk.send(&first, &[("seen", &seen_first), ("purpose", "Rent"), ("payer", &ada)]).await;
    let two = [("form_token", other_token.as_str()), ("seen", &seen_second), ("purpose", "Bond"), ("payee", &ben)];
    assert_eq!((one.status, other.post(&second, &two).await.status), (303, 303), "different payments");

    let stale = [("seen", seen_second.as_str()), ("purpose", "Caution"), ("amount", "5"), ("currency", "USD")];
    let stale = desk.send(&second, &stale).await;
    assert_eq!(stale.status, 409, "{}", stale.body);
    assert!(stale.says("changed this while you were typing"), "{}", stale.body);
    for text in [
        "Purpose: now “Bond”; you typed “Caution”.",
        "Amount: now empty; you typed “5.00”.",
        "Payee: now “Ben”; you typed empty.",
        "value=\"Caution\"",
    ] {
        assert!(stale.says(text), "{text}: {}", stale.body);
    }
    let again = [("seen", stale.hidden("seen")), ("purpose", "Caution".to_owned())];
    let again: Vec<_> = again.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(desk.send(&second, &again).await.status, 303);

    let remove = [("form_token", other_token.as_str()), ("act", "remove")];
    assert_eq!(other.post(&first, &remove).await.status, 303);
    let gone = desk.send(&first, &[("seen", &seen_first), ("purpose", "A long thought")]).await;
    assert_eq!(gone.status, 409);
    assert!(gone.says("removed by another member") && gone.says("A long thought"), "{}", gone.body);
    let version = desk.browser.get(&page).await.hidden("version");
    assert_eq!(desk.send(&format!("{page}/discard"), &[("version", &version)]).await.status, 303);
    for at in [format!("{page}/payments"), second.clone()] {
        let late = desk.send(&at, &[("seen", ""), ("purpose", "Too late")]).await;
        assert_eq!(late.status, 409);
        assert!(late.says("This draft was discarded while you were typing") && late.says("Too late"), "{}", late.body);
        assert_eq!(desk.browser.get(&at).await.status, 303, "the pages of a draft lead to the agreement");
    }
}

#[tokio::test]
async fn the_review_shows_the_payments_and_what_became_of_them_since_the_proposal() {
    let desk = Desk::new().await;
    let (page, [ada, ben]) = desk.with_parties().await;
    let document = desk.agreement(&page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
    let path = format!("{page}/documents/{document}");
    let seen = desk.seen(&path).await;
    let file = tests::pdf::pdf("one", "");
    assert_eq!(desk.upload(&path, &[("seen", &seen), ("name", "Agreement")], &file).await.status, 303);
    let fields = [("purpose", "Rent"), ("amount", "10"), ("currency", "USD"), ("payer", &ada), ("payee", &ben)];
    let payment = desk.pay(&page, &fields).await;
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(review.says("$10.00 USD") && review.says("Ada to Ben"), "{}", review.body);
    let id = page.rsplit('/').next().expect("an id");
    let proposal = json!({"action": "publish_agreement", "agreement_id": id});
    let proposal = desk.org.post("/api/v1/proposals", &proposal).send().await.ok(201);
    let proposal = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    let shown = desk.browser.get(&proposal).await;
    assert!(shown.says("No changes since proposed") && shown.says("$10.00 USD"), "{}", shown.body);
    let version = shown.hidden("version");

    let seen = desk.seen(&payment).await;
    let changed: Vec<_> =
        fields.iter().map(|(name, value)| (*name, if *name == "amount" { "1,000" } else { value })).collect();
    let changed: Vec<_> = changed.into_iter().chain([("seen", seen.as_str())]).collect();
    assert_eq!(desk.send(&payment, &changed).await.status, 303);
    desk.pay(&page, &fields).await;
    let shown = desk.browser.get(&proposal).await;
    for text in
        ["The payment “Rent” is $1,000.00 USD now; it was $10.00 USD.", "The payment “Rent” was added: $10.00 USD."]
    {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
    // Whoever saw the old amount can't decide.
    let decided = desk.send(&proposal, &[("version", &version), ("decision", "confirm")]).await;
    assert_eq!(decided.status, 409, "{}", decided.body);
    assert_eq!(desk.browser.decide(&proposal, "confirm", "").await.status, 303);
    assert_eq!(desk.agreement(&page).await["lifecycle"], "active");
    assert_eq!(desk.browser.get(&payment).await.status, 303, "its terms never change again");
    let late = desk.send(&payment, &changed).await;
    assert!(late.status == 409 && late.says("published while you were typing"), "{}", late.body);
    let movement = format!("/app/money/movements/{}", payment.rsplit('/').next().expect("an id"));
    let shown = desk.browser.get(&movement).await;
    assert!(shown.says("Not set up yet") && shown.says("<li>Added by Maren Holt<"), "{}", shown.body);

    let FormCopy { name: form, id: copy } = desk.copy();
    assert_eq!(desk.send(&format!("{page}/duplicate"), &[("copy", &form)]).await.status, 303);
    let copy = format!("/app/agreements/{copy}");
    let shown = desk.browser.get(&copy).await;
    assert!(shown.says("No payments yet.") && shown.says("Payments are not copied"), "{}", shown.body);
}

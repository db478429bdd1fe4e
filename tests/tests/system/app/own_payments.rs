//! A payment for its parties: claims, evidence that a member must accept, instructions only for the sender.

mod late;

use serde_json::{Value, json};
use shared::domain::ids::EvidenceId;
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::movement::{Arrivals, NotMoved};
use shared::domain::proposal::ProposalAction;
use shared::limits;
use shared::service::movements::{EvidenceDecision, MovementAct};
use tests::Org;
use tests::app::{Browser, FormCopy, Page, unescaped};
use tests::attending::{Attendee, hidden};
use tests::payments::{IBAN, OTHER_IBAN, Paying};
use tests::pdf::pdf;

type Sent<'a> = Option<(&'a str, &'a [u8])>;

const REPORT: [(&str, &str); 3] =
    [("sent_on", "14/3/2026"), ("reference_type", "fedwire_imad"), ("reference", "20260314B1QGC08C000123")];

fn arrived(amount: &str) -> [(&str, &str); 4] {
    [("amount", amount), ("currency", "usd"), ("value_date", "Mar 16, 2026"), ("bank_reference", "")]
}

async fn send(who: &Attendee, page: &Page, action: &str, typed: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Page {
    let Some((name, content)) = file else { return who.send(page, action, typed).await };
    let fields = hidden(page, action);
    let is_typed = |name: &str| typed.iter().any(|(typed, _)| *typed == name);
    let own = fields.iter().filter(|(name, _)| !is_typed(name));
    let own = own.map(|(name, value)| (name.as_str(), value.as_str())).chain(typed.iter().copied());
    who.browser.upload(&who.at(action), &own.collect::<Vec<_>>(), ("file", name, content)).await
}

async fn receipt(who: &Attendee, done: &Page) -> Page {
    assert_eq!(done.status, 303, "{}", done.body);
    let page = who.browser.get(done.location()).await;
    assert_eq!(page.status, 200, "{}", done.location());
    page
}

fn says(page: &Page, texts: &[&str]) {
    let body = unescaped(&page.body);
    for text in texts {
        assert!(body.contains(text), "{text}: {body}");
    }
}

fn lacks(page: &Page, texts: &[&str]) {
    for text in texts {
        assert!(!page.says(text), "{text}: {}", page.body);
    }
}

async fn parties(paying: &Paying) -> [Attendee; 2] {
    let [sender, receiver] = paying.live.ids();
    let (sender, receiver) = tokio::join!(paying.live.attend(sender), paying.live.attend(receiver));
    [sender, receiver]
}

async fn report_arrival(paying: &Paying, receiver: &Attendee, amount: &str) -> EvidenceId {
    let (path, action) = (paying.path(), format!("{}/arrived", paying.path()));
    let page = receiver.get(&path).await;
    let copy = hidden(&page, &action).into_iter().find(|(name, _)| name == "copy").expect("a copy").1;
    let done = send(receiver, &page, &action, &arrived(amount), None).await;
    assert_eq!(done.status, 303, "{}", done.body);
    FormCopy::named(copy).second_id().parse().expect("an id")
}

#[tokio::test]
async fn an_arrival_that_is_reported_in_a_members_browser_is_no_word_of_the_recipients() {
    let paying = Paying::new().await;
    let [ada, northwind] = parties(&paying).await;
    paying.open().await;
    let (path, action) = (paying.path(), format!("{}/arrived", paying.path()));
    let own = northwind.get(&path).await;
    // The accepting member signs in beside the pages that the receiver's link opened.
    let member = &paying.people[0];
    assert_eq!(northwind.browser.sign_in(&member.email, &member.password, "/app").await.status, 303);
    let question = northwind.get(&path).await;
    assert_eq!(northwind.send(&question, "/in-person", &[]).await.status, 303);
    let page = northwind.get(&path).await;
    lacks(&page, &[">It has arrived</button>"]);
    says(&page, &["so it has to come from your own"]);
    let file = ("Notice.pdf", &*pdf("A notice", ""));
    for sent in [None, Some(file)] {
        let refused = send(&northwind, &own, &action, &arrived("250,000"), sent).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        says(&refused, &["This isn’t your own browser", "Nothing was recorded"]);
    }
    assert_eq!(paying.read().await["receipt"], json!(null));
    assert_eq!(ada.browser.sign_in(&member.email, &member.password, "/app").await.status, 303);
    assert_eq!(ada.send(&ada.get(&path).await, "/in-person", &[]).await.status, 303);
    let claimed = ada.submit(&path, &format!("{path}/sent"), &REPORT).await;
    says(&receipt(&ada, &claimed).await, &["In person, in ", "’s browser"]);
    let file = pdf("Wire confirmation", "");
    let action = format!("{path}/document");
    let filed = send(&ada, &ada.get(&path).await, &action, &arrived("250,000"), Some(("wire.pdf", &file))).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
    let page = paying.live.member.get(&format!("/app/money/movements/{}", paying.id)).await;
    says(&page, &["Reported by Ada Okafor, in person, in Maren Holt’s browser"]);
    says(&page, &["Filed by Ada Okafor, in person, in Maren Holt’s browser"]);
}

#[tokio::test]
async fn a_member_who_has_switched_to_another_organization_is_asked_about_too() {
    let paying = Paying::new().await;
    paying.open().await;
    let (member, other) = (&paying.people[0], Org::new().await);
    let store = other.stack().table().store();
    let there = "Maren at the other";
    ops::add_membership(&store, other.id, there, &member.email, ops::Role::Member).await.expect("a member");
    let participant = paying.live.ids()[1];
    let host = Attendee { browser: Browser::of(&paying.live.org, member).await, participant };
    let (token, to) = (host.browser.get("/app/account").await.hidden("form_token"), other.id.to_string());
    let switch = [("form_token", token.as_str()), ("organization", &to)];
    assert_eq!(host.browser.post("/app/account/organization", &switch).await.status, 303);
    assert_eq!(host.follow(&paying.live.link(participant).await).await.status, 303);
    let question = host.get("").await;
    says(&question, &["Is Northwind Robotics, Inc. here with you?", "Maren Holt of"]);
    lacks(&question, &[there]);
    assert_eq!(host.send(&question, "/in-person", &[]).await.status, 303);
    assert_eq!(host.submit("", "/consent", &[]).await.status, 303);
    let page = host.get(&paying.path()).await;
    lacks(&page, &[">It has arrived</button>"]);
    says(&page, &["so it has to come from your own"]);
}

async fn operations(paying: &Paying, who: &Attendee) -> Vec<String> {
    let id = who.participant.to_string();
    let rows = paying.live.org.audit().await;
    let own = rows.iter().filter(|row| row["participant_id"] == json!(id));
    own.map(|row| row["operation"].as_str().expect("an operation").to_owned()).collect()
}

#[tokio::test]
async fn a_payment_goes_from_its_instructions_over_a_claim_to_a_report_that_a_member_accepts() {
    let paying = Paying::new().await;
    let [ada, northwind] = parties(&paying).await;
    let path = paying.path();
    let early = ada.get(&path).await;
    says(
        &early,
        &[
            "You pay",
            "Closing payment",
            "$250,000.00 USD",
            "INV-117",
            "20 Mar 2026",
            "Instructions aren’t available yet",
            "Don’t pay before that",
        ],
    );
    lacks(&early, &["I have sent it", "Payment instructions</h2>"]);
    let expected = northwind.get(&path).await;
    says(&expected, &["You receive", "Not on its way yet", "Nothing waits for you here"]);
    assert!(!ada.get("").await.says("Pay $250,000.00 USD"), "nothing to pay by yet");
    says(
        &ada.get("").await,
        &["You pay $250,000.00 USD to Northwind Robotics, Inc. · Due 20 Mar 2026", "Not set up yet"],
    );

    paying.open().await;
    let tasks = ada.get("").await;
    says(
        &tasks,
        &["Pay $250,000.00 USD to Northwind Robotics, Inc.", ">View instructions</a>", "Payment: Closing payment"],
    );
    let page = ada.get(&path).await;
    assert_eq!(page.headers["cache-control"], "no-store");
    says(
        &page,
        &[
            IBAN,
            "Northwind Robotics",
            "Test Bank",
            "Call Northwind Robotics, Inc. before you pay",
            "a number that you already know",
            "Verified by a second member",
            "Call back to a known number",
            "reload this page",
            ">I have sent it</button>",
        ],
    );
    let seen = operations(&paying, &ada).await;
    assert_eq!(seen.iter().filter(|operation| *operation == "read_instructions").count(), 1, "{seen:?}");
    says(&northwind.get(&path).await, &["Expected", "has the instructions and can pay", ">It has arrived</button>"]);
    lacks(&northwind.get(&path).await, &[IBAN, "Test Bank", "3000"]);

    let action = format!("{path}/sent");
    let done = ada.send(&page, &action, &REPORT).await;
    let receipt_page = receipt(&ada, &done).await;
    says(
        &receipt_page,
        &[
            "You reported “Closing payment” as sent",
            "14 Mar 2026",
            "Fedwire IMAD: 20260314B1QGC08C000123",
            "A claim. It proves nothing about the arrival.",
        ],
    );
    let again = ada.send(&page, &action, &REPORT).await;
    assert_eq!((again.status, again.location()), (303, done.location()));
    let other = [("sent_on", "13/3/2026"), ("reference_type", ""), ("reference", "")];
    let changed = ada.send(&page, &action, &other).await;
    assert!(changed.status == 409 && changed.says("This form was already used"), "{}", changed.body);
    let second =
        ada.send(&page, &action, &[REPORT[0], REPORT[1], REPORT[2], ("copy", &ada.get("").await.copy().name)]).await;
    assert!(second.status == 409 && second.says("This payment has moved on"), "{}", second.body);
    let read = paying.read().await;
    assert_eq!(
        (&read["state"], &read["claim"]["references"][0]["type"]),
        (&json!("sender_reported"), &json!("fedwire_imad"))
    );
    let after = ada.get(&path).await;
    says(&after, &["You reported this payment as sent", "You reported it as sent", "A document from your bank"]);
    lacks(&after, &[IBAN, "badge green"]);

    says(
        &northwind.get("").await,
        &["Say whether $250,000.00 USD from Ada Okafor has arrived", ">Check and report</a>"],
    );
    let asked = "Northwind Robotics, Inc.</span><span class=\"badge blue\">Waiting</span>";
    says(&ada.get("").await, &["Who else has to act", asked]);
    let page = northwind.get(&path).await;
    says(
        &page,
        &[
            "Ada Okafor says it was sent",
            "That proves nothing yet",
            "20260314B1QGC08C000123",
            "still has to accept what you report",
        ],
    );
    lacks(&page, &["badge green", IBAN]);
    let evidence = report_arrival(&paying, &northwind, "250,000").await;
    let page = northwind.get(&path).await;
    says(
        &page,
        &[
            "You reported money as arrived",
            "Until then the payment isn’t confirmed",
            "Not accepted yet",
            "The recipient’s own confirmation",
            "16 Mar 2026",
        ],
    );
    lacks(&page, &["badge green"]);
    let read = paying.read().await;
    assert_eq!((&read["state"], &read["reconciled"]), (&json!("processing"), &json!(false)));
    assert_eq!(read["receipt"]["best_assurance"], "recipient_confirmed");
    says(&ada.get(&path).await, &["Proof from the receiving side is under review"]);

    paying.judge(evidence, EvidenceDecision::Accept(Arrivals::One)).await.expect("it adds up");
    let read = paying.read().await;
    assert_eq!((&read["state"], &read["confirmation_basis"]), (&json!("reconciled"), &json!("recipient_confirmation")));
    assert_eq!(paying.live.read().await["lifecycle"], "completed", "the gate cleared");
    for who in [&ada, &northwind] {
        let page = who.get(&path).await;
        says(
            &page,
            &["Confirmed received", "badge green", "the recipient’s own confirmation", "Nothing waits for you here"],
        );
        lacks(&page, &[IBAN, "I have sent it", "It has arrived</button>"]);
        says(&who.get("").await, &["This agreement is completed", "Confirmed received"]);
    }
    let events = paying.live.org.events().await;
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("movement.sender_reported"), count("movement.reconciled")), (1, 1));
}

#[tokio::test]
async fn a_report_that_cannot_be_read_keeps_what_was_typed_and_never_an_account_number() {
    let paying = Paying::new().await;
    paying.open().await;
    let ada = paying.live.attend(paying.live.ids()[0]).await;
    let (path, action) = (paying.path(), format!("{}/sent", paying.path()));
    let page = ada.get(&path).await;
    for (typed, says) in [
        ([("sent_on", ""), REPORT[1], REPORT[2]], "Sent on "),
        ([("sent_on", "14/3/2090"), REPORT[1], REPORT[2]], "Sent on must not be in the future"),
        ([REPORT[0], ("reference_type", ""), ("reference", "QX7")], "Reference type must be chosen"),
        ([REPORT[0], ("reference_type", "check_number"), ("reference", " ")], "Reference is missing"),
        ([REPORT[0], ("reference_type", "blood_type"), ("reference", "QX7")], "Reference type must be one of the list"),
        ([REPORT[0], ("reference_type", "uetr"), ("reference", "QX7")], "Reference must be a UUID"),
        (
            [REPORT[0], ("reference_type", "other"), ("reference", "QX7 000123456789")],
            "Reference must not contain an account or card number",
        ),
        (
            [REPORT[0], ("reference_type", "other"), ("reference", IBAN)],
            "Reference must not contain an account or card number",
        ),
    ] {
        let refused = ada.send(&page, &action, &typed).await;
        assert!(refused.status == 422 && refused.says(says), "{says}: {}", refused.body);
        assert!(refused.title().starts_with("Error: "), "{}", refused.title());
        lacks(&refused, &[IBAN, "000123456789"]);
        for (name, value) in typed.iter().filter(|(name, value)| *name != "reference_type" && !value.trim().is_empty())
        {
            let is_secret = value.contains("000123456789") || *value == IBAN;
            assert_eq!(refused.says(&format!("value=\"{value}\"")), !is_secret, "{name}: {}", refused.body);
        }
    }
    // The response to a form shows how the number ends, and leads to the instructions.
    let refused = ada.send(&page, &action, &[("sent_on", "")]).await;
    says(&refused, &["They name the account ending in 3000", ">Show the instructions</a>"]);
    assert_eq!(paying.read().await["state"], "instructions_ready");
}

#[tokio::test]
async fn changed_instructions_are_told_before_anything_is_recorded() {
    let paying = Paying::new().await;
    paying.open().await;
    let [ada, northwind] = parties(&paying).await;
    let (path, action) = (paying.path(), format!("{}/sent", paying.path()));
    let page = ada.get(&path).await;
    paying.change_instructions(1, false).await;
    let refused = ada.send(&page, &action, &REPORT).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    says(
        &refused,
        &[
            "The instructions changed after you opened this page",
            "Nothing was recorded",
            "call",
            "Instructions aren’t available yet",
            "If you saw instructions here before, they no longer apply",
        ],
    );
    lacks(&refused, &[IBAN, OTHER_IBAN, ">I have sent it</button>"]);
    assert_eq!(paying.read().await["state"], "authorized");
    lacks(&ada.get(&path).await, &[IBAN, OTHER_IBAN]);

    let org = &paying.live.org;
    org.verify_instructions(&paying.people[1], paying.id, 2, OTHER_IBAN).await;
    org.act_on_movement(&paying.people[1], paying.id, MovementAct::ReleaseInstructions(2)).await;
    let refused = ada.send(&page, &action, &REPORT).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    says(
        &refused,
        &[
            "The instructions changed after you opened this page",
            "from the account ending in 3000 to the account ending in 5555",
            "20260314B1QGC08C000123",
        ],
    );
    lacks(&refused, &[IBAN, OTHER_IBAN]);
    assert_eq!(paying.read().await["claim"], Value::Null);
    let new = ada.get(&path).await;
    says(
        &new,
        &[
            OTHER_IBAN,
            "These instructions were changed",
            "from the account ending in 3000 to the account ending in 5555",
            "Call back to a known number",
        ],
    );
    lacks(&new, &[IBAN]);
    lacks(&northwind.get(&path).await, &["3000", "5555", OTHER_IBAN]);
    assert_eq!(ada.send(&new, &action, &REPORT).await.status, 303);

    // While money is on its way, it is an exception.
    paying.change_instructions(2, false).await;
    let stopped = ada.get(&path).await;
    says(
        &stopped,
        &[
            "The instructions changed after you reported this payment",
            "to the account ending in 5555, call",
            "Don’t send anything again",
        ],
    );
    lacks(&stopped, &[IBAN, OTHER_IBAN]);
    says(&northwind.get(&path).await, &["This payment needs attention"]);
}

#[tokio::test]
async fn a_document_of_the_senders_bank_is_on_file_and_proves_nothing() {
    let paying = Paying::new().await;
    paying.open().await;
    let [ada, northwind] = parties(&paying).await;
    let (path, action) = (paying.path(), format!("{}/document", paying.path()));
    assert_eq!(ada.submit(&path, &format!("{path}/sent"), &REPORT).await.status, 303);
    let page = ada.get(&path).await;
    says(
        &page,
        &["A document from your bank", "It shows that money was sent, and never that it arrived", "Amount sent"],
    );
    let file = pdf("Wire confirmation", "");
    let big = [b"%PDF-1.7\n".to_vec(), vec![b'x'; 4 * 1024 * 1024]].concat();
    let wrong: [(&str, Sent<'_>, &str); 7] = [
        ("250,000", None, "File must be chosen"),
        ("250,000", Some(("a.pdf", b"")), "File is empty"),
        ("250,000", Some(("a.exe", b"MZ\x90\0program")), "File must be a PDF, JPEG or PNG file"),
        ("250,000", Some(("a.pdf", &big)), "File is 4.1 MB. The limit is 4 MB"),
        ("250,000", Some(("wire 000123456789.pdf", &file)), "File has an account or card number in its name"),
        ("zero", Some(("a.pdf", &file)), "Amount sent must be a number"),
        ("0.00", Some(("a.pdf", &file)), "Amount sent must be more than zero"),
    ];
    for (amount, file, text) in wrong {
        let refused = send(&ada, &page, &action, &arrived(amount), file).await;
        assert!(refused.status == 422 && refused.says(text), "{text}: {}", refused.body);
        lacks(&refused, &["000123456789"]);
        assert!(refused.says("value=\"Mar 16, 2026\""), "{}", refused.body);
    }
    for (field, value, text) in [
        ("amount", "1.005", "Amount sent must have at most 2 decimals"),
        ("amount", "92233720368547758.08", "Amount sent is more than any bank moves"),
        ("currency", "dollars", "Currency must be a currency of ISO 4217"),
        ("value_date", "soon", "Value date "),
        ("value_date", "1/1/2090", "Value date must not be in the future"),
        ("bank_reference", IBAN, "Bank reference must be a reference, not an account number"),
    ] {
        let typed: Vec<_> = arrived("250,000")
            .into_iter()
            .map(|(name, kept)| (name, if name == field { value } else { kept }))
            .collect();
        let refused = send(&ada, &page, &action, &typed, Some(("a.pdf", &file))).await;
        assert!(refused.status == 422 && refused.says(text), "{text}: {}", refused.body);
        lacks(&refused, &[IBAN]);
    }
    assert_eq!(paying.read().await["state"], "sender_reported");
    let typed =
        [("amount", "250,000"), ("currency", "USD"), ("value_date", "14/3/2026"), ("bank_reference", "TRN 7741-88")];
    let done = send(&ada, &page, &action, &typed, Some(("Wire confirmation.pdf", &file))).await;
    says(
        &receipt(&ada, &done).await,
        &[
            "You handed in a document from the bank for “Closing payment”, $250,000.00 USD",
            "It proves nothing about the arrival.",
        ],
    );
    let again = send(&ada, &page, &action, &typed, Some(("Wire confirmation.pdf", &file))).await;
    assert_eq!((again.status, again.location()), (303, done.location()));
    let fresh = ada.get(&path).await;
    let twice = send(&ada, &fresh, &action, &typed, Some(("Copy.pdf", &file))).await;
    assert!(twice.status == 409 && twice.says("You have done this already"), "{}", twice.body);
    let other = pdf("Another one", "");
    let changed = send(&ada, &page, &action, &typed, Some(("Other.pdf", &other))).await;
    assert!(changed.status == 409 && changed.says("This form was already used"), "{}", changed.body);

    let read = paying.read().await;
    assert_eq!((&read["state"], &read["receipt"]), (&json!("receipt_pending"), &Value::Null));
    let page = ada.get(&path).await;
    says(&page, &["What you filed", "On file", "Wire confirmation.pdf", "Ending in 188"]);
    lacks(&page, &["badge green"]);
    let filed =
        page.body.split("/evidence/").nth(1).and_then(|rest| rest.split('/').next()).expect("evidence").to_owned();
    let own = ada.get(&format!("{path}/evidence/{filed}/file")).await;
    assert_eq!((own.status, own.bytes), (200, file.clone()));
    lacks(&northwind.get(&path).await, &["Wire confirmation", &filed]);
    assert_eq!(northwind.get(&format!("{path}/evidence/{filed}/file")).await.status, 404);
    let token = northwind.get(&path).await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("reason", "No")];
    let theirs = northwind.browser.post(&northwind.at(&format!("{path}/evidence/{filed}/withdraw")), &fields).await;
    assert_eq!(theirs.status, 404, "{}", theirs.body);
    let evidence: EvidenceId = filed.parse().expect("an id");
    assert_eq!(paying.judge(evidence, EvidenceDecision::Accept(Arrivals::One)).await, Err(NotMoved::SendersSide));

    let withdraw = format!("{path}/evidence/{filed}/withdraw");
    let page = ada.get(&path).await;
    for (reason, text) in [
        (" ", "Reason must not be blank"),
        ("Of account 000123456789", "Reason must not contain an account or card number"),
    ] {
        let refused = ada.send(&page, &withdraw, &[("reason", reason)]).await;
        assert!(refused.status == 422 && refused.says(text), "{}", refused.body);
        lacks(&refused, &["000123456789"]);
    }
    let done = ada.send(&page, &withdraw, &[("reason", "The wrong file")]).await;
    says(&receipt(&ada, &done).await, &["You withdrew evidence of “Closing payment”", "The wrong file"]);
    assert_eq!(ada.send(&page, &withdraw, &[("reason", "The wrong file")]).await.location(), done.location());
    let page = ada.get(&path).await;
    says(&page, &["Withdrawn"]);
    lacks(&page, &["Withdraw…"]);
    let page = send(&ada, &page, &action, &typed, Some(("Wire confirmation.pdf", &file))).await;
    assert_eq!(page.status, 303, "{}", page.body);
}

#[tokio::test]
async fn what_a_party_hands_in_stands_in_nobodys_way() {
    let first = Paying::new().await;
    let people = [first.people[0].clone(), first.people[1].clone()];
    let second = Paying::within(first.live.org.clone(), people, "Secret acquisition").await;
    for paying in [&first, &second] {
        paying.open().await;
    }
    let (other, own) = tokio::join!(second.live.attend(second.live.ids()[1]), first.live.attend(first.live.ids()[1]));
    let file = pdf("Notice of credit", "");
    let typed =
        [("amount", "250,000"), ("currency", "USD"), ("value_date", "16/3/2026"), ("bank_reference", "CREDIT 7741")];
    for (by, paying) in [(&other, &second), (&own, &first)] {
        let page = by.get(&paying.path()).await;
        let filed = send(by, &page, &format!("{}/arrived", paying.path()), &typed, Some(("Notice.pdf", &file))).await;
        assert_eq!(filed.status, 303, "{}", filed.body);
    }
}

#[tokio::test]
async fn only_the_parties_of_a_payment_with_their_own_link_and_consent_reach_it() {
    let paying = Paying::new().await;
    let elsewhere = Paying::new().await;
    for deal in [&paying, &elsewhere] {
        deal.open().await;
    }
    let [ada, northwind] = paying.live.ids();
    let (path, sent) = (paying.path(), format!("{}/sent", paying.path()));
    let early = paying.live.open(ada).await;
    let page = early.get(&path).await;
    says(&page, &["Do you agree to act electronically?"]);
    lacks(&page, &[IBAN, "INV-117"]);
    let refused = early.send(&page, &sent, &REPORT).await;
    assert!(refused.status == 409 && refused.says(">I agree</button>"), "{}", refused.body);
    assert!(!operations(&paying, &early).await.contains(&"read_instructions".to_owned()));
    assert_eq!(early.submit("", "/consent", &[]).await.status, 303);
    let ada = early;
    let northwind = paying.live.attend(northwind).await;

    for id in [elsewhere.id.to_string(), crate::unknown_id(), "x".to_owned()] {
        let page = ada.get(&format!("/payments/{id}")).await;
        assert!(page.status == 404 && page.says("There is nothing here"), "{}", page.body);
        let form = ada.get(&path).await;
        for act in ["sent", "document", "arrived"] {
            let mut fields = hidden(&form, &sent);
            fields.extend(
                REPORT.iter().chain(&arrived("1")).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
            );
            let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let refused = ada.browser.post(&ada.at(&format!("/payments/{id}/{act}")), &fields).await;
            assert!(refused.status == 404 || (refused.status == 422 && act == "document"), "{act}: {}", refused.body);
            lacks(&refused, &[IBAN, "INV-117"]);
        }
    }
    let token = |page: &Page| page.hidden("form_token");
    let of_receiver = northwind.get(&path).await;
    let typed = [("form_token", token(&of_receiver)), ("revision", "1".to_owned())];
    let typed: Vec<_> = typed.iter().map(|(name, value)| (*name, value.as_str())).chain(REPORT).collect();
    let refused = northwind.browser.post(&northwind.at(&sent), &typed).await;
    assert!(refused.status == 409 && refused.says("This is not asked of you now"), "{}", refused.body);
    let of_sender = ada.get(&path).await;
    let typed = [("form_token", token(&of_sender))];
    let typed: Vec<_> = typed.iter().map(|(name, value)| (*name, value.as_str())).chain(arrived("250,000")).collect();
    let refused = ada.browser.post(&ada.at(&format!("{path}/arrived")), &typed).await;
    assert!(refused.status == 409 && refused.says("This is not asked of you now"), "{}", refused.body);
    let forged = ada.browser.post(&ada.at(&sent), &[("form_token", "x"), REPORT[0]]).await;
    assert_eq!(forged.status, 403);
    assert_eq!(paying.read().await["state"], "instructions_ready");

    let page = ada.get(&path).await;
    let old = Attendee { browser: Browser::new(paying.live.org.base_url()), participant: ada.participant };
    let session = format!("part-{}", ada.participant);
    old.browser.set_cookie(&session, &ada.browser.cookie(&session).expect("a session"));
    let again = reissued(&paying, ada).await;
    let late = old.send(&page, &sent, &REPORT).await;
    assert!(late.status == 401 && late.says("Open your link again"), "{}", late.body);
    lacks(&late, &[IBAN]);
    assert_eq!(paying.read().await["state"], "instructions_ready");
    lacks(&again.get(&path).await, &[IBAN]);
    assert_eq!(again.submit(&path, "/consent", &[]).await.status, 303);
    assert!(again.get(&path).await.says(IBAN));
}

async fn reissued(paying: &Paying, before: Attendee) -> Attendee {
    let access = format!("{}/participants/{}/access", paying.live.path(), before.participant);
    let shown = paying.live.member.get(&access).await;
    let (token, generation) = (shown.hidden("form_token"), shown.hidden("generation"));
    let fields = [("form_token", token.as_str()), ("generation", generation.as_str())];
    assert_eq!(paying.live.member.post(&format!("{access}/reissue"), &fields).await.status, 303);
    assert_eq!(before.get(&paying.path()).await.status, 401);
    paying.live.open(before.participant).await
}

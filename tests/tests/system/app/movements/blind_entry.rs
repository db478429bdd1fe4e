//! Instructions are verified by typing what the payee reads out, and never by a second account of the same person.

use serde_json::{Value, json};
use shared::domain::contact::Email;
use shared::domain::invitation::NewInvitation;
use shared::domain::money::{Currency, Money};
use shared::domain::organization::Role;
use shared::service::identity::invitations::{GeneratedInvitation, invite};
use tests::Org;
use tests::app::Browser;
use tests::attending::{Attendee, link_of};
use tests::payments::{READ_OUT, terms};

use super::home::{home, publish_due};
use super::{ABA, Account, CLAIM, Deal, IBAN, assert_says, path, publish, publish_with, read_out, submit, text};
use crate::app::organization::send_signed_out;

const OTHER: Account<'_> = [
    ("kind", "aba"),
    ("holder", "Northwind Robotics"),
    ("bank", "Second Harbor Bank"),
    ("number", "000998877661"),
    ("code", "026009593"),
];

fn with<'a>(account: &[(&'a str, &'a str)], other: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let changed = |(name, typed): (&'a str, &'a str)| {
        other.iter().find(|(wanted, _)| *wanted == name).map_or((name, typed), |found| *found)
    };
    read_out(account).into_iter().map(changed).collect()
}

impl Deal {
    async fn tries(&self) -> Vec<Value> {
        let rows = self.org.audit().await;
        let tries = rows.iter().filter(|row| row["operation"] == "verify_instructions");
        tries.map(|row| json!([row["status"], row["code"]])).collect()
    }
}

#[tokio::test]
async fn five_wrong_tries_end_the_verification_and_home_says_so() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    deal.done(maren, "authorize", &[]).await;
    let page = deal.enter(maren, &ABA).await;
    assert_says(&page, &["Kim Sato can do it."]);
    let page = kim.get(&deal.path()).await;
    assert_says(&page, &["You have 5 tries.", ">Account number</label>", "Where you have that number from"]);
    // Implausible values are reported by field, and aren't an attempt.
    for (change, why) in [
        (("number", ""), "Account number is missing"),
        (("code", "0210"), "Routing number must have 9 digits"),
        (("code", "021000022"), "Routing number isn’t a valid routing number"),
        (("read_out_by", " "), "Read out by is missing"),
        (("phone", "000123456789"), "Number called must"),
        (("phone_source", ""), "Where you have that number from must be chosen"),
        (("method", "signed_document"), "Method must be chosen"),
    ] {
        let refused = deal.act(kim, "instructions/verify", &with(&ABA, &[change])).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why]);
        assert!(!text(&refused).contains("000123456789"), "{why}");
    }
    // A different number, a different code, or both: the page doesn't say which.
    let tries = [
        (with(&ABA, &[("number", "000123456780")]), "4 tries are left."),
        (with(&ABA, &[("code", "026009593")]), "3 tries are left."),
        (read_out(&OTHER), "2 tries are left."),
        (with(&ABA, &[("number", "021000021")]), "One try is left."),
    ];
    for (typed, left) in &tries {
        let refused = deal.act(kim, "instructions/verify", typed).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &["These are not the numbers that were entered", left, "value=\"Nora West\""]);
        assert!(!text(&refused).contains("000123456780") && !text(&refused).contains("026009593"), "{left}");
    }
    assert_says(&kim.get(&deal.path()).await, &["One try is left."]);
    let refused = deal.act(kim, "instructions/verify", &read_out(&OTHER)).await;
    assert_says(&refused, &["That was the last try.", "Verification ended", ">Enter instructions</a>"]);
    let right = [read_out(&ABA), vec![("revision", "1")]].concat();
    let late = deal.act(kim, "instructions/verify", &right).await;
    assert_eq!(late.status, 409, "{}", late.body);
    let tries = deal.tries().await;
    assert_eq!(tries[..7 + 5], vec![json!(["422", "invalid_request"]); 7 + 5], "each is refused on record");
    assert_eq!(tries.len(), 7 + 5 + 1);
    for browser in [maren, kim] {
        assert_eq!(home(browser).await, ["Verification ended"]);
    }
    // Nobody releases them. Entered again, even unchanged, they are verified like new ones.
    let released = deal.act(kim, "instructions/release", &[("revision", "1")]).await;
    assert_eq!(released.status, 409, "{}", released.body);
    deal.enter(maren, &ABA).await;
    // Labels, blanks and zeros, read out or not, make no difference.
    let again = [("number", "Account no. 0001-2345\u{2011}6789"), ("code", "ABA 0210 0002 1"), ("method", "in_person")];
    let page = deal.follow(kim, &deal.act(kim, "instructions/verify", &with(&ABA, &again)).await).await;
    assert_says(&page, &["Instructions verified", "In person, by Kim Sato", "Read out by Nora West"]);
    deal.done(kim, "instructions/release", &[]).await;
}

#[tokio::test]
async fn each_number_of_a_free_text_is_typed_again_and_none_is_shown() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    deal.done(maren, "authorize", &[]).await;
    // Another account with the payee's digits at its end once passed for it.
    let instructions =
        "Pay BSB 062-000 account 1234 5678 at Harbor Bank,\nfor further credit to Northwind, 000123456789";
    deal.enter(maren, &[("kind", "other"), ("text", instructions)]).await;
    let page = kim.get(&deal.path()).await;
    assert_says(
        &page,
        &[
            "BSB ▒▒▒▒ (number 1) account ▒▒▒▒ (number 2) at Harbor Bank",
            "Northwind, ▒▒▒▒ (number 3)",
            ">Number 3</label>",
        ],
    );
    for secret in ["062-000", "062000", "1234 5678", "12345678", "000123456789"] {
        assert!(!text(&page).contains(secret), "{secret}");
    }
    let numbers = |second| [("number_1", "062000"), ("number_2", second), ("number_3", "000123456789")];
    let typed = |second| [&READ_OUT[..], &numbers(second)].concat();
    let refused = deal.act(kim, "instructions/verify", &typed("87654321")).await;
    assert_says(&refused, &["These are not the numbers that were entered", "4 tries are left."]);
    let done = deal.act(kim, "instructions/verify", &typed("1234-5678")).await;
    assert_says(&deal.follow(kim, &done).await, &["Instructions verified"]);
    // However the account is written, all of it must be typed. The payee's own number beside it doesn't help.
    let instructions = "Pay 1234.5678.9012 or 4321\n8765, for further credit 000123456789";
    deal.enter(maren, &[("kind", "other"), ("text", instructions)]).await;
    let page = kim.get(&deal.path()).await;
    assert_says(&page, &["Pay ▒▒▒▒ (number 1) or ▒▒▒▒ (number 2)", ">Number 4</label>"]);
    for secret in ["1234", "5678", "9012", "4321", "8765"] {
        assert!(!text(&page).contains(secret), "{secret}");
    }
    let typed = |first| {
        let numbers = [("number_1", first), ("number_2", "4321"), ("number_3", "8765"), ("number_4", "000123456789")];
        [&READ_OUT[..], &numbers].concat()
    };
    let refused = deal.act(kim, "instructions/verify", &typed("000123456789")).await;
    assert_says(&refused, &["These are not the numbers that were entered"]);
    let done = deal.act(kim, "instructions/verify", &typed("1234/5678/9012")).await;
    assert_says(&deal.follow(kim, &done).await, &["Instructions verified"]);
}

#[tokio::test]
async fn instructions_in_which_nothing_can_be_compared_are_not_entered() {
    let deal = Deal::new().await;
    let (maren, before) = (&deal.maren, deal.org.state().await);
    let hidden = ABA.map(|(name, typed)| (name, if name == "number" { "XXX000123456789" } else { typed }));
    let free = |text| [("kind", "other"), ("text", text)];
    for (account, why) in [
        (&hidden[..], "Account number must be a full account number, with no hidden or placeholder digits"),
        (&free("Pay at the counter, as agreed"), "Instructions must have the number of the account"),
        (&free("Account ٠١٢٣٤٥٦٧٨"), "Instructions must write numbers with the digits 0 to 9"),
        (&free("IBAN GB29 NWBK 6016 1331 9268 18"), "Instructions must not have an IBAN that isn’t valid"),
    ] {
        let refused = deal.try_to_enter(maren, account).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why, "Nothing was entered"]);
    }
    assert_eq!(deal.org.state().await, before);
}

#[tokio::test]
async fn instructions_that_fail_a_late_verification_are_taken_back_from_the_payer() {
    for is_reported in [false, true] {
        let org = Org::new().await;
        let person = org.admin("Maren Holt").await;
        let maren = Browser::of(&org, &person).await;
        let (agreement, id) = publish(&org, &person, "Harbor purchase", "Closing payment").await;
        let (at, payer) = (path(id), agreement.participants[0].id);
        for (page, act, typed) in [
            (at.clone(), "authorize", vec![]),
            (format!("{at}/instructions"), "instructions", ABA.to_vec()),
            (at.clone(), "instructions/release", vec![]),
        ] {
            let done = submit(&maren, &page, &format!("{at}/{act}"), &typed).await;
            assert_eq!(done.status, 303, "{act}: {}", done.body);
        }
        let ada = Attendee { browser: Browser::new(org.base_url()), participant: payer };
        ada.follow(&link_of(&maren, agreement.id(), payer).await).await;
        assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
        let payment = format!("/payments/{id}");
        assert!(ada.get(&payment).await.says("000123456789"), "the only member released them");
        if is_reported {
            let done = ada.submit(&payment, &format!("{payment}/sent"), &CLAIM).await;
            assert_eq!(done.status, 303, "{}", done.body);
        }
        let kim = Browser::of(&org, &org.member("Kim Sato").await).await;
        for left in ["4 tries are left", "3 tries", "2 tries", "One try", "That was the last try"] {
            let refused = submit(&kim, &at, &format!("{at}/instructions/verify"), &read_out(&OTHER)).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert_says(&refused, &[left]);
        }
        assert!(!ada.get(&payment).await.says("000123456789"), "the payer no longer has them");
        let page = maren.get(&at).await;
        assert!(!page.says("Not verified by a second member"), "the release is withdrawn: {}", page.body);
        assert_eq!(home(&maren).await, [if is_reported { "Suspected fraud" } else { "Verification ended" }]);
        let events = org.events().await;
        let exceptions = events.iter().filter(|event| event["type"] == "movement.exception").count();
        assert_eq!(exceptions, usize::from(is_reported), "{events:?}");
        if is_reported {
            assert_says(&page, &["Suspected fraud", "Wrong numbers were typed too many times"]);
        }
    }
}

#[tokio::test]
async fn the_record_says_whom_the_verifier_called_and_where_the_number_is_from() {
    let deal = Deal::ready().await;
    let page = deal.maren.get(&deal.path()).await;
    assert_says(
        &page,
        &[
            "Call back to a known number, by Kim Sato",
            "Read out by Nora West, called at +1 212 555 0100, known from earlier dealings",
        ],
    );
}

#[tokio::test]
async fn the_form_begins_with_what_accounts_in_the_currency_have() {
    let org = Org::new().await;
    let maren = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &maren).await;
    let (_, dollars) = publish(&org, &maren, "Harbor purchase", "Closing payment").await;
    let (_, euros) = publish_with(&org, &maren, "Quay lease", |draft| {
        let money = Money::new(25_000_000, Currency::parse("EUR").expect("a currency")).ok();
        shared::domain::movement::terms::PaymentTerms { money, ..terms(draft, "Rent", "R-1") }
    })
    .await;
    for (id, first) in [(dollars, "aba"), (euros, "iban")] {
        let page = browser.get(&format!("{}/instructions", path(id))).await;
        let at = |text: &str| page.body.find(text).unwrap_or_else(|| panic!("{text}: {}", page.body));
        assert!(page.says(&format!("value=\"{first}\" type=\"radio\" checked")), "{first}: {}", page.body);
        let other = if first == "aba" { "iban" } else { "aba" };
        assert!(at(&format!("id=\"kind-{first}\"")) < at(&format!("id=\"kind-{other}\"")), "{first}");
    }
    let at = format!("{}/instructions", path(dollars));
    for (account, why) in [
        ([("code", "131000021"), ("number", "000123456789")], "isn’t a valid routing number"),
        ([("code", "021000021"), ("number", "IBAN DE89\u{200b} 3704 0044 0532 0130 01")], "isn’t a valid IBAN"),
        ([("code", "021000021"), ("number", "D\u{200b}E89 3704 0044 0532 0130 00")], "not an IBAN"),
    ] {
        let typed = [&ABA[..3], &account].concat();
        let refused = submit(&browser, &at, &at, &typed).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &[why]);
    }
    let honduras =
        [("kind", "iban"), ("holder", "Northwind"), ("bank", "Banco"), ("iban", "HN88CABF00000000000250005469")];
    assert_eq!(submit(&browser, &at, &at, &honduras).await.status, 303);
}

async fn invited(org: &Org, by: &tests::app::Person, name: &str) -> Browser {
    let email = format!("i-{}@members.example", uuid::Uuid::now_v7().simple());
    let new = NewInvitation { email: Email::parse(&email).expect("an address"), role: Role::Member };
    let call = org.member_call(by, "invite_member").await;
    let mut link = String::new();
    let made = call
        .commit_as_admin(async |scope, admin| {
            let generated = GeneratedInvitation::generate(scope, admin, new)?;
            link = format!("/app/invitations/{}", generated.secret().reveal());
            invite(scope, admin, &generated).await
        })
        .await;
    made.expect("the table takes it").expect("invited");
    let browser = Browser::new(org.base_url());
    let joined = send_signed_out(&browser, &link, &[("name", name), ("password", "tiger lamp orchid")]).await;
    assert_eq!(joined.status, 303, "{}", joined.body);
    browser
}

#[tokio::test]
async fn whoever_let_a_member_in_is_no_second_member_for_a_week() {
    let org = Org::new().await;
    let people = [org.admin("Maren Holt").await, org.member("Kim Sato").await];
    let (maren, kim) = (Browser::of(&org, &people[0]).await, Browser::of(&org, &people[1]).await);
    let ben = invited(&org, &people[0], "Ben Okafor").await;
    let (agreement, id) = publish_due(&org, &people[0], "Harbor purchase", "Closing payment", 10).await;
    let deal = Deal { org, people, maren, kim, agreement, id };
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &ABA).await;
    assert_eq!(home(&ben).await, [""; 0], "it leads to nothing that Ben may do");
    assert_eq!(home(&deal.kim).await, ["Instructions to verify"]);
    let page = ben.get(&deal.path()).await;
    assert_says(&page, &["Maren Holt invited you, so until", "you two count as one person. Kim Sato can do it."]);
    assert!(!page.says(">Verify instructions</button>"));
    let typed = [read_out(&ABA), vec![("revision", "1")]].concat();
    let refused = deal.act(&ben, "instructions/verify", &typed).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["You don’t count as a second member for the person who entered these instructions"]);
    deal.enter(&ben, &IBAN).await;
    assert_says(&deal.maren.get(&deal.path()).await, &["You invited Ben Okafor, so until"]);
    let typed = [read_out(&IBAN), vec![("revision", "2")]].concat();
    assert_eq!(deal.act(&deal.maren, "instructions/verify", &typed).await.status, 409);
    assert!(deal.org.audit().await.iter().all(|row| row["status"] != "422"), "none of it was a try");
    deal.verify(&deal.kim, &IBAN).await;
    deal.enter(&deal.maren, &ABA).await;
    deal.org.a_week_passes_for_members().await;
    deal.verify(&ben, &ABA).await;
}

#[tokio::test]
async fn nobody_gets_alone_by_removing_who_would_verify() {
    let org = Org::new().await;
    let people = [org.admin("Maren Holt").await, org.member("Kim Sato").await];
    let (maren, kim) = (Browser::of(&org, &people[0]).await, Browser::of(&org, &people[1]).await);
    let (agreement, id) = publish(&org, &people[0], "Harbor purchase", "Closing payment").await;
    let deal = Deal { org, people, maren, kim, agreement, id };
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &ABA).await;
    ops::remove_member(deal.org.store(), deal.org.id, deal.people[1].id).await.expect("removed");
    let page = deal.maren.get(&deal.path()).await;
    assert_says(&page, &["another member has to verify them", "A member left less than 7 days ago."]);
    let release = [("revision", "1")];
    assert_eq!(deal.act(&deal.maren, "instructions/release", &release).await.status, 409);
    invited(&deal.org, &deal.people[0], "Ben Okafor").await;
    assert_eq!(deal.act(&deal.maren, "instructions/release", &release).await.status, 409);
    deal.org.a_week_passes_for_members().await;
    assert_says(&deal.maren.get(&deal.path()).await, &["Ben Okafor can do it."]);
}

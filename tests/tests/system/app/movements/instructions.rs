//! Instructions: entered, changed, verified by another member, released; and never shown again.

use std::collections::BTreeSet;

use shared::domain::agreement::gate::{FieldType, GateRule, InformationField};
use shared::domain::agreement::{Agreement, Label};
use shared::domain::ids::FieldId;
use shared::domain::money::{Currency, Money};
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use tests::app::{Browser, Page};
use tests::attending::{Attendee, link_of};
use tests::drafts::Drafted;
use tests::log;
use tests::payments::terms;

use super::{ABA, CLAIM, Deal, IBAN, assert_says, evidence, path, publish_with, read_out, send, submit, text};
use tests::Org;

#[tokio::test]
async fn changed_instructions_are_shown_side_by_side_and_have_to_be_verified_again() {
    let deal = Deal::ready().await;
    let form = deal.maren.get(&format!("{}/instructions", deal.path())).await;
    assert_says(&form, &["for the account ending in …6789", "Changed instructions are how deals are robbed"]);
    let page = deal.enter(&deal.maren, &IBAN).await;
    assert_says(
        &page,
        &[
            "Instructions changed",
            "The instructions were changed",
            "<dt>Account before</dt><dd>…6789</dd>",
            "<dt>Account now</dt><dd>…3000</dd>",
            "Changed by Maren Holt",
            "Not verified",
            "Not released",
        ],
    );
    assert_eq!(deal.state().await, "authorized");
    for (act, typed) in [
        ("instructions/verify", read_out(&ABA).into_iter().chain([("revision", "1")]).collect()),
        ("instructions/release", vec![("revision", "1")]),
    ] {
        let page = deal.kim.get("/app").await;
        let form_token = page.hidden("form_token");
        let fields: Vec<_> = [("form_token", form_token.as_str())].into_iter().chain(typed).collect();
        let refused = deal.kim.post(&format!("{}/{act}", deal.path()), &fields).await;
        assert_eq!(refused.status, 409, "{act}: {}", refused.body);
        assert_says(&refused, &["The instructions have changed since this page was shown."]);
    }
    let page = deal.verify(&deal.kim, &IBAN).await;
    assert!(!page.says("The instructions were changed"), "the warning ends with the verification");
    assert_says(&page, &["Changes</summary>", "From …6789 to …3000"]);
    deal.done(&deal.kim, "instructions/release", &[]).await;
    deal.done(&deal.maren, "claim", &CLAIM).await;
    let page = deal.enter(&deal.maren, &ABA).await;
    assert_says(
        &page,
        &["Money may be on its way to the earlier account", "The instructions changed while money was on its way"],
    );
    assert_eq!(deal.read().await["exception_reason"], "instructions_changed");
}

#[tokio::test]
async fn what_is_usual_in_the_currency_is_asked_for_first() {
    let deal = Deal::new().await;
    let euros = Money::new(25_000_000, Currency::parse("EUR").expect("a currency")).expect("an amount");
    let in_euros = |draft: &Agreement| PaymentTerms { money: Some(euros), ..terms(draft, "Deposit", "INV-118") };
    let (_, in_euros) = publish_with(&deal.org, &deal.people[0], "Quay purchase", in_euros).await;
    let kind = |kind: &str, is_chosen: bool| {
        format!("value=\"{kind}\" type=\"radio\"{}>", if is_chosen { " checked" } else { "" })
    };
    for (payment, order) in
        [(deal.id, [kind("aba", true), kind("iban", false)]), (in_euros, [kind("iban", true), kind("aba", false)])]
    {
        let form = deal.maren.get(&format!("{}/instructions", path(payment))).await;
        let place = |part: &String| form.body.find(part).unwrap_or_else(|| panic!("{part}: {}", form.body));
        assert!(order.iter().map(place).is_sorted(), "{order:?}: {}", form.body);
        for label in ["IBAN", "BIC", "Routing number", "Account number"] {
            assert!(form.says(&format!(">{label}</label>")), "each kind has its own fields: {}", form.body);
        }
    }
}

#[tokio::test]
async fn authorizing_says_what_the_instructions_still_need() {
    let deal = Deal::new().await;
    deal.enter(&deal.maren, &ABA).await;
    deal.verify(&deal.kim, &ABA).await;
    let page = deal.done(&deal.maren, "authorize", &[]).await;
    assert_says(&page, &["The instructions are verified. Next: release them to the payer."]);
}

#[tokio::test]
async fn the_same_instructions_again_raise_no_alarm() {
    let deal = Deal::ready().await;
    deal.done(&deal.maren, "claim", &CLAIM).await;
    let before = deal.org.state().await;
    for by in [&deal.maren, &deal.kim] {
        let refused = deal.try_to_enter(by, &ABA).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert_says(&refused, &["Nothing was changed", "These are the instructions that apply already."]);
    }
    assert_eq!((deal.org.state().await, &*deal.state().await), (before, "sender_reported"));
}

#[tokio::test]
async fn two_changes_of_the_same_revision_are_one() {
    let deal = Deal::new().await;
    let at = format!("{}/instructions", deal.path());
    let (one, other) = tokio::join!(deal.maren.get(&at), deal.kim.get(&at));
    let (one, other) = tokio::join!(send(&deal.maren, &one, &at, &ABA), send(&deal.kim, &other, &at, &IBAN));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.body, other.body);
    let refused = if one.status == 409 { &one } else { &other };
    assert_says(refused, &["The instructions have changed since this page was shown."]);
}

#[tokio::test]
async fn what_is_wrong_is_told_by_field_and_no_number_is_shown_again() {
    let deal = Deal::new().await;
    let before = deal.org.state().await;
    let with = |account: super::Account<'static>, field: &'static str, value: &'static str| {
        account.map(|(name, typed)| if name == field { (name, value) } else { (name, typed) })
    };
    for (account, why) in [
        (with(IBAN, "iban", "DE89 3704 0044 0532 0130 01"), ">IBAN isn’t a valid IBAN"),
        (with(IBAN, "iban", "000123456789"), ">IBAN isn’t a valid IBAN"),
        (with(IBAN, "bic", "DEUT"), ">BIC must be a BIC of 8 or 11 characters"),
        (with(IBAN, "bic", "0210"), ">BIC must be a BIC of 8 or 11 characters"),
        (with(ABA, "code", ""), ">Routing number is missing."),
        (with(ABA, "code", "0210"), ">Routing number must have 9 digits."),
        (with(ABA, "code", "021000022"), ">Routing number isn’t a valid routing number"),
        (with(ABA, "code", "DEUTDEFF"), ">Routing number must have 9 digits."),
        (with(ABA, "number", "12"), ">Account number must be an account number of 4 to 34 letters and digits."),
        (with(ABA, "number", "DE89 3704 0044 0532 0130 00"), ">Account number must be an account number of the United"),
        (with(ABA, "holder", " "), "Account holder is missing"),
        (with(ABA, "bank", ""), "Bank is missing"),
        (with(ABA, "kind", ""), "Kind must be chosen"),
        (with(ABA, "kind", "other"), "Instructions must"),
    ] {
        let refused = deal.try_to_enter(&deal.maren, &account).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why, "Nothing was entered"]);
        assert!(refused.title().starts_with("Error: "), "{}", refused.title());
        for secret in ["000123456789", "0532 0130", "021000022", "021000021"] {
            assert!(!refused.says(secret), "{secret}: {}", refused.body);
        }
        if account[2].1 == "First Harbor Bank" {
            assert_says(&refused, &["value=\"First Harbor Bank\""]);
        }
    }
    assert_eq!(deal.org.state().await, before);
    let free = [("kind", "other"), ("text", "Pay to the notary account 000123456789 at First Harbor Bank")];
    let page = deal.enter(&deal.maren, &free).await;
    assert_says(&page, &["…6789", "Other"]);
}

#[tokio::test]
async fn the_only_member_verifies_and_releases_their_own_instructions() {
    let org = Org::new().await;
    let maren = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &maren).await;
    let (_, id) = super::publish(&org, &maren, "Harbor purchase", "Closing payment").await;
    let at = path(id);
    for (page, act, typed) in
        [(at.clone(), "authorize", vec![]), (format!("{at}/instructions"), "instructions", ABA.to_vec())]
    {
        assert_eq!(submit(&browser, &page, &format!("{at}/{act}"), &typed).await.status, 303);
    }
    let page = browser.get(&at).await;
    assert_says(&page, &["You are the only member, so no one else can do it.", "No second member has verified them"]);
    let done = submit(&browser, &at, &format!("{at}/instructions/release"), &[]).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_says(&browser.get(&at).await, &["Not verified by a second member: no other member counted as one"]);
}

#[tokio::test]
async fn instructions_are_taken_from_an_accepted_answer() {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let maren = Browser::of(&org, &people[0]).await;
    let kim = Browser::of(&org, &people[1]).await;
    let question = InformationField {
        id: FieldId::new(),
        label: Label::parse("Where do we send the money?").expect("a label"),
        field_type: FieldType::BankDetails,
        required: true,
        options: Vec::new(),
    };
    let field = question.id;
    let draft = org
        .ready_draft("Harbor purchase", |draft| {
            draft.documents.clear();
            draft.stages.truncate(2);
            let payee = [draft.participants[1].id].into();
            draft.stages[0].actions.clear();
            draft.stages[0].gates.truncate(1);
            draft.stages[0].gates[0].rule =
                GateRule::InformationRequest { participant_ids: payee, fields: vec![question] };
            draft.stages[1].gates.clear();
        })
        .await;
    let id = org.payment(draft.id(), terms(&draft, "Closing payment", "INV-117")).await;
    let with_payment = Drafted::of(&org, &draft.id().to_string()).await.agreement;
    let rule = GateRule::MovementReconciled { movement_id: Some(id) };
    let (after, _) = with_payment.add_gate(draft.stages[1].id, rule, with_payment.updated_at).expect("a gate");
    org.edit(&after).await;
    org.decide_at_once(&people[0], draft.id(), ProposalAction::PublishAgreement).await;
    let deal = Deal { org, people, maren, kim, agreement: after, id };

    let (gate, payee) = (draft.stages[0].gates[0].id, draft.participants[1].id);
    let northwind = Attendee { browser: Browser::new(deal.org.base_url()), participant: payee };
    let link = link_of(&deal.maren, deal.agreement.id(), payee).await;
    assert_eq!(northwind.follow(&link).await.status, 303);
    assert_eq!(northwind.submit("", "/consent", &[]).await.status, 303);
    let condition = format!("/conditions/{gate}");
    let part = |part: &str| format!("answer.{field}.{part}");
    let typed = [("holder", "Northwind"), ("bank", "Testbank"), ("number", "DE89370400440532013000")];
    let typed = typed.map(|(name, value)| (part(name), value));
    let typed: Vec<(&str, &str)> = typed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let sent = northwind.submit(&condition, &format!("{condition}/answers/send"), &typed).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let form = format!("{}/instructions", deal.path());
    assert!(!deal.maren.get(&form).await.says("ending in …3000"), "it is not accepted yet");
    let answers = format!("{}/conditions/{gate}/answers/{payee}", deal.of_agreement());
    assert_eq!(submit(&deal.kim, &answers, &format!("{answers}/accept"), &[]).await.status, 303);

    let page = deal.maren.get(&form).await;
    assert_says(
        &page,
        &["Account of Northwind Robotics, Inc. ending in …3000", "Answer to “Where do we send the money?”, the payee"],
    );
    let chosen = format!("{gate} {payee} {field}");
    for wrong in [format!("{gate} {payee} {}", FieldId::new()), "x".to_owned(), format!("{chosen} {field}")] {
        let refused = send(&deal.maren, &page, &form, &[("from", &wrong)]).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &["Account must be chosen again"]);
    }
    for _ in 0..2 {
        let done = send(&deal.maren, &page, &form, &[("from", &chosen), ("kind", "iban"), ("number", "")]).await;
        let page = deal.follow(&deal.maren, &done).await;
        assert_says(&page, &["…3000", "IBAN"]);
    }
}

#[derive(Default)]
struct Seen(Vec<String>);

impl Seen {
    fn add(&mut self, page: &Page) {
        self.0.push(format!("{:?} {}", page.headers, text(page)));
    }
}

/// And an account number is refused where it doesn't belong.
#[tokio::test]
async fn account_numbers_are_nowhere_but_where_they_were_typed() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let mut seen = Seen::default();
    seen.add(&deal.done(maren, "authorize", &[]).await);
    let at = format!("{}/instructions", deal.path());
    for account in [ABA, IBAN] {
        let page = maren.get(&at).await;
        seen.add(&send(maren, &page, &at, &account).await);
        seen.add(&maren.get(&deal.path()).await);
        seen.add(&send(kim, &kim.get(&at).await, &at, &[("revision", "0")]).await);
        let late: Vec<_> = account.into_iter().chain([("revision", "0")]).collect();
        let form_token = kim.get("/app").await.hidden("form_token");
        let late: Vec<_> = [("form_token", form_token.as_str())].into_iter().chain(late).collect();
        let refused = kim.post(&at, &late).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        seen.add(&refused);
    }
    // An ended session keeps nothing of it, neither for signing in again nor in a cookie.
    let late = Browser::new(deal.org.base_url());
    for name in ["session", "owner"] {
        if let Some(value) = maren.cookie(name) {
            late.set_cookie(name, if name == "session" { "ended" } else { &value });
        }
    }
    let unsent = late.post(&at, &ABA).await;
    assert_eq!(unsent.status, 303, "{}", unsent.body);
    assert!(!unsent.location().contains("ended=form"), "{}", unsent.location());
    seen.add(&unsent);
    // Nor can what names no number be sent again from there, without the page's own caution.
    let unnumbered = [("from", "typed"), ("kind", "aba"), ("holder", "Other LLC"), ("number", ""), ("code", "")];
    let unsent = late.post(&at, &unnumbered).await;
    assert!(unsent.status == 303 && !unsent.location().contains("ended=form"), "{}", unsent.location());
    // Verification types numbers, wrong and right. No page shows those either.
    let other = [("number", "DE02120300000000202051"), ("code", "")];
    for account in [&other[..], &ABA, &IBAN] {
        seen.add(&deal.try_to_verify(kim, account).await);
    }
    assert_says(&kim.get(&deal.path()).await, &["Call back to a known number, by Kim Sato"]);
    deal.done(kim, "instructions/release", &[]).await;
    let number = "000123456789";
    let refuse = async |act: &str, typed: &[(&str, &str)], seen: &mut Seen| {
        let refused = deal.act(maren, act, typed).await;
        assert_eq!(refused.status, 422, "{act}: {}", refused.body);
        assert_says(&refused, &["must not contain an account or card number"]);
        seen.add(&refused);
    };
    let note = format!("Paid to {number}");
    refuse("cancel", &[("reason", &note)], &mut seen).await;
    refuse("exception", &[("reason", "other"), ("note", &note)], &mut seen).await;
    refuse("claim", &[("sent_on", "14/3/2026"), ("reference_type", "other"), ("reference", number)], &mut seen).await;
    deal.done(maren, "claim", &CLAIM).await;
    let iban_as_reference = evidence("recipient_confirmation", "250,000.00", "DE89370400440532013000");
    let refused = deal.act(maren, "evidence", &iban_as_reference).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Bank reference must be a reference, not an account number"]);
    seen.add(&refused);
    let typed = evidence("receiving_bank_statement", "250,000.00", "TRN 1");
    let refused = deal.try_to_file(maren, &typed, "000123456789.pdf", "x").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["File has a name with an account or card number"]);
    seen.add(&refused);
    let filed = deal.file(maren, "receiving_bank_statement", "250,000.00", "TRN 2").await;
    refuse("return", &[("reason", &note)], &mut seen).await;
    for act in ["reject", "withdraw"] {
        let (_, own) = filed.split_once("/evidence/").expect("an id");
        refuse(&format!("evidence/{own}/{act}"), &[("reason", &note)], &mut seen).await;
    }
    for page in ["/app", &deal.of_agreement(), &deal.path(), &at, "/app/audit", &format!("{filed}/accept")] {
        seen.add(&kim.get(page).await);
    }
    for api in [format!("/api/v1/movements/{}", deal.id), format!("/api/v1/agreements/{}", deal.agreement.id())] {
        seen.0.push(deal.org.get(api).send().await.ok(200).to_string());
    }
    let rows = |rows: Vec<serde_json::Value>| rows.iter().map(ToString::to_string).collect::<Vec<_>>();
    seen.0.extend(rows(deal.org.state().await));
    seen.0.extend(rows(deal.org.audit().await));
    seen.0.extend(rows(deal.org.events().await));
    let own: BTreeSet<String> = log::lines(deal.org.stack().log_file()).iter().map(ToString::to_string).collect();
    assert!(own.iter().any(|line| line.contains("enter_instructions")), "the log has the calls");
    seen.0.extend(own);
    for said in &seen.0 {
        let said = said.replace([' ', '-', '+'], "").replace("%20", "");
        for secret in [number, "DE89370400440532013000", "0532013000", "021000021"] {
            assert!(!said.contains(secret), "{secret} in {said}");
        }
    }
}

//! A statement proves an arrival on the account in the payment's instructions; another counts only with a reason.

use serde_json::json;
use tests::app::{Browser, Page};

use super::statements::{ACCOUNT, camt, entry, file, pair, review, uploaded};
use super::{Deal, assert_says, evidence, newest, send, submit};
use crate::app::evidence::{lines, unzipped, verified};

fn mt940(account: &str) -> Vec<u8> {
    format!(
        ":20:S\r\n:25:{account}\r\n:28C:1\r\n:60F:C260317USD0,00\r\n:61:2603180318C250000,00NTRFINV-117//B-1\r\n\
         :86:Closing\r\n:62F:C260318USD250000,00\r\n-\r\n"
    )
    .into_bytes()
}

fn closing() -> Vec<u8> {
    camt("S-1", &[entry("250000.00", "CRDT", "B-1", "Closing INV-117")])
}

async fn alone(by: &Browser, at: &str) -> Page {
    by.get(&format!("{at}?entry=1")).await
}

#[tokio::test]
async fn an_entry_of_another_account_is_no_match_and_counts_only_with_a_reason() {
    let deal = Deal::claimed().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let at = uploaded(maren, "march.xml", &closing()).await;
    let page = maren.get(&at).await;
    assert_says(&page, &["<dt>Fit no payment</dt><dd>1</dd>", "No entry fits a payment", ">Another account</span>"]);
    assert!(!page.says("type=\"checkbox\"") && !page.says("Strong match"), "{}", page.body);

    let page = alone(maren, &at).await;
    assert_says(&page, &[">Another account</span>", "Not on the account that the instructions name", "Why it counts"]);
    let chosen = [pair(&page, 1, deal.id)];
    let (name, value) = &chosen[0];
    let reason = name.replace("pair.", "reason.");
    let before = deal.org.state().await;
    let file_with = async |why: &str| send(maren, &page, &at, &[(name, value), (&reason, why)]).await;
    for (why, wrong) in [
        ("", "Why it counts must be said: the entry is on another account than the instructions name."),
        ("Their account 000987654321", "Why it counts must not contain an account or card number"),
    ] {
        let refused = file_with(why).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &["Nothing was filed", wrong, " checked"]);
        assert!(!refused.says("000987654321"), "{}", refused.body);
    }
    assert_eq!(deal.org.state().await, before);

    let why = "They moved to this bank on March 10";
    for _ in 0..2 {
        let filed = file_with(why).await;
        assert_eq!((filed.status, filed.location()), (303, &*format!("{at}#notice")), "{}", filed.body);
    }
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["receipt"]["evidence_count"]), (&json!("processing"), &json!(1)));
    assert_eq!(read["receipt"]["best_assurance"], "bank_documented");
    let page = kim.get(&deal.path()).await;
    let marked = ["…3000: not the account that the instructions name", why, "Not on the account that the payment’s"];
    assert_says(&page, &marked);
    let accept = review(&maren.get(&at).await);
    let shown = kim.get(&format!("{accept}/accept")).await;
    assert_says(&shown, &marked);
    assert_says(&shown, &["of another account than the instructions name. A document of the receiving bank shows it."]);
    let page = deal.follow(kim, &deal.accept(kim, &accept).await).await;
    assert_says(&page, &["By a statement of the receiving bank, on another account than the instructions name"]);
    let sentence =
        "Confirmed received, by a statement of the receiving bank, on another account than the instructions name.";
    assert_eq!(deal.read().await["state_sentence"], sentence);

    let bundle = kim.get(&format!("/app/evidence/agreements/{}/bundle", deal.agreement.id())).await;
    verified(deal.org.base_url(), &bundle).await;
    let files = unzipped(&bundle.bytes);
    let line = lines(&files, "receiver_evidence.jsonl").remove(0);
    assert_eq!(line["account"], json!({"ending": "3000", "standing": "another", "reason": why}));
    assert_eq!((&line["assurance"], &line["origin"]), (&json!("bank_documented"), &json!("read")));
    let everything = format!("{:?}{:?}", deal.org.state().await, deal.org.audit().await);
    assert!(!everything.contains(ACCOUNT) && !everything.contains("000123456789"));
}

/// No single member makes an account the payee's: evidence is compared with the released instructions only.
#[tokio::test]
async fn an_account_that_was_entered_and_never_released_is_another() {
    let deal = Deal::claimed().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    deal.enter(maren, &super::IBAN).await;
    deal.done(maren, "resolve", &[("resolution", "await_proof")]).await;
    let page = maren.get(&deal.path()).await;
    let before = ["From …6789 to …3000", "Before: Call back to a known number, by Kim", "Nora West", "Not verified"];
    assert_says(&page, &before);
    let at = uploaded(maren, "march.xml", &closing()).await;
    let page = alone(maren, &at).await;
    assert_says(&page, &[">Another account</span>", "Not on the account that the instructions name"]);
    // Nor after a second member verifies it: the payer was told another.
    deal.verify(kim, &super::IBAN).await;
    assert_says(&alone(maren, &at).await, &[">Another account</span>"]);

    let bundle = kim.get(&format!("/app/evidence/agreements/{}/bundle", deal.agreement.id())).await;
    verified(deal.org.base_url(), &bundle).await;
    let line = lines(&unzipped(&bundle.bytes), "movements.jsonl").remove(0);
    let replaced = &line["instructions"]["replaced"][0];
    assert_eq!((&replaced["revision"], &replaced["read_out_by"]), (&json!(1), &json!("Nora West")));
    assert!(replaced["released_at"].is_string() && line["instructions"]["released_at"].is_null(), "{line}");
}

#[tokio::test]
async fn a_form_that_leaves_the_reason_out_files_nothing_of_another_account() {
    let deal = Deal::claimed().await;
    let at = uploaded(&deal.maren, "march.xml", &closing()).await;
    let token = deal.maren.get(&at).await.hidden("form_token");
    let id = uuid::Uuid::now_v7().to_string();
    let forged = format!("pair.1.{}", deal.id);
    let refused = deal.maren.post(&at, &[("form_token", &token), (&forged, &id)]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Entry 1: It is on another account than the payment’s instructions name."]);
    assert_eq!(deal.state().await, "receipt_pending");
}

#[tokio::test]
async fn one_account_that_banks_name_in_two_ways_is_the_same() {
    let american = Deal::claimed().await;
    // Banks have separate routing numbers for wires.
    for account in ["000123456789", "021000021/123456789", "121000358/000123456789USD"] {
        let at = uploaded(&american.maren, "march.sta", &mt940(account)).await;
        assert_says(&american.maren.get(&at).await, &["Strong match", "On the account that the instructions name"]);
    }
    for account in ["000123456780", "021000021/123456780"] {
        let at = uploaded(&american.maren, "march.sta", &mt940(account)).await;
        assert!(!american.maren.get(&at).await.says("Strong match"), "{account}");
    }
    let german = Deal::with_statements().await;
    for account in ["532013000", "37040044/0532013000EUR"] {
        let at = uploaded(&german.maren, "march.sta", &mt940(account)).await;
        assert_says(&german.maren.get(&at).await, &["Strong match", "On the account that the instructions name"]);
    }
    let at = uploaded(&german.maren, "march.sta", &mt940("12030000/0532013000")).await;
    assert_says(&german.maren.get(&at).await, &[">Another account</span>"]);
}

#[tokio::test]
async fn a_statement_that_does_not_name_its_account_is_no_other_account() {
    let deal = Deal::claimed().await;
    let maren = &deal.maren;
    let at = uploaded(maren, "march.sta", &mt940("XXXXXXXX6780")).await;
    let page = maren.get(&at).await;
    assert_says(&page, &["Strong match", "The file doesn’t say clearly whether it is on the account"]);
    assert_eq!(file(maren, &page, &at, &[pair(&page, 1, deal.id)]).await.status, 303);
    assert_eq!(deal.read().await["receipt"]["best_assurance"], "bank_documented");
    assert_says(&maren.get(&deal.path()).await, &["Not named: it can’t be told whether the instructions name it"]);
}

#[tokio::test]
async fn a_document_that_names_another_account_counts_only_with_a_reason_and_is_marked() {
    let deal = Deal::claimed().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let typed = |account: &'static str, why: &'static str, reference: &'static str| {
        let own = evidence("receiving_bank_notification", "100,000.00", reference);
        own.into_iter().chain([("account", account), ("account_reason", why)]).collect::<Vec<_>>()
    };
    let mut sent = typed("000987654321", "", "SLIP 1");
    sent[0].1 = "sender_bank_document";
    let refused = deal.try_to_file(maren, &sent, "c.pdf", "Three").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let named = typed("Account no. 0001 2345 6789", "", "ADVICE 1");
    let page = deal.follow(maren, &deal.try_to_file(maren, &named, "a.pdf", "One").await).await;
    assert_says(&page, &["…6789: as the instructions name it"]);

    let before = deal.org.state().await;
    for (account, why, wrong) in [
        ("000987654321", "", "Why it counts must be said: it is not the account that the instructions name."),
        ("XXXXXXXX4321", "", "Account must be an account number or an IBAN, with no digit hidden."),
        ("000987654321", "To 000987654321", "Why it counts must not contain an account or card number"),
    ] {
        let refused = deal.try_to_file(maren, &typed(account, why, "ADVICE 2"), "b.pdf", "Two").await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &[wrong]);
        assert!(!refused.says("987654321") && !refused.says("XXXX4321"), "{}", refused.body);
    }
    assert_eq!(deal.org.state().await, before);

    let other = typed("000987654321", "They moved to this bank", "ADVICE 2");
    let page = deal.follow(maren, &deal.try_to_file(maren, &other, "b.pdf", "Two").await).await;
    let marked = ["…4321: not the account that the instructions name", "They moved to this bank"];
    assert_says(&page, &marked);
    let at = newest(&page, "ADVICE 2");
    assert_says(&kim.get(&format!("{at}/accept")).await, &marked);
    for at in [newest(&page, "ADVICE 1"), at] {
        let accept = format!("{at}/accept");
        deal.follow(kim, &submit(kim, &accept, &accept, &[("another", "on")]).await).await;
    }
    let everything = format!("{:?}{:?}", deal.org.state().await, deal.org.audit().await);
    assert!(!everything.contains("987654321"));
    let bundle = kim.get(&format!("/app/evidence/agreements/{}/bundle", deal.agreement.id())).await;
    verified(deal.org.base_url(), &bundle).await;
    let told: Vec<_> =
        lines(&unzipped(&bundle.bytes), "receiver_evidence.jsonl").iter().map(|line| line["account"].clone()).collect();
    assert_eq!(
        told,
        [
            json!({"ending": "6789", "standing": "instructed", "reason": null}),
            json!({"ending": "4321", "standing": "another", "reason": "They moved to this bank"}),
        ]
    );
}

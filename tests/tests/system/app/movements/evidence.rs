//! Evidence: the sending side's proves nothing, a document counts once, and so does one of two decisions.

use futures_util::future::join_all;
use shared::domain::proposal::ProposalAction;
use tests::attending::hidden;
use tests::eventually;
use tests::pdf::pdf;

use super::{Deal, assert_says, claim_column, evidence, newest, path, publish, send, submit, text};

#[tokio::test]
async fn a_senders_document_never_reconciles() {
    let deal = Deal::claimed().await;
    let maren = &deal.maren;
    for (source, note) in [("sender_bank_document", "MT103 A"), ("sender_statement", "WORD B")] {
        let filed = deal.file(maren, source, "250,000.00", note).await;
        let page = maren.get(&deal.path()).await;
        assert!(claim_column(&page).contains(note) && claim_column(&page).contains("Never proof"), "{}", page.body);
        assert!(!page.says(&format!("href=\"{filed}/accept\"")), "it is not offered");
        let review = maren.get(&format!("{filed}/accept")).await;
        assert_says(&review, &["It can’t be accepted", "never proves an arrival"]);
        assert!(!review.says(">Accept evidence</button>"));
        for received in ["0", "25000000"] {
            let form_token = page.hidden("form_token");
            let fields = [("form_token", form_token.as_str()), ("received", received)];
            let refused = deal.kim.post(&format!("{filed}/accept"), &fields).await;
            assert_eq!(refused.status, 403, "another session's form");
            let refused = maren.post(&format!("{filed}/accept"), &fields).await;
            assert_eq!(refused.status, 409, "{}", refused.body);
            assert_says(&refused, &["It comes from the sender’s side, which never proves an arrival."]);
        }
    }
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["receipt"]), (&"receipt_pending".into(), &serde_json::Value::Null));
}

#[tokio::test]
async fn what_is_filed_is_read_by_field() {
    let deal = Deal::claimed().await;
    let maren = &deal.maren;
    let before = deal.org.state().await;
    let full = evidence("recipient_confirmation", "250,000.00", "TRN-1");
    let with = |field: &'static str, value: &'static str| {
        full.map(|(name, typed)| if name == field { (name, value) } else { (name, typed) })
    };
    for (typed, why) in [
        (with("source", ""), "Source must be chosen"),
        (with("source", "receiving_bank_feed"), "Source must be chosen"),
        (with("amount", "0"), "Amount received must be more than zero"),
        (with("amount", "-5"), "Amount received must be more than zero"),
        (with("amount", "1.005"), "Amount received must have at most 2 decimals"),
        (with("amount", "92233720368547758.08"), "Amount received is more than any bank moves"),
        (with("currency", "XAU"), "Currency must be a currency of ISO 4217"),
        (with("value_date", "2026-02-30"), "Value date must be a day that exists"),
        (with("value_date", "16/3/2126"), "Value date must not be in the future"),
        (with("source", "receiving_bank_statement"), "File is missing. A document of a bank counts only with its file"),
    ] {
        let refused = deal.act(maren, "evidence", &typed).await;
        assert_eq!(refused.status, 422, "{why}: {}", refused.body);
        assert_says(&refused, &[why]);
        assert!(refused.title().starts_with("Error: "), "{}", refused.title());
        assert_eq!(refused.body.matches(" autofocus").count(), 1, "{}", refused.body);
        let kept = typed.iter().filter(|(name, _)| ["amount", "value_date"].contains(name));
        for (_, value) in kept {
            assert_says(&refused, &[&format!("value=\"{value}\"")]);
        }
    }
    let page = maren.get(&deal.path()).await;
    let fields = [("form_token", page.hidden("form_token"))];
    let own: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).chain(full).collect();
    let action = format!("{}/evidence", deal.path());
    let html = maren.upload(&action, &own, ("file", "proof.pdf", b"<html><script>alert(1)</script>")).await;
    assert_eq!(html.status, 422, "{}", html.body);
    assert_says(&html, &["File must be a PDF, JPEG or PNG file"]);
    assert_eq!(deal.org.state().await, before);
}

/// Fedwire’s references of two transfers.
const IMAD: &str = "20260316B1QGC08C007741";
const OTHER_IMAD: &str = "20260316B1QGC08C007742";

async fn beside(deal: Deal) -> Deal {
    let (agreement, id) = publish(&deal.org, &deal.people[0], "Second deal", "Deposit").await;
    let other = Deal { org: deal.org, people: deal.people, maren: deal.maren, kim: deal.kim, agreement, id };
    other.done(&other.maren, "authorize", &[]).await;
    other.enter(&other.maren, &super::IBAN).await;
    other.verify(&other.kim, &super::IBAN).await;
    other.done(&other.kim, "instructions/release", &[]).await;
    other
}

#[tokio::test]
async fn a_document_counts_once_and_the_page_says_where_it_stands() {
    let deal = Deal::claimed().await;
    let maren = &deal.maren;
    deal.file(maren, "receiving_bank_statement", "250,000.00", IMAD).await;
    let again = evidence("receiving_bank_statement", "250,000.00", "OTHER");
    let refused = deal.try_to_file(maren, &again, "copy.pdf", IMAD).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["The same document, or the same bank reference, is filed for this payment already."]);

    let first = deal.id;
    let other = beside(deal).await;
    let typed = evidence("receiving_bank_statement", "250,000.00", "20260316 b1qgc08c 007741");
    let refused = other.try_to_file(&other.maren, &typed, "another.pdf", "another").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    let link = format!("<a href=\"{}\">Closing payment, $250,000.00 USD</a>", path(first));
    assert_says(&refused, &["is filed for another payment", &link, "value=\"250,000.00\""]);
    assert_eq!(other.state().await, "instructions_ready");
    // One paper statement may show several arrivals.
    let typed = evidence("receiving_bank_statement", "100,000.00", "TRN 7742");
    let filed = other.try_to_file(&other.maren, &typed, "copy.pdf", IMAD).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
}

#[tokio::test]
async fn what_was_accepted_before_is_said_and_what_may_be_the_same_money() {
    let deal = Deal::claimed().await;
    let first = deal.file(&deal.maren, "recipient_confirmation", "125,000.00", "R-1").await;
    let before = deal.kim.get(&format!("{first}/accept")).await;
    assert!(!before.says("accepted before"), "{}", before.body);
    assert_eq!(submit(&deal.kim, &format!("{first}/accept"), &format!("{first}/accept"), &[]).await.status, 303);
    let second = deal.file(&deal.maren, "receiving_bank_statement", "125,000.00", "TRN 1").await;
    let page = deal.kim.get(&format!("{second}/accept")).await;
    assert_says(
        &page,
        &[
            "It comes on top of what was accepted before: $125,000.00 USD on 16 Mar 2026, the recipient’s own confirmation.",
            "This may be the same money as $125,000.00 USD on 16 Mar 2026",
            "Accept it only if it is additional money.",
        ],
    );
}

#[tokio::test]
async fn evidence_accepted_by_two_members_at_once_counts_once() {
    let deal = Deal::claimed().await;
    let filed = deal.file(&deal.maren, "recipient_confirmation", "250,000.00", "R-1").await;
    let at = format!("{filed}/accept");
    let (one, other) = tokio::join!(deal.maren.get(&at), deal.kim.get(&at));
    let (one, other) = tokio::join!(send(&deal.maren, &one, &at, &[]), send(&deal.kim, &other, &at, &[]));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.body, other.body);
    let refused = if one.status == 409 { &one } else { &other };
    assert_says(refused, &["A member has decided about this evidence already."]);
    assert_eq!(deal.state().await, "reconciled");
    let reconciled = |event: &&serde_json::Value| event["type"] == "movement.reconciled";
    assert_eq!(deal.org.events().await.iter().filter(reconciled).count(), 1);
}

#[tokio::test]
async fn accepting_while_another_member_withdraws_does_one_or_both_in_turn() {
    for _ in 0..3 {
        let deal = Deal::claimed().await;
        let filed = deal.file(&deal.maren, "recipient_confirmation", "250,000.00", "R-1").await;
        let (accept, withdraw, at) = (format!("{filed}/accept"), format!("{filed}/withdraw"), deal.path());
        let (one, other) = tokio::join!(deal.maren.get(&accept), deal.kim.get(&at));
        let reason = [("reason", "Filed for the wrong payment")];
        let (accepted, withdrawn) =
            tokio::join!(send(&deal.maren, &one, &accept, &[]), send(&deal.kim, &other, &withdraw, &reason));
        assert_eq!(withdrawn.status, 303, "it can be withdrawn before and after: {}", withdrawn.body);
        let expected = if accepted.status == 303 { "exception" } else { "receipt_pending" };
        assert_eq!(deal.state().await, expected, "{}", accepted.status);
        assert_eq!(deal.read().await["reconciled"], false);
        assert_says(&deal.maren.get(&deal.path()).await, &["Withdrawn by Kim Sato", "Filed for the wrong payment"]);
    }
}

#[tokio::test]
async fn a_page_of_acceptance_holds_only_for_what_it_showed() {
    let deal = Deal::claimed().await;
    let first = deal.file(&deal.maren, "recipient_confirmation", "250,000.00", "R-1").await;
    let second = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "S-2").await;
    let at = format!("{second}/accept");
    let shown = deal.kim.get(&at).await;
    assert_says(&shown, &["The full amount has arrived. The payment is confirmed received."]);
    // Another member accepts the first meanwhile, so part of it would count twice.
    let part = deal.file(&deal.maren, "receiving_bank_notification", "50,000.00", "P-3").await;
    deal.follow(&deal.maren, &deal.accept(&deal.maren, &part).await).await;
    let refused = send(&deal.kim, &shown, &at, &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(
        &refused,
        &[
            "Other evidence was accepted or withdrawn since this page was shown.",
            "That is $50,000.00 USD more than the amount, so the payment becomes an exception and is not confirmed.",
        ],
    );
    assert_eq!(deal.state().await, "processing");
    let page = deal.follow(&deal.kim, &send(&deal.kim, &refused, &at, &[]).await).await;
    assert_says(&page, &["Evidence accepted", "More than the amount arrived", "Needs attention"]);
    assert_says(
        &page,
        &["what becomes of the difference", "record the return", "file evidence of exactly what stayed"],
    );
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["exception_reason"]), (&"exception".into(), &"amount_over".into()));
    let refused = deal.kim.get(&format!("{first}/accept")).await;
    assert_says(&refused, &["It can’t be accepted", "The payment’s state is “Needs attention” by now"]);
}

#[tokio::test]
async fn two_parts_accepted_at_once_count_one_after_the_other() {
    let deal = Deal::claimed().await;
    let one = deal.file(&deal.maren, "recipient_confirmation", "100,000.00", "A-1").await;
    let other = deal.file(&deal.maren, "receiving_bank_statement", "150,000.00", "A-2").await;
    let (first, second) = (format!("{one}/accept"), format!("{other}/accept"));
    let (shown, shown_to_kim) = tokio::join!(deal.maren.get(&first), deal.kim.get(&second));
    let answers = tokio::join!(send(&deal.maren, &shown, &first, &[]), send(&deal.kim, &shown_to_kim, &second, &[]));
    let answers = [answers.0, answers.1];
    let mut statuses = answers.each_ref().map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "what the second page said is no longer so");
    let refused = answers.iter().find(|answer| answer.status == 409).expect("one is refused");
    assert_says(refused, &["Other evidence was accepted or withdrawn", "The full amount has arrived"]);
    let (by, at) = if answers[0].status == 409 { (&deal.maren, &first) } else { (&deal.kim, &second) };
    deal.follow(by, &send(by, refused, at, &[]).await).await;
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["confirmation_basis"]), (&"reconciled".into(), &"recipient_confirmation".into()));
    let late = deal.act(&deal.maren, "claim", &super::CLAIM).await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert_says(&late, &["The payment’s state is “Confirmed received” by now"]);
}

#[tokio::test]
async fn receipts_add_up_to_one_minor_unit_less_exactly_and_one_more() {
    for (last, state, difference) in [
        ("149,999.99", "receipt_pending", Some("$0.01 USD less than what is still missing")),
        ("150,000.00", "reconciled", None),
        ("150,000.01", "exception", Some("$0.01 USD more than what is still missing")),
    ] {
        let deal = Deal::claimed().await;
        let part = deal.file(&deal.maren, "recipient_confirmation", "100,000.00", "A-1").await;
        let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &part).await).await;
        assert_says(&page, &["$150,000.00 USD less than the amount"]);
        let rest = deal.file(&deal.maren, "recipient_confirmation", last, "A-2").await;
        let page = deal.maren.get(&deal.path()).await;
        assert_eq!(page.says("what is still missing"), difference.is_some(), "{last}: {}", page.body);
        assert!(difference.is_none_or(|difference| page.says(difference)), "{last}: {}", page.body);
        let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &rest).await).await;
        assert_eq!(deal.state().await, state, "{last}");
        assert_eq!(page.says("what is still missing"), difference.is_some(), "{last}: {}", page.body);
        let is_confirmed = state == "reconciled";
        assert_eq!(page.says("USD less than the amount"), !is_confirmed, "{last}: {}", page.body);
    }
}

#[tokio::test]
async fn withdrawing_after_completion_is_an_exception_and_the_agreement_stays_completed() {
    let deal = Deal::claimed().await;
    let filed = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "S-1").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;
    assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
    let page = deal.maren.get(&deal.path()).await;
    assert_eq!(page.body.matches("The agreement stays completed.").count(), 2, "of withdrawing and flagging");
    assert!(!page.says("open again") && !page.says("opens again"), "{}", page.body);
    let done =
        submit(&deal.maren, &deal.path(), &format!("{filed}/withdraw"), &[("reason", "A forged statement")]).await;
    let page = deal.follow(&deal.maren, &done).await;
    assert_says(&page, &["Accepted proof was withdrawn", "A forged statement", ">Resolve</button>"]);
    assert!(!page.says("value=\"send_again\""), "it is always refused here");
    assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
    // Sending it again needs an active agreement; waiting for proof doesn't.
    let refused = deal.act(&deal.maren, "resolve", &[("resolution", "send_again")]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["The agreement is no longer active."]);
    deal.done(&deal.maren, "resolve", &[("resolution", "await_proof")]).await;
    assert_eq!(deal.state().await, "receipt_pending");
}

#[tokio::test]
async fn evidence_in_another_currency_is_marked_and_never_accepted() {
    let deal = Deal::claimed().await;
    let mut typed = evidence("recipient_confirmation", "250,000.00", "R-1");
    typed[2] = ("currency", "EUR");
    let page = deal.done(&deal.maren, "evidence", &typed).await;
    assert_says(&page, &["€250,000.00 EUR", "Not in USD, the currency of the payment"]);
    let filed = newest(&page, "R-1");
    let review = deal.kim.get(&format!("{filed}/accept")).await;
    assert_says(&review, &["It can’t be accepted", "another currency"]);
    let refused = deal
        .kim
        .post(&format!("{filed}/accept"), &[("form_token", &review.hidden("form_token")), ("received", "0")])
        .await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_eq!(deal.state().await, "processing");
}

#[tokio::test]
async fn the_file_of_evidence_is_a_download_for_members_alone() {
    let deal = Deal::claimed().await;
    let filed = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "S-1").await;
    let file = deal.kim.get(&format!("{filed}/file")).await;
    assert_eq!(file.status, 200);
    let header =
        |name: &str| file.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert!(header("content-disposition").starts_with("attachment; filename=\"advice.pdf\""), "{:?}", file.headers);
    assert_eq!(
        (header("content-type").as_str(), header("x-content-type-options").as_str()),
        ("application/pdf", "nosniff")
    );
    let stranger = Deal::new().await;
    assert_eq!(stranger.maren.get(&format!("{filed}/file")).await.status, 404);
    assert_eq!(stranger.maren.get(&format!("{filed}/accept")).await.status, 404);
    let (_, id) = publish(&deal.org, &deal.people[0], "Second deal", "Deposit").await;
    let (_, own) = filed.split_once("/evidence/").expect("an id");
    assert_eq!(deal.maren.get(&format!("{}/evidence/{own}/file", path(id))).await.status, 404);
    let audit = deal.org.audit().await;
    assert_eq!(audit.iter().filter(|row| row["operation"] == "download_evidence_file").count(), 2, "{audit:?}");
}

#[tokio::test]
async fn a_second_press_at_once_files_and_accepts_once() {
    let deal = Deal::claimed().await;
    let page = deal.maren.get(&deal.path()).await;
    let action = format!("{}/evidence", deal.path());
    let typed = evidence("recipient_confirmation", "250,000.00", "R-1");
    for answer in join_all((0..3).map(|_| send(&deal.maren, &page, &action, &typed))).await {
        assert_eq!(answer.status, 303, "{}", answer.body);
    }
    let page = deal.maren.get(&deal.path()).await;
    assert_eq!(page.body.matches("<dd>R-1</dd>").count(), 1, "{}", text(&page));
    let at = format!("{}/accept", newest(&page, "R-1"));
    let page = deal.kim.get(&at).await;
    for answer in join_all((0..3).map(|_| send(&deal.kim, &page, &at, &[]))).await {
        assert_eq!(answer.status, 303, "{}", answer.body);
    }
    assert_eq!(deal.state().await, "reconciled");
}

#[tokio::test]
async fn a_document_of_a_returned_payment_is_given_free_for_the_right_one() {
    let deal = Deal::claimed().await;
    let accepted = deal.file(&deal.maren, "receiving_bank_statement", "100,000.00", IMAD).await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &accepted).await).await;
    let undecided = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", OTHER_IMAD).await;
    deal.done(&deal.maren, "return", &[("reason", "Account closed")]).await;
    let (at, first) = (deal.path(), path(deal.id));
    let page = deal.maren.get(&at).await;
    assert_says(&page, &["It was filed for the wrong payment. This payment stays as it is", "Reject evidence…"]);
    assert!(!page.says("/accept\""), "nothing is accepted anymore");
    let other = beside(deal).await;
    for (filed, act, note) in [(&accepted, "withdraw", IMAD), (&undecided, "reject", OTHER_IMAD)] {
        let typed = evidence("receiving_bank_statement", "250,000.00", note);
        let refused = other.try_to_file(&other.maren, &typed, "copy.pdf", note).await;
        assert_eq!(refused.status, 409, "{note}: {}", refused.body);
        let reason = [("reason", "Filed for the wrong payment")];
        let done = submit(&other.maren, &at, &format!("{filed}/{act}"), &reason).await;
        assert_eq!((done.status, done.location()), (303, &*format!("{first}#notice")), "{}", done.body);
        let again = other.try_to_file(&other.maren, &typed, "copy.pdf", note).await;
        other.follow(&other.maren, &again).await;
    }
    let read: serde_json::Value = other.org.get(at.replace("/app/money", "/api/v1")).send().await.ok(200);
    assert_eq!((&read["state"], &read["receipt"]), (&"returned".into(), &serde_json::Value::Null));
    assert_eq!(other.state().await, "processing");
}

#[tokio::test]
async fn a_form_of_evidence_files_one_set_of_facts() {
    let deal = Deal::claimed().await;
    let (maren, action) = (&deal.maren, format!("{}/evidence", deal.path()));
    let page = maren.get(&deal.path()).await;
    let first = evidence("recipient_confirmation", "100,000.00", "R-1");
    for _ in 0..2 {
        assert_eq!(send(maren, &page, &action, &first).await.status, 303, "the same again is done once");
    }
    for (field, value) in [("amount", "150,000.00"), ("value_date", "15/3/2026"), ("bank_reference", "R-2")] {
        let typed = first.map(|(name, typed)| if name == field { (name, value) } else { (name, typed) });
        let refused = send(maren, &page, &action, &typed).await;
        assert_eq!(refused.status, 409, "{field}: {}", refused.body);
        assert_says(&refused, &["This form was already used. Add it again?"]);
    }
    let own = hidden(&page, &action);
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields: Vec<(&str, &str)> = own.chain(first).collect();
    let refused = maren.upload(&action, &fields, ("file", "advice.pdf", &pdf("R-1", ""))).await;
    assert_eq!(refused.status, 409, "with a file: {}", refused.body);
    assert_eq!(deal.read().await["receipt"]["evidence_count"], 1);
}

#[tokio::test]
async fn a_payment_that_arrived_in_part_is_not_said_to_have_never_taken_place() {
    let deal = Deal::claimed().await;
    let part = deal.file(&deal.maren, "receiving_bank_statement", "100,000.00", "S-1").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &part).await).await;
    let page = deal.done(&deal.maren, "exception", &[("reason", "amount_short"), ("note", "")]).await;
    let said = ["$100,000.00 USD of $250,000.00 USD stays confirmed received. The rest will not be paid"];
    assert_says(&page, &said);
    assert_says(&deal.done(&deal.maren, "resolve", &[("resolution", "send_again")]).await, &said);
    deal.org.decide_at_once(&deal.people[0], deal.agreement.id(), ProposalAction::CancelAgreement).await;
    eventually("the payment ends with its agreement", async || (deal.state().await == "cancelled").then_some(())).await;
    let read = deal.read().await;
    assert_eq!(
        read["state_sentence"],
        "Cancelled. USD 100,000.00 of USD 250,000.00 has been confirmed received. The rest will not take place."
    );
    assert_says(
        &deal.maren.get(&deal.path()).await,
        &["$100,000.00 USD of $250,000.00 USD had been confirmed received before that."],
    );
}

#[tokio::test]
async fn filing_and_accepting_against_a_cancellation_at_once_is_one_of_both() {
    for _ in 0..3 {
        let deal = Deal::ready().await;
        let (at, file, cancel) = (deal.path(), format!("{}/evidence", deal.path()), format!("{}/cancel", deal.path()));
        let (one, other) = tokio::join!(deal.maren.get(&at), deal.kim.get(&at));
        let (typed, reason) = (evidence("recipient_confirmation", "250,000.00", IMAD), [("reason", "Paid in cash")]);
        let (filed, cancelled) =
            tokio::join!(send(&deal.maren, &one, &file, &typed), send(&deal.kim, &other, &cancel, &reason));
        let is_filed = filed.status == 303;
        let refused = if is_filed { &cancelled } else { &filed };
        assert_eq!((filed.status + cancelled.status, refused.status), (303 + 409, 409), "{}", refused.body);
        assert_says(refused, &["Nothing was changed", "by now, which doesn’t allow this."]);
        assert_eq!(deal.state().await, if is_filed { "processing" } else { "cancelled" });
        let count = deal.read().await["receipt"]["evidence_count"].as_u64();
        assert_eq!(count, is_filed.then_some(1));
        if is_filed {
            let page = deal.maren.get(&at).await;
            let accept = format!("{}/accept", newest(&page, IMAD));
            let shown = deal.maren.get(&accept).await;
            let (accepted, cancelled) =
                tokio::join!(send(&deal.maren, &shown, &accept, &[]), send(&deal.kim, &other, &cancel, &reason));
            assert_eq!((accepted.status, cancelled.status), (303, 409), "{} {}", accepted.body, cancelled.body);
            assert_eq!(deal.state().await, "reconciled");
        }
        let reconciled = |event: &&serde_json::Value| event["type"] == "movement.reconciled";
        assert_eq!(deal.org.events().await.iter().filter(reconciled).count(), usize::from(is_filed));
        // The reference counts for the payment only if it was filed.
        let second = beside(deal).await;
        let answer = second.act(&second.maren, "evidence", &typed).await;
        assert_eq!(answer.status, if is_filed { 409 } else { 303 }, "{}", answer.body);
    }
}

#[tokio::test]
async fn another_organizations_payment_takes_no_evidence_and_no_decision() {
    let (deal, stranger) = tokio::join!(Deal::claimed(), Deal::claimed());
    let filed = deal.file(&deal.maren, "recipient_confirmation", "250,000.00", "R-1").await;
    let own = stranger.file(&stranger.maren, "recipient_confirmation", "250,000.00", "R-1").await;
    let (_, id) = filed.split_once("/evidence/").expect("an id");
    let mixed = format!("{}/evidence/{id}", stranger.path());
    let (_, own_id) = own.split_once("/evidence/").expect("an id");
    let theirs = format!("{}/evidence/{own_id}", deal.path());
    let before = (deal.org.state().await, stranger.org.state().await);
    let form_token = stranger.maren.get(&stranger.path()).await.hidden("form_token");
    let token = ("form_token", form_token.as_str());
    let typed: Vec<_> = evidence("recipient_confirmation", "1.00", "R-2").into_iter().chain([token]).collect();
    let refused = stranger.maren.post(&format!("{}/evidence", deal.path()), &typed).await;
    assert_eq!(refused.status, 404, "{}", refused.body);
    for evidence in [&filed, &mixed, &theirs] {
        for act in ["accept", "reject", "withdraw"] {
            let typed = [token, ("reason", "Not ours"), ("received", "0")];
            let refused = stranger.maren.post(&format!("{evidence}/{act}"), &typed).await;
            assert_eq!(refused.status, 404, "{act} {evidence}: {}", refused.body);
        }
    }
    assert_eq!((deal.org.state().await, stranger.org.state().await), before);
}

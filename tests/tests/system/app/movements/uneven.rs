//! Payments that arrive with more or less than the amount: each can be finished, and its page names the next step.

use shared::domain::ids::MovementId;

use super::statements::{another, camt, entry, file, pair, review, state_of, uploaded};
use super::{CLAIM, Deal, assert_says, evidence, newest, path, submit};

async fn money(deal: &Deal) -> tests::app::Page {
    deal.maren.get("/app/money").await
}

#[tokio::test]
async fn an_overpaid_payment_is_reconciled_by_what_stayed() {
    let deal = Deal::claimed().await;
    let over = deal.file(&deal.maren, "receiving_bank_statement", "260,000.00", "S-1").await;
    let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &over).await).await;
    assert_says(
        &page,
        &[
            "More than the amount arrived. Decide what happens next.",
            "$260,000.00 USD counts as received, but $250,000.00 USD is due.",
            "withdraw that evidence, resolve with “Wait for proof”, and file evidence of exactly what stayed",
            "If all of the money went back, record the return.",
            ">Withdraw evidence</button>",
            ">Resolve</button>",
            ">Record return</button>",
        ],
    );
    assert!(!page.says("Cancel payment"), "all of it arrived: {}", page.body);
    let refused = deal.act(&deal.maren, "cancel", &[("reason", "x")]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);

    // The excess goes back, and the document that showed it is withdrawn. It stays an exception until resolved.
    let reason = [("reason", "The bank sent 10,000 back")];
    let done = submit(&deal.maren, &deal.path(), &format!("{over}/withdraw"), &reason).await;
    let page = deal.follow(&deal.maren, &done).await;
    assert_says(
        &page,
        &["counts as received now. Resolve it with “Wait for proof”, then file evidence of exactly what stayed."],
    );
    assert_eq!(deal.state().await, "exception");
    let page = deal.done(&deal.maren, "resolve", &[("resolution", "await_proof")]).await;
    assert_says(&page, &["Waiting for proof that it arrived."]);
    let typed = evidence("receiving_bank_statement", "250,000.00", "S-1 net");
    let filed = deal.try_to_file(&deal.maren, &typed, "advice.pdf", "S-1").await;
    let exact = newest(&deal.follow(&deal.maren, &filed).await, "S-1 net");
    let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &exact).await).await;
    assert_says(&page, &["Payment confirmed received"]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["receipt"]["received_minor"]), (&"reconciled".into(), &25_000_000.into()));
    assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
}

#[tokio::test]
async fn an_overpaid_payment_reconciles_once_it_is_said_what_became_of_the_surplus() {
    for (typed, sentence) in [
        (
            [("resolution", "surplus_returned"), ("returned_on", "17/3/2026"), ("surplus_note", "Fedwire, same day")],
            "USD 10,000.00 more than the amount arrived, and was returned.",
        ),
        (
            [("resolution", "surplus_kept"), ("returned_on", ""), ("surplus_note", "Ada Okafor, by phone: credit it")],
            "USD 10,000.00 more than the amount arrived, and is kept.",
        ),
    ] {
        let deal = Deal::claimed().await;
        let over = deal.file(&deal.maren, "receiving_bank_statement", "260,000.00", "S-1").await;
        let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &over).await).await;
        assert_says(&page, &["The surplus was returned: $10,000.00 USD", "The surplus is kept: $10,000.00 USD"]);
        let blank = [typed[0], ("returned_on", ""), ("surplus_note", " ")];
        let refused = deal.act(&deal.maren, "resolve", &blank).await;
        assert_eq!((refused.status, &*deal.state().await), (422, "exception"), "{}", refused.body);
        assert_says(&refused, &["Note on the surplus must"]);
        let page = deal.done(&deal.maren, "resolve", &typed).await;
        assert_says(&page, &["The payment is confirmed received.", typed[2].1, "Maren Holt"]);
        let read = deal.read().await;
        assert_eq!((&read["state"], &read["reconciled"]), (&"reconciled".into(), &true.into()));
        assert_eq!(read["receipt"]["received_minor"], 26_000_000, "the whole sum");
        let told = read["state_sentence"].as_str().expect("a sentence");
        assert!(told.starts_with("Confirmed received, by") && told.ends_with(sentence), "{told}");
        assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
    }
}

#[tokio::test]
async fn one_arrival_in_two_shapes_is_counted_twice_only_if_a_member_says_that_it_is_two() {
    let deal = Deal::claimed().await;
    let word = deal.file(&deal.maren, "recipient_confirmation", "125,000.00", "R-1").await;
    let line = deal.file(&deal.maren, "receiving_bank_statement", "125,000.00", "TRN 1").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &word).await).await;
    let at = format!("{line}/accept");
    let page = deal.kim.get(&at).await;
    assert_says(&page, &["This may be the same money as $125,000.00 USD", "These are two arrivals: count both"]);
    let refused = deal.accept(&deal.kim, &line).await;
    assert_eq!((refused.status, &*deal.state().await), (422, "processing"), "{}", refused.body);
    assert!(refused.title().starts_with("Error: "), "{}", refused.title());
    assert_says(&refused, &["These are two arrivals must be ticked to count what may be the same money as before."]);
    let page = deal.follow(&deal.kim, &submit(&deal.kim, &at, &at, &[("another", "on")]).await).await;
    assert_says(&page, &["Payment confirmed received", "Accepted as another arrival by Kim Sato"]);
    assert_eq!(deal.state().await, "reconciled");
}

#[tokio::test]
async fn one_transfer_proves_two_payments_only_if_a_member_says_that_it_is_two() {
    let mut deal = Deal::claimed().await;
    let first = deal.path();
    let filed = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "TRN 1").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;

    // The same transfer, from another file of the account.
    deal.id = another(&deal, "Second payment", "INV-118", 25_000_000).await;
    let again = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "S-1").await;
    let at = format!("{again}/accept");
    let same = "accepted for another payment. Accept it only if it is additional money.";
    let link = format!("<a href=\"{first}\">Closing payment</a>");
    assert_says(&deal.kim.get(&at).await, &[same, &link, "These are two arrivals: count both"]);
    let refused = deal.accept(&deal.kim, &again).await;
    assert_eq!((refused.status, &*deal.state().await), (422, "processing"), "{}", refused.body);
    assert_says(&refused, &[same, "These are two arrivals must be ticked"]);

    let reason = [("reason", "It paid the second one")];
    let withdrawn = submit(&deal.maren, &first, &format!("{filed}/withdraw"), &reason).await;
    assert_eq!(withdrawn.status, 303, "{}", withdrawn.body);
    assert!(!deal.kim.get(&at).await.says("another payment"));
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &again).await).await;
    assert_eq!(deal.state().await, "reconciled");
}

/// A statement with a batch, and a notification with its details, of which the first has a payment's reference.
fn batch_and_details(reference: &str) -> [Vec<u8>; 2] {
    let batch = camt("S-1", &[entry("200000.00", "CRDT", "BATCH-7", "Two payments INV-117")]);
    let detail = |amount: &str| {
        format!("<TxDtls><Amt Ccy=\"USD\">{amount}</Amt><RmtInf><Ustrd>{reference}</Ustrd></RmtInf></TxDtls>")
    };
    let details = entry("200000.00", "CRDT", "BATCH-7", "x");
    let (head, rest) = details.split_once("<NtryDtls>").expect("details");
    let (_, tail) = rest.split_once("</NtryDtls>").expect("details");
    let details = format!("{head}<NtryDtls>{}{}</NtryDtls>{tail}", detail("150000.00"), detail("50000.00"));
    [batch, camt("N-1", &[details])]
}

/// Files the first entry of a file for a payment, and returns the page on which a member accepts it.
async fn file_first(deal: &Deal, content: &[u8], id: MovementId) -> String {
    let at = uploaded(&deal.maren, "arrivals.xml", content).await;
    let page = deal.maren.get(&at).await;
    let filed = file(&deal.maren, &page, &at, &[pair(&page, 1, id)]).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
    format!("{}/accept", review(&deal.maren.get(&at).await))
}

#[tokio::test]
async fn a_batch_and_its_details_are_perhaps_the_same_money() {
    let deal = Deal::with_statements().await;
    for (content, status) in batch_and_details("INV-117").iter().zip([303, 422]) {
        let accept = file_first(&deal, content, deal.id).await;
        let accepted = submit(&deal.kim, &accept, &accept, &[]).await;
        assert_eq!(accepted.status, status, "{}", accepted.body);
    }
    assert_eq!(deal.read().await["receipt"]["received_minor"], 20_000_000);
}

#[tokio::test]
async fn a_batch_for_one_payment_and_its_details_for_another_are_perhaps_the_same_money() {
    for is_batch_first in [true, false] {
        let deal = Deal::with_statements().await;
        let second = another(&deal, "Second closing", "INV-118", 15_000_000).await;
        let [batch, details] = batch_and_details("INV-118");
        let (batch, details) = ((batch, deal.id), (details, second));
        let [before, after] = if is_batch_first { [batch, details] } else { [details, batch] };

        let accept = file_first(&deal, &before.0, before.1).await;
        assert_eq!(submit(&deal.kim, &accept, &accept, &[]).await.status, 303);
        let accept = file_first(&deal, &after.0, after.1).await;
        let refused = submit(&deal.kim, &accept, &accept, &[]).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        let link = format!("<a href=\"{}\">", path(before.1));
        assert_says(&refused, &["accepted for another payment", &link, "These are two arrivals must be ticked"]);
        assert_eq!(state_of(&deal.org, after.1).await, "processing");
        let accepted = submit(&deal.kim, &accept, &accept, &[("another", "on")]).await;
        assert_eq!(accepted.status, 303, "{}", accepted.body);
    }
}

#[tokio::test]
async fn of_several_documents_that_show_too_much_one_is_corrected() {
    let deal = Deal::claimed().await;
    for (amount, note) in [("200,000.00", "S-1"), ("60,000.00", "S-2")] {
        let filed = deal.file(&deal.maren, "receiving_bank_statement", amount, note).await;
        deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;
    }
    let page = deal.done(&deal.maren, "resolve", &[("resolution", "await_proof")]).await;
    assert_says(&page, &["2 pieces of proof from the receiving side are waiting for review."]);
    let [first, second] = ["S-1", "S-2"].map(|note| newest(&page, note));
    let done = submit(&deal.maren, &deal.path(), &format!("{second}/reject"), &[("reason", "10,000 went back")]).await;
    deal.follow(&deal.maren, &done).await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &first).await).await;
    let exact = deal.file(&deal.maren, "receiving_bank_statement", "50,000.00", "S-3").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &exact).await).await;
    assert_eq!(deal.state().await, "reconciled");
}

#[tokio::test]
async fn an_exception_that_a_member_flags_as_too_much_names_the_next_step_too() {
    let deal = Deal::claimed().await;
    let page = deal.done(&deal.maren, "exception", &[("reason", "amount_over"), ("note", "")]).await;
    assert_says(&page, &["More than the amount arrived", "$0.00 USD of $250,000.00 USD counts as received now."]);
    deal.done(&deal.maren, "resolve", &[("resolution", "await_proof")]).await;
    let exact = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "S-1").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &exact).await).await;
    assert_eq!(deal.state().await, "reconciled");
}

#[tokio::test]
async fn all_of_an_overpaid_payment_goes_back() {
    let deal = Deal::claimed().await;
    let over = deal.file(&deal.maren, "receiving_bank_statement", "260,000.00", "S-1").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &over).await).await;
    let page = deal.done(&deal.maren, "return", &[("reason", "All of it was sent back")]).await;
    assert_says(&page, &["Nothing is left to do: the money came back."]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["exception_reason"]), (&"returned".into(), &"returned".into()));
}

#[tokio::test]
async fn the_rest_of_a_payment_of_which_a_part_arrived_is_cancelled_in_one_step() {
    for is_sent_again in [false, true] {
        let deal = Deal::ready().await;
        deal.done(&deal.maren, "claim", &CLAIM).await;
        let part = deal.file(&deal.maren, "receiving_bank_statement", "100,000.00", "S-1").await;
        deal.follow(&deal.kim, &deal.accept(&deal.kim, &part).await).await;
        let short = [("reason", "amount_short"), ("note", "")];
        let mut page = deal.done(&deal.maren, "exception", &short).await;
        if is_sent_again {
            page = deal.done(&deal.maren, "resolve", &[("resolution", "send_again")]).await;
            assert_eq!(deal.state().await, "authorized");
        }
        assert_says(
            &page,
            &[
                "$100,000.00 USD of $250,000.00 USD is confirmed received. If the rest won’t be paid, cancel the payment",
                "$100,000.00 USD of $250,000.00 USD stays confirmed received. The rest will not be paid",
                ">Cancel payment</button>",
            ],
        );
        assert_says(&money(&deal).await, &["$150,000.00 USD"]);
        let page = deal.done(&deal.maren, "cancel", &[("reason", "The price was reduced")]).await;
        assert_says(&page, &["$100,000.00 USD of $250,000.00 USD had been confirmed received before that."]);
        let read = deal.read().await;
        assert_eq!((&read["state"], &read["reconciled"]), (&"cancelled".into(), &false.into()));
        assert_eq!(
            read["state_sentence"],
            "Cancelled. USD 100,000.00 of USD 250,000.00 has been confirmed received. The rest will not take place."
        );
        let ledger = money(&deal).await;
        assert_says(&ledger, &["$100,000.00 USD"]);
        assert!(!ledger.says("$150,000.00 USD"), "{}", ledger.body);
    }
}

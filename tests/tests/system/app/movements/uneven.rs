//! Payments of which more or less than the amount arrives: each has a way to its end, and its page names the next step.

use super::{CLAIM, Deal, assert_says, evidence, newest, submit};

/// The page of the ledger, with its totals.
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
            "More than the amount arrived. Decide how it goes on.",
            "$260,000.00 USD counts as received, but $250,000.00 USD is due.",
            "withdraw that evidence, resolve with “Wait for proof”, and file evidence of exactly what stayed",
            "If all of the money went back, record the return.",
            ">Withdraw evidence</button>",
            ">Resolve</button>",
            ">Record return</button>",
        ],
    );
    assert!(!page.says("Cancel movement"), "all of it arrived: {}", page.body);
    let refused = deal.act(&deal.maren, "cancel", &[("reason", "x")]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);

    // The difference goes back, and the document that showed too much is withdrawn. It stays an exception until it is resolved.
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
    // The same document is filed again, with what stayed of it.
    let typed = evidence("receiving_bank_statement", "250,000.00", "S-1 net");
    let filed = deal.try_to_file(&deal.maren, &typed, ("advice.pdf", "S-1")).await;
    let exact = newest(&deal.follow(&deal.maren, &filed).await, "S-1 net");
    let page = deal.follow(&deal.kim, &deal.accept(&deal.kim, &exact).await).await;
    assert_says(&page, &["Payment confirmed received"]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["receipt"]["received_minor"]), (&"reconciled".into(), &25_000_000.into()));
    assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
}

#[tokio::test]
async fn of_several_documents_that_show_too_much_one_is_corrected() {
    let deal = Deal::claimed().await;
    for (amount, note) in [("200,000.00", "S-1"), ("60,000.00", "S-2")] {
        let filed = deal.file(&deal.maren, "receiving_bank_statement", amount, note).await;
        deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;
    }
    // Resolved as it is, nothing counts until a member has looked at each again.
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
                "$100,000.00 USD of $250,000.00 USD is confirmed received. If the rest won’t be paid, cancel the movement",
                "$100,000.00 USD of $250,000.00 USD stays confirmed received. The rest will not be paid",
                ">Cancel movement</button>",
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
        // What arrived is in the totals for good, and the rest is owed no more.
        let ledger = money(&deal).await;
        assert_says(&ledger, &["$100,000.00 USD"]);
        assert!(!ledger.says("$150,000.00 USD"), "{}", ledger.body);
    }
}

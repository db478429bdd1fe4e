//! Arrivals that fit no payment: a member chooses one.

use super::statements::{camt, entry, file, pair, review, uploaded};
use super::{Deal, assert_says};

#[tokio::test]
async fn what_arrived_short_without_a_reference_is_filed_for_the_payment_that_a_member_chooses() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    let in_euros = entry("7.00", "CRDT", "B-3", "Gift").replace("USD", "EUR");
    let interest: Vec<String> = (4..24).map(|at| entry("1.00", "CRDT", &format!("B-{at}"), "Interest")).collect();
    let mut entries =
        vec![entry("249985.00", "CRDT", "B-1", "closing, less fees"), entry("5.00", "DBIT", "B-2", "Fee"), in_euros];
    entries.extend(interest);
    let at = uploaded(maren, "march.xml", &camt("S-1", &entries)).await;
    let page = maren.get(&at).await;
    assert_says(&page, &["<dt>Fit no payment</dt><dd>22</dd>", "Entries that fit no payment", "1 to 15 of 22"]);
    assert!(!page.says("type=\"checkbox\""), "none is offered for a payment by itself: {}", page.body);
    assert!(page.says("OKAFOR ADA · closing, less fees") && !page.says(">Entry 2<"), "{}", page.body);
    assert_says(&maren.get(&format!("{at}?others=15")).await, &["16 to 22 of 22"]);
    assert_eq!(maren.get(&format!("{at}?others=30")).await.location(), at);

    let alone = maren.get(&format!("{at}?entry=1")).await;
    assert_says(
        &alone,
        &[
            "Entry 1: $249,985.00 USD",
            "Closing payment, $250,000.00 USD",
            "Possible, amount differs",
            "$15.00 USD less than is due",
            "No reference of the payment is in the entry",
        ],
    );
    assert!(page.says(&format!("href=\"{at}?entry=1#fits\"")), "{}", page.body);
    let euros = maren.get(&format!("{at}?entry=3")).await;
    assert_says(&euros, &["No payment that waits for proof is in its currency."]);
    assert!(!euros.says(">File as evidence</button>"), "{}", euros.body);

    let done = file(maren, &alone, &at, &[pair(&alone, 1, deal.id)]).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(deal.state().await, "processing");
    assert_says(&maren.get(&at).await, &["<dt>Fit no payment</dt><dd>21</dd>"]);
    let accept = review(&maren.get(&at).await);
    deal.follow(&deal.kim, &deal.accept(&deal.kim, accept.trim_end_matches("/accept")).await).await;
    let read = deal.read().await;
    assert_eq!((&read["reconciled"], &read["receipt"]["received_minor"]), (&false.into(), &24_998_500.into()));
}

//! A sender's references may repeat with every payment without harm. A bank's reference counts once.

use tests::app::Browser;

use super::statements::{another, camt, entry, file, pair, review, state_of, uploaded};
use super::{Deal, assert_says, evidence, path, submit};

fn standing_order(day: &str, reference: &str) -> String {
    let refs = format!("<NtryDtls><TxDtls><Refs><EndToEndId>{reference}</EndToEndId></Refs>");
    entry("250000.00", "CRDT", "X", "Rent")
        .replace("<AcctSvcrRef>X</AcctSvcrRef>", "")
        .replace("<NtryDtls><TxDtls>", &refs)
        .replace("2026-03-18", day)
}

async fn prove(by: &Browser, name: &str, content: &[u8], id: shared::domain::ids::MovementId) {
    let at = uploaded(by, name, content).await;
    let page = by.get(&at).await;
    assert!(!page.says("It counts once."), "{}", page.body);
    let filed = file(by, &page, &at, &[pair(&page, 1, id)]).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
    let accept = format!("{}/accept", review(&by.get(&at).await));
    let done = submit(by, &accept, &accept, &[]).await;
    assert_eq!(done.status, 303, "{}", done.body);
}

#[tokio::test]
async fn the_second_months_payment_with_the_payers_reference_is_proven_too() {
    let deal = Deal::with_statements().await;
    let second = another(&deal, "Rent of April", "RENT", 25_000_000).await;
    for (name, day, id) in [("march.xml", "2026-03-18", deal.id), ("april.xml", "2026-04-18", second)] {
        let content = camt(name, &[standing_order(day, "RENT-4B")]);
        prove(&deal.maren, name, &content, id).await;
        assert_eq!(state_of(&deal.org, id).await, "reconciled");
    }
}

#[tokio::test]
async fn a_payers_reference_that_a_bank_repeats_as_its_own_is_claimed_by_no_payment() {
    let deal = Deal::with_statements().await;
    let second = another(&deal, "Rent of April", "INV-117", 25_000_000).await;
    for (name, day, id) in [("march.xml", "2026-03-18", deal.id), ("april.xml", "2026-04-18", second)] {
        let content = camt(name, &[entry("250000.00", "CRDT", "INV-117", "Rent").replace("2026-03-18", day)]);
        prove(&deal.maren, name, &content, id).await;
        assert_eq!(state_of(&deal.org, id).await, "reconciled");
    }
}

#[tokio::test]
async fn a_typed_reference_that_the_payer_chose_is_claimed_by_no_payment() {
    let deal = Deal::with_statements().await;
    let maren = &deal.maren;
    let second = another(&deal, "Rent of April", "INV-117", 25_000_000).await;
    deal.file(maren, "receiving_bank_statement", "250,000.00", "INV-117").await;
    let other = Deal { id: second, ..deal };
    other.file(&other.maren, "receiving_bank_statement", "250,000.00", "inv 117").await;
    assert_eq!(state_of(&other.org, second).await, "processing");
}

#[tokio::test]
async fn a_reference_that_the_sending_side_names_cannot_block_the_proof_of_another_payment() {
    let deal = Deal::with_statements().await;
    let second = another(&deal, "Second closing", "INV-118", 25_000_000).await;
    let imad = "20260318B1QGC08C000777";
    let typed = evidence("sender_bank_document", "250,000.00", imad);
    deal.follow(&deal.maren, &deal.try_to_file(&deal.maren, &typed, "sent.pdf", "Sent").await).await;

    let other = Deal { id: second, ..deal };
    let typed = evidence("receiving_bank_notification", "250,000.00", imad);
    other.follow(&other.maren, &other.try_to_file(&other.maren, &typed, "advice.pdf", "Advice").await).await;

    let third = another(&other, "Third closing", "INV-119", 25_000_000).await;
    let third = Deal { id: third, ..other };
    let refused = third.try_to_file(&third.maren, &typed, "other.pdf", "Another advice").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    let link = format!("<a href=\"{}\">Second closing, $250,000.00 USD</a>", path(second));
    assert_says(&refused, &["This bank reference is filed for another payment", &link]);
}

#[tokio::test]
async fn a_typed_reference_that_may_be_anyones_blocks_no_payment_and_asks_whether_there_are_two_arrivals() {
    let deal = Deal::with_statements().await;
    let first = deal.path();
    let second = another(&deal, "Second closing", "INV-118", 15_000_000).await;
    let own = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "TRN 7741").await;
    let other = Deal { id: second, ..deal };
    let theirs = other.file(&other.maren, "receiving_bank_notification", "150,000.00", "trn-7741").await;

    let at = format!("{own}/accept");
    assert_eq!(submit(&other.kim, &at, &at, &[]).await.status, 303, "what is undecided counts for nothing");
    let at = format!("{theirs}/accept");
    let link = format!("<a href=\"{first}\">Closing payment</a>");
    let asked = ["accepted for another payment", &link, "These are two arrivals: count both"];
    assert_says(&other.kim.get(&at).await, &asked);
    let refused = other.accept(&other.kim, &theirs).await;
    assert_eq!((refused.status, &*state_of(&other.org, second).await), (422, "processing"), "{}", refused.body);
    assert_eq!(submit(&other.kim, &at, &at, &[("another", "on")]).await.status, 303);
    assert_eq!(state_of(&other.org, second).await, "reconciled");
}

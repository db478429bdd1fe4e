//! Home: evidence to review, exceptions, instructions that were changed or have to be verified, the most urgent first; and the
//! payments on the page of their agreement.

use shared::domain::movement::state::ExceptionReason;
use shared::domain::movement::terms::PaymentTerms;
use shared::service::movements::MovementAct;
use tests::app::{Browser, Page};
use tests::pages::{BYTES_MAX, WAITS_MAX, visit};
use tests::payments::terms;

use super::{CLAIM, Deal, IBAN, assert_says, path, publish, publish_with, text};

/// The lines of Home's payments, each with its badge.
fn lines(page: &Page) -> Vec<String> {
    let body = text(page);
    let Some((_, section)) = body.split_once("<h2 id=\"payments\">") else { return Vec::new() };
    let section = section.split("</section>").next().unwrap_or_default();
    let badge = |line: &str| {
        let (_, rest) = line.rsplit_once("<span class=\"badge")?;
        Some(rest.split_once('>')?.1.split('<').next()?.to_owned())
    };
    section.split("<li class=\"row\">").skip(1).filter_map(badge).collect()
}

async fn home(browser: &Browser) -> Vec<String> {
    lines(&browser.get("/app").await)
}

#[tokio::test]
async fn home_lists_what_waits_for_a_member_the_most_urgent_first() {
    let deal = Deal::new().await;
    let (org, [maren, kim]) = (&deal.org, [&deal.people[0], &deal.people[1]]);
    assert_eq!(home(&deal.maren).await, [""; 0]);
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &super::ABA).await;
    assert_eq!(home(&deal.maren).await, [""; 0], "another member verifies them");
    assert_eq!(home(&deal.kim).await, ["Instructions to verify"]);
    deal.enter(&deal.maren, &IBAN).await;
    for browser in [&deal.maren, &deal.kim] {
        assert_eq!(home(browser).await, ["Instructions changed"], "all members are told");
    }
    let page = deal.kim.get("/app").await;
    assert_says(
        &page,
        &[
            &format!("href=\"{}\">Closing payment</a>", deal.path()),
            "$250,000.00 USD · Harbor purchase · changed by Maren Holt",
        ],
    );

    // Others wait for other things.
    let mut ids = Vec::new();
    for (name, purpose) in [("Second deal", "Deposit"), ("Third deal", "Balance"), ("Fourth deal", "Fee")] {
        let (agreement, id) = publish(org, maren, name, purpose).await;
        org.open_movement([maren, kim], id).await;
        ids.push((agreement, id));
    }
    org.act_on_movement(maren, ids[0].1, MovementAct::Flag(ExceptionReason::SuspectedFraud, None)).await;
    let proven = &ids[1];
    let form = format!("{}/evidence", path(proven.1));
    let typed = super::evidence("recipient_confirmation", "250,000", "R-9");
    assert_eq!(super::submit(&deal.maren, &path(proven.1), &form, &typed).await.status, 303);
    let page = deal.kim.get("/app").await;
    assert_eq!(lines(&page), ["Instructions changed", "Exception", "Evidence to review"], "{}", text(&page));
    assert_says(&page, &["suspected fraud", "Third deal"]);
    assert!(!page.says("All caught up") && !page.says("Fourth deal · "), "{}", text(&page));

    let (_, visited) = visit(org, &deal.kim, "/app", "the start").await;
    assert!(visited.waits <= WAITS_MAX && visited.bytes <= BYTES_MAX, "{visited:?}");
    // What is verified, resolved and decided is gone.
    deal.done(&deal.kim, "instructions/verify", &[("method", "call_back")]).await;
    assert_eq!(home(&deal.maren).await, ["Exception", "Evidence to review"]);
}

#[tokio::test]
async fn an_agreement_shows_its_payments_with_claim_and_proof_apart_and_names_them_in_conditions() {
    let deal = Deal::new().await;
    let at = deal.of_agreement();
    let page = deal.maren.get(&at).await;
    assert_says(
        &page,
        &[
            "Authorization of “Closing payment”",
            "Proof from the receiving side that “Closing payment” arrived",
            &format!("href=\"{}\">Payment: Closing payment</a>", deal.path()),
            "<h2 id=\"payments\">Payments</h2>",
            "<strong>$250,000.00 USD</strong> from Ada Okafor to Northwind Robotics, Inc. · due 20 Mar 2026",
        ],
    );
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &super::ABA).await;
    deal.done(&deal.kim, "instructions/verify", &[("method", "call_back")]).await;
    deal.done(&deal.kim, "instructions/release", &[]).await;
    deal.done(&deal.maren, "claim", &CLAIM).await;
    let page = deal.maren.get(&at).await;
    assert_says(&page, &["Says it was sent on 14 Mar 2026", "Fedwire IMAD 20260314B1QGC08C000123"]);
    assert!(!page.says("class=\"track proof confirmed\""), "{}", text(&page));
    let filed = deal.file(&deal.maren, "recipient_confirmation", "100,000.00", "R-1").await;
    assert_says(&deal.maren.get(&at).await, &["1 to review"]);
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;
    assert_says(&deal.maren.get(&at).await, &["$100,000.00 USD of $250,000.00 USD accepted"]);
    let filed = deal.file(&deal.maren, "receiving_bank_statement", "150,000.00", "R-2").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &filed).await).await;
    let page = deal.maren.get(&at).await;
    assert_says(
        &page,
        &["class=\"track proof confirmed\"", "By the recipient’s own confirmation", "Accepted evidence of a payment"],
    );
}

#[tokio::test]
async fn an_agreement_with_many_payments_shows_them_in_parts() {
    let deal = Deal::new().await;
    let draft = deal.org.ready_draft("Many payments", |draft| draft.stages.truncate(1)).await;
    for number in 0..30 {
        let purpose = format!("Installment {number:02} {}", "W".repeat(180));
        deal.org.payment(draft.id(), PaymentTerms { ..terms(&draft, &purpose, "INV-1") }).await;
    }
    deal.org
        .decide_at_once(&deal.people[0], draft.id(), shared::domain::proposal::ProposalAction::PublishAgreement)
        .await;
    let mut at = format!("/app/agreements/{}", draft.id());
    let mut seen = std::collections::BTreeSet::new();
    for expected in [12, 24, 30] {
        let (page, visited) = visit(&deal.org, &deal.maren, &at, "the start").await;
        assert!(visited.waits <= WAITS_MAX && visited.bytes <= BYTES_MAX, "{visited:?}");
        let body = text(&page);
        seen.extend(body.split(">Installment ").skip(1).map(|rest| rest[..2].to_owned()));
        assert_eq!(seen.len(), expected);
        at = format!("/app/agreements/{}?payments={expected}", draft.id());
        assert_eq!(body.contains(&format!("href=\"{at}#payments\"")), expected < 30, "{body}");
    }
    let id = publish_with(&deal.org, &deal.people[0], "One", |draft| terms(draft, "Only", "1")).await.1;
    assert_eq!(deal.maren.get(&path(id)).await.status, 200);
}

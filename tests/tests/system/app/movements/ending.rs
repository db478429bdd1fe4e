//! Ending an agreement with payments: not while money is in flight, and only after saying what becomes of each.

use futures_util::future::join;
use tests::app::{Browser, Page};
use tests::attending::hidden;
use tests::drafts::{Coming, make_due};

use super::{CLAIM, Deal, assert_says, send, text};

impl Deal {
    async fn propose_to_cancel(&self) -> String {
        let proposal = self.org.propose("cancel_agreement", &self.agreement).await;
        format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"))
    }

    async fn decided(&self, proposal: &str) -> (String, String) {
        let id = proposal.rsplit('/').next().expect("an id");
        let proposal = self.org.get(format!("/api/v1/proposals/{id}")).send().await.ok(200);
        let text = |value: &serde_json::Value| value.as_str().expect("a state").to_owned();
        (text(&proposal["state"]), text(&self.read_agreement().await["lifecycle"]))
    }
}

fn are(found: &(String, String), proposal: &str, agreement: &str) {
    assert_eq!((found.0.as_str(), found.1.as_str()), (proposal, agreement));
}

/// Confirms as if the page had the button, with every warning ticked.
async fn confirm(by: &Browser, page: &Page, path: &str) -> Page {
    let ticks = page.ticks();
    let ticked = ticks.iter().map(|name| (name.as_str(), "on"));
    let fields: Vec<_> = [("note", ""), ("decision", "confirm")].into_iter().chain(ticked).collect();
    send(by, page, path, &fields).await
}

#[tokio::test]
async fn an_agreement_is_not_cancelled_while_money_is_in_flight() {
    let deal = Deal::ready().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let proposal = deal.propose_to_cancel().await;
    let steps: [(&str, &[(&str, &str)]); 2] = [("claim", &CLAIM), ("ask-for-proof", &[])];
    for (act, typed) in steps {
        deal.done(maren, act, typed).await;
        assert_refused(&deal, &proposal).await;
    }
    deal.file(maren, "receiving_bank_statement", "250,000.00", "R-1").await;
    assert_eq!(deal.state().await, "processing");
    assert_refused(&deal, &proposal).await;

    deal.done(maren, "return", &[("reason", "Account closed")]).await;
    let page = kim.get(&proposal).await;
    assert!(page.says(">Confirm</button>") && !page.says("It can’t be confirmed"), "{}", text(&page));
    assert_eq!(confirm(kim, &page, &proposal).await.status, 303);
    are(&deal.decided(&proposal).await, "confirmed", "cancelled");
    assert_eq!(deal.state().await, "returned");
}

#[tokio::test]
async fn a_form_says_that_the_agreement_expires_with_the_last_money_on_its_way() {
    const EXPIRES: &str = "only this payment keeps it open: it expires at once.";
    let said = async |deal: &Deal| {
        let (page, form) =
            (deal.maren.get(&deal.path()).await, deal.maren.get(&format!("{}/instructions", deal.path())).await);
        assert!(page.says(">Flag exception</button>") && page.says(">Record return</button>"), "{}", text(&page));
        [text(&page).matches(EXPIRES).count(), text(&form).matches(EXPIRES).count()]
    };
    let deal = Deal::claimed().await;
    assert_eq!(said(&deal).await, [0, 0], "the agreement does not expire");
    make_due(&deal.org, &deal.agreement.id().to_string(), Coming::Expiry).await;
    assert_eq!(said(&deal).await, [3, 1], "flag, return and new instructions say so");
    assert_eq!(deal.read_agreement().await["lifecycle"], "active");
    deal.done(&deal.maren, "exception", &[("reason", "not_received")]).await;
    assert_eq!(deal.read_agreement().await["lifecycle"], "expired");
}

#[tokio::test]
async fn the_page_that_accepts_evidence_says_that_the_agreement_may_expire_by_it() {
    const KEPT: &str = "only this payment keeps it open: ";
    let deal = Deal::claimed().await;
    let exact = deal.file(&deal.maren, "receiving_bank_statement", "250,000.00", "R-1").await;
    let part = deal.file(&deal.maren, "receiving_bank_statement", "1,000.00", "R-2").await;
    let over = deal.file(&deal.maren, "receiving_bank_statement", "250,000.01", "R-3").await;
    let accepting = async |evidence: &str| deal.maren.get(&format!("{evidence}/accept")).await;
    assert!(!accepting(&exact).await.says(KEPT), "the agreement does not expire");
    make_due(&deal.org, &deal.agreement.id().to_string(), Coming::Expiry).await;
    let unless = "unless its arrival completes the agreement, it expires at once.";
    assert_says(&accepting(&exact).await, &[KEPT, unless]);
    assert_says(&accepting(&over).await, &[KEPT, "it expires at once."]);
    assert!(!accepting(&part).await.says(KEPT), "money stays on its way");
}

async fn assert_refused(deal: &Deal, proposal: &str) {
    let before = deal.read().await;
    let page = deal.kim.get(proposal).await;
    let on_its_way = format!("<a href=\"{}\">Wait until “Closing payment” has arrived or come back", deal.path());
    assert_says(&page, &["It can’t be confirmed yet:", &on_its_way]);
    assert!(!page.says(">Confirm</button>") && page.says(">Decline</button>"), "{}", text(&page));
    let refused = confirm(&deal.kim, &page, proposal).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.title().starts_with("Error:"), "{}", refused.title());
    assert_says(
        &refused,
        &["It can’t be confirmed yet", "Money is on its way; wait until it has arrived or come back", &on_its_way],
    );
    are(&deal.decided(proposal).await, "pending", "active");
    assert_eq!(deal.read().await, before);
}

#[tokio::test]
async fn of_a_claim_and_a_cancellation_at_once_one_takes_effect() {
    for round in 0..4 {
        let deal = Deal::ready().await;
        let (maren, kim) = (&deal.maren, &deal.kim);
        let proposal = deal.propose_to_cancel().await;
        let (review, payment) = (kim.get(&proposal).await, maren.get(&deal.path()).await);
        let action = format!("{}/claim", deal.path());
        assert!(!hidden(&payment, &action).is_empty());
        let claim = send(maren, &payment, &action, &CLAIM);
        let (claimed, cancelled) = join(claim, confirm(kim, &review, &proposal)).await;
        let outcome = (claimed.status == 303, cancelled.status == 303);
        assert!(outcome.0 != outcome.1, "{round}: {} {}", claimed.status, cancelled.status);
        if outcome.0 {
            // The claim came first: the decision's page is outdated, or says that money is on its way.
            assert!(matches!(cancelled.status, 409 | 422), "{}", cancelled.body);
            are(&deal.decided(&proposal).await, "pending", "active");
            assert_eq!(deal.state().await, "sender_reported");
        } else {
            assert!(matches!(claimed.status, 409 | 422), "{}", claimed.body);
            are(&deal.decided(&proposal).await, "confirmed", "cancelled");
            assert!(deal.read().await["claim"].is_null());
        }
    }
}

#[tokio::test]
async fn the_page_that_confirms_a_cancellation_says_what_becomes_of_each_payment() {
    let deal = Deal::ready().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let proposal = deal.propose_to_cancel().await;
    let row = |page: &Page| {
        let (_, rows) = page.body.split_once("<h2 id=\"payments\">Payments</h2>").expect("the payments");
        rows.split("</section>").next().unwrap_or_default().to_owned()
    };
    let page = kim.get(&proposal).await;
    assert_says(&page, &["<li>1 open payment is cancelled; the payer no longer sees its instructions.</li>"]);
    let link = format!("<a href=\"{}\">Closing payment</a>", deal.path());
    assert!(
        row(&page).contains(&link) && row(&page).contains("Instructions available to the sender"),
        "{}",
        row(&page)
    );
    assert!(!row(&page).contains("Incomplete"), "{}", row(&page));

    deal.done(maren, "claim", &CLAIM).await;
    let page = kim.get(&proposal).await;
    assert!(!page.says("open payment") && row(&page).contains("Sender says it was sent"), "{}", text(&page));
    deal.done(maren, "exception", &[("reason", "suspected_fraud")]).await;
    let page = kim.get(&proposal).await;
    assert_says(&page, &["<li>1 exception stays open.</li>", "Suspected fraud", ">Confirm</button>"]);
    assert_eq!(confirm(kim, &page, &proposal).await.status, 303);
    are(&deal.decided(&proposal).await, "confirmed", "cancelled");
    assert_eq!(deal.state().await, "exception");
}

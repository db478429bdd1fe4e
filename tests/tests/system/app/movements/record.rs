//! The record of a payment: what happened to it, who did it, and why.

use tests::app::Page;

use super::{Deal, text};

/// Fails unless the record says these texts in this order.
fn assert_records(page: &Page, texts: &[&str]) {
    let body = text(page);
    let (_, mut rest) = body.split_once("id=\"record\"").expect("a record");
    for expected in texts {
        (_, rest) = rest.split_once(expected).unwrap_or_else(|| panic!("{expected}: {body}"));
    }
}

#[tokio::test]
async fn the_record_keeps_an_exception_with_who_resolved_it_and_how() {
    let deal = Deal::claimed().await;
    let flagged = ["Needs attention", "Suspected fraud", "An odd call", "Maren Holt, "];
    let fraud = [("reason", "suspected_fraud"), ("note", "An odd call")];
    let page = deal.done(&deal.maren, "exception", &fraud).await;
    assert_records(&page, &flagged);
    let page = deal.done(&deal.kim, "resolve", &[("resolution", "await_proof")]).await;
    let resolved = ["Exception resolved", "Wait for proof", "Kim Sato, "];
    assert_records(&page, &[&flagged[..], &resolved].concat());

    deal.done(&deal.maren, "exception", &[("reason", "not_received"), ("note", "")]).await;
    let page = deal.done(&deal.kim, "resolve", &[("resolution", "send_again")]).await;
    let again =
        ["Needs attention", "It did not arrive", "Maren Holt, ", "Exception resolved", "Send again", "Kim Sato, "];
    assert_records(&page, &[&flagged[..], &resolved, &again].concat());

    deal.done(&deal.maren, "cancel", &[("reason", "The deal is off")]).await;
    let page = deal.maren.get(&deal.path()).await;
    assert_records(&page, &[&flagged[..], &resolved, &again, &["Cancelled", "The deal is off"]].concat());
}

#[tokio::test]
async fn the_safe_act_comes_first_where_fraud_is_suspected() {
    let deal = Deal::claimed().await;
    let first = |page: &Page| {
        let body = text(page);
        let (_, card) = body.split_once("<h2 id=\"next\">").expect("a next step");
        card.split("</section>").next().unwrap_or_default().to_owned()
    };
    let page = deal.done(&deal.maren, "exception", &[("reason", "suspected_fraud"), ("note", "")]).await;
    let card = first(&page);
    assert!(card.contains(">Cancel payment</button>") && !card.contains("Send again"), "{card}");
    assert!(page.says("<summary>Resolve…</summary>") && !page.says("<summary>Cancel payment…"), "{}", page.body);
    deal.done(&deal.kim, "resolve", &[("resolution", "await_proof")]).await;
    let page = deal.done(&deal.maren, "exception", &[("reason", "not_received"), ("note", "")]).await;
    let card = first(&page);
    assert!(card.contains("Send again") && !card.contains(">Cancel payment</button>"), "{card}");
}

#[tokio::test]
async fn home_says_who_cancelled_which_payment_and_how_much_it_was() {
    let deal = Deal::new().await;
    deal.done(&deal.maren, "cancel", &[("reason", "The deal is off")]).await;
    let home = text(&deal.kim.get("/app").await);
    let (_, changes) = home.split_once("<h2 id=\"changes\"").expect("the latest changes");
    let payment = format!("<a href=\"{}\">Closing payment, $250,000.00 USD</a>", deal.path());
    let said = format!("Maren Holt cancelled <span>{payment}</span>");
    assert!(changes.contains(&said), "{said}: {changes}");
}

/// Evidence may be of another amount than the payment.
#[tokio::test]
async fn acts_on_claims_and_evidence_name_the_payment_without_its_amount() {
    let deal = Deal::claimed().await;
    deal.file(&deal.maren, "receiving_bank_statement", "125,000.00", "TRN 1").await;
    let link = |called: &str| format!("<a href=\"{}\">{called}</a>", deal.path());
    let (title, in_full) = (link("Closing payment"), link("Closing payment, $250,000.00 USD"));
    let home = text(&deal.kim.get("/app").await);
    let (_, changes) = home.split_once("<h2 id=\"changes\"").expect("the latest changes");
    assert!(changes.contains(&format!("Maren Holt filed evidence of <span>{title}</span>")), "{changes}");
    for (operation, payment) in [("file_evidence", &title), ("record_claim", &title), ("authorize_movement", &in_full)]
    {
        let log = text(&deal.kim.get(&format!("/app/audit?operation={operation}")).await);
        assert!(log.contains(payment.as_str()), "{operation}: {log}");
    }
}

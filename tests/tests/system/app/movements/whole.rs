//! A payment from authorization to reconciliation, which completes the agreement; and each act sent twice.

use serde_json::json;
use tests::app::Page;

use super::{ABA, CLAIM, Deal, assert_says, claim_column, evidence, newest, read_out, send, text};

#[tokio::test]
async fn a_payment_goes_from_authorized_to_reconciled_and_completes_its_agreement() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let page = maren.get(&deal.path()).await;
    assert_says(
        &page,
        &[
            "<h1>Closing payment</h1>",
            "$250,000.00 USD",
            "Ada Okafor <span class=\"quiet small\">Payer</span>",
            "Northwind Robotics, Inc. <span class=\"quiet small\">Payee</span>",
            "20 Mar 2026",
            "Not set up yet",
            ">Harbor purchase</a>",
            "Authorizing lets Ada Okafor pay Northwind Robotics, Inc. $250,000.00 USD.",
            ">Authorize</button>",
            "No one has said that it was sent.",
            "Nothing shows that it arrived.",
            ">Cancel payment</button>",
        ],
    );
    for other in ["Release instructions", "Record sender's claim", "File evidence", "Flag exception", "Record return"] {
        assert!(!page.says(&format!(">{other}</button>")), "{other}");
    }

    let page = deal.done(maren, "authorize", &[]).await;
    assert_says(&page, &["Payment authorized", ">Enter instructions</a>"]);
    let page = deal.enter(maren, &ABA).await;
    assert_says(&page, &["Instructions entered", "…6789", "Not verified", "another member has to verify them"]);
    assert!(!page.says(">Verify instructions</button>"), "nobody verifies what they entered");
    let page = kim.get(&deal.path()).await;
    assert_says(
        &page,
        &["Call Northwind Robotics, Inc. at a number that you knew before", ">Verify instructions</button>"],
    );
    let page = deal.verify(kim, &ABA).await;
    assert_says(
        &page,
        &["Instructions verified", "Call back to a known number, by Kim Sato", ">Release instructions</button>"],
    );
    let page = deal.done(kim, "instructions/release", &[]).await;
    assert_says(
        &page,
        &["Instructions available to the sender", "Verified by a second member", ">Record sender's claim</button>"],
    );
    assert_eq!(deal.state().await, "instructions_ready");

    let page = deal.done(maren, "claim", &CLAIM).await;
    assert_says(
        &page,
        &[
            "Claim recorded",
            "Sender says it was sent",
            "Ada Okafor says it was sent",
            "<dt>Amount</dt><dd>Not stated</dd>",
            "<dt>The payment expects</dt><dd>$250,000.00 USD</dd>",
            "14 Mar 2026",
            "Fedwire IMAD",
            "20260314B1QGC08C000123",
            "Recorded by Maren Holt",
            ">Ask for proof</button>",
        ],
    );
    let page = deal.done(maren, "ask-for-proof", &[]).await;
    assert_says(
        &page,
        &[
            "Waiting for proof it arrived",
            ">File evidence</button>",
            "The sender’s word",
            "It proves nothing about the arrival.",
        ],
    );

    let proof = deal.file(maren, "receiving_bank_notification", "250,000.00", "TRN 7741").await;
    let page = maren.get(&deal.path()).await;
    assert_says(
        &page,
        &["Proof under review", "Review evidence", "Not the reference that the sender gave", "advice.pdf"],
    );
    assert_eq!(deal.read().await["reconciled"], false);
    let review = kim.get(&format!("{proof}/accept")).await;
    assert_says(
        &review,
        &[
            "Northwind Robotics, Inc. received $250,000.00 USD on 16 Mar 2026.",
            "The basis is: a notification of the receiving bank. A document of the receiving bank shows it.",
            "The full amount has arrived. The payment is confirmed received.",
            "The condition “Confirmed payment” of the step “Approval” is met.",
            "This completes the agreement.",
            "Maren Holt typed these facts. Compare them with the file.",
            ">Accept evidence</button>",
        ],
    );
    let page = deal.follow(kim, &deal.accept(kim, &proof).await).await;
    assert_says(
        &page,
        &[
            "Payment confirmed received",
            "The agreement is completed.",
            "Confirmed received",
            "Nothing is left to do",
            "Accepted by Kim Sato",
        ],
    );
    assert!(!claim_column(&page).contains("green"), "what is claimed is never green");

    let read = deal.read().await;
    assert_eq!((&read["state"], &read["confirmed_by"]["display_name"]), (&"reconciled".into(), &"Kim Sato".into()));
    assert_eq!(read["confirmation_basis"], "receiving_bank_notification");
    assert_eq!(deal.read_agreement().await["lifecycle"], "completed");
    let agreement = maren.get(&deal.of_agreement()).await;
    assert_says(
        &agreement,
        &[
            "Proof from the receiving side that “Closing payment” arrived",
            "Confirmed received",
            "By a notification of the receiving bank",
            "<li>Completed<span",
        ],
    );
    let events: Vec<String> = deal.org.events().await.iter().map(|event| event["type"].to_string()).collect();
    for event in ["\"movement.sender_reported\"", "\"movement.reconciled\"", "\"agreement.completed\""] {
        assert_eq!(events.iter().filter(|found| *found == event).count(), 1, "{event}: {events:?}");
    }
}

#[tokio::test]
async fn each_form_that_is_sent_twice_does_it_once() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let twice = async |by, page: &Page, action: &str, typed: &[(&str, &str)]| {
        let action = format!("{}/{action}", deal.path());
        let first = send(by, page, &action, typed).await;
        assert_eq!(first.status, 303, "{action}: {}", first.body);
        let before = deal.org.state().await;
        let second = send(by, page, &action, typed).await;
        assert_eq!((second.status, second.location()), (303, first.location()), "{action}: {}", second.body);
        assert_eq!(deal.org.state().await, before, "{action}");
    };
    let at = deal.path();
    twice(maren, &maren.get(&at).await, "authorize", &[]).await;
    twice(maren, &maren.get(&format!("{at}/instructions")).await, "instructions", &ABA).await;
    let page = kim.get(&at).await;
    twice(kim, &page, "instructions/verify", &read_out(&ABA)).await;
    twice(kim, &kim.get(&at).await, "instructions/release", &[]).await;
    twice(maren, &maren.get(&at).await, "claim", &CLAIM).await;
    twice(maren, &maren.get(&at).await, "ask-for-proof", &[]).await;
    let confirmation = evidence("recipient_confirmation", "100,000", "R-1");
    twice(maren, &maren.get(&at).await, "evidence", &confirmation).await;
    let own = newest(&maren.get(&at).await, "R-1");
    let (_, own) = own.split_once("/evidence/").expect("an id");
    let page = kim.get(&format!("{at}/evidence/{own}/accept")).await;
    twice(kim, &page, &format!("evidence/{own}/accept"), &[]).await;
    assert_says(&kim.get(&at).await, &["$100,000.00 USD of $250,000.00 USD accepted"]);
    twice(maren, &maren.get(&at).await, "evidence", &evidence("recipient_confirmation", "150,000", "R-2")).await;
    let second = newest(&maren.get(&at).await, "R-2");
    let (_, second) = second.split_once("/evidence/").expect("an id");
    twice(maren, &maren.get(&at).await, &format!("evidence/{second}/reject"), &[("reason", "Not ours")]).await;
    twice(maren, &maren.get(&at).await, &format!("evidence/{own}/withdraw"), &[("reason", "A mistake")]).await;
    assert_eq!(deal.state().await, "exception");
    twice(maren, &maren.get(&at).await, "resolve", &[("resolution", "await_proof")]).await;
    twice(maren, &maren.get(&at).await, "exception", &[("reason", "amount_short"), ("note", "")]).await;
    twice(maren, &maren.get(&at).await, "return", &[("reason", "The bank sent it back")]).await;
    assert_eq!(deal.state().await, "returned");
    assert_says(&maren.get(&at).await, &["the money came back", "The bank sent it back"]);

    let other = Deal::new().await;
    let page = other.maren.get(&other.path()).await;
    let action = format!("{}/cancel", other.path());
    for _ in 0..2 {
        let done = send(&other.maren, &page, &action, &[("reason", "Paid in cash")]).await;
        assert_eq!(done.status, 303, "{}", text(&done));
    }
    assert_eq!(other.state().await, "cancelled");
}

#[tokio::test]
async fn refusals_say_why_and_keep_what_was_typed() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let before = deal.org.state().await;
    // Forms that the page doesn't offer, as from an outdated page.
    for (act, typed, why) in [
        (
            "instructions/verify",
            read_out(&ABA).into_iter().chain([("revision", "1")]).collect(),
            "Enter the instructions first.",
        ),
        ("instructions/release", vec![("revision", "1")], "The payment’s state is “Not set up yet” by now"),
        ("claim", CLAIM.to_vec(), "The payment’s state is “Not set up yet” by now"),
        ("ask-for-proof", vec![], "The payment’s state is “Not set up yet” by now"),
        (
            "evidence",
            evidence("recipient_confirmation", "1", "").to_vec(),
            "The payment’s state is “Not set up yet” by now",
        ),
        ("exception", vec![("reason", "duplicate")], "The payment’s state is “Not set up yet” by now"),
        ("resolve", vec![("resolution", "send_again")], "The payment’s state is “Not set up yet” by now"),
        ("return", vec![("reason", "It came back")], "The payment’s state is “Not set up yet” by now"),
    ] {
        let refused = deal.act(maren, act, &typed).await;
        assert_eq!(refused.status, 409, "{act}: {}", refused.body);
        assert_says(&refused, &["Nothing was changed", why]);
    }
    for (act, typed, why) in [
        ("cancel", vec![("reason", " ")], "Reason must"),
        ("instructions/verify", vec![("revision", "1"), ("method", "")], "must be chosen"),
        ("claim", vec![("sent_on", "soon"), ("reference", "QX7")], "must be chosen"),
        ("claim", vec![("sent_on", "14/3/2126")], "must not be in the future"),
        ("exception", vec![("reason", "returned")], "Choose another reason"),
    ] {
        let refused = deal.act(maren, act, &typed).await;
        assert!(matches!(refused.status, 409 | 422), "{act}: {}", refused.body);
        if act == "cancel" {
            assert_says(&refused, &[why]);
            assert!(refused.title().starts_with("Error: "), "{}", refused.title());
        }
    }
    assert_eq!(deal.org.state().await, before);

    let deal = Deal::ready().await;
    for (typed, why) in [
        ([("sent_on", "soon"), ("reference_type", ""), ("reference", "QX7")], "Sent on must be a date"),
        ([("sent_on", "14/3/2126"), ("reference_type", ""), ("reference", "")], "Sent on must not be in the future"),
        ([("sent_on", "14/3/2026"), ("reference_type", ""), ("reference", "QX7")], "Reference type must be chosen"),
        ([("sent_on", "14/3/2026"), ("reference_type", "uetr"), ("reference", "QX7")], "Reference must be a UUID"),
        ([("sent_on", "14/3/2026"), ("reference_type", "uetr"), ("reference", "")], "Reference is missing"),
    ] {
        let refused = deal.act(&deal.maren, "claim", &typed).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &[why, &format!("value=\"{}\"", typed[0].1)]);
        assert_eq!(refused.body.matches(" autofocus").count(), 1, "{}", refused.body);
    }
    let page = kim.get(&deal.path()).await;
    assert_eq!(page.status, 404, "another organization’s payment does not exist");
    let page = deal.kim.get(&deal.path()).await;
    deal.done(&deal.maren, "claim", &CLAIM).await;
    let late = send(&deal.kim, &page, &format!("{}/claim", deal.path()), &CLAIM).await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert_says(&late, &["The payment’s state is “Sender says it was sent” by now"]);
}

#[tokio::test]
async fn a_condition_names_the_participant_whom_the_payment_waits_for() {
    let deal = Deal::new().await;
    let [from, to] = [0, 1].map(|place| json!([deal.agreement.participants[place].id]));
    let assert_waits_for = async |expected: &serde_json::Value| {
        let read = deal.read_agreement().await;
        let gates = read["stages"][0]["gates"].as_array().expect("gates").clone();
        let of = |kind: &str| gates.iter().find(|gate| gate["type"] == kind).expect("a gate").clone();
        assert_eq!(&of("movement_reconciled")["waiting_on_participant_ids"], expected, "{read}");
        assert_eq!(of("movement_authorized")["waiting_on_participant_ids"], json!([]), "members authorize");
    };
    let none = json!([]);
    assert_waits_for(&none).await;
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &ABA).await;
    deal.verify(&deal.kim, &ABA).await;
    assert_waits_for(&none).await;
    deal.done(&deal.kim, "instructions/release", &[]).await;
    assert_waits_for(&from).await;
    deal.done(&deal.maren, "claim", &CLAIM).await;
    assert_waits_for(&to).await;
    deal.done(&deal.maren, "ask-for-proof", &[]).await;
    assert_waits_for(&to).await;
    let proof = deal.file(&deal.maren, "receiving_bank_notification", "250,000.00", "TRN 7741").await;
    assert_waits_for(&none).await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &proof).await).await;
    assert_waits_for(&none).await;
}

fn figure(page: &Page, name: &str) -> String {
    let (_, rest) = page.body.split_once(&format!("<dt>{name}</dt><dd>")).unwrap_or_else(|| panic!("no {name}"));
    let shown = rest.split("</dd>").next().unwrap_or_default();
    shown.split('>').filter_map(|part| part.split('<').next()).collect()
}

#[tokio::test]
async fn a_deals_page_opens_with_what_is_owed_claimed_and_proven() {
    let deal = Deal::new().await;
    let figures = async || {
        let page = deal.maren.get(&deal.of_agreement()).await;
        ["Amount", "Owed", "Claimed, not proven", "Proven received"].map(|name| figure(&page, name))
    };
    let (all, none) = ("$250,000.00 USD", "None");
    assert_eq!(figures().await, [all, all, none, none]);
    let page = deal.maren.get(&deal.of_agreement()).await;
    assert!(figure(&page, "Waiting for").contains("authorize"), "{}", page.body);

    let deal = Deal::claimed().await;
    let figures = async || {
        let page = deal.maren.get(&deal.of_agreement()).await;
        ["Amount", "Owed", "Claimed, not proven", "Proven received"].map(|name| figure(&page, name))
    };
    assert_eq!(figures().await, [all, all, all, none]);
    let proof = deal.file(&deal.maren, "receiving_bank_notification", "100,000.00", "TRN 7741").await;
    deal.follow(&deal.kim, &deal.accept(&deal.kim, &proof).await).await;
    assert_eq!(figures().await, [all, "$150,000.00 USD", "$150,000.00 USD", "$100,000.00 USD"]);
    assert!(!deal.maren.get(&deal.of_agreement()).await.says("money to pass on"));
}

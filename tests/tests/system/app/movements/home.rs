//! Home: evidence, exceptions and instructions by urgency; and payments on their agreement's page.

use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::agreement::{Agreement, StageAction};
use shared::domain::ids::MovementId;
use shared::domain::movement::state::ExceptionReason;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use shared::service::movements::MovementAct;
use tests::app::{Browser, Page, Person};
use tests::attending::Live;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Coming, Drafted};
use tests::pages::{BYTES_MAX, WAITS_MAX, visit};
use tests::payments::terms;
use tests::{Org, eventually, obligations};

use super::{ABA, CLAIM, Deal, IBAN, assert_says, path, publish_until, publish_with, text};

fn lines(page: &Page) -> Vec<String> {
    let body = text(page);
    let Some((_, section)) = body.split_once("<h2 id=\"needs\">") else { return Vec::new() };
    let section = section.split("</section>").next().unwrap_or_default();
    let badge = |line: &str| {
        let (_, rest) = line.rsplit_once("<span class=\"badge")?;
        Some(rest.split_once('>')?.1.split('<').next()?.to_owned())
    };
    let payments = section.split("<li class=\"row\">").skip(1).filter(|line| line.contains(">Payment · "));
    payments.filter_map(badge).collect()
}

pub(super) async fn home(browser: &Browser) -> Vec<String> {
    lines(&browser.get("/app").await)
}

async fn due_in(days: i32) -> Deal {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let (maren, kim) = (Browser::of(&org, &people[0]).await, Browser::of(&org, &people[1]).await);
    let (agreement, id) = publish_due(&org, &people[0], "Harbor purchase", "Closing payment", days).await;
    Deal { org, people, maren, kim, agreement, id }
}

pub(super) async fn publish_due(
    org: &Org,
    by: &Person,
    name: &str,
    purpose: &str,
    days: i32,
) -> (Agreement, MovementId) {
    let due_on = Some(obligations::day(days));
    publish_with(org, by, name, |draft| PaymentTerms { due_on, ..terms(draft, purpose, "INV-117") }).await
}

#[tokio::test]
async fn home_lists_what_waits_for_a_member_the_most_urgent_first() {
    let deal = due_in(10).await;
    let (org, [maren, kim]) = (&deal.org, [&deal.people[0], &deal.people[1]]);
    for browser in [&deal.maren, &deal.kim] {
        assert_eq!(home(browser).await, ["To authorize"]);
    }
    let page = deal.maren.get("/app").await;
    assert!(!page.says("All caught up") && !page.says("Waiting on others"), "{}", text(&page));
    assert_says(&page, &["One thing needs you.", "To authorize"]);
    deal.done(&deal.maren, "authorize", &[]).await;
    assert_eq!(home(&deal.kim).await, ["Instructions to enter"]);
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
            &format!("Payment · Harbor purchase · due {} · changed by Maren Holt", obligations::day(10).for_people()),
            "<span class=\"queue-amount\">$250,000.00 USD</span>",
        ],
    );

    let mut ids = Vec::new();
    for (name, purpose) in [("Second deal", "Deposit"), ("Third deal", "Balance"), ("Fourth deal", "Fee")] {
        let (agreement, id) = publish_due(org, maren, name, purpose, 10).await;
        org.open_movement([maren, kim], id).await;
        ids.push((agreement, id));
    }
    org.act_on_movement(maren, ids[0].1, MovementAct::Flag(ExceptionReason::SuspectedFraud, None)).await;
    let proven = &ids[1];
    let form = format!("{}/evidence", path(proven.1));
    let typed = super::evidence("recipient_confirmation", "250,000", "R-9");
    assert_eq!(super::submit(&deal.maren, &path(proven.1), &form, &typed).await.status, 303);
    let page = deal.kim.get("/app").await;
    assert_eq!(lines(&page), ["Instructions changed", "Suspected fraud", "Evidence to review"], "{}", text(&page));
    assert_says(&page, &["Second deal", "Third deal"]);
    for (agreement, payment, words) in
        [(&deal.agreement, deal.id, "Instructions changed"), (&ids[0].0, ids[0].1, "Suspected fraud")]
    {
        for at in ["/app/money".to_owned(), path(payment), format!("/app/agreements/{}", agreement.id())] {
            let page = deal.kim.get(&at).await;
            assert!(page.says(&format!("<span class=\"badge red\">{words}</span>")), "{at}: {}", text(&page));
        }
    }
    assert!(!page.says("All caught up") && !page.says("Fourth deal · "), "{}", text(&page));

    let (_, visited) = visit(org, &deal.kim, "/app", "the start").await;
    assert!(visited.waits <= WAITS_MAX && visited.bytes <= BYTES_MAX, "{visited:?}");
    deal.verify(&deal.kim, &super::IBAN).await;
    assert_eq!(home(&deal.maren).await, ["Suspected fraud", "Evidence to review", "Instructions to release"]);
    deal.done(&deal.kim, "instructions/release", &[]).await;
    assert_eq!(home(&deal.maren).await, ["Suspected fraud", "Evidence to review"]);
}

#[tokio::test]
async fn an_overdue_payment_is_on_home_whoever_has_to_act() {
    let deal = due_in(-3).await;
    let due = format!("due {}", obligations::day(-3).for_people());
    let overdue = async |more: &str| {
        let page = deal.kim.get("/app").await;
        assert_eq!(lines(&page), ["Overdue"], "{more}: {}", text(&page));
        assert_says(&page, &[&format!("Payment · Harbor purchase · {due}{more}")]);
    };
    overdue(" · To authorize").await;
    deal.done(&deal.maren, "authorize", &[]).await;
    overdue(" · Instructions to enter").await;
    deal.enter(&deal.maren, &super::ABA).await;
    overdue(" · Instructions to verify").await;
    deal.verify(&deal.kim, &super::ABA).await;
    overdue(" · Instructions to release").await;
    deal.done(&deal.kim, "instructions/release", &[]).await;
    overdue(" · Ada Okafor to pay").await;
    for (act, typed) in [("claim", &CLAIM[..]), ("ask-for-proof", &[])] {
        deal.done(&deal.maren, act, typed).await;
        overdue(" · Proof that it arrived").await;
    }
    // A draft's payment, or one due today, isn't overdue; an exception shows as such, with its due date.
    let draft = deal.org.ready_draft("Drafted", |_| {}).await;
    let due_on = Some(obligations::day(-3));
    let planned = deal.org.payment(draft.id(), PaymentTerms { due_on, ..terms(&draft, "Planned", "P-1") }).await;
    let page = deal.kim.get(&path(planned)).await;
    assert!(page.says("Planned") && !page.says("Overdue"), "{}", text(&page));
    for (at, is_overdue) in [(deal.of_agreement(), true), (format!("/app/agreements/{}", draft.id()), false)] {
        let page = deal.kim.get(&at).await;
        let (header, _) = page.body.split_once("</dl>").expect("the header of the deal");
        assert!(header.contains("Payment due") && header.contains(&obligations::day(-3).for_people()), "{header}");
        assert_eq!(header.contains("Overdue"), is_overdue, "{header}");
    }
    publish_due(&deal.org, &deal.people[0], "Second deal", "Due today", 0).await;
    let page = deal.kim.get("/app").await;
    assert_eq!(lines(&page), ["Overdue", "To authorize"], "{}", text(&page));
    let listed = text(&deal.kim.get("/app/agreements").await).matches("Overdue: </span>").count();
    assert_eq!(listed, 1, "neither the draft nor what is due today");
    assert_says(&deal.kim.get(&deal.path()).await, &["<span class=\"badge red\">Overdue</span>"]);
    deal.done(&deal.maren, "exception", &[("reason", "not_received")]).await;
    let page = deal.kim.get("/app").await;
    assert_eq!(lines(&page), ["Needs attention", "To authorize"], "{}", text(&page));
    assert_says(&page, &[&format!("{due} · it did not arrive")]);
}

/// The conditions of the agreement no longer say whom the payment waits for.
#[tokio::test]
async fn an_overdue_payment_of_a_completed_agreement_is_on_home_with_whom_it_waits_for() {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let (maren, kim) = (Browser::of(&org, &people[0]).await, Browser::of(&org, &people[1]).await);
    let due_on = Some(obligations::day(-3));
    let terms = |draft: &Agreement| PaymentTerms { due_on, ..terms(draft, "Closing payment", "INV-117") };
    let until = Some(Countdown::At(obligations::days_ago(-1)));
    let conditions = |id| vec![GateRule::MovementAuthorized { movement_id: Some(id) }, GateRule::Countdown { until }];
    let (agreement, id) = publish_until(&org, &people[0], "Harbor purchase", terms, conditions).await;
    let deal = Deal { org, people, maren, kim, agreement, id };
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &ABA).await;
    deal.verify(&deal.kim, &ABA).await;
    deal.done(&deal.kim, "instructions/release", &[]).await;
    drafts::make_due(&deal.org, &deal.agreement.id().to_string(), Coming::Countdown).await;
    let clock = Clockwork::of(&deal.org);
    eventually("the agreement is completed", async || {
        clock.tick().await;
        (deal.read_agreement().await["lifecycle"] == "completed").then_some(())
    })
    .await;
    let (page, visited) = visit(&deal.org, &deal.kim, "/app", "the start").await;
    assert_eq!(lines(&page), ["Overdue"], "{}", text(&page));
    let due = obligations::day(-3).for_people();
    assert_says(&page, &[&format!("Payment · Harbor purchase · due {due} · Ada Okafor to pay")]);
    assert!(visited.waits <= WAITS_MAX && visited.bytes <= BYTES_MAX, "{visited:?}");
}

#[tokio::test]
async fn what_is_longest_overdue_comes_first_however_long_it_waits_for_its_next_act() {
    let deal = due_in(-3).await;
    let (org, maren) = (&deal.org, &deal.people[0]);
    publish_due(org, maren, "Second deal", "Long overdue", -300).await;
    publish_due(org, maren, "Third deal", "Overdue for a month", -30).await;
    let page = deal.kim.get("/app").await;
    let at = |title: &str| page.body.find(&format!(">{title}</a>")).expect("a line");
    let places = ["Long overdue", "Overdue for a month", "Closing payment"].map(at);
    assert!(places.is_sorted(), "{}", text(&page));
}

#[tokio::test]
async fn what_is_due_or_ends_soon_comes_before_what_has_waited_longer() {
    let deal = due_in(90).await;
    let (org, maren) = (&deal.org, &deal.people[0]);
    publish_due(org, maren, "Second deal", "Due in six days", 6).await;
    let draft = org.ready_draft("Quay lease", |_| ()).await;
    org.propose("publish_agreement", &draft).await;
    publish_due(org, maren, "Third deal", "Due tomorrow", 1).await;
    let page = deal.kim.get("/app").await;
    let at = |title: &str| page.body.find(&format!(">{title}</a>")).unwrap_or_else(|| panic!("{title}: {}", page.body));
    // A proposal is open for three days.
    let places = ["Due tomorrow", "Publish “Quay lease”", "Due in six days", "Closing payment"].map(at);
    assert!(places.is_sorted(), "{places:?}: {}", text(&page));
}

#[tokio::test]
async fn a_payment_waits_on_home_for_no_member_before_its_step() {
    let org = Org::new().await;
    let maren = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &maren).await;
    let draft = org
        .ready_draft("Two steps", |draft| {
            draft.documents.clear();
            draft.stages.truncate(2);
            draft.stages[0].actions = [StageAction::OpenMovement].into();
            draft.stages[1].gates.clear();
        })
        .await;
    let id = org.payment(draft.id(), PaymentTerms { due_on: None, ..terms(&draft, "Deposit", "D-1") }).await;
    let mut after = Drafted::of(&org, &draft.id().to_string()).await.agreement;
    let rule = GateRule::MovementAuthorized { movement_id: Some(id) };
    (after, _) = after.add_gate(draft.stages[1].id, rule, after.updated_at).expect("a gate");
    org.edit(&after).await;
    org.decide_at_once(&maren, draft.id(), ProposalAction::PublishAgreement).await;
    let page = browser.get("/app").await;
    assert_eq!(lines(&page), [""; 0], "{}", text(&page));
    assert!(page.says("<h2 id=\"waiting\">") && !page.says("<h2 id=\"needs\">"), "{}", text(&page));
}

#[tokio::test]
async fn payments_that_wait_for_their_step_hide_none_that_waits_for_a_member() {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let draft = org
        .ready_draft("One step", |draft| {
            draft.documents.clear();
            draft.stages.truncate(1);
            draft.stages[0].gates.truncate(1);
            draft.stages[0].actions = [StageAction::ReleaseInstructions].into();
        })
        .await;
    let mut ids = Vec::new();
    // More than Home reads.
    for n in 0..22 {
        let terms = PaymentTerms { due_on: None, ..terms(&draft, &format!("Installment {n:02}"), "D-1") };
        ids.push(org.payment(draft.id(), terms).await);
    }
    org.decide_at_once(&people[0], draft.id(), ProposalAction::PublishAgreement).await;
    let kim = Browser::of(&org, &people[1]).await;
    assert_says(&kim.get("/app").await, &["22 things need you.", "12 more payments"]);
    let last = ids.pop().expect("the last");
    for id in ids {
        org.prepare_movement([&people[0], &people[1]], id).await;
    }
    org.act_on_movement(&people[0], last, MovementAct::Authorize).await;
    let page = kim.get("/app").await;
    assert_eq!(lines(&page), ["Instructions to enter"], "{}", text(&page));
    assert_says(&page, &["One thing needs you.", "Installment 21"]);
}

#[tokio::test]
async fn nobody_is_asked_to_prepare_a_payment_while_a_condition_is_declined() {
    let org = Org::new().await;
    let maren = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org
        .ready_draft("Two steps", |draft| {
            draft.documents.clear();
            draft.stages.truncate(2);
            draft.stages[0].gates.truncate(1);
            draft.stages[0].actions.clear();
            draft.stages[1].gates.clear();
        })
        .await;
    let id = org.payment(draft.id(), PaymentTerms { due_on: None, ..terms(&draft, "Deposit", "D-1") }).await;
    let mut after = Drafted::of(&org, &draft.id().to_string()).await.agreement;
    let rule = GateRule::MovementAuthorized { movement_id: Some(id) };
    (after, _) = after.add_gate(draft.stages[1].id, rule, after.updated_at).expect("a gate");
    org.edit(&after).await;
    let live = Live::publish(org, maren, after).await;
    assert_eq!(home(&live.member).await, ["To authorize"], "no step holds it back");
    let ada = live.attend(live.ids()[0]).await;
    let condition = format!("/conditions/{}", live.agreement.stages[0].gates[0].id);
    let declined = ada.submit(&condition, &format!("{condition}/decline"), &[("reason", "The price is off")]).await;
    assert_eq!(declined.status, 303, "{}", declined.body);
    let page = live.member.get("/app").await;
    assert_eq!(lines(&page), [""; 0], "{}", text(&page));
    assert_says(&page, &["One thing needs you.", "Declined by Ada Okafor"]);
    let page = live.member.get("/app/money").await;
    assert_says(&page, &["Declined by Ada Okafor"]);
    assert!(!page.says("A member to authorize it"), "{}", text(&page));
    let page = live.member.get(&path(id)).await;
    assert_says(&page, &["Ada Okafor declined a condition, so the agreement may not go on.", ">Authorize</button>"]);
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
    deal.verify(&deal.kim, &super::ABA).await;
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
        &[
            "class=\"track proof confirmed\"",
            "By the recipient’s own confirmation",
            "Accepted evidence of the payment “Closing payment”",
        ],
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

#[tokio::test]
async fn a_payment_that_needs_a_decision_heads_its_deal_whatever_the_deal_waits_for() {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let (maren, kim) = (Browser::of(&org, &people[0]).await, Browser::of(&org, &people[1]).await);
    let without_actions = |draft: &mut Agreement| draft.stages.iter_mut().for_each(|stage| stage.actions.clear());
    let agreement = org.ready_draft("Harbor purchase", without_actions).await;
    let id = org.payment(agreement.id(), terms(&agreement, "Deposit", "INV-117")).await;
    org.decide_at_once(&people[0], agreement.id(), ProposalAction::PublishAgreement).await;
    let deal = Deal { org, people, maren, kim, agreement, id };
    deal.done(&deal.maren, "authorize", &[]).await;
    deal.enter(&deal.maren, &ABA).await;
    deal.verify(&deal.kim, &ABA).await;
    deal.done(&deal.kim, "instructions/release", &[]).await;
    deal.done(&deal.maren, "claim", &CLAIM).await;
    let page = deal.maren.get(&deal.of_agreement()).await;
    assert!(!page.says("Decide about the payment"), "{}", page.body);
    deal.done(&deal.maren, "exception", &[("reason", "suspected_fraud")]).await;
    let page = deal.maren.get(&deal.of_agreement()).await;
    let header = text(&page);
    let (_, header) = header.split_once("<dt>Waiting for</dt>").expect("whom it waits for");
    let first = header.split("</a>").next().expect("its act");
    assert!(
        first.contains("A member to decide about “Deposit”") && first.ends_with("Decide about the payment"),
        "{first}"
    );
    assert_says(&page, &[" to approve"]);
    deal.org.propose("cancel_agreement", &deal.agreement).await;
    let page = text(&deal.maren.get(&deal.of_agreement()).await);
    let (_, header) = page.split_once("<dt>Waiting for</dt>").expect("whom it waits for");
    let waits = ["A member to decide about “Deposit”", "A member to decide about the proposal", " to approve"];
    let places = waits.map(|text| header.find(text).unwrap_or_else(|| panic!("{text}: {header}")));
    assert!(places.is_sorted(), "the payment first, and then the proposal: {header}");
}

#[tokio::test]
async fn a_deal_says_how_many_more_payments_need_a_member_at_once() {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
    let kim = Browser::of(&org, &people[1]).await;
    let without_actions = |draft: &mut Agreement| draft.stages.iter_mut().for_each(|stage| stage.actions.clear());
    let agreement = org.ready_draft("Harbor purchase", without_actions).await;
    let mut ids = Vec::new();
    for purpose in ["Deposit", "Rent", "Fee"] {
        ids.push(org.payment(agreement.id(), terms(&agreement, purpose, "INV-117")).await);
    }
    org.decide_at_once(&people[0], agreement.id(), ProposalAction::PublishAgreement).await;
    let at = format!("/app/agreements/{}", agreement.id());
    let more = async || {
        let page = kim.get(&at).await;
        let (_, header) = page.body.split_once("<dt>Waiting for</dt>").expect("whom it waits for");
        let header = header.split("</dd>").next().unwrap_or_default();
        let found =
            header.split_once("href=\"#payments\">").map(|(_, rest)| rest.split('<').next().unwrap_or_default());
        found.map(str::to_owned)
    };
    for (n, id) in ids.iter().enumerate() {
        org.open_movement([&people[0], &people[1]], *id).await;
        org.act_on_movement(&people[0], *id, MovementAct::Flag(ExceptionReason::NotReceived, None)).await;
        let expected = ["and 0", "and 1 more payment", "and 2 more payments"][n];
        assert_eq!(more().await.as_deref(), (n > 0).then_some(expected));
    }
}

#[tokio::test]
async fn evidence_to_review_is_opened_from_the_header_of_its_deal() {
    let deal = Deal::claimed().await;
    deal.file(&deal.maren, "recipient_confirmation", "250,000.00", "R-1").await;
    let page = deal.kim.get(&deal.of_agreement()).await;
    let (_, header) = page.body.split_once("<dt>Waiting for</dt>").expect("whom it waits for");
    let header = text(&page).split_once("<dt>Waiting for</dt>").map_or(String::new(), |_| header.to_owned());
    let act = format!("href=\"{}\">Review evidence</a>", deal.path());
    assert!(header.split("</dd>").next().is_some_and(|first| first.contains(&act)), "{header}");
}

#[tokio::test]
async fn a_deal_of_ten_payments_shows_five_and_the_others_on_demand() {
    let deal = Deal::new().await;
    let draft = deal.org.ready_draft("Ten payments", |draft| draft.stages.truncate(1)).await;
    let mut last = None;
    for number in 0..10 {
        let purpose = format!("Installment {number:02}");
        last = Some(deal.org.payment(draft.id(), PaymentTerms { ..terms(&draft, &purpose, "INV-1") }).await);
    }
    let with_payments = Drafted::of(&deal.org, &draft.id().to_string()).await.agreement;
    let rule = GateRule::MovementReconciled { movement_id: last };
    let (after, _) = with_payments.add_gate(draft.stages[0].id, rule, with_payments.updated_at).expect("a gate");
    deal.org.edit(&after).await;
    deal.org.decide_at_once(&deal.people[0], draft.id(), ProposalAction::PublishAgreement).await;
    let body = text(&deal.maren.get(&format!("/app/agreements/{}", draft.id())).await);
    let (_, section) = body.split_once("<h2 id=\"payments\">").expect("payments");
    let (open, folded) = section.split_once("<summary>Show all 10 payments</summary>").expect("a disclosure");
    let folded = folded.split("</details>").next().unwrap_or_default();
    let count = |part: &str| part.matches(">Installment ").count();
    assert_eq!((count(open), count(folded)), (5, 5), "{section}");
    let (first, _) = open.split_once("</li>").expect("a payment");
    assert!(first.contains(">Installment 09<"), "what the step waits for comes first: {section}");
}

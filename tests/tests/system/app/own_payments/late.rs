//! Payments of agreements that were cancelled, completed or reissued meanwhile.

use super::*;

#[tokio::test]
async fn what_was_cancelled_meanwhile_is_not_reported() {
    let paying = Paying::new().await;
    paying.open().await;
    let [ada, northwind] = parties(&paying).await;
    let (path, sent, action) = (paying.path(), format!("{}/sent", paying.path()), format!("{}/arrived", paying.path()));
    let (of_sender, of_receiver) = tokio::join!(ada.get(&path), northwind.get(&path));
    let reason = SafeNote::parse("Paid in cash").expect("a note");
    paying.live.org.act_on_movement(&paying.people[0], paying.id, MovementAct::Cancel(reason)).await;
    let refused = ada.send(&of_sender, &sent, &REPORT).await;
    assert!(refused.status == 409, "{}", refused.body);
    says(&refused, &["This payment was cancelled", "If you have sent it"]);
    lacks(&refused, &[IBAN, ">I have sent it</button>", "Paid in cash"]);
    let refused = send(&northwind, &of_receiver, &action, &arrived("250,000"), None).await;
    assert!(refused.status == 409 && refused.says("This payment was cancelled"), "{}", refused.body);
    lacks(&ada.get(&path).await, &[IBAN]);

    let other = Paying::new().await;
    other.open().await;
    let [ada, northwind] = parties(&other).await;
    let page = ada.get(&other.path()).await;
    assert!(page.says(IBAN));
    other.live.org.decide_at_once(&other.people[0], other.live.agreement.id(), ProposalAction::CancelAgreement).await;
    lacks(&ada.get(&other.path()).await, &[IBAN, ">I have sent it</button>"]);
    let late = ada.send(&page, &format!("{}/sent", other.path()), &REPORT).await;
    assert!(late.status == 409 && late.says("This payment was cancelled"), "{}", late.body);
    says(&ada.get("").await, &["This agreement was cancelled. Nothing is asked of you anymore."]);
    // Money that was on its way arrives late, and its recipient can still report it.
    says(&northwind.get(&other.path()).await, &["If money for it arrives nevertheless, report it here"]);
    report_arrival(&other, &northwind, "250,000").await;
    assert_eq!(other.read().await["state"], "cancelled");
}

#[tokio::test]
async fn a_recipient_who_has_yet_to_consent_does_so_and_then_reports_late_money() {
    let paying = Paying::new().await;
    paying.open().await;
    let northwind = paying.live.open(paying.live.ids()[1]).await;
    paying
        .live
        .org
        .decide_at_once(&paying.people[0], paying.live.agreement.id(), ProposalAction::CancelAgreement)
        .await;
    lacks(&northwind.get(&paying.path()).await, &[">It has arrived</button>"]);
    assert_eq!(northwind.submit(&paying.path(), "/consent", &[]).await.status, 303);
    report_arrival(&paying, &northwind, "250,000").await;
    assert_eq!(paying.read().await["state"], "cancelled");
}

#[tokio::test]
async fn a_payment_goes_on_after_its_agreement_is_completed() {
    let org = Org::new().await;
    let people = [org.member("Maren Holt").await, org.member("Jonas Berg").await];
    let paying = Paying::set_up(org, people, "Lease", |_, _| {}).await;
    let [ada, northwind] = parties(&paying).await;
    paying.open().await;
    let approved = receipt(&ada, &ada.approve(&paying.live.agreement, 0, 0).await).await;
    says(&approved, &["Next: Pay $250,000.00 USD to Northwind Robotics, Inc."]);
    assert_eq!(paying.live.read().await["lifecycle"], "completed");
    let tasks = ada.get("").await;
    says(&tasks, &["This agreement is completed", "Still waits for you", "Pay $250,000.00 USD"]);
    let path = paying.path();
    assert!(ada.get(&path).await.says(IBAN));
    assert_eq!(ada.submit(&path, &format!("{path}/sent"), &REPORT).await.status, 303);
    lacks(&ada.get("").await, &["Still waits for you"]);

    let northwind = reissued(&paying, northwind).await;
    says(&northwind.get("").await, &["Still waits for you", "Say whether $250,000.00 USD from Ada Okafor has arrived"]);
    says(&northwind.get(&path).await, &["Do you agree again to act electronically?"]);
    assert_eq!(northwind.submit(&path, "/consent", &[]).await.status, 303);
    let evidence = report_arrival(&paying, &northwind, "250,000").await;
    paying.judge(evidence, EvidenceDecision::Accept(Arrivals::One)).await.expect("it adds up");
    says(&northwind.get(&path).await, &["Confirmed received"]);
    assert_eq!(paying.read().await["state"], "reconciled");
}

#[tokio::test]
async fn what_arrives_in_parts_adds_up_and_what_waits_can_be_withdrawn() {
    let paying = Paying::new().await;
    paying.open().await;
    let payee = paying.live.attend(paying.live.ids()[1]).await;
    let path = paying.path();
    let part = report_arrival(&paying, &payee, "100,000").await;
    paying.judge(part, EvidenceDecision::Accept(Arrivals::One)).await.expect("a part of it");
    let page = payee.get(&path).await;
    let (proven, rest) =
        ("$100,000.00 USD of $250,000.00 USD is confirmed received", "$150,000.00 USD is still missing");
    says(&page, &[proven, rest, "Confirmed in part", "Accepted", "Has the rest arrived?"]);
    lacks(&page, &["Confirmed received</span>", "None yet"]);
    says(&payee.get("").await, &["Say whether the other $150,000.00 USD from Ada Okafor has arrived"]);
    let sender = paying.live.attend(paying.live.ids()[0]).await;
    says(&sender.get(&path).await, &[proven, rest, "Confirmed in part", "ask your bank about it"]);
    let home = sender.get("").await;
    says(&home, &["$150,000.00 USD of $250,000.00 USD is still missing", "waits for proof of it"]);
    lacks(&home, &["Nothing waits for you now"]);
    let mistyped = report_arrival(&paying, &payee, "150,000.01").await;
    says(&payee.get(&path).await, &["More money arrived?", "Withdraw…"]);
    let withdraw = format!("{path}/evidence/{mistyped}/withdraw");
    assert_eq!(payee.submit(&path, &withdraw, &[("reason", "Mistyped")]).await.status, 303);
    assert_eq!(paying.judge(mistyped, EvidenceDecision::Accept(Arrivals::One)).await, Err(NotMoved::Decided));
    let rest = report_arrival(&paying, &payee, "150,000").await;
    let reason = SafeNote::parse("Not legible").expect("a note");
    paying.judge(rest, EvidenceDecision::Reject(reason)).await.expect("a member may");
    let page = payee.get(&path).await;
    says(&page, &["Rejected", "Ask them why"]);
    lacks(&page, &["Not legible"]);
    let rest = report_arrival(&paying, &payee, "150,000").await;
    let page = payee.get(&path).await;
    paying.judge(rest, EvidenceDecision::Accept(Arrivals::One)).await.expect("the rest of it");
    assert_eq!(paying.read().await["state"], "reconciled");
    let withdraw = format!("{path}/evidence/{rest}/withdraw");
    let late = payee.send(&page, &withdraw, &[("reason", "No")]).await;
    assert!(late.status == 409 && late.says("This was decided already"), "{}", late.body);
    let more = send(&payee, &page, &format!("{path}/arrived"), &arrived("1"), None).await;
    assert!(more.status == 409 && more.says("This payment has moved on"), "{}", more.body);
}

#[tokio::test]
async fn a_payer_can_t_use_up_the_room_for_proof() {
    let paying = Paying::new().await;
    paying.open().await;
    let [ada, northwind] = parties(&paying).await;
    let (path, action) = (paying.path(), format!("{}/document", paying.path()));
    ada.send(&ada.get(&path).await, &format!("{path}/sent"), &REPORT).await;
    for n in 0..=limits::EVIDENCE_PER_PARTY_MAX {
        let content = pdf(&format!("Document {n}"), "");
        let page = ada.get(&path).await;
        let done = send(&ada, &page, &action, &arrived("1"), Some(("advice.pdf", &content))).await;
        if n < limits::EVIDENCE_PER_PARTY_MAX {
            assert_eq!(done.status, 303, "{n}: {}", done.body);
            continue;
        }
        assert_eq!(done.status, 409, "{}", done.body);
        says(&done, &["You can’t file more for this payment", "their members can still file it"]);
    }
    report_arrival(&paying, &northwind, "250,000").await;
    assert_eq!(paying.read().await["state"], "processing");
}

//! Discarded bank statements, banks' notifications, and what the page says if the store fails while entries are filed.

use shared::domain::ids::MovementId;
use tests::app::{Browser, Page};
use tests::faults::{Fault, Rule};
use tests::shaky::Shaky;

use super::statements::{LIST, another, camt, entry, file, pair, review, state_of, upload, uploaded};
use super::{Deal, assert_says, submit};
use crate::app::contacts::audit_of;

#[tokio::test]
async fn a_statement_of_which_nothing_was_filed_is_discarded() {
    let deal = Deal::with_statements().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let before = deal.org.state().await;
    let csv = b"Booked,Sum\n2026-03-18,250000.00\n".as_slice();
    let read = camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117")]);
    for (name, content) in [("march.csv", csv), ("march.xml", read.as_slice())] {
        let done = upload(maren, name, content).await;
        assert_eq!(done.status, 303, "{}", done.body);
        let page = done.location().trim_end_matches("#notice").to_owned();
        let action = format!("{}/discard", page.trim_end_matches("/columns"));
        let shown = maren.get(&page).await;
        assert_says(&shown, &["Discard statement…", "its file can be uploaded again.", ">Discard</button>"]);
        let discarded = submit(maren, &page, &action, &[]).await;
        assert_eq!((discarded.status, discarded.location()), (303, &*format!("{LIST}#notice")), "{}", discarded.body);
        let list = maren.get(LIST).await;
        assert_says(&list, &["Statement discarded", "No statements yet"]);
        assert_eq!(maren.get(&page).await.status, 404);
        let token = list.hidden("form_token");
        assert_eq!(maren.post(&action, &[("form_token", &token)]).await.status, 303);
        assert_eq!(deal.org.state().await, before, "nothing of {name} is left");
    }

    let at = uploaded(kim, "march.xml", &read).await;
    let (page, open) = (kim.get(&at).await, maren.get(&at).await);
    assert_eq!(file(kim, &page, &at, &[pair(&page, 1, deal.id)]).await.status, 303);
    let page = maren.get(&at).await;
    assert!(!page.says("Discard statement"), "evidence names it: {}", page.body);
    let action = format!("{at}/discard");
    let late = maren.post(&action, &[("form_token", &open.hidden("form_token"))]).await;
    assert_eq!((late.status, late.location()), (303, &*format!("{at}#notice")), "{}", late.body);
    assert_says(&maren.get(&at).await, &["The statement stays", "that evidence names the statement"]);
    // Even after that evidence is rejected: the payment's page names the statement permanently.
    let reject = format!("{}/reject", review(&page));
    let done = submit(maren, &deal.path(), &reject, &[("reason", "The other payment")]).await;
    deal.follow(maren, &done).await;
    let page = maren.get(&at).await;
    assert!(!page.says("Discard statement") && page.says("type=\"checkbox\""), "{}", page.body);
    let late = maren.post(&action, &[("form_token", &open.hidden("form_token"))]).await;
    assert_eq!(late.location(), format!("{at}#notice"), "{}", late.body);
    assert_eq!(maren.get(&at).await.status, 200);
    let stranger = Deal::new().await;
    let token = stranger.maren.get(LIST).await.hidden("form_token");
    assert_eq!(stranger.maren.post(&action, &[("form_token", &token)]).await.status, 303, "there is no such statement");
    assert_eq!(maren.get(&at).await.status, 200);
}

#[tokio::test]
async fn of_discarding_and_filing_at_the_same_moment_one_takes_effect() {
    let deal = Deal::with_statements().await;
    let shaky = Shaky::beside(&deal.org);
    let maren = shaky.browser_of(&deal.people[0]).await;
    let at = uploaded(&maren, "march.xml", &camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117")])).await;
    let page = maren.get(&at).await;
    let other = shaky.browser_of(&deal.people[1]).await;
    let of_other = other.get(&at).await;
    // Just before the discarding is written, the other member files the entry.
    let token = page.hidden("form_token");
    let (action, fields) = (format!("{at}/discard"), [("form_token", token.as_str())]);
    let discard = maren.post(&action, &fields);
    let chosen = [pair(&of_other, 1, deal.id)];
    let meanwhile = async {
        assert_eq!(file(&other, &of_other, &at, &chosen).await.status, 303);
    };
    let held = Rule::on("TransactWriteItems").containing("discard_statement");
    let late = shaky.meanwhile(held, discard, meanwhile).await;
    assert_eq!((late.status, late.location()), (303, &*format!("{at}#notice")), "{}", late.body);
    assert_says(&maren.get(&at).await, &["The statement stays", "To review"]);
}

#[tokio::test]
async fn a_form_that_another_request_ends_first_leaves_no_trace_of_its_own() {
    let deal = Deal::with_statements().await;
    let shaky = Shaky::beside(&deal.org);
    let maren = shaky.browser_of(&deal.people[0]).await;
    let at = uploaded(&maren, "march.xml", &camt("S-1", &[entry("250000.00", "CRDT", "B-1", "INV-117")])).await;
    let page = maren.get(&at).await;
    let chosen = [pair(&page, 1, deal.id)];
    let sooner = async {
        assert_eq!(file(&maren, &page, &at, &chosen).await.status, 303);
    };
    // Sent twice: the second request does everything while the first one's transaction is on its way.
    let held = Rule::on("TransactWriteItems").containing("file_evidence").times(1);
    let later = shaky.meanwhile(held, file(&maren, &page, &at, &chosen), sooner).await;
    assert_eq!((later.status, later.location()), (303, &*format!("{at}#notice")), "{}", later.body);
    let rows = deal.org.audit().await;
    let filed: Vec<_> = rows.iter().filter(|row| row["operation"] == "file_evidence").collect();
    assert_eq!(filed.len(), 1, "{filed:?}");
}

#[tokio::test]
async fn a_notification_of_the_bank_is_filed_and_accepted_like_a_statement() {
    let deal = Deal::with_statements().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let statement =
        String::from_utf8(camt("N-1", &[entry("250000.00", "CRDT", "B-1", "Closing INV-117")])).expect("text");
    let notification = statement
        .replace("camt.053", "camt.054")
        .replace("BkToCstmrStmt>", "BkToCstmrDbtCdtNtfctn>")
        .replace("<Stmt>", "<Ntfctn>")
        .replace("</Stmt>", "</Ntfctn>");
    let at = uploaded(maren, "advice.xml", notification.as_bytes()).await;
    let page = maren.get(&at).await;
    assert_says(&page, &["camt.054", "Entry 1: $250,000.00 USD", "Strong match", "Reference “INV-117” is in the text"]);
    assert_eq!(file(maren, &page, &at, &[pair(&page, 1, deal.id)]).await.status, 303);
    assert_eq!(deal.state().await, "processing", "nothing is accepted by itself");
    let accept = review(&maren.get(&at).await);
    let page = deal.follow(kim, &deal.accept(kim, &accept).await).await;
    assert_says(&page, &["Payment confirmed received"]);
    let read = deal.read().await;
    assert_eq!((&read["state"], &read["receipt"]["best_assurance"]), (&"reconciled".into(), &"bank_verified".into()));
    let month = uploaded(maren, "march.xml", statement.as_bytes()).await;
    assert!(!maren.get(&month).await.says("type=\"checkbox\""));
}

struct Failing {
    // Dropped before the deal whose table it uses.
    shaky: Shaky,
    maren: Browser,
    deal: Deal,
    deposit: MovementId,
    at: String,
    page: Page,
}

impl Failing {
    async fn new() -> Self {
        let deal = Deal::with_statements().await;
        let deposit = another(&deal, "Deposit", "DEP-9", 5_000_000).await;
        let shaky = Shaky::beside(&deal.org);
        let maren = shaky.browser_of(&deal.people[0]).await;
        let entries = [entry("250000.00", "CRDT", "B-1", "INV-117"), entry("50000.00", "CRDT", "B-2", "deposit dep 9")];
        let at = uploaded(&maren, "march.xml", &camt("S-1", &entries)).await;
        let page = maren.get(&at).await;
        Self { shaky, maren, deal, deposit, at, page }
    }

    fn chosen(&self, page: &Page) -> [(String, String); 2] {
        [pair(page, 1, self.deal.id), pair(page, 2, self.deposit)]
    }

    async fn assert_filed_once(&self) {
        for id in [self.deal.id, self.deposit] {
            let read = self.deal.org.get(format!("/api/v1/movements/{id}")).send().await.ok(200);
            assert_eq!((&read["state"], &read["receipt"]["evidence_count"]), (&"processing".into(), &1.into()));
        }
        let shown = self.maren.get(&self.at).await;
        assert_eq!(shown.body.matches("To review").count(), 2, "{}", shown.body);
    }
}

#[tokio::test]
async fn a_store_that_fails_midway_leaves_a_page_that_says_what_was_filed_and_files_the_rest() {
    let failing = Box::pin(Failing::new()).await;
    let Failing { shaky, maren, deal, deposit, at, page } = &failing;
    let rule = Rule::on("TransactWriteItems").containing(deposit).containing("file_evidence");
    let fault = shaky.faults.inject(rule, Fault::ServerError);
    let broken = file(maren, page, at, &failing.chosen(page)).await;
    assert!(fault.count() > 0);
    assert_eq!(broken.status, 500, "{}", broken.body);
    assert!(broken.title().starts_with("Error: "), "{}", broken.title());
    assert_says(
        &broken,
        &[
            "1 entry is filed as evidence, and 1 not",
            "Entry 2: not filed, because something went wrong on our side.",
            "Press “File as evidence” again for the rest.",
            "To review",
        ],
    );
    assert_eq!(
        (deal.state().await, state_of(&deal.org, *deposit).await),
        ("processing".into(), "instructions_ready".into())
    );
    assert_eq!(broken.body.matches(" checked").count(), 1, "{}", broken.body);
    let left = pair(&broken, 2, *deposit);
    fault.end();
    assert_eq!(file(maren, &broken, at, &[left]).await.status, 303);
    failing.assert_filed_once().await;
    assert_eq!(file(maren, page, at, &failing.chosen(page)).await.status, 303);
    failing.assert_filed_once().await;
}

#[tokio::test]
async fn a_form_that_files_several_goes_on_where_it_was_interrupted_and_is_used_once() {
    let failing = Box::pin(Failing::new()).await;
    let Failing { shaky, maren, deal, deposit, at, page } = &failing;
    let chosen = failing.chosen(page);
    let rule = Rule::on("TransactWriteItems").containing(deposit).containing("file_evidence");
    let fault = shaky.faults.inject(rule, Fault::ServerError);
    assert_eq!(file(maren, page, at, &chosen).await.status, 500);
    fault.end();
    assert_eq!(state_of(&deal.org, *deposit).await, "instructions_ready");
    // Until it is finished, too, the copy is for this content alone.
    let other = file(maren, page, at, &chosen[1..]).await;
    assert!(other.status == 409 && other.says("This form was already used."), "{}", other.body);
    assert_eq!(state_of(&deal.org, *deposit).await, "instructions_ready", "nothing was filed");

    let (one, two) = tokio::join!(file(maren, page, at, &chosen), file(maren, page, at, &chosen));
    assert_eq!((one.status, two.status), (303, 303), "{}{}", one.body, two.body);
    assert_says(&maren.get(at).await, &["2 entries are filed as evidence", "Next: review each"]);
    failing.assert_filed_once().await;
    let again = file(maren, page, at, &chosen).await;
    assert_eq!((again.status, again.location()), (303, one.location()));
    assert_eq!(audit_of(&deal.org, &again).await["code"], "replayed");
    assert_eq!(file(maren, page, at, &chosen[..1]).await.status, 409);
    failing.assert_filed_once().await;
}

#[tokio::test]
async fn an_entry_whose_answer_was_lost_is_filed_once_and_its_page_says_so() {
    let failing = Box::pin(Failing::new()).await;
    let Failing { shaky, maren, deal, deposit, at, .. } = &failing;
    // Lost once, the call is repeated. Lost each time, nobody learns of it, but it is done.
    for (number, (payment, times)) in [(deal.id, 1), (*deposit, usize::MAX)].into_iter().enumerate() {
        let page = &maren.get(at).await;
        let chosen = [pair(page, u32::try_from(number).expect("a number") + 1, payment)];
        let rule = Rule::on("TransactWriteItems").containing(payment).containing("file_evidence").times(times);
        let fault = shaky.faults.inject(rule, Fault::LostResponse);
        let answer = file(maren, page, at, &chosen).await;
        assert!(fault.count() > 0);
        fault.end();
        if times == 1 {
            assert_eq!(answer.status, 303, "{}", answer.body);
        }
        let shown = maren.get(at).await;
        assert_eq!(shown.body.matches("To review").count(), number + 1, "{}", shown.body);
        assert!(!shown.says(&format!("name=\"{}\"", chosen[0].0)), "it is no choice anymore");
        assert_eq!(file(maren, page, at, &chosen).await.status, 303);
    }
    assert_eq!(state_of(&failing.deal.org, *deposit).await, "processing");
    failing.assert_filed_once().await;
}

//! From an agreement's confirmation step to proof: a trustee's accepted upload is filed from the item's page.

use serde_json::{Value, json};
use shared::domain::ids::{AgreementId, ParticipantId};
use shared::domain::proposal::ProposalAction;
use tests::app::Browser;
use tests::attending::{Attendee, link_of};
use tests::pages::{BYTES_MAX, WAITS_MAX, visit};
use tests::pdf::pdf;

use super::decisions::waiting;
use super::{Desk, assert_says, id, item_page, next_acts};

const LETTER: &str = "letter.pdf";

async fn attend(desk: &Desk, agreement: &Value, name: &str) -> Attendee {
    let participants = agreement["participants"].as_array().expect("participants");
    let found = participants.iter().find(|one| one["display_name"] == name).expect("one of that name");
    let (agreement, participant): (AgreementId, ParticipantId) =
        (id(agreement).parse().expect("an id"), id(found).parse().expect("an id"));
    let attendee = Attendee { browser: Browser::new(desk.org.base_url()), participant };
    attendee.follow(&link_of(&desk.maren, agreement, participant).await).await;
    let agreed = attendee.submit("", "/consent", &[]).await;
    assert_eq!(agreed.status, 303, "{}", agreed.body);
    attendee
}

async fn signed(desk: &Desk, items: &[&Value]) -> (Value, Attendee) {
    let draft = desk.org.paper(items).await;
    let agreement = id(&draft).parse().expect("an id");
    desk.org.decide_at_once(&desk.person, agreement, ProposalAction::PublishAgreement).await;
    let (sol, tova) = (attend(desk, &draft, "Sol").await, attend(desk, &draft, "Tova").await);
    for document in draft["documents"].as_array().expect("documents") {
        let document = format!("/documents/{}", id(document));
        for (who, name) in [(&sol, "Sol"), (&tova, "Tova")] {
            let signed = who.submit(&document, &format!("{document}/sign"), &[("signature", name)]).await;
            assert_eq!(signed.status, 303, "{}", signed.body);
        }
    }
    (draft, tova)
}

#[tokio::test]
async fn the_accepted_confirmation_is_filed_as_proof_from_the_item() {
    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let (draft, tova) = signed(&desk, &[&item]).await;
    let gate = id(&draft["stages"][1]["gates"][0]).to_owned();
    let answers = format!("/app/agreements/{}/conditions/{gate}/answers/{}", id(&draft), tova.participant);
    let page = desk.maren.get(&item_page(&item)).await;
    assert!(!page.says("File this as proof"), "{}", page.body);

    let file = pdf("The new title", "");
    let condition = format!("/conditions/{gate}");
    let form = tova.get(&condition).await;
    let send = format!("{condition}/answers/send");
    let own = tests::attending::hidden(&form, &send);
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let name = format!("answer.{}", id(&item));
    let uploaded = tova.browser.upload(&tova.at(&send), &own, (&name, LETTER, &file)).await;
    assert_eq!(uploaded.status, 303, "{}", uploaded.body);
    let page = desk.maren.get(&item_page(&item)).await;
    assert_says(&page, &["Tova uploaded the confirmation. Read it, then accept or return it.", LETTER]);
    assert!(page.says(&format!("href=\"{answers}\"")) && !page.says("File this as proof"), "{}", page.body);
    let read = desk.maren.get(&answers).await;
    assert_says(&read, &["It makes no item funded"]);
    let (token, submission) = (read.hidden("form_token"), read.hidden("submission"));
    let file_it = format!("{}/confirmation/{submission}", item_page(&item));
    let dated = [("form_token", token.as_str()), ("dated", "16/3/2026")];
    let early = desk.maren.post(&file_it, &dated).await;
    assert_eq!(early.status, 404, "it is not accepted yet: {}", early.body);
    let accept = [("form_token", token.as_str()), ("submission", &submission)];
    assert_eq!(desk.maren.post(&format!("{answers}/accept"), &accept).await.status, 303);
    let read = desk.maren.get(&answers).await;
    assert_says(&read, &["Next: file proof", &format!("href=\"{}#next\"", item_page(&item))]);

    let (page, visited) = visit(&desk.org, &desk.maren, &item_page(&item), "Home").await;
    assert!(visited.waits <= WAITS_MAX && visited.bytes <= BYTES_MAX, "{visited:?}");
    assert_says(&page, &["The confirmation was uploaded and accepted. File it as proof.", "accepted by Maren Holt"]);
    assert_eq!(next_acts(&page), ["File this as proof"]);
    let future = desk.act(&item, &format!("confirmation/{submission}"), &[("dated", "16/3/2126")]).await;
    assert_eq!(future.status, 422, "{}", future.body);
    assert_says(&future, &["Dated must not be in the future", "value=\"16/3/2126\""]);
    let before = desk.org.events().await.len();
    let own = tests::attending::hidden(&page, &file_it);
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields: Vec<(&str, &str)> = own.chain([("dated", "16/3/2026")]).collect();
    for _ in 0..2 {
        let filed = desk.maren.post(&file_it, &fields).await;
        assert_eq!(filed.status, 303, "{}", filed.body);
    }
    assert_eq!(desk.events_since(before).await.len(), 0);
    let page = desk.maren.get(&item_page(&item)).await;
    assert_says(&page, &["Institution’s confirmation", LETTER, "16 Mar 2026", "To review"]);
    assert!(!page.says("File this as proof") && !page.says("badge green"), "{}", page.body);
    assert_eq!((desk.phase(&item).await.as_str(), &desk.summary().await["done"]), ("in_progress", &json!(0)));
    let proof = waiting(&page);
    assert_eq!(proof, [submission.as_str()], "it is filed once");
    let download = desk.maren.get(&format!("{}/proof/{submission}/file", item_page(&item))).await;
    assert_eq!((download.status, &download.bytes), (200, &file));

    let action = format!("{}/proof", item_page(&item));
    let own = tests::attending::hidden(&page, &action);
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let typed = [("source", "institution_confirmation"), ("dated", "16/3/2026"), ("proof_note", "")];
    let fields: Vec<(&str, &str)> = own.chain(typed).collect();
    let again = desk.maren.upload(&action, &fields, ("file", "copy.pdf", &file)).await;
    assert_eq!(again.status, 409, "{}", again.body);
    assert_says(&again, &["This file is filed already"]);
    desk.done(&item, &format!("proof/{submission}/accept"), &[]).await;
    assert_eq!(desk.summary().await["funded"], 1);
}

#[tokio::test]
async fn home_lists_proof_that_waits_for_a_decision_and_nothing_else() {
    let desk = Desk::new().await;
    let home = async || desk.maren.get("/app").await;
    let (one, two) = (desk.in_progress().await, desk.org.ready_item(&desk.estate, "A boat").await);
    assert!(!home().await.says("Proof of a transfer"));
    let draft = desk.org.paper(&[&two]).await;
    let agreement: AgreementId = id(&draft).parse().expect("an id");
    desk.org.decide_at_once(&desk.person, agreement, ProposalAction::PublishAgreement).await;
    let proof = |note| [("source", "new_statement"), ("dated", "16/3/2026"), ("proof_note", note)];
    let file = async |item: &Value, note| waiting(&desk.done(item, "proof", &proof(note)).await);
    let first = file(&one, "On the phone.").await;
    let page = home().await;
    assert_says(
        &page,
        &[
            "One thing needs you.",
            "Proof of a transfer",
            &format!("href=\"{}#next\">A painting</a>", item_page(&one)),
            "Harbor · New statement, filed by Maren Holt",
        ],
    );
    assert!(!page.says("All caught up"), "{}", page.body);
    file(&one, "By letter.").await;
    file(&two, "By letter.").await;
    let (page, visited) = visit(&desk.org, &desk.maren, "/app", "the start").await;
    assert!(visited.waits <= WAITS_MAX && visited.bytes <= BYTES_MAX, "{visited:?}");
    assert_says(&page, &["2 things need you.", "Harbor · 2 proofs", ">A boat</a>"]);

    // Decided proof is gone: a rejection leaves the other, and an acceptance leaves what was filed beside it.
    desk.done(&one, &format!("proof/{}/reject", first[0]), &[("reason", "It is unreadable.")]).await;
    assert_says(&home().await, &["Harbor · New statement, filed by Maren Holt"]);
    let left = waiting(&desk.maren.get(&item_page(&one)).await);
    file(&one, "And by e-mail.").await;
    desk.done(&one, &format!("proof/{}/accept", left[0]), &[]).await;
    assert_says(&home().await, &["One thing needs you."]);
    desk.org.decide_at_once(&desk.person, agreement, ProposalAction::CancelAgreement).await;
    assert!(!home().await.says("Proof of a transfer"));
}

//! Several documents for one signer: one by one, with progress, also when coming back later.

use shared::domain::agreement::gate::GateRule;
use shared::domain::agreement::{Agreement, Document, DocumentState, Label, SignatureBlock};
use shared::domain::ids::{DocumentId, SignatureBlockId};
use tests::app::Page;
use tests::attending::{Attendee, Live};

fn set_up(draft: &mut Agreement) {
    draft.stages.drain(..1);
    draft.stages.truncate(1);
    let label = |text| Label::parse(text).expect("a label");
    let block = SignatureBlock {
        id: SignatureBlockId::new(),
        participant_id: draft.participants[0].id,
        label: label("Signature"),
    };
    let schedule = Document {
        id: DocumentId::new(),
        name: label("Schedule of deliveries"),
        content: draft.documents[0].content.clone(),
        state: DocumentState::Draft,
        blocks: vec![block],
        is_for_reading: false,
    };
    draft.stages[0].gates[1].rule = GateRule::DocumentSigned { document_id: Some(schedule.id) };
    draft.documents.push(schedule);
}

fn document(agreement: &Agreement, n: usize) -> String {
    format!("/documents/{}", agreement.documents[n].id)
}

async fn sign(attendee: &Attendee, agreement: &Agreement, n: usize) -> Page {
    let path = document(agreement, n);
    let signed = attendee.submit(&path, &format!("{path}/sign"), &[("signature", "Ada Okafor")]).await;
    assert_eq!(signed.status, 303, "{}", signed.body);
    attendee.browser.get(signed.location()).await
}

fn linked<'a>(page: &'a Page, text: &str) -> &'a str {
    let (before, _) = page.body.split_once(&format!(">{text}")).unwrap_or_else(|| panic!("{text}: {}", page.body));
    let link = before.rsplit("<a ").next().and_then(|link| link.split_once("href=\""));
    link.and_then(|(_, rest)| rest.split('"').next()).unwrap_or_else(|| panic!("{text} is no link: {}", page.body))
}

#[tokio::test]
async fn several_documents_are_signed_one_by_one_also_by_whoever_comes_back_later() {
    let live = Live::new(set_up).await;
    let (agreement, [ada, northwind]) = (&live.agreement, live.ids());
    let first = live.attend(ada).await;

    let tasks = first.get("").await;
    assert!(tasks.says("Sign “Purchase agreement”") && tasks.says("Sign “Schedule of deliveries”"), "{}", tasks.body);
    for (n, place) in [(0, "Document 1 of 2 to sign"), (1, "Document 2 of 2 to sign")] {
        let page = first.get(&document(agreement, n)).await;
        assert!(page.says(place), "{place}: {}", page.body);
    }
    let northwind = live.attend(northwind).await;
    let alone = northwind.get(&document(agreement, 0)).await;
    assert!(alone.says("Your signature") && !alone.says(" to sign</p>"), "{}", alone.body);

    let receipt = sign(&first, agreement, 0).await;
    let next = first.at(&document(agreement, 1));
    assert_eq!(linked(&receipt, "Next: Sign “Schedule of deliveries”"), next);
    let signed = first.get(&document(agreement, 0)).await;
    assert!(signed.says("You signed this document") && !signed.says("id=\"sign\""), "{}", signed.body);
    assert_eq!(linked(&signed, "Next: Sign “Schedule of deliveries”"), next);

    let later = live.open(ada).await;
    let tasks = later.get("").await;
    assert!(!tasks.says("Sign “Purchase agreement”") && tasks.says("Sign “Schedule of deliveries”"), "{}", tasks.body);
    assert!(tasks.says("Signed by you") && tasks.says("You signed “Purchase agreement”"), "{}", tasks.body);
    let page = later.get(&document(agreement, 1)).await;
    assert!(page.says("Document 2 of 2 to sign"), "{}", page.body);
    let receipt = sign(&later, agreement, 1).await;
    assert!(!receipt.says("Next: "), "{}", receipt.body);
    assert_eq!(linked(&receipt, "Back to the agreement"), later.at(""));
    let tasks = later.get("").await;
    assert!(tasks.says("Nothing waits for you now") && tasks.says("Northwind Robotics, Inc."), "{}", tasks.body);

    assert_eq!(live.read().await["lifecycle"], "active");
    assert_eq!(northwind.sign(agreement, "Nora Wind").await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "completed");
}

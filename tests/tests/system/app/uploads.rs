//! Uploaded files: those that a record names are kept, the rest is removed after a day.

use shared::domain::agreement::DocumentContent;
use shared::domain::agreement::gate::FieldType;
use shared::store::keys::Due;
use tests::attending::{Attendee, Live, hidden};
use tests::clockwork::Clockwork;
use tests::pdf::pdf;
use tests::{Org, drafts, eventually, rows};

use super::information::{asking, name, question};
use super::participants::approval_and_uploads;

async fn is_stored(org: &Org, file: &[u8]) -> bool {
    org.stack().files().get(org.id, &DocumentContent::of(file)).await.is_ok()
}

async fn a_day_passes(org: &Org) {
    drafts::make_uploads_due(org).await;
    let is_done = || async {
        Clockwork::of(org).tick().await;
        rows::due_items(org.stack().table(), org.id, Due::Upload).await.is_empty().then_some(())
    };
    eventually("the clock has looked at what was uploaded", is_done).await;
}

async fn upload_each(ada: &Attendee, at: &str, files: &[&[u8]]) -> Vec<u16> {
    let action = format!("{at}/upload");
    let page = ada.get(at).await;
    let fields = hidden(&page, &action);
    let own: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut statuses = Vec::new();
    for file in files {
        statuses.push(ada.browser.upload(&ada.at(&action), &own, ("file", "a.pdf", file)).await.status);
    }
    statuses
}

#[tokio::test]
async fn what_a_participant_stored_stays_while_a_receipt_names_it() {
    let live = approval_and_uploads().await;
    let (ada, org) = (live.attend(live.ids()[0]).await, &live.org);
    let at = format!("/conditions/{}", live.agreement.stages[0].gates[1].id);
    let [named, refused, named_later] = ["Named", "Refused", "Named later"].map(|text| pdf(text, ""));
    assert_eq!(upload_each(&ada, &at, &[&named, &refused]).await, [303, 409]);
    assert_eq!(upload_each(&ada, &at, &[&named_later]).await, [303]);
    assert!(!is_stored(org, &refused).await);
    a_day_passes(org).await;
    for file in [&named, &named_later] {
        assert!(is_stored(org, file).await, "a receipt names it");
    }
}

async fn answer(live: &Live, ada: &Attendee, act: &str, version: &str, text: &str, file: &[u8]) -> u16 {
    let at = format!("/conditions/{}", live.agreement.stages[0].gates[0].id);
    let action = format!("{at}/answers/{act}");
    let page = ada.get(&at).await;
    let (fields, texts, files) = (hidden(&page, &action), name(live, 0), name(live, 1));
    let own = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = own.map(|(name, value)| (name, if name == "version" && !version.is_empty() { version } else { value }));
    let own: Vec<_> = own.chain([(texts.as_str(), text)]).collect();
    ada.browser.upload(&ada.at(&action), &own, (&files, "a.pdf", file)).await.status
}

#[tokio::test]
async fn answers_that_are_not_saved_store_no_file() {
    let questions =
        vec![question("Tell us more.", FieldType::LongText, true), question("Proof?", FieldType::File, true)];
    let live = asking(questions, false).await;
    let (ada, org) = (live.attend(live.ids()[0]).await, &live.org);
    let [saved, other, unsent, sent] = ["Saved", "Other", "Unsent", "Sent"].map(|text| pdf(text, ""));
    assert_eq!(answer(&live, &ada, "save", "", "First.", &saved).await, 303);
    let stored = rows::file_bytes(org.stack().table(), ada.participant).await;
    let too_long = "x".repeat(shared::limits::ANSWERS_BYTES_MAX);
    for act in ["save", "send"] {
        for (version, text) in [("0", "Second."), ("", too_long.as_str())] {
            let status = answer(&live, &ada, act, version, text, &other).await;
            assert_eq!(status, 409, "{act} {version}");
        }
    }
    assert!(!is_stored(org, &other).await);
    assert_eq!(rows::file_bytes(org.stack().table(), ada.participant).await, stored, "nor is it counted");
    for _ in 0..2 {
        assert_eq!(answer(&live, &ada, "save", "1", "Second.", &saved).await, 303);
    }
    let twice = stored + u64::try_from(saved.len()).expect("a size");
    assert_eq!(rows::file_bytes(org.stack().table(), ada.participant).await, twice);
    assert_eq!(answer(&live, &ada, "send", "", "", &unsent).await, 422, "the draft has it all the same");
    a_day_passes(org).await;
    assert!(is_stored(org, &unsent).await, "the draft names it");
    assert_eq!(answer(&live, &ada, "send", "", "Third.", &sent).await, 303);
    a_day_passes(org).await;
    assert!(is_stored(org, &saved).await && is_stored(org, &sent).await, "a draft and the answers name them");
}

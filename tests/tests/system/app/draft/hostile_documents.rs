//! Documents made to crash their reader: they are refused, and nothing else ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::attending::Live;
use tests::hostile_pdf::{deep, hidden, large, plain};

use super::Desk;

async fn uploads(desk: &Desk) -> Vec<Value> {
    let rows = desk.org.audit().await;
    let uploads = rows.iter().filter(|row| row["operation"] == "add_document");
    uploads.map(|row| row["status"].clone()).collect()
}

#[tokio::test]
async fn what_hides_no_object_is_refused_before_anything_opens_it() {
    let desk = Desk::new().await;
    let path = format!("{}/documents", desk.begin("blank", &[]).await);
    for (file, reason) in [
        (deep(12_000, plain), "is built in a way that few PDF readers can open"),
        ([&b"%PDF-1.7\n"[..], &b"stream".repeat(600_000), b"%%EOF"].concat(), "broken PDF"),
        (
            b"%PDF-1.7\n".iter().copied().chain(b"1 0 obj 7 ".repeat(400_000)).chain(*b"%%EOF").collect(),
            "unpacks to more",
        ),
    ] {
        let started = Instant::now();
        let refused = desk.upload(&path, &[("document_name", "Deed")], &file).await;
        assert!(started.elapsed() < Duration::from_secs(20), "{reason}: {:?}", started.elapsed());
        assert_eq!(refused.status, 422, "{reason}: {}", refused.body);
        assert!(refused.says(reason), "{reason}: {}", refused.body);
    }
    assert_eq!(uploads(&desk).await, ["422", "422", "422"]);
}

#[tokio::test]
async fn what_hides_its_objects_ends_the_process_that_reads_it_and_no_other() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/documents");
    for (what, file) in [
        ("a stack without end", deep(12_000, hidden)),
        ("a picture of objects that takes all memory", large(600_000_000, plain)),
        ("the same where nobody looks", large(600_000_000, hidden)),
    ] {
        let refused = desk.upload(&path, &[("document_name", "Deed")], &file).await;
        assert_eq!(refused.status, 422, "{what}: {}", refused.body);
        assert!(refused.says("takes too long or too much memory to open"), "{what}: {}", refused.body);
        assert!(refused.says("value=\"Deed\""), "what was typed stays");
    }
    assert_eq!(uploads(&desk).await, ["422", "422", "422"]);
    assert_eq!(desk.agreement(&page).await["documents"], json!([]));
    let added = desk.upload(&path, &[("document_name", "Deed")], &tests::pdf::pdf("sound", "")).await;
    assert_eq!(added.status, 303, "{}", added.body);
}

/// Fifty forms, each drawing the next one twice.
fn page_without_end() -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >> >>"
            .to_owned(),
        "<< /Length 5 >>\nstream\n/F Do\nendstream".to_owned(),
    ];
    for n in 0..50 {
        let keys =
            format!("/Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources << /XObject << /F {} 0 R >> >>", n + 6);
        objects.push(format!("<< {keys} /Length 11 >>\nstream\n/F Do /F Do\nendstream"));
    }
    tests::pdf::of_objects("", "", &objects)
}

#[tokio::test]
async fn a_page_that_can_t_be_drawn_is_told_and_the_document_stays_there() {
    let live = Live::with_file(&page_without_end(), |_| {}).await;
    let ada = live.attend(live.ids()[0]).await;
    let document = live.agreement.documents[0].id;
    ada.approve(&live.agreement, 0, 0).await;
    let shown = ada.get(&format!("/documents/{document}")).await;
    assert!(shown.status == 200 && shown.says("1 page") && shown.says(">Download</a>"), "{}", shown.body);
    let picture = ada.browser.get(&format!("/app/pictures/{}/{document}/1", ada.participant)).await;
    assert_eq!(picture.status, 422, "{}", picture.body);
    let rows = live.org.audit().await;
    let row = rows.iter().rev().find(|row| row["operation"] == "view_document_page").expect("an audit row");
    assert_eq!(row["status"], "422", "{row}");
}

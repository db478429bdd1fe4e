//! Documents: which files are accepted.

use serde_json::json;
use tests::app::FormCopy;
use tests::pdf::pdf;

use super::Desk;

/// A signer might see something else than others do.
#[tokio::test]
async fn a_file_that_programs_show_differently_is_refused_with_what_to_do() {
    const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/pdf");
    let desk = Desk::new().await;
    let path = format!("{}/documents", desk.begin("blank", &[]).await);
    for (name, reason) in [
        ("mk-form-needappearances", "has form fields that programs show differently"),
        ("mk-form-stale", "has form fields that programs show differently"),
        ("mk-xfa-dynamic", "is an XFA form"),
        ("mk-annot-noap", "has notes or stamps that programs draw differently"),
        ("mk-cjk-notembedded", "uses fonts that are not embedded"),
        ("mk-font-unreadable", "has fonts that can’t be read"),
        ("mk-form-rich-text", "has form fields that programs show differently"),
        ("mk-stamp-print-only", "has notes or fields that are only shown or only printed"),
        ("mk-script-on-open", "has scripts or actions that change what it shows"),
    ] {
        let file = std::fs::read(format!("{FILES}/{name}.pdf")).expect("a file");
        let refused = desk.upload(&path, &[("document_name", "Deed")], &file).await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.body);
        assert!(
            refused.says(reason) && refused.says("Print it to a new PDF, then upload that"),
            "{name}: {}",
            refused.body
        );
    }
    let mentions = std::fs::read(format!("{FILES}/mk-mentions-encrypt.pdf")).expect("a file");
    let added = desk.upload(&path, &[("document_name", "Deed")], &mentions).await;
    assert_eq!(added.status, 303, "{}", added.body);
}

#[tokio::test]
async fn a_file_that_is_no_document_is_refused_with_the_reason() {
    const FOUR_MIB: usize = 4 * 1024 * 1024;
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/documents");
    let whole = pdf("whole", "");
    let padded = |bytes: usize| {
        // The note is in the file twice, the trailer once.
        let mut note = "n".repeat(bytes / 2 - 1000);
        let missing = bytes - pdf(&note, "").len();
        note.push_str(&"n".repeat(missing / 2));
        let padded = pdf(&note, &" ".repeat(missing % 2));
        assert_eq!(padded.len(), bytes);
        padded
    };
    let mut too_large = padded(FOUR_MIB);
    too_large.push(b'\n');
    for (file, reason) in [
        (b"".to_vec(), "is empty"),
        (b"<!doctype html><script>alert(1)</script>".to_vec(), "is not a PDF"),
        (b"PK\x03\x04 a text".to_vec(), "is not a PDF"),
        (whole[..whole.len() / 2].to_vec(), "broken PDF"),
        (pdf("secret", "/Encrypt 9 0 R "), "is encrypted"),
        (too_large, "is 4.1 MB. The limit is 4 MB"),
    ] {
        let refused = desk.upload(&path, &[("document_name", "Deed")], &file).await;
        assert_eq!(refused.status, 422, "{reason}");
        assert!(refused.says(reason) && refused.says("id=\"file-error\""), "{reason}: {}", refused.body);
        assert!(refused.says("<title>Error: ") && refused.says("value=\"Deed\""), "what was typed stays");
    }
    let none = desk.send(&path, &[("document_name", "Deed")]).await;
    assert!(none.status == 422 && none.says("File must be chosen"), "{}", none.body);
    assert_eq!(desk.agreement(&page).await["documents"], json!([]));

    let FormCopy { name: copy, id } = desk.copy();
    for _ in 0..2 {
        let added = desk.upload(&path, &[("copy", &copy), ("document_name", "")], &padded(FOUR_MIB)).await;
        assert_eq!(added.status, 303, "{}", added.body);
    }
    let documents = desk.agreement(&page).await["documents"].clone();
    assert_eq!(documents.as_array().map(Vec::len), Some(1));
    assert_eq!((&documents[0]["name"], &documents[0]["size_bytes"]), (&json!("deed"), &json!(FOUR_MIB)));

    let head = "------x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF-1.4";
    let broken = desk.browser.send_body(&path, "multipart/form-data; boundary=----x", head.as_bytes().to_vec()).await;
    assert_eq!(broken.status, 422, "{}", broken.body);
    let stranger = Desk::new().await;
    for act in ["view", "download"] {
        assert_eq!(stranger.browser.get(&format!("{page}/documents/{id}/{act}")).await.status, 404);
    }
}

//! Writes and renders a certificate through the crate's public interface.

use pdf::certificate::{Certificate, Document, Signer, write};
use pdf::fonts;
use pdf::pages::Pages;

#[test]
fn a_certificate_is_a_pdf_whose_pages_are_shown() {
    let signer = Signer { name: "Anna Lindqvist".to_owned(), method: "Typed name".to_owned(), ..Signer::default() };
    let document =
        Document { name: "Agreement.pdf".to_owned(), pages: Some(2), signers: vec![signer], ..Document::default() };
    let certificate = Certificate {
        id: "1".to_owned(),
        agreement: "Lease".to_owned(),
        documents: vec![document; 4],
        ..Certificate::default()
    };
    let pages = Pages::open(write(&certificate, &fonts::alphabets()).unwrap()).unwrap();
    assert_eq!((pages.count(), pages.size(1)), (2, Some((612.0, 792.0))));
    assert!(pages.render(1, 800).unwrap().starts_with(b"\x89PNG"));
}

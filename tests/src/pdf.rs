//! PDFs for tests.

use std::fmt::Write as _;

/// A PDF with one empty page. `trailer` extends its trailer; different notes make different files and pages.
#[must_use]
pub fn pdf(note: &str, trailer: &str) -> Vec<u8> {
    let content = format!("% {note}");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    of_objects(note, trailer, &objects)
}

/// A PDF of `count` pages, each a point wider than the last.
#[must_use]
pub fn pdf_of_pages(count: usize) -> Vec<u8> {
    let page = |n: usize| format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} 842] >>", 595 + n);
    with_pages("A long document", "", &(0..count).map(page).collect::<Vec<_>>())
}

fn with_pages(note: &str, trailer: &str, pages: &[String]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", n + 3)).collect();
    let heads = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
    ];
    of_objects(note, trailer, &heads.iter().chain(pages).cloned().collect::<Vec<_>>())
}

/// A PDF of these objects, numbered from 1; the first is the catalog.
#[must_use]
pub fn of_objects(note: &str, trailer: &str, objects: &[String]) -> Vec<u8> {
    let mut file = format!("%PDF-1.4\n% {note}\n");
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let at = file.len();
    let _ = write!(
        file,
        "{table}trailer\n<< /Size {} /Root 1 0 R {trailer}>>\nstartxref\n{at}\n%%EOF\n",
        objects.len() + 1
    );
    file.into_bytes()
}

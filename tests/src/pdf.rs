//! PDFs for tests.

use std::fmt::Write as _;

/// A PDF of one empty page, whose trailer also has the given entries. Different notes make different files.
#[must_use]
pub fn pdf(note: &str, trailer: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
    ];
    let mut file = format!("%PDF-1.4\n% {note}\n");
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let at = file.len();
    let _ = write!(file, "{table}trailer\n<< /Size 4 /Root 1 0 R {trailer}>>\nstartxref\n{at}\n%%EOF\n");
    file.into_bytes()
}

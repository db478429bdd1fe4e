//! Reads one PDF, for the tests: see `shared::platform::pdf_reader`.

fn main() {
    pictures::read_pdf_if_asked();
    eprintln!("This program only reads PDFs for the tests.");
}

//! Tests of the readers, with valid and hostile files.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that meets what it did not expect fails there and then"
)]

mod bai;
mod camt;
mod files;
mod hostile;
mod large;
mod matching;
mod mt;
mod ofx;
mod round_trip;
mod table;

use statements::{Column, Currency, Entry, Mapping, ReferenceKind, Refusal, Statement};

fn one(text: &str, mapping: Option<&Mapping>) -> Statement {
    let mut statements =
        statements::read(text.as_bytes(), mapping).unwrap_or_else(|refusal| panic!("The file {refusal}."));
    assert_eq!(statements.len(), 1);
    statements.remove(0)
}

fn refusal(text: &str, mapping: Option<&Mapping>) -> (Refusal, String) {
    let refusal = statements::read(text.as_bytes(), mapping).expect_err("a refusal");
    let sentence = format!("The file {refusal}.");
    (refusal, sentence)
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

fn references(entry: &Entry) -> Vec<(ReferenceKind, &str)> {
    entry.references.iter().map(|reference| (reference.kind, reference.value.as_str())).collect()
}

fn named(name: &str) -> Column {
    Column::Named(name.to_owned())
}

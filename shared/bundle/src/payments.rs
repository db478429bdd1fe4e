//! Checks that a bundle's payment records agree with each other and with its files.
//!
//! Decision: this check runs only after everything else is verified. It finds errors in what the service signed:
//! outsiders who rely on `reconciled` needn't rely on its arithmetic. Bundles older than payments have no such records.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::manifest::ManifestFile;

const PAYMENTS: &str = "movements.jsonl";

/// The receiver-side assurances that prove an arrival.
const PROOFS: [&str; 3] = ["recipient_confirmed", "bank_documented", "bank_verified"];

const DATA: &str = "bank_verified";
const KNOWN: [&str; 2] = ["instructed", "own"];

struct Side {
    name: &'static str,
    records: &'static str,
    folder: &'static str,
}

const SENDER: Side = Side { name: "sender", records: "sender_evidence.jsonl", folder: "sender_evidence/" };
const RECEIVER: Side = Side { name: "receiver", records: "receiver_evidence.jsonl", folder: "receiver_evidence/" };

pub(crate) type Disagreement = (String, String);

/// Finds disagreements in a bundle whose files all match its manifest.
pub(crate) fn disagreements<'a>(
    files: &[ManifestFile],
    content: impl Fn(&str) -> Option<&'a [u8]>,
) -> Vec<Disagreement> {
    let Some(text) = content(PAYMENTS) else { return Vec::new() };
    let payments = match read::<PaymentLine>(text) {
        Ok(payments) => payments,
        Err(line) => return vec![(PAYMENTS.to_owned(), unreadable(line))],
    };
    let mut found = Vec::new();
    let mut accepted = BTreeMap::new();
    for side in [SENDER, RECEIVER] {
        let evidence = match read::<EvidenceLine>(content(side.records).unwrap_or_default()) {
            Ok(evidence) => evidence,
            Err(line) => {
                found.push((side.records.to_owned(), unreadable(line)));
                continue;
            }
        };
        let known: BTreeSet<&str> = payments.iter().map(|payment| payment.movement_id.as_str()).collect();
        let mut named = BTreeSet::new();
        for (n, line) in evidence.iter().enumerate() {
            if let Some(wrong) = wrong_with(line, &side, &known, files, &mut named) {
                found.push((side.records.to_owned(), format!("line {} {wrong}", n + 1)));
            }
        }
        let of_side = files.iter().map(|file| file.path.as_str()).filter(|path| path.starts_with(side.folder));
        for path in of_side.filter(|path| !named.contains(path)) {
            found.push((path.to_owned(), format!("no line of {} names it", side.records)));
        }
        for line in evidence.into_iter().filter(|line| line.state == "accepted") {
            accepted.entry(line.movement_id.clone()).or_insert_with(Vec::new).push(line);
        }
    }
    for (n, payment) in payments.iter().enumerate() {
        let evidence = accepted.get(&payment.movement_id).map_or(&[][..], Vec::as_slice);
        if let Some(wrong) = payment.wrong(evidence) {
            found.push((PAYMENTS.to_owned(), format!("line {} {wrong}", n + 1)));
        }
    }
    found
}

#[derive(Deserialize)]
struct PaymentLine {
    movement_id: String,
    amount: Option<Amount>,
    state: String,
    reconciled: bool,
    confirmed_at: Option<Value>,
    confirmed_by: Option<Value>,
    confirmation_basis: Option<Value>,
    /// None in older bundles.
    surplus: Option<Surplus>,
}

#[derive(Deserialize)]
struct Surplus {
    amount_minor: i64,
}

#[derive(Deserialize)]
struct EvidenceLine {
    movement_id: String,
    side: String,
    assurance: String,
    amount: Amount,
    state: String,
    file_sha256: Option<String>,
    path: Option<String>,
    /// None in older bundles.
    account: Option<Account>,
}

#[derive(Deserialize)]
struct Account {
    standing: String,
}

#[derive(Deserialize)]
struct Amount {
    amount_minor: i64,
    currency: String,
}

impl PaymentLine {
    fn wrong(&self, accepted: &[EvidenceLine]) -> Option<&'static str> {
        let confirmation = [&self.confirmed_at, &self.confirmed_by, &self.confirmation_basis];
        let is_confirmed = |count: usize| confirmation.iter().filter(|part| part.is_some()).count() == count;
        if self.reconciled != (self.state == "reconciled") {
            return Some("says reconciled and another state");
        }
        if !self.reconciled {
            return (!is_confirmed(0)).then_some("has a confirmation and is not reconciled");
        }
        if !is_confirmed(confirmation.len()) {
            return Some("is reconciled and has no confirmation");
        }
        let makes = |amount: &Amount| {
            let proves = |line: &EvidenceLine| {
                line.side == RECEIVER.name
                    && PROOFS.contains(&line.assurance.as_str())
                    && line.amount.currency == amount.currency
            };
            let sum: i128 = accepted.iter().map(|line| i128::from(line.amount.amount_minor)).sum();
            let surplus = sum - i128::from(amount.amount_minor);
            let is_settled = self.surplus.as_ref().is_some_and(|said| i128::from(said.amount_minor) == surplus);
            accepted.iter().all(proves) && (surplus == 0 || (surplus > 0 && is_settled))
        };
        let is_proven = self.amount.as_ref().is_some_and(makes);
        (!is_proven)
            .then_some("is reconciled, and the accepted evidence of the receiving side does not make its amount")
    }
}

fn wrong_with<'a>(
    line: &'a EvidenceLine,
    side: &Side,
    payments: &BTreeSet<&str>,
    files: &[ManifestFile],
    named: &mut BTreeSet<&'a str>,
) -> Option<&'static str> {
    let is_there = |path: &str| {
        let is_same = |file: &ManifestFile| file.path == path && Some(&file.sha256) == line.file_sha256.as_ref();
        path.starts_with(side.folder) && files.iter().any(is_same)
    };
    let is_good = line.path.as_deref().is_none_or(|path| is_there(path) && named.insert(path));
    if line.side != side.name {
        Some("is of the other side")
    } else if !payments.contains(line.movement_id.as_str()) {
        Some("is of no payment in movements.jsonl")
    } else if side.name == SENDER.name && line.state == "accepted" {
        Some("is accepted, and evidence of this side never is")
    } else if line.assurance == DATA
        && line.account.as_ref().is_some_and(|account| !KNOWN.contains(&account.standing.as_str()))
    {
        Some("is of an account that is not known to be the payee's, and never more than a document of the bank")
    } else if is_good {
        None
    } else {
        Some("names no document that is as it says")
    }
}

/// Parses the records of a file, one per line, or returns the number of the first invalid line.
fn read<T: for<'a> Deserialize<'a>>(content: &[u8]) -> Result<Vec<T>, usize> {
    let lines = content.strip_suffix(b"\n").unwrap_or(content);
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let read = |(n, line): (usize, &[u8])| serde_json::from_slice(line).map_err(|_| n + 1);
    lines.split(|byte| *byte == b'\n').enumerate().map(read).collect()
}

fn unreadable(line: usize) -> String {
    format!("line {line} is no record")
}

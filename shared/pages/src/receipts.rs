//! Receipts of participants' acts, in words.

use shared::domain::agreement::Agreement;
use shared::domain::movement::Movement;
use shared::domain::movement::claim::TransferReference;
use shared::domain::movement::source::Side;
use shared::domain::participant::receipt::{ObligationAct, Receipt, ReceiptAct};
use shared::text::movements;
use shared::text::reader::Shown as _;

use crate::agreement_summary::size;
use crate::satisfaction::in_words;
use crate::tasks::find_gate;

/// A receipt's title, with the payment's name if it is among those that are read. Without a subject, it begins with the
/// verb.
#[must_use]
pub fn receipt_title_of(agreement: &Agreement, payments: &[Movement], receipt: &Receipt, who: Option<&str>) -> String {
    let payment = receipt.act.movement_id().and_then(|id| payments.iter().find(|payment| payment.id() == id));
    let payment = payment.and_then(|payment| payment.terms().purpose.as_ref());
    let payment = payment.map_or_else(|| "a payment".to_owned(), |purpose| format!("“{}”", purpose.as_str()));
    let step = |gate| find_gate(agreement, gate).map_or("", |(stage, _)| stage.name.as_str());
    let did = match &receipt.act {
        ReceiptAct::Consented { .. } => "agreed to electronic records".to_owned(),
        ReceiptAct::Withdrew { .. } => "withdrew the consent to electronic records".to_owned(),
        ReceiptAct::Signed { document, .. } => format!("signed “{}”", document.as_str()),
        ReceiptAct::Approved { gate_id, .. } => format!("approved “{}”", step(*gate_id)),
        ReceiptAct::Uploaded { file_name, .. } => format!("uploaded “{}”", file_name.as_str()),
        ReceiptAct::Answered { gate_id, .. } => format!("answered the questions for “{}”", step(*gate_id)),
        ReceiptAct::ReportedSent { .. } => format!("reported {payment} as sent"),
        ReceiptAct::FiledEvidence { source, money, .. } => match source.side() {
            Side::Sender => format!("handed in a document from the bank for {payment}, {}", money.for_people()),
            Side::Receiver => format!("reported {payment} as arrived, {}", money.for_people()),
        },
        ReceiptAct::WithdrewEvidence { .. } => format!("withdrew evidence of {payment}"),
        ReceiptAct::ActedOnObligation { obligation, did, .. } => {
            let did = match did {
                ObligationAct::DeclaredTrigger { .. } => "declared a trigger of",
                ObligationAct::Satisfied { .. } => "said that it is done:",
                ObligationAct::Confirmed { .. } => "confirmed",
                ObligationAct::Verified { .. } => "verified",
            };
            format!("{did} “{}”", obligation.as_str())
        }
        ReceiptAct::Declined { document: Some(document), .. } => format!("declined to sign “{}”", document.as_str()),
        ReceiptAct::Declined { gate_ids, .. } => {
            format!("declined “{}”", gate_ids.first().map_or("", |gate| step(*gate)))
        }
    };
    let did = match &receipt.origin.in_person {
        Some(host) => format!("{did}, {host}"),
        None => did,
    };
    who.map_or_else(|| sentence(&did), |who| format!("{who} {did}"))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn obligation_facts(did: &ObligationAct) -> Vec<(&'static str, String)> {
    let ObligationAct::Satisfied { how, .. } = did else { return Vec::new() };
    let mut facts = vec![("Done on", how.done_on.shown())];
    facts.extend(how.note.as_ref().map(|note| ("Note", note.as_str().to_owned())));
    if let Some(file) = &how.file {
        facts.push(("File", in_words(file)));
        facts.push(("SHA-256 of the file", file.content.sha256.clone()));
    }
    facts
}

/// A receipt's facts, as names and values.
#[must_use]
pub fn receipt_facts(receipt: &Receipt) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Name", receipt.signed_by())];
    match &receipt.act {
        ReceiptAct::Consented { version, sha256 } => {
            facts.push(("Text", format!("Version {version}")));
            facts.push(("SHA-256 of the text", sha256.clone()));
        }
        ReceiptAct::Withdrew { .. } => {}
        ReceiptAct::Signed { document, sha256, signature, statement, .. } => {
            facts.push(("Document", document.as_str().to_owned()));
            facts.push(("SHA-256 of the document", sha256.clone()));
            facts.push(("Statement", statement.clone()));
            facts.push(("Method", signature.to_string()));
        }
        ReceiptAct::Approved { statement, .. } => facts.push(("Statement", statement.clone())),
        ReceiptAct::ActedOnObligation { statement, did, .. } => {
            facts.push(("Statement", statement.clone()));
            facts.extend(obligation_facts(did));
        }
        ReceiptAct::Uploaded { file_name, content, .. } => {
            facts.push(("File", format!("{}, {}", file_name.as_str(), size(content.size_bytes))));
            facts.push(("SHA-256 of the file", content.sha256.clone()));
        }
        ReceiptAct::Answered { revision, sha256, .. } => {
            facts.push(("Revision", revision.to_string()));
            facts.push(("SHA-256 of the answers, with a salt", sha256.clone()));
        }
        ReceiptAct::ReportedSent { claim, .. } => {
            facts.push(("Sent on", claim.sent_on.shown()));
            let reference = |found: &TransferReference| {
                format!("{}: {}", movements::reference_type(found.reference_type()), found.value())
            };
            facts.extend(claim.references.iter().map(|found| ("Reference", reference(found))));
            facts.push(("What it is", "A claim. It proves nothing about the arrival.".to_owned()));
        }
        ReceiptAct::FiledEvidence { source, money, value_day, file, .. } => {
            facts.push(("Source", movements::evidence_source(*source).to_owned()));
            facts.push(("Amount", money.for_people()));
            facts.push(("Value date", value_day.shown()));
            facts.extend(file.iter().map(|file| ("SHA-256 of the file", file.sha256.clone())));
            facts.push(("What it is", movements::assurance(source.assurance()).to_owned()));
        }
        ReceiptAct::WithdrewEvidence { reason, .. } => facts.push(("Reason", reason.as_str().to_owned())),
        ReceiptAct::Declined { reason, .. } => facts.push(("Reason", reason.as_str().to_owned())),
    }
    facts.extend(receipt.origin.in_person.iter().map(|host| ("Where", sentence(&host.to_string()))));
    facts.extend(receipt.origin.address.clone().map(|address| ("Network address", address)));
    facts.extend(receipt.origin.browser.clone().map(|browser| ("Browser", browser)));
    facts
}

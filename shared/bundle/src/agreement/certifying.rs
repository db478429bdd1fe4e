//! The certificate of a completed agreement.
//!
//! - Decision: every participant gets the certificate, and none sees what others answered, uploaded or said. So it has
//!   hashes of uploads and answers, but no file names, reasons or references, and says that someone acted on an
//!   obligation, but not on which or how: others may not be parties. The bundle, for members, has it all.
//! - Decision: a participant's certificate has the amounts they send or receive; members' ones, in bundles, have all.
//! - Decision: it names the agreement's promises, fixed at publication, and leaves out what became of them later.
//! - Decision: a certificate never changes: it has the organization's name as of completion, and no URL of the service.
//! - Decision: a certificate has no email addresses: contacts change, and the service has never seen an address work.

use std::collections::BTreeSet;

use pdf::certificate::{self, Act, Certificate, Consent, Date, Event, Signer};
use pdf::fonts;
use shared::crypto;
use shared::domain::agreement::Document;
use shared::domain::agreement::promise::Promise;
use shared::domain::bundle::{AgreementRecord, CompletedRecord, TimelineEntry};
use shared::domain::ids::{MovementId, ParticipantId, ReceiptId};
use shared::domain::member::Judgment;
use shared::domain::money::Money;
use shared::domain::organization::Organization;
use shared::domain::paper_signature::{PaperSignature, PaperState};
use shared::domain::participant::receipt::{Drawing, Receipt, ReceiptAct, Signature};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::text;

use super::ExportError;

#[cfg(test)]
mod tests;

const ID_CHARS: usize = 32;
/// The height of the certificate's field for signatures of [`Drawing::WIDTH`].
const FIELD_HEIGHT: u16 = 400;

/// The audience of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The members of the organization.
    Members,
    /// A participant.
    Participant(ParticipantId),
}

/// Makes the certificate. The same record and audience give the same file.
pub fn certificate(
    completed: &CompletedRecord,
    organization: &Organization,
    audience: Audience,
) -> Result<Vec<u8>, ExportError> {
    let mut certificate = content(completed, organization, audience);
    // A hash of the whole content: equal ids mean equal certificates.
    certificate.id = crypto::sha256_hex(format!("{certificate:?}").as_bytes());
    certificate.id.truncate(ID_CHARS);
    Ok(certificate::write(&certificate, &fonts::all())?)
}

fn content(completed: &CompletedRecord, organization: &Organization, audience: Audience) -> Certificate {
    let record = completed.record();
    let agreement = &record.agreement;
    let with_file = agreement.documents.iter().filter(|document| document.content.is_some());
    Certificate {
        id: String::new(),
        agreement: agreement.name.as_str().to_owned(),
        organization: organization.name_at(completed.completed_at()).as_str().to_owned(),
        reference: agreement.id().to_string(),
        completed_at: completed.completed_at().for_people_to_the_second(),
        date: date(completed.completed_at()),
        statement: statement(completed),
        documents: with_file.map(|document| of_document(record, document)).collect(),
        promises: agreement.promises.iter().map(|promise| of_promise(record, promise)).collect(),
        acts: acts(record, audience),
        events: completed.acts().map(event).collect(),
    }
}

/// The certificate's statement about itself. It mentions the limit of acts only if some are left out.
fn statement(completed: &CompletedRecord) -> String {
    let what = "The Countersign service recorded what this certificate says when it happened. It names each document by the SHA-256 of its bytes, and is no signature itself: the evidence bundle of the agreement has this file, the documents and the records that its README names under the service’s digital signature.";
    if !completed.has_more_acts() {
        return what.to_owned();
    }
    let most = limits::BUNDLE_ACTS_MAX;
    format!(
        "{what} Its history lists the first {most} acts up to the completion; the evidence bundles have all of them."
    )
}

fn of_document(record: &AgreementRecord, document: &Document) -> certificate::Document {
    certificate::Document {
        name: document.name.as_str().to_owned(),
        sha256: document.content.as_ref().map(|content| content.sha256.clone()).unwrap_or_default(),
        pages: None,
        signers: record
            .signatures(document.id)
            .filter_map(|receipt| signer(record, receipt))
            .chain(record.paper_signatures(document.id).map(signer_on_paper))
            .collect(),
    }
}

fn signer(record: &AgreementRecord, receipt: &Receipt) -> Option<Signer> {
    let ReceiptAct::Signed { sha256, signature, statement, consent, .. } = &receipt.act else { return None };
    Some(Signer {
        name: receipt.signed_by(),
        email: String::new(),
        signed_at: receipt.at.for_people_to_the_second(),
        method: marked(signature.to_string(), receipt),
        intent: statement.clone(),
        consent: consent_of(record, *consent),
        shown_sha256: sha256.clone(),
        address: receipt.origin.address.clone().unwrap_or_default(),
        browser: receipt.origin.browser.clone().unwrap_or_default(),
        signature: Some(match signature {
            Signature::Typed { name } => certificate::Signature::Typed(name.as_str().to_owned()),
            Signature::Drawn { drawing } => certificate::Signature::Drawn(strokes(drawing)),
        }),
    })
}

fn marked(what: String, receipt: &Receipt) -> String {
    match &receipt.origin.in_person {
        Some(host) => format!("{what}, {host}"),
        None => what,
    }
}

/// Nothing was electronic: there is no consent, statement, address or browser, and nothing was shown.
fn signer_on_paper(paper: &PaperSignature) -> Signer {
    let recorded = format!(
        "On paper, on a copy of the document with the SHA-256 {}. {} recorded a scan (SHA-256 {}) on {}. How it came: {}.",
        paper.sha256,
        paper.recorded_by.display_name,
        paper.scan.content.sha256,
        paper.recorded_at.for_people_to_the_second(),
        paper.how_it_came.as_str()
    );
    let decided = match &paper.state {
        PaperState::Confirmed { by, at } => {
            format!(" {} confirmed it on {}.", by.display_name, at.for_people_to_the_second())
        }
        PaperState::CountedAlone { .. } => " The organization had no second member to confirm it.".to_owned(),
        PaperState::Pending | PaperState::Rejected { .. } => String::new(),
    };
    Signer {
        name: paper.signed_by(),
        email: String::new(),
        signed_at: paper.signed_on.for_people(),
        method: recorded + &decided,
        intent: String::new(),
        consent: None,
        shown_sha256: String::new(),
        address: String::new(),
        browser: String::new(),
        signature: None,
    }
}

fn consent_of(record: &AgreementRecord, id: ReceiptId) -> Option<Consent> {
    let receipt = record.receipt(id)?;
    let ReceiptAct::Consented { version, sha256 } = &receipt.act else { return None };
    let (version, sha256) = (version.clone(), sha256.clone());
    Some(Consent { version, sha256, given_at: receipt.at.for_people_to_the_second() })
}

pub(crate) fn strokes(drawing: &Drawing) -> Vec<Vec<(f32, f32)>> {
    let above = f32::from((FIELD_HEIGHT - Drawing::HEIGHT) / 2);
    let lines = drawing.path().split('M').filter(|line| !line.is_empty());
    let point = |text: &str| {
        let (x, y) = text.split_once(' ')?;
        Some((x.parse::<f32>().ok()?, y.parse::<f32>().ok()? + above))
    };
    lines.map(|line| line.split('L').filter_map(point).collect()).collect()
}

fn of_promise(record: &AgreementRecord, promise: &Promise) -> certificate::Promise {
    let names =
        |side: &BTreeSet<ParticipantId>| side.iter().map(|id| name_of(record, *id)).collect::<Vec<_>>().join(", ");
    certificate::Promise {
        name: promise.name.as_str().to_owned(),
        parties: format!("{} to {}", names(promise.parties.promisors()), names(promise.parties.promisees())),
        due: text::promise_terms(&promise.terms),
    }
}

fn acts(record: &AgreementRecord, audience: Audience) -> Vec<Act> {
    let of_receipts = record.receipts.iter().filter_map(|receipt| {
        let what = what(receipt, record, audience)?;
        Some((receipt.at, receipt.name.as_str().to_owned(), marked(what, receipt)))
    });
    let of_verifications = record.verifications.iter().map(|verification| {
        let what = format!(
            "Recorded that the identity of {} was verified on {}: {}",
            name_of(record, verification.participant_id),
            verification.day.for_people(),
            verification.method.as_str()
        );
        (verification.recorded_at, verification.recorded_by.display_name.clone(), what)
    });
    let of_reviews = record.file_reviews.iter().map(|review| {
        let did = match &review.judgment {
            Judgment::Accept => "Accepted the file of",
            Judgment::Return(_) => "Returned the file of",
        };
        let what = format!("{did} {}", name_of(record, review.participant_id));
        (review.reviewed_at, review.reviewed_by.display_name.clone(), what)
    });
    let of_papers = record.papers.iter().flat_map(|paper| {
        let (name, document) = (paper.signed_by(), paper.document.as_str());
        let what = format!("Recorded that {name} signed “{document}” on paper on {}", paper.signed_on.for_people());
        let recorded = (paper.recorded_at, paper.recorded_by.display_name.clone(), what);
        let confirmed = match &paper.state {
            PaperState::Confirmed { by, at } => {
                let what = format!("Confirmed that {name} signed “{document}” on paper");
                Some((*at, by.display_name.clone(), what))
            }
            _ => None,
        };
        std::iter::once(recorded).chain(confirmed)
    });
    let mut all: Vec<(Timestamp, String, String)> =
        of_receipts.chain(of_verifications).chain(of_reviews).chain(of_papers).collect();
    all.sort_by_key(|(at, ..)| *at);
    let act = |(at, actor, what): (Timestamp, String, String)| Act { at: at.for_people_to_the_second(), actor, what };
    all.into_iter().map(act).collect()
}

fn amount_of(record: &AgreementRecord, id: MovementId, audience: Audience) -> Option<Money> {
    let movement = &record.payments.iter().find(|payment| payment.movement.id() == id)?.movement;
    let terms = movement.terms();
    let is_for = match audience {
        Audience::Members => true,
        Audience::Participant(own) => [terms.sender, terms.receiver].contains(&Some(own)),
    };
    terms.money.filter(|_| is_for)
}

/// A receipt's act in words. None for signatures, which are listed with their documents.
fn what(receipt: &Receipt, record: &AgreementRecord, audience: Audience) -> Option<String> {
    let payment =
        |of: Option<Money>| of.map_or("a payment".to_owned(), |of| format!("a payment of {}", of.for_people()));
    Some(match &receipt.act {
        ReceiptAct::Signed { .. } => return None,
        ReceiptAct::Consented { version, .. } => format!("Agreed to electronic records (text of version {version})"),
        ReceiptAct::Withdrew { .. } => "Withdrew the consent to electronic records".to_owned(),
        ReceiptAct::Approved { statement, .. } => format!("Approved: “{statement}”"),
        ReceiptAct::Uploaded { content, .. } => format!("Uploaded a file, SHA-256 {}", content.sha256),
        ReceiptAct::Answered { revision, sha256, .. } => {
            format!("Sent answers, revision {revision}, SHA-256 {sha256}")
        }
        ReceiptAct::ReportedSent { movement_id, .. } => {
            format!("Reported {} as sent", payment(amount_of(record, *movement_id, audience)))
        }
        ReceiptAct::FiledEvidence { movement_id, money, .. } => {
            let own = amount_of(record, *movement_id, audience).map(|of| (of, *money));
            let part = own.filter(|(of, money)| of != money).map(|(_, money)| format!(", for {}", money.for_people()));
            format!("Filed evidence of {}{}", payment(own.map(|(of, _)| of)), part.unwrap_or_default())
        }
        ReceiptAct::WithdrewEvidence { movement_id, .. } => {
            format!("Withdrew evidence of {}", payment(amount_of(record, *movement_id, audience)))
        }
        ReceiptAct::ActedOnObligation { .. } => "Acted on an obligation".to_owned(),
        ReceiptAct::Declined { document: Some(document), .. } => format!("Declined to sign “{}”", document.as_str()),
        ReceiptAct::Declined { .. } => "Declined".to_owned(),
    })
}

fn name_of(record: &AgreementRecord, id: ParticipantId) -> &str {
    let acted = record.receipts.iter().rev().find(|receipt| receipt.participant_id == id);
    let contact = || {
        let contact = record.agreement.participant(id)?.contact_id;
        record.contacts.iter().find(|found| found.id == contact)
    };
    let of_contact = || contact().map_or("a participant", |contact| contact.display_name.as_str());
    acted.map_or_else(of_contact, |receipt| receipt.name.as_str())
}

fn event(TimelineEntry { call, act }: &TimelineEntry) -> Event {
    let what = text::act(act, |_| None);
    let name = format!("{what}: {}", act.actor.display_name);
    Event { at: act.at.for_people_to_the_second(), name, id: call.to_string() }
}

fn date(at: Timestamp) -> Date {
    let text = at.to_string();
    let part =
        |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<u16>().ok()).unwrap_or_default();
    let small = |from: usize| u8::try_from(part(from, from + 2)).unwrap_or_default();
    Date { year: part(0, 4), month: small(5), day: small(8), hour: small(11), minute: small(14), second: small(17) }
}

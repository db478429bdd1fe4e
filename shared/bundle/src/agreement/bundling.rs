use std::collections::{BTreeMap, BTreeSet};

use crate::{About, File, SigningKey};
use bytes::Bytes;
use shared::api::views::agreements::AgreementView;
use shared::domain::agreement::DocumentContent;
use shared::domain::bundle::{AgreementRecord, BundleContents, LaterActs};
use shared::domain::contact::Email as ContactEmail;
use shared::domain::ids::{AgreementId, DocumentId, ReceiptId};
use shared::domain::organization::Organization;
use shared::domain::participant::consent::{self, ConsentText};
use shared::domain::participant::receipt::ReceiptAct;
use shared::domain::time::Timestamp;
use shared::platform::config::BaseUrl;
use shared::service::agreements::AgreementInFull;

use super::files::{Files, file};
use super::lines::{
    ActLine, Addressee, AgreementFile, AuditLine, DocumentPath, FileReviewLine, Former, Named, PaperLine, ReceiptLine,
    VerificationLine, lines, object,
};
use super::satisfactions::satisfaction_paths;
use super::{Audience, ExportError, StatementExtract, answers, certifying, guide, obligations, paths, payments};

/// Bundles what was recorded about an agreement, its files and the statement entries that prove payments. All must exist.
pub fn bundle(
    gathered: &BundleContents,
    extracts: &[StatementExtract],
    organization: &Organization,
    service: &BaseUrl,
    files: &Files,
    key: &SigningKey,
) -> Result<Vec<u8>, ExportError> {
    let record = &gathered.record;
    let documents = documents(record);
    let uploads = uploads(record);
    let mut contents: BTreeMap<String, Bytes> = BTreeMap::new();
    for (_, path, content) in &documents {
        contents.insert(path.clone(), file(files, content)?);
    }
    for (path, content) in uploads.values() {
        contents.insert(path.clone(), file(files, content)?);
    }
    let scans = scans(record);
    for (path, content) in &scans {
        contents.insert(path.clone(), file(files, content)?);
    }
    let of_receipt = |id: &ReceiptId| uploads.get(id).map(|(path, _)| path.as_str());
    let satisfactions = satisfaction_paths(record);
    let receipts =
        record.receipts.iter().map(|receipt| ReceiptLine::new(receipt, of_receipt(&receipt.id), &satisfactions));
    let about_agreement = object(&agreement_file(record, &documents, organization, service))?;
    contents.insert("agreement.json".to_owned(), about_agreement.into());
    contents.insert("timeline.jsonl".to_owned(), lines(record.timeline.iter().map(ActLine::from))?.into());
    contents.insert("receipts.jsonl".to_owned(), lines(receipts)?.into());
    let verifications = lines(record.verifications.iter().map(VerificationLine::from))?;
    contents.insert("verifications.jsonl".to_owned(), verifications.into());
    contents.insert(
        "file_reviews.jsonl".to_owned(),
        lines(record.file_reviews.iter().map(|review| FileReviewLine::new(record, review)))?.into(),
    );
    let papers = record.papers.iter().zip(&scans).map(|(paper, (path, _))| PaperLine::new(paper, path));
    contents.insert("paper_signatures.jsonl".to_owned(), lines(papers)?.into());
    contents.insert("audit.jsonl".to_owned(), lines(gathered.audit_rows.iter().map(AuditLine::from))?.into());
    contents.extend(payments::contents(record, files)?);
    contents.extend(obligations::contents(record, &satisfactions, files)?);
    contents.insert("statement_extracts.jsonl".to_owned(), lines(extracts.iter())?.into());
    contents.extend(answers::contents(record, files)?);
    contents.extend(consents(record, &consent::TEXTS)?);
    let completed = gathered.completed.as_ref();
    if let Some(completed) = completed {
        contents.insert(
            "certificate.pdf".to_owned(),
            certifying::certificate(completed, organization, Audience::Members)?.into(),
        );
    }
    let guide = guide::text(record, organization, service, completed.is_some());
    contents.insert("README.txt".to_owned(), guide.into_bytes().into());

    written(&contents, record.agreement.id(), record.as_of(), organization, service, key)
}

/// Makes the bundle of a later part of an agreement: acts and their calls' audit rows.
pub fn bundle_of_acts(
    later: &LaterActs,
    organization: &Organization,
    service: &BaseUrl,
    key: &SigningKey,
) -> Result<Vec<u8>, ExportError> {
    let contents: BTreeMap<String, Bytes> = [
        ("README.txt".to_owned(), guide::of_acts(later, organization, service).into_bytes().into()),
        ("timeline.jsonl".to_owned(), lines(later.timeline.iter().map(ActLine::from))?.into()),
        ("audit.jsonl".to_owned(), lines(later.audit_rows.iter().map(AuditLine::from))?.into()),
    ]
    .into();
    written(&contents, later.agreement.id(), later.part.newest, organization, service, key)
}

fn written(
    contents: &BTreeMap<String, Bytes>,
    agreement: AgreementId,
    as_of: Timestamp,
    organization: &Organization,
    service: &BaseUrl,
    key: &SigningKey,
) -> Result<Vec<u8>, ExportError> {
    let about = About {
        service: &service.to_string(),
        organization_id: &organization.id.to_string(),
        agreement_id: &agreement.to_string(),
        created_at: &as_of.to_string(),
    };
    let files: Vec<File<'_>> = contents.iter().map(|(path, content)| File { path, content }).collect();
    Ok(crate::write(&about, &files, key)?)
}

fn documents(record: &AgreementRecord) -> Vec<(DocumentId, String, &DocumentContent)> {
    let with_file = record.agreement.documents.iter().filter_map(|found| Some((found, found.content.as_ref()?)));
    let numbered = with_file.enumerate().map(|(n, (document, content))| {
        (document.id, paths::numbered("documents", n + 1, document.name.as_str(), "pdf"), content)
    });
    numbered.collect()
}

fn uploads(record: &AgreementRecord) -> BTreeMap<ReceiptId, (String, &DocumentContent)> {
    let uploaded = record.receipts.iter().filter_map(|receipt| match &receipt.act {
        ReceiptAct::Uploaded { file_name, content, file_type, .. } => {
            Some((receipt.id, file_name, content, *file_type))
        }
        _ => None,
    });
    let numbered = uploaded.enumerate().map(|(n, (id, name, content, file_type))| {
        (id, (paths::numbered("uploads", n + 1, name.as_str(), file_type.extension()), content))
    });
    numbered.collect()
}

fn scans(record: &AgreementRecord) -> Vec<(String, &DocumentContent)> {
    let scans = record.papers.iter().map(|paper| &paper.scan).enumerate();
    let numbered = scans.map(|(n, scan)| {
        let path = paths::numbered("scans", n + 1, scan.file_name.as_str(), scan.file_type.extension());
        (path, &scan.content)
    });
    numbered.collect()
}

fn agreement_file<'a>(
    record: &'a AgreementRecord,
    documents: &'a [(DocumentId, String, &DocumentContent)],
    organization: &'a Organization,
    service: &BaseUrl,
) -> AgreementFile<'a> {
    let (agreement, contacts) = (record.agreement.clone(), record.contacts.clone());
    let (blockers, payments_wait_for) = (Vec::new(), BTreeMap::new());
    let in_full = AgreementInFull { agreement, contacts, blockers, is_proposed: false, payments_wait_for };
    let emails = record.agreement.participants.iter().map(|participant| {
        let contact = record.contacts.iter().find(|contact| contact.id == participant.contact_id);
        let email = contact.and_then(|contact| contact.email.as_ref()).map(ContactEmail::as_str);
        let since = participant.contact_version.unwrap_or_default();
        let changed = contact.and_then(|contact| contact.changed_since(since));
        let former = changed.map(|changed| changed.changes.iter().map(Former::from).collect()).unwrap_or_default();
        Addressee { participant_id: participant.id, email, former }
    });
    AgreementFile {
        organization: Named { id: organization.id.to_string(), name: organization.name.as_str() },
        agreement: AgreementView::of(&in_full, service),
        emails: emails.collect(),
        document_paths: documents.iter().map(|(id, path, _)| DocumentPath { document_id: *id, path }).collect(),
    }
}

/// The texts that participants consented to, matched to receipts by SHA-256.
///
/// Decision: a missing text is an error. Nobody could say what was consented to; the release must restore it.
fn consents(record: &AgreementRecord, texts: &[ConsentText]) -> Result<BTreeMap<String, Bytes>, ExportError> {
    let given = record.receipts.iter().filter_map(|receipt| match &receipt.act {
        ReceiptAct::Consented { sha256, .. } => Some(sha256),
        _ => None,
    });
    let file = |sha256: &String| {
        let found = texts.iter().find(|text| text.sha256() == *sha256);
        let text = found.ok_or_else(|| ExportError::NoConsentText(sha256.clone()))?;
        Ok((format!("consent/{}.txt", text.version), text.text().into()))
    };
    given.collect::<BTreeSet<_>>().into_iter().map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::tests::{consented, record};

    #[test]
    fn every_text_that_a_receipt_names_is_there() {
        let texts = [
            ConsentText { version: "2026-11", paragraphs: &["You agree.", "You don’t have to."] },
            ConsentText { version: "2027-02", paragraphs: &["You agree to more."] },
            ConsentText { version: "2027-05", paragraphs: &["You agree to less."] },
        ];
        let mut record = record();
        let other = |found: &ReceiptAct| !matches!(found, ReceiptAct::Consented { .. });
        record.receipts.retain(|receipt| other(&receipt.act));
        assert_eq!(consents(&record, &texts).unwrap(), BTreeMap::new());
        for (n, text) in [(6, texts[0]), (7, texts[1]), (8, texts[0])] {
            record.receipts.push(consented(n, &text));
        }
        let found = consents(&record, &texts).unwrap();
        let expected = [
            ("consent/2026-11.txt".to_owned(), "You agree.\nYou don’t have to.".into()),
            ("consent/2027-02.txt".to_owned(), "You agree to more.".into()),
        ];
        assert_eq!(found, expected.into());
        let lost = consents(&record, &texts[1..]);
        assert!(matches!(lost, Err(ExportError::NoConsentText(sha256)) if sha256 == texts[0].sha256()));
    }
}

//! An agreement's files: the bundle, for members; a completed agreement's certificate, for all.
//!
//! - Decision: they are links, not forms. An export changes nothing, is audited like every call, and yields the same
//!   bytes twice. And the pages' policy (`form-action 'self'`) would block a form's redirect to the file store.
//! - Decision: a bundle is built in memory, since its manifest comes first. Larger files go through the file store.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use askama::Template;
use axum::body::Bytes;
use bundle::SigningKey;
use bundle::agreement::{self, Audience, ExportError, Files};
use futures_util::future::try_join_all;
use http::StatusCode;
use pages::agreement_summary::size;
use pages::labels::grouped;
use pages::layout::{Layout, Link};
use pages::response::{MessagePage, PageResponse};
use pages::urls::{agreement_url, part_url};
use shared::domain::agreement::{AgreementName, DocumentContent};
use shared::domain::bundle::{BundleContents, CompletedRecord, HistoryPart, NoBundle};
use shared::domain::ids::{AgreementId, OrgId};
use shared::domain::organization::Organization;
use shared::error::{Error, ErrorCode};
use shared::limits;
use shared::platform::config::BaseUrl;
use shared::platform::files::FilesError;
use shared::service::bundle as contents;
use shared::web::Request;

use crate::statement_extract::{self, Unread};

pub(crate) async fn export_bundle(request: &mut Request) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let signed_in = request.signed_in()?;
    match contents::of_agreement(signed_in.scope(), id).await? {
        Ok(found) => export(request, id, found).await,
        Err(NoBundle::InParts(of)) => {
            PageResponse::render(&PartsPage::new(request, id, u64::try_from(of).unwrap_or(u64::MAX)))
        }
        Err(none) => refused(request, agreement_link(id), none),
    }
}

pub(crate) async fn export_part(request: &mut Request) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let number: NonZeroUsize = request.path_id("part")?;
    let scope = request.signed_in()?.scope();
    if number.get() == 1 {
        return match contents::first_part(scope, id).await? {
            Ok(found) => export(request, id, found).await,
            Err(none) => refused(request, agreement_link(id), none),
        };
    }
    let later = contents::later_acts(scope, id, number.get()).await?;
    let (organization, service, key) = signing(request).await?;
    let (name, kind) = (later.agreement.name.clone(), kind(Some(later.part)));
    let write = move || agreement::bundle_of_acts(&later, &organization, &service, &key);
    let bundle = apart(write).await?;
    let org = request.signed_in()?.scope().org();
    let response = hand_out(request, org, bundle, "application/zip", &name, &kind, "zip");
    Ok(response.await?.showing([id.uuid()]))
}

#[derive(Template)]
#[template(path = "evidence_parts.html")]
struct PartsPage {
    layout: Layout,
    most: String,
    parts: Vec<Link>,
    back: Link,
}

impl PartsPage {
    fn new(request: &Request, id: AgreementId, of: u64) -> Self {
        let most = u64::try_from(limits::BUNDLE_ACTS_MAX).unwrap_or(u64::MAX);
        let link = |number: u64| {
            let (first, last) = (grouped((number - 1) * most + 1), grouped(number * most));
            let text = match number {
                1 => format!("Part 1: everything, and the first {last} acts"),
                _ if number == of => format!("Part {number}: the acts from number {first} on"),
                _ => format!("Part {number}: acts {first} to {last}"),
            };
            Link { url: format!("/app/evidence/agreements/{id}/bundle/{number}"), text }
        };
        let parts = (1..=of).map(link).collect();
        Self { layout: Layout::new(request), most: grouped(most), parts, back: agreement_link(id) }
    }
}

fn kind(part: Option<HistoryPart>) -> String {
    part.map_or_else(|| "evidence".to_owned(), |part| format!("evidence part {} of {}", part.number, part.of))
}

async fn signing(request: &Request) -> Result<(Organization, BaseUrl, SigningKey), Error> {
    let keyring = request.app().webhooks()?.keys.keyring().await?;
    let key = bundle::keyring::signing_key(&keyring).map_err(|error| Error::Internal(error.to_string()))?;
    Ok((request.signed_in()?.organization().clone(), request.app().base_url.clone(), key))
}

async fn export(request: &Request, id: AgreementId, found: BundleContents) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let files = match read(request, signed_in.scope().org(), found.record.files()).await {
        Ok(files) => files,
        Err(error) => return unreadable(request, agreement_link(id), error),
    };
    let extracts = match statement_extract::extracts(request, signed_in.scope().org(), &found).await {
        Ok(extracts) => extracts,
        Err(Unread::File(error)) => return unreadable(request, agreement_link(id), ReadError::File(error)),
        Err(Unread::Other(error)) => return Err(error),
    };
    let (organization, service, key) = signing(request).await?;
    let (name, kind) = (found.record.agreement.name.clone(), kind(found.record.part));
    let write = move || agreement::bundle(&found, &extracts, &organization, &service, &files, &key);
    let bundle = apart(write).await?;
    let response = hand_out(request, signed_in.scope().org(), bundle, "application/zip", &name, &kind, "zip");
    Ok(response.await?.showing([id.uuid()]))
}

pub(crate) async fn show_certificate(request: &mut Request) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let signed_in = request.signed_in()?;
    let found = contents::completed(signed_in.scope(), id).await?;
    let (organization, link) = (signed_in.organization().clone(), agreement_link(id));
    Ok(certificate(request, found, organization, Audience::Members, link).await?.showing([id.uuid()]))
}

pub(crate) async fn own_certificate(request: &mut Request) -> Result<PageResponse, Error> {
    let session = request.participant_session()?;
    let by = session.participant();
    let found = contents::completed_of(session.scope(), by).await?;
    let back = Link { url: part_url(by.id()), text: "Go to your agreement".to_owned() };
    let (organization, audience) = (session.organization().clone(), Audience::Participant(by.id()));
    let shown = [by.agreement_id().uuid(), by.id().uuid()];
    Ok(certificate(request, found, organization, audience, back).await?.showing(shown))
}

fn agreement_link(id: AgreementId) -> Link {
    Link { url: agreement_url(id), text: "Go to the agreement".to_owned() }
}

async fn certificate(
    request: &Request,
    found: Result<CompletedRecord, NoBundle>,
    organization: Organization,
    audience: Audience,
    back: Link,
) -> Result<PageResponse, Error> {
    let found = match found {
        Ok(found) => found,
        Err(none) => return refused(request, back, none),
    };
    let org = organization.id;
    let name = found.record().agreement.name.clone();
    let file = apart(move || agreement::certificate(&found, &organization, audience)).await?;
    hand_out(request, org, file, "application/pdf", &name, "certificate", "pdf").await
}

/// Writes a file on a blocking thread, because it takes CPU time.
async fn apart(write: impl FnOnce() -> Result<Vec<u8>, ExportError> + Send + 'static) -> Result<Bytes, Error> {
    let written = tokio::task::spawn_blocking(write).await.map_err(|error| Error::Internal(error.to_string()))?;
    written.map(Bytes::from).map_err(|error| Error::Internal(error.to_string()))
}

async fn read(request: &Request, org: OrgId, wanted: Vec<&DocumentContent>) -> Result<Files, ReadError> {
    let store = request.app().files().map_err(ReadError::Other)?;
    let mut files = Files::new();
    for some in wanted.chunks(limits::BUNDLE_FILES_AT_ONCE) {
        let read = some.iter().map(|content| async move {
            let file = store.get(org, content).await.map_err(ReadError::File)?;
            Ok::<_, ReadError>((content.sha256.clone(), file))
        });
        files.extend(try_join_all(read).await?);
    }
    Ok(files)
}

enum ReadError {
    File(FilesError),
    Other(Error),
}

async fn hand_out(
    request: &Request,
    org: OrgId,
    file: Bytes,
    media_type: &'static str,
    agreement: &AgreementName,
    kind: &str,
    ending: &str,
) -> Result<PageResponse, Error> {
    let name = format!("{} {kind}.{ending}", agreement.as_str());
    if file.len() > limits::FILE_BYTES_MAX
        && let Some(link) = request.app().files()?.hand_out(org, file.clone(), &name).await?
    {
        return Ok(PageResponse::see_other(link));
    }
    Ok(PageResponse::file(file, media_type, "attachment", &name))
}

fn refused(request: &Request, back: Link, none: NoBundle) -> Result<PageResponse, Error> {
    let (title, text): (&'static str, Cow<'static, str>) = match none {
        // The full export lists the parts; nothing else asks for them.
        NoBundle::NotPublished | NoBundle::InParts(_) => return Ok(PageResponse::see_other(back.url)),
        NoBundle::NotCompleted => (
            "There is no certificate yet",
            "An agreement has a certificate once its completion is recorded, at most two minutes after its last step is done.".into(),
        ),
        NoBundle::TooLarge(bytes) => (
            "This agreement has too many files to export",
            format!(
                "Its files have {} in all, and a bundle holds at most {}. Nothing was exported. Download the documents and uploaded files one by one.",
                size(bytes),
                size(limits::BUNDLE_FILE_BYTES_MAX)
            )
            .into(),
        ),
    };
    let page = message(request, title, text, back, false)?;
    Ok(page.with_status(StatusCode::CONFLICT, ErrorCode::Conflict.as_str()))
}

/// The page for an unreadable file. A bundle without it would not be the evidence.
fn unreadable(request: &Request, back: Link, error: ReadError) -> Result<PageResponse, Error> {
    let error = match error {
        ReadError::File(error @ (FilesError::NotThere | FilesError::Damaged)) => error,
        ReadError::File(other) => return Err(other.into()),
        ReadError::Other(error) => return Err(error),
    };
    let text = "The file store no longer has one of the files as it was uploaded. Nothing was exported, because a bundle without it would not be whole. Send the number below to the operator of this service, who can restore the file from a backup.";
    let page = message(request, "A file of this agreement is missing or damaged", text.into(), back, true)?;
    let page = page.with_status(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::InternalError.as_str());
    Ok(page.because(format!("evidence: {error}")))
}

fn message(
    request: &Request,
    title: &'static str,
    text: Cow<'static, str>,
    link: Link,
    shows_request_id: bool,
) -> Result<PageResponse, Error> {
    let layout =
        if request.participant_session().is_ok() { Layout::of_participant(request) } else { Layout::new(request) };
    PageResponse::render(&MessagePage { layout, title, text, link, shows_request_id })
}

//! A request of the API, and readers of its parts.

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, request};
use uuid::Uuid;

use crate::api::operation::OperationSpec;
use crate::limits;
use crate::store::idempotency::IdempotencyKey;
use crate::wire::body::{self, NotReceived};
use crate::wire::fields::{BODY, FieldCode, FieldErrors};
use crate::wire::input;

/// Errors found while converting another protocol's message to a request. The pipeline reports them with its own.
#[derive(Debug, Clone)]
pub struct Misread(pub FieldErrors);

pub(super) struct Incoming {
    pub parts: request::Parts,
    path: Option<Vec<(String, String)>>,
}

pub(super) struct ReceivedBody(Result<Vec<u8>, FieldErrors>);

impl ReceivedBody {
    /// Call it after checking the headers, so that their refusals don't wait for the body.
    pub(super) async fn receive(body: Body) -> Self {
        let received = body::receive(body, limits::BODY_BYTES_MAX, limits::BODY_BYTES_DISCARDED_MAX).await;
        Self(received.map_err(|reason| match reason {
            NotReceived::TooLong => input::body_too_long(),
            NotReceived::Incomplete => {
                FieldErrors::one(BODY, FieldCode::MalformedJson, "must arrive completely, as the request announces it")
            }
        }))
    }
}

impl Incoming {
    pub(super) async fn split(request: Request<Body>) -> (Self, Body) {
        let (mut parts, body) = request.into_parts();
        let parameters = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        (Self { path: parameters.map(|found| found.iter().map(owned).collect()), parts }, body)
    }

    pub(super) fn named(&self) -> Vec<u8> {
        let values = self.path.iter().flatten().map(|(_, value)| value);
        values.filter_map(|value| Uuid::try_parse(value).ok()).flat_map(Uuid::into_bytes).collect()
    }

    pub(super) fn read_path<T: deserr::Deserr<FieldErrors>>(&self, spec: &OperationSpec) -> Result<T, FieldErrors> {
        if let Some(path) = &self.path {
            return input::read_path(path.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        }
        // axum doesn't name the parameter; no path has more than one.
        let name = spec.path.split(['{', '}']).nth(1).unwrap_or_default();
        Err(FieldErrors::one(format!("path.{name}"), FieldCode::InvalidFormat, "must be percent-encoded UTF-8"))
    }

    pub(super) fn misread(&self) -> Result<(), FieldErrors> {
        match self.parts.extensions.get() {
            Some(Misread(errors)) if !errors.is_empty() => Err(errors.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn read_query<T: deserr::Deserr<FieldErrors>>(&self) -> Result<T, FieldErrors> {
        input::read_query(self.parts.uri.query())
    }

    pub(super) fn read_body<T: deserr::Deserr<FieldErrors>>(&self, body: &ReceivedBody) -> Result<T, FieldErrors> {
        check_content_type(&self.parts.headers)?;
        body::check_encoding(&self.parts.headers)?;
        input::read_body(body.0.as_ref().map_err(Clone::clone)?)
    }

    pub(super) fn idempotency_key(&self, body: &ReceivedBody) -> Result<Option<IdempotencyKey>, FieldErrors> {
        let body = body.0.as_deref().unwrap_or_default();
        IdempotencyKey::read(&self.parts.headers, self.parts.method.as_str(), self.parts.uri.path(), body)
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), FieldErrors> {
    let wrong = |code| FieldErrors::one("header.content-type", code, "must be application/json, in UTF-8");
    let value = headers.get(CONTENT_TYPE).ok_or_else(|| wrong(FieldCode::Required))?;
    let text = value.to_str().map_err(|_| wrong(FieldCode::InvalidValue))?;
    let mut parts = text.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        !name.eq_ignore_ascii_case("charset") || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    if is_json && is_utf8 { Ok(()) } else { Err(wrong(FieldCode::InvalidValue)) }
}

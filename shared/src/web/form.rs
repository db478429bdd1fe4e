//! Forms: what a person filled in, and whether it comes from a page of ours.

use axum::body::Body;
use futures_util::StreamExt;
use http::HeaderMap;
use http::header::{self, CONTENT_TYPE};

use crate::limits;
use crate::platform::app_state::AppState;
use crate::wire::fields::{BODY, FieldCode, FieldErrors};

/// The field of a form that says that it is this browser's.
pub const FORM_TOKEN: &str = "form_token";

/// What a form was filled in with, each field once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    fn parse(bytes: &[u8]) -> Result<Self, FieldErrors> {
        let fields: Vec<(String, String)> =
            form_urlencoded::parse(bytes).into_owned().take(limits::FORM_FIELDS_MAX + 1).collect();
        if fields.len() > limits::FORM_FIELDS_MAX {
            let message = format!("must have at most {} fields", limits::FORM_FIELDS_MAX);
            return Err(FieldErrors::one("body", FieldCode::LimitReached, message));
        }
        for (at, (name, _)) in fields.iter().enumerate() {
            if fields[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(FieldErrors::one(name.as_str(), FieldCode::InvalidValue, "may be given only once"));
            }
        }
        Ok(Self(fields))
    }

    /// Receives a form, but no more of it than one can have.
    pub(super) async fn receive(headers: &HeaderMap, body: Body) -> Result<Self, FieldErrors> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let message = "must be application/x-www-form-urlencoded";
            return Err(FieldErrors::one("header.content-type", FieldCode::InvalidValue, message));
        }
        let mut chunks = body.into_data_stream();
        let mut received = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let broke_off = |_| FieldErrors::one(BODY, FieldCode::InvalidFormat, "broke off before its end");
            received.extend_from_slice(&chunk.map_err(broke_off)?);
            if received.len() > limits::FORM_BYTES_MAX {
                return Err(FieldErrors::one(BODY, FieldCode::TooLong, "is more than a form can have"));
            }
        }
        Self::parse(&received)
    }

    /// A field's value; empty when it was not sent.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

/// Whether what the browser says about where a form comes from, if it says so, is this very host.
pub(super) fn is_from_here(app: &AppState, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site_fits = text(header::HeaderName::from_static("sec-fetch-site")).is_none_or(|site| site == "same-origin");
    let origin_fits = text(header::ORIGIN).is_none_or(|origin| is_here(app, headers, origin));
    site_fits && origin_fits
}

/// Whether an origin is this host, under any of its names: a person may have opened the local stack under another.
pub(super) fn is_here(app: &AppState, headers: &HeaderMap, origin: &str) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| !host.is_empty());
    let is_host = host.is_some_and(|host| origin.split_once("://").is_some_and(|(_, authority)| authority == host));
    origin == app.base_url.to_string() || is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_there_once() {
        let form = Form::parse(b"note=a+b%0D%0Ac&decision=confirm").unwrap();
        assert_eq!((form.get("note"), form.get("decision"), form.get("x")), ("a b\r\nc", "confirm", ""));
        assert!(Form::parse(b"decision=confirm&decision=decline").is_err());
    }
}

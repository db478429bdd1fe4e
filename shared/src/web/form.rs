//! Form bodies, and the check that a form was sent from this origin.

use axum::body::Body;
use http::HeaderMap;
use http::header::{self, CONTENT_TYPE};

use crate::limits;
use crate::platform::app_state::AppState;
use crate::wire::body::{self, NotReceived};
use crate::wire::fields::{BODY, FieldCode, FieldErrors};

/// The form field with the CSRF token.
pub const FORM_TOKEN: &str = "form_token";

/// The fields of a form. Each field occurs at most once.
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

    /// Reads a form from a body, up to [`limits::FORM_BYTES_MAX`] bytes.
    pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Self, FieldErrors> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let message = "must be application/x-www-form-urlencoded";
            return Err(FieldErrors::one("header.content-type", FieldCode::InvalidValue, message));
        }
        let received = body::receive(body, limits::FORM_BYTES_MAX, limits::FORM_BYTES_MAX).await;
        let bytes = received.map_err(|reason| match reason {
            NotReceived::TooLong => FieldErrors::one(BODY, FieldCode::TooLong, "is more than a form can have"),
            NotReceived::Incomplete => FieldErrors::one(BODY, FieldCode::InvalidFormat, "broke off before its end"),
        })?;
        Self::parse(&bytes)
    }

    /// The value of a field. Empty, if the field was not sent.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

/// Whether `Origin` and `Sec-Fetch-Site`, where the browser sends them, name this origin.
pub(super) fn is_same_origin(app: &AppState, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_same_site = text(header::HeaderName::from_static("sec-fetch-site")).is_none_or(|site| site == "same-origin");
    let is_from_origin = text(header::ORIGIN).is_none_or(|origin| is_own_origin(app, headers, origin));
    is_same_site && is_from_origin
}

/// Whether an origin is the base URL or names the request's host. The local stack answers under several names.
pub(super) fn is_own_origin(app: &AppState, headers: &HeaderMap, origin: &str) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| !host.is_empty());
    let is_host = host.is_some_and(|host| origin.split_once("://").is_some_and(|(_, authority)| authority == host));
    origin == app.base_url.to_string() || is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_field_is_refused() {
        let form = Form::parse(b"note=a+b%0D%0Ac&decision=confirm").unwrap();
        assert_eq!((form.get("note"), form.get("decision"), form.get("x")), ("a b\r\nc", "confirm", ""));
        assert!(Form::parse(b"decision=confirm&decision=decline").is_err());
    }
}

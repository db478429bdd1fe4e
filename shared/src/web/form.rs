//! Form bodies, and the check that a form was sent from this origin.

use axum::body::Body;
use deserr::Deserr;
use http::HeaderMap;
use http::header::{self, CONTENT_TYPE};
use serde_json::{Map, Value as Json};

use crate::limits;
use crate::platform::app_state::AppState;
use crate::wire::body::{self, NotReceived};
use crate::wire::fields::{BODY, FieldCode, FieldErrors};
use crate::wire::input;

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

    /// Reads a type from fields of the form, with the rules of an API body. A blank field is left out, so a required one
    /// is missing.
    ///
    /// # Errors
    /// All invalid fields.
    pub fn read_new<T: Deserr<FieldErrors>>(&self, fields: &[&str]) -> Result<T, FieldErrors> {
        let sent = fields.iter().filter(|name| !self.get(name).trim().is_empty());
        input::read(sent.map(|name| ((*name).to_owned(), Json::from(self.get(name)))).collect::<Map<_, _>>().into())
    }

    /// Reads changes from fields of the form, with the rules of a PATCH. A blank field is `null`, which clears an optional
    /// value.
    ///
    /// # Errors
    /// All invalid fields.
    pub fn read_changes<T: Deserr<FieldErrors>>(&self, fields: &[&str]) -> Result<T, FieldErrors> {
        let value = |name: &str| match self.get(name) {
            blank if blank.trim().is_empty() => Json::Null,
            text => Json::from(text),
        };
        input::read(fields.iter().map(|name| ((*name).to_owned(), value(name))).collect::<Map<_, _>>().into())
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
    use crate::domain::contact::{ContactChanges, NewContact};
    use crate::wire::input::NullablePatch;

    #[test]
    fn a_blank_field_is_missing_in_what_is_new_and_cleared_in_what_changes() {
        let form = Form::parse(b"display_name=Ada&kind=person&email=+&external_reference=").unwrap();
        let fields = ["display_name", "kind", "email", "external_reference"];
        let new: NewContact = form.read_new(&fields).unwrap();
        assert_eq!((new.email, new.external_reference), (NullablePatch::Keep, None));
        let changes: ContactChanges = form.read_changes(&fields).unwrap();
        assert_eq!((changes.email, changes.external_reference), (NullablePatch::Clear, NullablePatch::Clear));

        let blank = Form::parse(b"display_name=&kind=ship").unwrap();
        for errors in [
            blank.read_new::<NewContact>(&fields).unwrap_err(),
            blank.read_changes::<ContactChanges>(&fields).unwrap_err(),
        ] {
            let mut found: Vec<_> = errors.into_list().into_iter().map(|error| (error.field, error.code)).collect();
            found.sort_by(|(one, _), (other, _)| one.cmp(other));
            assert_eq!(
                found,
                [("display_name".to_owned(), FieldCode::Required), ("kind".to_owned(), FieldCode::InvalidValue)]
            );
        }
    }

    #[test]
    fn a_repeated_field_is_refused() {
        let form = Form::parse(b"note=a+b%0D%0Ac&decision=confirm").unwrap();
        assert_eq!((form.get("note"), form.get("decision"), form.get("x")), ("a b\r\nc", "confirm", ""));
        assert!(Form::parse(b"decision=confirm&decision=decline").is_err());
    }
}

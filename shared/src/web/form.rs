//! Form bodies, and the check that a form comes from this origin.

use std::collections::BTreeSet;

use axum::body::{Body, Bytes};
use deserr::Deserr;
use http::HeaderMap;
use http::header::{self, CONTENT_TYPE};
use serde_json::{Map, Value as Json};

use crate::crypto::CookieSecret;
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::service::form_copies::FormCopy;
use crate::wire::body::{self, NotReceived};
use crate::wire::fields::{BODY, FieldCode, FieldErrors};
use crate::wire::input;

/// The form field with the CSRF token.
pub const FORM_TOKEN: &str = "form_token";

/// The form field with the name of the form's copy.
pub const COPY: &str = "copy";

/// The hidden fields that every form of a session's pages begins with.
#[derive(Debug, Clone)]
pub struct FormKeys(CookieSecret);

impl FormKeys {
    /// Those of the session with this secret.
    #[must_use]
    pub fn new(secret: &CookieSecret) -> Self {
        Self(secret.clone())
    }

    /// The markup of the fields. Each call makes another copy of the form.
    #[must_use]
    pub fn fields(&self) -> String {
        let field = |name, value: String| format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        field(FORM_TOKEN, self.0.form_token()) + &field(COPY, self.0.copy())
    }
}

/// A file of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadedFile {
    /// Its name on the member's device, without a folder. Empty if the browser sent none.
    pub name: String,
    /// Its content.
    pub content: Bytes,
}

/// The field of the error when a form with files is too long as a whole: none of its fields was read.
pub const FILES: &str = "files";

/// The fields and files of a form. Each occurs at most once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    fields: Vec<(String, String)>,
    files: Vec<(String, UploadedFile)>,
}

impl Form {
    fn parse(bytes: &[u8]) -> Result<Self, FieldErrors> {
        let fields = form_urlencoded::parse(bytes).into_owned().take(limits::FORM_FIELDS_MAX + 1).collect();
        Self::new(fields, Vec::new())
    }

    fn new(fields: Vec<(String, String)>, files: Vec<(String, UploadedFile)>) -> Result<Self, FieldErrors> {
        if fields.len() + files.len() > limits::FORM_FIELDS_MAX {
            let message = format!("must have at most {} fields", limits::FORM_FIELDS_MAX);
            return Err(FieldErrors::one("body", FieldCode::LimitReached, message));
        }
        let mut names = BTreeSet::new();
        for name in fields.iter().map(|(name, _)| name).chain(files.iter().map(|(name, _)| name)) {
            if !names.insert(name) {
                return Err(FieldErrors::one(name.as_str(), FieldCode::InvalidValue, "may be given only once"));
            }
        }
        Ok(Self { fields, files })
    }

    /// Reads a form from a body, up to [`limits::FORM_BYTES_MAX`] bytes, or [`limits::UPLOAD_BYTES_MAX`] with a file.
    pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Self, FieldErrors> {
        body::check_encoding(headers)?;
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let received = body::receive(body, limits::FORM_BYTES_MAX, limits::FORM_BYTES_MAX).await;
            return Self::parse(&received.map_err(|reason| not_received(reason, "a form can have"))?);
        }
        let boundary = multer::parse_boundary(content_type).map_err(|_| {
            let message = "must be application/x-www-form-urlencoded or multipart/form-data";
            FieldErrors::one("header.content-type", FieldCode::InvalidValue, message)
        })?;
        let received = body::receive(body, limits::UPLOAD_BYTES_MAX, limits::BODY_BYTES_DISCARDED_MAX).await;
        let bytes = received.map_err(|reason| match reason {
            NotReceived::TooLong => FieldErrors::one(FILES, FieldCode::TooLong, "are more than 4 MB together"),
            NotReceived::Incomplete => not_received(reason, ""),
        })?;
        Self::parse_parts(bytes, boundary).await.map_err(|_| not_received(NotReceived::Incomplete, ""))?
    }

    async fn parse_parts(body: Vec<u8>, boundary: String) -> Result<Result<Self, FieldErrors>, multer::Error> {
        let stream = futures_util::stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from(body))]);
        let mut parts = multer::Multipart::new(stream, boundary);
        let (mut fields, mut files) = (Vec::new(), Vec::new());
        while let Some(part) = parts.next_field().await? {
            if fields.len() + files.len() > limits::FORM_FIELDS_MAX {
                break;
            }
            let name = part.name().unwrap_or_default().to_owned();
            let file_name = part.file_name().map(|path| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned());
            let content = part.bytes().await?;
            match file_name {
                Some(file_name) => files.push((name, UploadedFile { name: file_name, content })),
                None => fields.push((name, String::from_utf8_lossy(&content).into_owned())),
            }
        }
        Ok(Self::new(fields, files))
    }

    /// Reads a type from fields by the rules of an API body. Leaves out blank fields, so a required one is missing.
    pub fn read_new<T: Deserr<FieldErrors>>(&self, fields: &[&str]) -> Result<T, FieldErrors> {
        let sent = fields.iter().filter(|name| !self.get(name).trim().is_empty());
        input::read(sent.map(|name| ((*name).to_owned(), Json::from(self.get(name)))).collect::<Map<_, _>>().into())
    }

    /// Reads a type from one of a group's fields: those of `of` are the names with it behind a period.
    pub fn read_new_of<T: Deserr<FieldErrors>>(&self, names: &[&str], of: &str) -> Result<T, FieldErrors> {
        let value = |name: &str| self.get(format!("{name}.{of}"));
        let sent = names.iter().filter(|name| !value(name).trim().is_empty());
        let sent: Map<_, _> = sent.map(|name| ((*name).to_owned(), Json::from(value(name)))).collect();
        input::read(sent.into())
            .map_err(|errors: FieldErrors| errors.map(|error| error.field = format!("{}.{of}", error.field)))
    }

    /// Reads changes from fields by the rules of a PATCH. A blank field is `null`, which clears an optional value.
    pub fn read_changes<T: Deserr<FieldErrors>>(&self, fields: &[&str]) -> Result<T, FieldErrors> {
        let value = |name: &str| match self.get(name) {
            blank if blank.trim().is_empty() => Json::Null,
            text => Json::from(text),
        };
        input::read(fields.iter().map(|name| ((*name).to_owned(), value(name))).collect::<Map<_, _>>().into())
    }

    /// The copy that a form sent to a path names, if the secret has sealed the name.
    pub(super) fn copy(&self, path: &str, secret: &CookieSecret) -> Option<FormCopy> {
        let id = secret.open_copy(self.get(COPY))?;
        let fields = self.typed().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        let files = self.chosen_files();
        let files = files.flat_map(|(name, file)| [name.as_bytes(), file.name.as_bytes(), &*file.content]);
        let fingerprint = secret.fingerprint([path.as_bytes()].into_iter().chain(fields).chain(files));
        Some(FormCopy { id, fingerprint })
    }

    /// The value of a field. Empty if it was not sent.
    #[must_use]
    pub fn get(&self, name: impl AsRef<str>) -> &str {
        self.fields.iter().find(|(field, _)| field == name.as_ref()).map_or("", |(_, value)| value)
    }

    /// The id in a field. A malformed id is [`Error::NotFound`]: it names no record.
    pub fn id<T: std::str::FromStr>(&self, name: impl AsRef<str>) -> Result<T, Error> {
        self.get(name).parse().map_err(|_| Error::not_found())
    }

    /// Whether a field was sent, even if it is empty.
    #[must_use]
    pub fn has(&self, name: impl AsRef<str>) -> bool {
        self.fields.iter().any(|(field, _)| field == name.as_ref())
    }

    /// The names of a group's checked boxes, without its prefix. A box of the group `role.` is named `role.signer`.
    pub fn checked<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter_map(move |(name, _)| name.strip_prefix(group))
    }

    /// All submitted fields without the CSRF token and the copy.
    pub fn typed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .filter(|(name, _)| name != FORM_TOKEN && name != COPY)
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A file. `None` if none was chosen.
    #[must_use]
    pub fn file(&self, name: impl AsRef<str>) -> Option<&UploadedFile> {
        self.chosen_files().find(|(field, _)| field == name.as_ref()).map(|(_, file)| file)
    }

    /// Whether a file was chosen in any field.
    #[must_use]
    pub fn has_file(&self) -> bool {
        self.chosen_files().next().is_some()
    }

    /// A browser sends a nameless, empty file if none was chosen.
    fn chosen_files(&self) -> impl Iterator<Item = &(String, UploadedFile)> {
        self.files.iter().filter(|(_, file)| !file.name.is_empty() || !file.content.is_empty())
    }
}

fn not_received(reason: NotReceived, largest: &str) -> FieldErrors {
    match reason {
        NotReceived::TooLong => FieldErrors::one(BODY, FieldCode::TooLong, format!("is more than {largest}")),
        NotReceived::Incomplete => FieldErrors::one(BODY, FieldCode::InvalidFormat, "broke off before its end"),
    }
}

/// Whether `Origin` and `Sec-Fetch-Site`, if sent, name this origin.
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

    #[tokio::test]
    async fn a_form_with_a_file_has_both() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nSAFE é\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"C:\\papers\\safe.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF\r\n\r\n--x--\r\n";
        let read = |body: &str| Form::parse_parts(body.as_bytes().to_vec(), "x".to_owned());
        let form = read(body).await.unwrap().unwrap();
        assert_eq!(form.get("name"), "SAFE é");
        let file = form.file("file").unwrap();
        assert_eq!((file.name.as_str(), &file.content[..]), ("safe.pdf", &b"%PDF\r\n"[..]));
        assert_eq!(form.file("other"), None);
        assert_eq!(form.typed().collect::<Vec<_>>(), [("name", "SAFE é")]);
        assert!(read(&body[..body.len() - 8]).await.is_err(), "cut off");
        let none = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\n\r\n\r\n--x--\r\n";
        assert_eq!(read(none).await.unwrap().unwrap().file("file"), None);
        let twice = body.replace("name=\"name\"", "name=\"file\"");
        assert!(read(&twice).await.unwrap().is_err());
    }

    #[test]
    fn boxes_of_a_group_are_read_by_their_prefix() {
        let form = Form::parse(b"role.signer=on&name=A&role.approver=on").unwrap();
        assert_eq!(form.checked("role.").collect::<Vec<_>>(), ["signer", "approver"]);
    }

    #[test]
    fn a_repeated_field_is_refused() {
        let form = Form::parse(b"note=a+b%0D%0Ac&decision=confirm").unwrap();
        assert_eq!((form.get("note"), form.get("decision"), form.get("x")), ("a b\r\nc", "confirm", ""));
        assert!(Form::parse(b"decision=confirm&decision=decline").is_err());
    }
}

//! A form's fields with values and errors, for templates.

use std::borrow::Cow;
use std::collections::BTreeMap;

use shared::crypto::CookieSecret;
use shared::domain::agreement::Label;
use shared::domain::contact::DisplayName;
use shared::domain::day::Day;
use shared::domain::participant::receipt::Signatory;
use shared::error::Error;
use shared::text::reader;
use shared::web::cookies::Cookie;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

/// A form's fields: a record's values, or submitted values and their errors.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    prefix: Cow<'static, str>,
    values: BTreeMap<String, String>,
    errors: Vec<(String, String)>,
}

impl Fields {
    /// A record's values. A checked box has the value `on`.
    pub fn of<N: Into<String>, V: Into<String>>(values: impl IntoIterator<Item = (N, V)>) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { values, ..Self::default() }
    }

    /// The fields of one of several forms of a page: their ids begin with the form's name.
    #[must_use]
    pub fn within(self, form: impl Into<Cow<'static, str>>) -> Self {
        Self { prefix: form.into(), ..self }
    }

    /// The id of a field's element.
    pub fn id(&self, name: impl AsRef<str>) -> String {
        let name = name.as_ref();
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}-{name}", self.prefix) }
    }

    /// Submitted values and their errors.
    #[must_use]
    pub fn submitted(form: &Form, errors: FieldErrors) -> Self {
        Self { values: Self::of(form.typed()).values, ..Self::wrong(errors) }
    }

    /// Empty fields with errors.
    #[must_use]
    pub fn wrong(errors: FieldErrors) -> Self {
        let errors = errors.into_list().into_iter().map(|error| (error.field, error.message)).collect();
        Self { errors, ..Self::default() }
    }

    /// Empty fields with one error.
    #[must_use]
    pub fn wrong_one(field: impl Into<String>, message: &str) -> Self {
        Self { errors: vec![(field.into(), message.to_owned())], ..Self::default() }
    }

    /// Fills missing values from `below`.
    #[must_use]
    pub fn over(mut self, below: Self) -> Self {
        for (name, value) in below.values {
            self.values.entry(name).or_insert(value);
        }
        self
    }

    /// Drops some values.
    #[must_use]
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.values.retain(|name, _| !is_left_out(name));
        self
    }

    /// A field's value, or an empty text.
    pub fn value(&self, name: impl AsRef<str>) -> &str {
        self.values.get(name.as_ref()).map_or("", String::as_str)
    }

    /// Whether a box is checked.
    #[must_use]
    pub fn is_checked(&self, name: impl AsRef<str>) -> bool {
        self.values.contains_key(name.as_ref())
    }

    /// The checked boxes of a group, without the group's prefix.
    pub fn checked<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a str> {
        self.values.keys().filter_map(move |name| name.strip_prefix(group))
    }

    /// The error of a field, which completes a sentence that begins with its name.
    #[must_use]
    pub fn error(&self, name: impl AsRef<str>) -> Option<&str> {
        self.errors.iter().find(|(field, _)| field == name.as_ref()).map(|(_, message)| message.as_str())
    }

    /// The first wrong field gets the focus.
    #[must_use]
    pub fn is_first_error(&self, name: impl AsRef<str>) -> bool {
        self.errors.first().is_some_and(|(field, _)| field == name.as_ref())
    }

    /// Whether any field is wrong.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }
}

/// A choice of a `select`, or a box.
pub struct Choice {
    /// The value the form sends.
    pub value: String,
    /// The text people read.
    pub text: String,
}

impl Choice {
    /// Sends `value` and shows `text`.
    pub fn new(value: impl Into<String>, text: impl Into<String>) -> Self {
        Self { value: value.into(), text: text.into() }
    }
}

/// Reads a day as typed by a person, in the organization's order.
pub fn read_day(form: &Form, field: impl AsRef<str>) -> Result<Day, FieldErrors> {
    let field = field.as_ref();
    day_of(form.get(field)).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

/// Like [`read_day`], of a text.
pub fn day_of(text: &str) -> Result<Day, (FieldCode, String)> {
    Day::read(text, reader::dates()).map_err(|error| (FieldCode::InvalidFormat, error.to_string()))
}

/// Reads the signatory of an entity: a person with another name than the entity's.
pub fn read_signatory(form: &Form, entity: Option<&DisplayName>) -> Result<Option<Signatory>, FieldErrors> {
    let Some(entity) = entity else { return Ok(None) };
    let wrong = |field: &str, (code, message)| FieldErrors::one(field, code, message);
    let refused = |message: String| (FieldCode::InvalidValue, message);
    let name = DisplayName::parse(form.get("signer_name")).and_then(|name| {
        let is_own = has_letter(name.as_str()) && !name.is_like(entity);
        let message = || format!("must be a person’s own, not “{}”", entity.as_str());
        is_own.then_some(name).ok_or_else(|| refused(message()))
    });
    let title = Label::parse(form.get("signer_title")).and_then(|title| {
        let message = || "must be in words, such as Managing Member".to_owned();
        has_letter(title.as_str()).then_some(title).ok_or_else(|| refused(message()))
    });
    let name = name.map_err(|reason| wrong("signer_name", reason));
    let title = title.map_err(|reason| wrong("signer_title", reason));
    match (name, title) {
        (Ok(name), Ok(title)) => Ok(Some(Signatory { name, title })),
        (name, title) => {
            let mut errors = name.err().unwrap_or_default();
            errors.extend(title.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn has_letter(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// The form secret of people not signed in, from the cookie `Form`. Reused, so that a form in another tab works.
pub fn form_secret(request: &Request) -> Result<CookieSecret, Error> {
    match request.cookie(Cookie::Form) {
        Some(secret) => Ok(secret),
        None => Ok(CookieSecret::new()?),
    }
}

//! The fields of a form with their values and errors, as templates show them.

use std::collections::BTreeMap;

use shared::web::Form;
use shared::wire::fields::FieldErrors;

/// The fields of a form: the record's values, or what was submitted and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    values: BTreeMap<String, String>,
    errors: Vec<(String, String)>,
}

impl Fields {
    /// Fields with the values of a record. A checked box has the value `on`.
    pub fn of<N: Into<String>, V: Into<String>>(values: impl IntoIterator<Item = (N, V)>) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { values, errors: Vec::new() }
    }

    /// The fields as they were submitted, with what is wrong with them.
    pub fn submitted(form: &Form, errors: FieldErrors) -> Self {
        Self { values: Self::of(form.typed()).values, ..Self::wrong(errors) }
    }

    /// Empty fields, with what is wrong with them.
    pub fn wrong(errors: FieldErrors) -> Self {
        let errors = errors.into_list().into_iter().map(|error| (error.field, error.message)).collect();
        Self { errors, ..Self::default() }
    }

    /// Empty fields, of which one is wrong.
    pub fn wrong_one(field: &str, message: &str) -> Self {
        Self { errors: vec![(field.to_owned(), message.to_owned())], ..Self::default() }
    }

    /// These fields, with the values of others where they have none.
    pub fn over(mut self, below: Self) -> Self {
        for (name, value) in below.values {
            self.values.entry(name).or_insert(value);
        }
        self
    }

    /// These fields without the values of some.
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.values.retain(|name, _| !is_left_out(name));
        self
    }

    /// The value of a field. Empty, if it has none.
    pub fn value(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Whether a box is checked.
    pub fn is_checked(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The names of the checked boxes of a group, without the group's prefix.
    pub fn checked<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a str> {
        self.values.keys().filter_map(move |name| name.strip_prefix(group))
    }

    /// What is wrong with a field, as the end of a sentence that begins with its name.
    pub fn error(&self, name: &str) -> Option<&str> {
        self.errors.iter().find(|(field, _)| field == name).map(|(_, message)| message.as_str())
    }

    /// Whether a field is the first wrong one, which gets the focus.
    pub fn is_first_error(&self, name: &str) -> bool {
        self.errors.first().is_some_and(|(field, _)| field == name)
    }

    /// Whether any field is wrong.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }
}

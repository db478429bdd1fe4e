//! Whom a form chooses: a contact, or a new one that is made together with the choice.

use std::collections::BTreeSet;

use shared::domain::contact::{ContactKind, Email, ListedContact, NewContact};
use shared::domain::ids::ContactId;
use shared::error::Error;
use shared::service::contacts::{self, ContactQuery};
use shared::service::scope::Scope;
use shared::web::{Form, SubmittedForm, Submitter};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::{Offset, Order, Shelf};

use crate::fields::{Choice, Fields};
use crate::form;
use crate::labels::contact_kind_label;
use crate::layout::{Link, Notice};
use crate::pager::page_at;
use crate::urls::{contact_url, encode_query_value};

form! {
    /// A contact, or the details of a new one.
    pub CHOSEN: ChosenForm {
        contact: Field::choice("contact_id", "Contact"),
        name: Field::line("display_name", "Name", 200).called("The name"),
        kind: Field::choice("kind", "Kind").called("The kind"),
        email: Field::email("email", "Email")
            .called("The email address")
            .hint("Needed before they can sign or approve anything."),
    }
}

form! {
    /// People whom a form names, each with a key of their own.
    pub NAMED: NamedForm {
        name: Field::line("display_name.", "Name", 200).called("The name"),
        kind: Field::choice("kind.", "Kind").called("The kind"),
        email: Field::email("email.", "Email").called("The email address"),
    }
}

/// The names of the fields of someone whom a form names, for `named_person.html`.
#[derive(Debug)]
pub struct NamedFields {
    /// That of the name.
    pub name: String,
    /// That of the kind.
    pub kind: String,
    /// That of the email address.
    pub email: String,
}

impl NamedFields {
    /// Those of this key.
    #[must_use]
    pub fn new(key: &str) -> Self {
        let [name, kind, email] = [NAMED.name, NAMED.kind, NAMED.email].map(|field| field.member(key));
        Self { name, kind, email }
    }

    /// Whether someone is named, or a name was refused.
    #[must_use]
    pub fn are_in_use(&self, fields: &Fields) -> bool {
        [&self.name, &self.email].iter().any(|name| !fields.value(name).is_empty() || fields.error(name).is_some())
    }

    /// What they are, unless the form says otherwise.
    #[must_use]
    pub fn usually(&self, kind: ContactKind) -> Fields {
        Fields::of([(self.kind.clone(), kind.as_str())])
    }
}

/// Whether a form names someone by this key.
#[must_use]
pub fn is_named(form: &Form, key: &str) -> bool {
    [NAMED.name, NAMED.email].iter().any(|field| !form.get(field.member(key)).trim().is_empty())
}

/// Whom a form names by this key, with the errors of their fields.
pub fn read_named(form: &Form, key: &str) -> Result<NewContact, FieldErrors> {
    form.read_new_of(&["display_name", "kind", "email"], key)
}

/// How many contacts a notice names.
const EXISTING_NAMED_MAX: usize = 3;
/// The choice of a contact who is made with it.
pub const NEW: &str = "new";
/// Sent by the button that makes a contact in spite of its twin.
pub const ANYWAY: &str = "anyway";

/// The kinds of contacts to choose from.
#[must_use]
pub fn kinds() -> Vec<Choice> {
    ContactKind::ALL.iter().map(|&kind| Choice::new(kind.as_str(), contact_kind_label(kind))).collect()
}

/// The names of the newest contacts, which forms suggest where someone is named.
pub async fn known_names(scope: &Scope) -> Result<Vec<String>, Error> {
    let newest = ContactQuery::of_page(page_at(Offset::default()));
    let found = contacts::list(scope, Order::NewestFirst, Shelf::Current, &newest).await?;
    let names: BTreeSet<String> = found.data.iter().map(|found| found.display_name.as_str().to_owned()).collect();
    Ok(names.into_iter().collect())
}

/// Who was a contact already and takes part by their typed name, so that nobody takes them for new ones.
#[must_use]
pub fn existing_used(existing: &[ListedContact]) -> String {
    let shown = existing.iter().take(EXISTING_NAMED_MAX).map(|contact| {
        let email = contact.email.as_ref().map_or("no email address", Email::as_str);
        format!("{} ({email})", contact.display_name.as_str())
    });
    let more = existing.len().saturating_sub(EXISTING_NAMED_MAX);
    let names: Vec<_> = shown.chain((more > 0).then(|| format!("{more} more"))).collect();
    let what = if existing.len() == 1 { "an existing contact" } else { "existing contacts" };
    format!("Uses {what}: {}.", names.join(", "))
}

/// What became of someone whom a form named: a contact that was there, or a new one.
#[must_use]
pub fn became_of(named: &NewContact, existing: &[ListedContact]) -> String {
    if existing.is_empty() {
        format!("{} is now one of your contacts.", named.display_name.as_str())
    } else {
        existing_used(existing)
    }
}

/// Who is chosen.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// A contact of the list.
    Known(ContactId),
    /// A new contact.
    New(NewContact),
}

impl Chosen {
    /// Reads the choice, with errors at the fields of [`CHOSEN`].
    pub fn read(form: &Form) -> Result<Self, FieldErrors> {
        if is_new(form) {
            return form.read_new(&[CHOSEN.name.name, CHOSEN.kind.name, CHOSEN.email.name]).map(Self::New);
        }
        let missing = || FieldErrors::one(CHOSEN.contact, FieldCode::Required, "must be chosen from the list");
        form.get(CHOSEN.contact).parse().map(Self::Known).map_err(|_| missing())
    }

    /// What the page at `path` says of the twin of a new contact before it makes one with the id `made`. None if
    /// there is no twin, or if the member knows of it.
    pub async fn twin_notice<S: Submitter>(
        &self,
        submitted: &SubmittedForm<'_, S>,
        made: ContactId,
        path: &str,
    ) -> Result<Option<Notice>, Error> {
        let Self::New(new) = self else { return Ok(None) };
        if !submitted.form().get(ANYWAY).is_empty() {
            return Ok(None);
        }
        let Some(twin) = contacts::twin_of(submitted.scope(), new, made).await? else { return Ok(None) };
        let name = twin.display_name.as_str();
        let (line, other) = if twin.shelf() == Shelf::Current {
            let url = format!("{path}?search={}", encode_query_value(name));
            let line = "Nothing was added yet. Choose that contact, or add this one if it is someone else.";
            (line, Link { url, text: format!("Choose {name}") })
        } else {
            let line = "Nothing was added yet. Lists don’t show that contact. Add this one if it is someone else.";
            (line, Link { url: contact_url(twin.id), text: format!("Open {name}") })
        };
        let title = format!("A contact with {} exists", contacts::in_common(new, &twin));
        Ok(Some(Notice { links: vec![other], ..Notice::warn(title, line) }))
    }
}

/// Whether a form makes a new contact.
#[must_use]
pub fn is_new(form: &Form) -> bool {
    form.get(CHOSEN.contact) == NEW
}

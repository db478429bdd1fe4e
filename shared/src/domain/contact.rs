//! Contacts: the people and entities of an organization. Participants reference contacts and never copy them.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ids::ContactId;
use super::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::{NullablePatch, Patch, texts};
use crate::wire::text::Folded;

texts! {
    /// The name of a person or entity.
    DisplayName: max limits::NAME_CHARS_MAX, example "Ada Okafor";
    /// The caller's own key of a record.
    ExternalReference: max limits::REFERENCE_CHARS_MAX, example "crm-4711";
    /// An e-mail address.
    Email: max limits::EMAIL_CHARS_MAX, example "ada@okafor.example", also check_email;
}

fn check_email(text: &str) -> Result<(), (FieldCode, String)> {
    let options = email_address::Options::default().without_display_text().without_domain_literal().with_required_tld();
    email_address::EmailAddress::parse_with_options(text, options)
        .map(|_| ())
        .map_err(|_| (FieldCode::InvalidFormat, "must be an e-mail address such as ada@okafor.example".to_owned()))
}

text_enum! {
    /// What a contact is (specification, "Enumerations").
    pub enum ContactKind {
        /// A natural person.
        Person = "person",
        /// A household.
        Household = "household",
        /// A trust.
        Trust = "trust",
        /// A limited liability company.
        Llc = "llc",
        /// A corporation.
        Corporation = "corporation",
        /// A partnership.
        Partnership = "partnership",
        /// A nonprofit.
        Nonprofit = "nonprofit",
        /// Anything else.
        Other = "other",
    }
}

/// A contact as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Its id.
    pub id: ContactId,
    /// Its name. Searchable.
    pub display_name: DisplayName,
    /// Its kind.
    pub kind: ContactKind,
    /// Its e-mail address. Searchable.
    pub email: Option<Email>,
    /// The caller's own key of it, unique in the organization.
    pub external_reference: Option<ExternalReference>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A contact to be created.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({
    "display_name": "Ada Okafor",
    "kind": "person",
    "email": "ada@okafor.example",
    "external_reference": "crm-4711",
}))]
pub struct NewContact {
    /// What it is called.
    pub display_name: DisplayName,
    /// What it is.
    pub kind: ContactKind,
    /// Its e-mail address.
    #[deserr(default)]
    #[schema(nullable)]
    pub email: Option<Email>,
    /// Your own key of it. If a contact has it already, that one is returned, unchanged, with status 200.
    #[deserr(default)]
    #[schema(nullable)]
    pub external_reference: Option<ExternalReference>,
}

/// What to change of a contact; what is left out stays.
#[derive(Debug, Clone, Default, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({"email": "ada.okafor@harbor.example", "external_reference": null}))]
pub struct ContactChanges {
    /// What it is called.
    #[deserr(default)]
    #[schema(value_type = Option<DisplayName>, nullable = false)]
    pub display_name: Patch<DisplayName>,
    /// What it is.
    #[deserr(default)]
    #[schema(value_type = Option<ContactKind>, nullable = false)]
    pub kind: Patch<ContactKind>,
    /// Its e-mail address; `null` removes it.
    #[deserr(default)]
    #[schema(value_type = Option<Email>)]
    pub email: NullablePatch<Email>,
    /// Your own key of it; `null` removes it.
    #[deserr(default)]
    #[schema(value_type = Option<ExternalReference>)]
    pub external_reference: NullablePatch<ExternalReference>,
}

impl Contact {
    /// A new contact.
    #[must_use]
    pub fn create(new: NewContact, now: Timestamp) -> Self {
        Self {
            id: ContactId::new(),
            display_name: new.display_name,
            kind: new.kind,
            email: new.email,
            external_reference: new.external_reference,
            created_at: now,
            updated_at: now,
        }
    }

    /// The contact with the changes; equal to this one, time included, if they change nothing.
    #[must_use]
    pub fn change(&self, changes: ContactChanges, now: Timestamp) -> Self {
        let mut next = Self {
            display_name: changes.display_name.apply(self.display_name.clone()),
            kind: changes.kind.apply(self.kind),
            email: changes.email.apply(self.email.clone()),
            external_reference: changes.external_reference.apply(self.external_reference.clone()),
            ..self.clone()
        };
        if next != *self {
            // Concurrent calls may be decided in another order than they began.
            next.updated_at = now.max(self.updated_at);
        }
        next
    }

    /// The text that `search` matches: name and e-mail (specification, "Query parameters").
    #[must_use]
    pub fn search_text(&self) -> Folded {
        Folded::join([Some(self.display_name.as_str()), self.email.as_ref().map(Email::as_str)].into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::input::read_body;

    #[test]
    fn an_address_is_local_part_and_domain() {
        for text in ["ada@okafor.example", "a.b+c@sub.okafor.example", "日本@例え.example"] {
            assert!(Email::parse(text).is_ok(), "{text}");
        }
        for text in [
            "ada",
            "ada@",
            "@okafor.example",
            "a b@c.example",
            "Ada <ada@okafor.example>",
            "a@b@c.example",
            "ada@localhost",
            "ada@[127.0.0.1]",
            "a@.example",
        ] {
            assert_eq!(Email::parse(text).unwrap_err().0, FieldCode::InvalidFormat, "{text}");
        }
    }

    #[test]
    fn changes_apply_field_by_field() {
        let new = read_body(br#"{"display_name": "Ada", "kind": "person", "email": "a@b.example"}"#).unwrap();
        let before = Contact::create(new, Timestamp::from_unix_ms(1).unwrap());
        let later = Timestamp::from_unix_ms(2).unwrap();
        assert_eq!(before.change(ContactChanges::default(), later), before);
        let changes = read_body(br#"{"email": null, "kind": "llc"}"#).unwrap();
        let after = before.change(changes, later);
        assert_eq!((after.email.is_none(), after.kind, after.updated_at), (true, ContactKind::Llc, later));
        assert_eq!(after.display_name, before.display_name);
    }

    #[test]
    fn a_required_field_cannot_be_cleared() {
        let errors = read_body::<ContactChanges>(br#"{"display_name": null, "kind": null}"#).unwrap_err().into_list();
        assert!(errors.iter().all(|error| error.code == FieldCode::Required) && errors.len() == 2);
    }
}

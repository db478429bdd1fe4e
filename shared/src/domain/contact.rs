//! Contacts: the people and entities of an organization. Participants reference contacts and never copy them.
//!
//! Decision: changing a contact's name or address redirects everything sent to it, and turning a company into a person
//! lets anyone sign for it without a name. So a contact keeps and counts its former names, kinds and addresses, with
//! who changed them and when, and a published agreement stores that count. Beyond the limit, only the fact of a change
//! is known, and members must check the identity again.

use deserr::Deserr;
use serde::{Deserialize, Serialize};
use unicode_normalization::char::is_combining_mark;
use utoipa::ToSchema;

use super::actor::Actor;
use super::ids::ContactId;
use super::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::{NullablePatch, Patch, texts};
use crate::wire::page::Shelf;
use crate::wire::text::{self, Folded};

texts! {
    /// The name of a person or entity.
    DisplayName: max limits::NAME_CHARS_MAX, example "Ada Okafor";
    /// The caller's own key of a record.
    ExternalReference: max limits::REFERENCE_CHARS_MAX, example "crm-4711";
    /// An email address: one `@`, no `%`, and a domain of two labels or more, of letters, digits and hyphens in any
    /// script, whose last label is no number.
    Email: max limits::EMAIL_CHARS_MAX, example "ada@okafor.example",
        also check_email, pattern email_pattern, format "idn-email";
}

impl DisplayName {
    /// Whether two names have the same letters and digits, ignoring case and everything in between.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let letters = |name: &Self| -> String {
            Folded::new(name.as_str()).as_str().chars().filter(|letter| letter.is_alphanumeric()).collect()
        };
        letters(self) == letters(other)
    }
}

/// The marks of RFC 5322's `atext`, without `%`, which old mail servers read as a second `@`.
const LOCAL_MARKS: &str = "!#$&'*+-/=?^_`{|}~";

/// Checks an address (contract, section 1, "Text"). A domain may be in any script: mail programs convert it.
fn check_email(text: &str) -> Result<(), (FieldCode, String)> {
    let is_address = text.split_once('@').is_some_and(|(local, domain)| is_local_part(local) && is_domain(domain));
    let wrong = || (FieldCode::InvalidFormat, "must look like name@example.com".to_owned());
    is_address.then_some(()).ok_or_else(wrong)
}

fn is_local_part(text: &str) -> bool {
    let is_allowed = |character: char| {
        if character.is_ascii() {
            character.is_ascii_alphanumeric() || LOCAL_MARKS.contains(character)
        } else {
            !character.is_whitespace() && !text::is_in(text::INVISIBLE, character)
        }
    };
    text.len() <= limits::EMAIL_LOCAL_BYTES_MAX
        && text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_allowed))
}

fn is_domain(text: &str) -> bool {
    let Some((_, last)) = text.rsplit_once('.') else { return false };
    text.split('.').all(is_label) && !is_number(last)
}

fn is_label(text: &str) -> bool {
    let is_allowed = |character: char| {
        character == '-' || character.is_alphanumeric() || (!character.is_ascii() && is_combining_mark(character))
    };
    (1..=limits::DOMAIN_LABEL_CHARS_MAX).contains(&text.chars().count())
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.chars().all(is_allowed)
}

fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    label.chars().all(char::is_numeric)
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// The pattern of addresses. Ignores lengths, and allows any visible non-ASCII character in a label ([`text::class`]).
fn email_pattern() -> String {
    let unseen = text::class(&[text::BLANK, text::CONTROL, text::INVISIBLE].concat());
    let atom = format!(r#"[^"%(),.:;<>@\[\\\]{unseen}]+"#);
    let other_than = |ascii: &str| format!(r"[^{ascii}:-@\[-`{{-~{unseen}]");
    let (edge, inner) = (other_than("!-/"), other_than(r"!-,./"));
    let label = format!("{edge}({inner}*{edge})?");
    // The last label must not be a decimal or hexadecimal number.
    let (letter, not_x, not_hex) = (other_than("!-9"), other_than("!-9Xx"), other_than("!-9A-Fa-f"));
    let more = format!("{inner}*{edge}");
    let no_number = format!(
        "({letter}({more})?|([1-9]|0[0-9])[0-9]*({letter}({more})?|-{more})|0-{more}|0{not_x}({more})?|0[Xx][0-9A-Fa-f]*({not_hex}({more})?|-{more}))"
    );
    format!(r"^{atom}(\.{atom})*@({label}\.)+{no_number}$")
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

/// A contact as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Its id.
    pub id: ContactId,
    /// Its name. Searchable.
    pub display_name: DisplayName,
    /// Its kind.
    pub kind: ContactKind,
    /// Its email address. Searchable.
    pub email: Option<Email>,
    /// The caller's own key for it, unique in the organization.
    pub external_reference: Option<ExternalReference>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How often its name, kind or address has changed.
    pub identity_version: u64,
    /// Its former names, kinds and addresses, newest last, at most [`limits::FORMER_IDENTITIES_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerIdentity>,
    /// The contact that a member merged it into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<ContactId>,
    /// Those merged into it, at most [`limits::MERGED_CONTACTS_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<ContactId>,
    /// When a member archived it. Only the app's lists hide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
}

/// What lists show of a contact: all but its former identities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedContact {
    /// Its id.
    pub id: ContactId,
    /// Its name.
    pub display_name: DisplayName,
    /// Its kind.
    pub kind: ContactKind,
    /// Its email address.
    pub email: Option<Email>,
    /// The caller's own key for it.
    pub external_reference: Option<ExternalReference>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The contact that a member merged it into.
    pub merged_into: Option<ContactId>,
    /// When a member archived it.
    pub archived_at: Option<Timestamp>,
}

/// The name and the email address of a contact, without their letter case. Two contacts with the same ones are twins.
pub type NameAndEmail = (Folded, Option<Folded>);

fn name_and_email(name: &DisplayName, email: Option<&Email>) -> NameAndEmail {
    (Folded::new(name.as_str()), email.map(|email| Folded::new(email.as_str())))
}

impl ListedContact {
    /// What it shares with a twin.
    #[must_use]
    pub fn name_and_email(&self) -> NameAndEmail {
        name_and_email(&self.display_name, self.email.as_ref())
    }

    /// Where the app lists it.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        shelf(self.merged_into, self.archived_at)
    }
}

fn shelf(merged_into: Option<ContactId>, archived_at: Option<Timestamp>) -> Shelf {
    match (merged_into, archived_at) {
        (Some(_), _) => Shelf::Merged,
        (None, Some(_)) => Shelf::Archived,
        (None, None) => Shelf::Current,
    }
}

impl From<Contact> for ListedContact {
    fn from(contact: Contact) -> Self {
        let Contact { id, display_name, kind, email, external_reference, created_at, updated_at, .. } = contact;
        let (merged_into, archived_at) = (contact.merged_into, contact.archived_at);
        Self { id, display_name, kind, email, external_reference, created_at, updated_at, merged_into, archived_at }
    }
}

/// A former name, kind and address of a contact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerIdentity {
    /// The contact's `identity_version` at that time.
    pub version: u64,
    /// Its name.
    pub display_name: DisplayName,
    /// Its kind.
    pub kind: ContactKind,
    /// Its email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// When they were changed.
    pub until: Timestamp,
    /// Who changed them.
    pub changed_by: Actor,
}

/// How a contact has changed since its name, kind and address were last relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedIdentity<'a> {
    /// The contact now.
    pub contact: &'a Contact,
    /// The identity that was relied on. None if it is too old to be kept.
    pub before: Option<&'a FormerIdentity>,
    /// The identities since then, including that one, each with who changed it, oldest first.
    pub changes: &'a [FormerIdentity],
}

impl ChangedIdentity<'_> {
    /// Whether its address has changed.
    #[must_use]
    pub fn is_readdressed(&self) -> bool {
        self.before.is_none_or(|before| before.email != self.contact.email)
    }
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
    /// A person, or a kind of entity.
    pub kind: ContactKind,
    /// Its email address.
    #[deserr(default)]
    #[schema(value_type = Option<Email>)]
    pub email: NullablePatch<Email>,
    /// Your own key for it. If a contact has it already, that one is returned, unchanged, with status 200.
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
    /// The new kind of person or entity.
    #[deserr(default)]
    #[schema(value_type = Option<ContactKind>, nullable = false)]
    pub kind: Patch<ContactKind>,
    /// Its email address; `null` removes it.
    #[deserr(default)]
    #[schema(value_type = Option<Email>)]
    pub email: NullablePatch<Email>,
    /// Your own key for it; `null` removes it.
    #[deserr(default)]
    #[schema(value_type = Option<ExternalReference>)]
    pub external_reference: NullablePatch<ExternalReference>,
}

impl NewContact {
    /// Its email address, if it is given one.
    #[must_use]
    pub fn email(&self) -> Option<&Email> {
        if let NullablePatch::Set(email) = &self.email { Some(email) } else { None }
    }

    /// What it shares with a twin.
    #[must_use]
    pub fn name_and_email(&self) -> NameAndEmail {
        name_and_email(&self.display_name, self.email())
    }

    /// The fields whose values differ from those of an existing contact, in order.
    #[must_use]
    pub fn differences(&self, existing: &Contact) -> Vec<&'static str> {
        let email_differs = self.email.clone().apply(existing.email.clone()) != existing.email;
        let fields = [
            ("display_name", self.display_name != existing.display_name),
            ("kind", self.kind != existing.kind),
            ("email", email_differs),
        ];
        fields.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

impl Contact {
    /// What it shares with a twin.
    #[must_use]
    pub fn name_and_email(&self) -> NameAndEmail {
        name_and_email(&self.display_name, self.email.as_ref())
    }

    /// A new contact.
    #[must_use]
    pub fn create(new: NewContact, now: Timestamp) -> Self {
        Self {
            id: ContactId::new(),
            display_name: new.display_name,
            kind: new.kind,
            email: new.email.apply(None),
            external_reference: new.external_reference,
            created_at: now,
            updated_at: now,
            identity_version: 0,
            former: Vec::new(),
            merged_into: None,
            merged: Vec::new(),
            archived_at: None,
        }
    }

    /// Where the app lists it.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        shelf(self.merged_into, self.archived_at)
    }

    /// Archived or brought back. Only the app's lists show it, so it keeps its `updated_at`.
    #[must_use]
    pub fn archived(&self, is_archived: bool, now: Timestamp) -> Self {
        Self { archived_at: is_archived.then(|| self.archived_at.unwrap_or(now)), ..self.clone() }
    }

    /// Its kind at an `identity_version`. None if that is too old to be kept.
    #[must_use]
    pub fn kind_at(&self, version: u64) -> Option<ContactKind> {
        let former = || self.former.iter().find(|former| former.version == version).map(|former| former.kind);
        if version == self.identity_version { Some(self.kind) } else { former() }
    }

    /// How its name, kind and address have changed since an `identity_version`. None if they haven't.
    #[must_use]
    pub fn changed_since(&self, version: u64) -> Option<ChangedIdentity<'_>> {
        let from = self.former.iter().position(|former| former.version >= version)?;
        let changes = &self.former[from..];
        let before = changes.first().filter(|former| former.version == version);
        let is_same = |was: &FormerIdentity| {
            (&was.display_name, was.kind, &was.email) == (&self.display_name, self.kind, &self.email)
        };
        // Changed back to what was relied on.
        (!before.is_some_and(is_same)).then_some(ChangedIdentity { contact: self, before, changes })
    }

    /// Applies changes. Equal to this contact, including its time, if nothing changes.
    #[must_use]
    pub fn change(&self, changes: ContactChanges, by: &Actor, now: Timestamp) -> Self {
        let mut next = Self {
            display_name: changes.display_name.apply(self.display_name.clone()),
            kind: changes.kind.apply(self.kind),
            email: changes.email.apply(self.email.clone()),
            external_reference: changes.external_reference.apply(self.external_reference.clone()),
            ..self.clone()
        };
        if next != *self {
            // Concurrent calls may be decided in a different order than they began.
            next.updated_at = now.max(self.updated_at);
        }
        if (&next.display_name, next.kind, &next.email) != (&self.display_name, self.kind, &self.email) {
            next.former.push(FormerIdentity {
                version: self.identity_version,
                display_name: self.display_name.clone(),
                kind: self.kind,
                email: self.email.clone(),
                until: next.updated_at,
                changed_by: by.clone(),
            });
            let surplus = next.former.len().saturating_sub(limits::FORMER_IDENTITIES_MAX);
            next.former.drain(..surplus);
            next.identity_version += 1;
        }
        next
    }

    /// The text that `search` matches: name and email (specification, "Query parameters").
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
    fn a_name_is_like_another_whatever_its_case_and_punctuation() {
        let name = |text: &str| DisplayName::parse(text).unwrap();
        for (left, right, is_like) in [
            ("Northwind Robotics, Inc.", "northwind  robotics inc", true),
            ("E\u{301}lodie Weiß", "ÉLODIE WEISS", true),
            ("Nora Wind", "Mickey Mouse", false),
            ("Nora Wind", "Nora Winder", false),
            ("日本 花子", "日本 太郎", false),
        ] {
            assert_eq!(name(left).is_like(&name(right)), is_like, "{left} and {right}");
        }
    }

    #[test]
    fn an_address_is_local_part_and_domain() {
        for text in [
            "ada@okafor.example",
            "a.b+c@sub.okafor.example",
            "o'neil_{x}|y~`^@a-b.c1.example",
            "日本@例え.テスト",
            "ada@हिन्दी.example",
            "ada@xn--r8jz45g.xn--zckzah",
            "ada@127.0.0.1.example",
            "ada@1.1x",
        ] {
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
            "ada@okafor.example.",
            "ada@okafor..example",
            ".ada@okafor.example",
            "ada.@okafor.example",
            "a..b@okafor.example",
            "\"a b\"@okafor.example",
            "\"a@b\"@okafor.example",
            "ada%mail.example@okafor.example",
            "ada@okafor%.example",
            "ada@-okafor.example",
            "ada@okafor-.example",
            "ada@okafor_x.example",
            "ada@okafor.example:25",
            "ada@127.0.0.1",
            "ada@okafor.123",
            "ada@okafor.0x7f",
            "ada@okafor.١٢",
            "ada@例え。テスト",
            "ada@oka\u{200b}for.example",
            "a\u{feff}da@okafor.example",
            "ada@okafor.exa\u{200d}mple",
        ] {
            assert_eq!(Email::parse(text).unwrap_err().0, FieldCode::InvalidFormat, "{text}");
        }
    }

    #[test]
    fn changes_apply_field_by_field() {
        let new = read_body(br#"{"display_name": "Ada", "kind": "person", "email": "a@b.example"}"#).unwrap();
        let before = Contact::create(new, Timestamp::from_unix_ms(1).unwrap());
        let later = Timestamp::from_unix_ms(2).unwrap();
        let token = Actor::system();
        assert_eq!(before.change(ContactChanges::default(), &token, later), before);
        let changes = read_body(br#"{"email": null, "kind": "llc"}"#).unwrap();
        let after = before.change(changes, &token, later);
        assert_eq!((after.email.is_none(), after.kind, after.updated_at), (true, ContactKind::Llc, later));
        assert_eq!(after.display_name, before.display_name);
    }

    #[test]
    fn a_contact_keeps_the_names_and_addresses_that_it_had() {
        let new = read_body(br#"{"display_name": "Ada", "kind": "person", "email": "a@b.example"}"#).unwrap();
        let at = |ms| Timestamp::from_unix_ms(ms).unwrap();
        let by = |name: &str| Actor { display_name: name.to_owned(), ..Actor::system() };
        let change = |before: &Contact, text: &str, ms| {
            before.change(read_body(text.as_bytes()).unwrap(), &by("CRM sync"), at(ms))
        };
        let ada = Contact::create(new, at(1));
        let same = change(&ada, r#"{"kind": "person", "external_reference": "r"}"#, 2);
        assert_eq!((same.identity_version, same.changed_since(0)), (0, None));
        let moved = change(&same, r#"{"email": "a@evil.example"}"#, 3);
        let renamed = change(&moved, r#"{"display_name": "Eve"}"#, 4);
        let changed = renamed.changed_since(0).unwrap();
        let was = changed.before.unwrap();
        assert_eq!((was.display_name.as_str(), was.email.as_ref().unwrap().as_str()), ("Ada", "a@b.example"));
        let told: Vec<_> =
            changed.changes.iter().map(|was| (was.until, was.changed_by.display_name.as_str())).collect();
        assert_eq!(told, [(at(3), "CRM sync"), (at(4), "CRM sync")]);
        assert!(changed.is_readdressed());
        assert!(!renamed.changed_since(1).unwrap().is_readdressed(), "renamed only");
        assert_eq!(renamed.changed_since(2), None);
        let back = change(&renamed, r#"{"display_name": "Ada", "email": "a@b.example"}"#, 5);
        assert_eq!((back.identity_version, back.changed_since(0)), (3, None));
        let other_kind = change(&back, r#"{"kind": "llc"}"#, 6);
        let kinds = [0, 3, 4, 5].map(|version| other_kind.kind_at(version));
        assert_eq!(kinds, [Some(ContactKind::Person), Some(ContactKind::Person), Some(ContactKind::Llc), None]);
        assert!(!other_kind.changed_since(3).unwrap().is_readdressed(), "it is reached where it was");

        let flip = |contact: Contact, n: usize| change(&contact, &format!(r#"{{"display_name": "E{n}"}}"#), 7);
        let worn = (0..limits::FORMER_IDENTITIES_MAX + 5).fold(back, flip);
        assert_eq!(worn.former.len(), limits::FORMER_IDENTITIES_MAX);
        let changed = worn.changed_since(0).unwrap();
        assert!(changed.before.is_none() && changed.is_readdressed() && worn.kind_at(0).is_none());
    }

    #[test]
    fn only_values_that_are_sent_can_differ() {
        let read = |text: &str| read_body::<NewContact>(text.as_bytes()).unwrap();
        let known = r#"{"display_name": "Ada", "kind": "person", "email": "a@b.example", "external_reference": "r"}"#;
        let existing = Contact::create(read(known), Timestamp::from_unix_ms(1).unwrap());
        for (sent, differences) in [
            (known, &[][..]),
            (r#"{"display_name": " Ada ", "kind": "person", "external_reference": "r"}"#, &[]),
            (r#"{"display_name": "Ada", "kind": "person", "email": null}"#, &["email"]),
            (r#"{"display_name": "ada", "kind": "llc", "email": "A@b.example"}"#, &["display_name", "kind", "email"]),
        ] {
            assert_eq!(read(sent).differences(&existing), differences, "{sent}");
        }
    }

    #[test]
    fn a_required_field_cannot_be_cleared() {
        let errors = read_body::<ContactChanges>(br#"{"display_name": null, "kind": null}"#).unwrap_err().into_list();
        assert!(errors.iter().all(|error| error.code == FieldCode::Required) && errors.len() == 2);
    }
}

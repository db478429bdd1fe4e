//! Forms, each declared once: its fields with label, hint and limit, how each is entered, and what no page shows again.
//!
//! Templates draw a field by [`Field`] (`fields.html`), handlers read it by the same, and a form that outlived its
//! session or was used before (`unsent`) shows what was typed under the same labels. A route names its form.

use std::borrow::Cow;

use shared::domain::date_order::DateOrder;
use shared::text::reader;

/// A field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The name in the form's body. A group of boxes or fields has a prefix such as `role.`, which ends in `.`, `-`, `:` or `_`.
    pub name: &'a str,
    /// The label.
    pub label: &'a str,
    /// The subject of the sentences that its errors end. Mostly the label.
    pub subject: &'a str,
    hint: &'a str,
    entry: Entry,
    autocomplete: &'static str,
    is_required: bool,
    is_secret: bool,
    is_focused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Line { max: usize },
    Key { max: usize },
    Email,
    Url,
    Number { max: usize },
    Day,
    Time,
    Days { rows: u8 },
    Lines { max: usize, rows: u8 },
    Data { rows: u8 },
    Password,
    NewPassword,
    Code,
    AppCode,
    File { accept: &'static str },
    Choice,
    Box,
}

/// What files of evidence may be.
const DOCUMENTS_AND_PICTURES: &str = "application/pdf,image/jpeg,image/png";

/// Most characters of a date, and of several, as people write them.
const DATE_CHARS_MAX: usize = 60;
const DAYS_CHARS_MAX: usize = 2000;

impl Field<'static> {
    const fn new(name: &'static str, label: &'static str, entry: Entry) -> Self {
        Self {
            name,
            label,
            subject: label,
            hint: "",
            entry,
            autocomplete: "off",
            is_required: false,
            is_secret: false,
            is_focused: false,
        }
    }

    /// A line of text of at most `max` characters.
    #[must_use]
    pub const fn line(name: &'static str, label: &'static str, max: usize) -> Self {
        Self::new(name, label, Entry::Line { max })
    }

    /// A line that no spelling applies to, such as a reference of at most `max` characters.
    #[must_use]
    pub const fn key(name: &'static str, label: &'static str, max: usize) -> Self {
        Self::new(name, label, Entry::Key { max })
    }

    /// A whole number of at most `max` digits.
    #[must_use]
    pub const fn number(name: &'static str, label: &'static str, max: usize) -> Self {
        Self::new(name, label, Entry::Number { max })
    }

    /// A day, typed as people of the organization's region write it ([`DateOrder`]), with a calendar beside it.
    #[must_use]
    pub const fn day(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Day)
    }

    /// A day with a time of day if it matters, in the organization's zone, with a calendar beside it.
    #[must_use]
    pub const fn time(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Time)
    }

    /// Days, one per line, shown with `rows` lines, with a calendar that adds one.
    #[must_use]
    pub const fn days(name: &'static str, label: &'static str, rows: u8) -> Self {
        Self::new(name, label, Entry::Days { rows })
    }

    /// A web address.
    #[must_use]
    pub const fn url(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Url)
    }

    /// An email address.
    #[must_use]
    pub const fn email(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Email)
    }

    /// A text of several lines, at most `max` characters, shown with `rows` lines.
    #[must_use]
    pub const fn lines(name: &'static str, label: &'static str, max: usize, rows: u8) -> Self {
        Self::new(name, label, Entry::Lines { max, rows })
    }

    /// A table or other data to paste, as long as a body may be, shown with `rows` lines.
    #[must_use]
    pub const fn data(name: &'static str, label: &'static str, rows: u8) -> Self {
        Self::new(name, label, Entry::Data { rows })
    }

    /// The account's present password.
    #[must_use]
    pub const fn password(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Password).autocomplete("current-password").secret().required()
    }

    /// A password that is set.
    #[must_use]
    pub const fn new_password(name: &'static str, label: &'static str) -> Self {
        let field = Self::new(name, label, Entry::NewPassword).autocomplete("new-password").secret().required();
        field.hint("At least 12 characters. Four unrelated words are good.")
    }

    /// An app's code or a recovery code.
    #[must_use]
    pub const fn code(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Code).autocomplete("one-time-code").secret().required()
    }

    /// The six digits that an authenticator app shows. The page opens with the cursor in it.
    #[must_use]
    pub const fn app_code(name: &'static str, label: &'static str) -> Self {
        let field = Self::new(name, label, Entry::AppCode).autocomplete("one-time-code").secret().required();
        field.hint("Six digits, new every 30 seconds.").focused()
    }

    /// A PDF.
    #[must_use]
    pub const fn pdf(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::File { accept: "application/pdf,.pdf" })
    }

    /// A PDF or picture.
    #[must_use]
    pub const fn document(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::File { accept: DOCUMENTS_AND_PICTURES })
    }

    /// A file of any of the types that an `accept` attribute lists. Empty: any.
    #[must_use]
    pub const fn file(name: &'static str, label: &'static str, accept: &'static str) -> Self {
        Self::new(name, label, Entry::File { accept })
    }

    /// One of several, as a list or as buttons; or a group of boxes.
    #[must_use]
    pub const fn choice(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Choice)
    }

    /// A box to tick.
    #[must_use]
    pub const fn tick(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, Entry::Box)
    }

    /// With a hint below it.
    #[must_use]
    pub const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    /// With a subject for its errors' sentences, such as `The name`.
    #[must_use]
    pub const fn called(mut self, subject: &'static str) -> Self {
        self.subject = subject;
        self
    }

    /// With what browsers may fill in.
    #[must_use]
    pub const fn autocomplete(mut self, of: &'static str) -> Self {
        self.autocomplete = of;
        self
    }

    /// The page opens with the cursor in it.
    #[must_use]
    pub const fn focused(mut self) -> Self {
        self.is_focused = true;
        self
    }

    /// Browsers ask for it before they submit.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// No page shows it again.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

impl<'a> Field<'a> {
    /// With another name: one of a group, such as the third of `trigger-`.
    #[must_use]
    pub fn named(self, name: &'a str) -> Self {
        Self { name, ..self }
    }

    /// With a hint that depends on the page.
    #[must_use]
    pub fn hinted(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// With a label that depends on the page.
    #[must_use]
    pub fn labeled(self, label: &'a str) -> Self {
        Self { label, subject: label, ..self }
    }

    /// The name of one of a group.
    #[must_use]
    pub fn member(&self, of: impl std::fmt::Display) -> String {
        format!("{}{of}", self.name)
    }

    /// The rows of a text of several lines.
    #[must_use]
    pub fn rows(&self) -> Option<u8> {
        match self.entry {
            Entry::Lines { rows, .. } | Entry::Data { rows } | Entry::Days { rows } => Some(rows),
            _ => None,
        }
    }

    /// The hint below it, which shows by examples how a date is typed. May be empty.
    #[must_use]
    pub fn hint_text(&self) -> Cow<'a, str> {
        let examples = match self.entry {
            Entry::Day => format!("Such as {}.", reader::dates().days()),
            Entry::Days { .. } => format!("One per line, such as {}.", reader::dates().days()),
            Entry::Time => {
                format!("Such as {}, in the time zone {}.", reader::dates().times(), reader::zone().called())
            }
            _ => return Cow::Borrowed(self.hint),
        };
        Cow::Owned(if self.hint.is_empty() { examples } else { format!("{examples} {}", self.hint) })
    }

    /// The order in which the calendar beside it writes a date: `month` or `day` first. None for a field without one.
    #[must_use]
    pub fn calendar(&self) -> Option<&'static str> {
        let is_date = matches!(self.entry, Entry::Day | Entry::Time | Entry::Days { .. });
        is_date.then(|| match reader::dates() {
            DateOrder::MonthFirst => "month",
            DateOrder::DayFirst => "day",
        })
    }

    /// Whether a page fills in what was typed.
    #[must_use]
    pub fn shows_value(&self) -> bool {
        !self.is_secret && !matches!(self.entry, Entry::File { .. })
    }

    /// Whether the page opens with the cursor in it.
    #[must_use]
    pub fn is_focused(&self) -> bool {
        self.is_focused
    }

    /// The attributes of its element that say how it is entered.
    #[must_use]
    pub fn attributes(&self) -> String {
        const NOT_CORRECTED: &str = " autocapitalize=\"off\" spellcheck=\"false\"";
        let autocomplete = format!(" autocomplete=\"{}\"", self.autocomplete);
        let required = if self.is_required { " required" } else { "" };
        match self.entry {
            Entry::Line { max } => format!("type=\"text\"{autocomplete}{required} maxlength=\"{max}\""),
            Entry::Key { max } => format!("type=\"text\"{autocomplete}{NOT_CORRECTED}{required} maxlength=\"{max}\""),
            Entry::Day | Entry::Time => {
                format!("type=\"text\"{autocomplete}{NOT_CORRECTED}{required} maxlength=\"{DATE_CHARS_MAX}\"")
            }
            Entry::Number { max } => {
                format!("type=\"text\" inputmode=\"numeric\"{autocomplete}{required} maxlength=\"{max}\"")
            }
            Entry::Email => {
                // The server's own rule, not the browser's, says what an address may be.
                format!("type=\"text\" inputmode=\"email\"{autocomplete}{NOT_CORRECTED}{required} maxlength=\"254\"")
            }
            Entry::Url => {
                format!(
                    "type=\"url\" inputmode=\"url\"{autocomplete} spellcheck=\"false\"{required} maxlength=\"2000\""
                )
            }
            Entry::Lines { max, rows } => {
                // What checks spelling may send a secret elsewhere.
                let secret = if self.is_secret { NOT_CORRECTED } else { "" };
                format!("rows=\"{rows}\"{autocomplete}{secret}{required} maxlength=\"{max}\"")
            }
            Entry::Days { rows } => {
                format!("rows=\"{rows}\"{autocomplete}{NOT_CORRECTED}{required} maxlength=\"{DAYS_CHARS_MAX}\"")
            }
            Entry::Data { rows } => {
                format!("rows=\"{rows}\"{autocomplete} spellcheck=\"false\" class=\"mono\"{required}")
            }
            Entry::Password => format!("type=\"password\"{autocomplete}{required}"),
            Entry::NewPassword => format!("type=\"password\"{autocomplete}{required} minlength=\"12\""),
            Entry::Code => {
                format!("class=\"code-field\" type=\"text\"{autocomplete}{NOT_CORRECTED}{required} maxlength=\"40\"")
            }
            Entry::AppCode => format!(
                "class=\"code-field\" type=\"text\" inputmode=\"numeric\"{autocomplete}{required} maxlength=\"40\""
            ),
            Entry::File { accept: "" } => format!("type=\"file\"{required}"),
            Entry::File { accept } => format!("type=\"file\" accept=\"{accept}\"{required}"),
            Entry::Choice | Entry::Box => required.trim_start().to_owned(),
        }
    }

    /// Whether it is a box to tick.
    #[must_use]
    pub fn is_box(&self) -> bool {
        self.entry == Entry::Box
    }

    /// Whether it is a group, whose fields' names begin with its own.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.name.ends_with(['.', '-', ':', '_'])
    }

    fn names(&self, name: &str) -> bool {
        if self.is_group() { name.starts_with(self.name) } else { name == self.name }
    }
}

impl AsRef<str> for Field<'_> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl From<Field<'_>> for String {
    fn from(field: Field<'_>) -> Self {
        field.name.to_owned()
    }
}

/// The fields of a form, as [`form!`](crate::form!) declares them.
pub trait FormFields: std::fmt::Debug + Sync {
    /// All fields, in the order of the page.
    fn all(&self) -> Vec<Field<'static>>;

    /// The fields' names, for reading a type by the rules of an API body.
    fn names(&self) -> Vec<&'static str> {
        self.all().into_iter().map(|field| field.name).collect()
    }

    /// The label of what people typed. None for what the page filled in, and for a choice, whose text isn't known here.
    fn label(&self, name: &str) -> Option<&'static str> {
        let field = self.all().into_iter().find(|field| field.names(name))?;
        (!matches!(field.entry, Entry::Choice | Entry::Box)).then_some(field.label)
    }

    /// Whether people fill in a field.
    fn has(&self, name: &str) -> bool {
        self.all().into_iter().any(|field| field.names(name))
    }

    /// Whether no page shows a field again.
    fn is_secret(&self, name: &str) -> bool {
        self.all().into_iter().any(|field| field.is_secret && field.names(name))
    }
}

/// Declares a form: a static of a type of its own with a [`Field`](crate::form::Field) for each of its fields.
#[macro_export]
macro_rules! form {
    ($(#[$doc:meta])* $vis:vis $name:ident: $type:ident { $($field:ident: $declared:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        $vis struct $type {
            $(
                #[doc = "A field."]
                $vis $field: $crate::form::Field<'static>,
            )+
        }

        $(#[$doc])*
        $vis static $name: $type = {
            use $crate::form::Field;
            $type { $($field: $declared),+ }
        };

        impl $crate::form::FormFields for $type {
            fn all(&self) -> Vec<$crate::form::Field<'static>> {
                vec![$(self.$field),+]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    form! {
        /// A contact.
        CONTACT: ContactForm {
            name: Field::line("display_name", "Name", 200).called("The name").required(),
            roles: Field::choice("role.", "Roles"),
            password: Field::password("password", "Your password"),
        }
    }

    #[test]
    fn a_form_knows_its_labels_and_secrets() {
        assert_eq!(CONTACT.names(), ["display_name", "role.", "password"]);
        let label = |name| CONTACT.label(name);
        assert_eq!((label("display_name"), label("password")), (Some("Name"), Some("Your password")));
        assert_eq!((label("version"), label("display_name.x")), (None, None));
        assert!(CONTACT.is_secret("password") && !CONTACT.is_secret("display_name") && !CONTACT.is_secret("role.x"));
    }

    #[test]
    fn a_choice_has_no_text_of_its_own_and_a_secret_text_is_not_checked_for_spelling() {
        assert_eq!(CONTACT.label("role.signer"), None);
        assert!(CONTACT.has("role.signer") && CONTACT.has("password") && !CONTACT.has("version"));
        let text = Field::lines("text", "Instructions", 2000, 5);
        assert!(text.secret().attributes().contains("spellcheck=\"false\""));
        assert!(!text.attributes().contains("spellcheck"));
    }

    #[test]
    fn a_secret_is_not_filled_in_again() {
        assert!(CONTACT.name.shows_value() && !CONTACT.password.shows_value());
        assert_eq!(CONTACT.password.attributes(), "type=\"password\" autocomplete=\"current-password\" required");
    }
}

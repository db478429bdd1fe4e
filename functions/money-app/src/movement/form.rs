//! The forms of acts on a payment, each rendered the same way wherever its page has it: as the next step, in a disclosure
//! among the other acts, or beside the evidence that it is about.
//!
//! Decision: what was typed is shown again after a refusal, but nothing that is or looks like an account number: not even
//! whoever typed one sees it again.

use askama::Template;
use askama::filters::HtmlSafe;
use pages::fields::Fields;
use shared::domain::sensitive::has_account_number;
use shared::web::{Form, FormKeys};
use shared::wire::fields::{FieldCode, FieldErrors};

/// A choice of a `select`, or a radio button with what it means.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub value: &'static str,
    pub text: String,
    /// What it means. Empty where its text says so.
    pub about: &'static str,
}

/// The fields of a form.
#[derive(Debug, Clone)]
pub(super) enum Inputs {
    /// None.
    Nothing,
    /// A reason in words.
    Reason(&'static str),
    /// A reason of a list, and a note.
    Exception(Vec<Choice>),
    /// How an exception is resolved, and, where more than the amount arrived, what became of the rest.
    Resolve(Vec<Choice>, bool),
    /// Whether evidence is another arrival than one that looks like it.
    Another,
    /// What the sender says: the types of references.
    Claim(Vec<Choice>),
    /// What evidence says: its sources.
    Evidence(Vec<Choice>),
    /// What a member says who verifies instructions.
    Verification(VerificationInputs),
}

/// The fields of a member who verifies instructions.
#[derive(Debug, Clone)]
pub(super) struct VerificationInputs {
    /// The text of the instructions without its numbers, if they are one.
    pub text: Option<String>,
    /// The labels and names of the numbers that are typed again.
    pub numbers: Vec<(String, String)>,
    pub methods: Vec<Choice>,
    /// Where a telephone number may be from.
    pub sources: Vec<Choice>,
}

/// The form of an act. In a template, `{{ form }}` is its element.
#[derive(Template)]
#[template(path = "movement_form.html")]
pub(super) struct ActForm {
    /// Its name on the page, which begins the ids of its fields.
    pub name: String,
    /// Where it is sent.
    pub path: String,
    pub form_keys: FormKeys,
    /// The label of its button.
    pub label: &'static str,
    /// What tells its button apart from those of other rows. Empty where there is one only.
    pub about: String,
    /// What the act does.
    pub text: String,
    /// Whether it can do harm.
    pub is_harmful: bool,
    /// What it showed, by the names of its hidden fields.
    pub hidden: Vec<(&'static str, String)>,
    pub inputs: Inputs,
    pub fields: Fields,
    /// Whether it was refused, so that it is open.
    pub is_refused: bool,
}

// Its template escapes what it shows.
impl HtmlSafe for ActForm {}

impl ActForm {
    /// Whether it is a button with a sentence: on narrow screens it stays in reach.
    pub fn is_button(&self) -> bool {
        matches!(self.inputs, Inputs::Nothing)
    }

    fn id(&self, field: &str) -> String {
        format!("{}-{field}", self.name)
    }
}

/// A form that was refused: its name, and what was typed. No form, if none was.
#[derive(Debug, Default)]
pub(super) struct Typed {
    name: String,
    fields: Fields,
}

impl Typed {
    /// What was typed in the form of a name, with what is wrong.
    pub fn new(name: impl Into<String>, form: &Form, errors: FieldErrors) -> Self {
        Self { name: name.into(), fields: without_numbers(form, errors, &[]) }
    }

    /// The same of a form with fields that no page shows again.
    pub fn without(name: impl Into<String>, form: &Form, errors: FieldErrors, secret: &[&str]) -> Self {
        Self { name: name.into(), fields: without_numbers(form, errors, secret) }
    }

    /// Whether it is the form of a name.
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether any field is wrong.
    pub fn has_errors(&self) -> bool {
        self.fields.has_errors()
    }

    /// The fields of the form of a name: what was typed, or else what it begins with.
    pub fn fields_of(&self, name: &str, beginning: &[(&str, &str)]) -> Fields {
        if self.is(name) { self.fields.clone() } else { Fields::of(beginning.iter().copied()) }
    }
}

/// The fields that hold references of banks or amounts, which may be long numbers. Those that look like an account number
/// were refused by their own check.
const MAY_BE_LONG: [&str; 5] = ["amount", "bank_reference", "id", "phone", "reference"];

/// The fields of a form as they were typed, but for the secret ones and all that looks like an account number.
pub(super) fn without_numbers(form: &Form, errors: FieldErrors, secret: &[&str]) -> Fields {
    let refused = errors.clone().into_list();
    let is_refused =
        |name: &str| refused.iter().any(|error| error.field == name && error.code == FieldCode::SensitiveValue);
    let is_left_out = |name: &str| {
        secret.contains(&name)
            || is_refused(name)
            || (!MAY_BE_LONG.contains(&name) && has_account_number(form.get(name)))
    };
    Fields::submitted(form, errors).without(is_left_out)
}

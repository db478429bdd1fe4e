//! The forms of acts on a payment, the same as next step, among other acts, or next to their evidence.
//!
//! Decision: typed values are shown again after a refusal, except apparent account numbers, which nobody sees again.

use askama::Template;
use askama::filters::HtmlSafe;
use pages::fields::Fields;
use shared::domain::sensitive::has_account_number;
use shared::web::{Form, FormKeys};
use shared::wire::fields::{FieldCode, FieldErrors};

#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub value: &'static str,
    pub text: String,
    pub about: &'static str,
}

#[derive(Debug, Clone)]
pub(super) enum Inputs {
    Nothing,
    Reason(&'static str),
    Exception(Vec<Choice>),
    /// The resolutions of an exception, and whether there is a surplus to settle.
    Resolve(Vec<Choice>, bool),
    Another,
    Claim(Vec<Choice>),
    Evidence(Vec<Choice>),
    Verification(VerificationInputs),
}

#[derive(Debug, Clone)]
pub(super) struct VerificationInputs {
    pub text: Option<String>,
    pub numbers: Vec<(String, String)>,
    pub methods: Vec<Choice>,
    pub sources: Vec<Choice>,
}

/// The form of an act. In a template, `{{ form }}` renders its element.
#[derive(Template)]
#[template(path = "movement_form.html")]
pub(super) struct ActForm {
    pub name: String,
    pub path: String,
    pub form_keys: FormKeys,
    pub label: &'static str,
    /// Distinguishes its button from other rows'. Empty if there is only one.
    pub about: String,
    pub text: String,
    pub is_harmful: bool,
    pub hidden: Vec<(&'static str, String)>,
    pub inputs: Inputs,
    pub fields: Fields,
    pub is_refused: bool,
}

// Its template escapes its values.
impl HtmlSafe for ActForm {}

impl ActForm {
    /// Whether it is only a button with a sentence, which stays in reach on narrow screens.
    pub fn is_button(&self) -> bool {
        matches!(self.inputs, Inputs::Nothing)
    }
}

#[derive(Debug, Default)]
pub(super) struct Typed {
    name: String,
    fields: Fields,
}

impl Typed {
    pub fn new(name: impl Into<String>, form: &Form, errors: FieldErrors) -> Self {
        Self { name: name.into(), fields: without_numbers(form, errors) }
    }

    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub fn has_errors(&self) -> bool {
        self.fields.has_errors()
    }

    pub fn fields_of(&self, name: &str, beginning: &[(&str, &str)]) -> Fields {
        let fields = if self.is(name) { self.fields.clone() } else { Fields::of(beginning.iter().copied()) };
        fields.within(name.to_owned())
    }
}

/// May be long numbers: banks' references and amounts. Their own checks have already refused account numbers.
const MAY_BE_LONG: [&str; 5] = ["amount", "bank_reference", "id", "phone", "reference"];

pub(super) fn without_numbers(form: &Form, errors: FieldErrors) -> Fields {
    let refused = errors.clone().into_list();
    let is_refused =
        |name: &str| refused.iter().any(|error| error.field == name && error.code == FieldCode::SensitiveValue);
    let is_left_out =
        |name: &str| is_refused(name) || (!MAY_BE_LONG.contains(&name) && has_account_number(form.get(name)));
    Fields::submitted(form, errors).without(is_left_out)
}

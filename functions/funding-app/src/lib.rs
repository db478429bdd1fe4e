//! Trusts and funding: workspaces' schedules, items with claim and proof apart, trusts, CSV import and export; and the
//! import of contacts.
//!
//! `index` covers all workspaces, `schedule` one, `selected` several items, `item` one, with its form (`facts`) and its
//! acts (`acts`); `trusts`, `trust` and `trust_form` the trusts; `sheet` has the columns of `import` and `export`.
//!
//! - Decision: these pages are a separate function: `money-app` would exceed the size limit.
//! - Decision: drafting agreements from items and printing schedules are in `documents`, which has the fonts for PDFs.

mod acts;
mod export;
mod facts;
mod import;
mod index;
mod item;
mod rows;
mod schedule;
mod selected;
mod sheet;
mod trust;
mod trust_form;
mod trusts;

use std::sync::Arc;

use axum::Router;
use pages::fields::Fields;
use pages::routes::{Pages, complete, get, post};
use pages::urls::{CONTACT_IMPORT, FUNDING, NEW_TRUST, TRUSTS};
use shared::AppState;
use shared::domain::contact::Contact;
use shared::domain::funding::{AssetKind, Fact, FundingItem, Verb};
use shared::domain::trust::Trust;
use shared::text::funding_words as words;
use shared::web::Form;
use shared::wire::fields::{FieldCode, FieldErrors};

/// The pages, and an error page for every other path.
pub fn router(app: Arc<AppState>) -> Router {
    complete(routes(), app)
}

/// The routes of trusts and funding.
#[must_use]
pub fn routes() -> Pages {
    let at = |path: &str| format!("/app/funding/items/{{id}}{path}");
    Pages::default()
        .route(
            CONTACT_IMPORT,
            get("view_contact_import", import::contacts::show_import)
                .form("upload_contacts", import::contacts::read_import)
                .fields(&import::IMPORT),
        )
        .route(
            &format!("{CONTACT_IMPORT}/{{import}}"),
            get("view_contact_import_preview", import::contacts::show_preview)
                .form("import_contacts", import::contacts::import),
        )
        .route(FUNDING, get("view_funding", index::show))
        .route(
            "/app/funding/{id}",
            get("view_funding_schedule", schedule::show)
                .form("create_funding_item", schedule::add)
                .fields(&schedule::NEW_ITEM),
        )
        .route("/app/funding/{id}/export", get("export_funding_schedule", export::export))
        .route(
            "/app/funding/{id}/import",
            get("view_funding_import", import::items::show_import)
                .form("upload_funding_items", import::items::read_import)
                .fields(&import::IMPORT),
        )
        .route(
            "/app/funding/{id}/import/{import}",
            get("view_funding_import_preview", import::items::show_preview)
                .form("import_funding_items", import::items::import),
        )
        .route(
            "/app/funding/{id}/selected",
            post(selected::ACT_OPERATIONS, selected::act).fields(&selected::SELECTED_FORM),
        )
        .route(&at(""), get("view_funding_item", item::show))
        .route(&at("/sort"), post("update_funding_item", acts::sort).fields(&facts::FACTS_FORM))
        .route(&at("/park"), post("park_funding_item", acts::park_item).fields(&item::PARKING))
        .route(&at("/clear"), post("park_funding_item", acts::clear_hold))
        .route(&at("/close"), post("close_funding_item", acts::close_unfunded).fields(&item::CLOSING))
        .route(&at("/reopen"), post("reopen_funding_item", acts::reopen))
        .route(&at("/claim"), post("record_funding_claim", acts::record_claim).fields(&item::CLAIM_FORM))
        .route(&at("/claim/withdraw"), post("withdraw_funding_claim", acts::withdraw_claim).fields(&item::WITHDRAWAL))
        .route(
            &at("/confirmation/{submission}"),
            post("file_funding_proof", acts::file_confirmation).fields(&item::CONFIRMATION_FORM),
        )
        .route(&at("/proof"), post("file_funding_proof", acts::file_proof).fields(&item::PROOF_FORM))
        .route(&at("/proof/{proof}/accept"), post("accept_funding_proof", acts::accept_proof))
        .route(&at("/proof/{proof}/reject"), post("reject_funding_proof", acts::reject_proof).fields(&item::REJECTION))
        .route(&at("/proof/{proof}/file"), get("download_funding_proof", acts::download))
        .route(TRUSTS, get("view_trusts", trusts::list))
        .route(
            NEW_TRUST,
            get("view_new_trust", trust_form::new).form("create_trust", trust_form::create).fields(&trust_form::TRUST),
        )
        .route("/app/trusts/{id}", get("view_trust", trust::show))
        .route(
            "/app/trusts/{id}/edit",
            get("view_trust_form", trust_form::edit).form("update_trust", trust_form::save).fields(&trust_form::TRUST),
        )
}

pub(crate) fn hold_badge(item: &FundingItem) -> Option<String> {
    item.hold().map(|hold| format!("On hold: {}", words::waiting_on(hold.waiting_on)))
}

#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub value: String,
    pub text: String,
    pub about: &'static str,
}

impl Choice {
    pub fn new(value: &impl ToString, text: impl Into<String>) -> Self {
        Self { value: value.to_string(), text: text.into(), about: "" }
    }
}

fn kinds() -> Vec<Choice> {
    AssetKind::ALL.iter().map(|kind| Choice::new(kind, words::asset_kind(*kind))).collect()
}

fn verbs(of: impl Iterator<Item = Verb>) -> Vec<Choice> {
    of.map(|verb| Choice::new(&verb, words::verb(verb))).collect()
}

fn trust_choices(trusts: &[Trust]) -> Vec<Choice> {
    trusts.iter().map(|trust| Choice::new(&trust.id, trust.formal_name.as_str())).collect()
}

fn people_choices(people: &[Contact]) -> Vec<Choice> {
    people.iter().map(|contact| Choice::new(&contact.id, contact.display_name.as_str())).collect()
}

pub(crate) fn facts_for_people(item: &FundingItem) -> Vec<(&'static str, String)> {
    item.detail().for_people(Fact::ALL).collect()
}

#[derive(Debug, Default)]
struct Typed {
    name: String,
    fields: Fields,
}

impl Typed {
    fn new(name: impl Into<String>, form: &Form, errors: FieldErrors) -> Self {
        let refused = errors.clone().into_list();
        let is_left_out =
            |name: &str| refused.iter().any(|error| error.field == name && error.code == FieldCode::SensitiveValue);
        Self { name: name.into(), fields: Fields::submitted(form, errors).without(is_left_out) }
    }

    fn with_field(self, name: &str, value: &str) -> Self {
        Self { fields: Fields::of([(name, value)]).over(self.fields), ..self }
    }

    fn is(&self, name: &str) -> bool {
        self.name == name
    }

    fn has_errors(&self) -> bool {
        self.fields.has_errors()
    }

    fn fields_of<N: Into<String>, V: Into<String>>(
        &self,
        name: &str,
        beginning: impl IntoIterator<Item = (N, V)>,
    ) -> Fields {
        let fields = if self.is(name) { self.fields.clone() } else { Fields::of(beginning) };
        fields.within(name.to_owned())
    }

    fn fields_or_none(&self, name: &str) -> Fields {
        self.fields_of(name, std::iter::empty::<(String, String)>())
    }
}

/// Why an action can't be chosen, completing a sentence that begins with its name.
fn not_possible(kind: AssetKind) -> String {
    let fitting: Vec<&str> = kind.verbs().map(words::verb).collect();
    format!("isn’t possible for the kind “{}”. Choose {}", words::asset_kind(kind), one_of(&fitting))
}

fn one_of(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

fn not_chosen(field: &str) -> FieldErrors {
    FieldErrors::one(field, FieldCode::Required, "must be chosen")
}

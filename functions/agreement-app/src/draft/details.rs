//! The name, kind and expiry of a draft.

use askama::Template;
use pages::fields::{Choice, Fields};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::agreement_url;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::{Agreement, AgreementKind, AgreementName};
use shared::domain::ids::AgreementId;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::service::drafts;
use shared::web::Request;
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::draft::{Edit, Problem, editable, seen, submit};

form! {
    /// A draft’s name, kind and expiry.
    pub(crate) DETAILS: DetailsForm {
        name: Field::line("name", "Agreement name", 250),
        kind: Field::choice("kind", "Kind"),
        expires_at: Field::time("expires_at", "Expires").hint(
            "A date alone means the end of that day. If the agreement is not completed by then, it expires. Leave it empty for no expiry.",
        ),
    }
}

#[derive(Template)]
#[template(path = "draft_details.html")]
struct DetailsPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    kind_hint: &'static str,
    kinds: Vec<Choice>,
    fields: Fields,
    seen: String,
    expiry: Fields,
    expiry_seen: String,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    page(request, None, None, None).await
}

async fn page(
    request: &Request,
    fields: Option<Fields>,
    expiry: Option<Fields>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let id: AgreementId = request.path_id("id")?;
    let signed_in = request.signed_in()?;
    let zone = &signed_in.organization().time_zone;
    let agreement = drafts::agreement(signed_in.scope(), id).await?;
    if !editable(&agreement) {
        return Ok(PageResponse::see_other(agreement_url(id)));
    }
    let page = DetailsPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        path: format!("{}/details", agreement_url(id)),
        kind_hint: match agreement.kind {
            AgreementKind::Safe => "A SAFE that becomes an agreement of another kind loses its terms.",
            AgreementKind::General => "A SAFE has terms of its own, such as a valuation cap.",
        },
        kinds: kinds(),
        fields: fields.unwrap_or_else(|| description_fields(&agreement)),
        seen: seen(&agreement, Part::Description),
        expiry: expiry.unwrap_or_else(|| expiry_fields(&agreement, zone)),
        expiry_seen: seen(&agreement, Part::Expiry),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

pub(super) fn description_fields(agreement: &Agreement) -> Fields {
    Fields::of([(DETAILS.name.name, agreement.name.as_str()), (DETAILS.kind.name, agreement.kind.as_str())])
}

pub(super) fn expiry_fields(agreement: &Agreement, zone: &TimeZone) -> Fields {
    Fields::of(agreement.expires_at.map(|at| (DETAILS.expires_at.name, zone.write_local(at))))
}

pub(crate) fn kind_label(kind: AgreementKind) -> &'static str {
    match kind {
        AgreementKind::General => "Agreement",
        AgreementKind::Safe => "SAFE",
    }
}

fn kinds() -> Vec<Choice> {
    [AgreementKind::General, AgreementKind::Safe].map(|kind| Choice::new(kind.as_str(), kind_label(kind))).into()
}

pub(super) fn agreement_name(text: &str) -> Result<AgreementName, FieldErrors> {
    AgreementName::parse(text).map_err(|(code, message)| FieldErrors::one(DETAILS.name, code, message))
}

pub(crate) const SAVE_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("expiry", "set_expiry")], otherwise: "describe_agreement" };

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: AgreementId = request.path_id("id")?;
    let form = submitted.form();
    let is_expiry = form.get("act") == "expiry";
    let again = async |problem: Problem| {
        let fields = Some(problem.fields(form));
        let (fields, expiry) = if is_expiry { (None, fields) } else { (fields, None) };
        Ok(problem.answer(page(request, fields, expiry, Some(problem.notice.clone())).await?))
    };
    let edit = if is_expiry {
        let typed = form.get(DETAILS.expires_at).trim();
        let zone = &request.signed_in()?.organization().time_zone;
        let expires_at = match typed {
            "" => None,
            typed => match zone.read_local(typed) {
                Ok(at) => Some(at),
                Err(error) => {
                    let errors = FieldErrors::one(DETAILS.expires_at, FieldCode::InvalidFormat, error.to_string());
                    return again(Problem::invalid(errors)).await;
                }
            },
        };
        let now = request.now();
        let says = move |_: &Agreement, _: &Agreement| match expires_at {
            Some(at) if at <= now => {
                let line = "That is in the past: the draft can’t be published until you choose a later date.";
                Notice::warn(format!("Expires {}", zone.for_people(at)), line)
            }
            Some(at) => Notice::good(format!("Expires {}", zone.for_people(at)), ""),
            None => Notice::good("The agreement does not expire", ""),
        };
        Edit::new(agreement_url(id), says, move |draft, now| draft.set_expiry(expires_at, now)).of(Part::Expiry)
    } else {
        let name = match agreement_name(form.get(DETAILS.name)) {
            Ok(name) => name,
            Err(errors) => return again(Problem::invalid(errors)).await,
        };
        let kind = AgreementKind::parse(form.get(DETAILS.kind)).unwrap_or_default();
        let says = |_: &Agreement, after: &Agreement| {
            Notice::good(format!("{} “{}” was saved", kind_label(after.kind), after.name.as_str()), "")
        };
        Edit::new(agreement_url(id), says, move |draft, now| draft.describe(name.clone(), kind, now))
            .of(Part::Description)
    };
    submit(request, &submitted, id, edit, again).await
}

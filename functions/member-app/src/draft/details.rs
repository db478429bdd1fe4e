//! The name, kind and expiry of a draft.

use askama::Template;
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::{AgreementKind, AgreementName};
use shared::domain::ids::AgreementId;
use shared::error::Error;
use shared::service::drafts;
use shared::web::Request;
use shared::wire::fields::{FieldCode, FieldErrors};

use super::step::editable;
use super::{Choice, Edit, Problem, seen, submit};
use crate::Handler;
use crate::agreement::agreement_url;
use crate::fields::Fields;
use crate::layout::{Layout, Link, Notice};
use crate::response::PageResponse;

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
    expiry_hint: String,
}

/// Shows the page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_draft_details"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        page(request, None, None, None).await
    }
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
    let own = || Fields::of([("name", agreement.name.as_str()), ("kind", agreement.kind.as_str())]);
    let own_expiry = || Fields::of(agreement.expires_at.map(|at| ("expires_at", zone.write_local(at))));
    let page = DetailsPage {
        layout: Layout::new(request),
        notice,
        agreement: super::agreement_link(&agreement),
        path: format!("{}/details", agreement_url(id)),
        kind_hint: match agreement.kind {
            AgreementKind::Safe => "A SAFE that becomes an agreement of another kind loses its terms.",
            AgreementKind::General => "A SAFE has terms of its own, such as a valuation cap.",
        },
        kinds: kinds(),
        fields: fields.unwrap_or_else(own),
        seen: seen(&agreement, Part::Description),
        expiry: expiry.unwrap_or_else(own_expiry),
        expiry_seen: seen(&agreement, Part::Expiry),
        expiry_hint: format!(
            "If the agreement is not completed by then, it expires. Time zone: {}. Leave it empty for no expiry.",
            zone.as_str()
        ),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

fn kinds() -> Vec<Choice> {
    vec![Choice::new(AgreementKind::General.as_str(), "Agreement"), Choice::new(AgreementKind::Safe.as_str(), "SAFE")]
}

/// Reads the name of an agreement.
pub(super) fn agreement_name(text: &str) -> Result<AgreementName, FieldErrors> {
    AgreementName::parse(text).map_err(|(code, message)| FieldErrors::one("name", code, message))
}

/// Saves the name and kind, or the expiry.
pub(crate) struct Save;

impl Handler for Save {
    fn operation(request: &Request) -> &'static str {
        match request.unverified_form().get("act") {
            "expiry" => "set_expiry",
            _ => "describe_agreement",
        }
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
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
            let typed = form.get("expires_at").trim();
            let zone = &request.signed_in()?.organization().time_zone;
            let expires_at = match typed {
                "" => None,
                typed => match zone.read_local(typed) {
                    Ok(at) => Some(at),
                    Err(error) => {
                        let errors = FieldErrors::one("expires_at", FieldCode::InvalidFormat, error.to_string());
                        return again(Problem::invalid(errors)).await;
                    }
                },
            };
            let title = match expires_at {
                Some(at) => format!("Expires {}", zone.for_people(at)),
                None => "The agreement does not expire".to_owned(),
            };
            Edit::new(agreement_url(id), title, move |draft, now| draft.set_expiry(expires_at, now)).of(Part::Expiry)
        } else {
            let name = match agreement_name(form.get("name")) {
                Ok(name) => name,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            let kind = AgreementKind::parse(form.get("kind")).unwrap_or_default();
            Edit::new(agreement_url(id), "Name and kind saved", move |draft, now| {
                draft.describe(name.clone(), kind, now)
            })
            .of(Part::Description)
        };
        submit(request, &submitted, id, edit, again).await
    }
}

//! Papering items: the preview and the act that drafts the agreement. Also the PDF of a workspace's schedule.

use askama::Template;
use pages::done::redirect_with;
use pages::fields::Fields;
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{PAPERS, agreement_url, funding_url, item_url, trust_url};
use shared::domain::agreement::AgreementName;
use shared::domain::funding::FundingItem;
use shared::domain::funding::input::{ItemIds, NewPapering};
use shared::domain::funding::papers::{self, Block, Paper};
use shared::domain::funding::transitions::NotPapered;
use shared::domain::ids::{AgreementId, ContactId, FundingItemId, WorkspaceId};
use shared::error::Error;
use shared::limits;
use shared::service::funding_review::{self, PaperingPreview};
use shared::service::funding_shown::PaperingPart;
use shared::service::papering;
use shared::service::shown::Shown;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::letters;

form! {
    /// The draft that papers items.
    pub(crate) DRAFT: DraftForm {
        name: Field::line("name", "Name", 250),
    }
}

#[derive(Template)]
#[template(path = "funding_papers.html")]
struct PreviewPage {
    layout: Layout,
    notice: Option<Notice>,
    workspace: Link,
    path: String,
    trust: Option<Link>,
    problems: Vec<(Option<Link>, String)>,
    items: String,
    /// The id for the agreement: submitting twice drafts one.
    agreement_id: String,
    shown: String,
    fields: Fields,
    people: Vec<(String, String)>,
    papers: Vec<PaperView>,
    steps: Vec<(&'static str, String)>,
}

struct PaperView {
    title: String,
    item: Link,
    parts: Vec<PaperPart>,
}

enum PaperPart {
    Paragraph(String),
    Facts(Vec<(String, String)>),
    Signatures(Vec<String>),
}

impl From<&Paper> for PaperView {
    fn from(paper: &Paper) -> Self {
        let part = |block: &Block| match block {
            Block::Paragraph(text) => PaperPart::Paragraph(text.clone()),
            Block::Facts(facts) => PaperPart::Facts(facts.clone()),
            Block::Signatures(names) => PaperPart::Signatures(names.clone()),
        };
        Self {
            title: paper.title.clone(),
            item: Link { url: item_url(paper.item_id), text: paper.asset.clone() },
            parts: paper.blocks.iter().map(part).collect(),
        }
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let query: Query = request.read_query()?;
    let items = ids(&query.items)?;
    if items.is_empty() {
        return Ok(PageResponse::see_other(funding_url(request.path_id("id")?)));
    }
    preview(request, &items, AgreementId::new(), None, None).await
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    items: String,
}

/// Parses ids, up to one more than can be papered.
fn ids(text: &str) -> Result<Vec<FundingItemId>, Error> {
    let given = text.split(',').map(str::trim).filter(|id| !id.is_empty()).take(limits::PAPERED_ITEMS_MAX + 1);
    let wrong =
        |_| Error::Invalid(FieldErrors::one("items", FieldCode::InvalidFormat, "must be ids with commas between"));
    given.map(|id| id.parse().map_err(wrong)).collect()
}

async fn preview(
    request: &Request,
    items: &[FundingItemId],
    id: AgreementId,
    typed: Option<Fields>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let (workspace, signed_in): (WorkspaceId, _) = (request.path_id("id")?, request.signed_in()?);
    let day = signed_in.organization().time_zone.day_of(request.now());
    let found = funding_review::papering(signed_in.scope(), workspace, day, items).await?;
    let name = found.trust.as_ref().and_then(papers::default_name);
    let name = name.map(|name| name.as_str().to_owned()).unwrap_or_default();
    let list: Vec<String> = items.iter().map(ToString::to_string).collect();
    let page = PreviewPage {
        layout: Layout::new(request),
        notice,
        workspace: Link { url: funding_url(workspace), text: found.workspace.name.as_str().to_owned() },
        path: format!("{PAPERS}/{workspace}"),
        trust: found
            .trust
            .as_ref()
            .map(|trust| Link { url: trust_url(trust.id), text: trust.formal_name.as_str().to_owned() }),
        problems: problems(&found, items),
        items: list.join(","),
        agreement_id: id.to_string(),
        shown: found.shown.as_ref().map(ToString::to_string).unwrap_or_default(),
        fields: typed.unwrap_or_else(|| Fields::of([(DRAFT.name, name)])),
        people: people(&found),
        papers: found.papers.iter().map(PaperView::from).collect(),
        steps: steps(&found),
    };
    Ok(PageResponse::render(&page)?.showing([workspace.uuid()]))
}

fn problems(found: &PaperingPreview, items: &[FundingItemId]) -> Vec<(Option<Link>, String)> {
    let mut problems = Vec::new();
    if items.len() > limits::PAPERED_ITEMS_MAX {
        problems.push((None, format!("An agreement papers up to {} items.", limits::PAPERED_ITEMS_MAX)));
    }
    if found.items.len() < items.len() {
        problems.push((None, "Some of the items are not in this workspace.".to_owned()));
    }
    let link = |item: &FundingItem| Link { url: item_url(item.id()), text: item.label().as_str().to_owned() };
    for item in &found.items {
        if let Err(reason) = item.check_papering() {
            problems.push((Some(link(item)), said(reason).to_owned()));
        }
    }
    let with_trust = found.items.iter().filter_map(FundingItem::trust_id);
    if found.trust.is_none() && with_trust.collect::<std::collections::BTreeSet<_>>().len() > 1 {
        problems.push((None, "The items belong to several trusts. Paper those of one trust at a time.".to_owned()));
    }
    problems
}

fn said(reason: NotPapered) -> &'static str {
    match reason {
        NotPapered::NotReady => "is not ready: its page says what is missing.",
        NotPapered::LeftOut => "stays out of the trust: close it as unfunded.",
        NotPapered::OnHold => "is on hold: clear the hold first.",
        NotPapered::NotOpen => "is papered or closed already.",
    }
}

fn people(found: &PaperingPreview) -> Vec<(String, String)> {
    let Some(trust) = &found.trust else { return Vec::new() };
    let is_owner = |id: &ContactId| found.items.iter().any(|item| item.owner_contact_ids().contains(id));
    let roles = |id: &ContactId| {
        let roles = [
            (trust.trustee_contact_ids.contains(id), "Trustee, signs"),
            (is_owner(id), "Owner, signs"),
            (trust.settlor_contact_ids.contains(id), "Settlor"),
        ];
        roles.into_iter().filter(|(has, _)| *has).map(|(_, role)| role).collect::<Vec<_>>().join("; ")
    };
    found.contacts.iter().map(|contact| (contact.display_name.as_str().to_owned(), roles(&contact.id))).collect()
}

fn steps(found: &PaperingPreview) -> Vec<(&'static str, String)> {
    let count = found.papers.len();
    let documents = if count == 1 { "the document".to_owned() } else { format!("all {count} documents") };
    vec![
        ("Signing", format!("Owners and trustees sign {documents}.")),
        (
            "Confirmation",
            "A trustee uploads what the receiving side confirms, a file for each item. A member files it as proof."
                .to_owned(),
        ),
    ]
}

pub(crate) async fn draft_from_items(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let id: AgreementId = form.get("agreement").parse().unwrap_or_else(|_| AgreementId::new());
    let items = ids(form.get("items"))?;
    let again = async |errors: FieldErrors| {
        let typed = Fields::submitted(form, errors);
        let page = preview(request, &items, id, Some(typed), None).await?;
        Ok(page.unprocessable())
    };
    let new = match read(form, &items) {
        Ok(new) => new,
        Err(errors) => return again(errors).await,
    };
    let line = "Next: let counsel review the documents, then publish. Nothing was sent to anyone.";
    let done = Notice::good("Agreement drafted", line);
    let redirect = redirect_with(&submitted, format!("{}#notice", agreement_url(id)), &done).await;
    if papering::papered_before(submitted.scope(), id).await?.is_some() {
        return Ok(redirect.into());
    }
    let files = request.app().files()?;
    let shown = Shown::from_form(form.get("shown"));
    let (submitted_ref, new, shown) = (&submitted, &new, &shown);
    let run = || async move {
        let prepared = papering::prepare(submitted_ref.scope(), new).await?.with_id(id);
        check_shown(shown, &prepared)?;
        let written = letters::write(submitted_ref.scope(), &prepared, files).await?;
        papering::paper(submitted_ref, prepared, written)
    };
    match submitted.run(run).await {
        Ok(_) => Ok(redirect.into()),
        // The form was sent twice: the first one papered the items.
        Err(_) if papering::papered_before(submitted.scope(), id).await?.is_some() => Ok(redirect.into()),
        Err(Error::Invalid(errors)) if errors.clone().into_list().iter().any(|error| error.field == SHOWN) => {
            let changed = errors.into_list().into_iter().map(|error| error.message);
            let line = "The page shows the agreement as it would be now: look at it, then paper the items.".to_owned();
            let title = "Nothing was papered: what you saw has changed".to_owned();
            let notice = Notice::new("bad", title, changed.chain([line]));
            let typed = Fields::submitted(form, FieldErrors::default());
            Ok(preview(request, &items, id, Some(typed), Some(notice)).await?.conflicting())
        }
        Err(Error::Invalid(errors) | Error::NotFound(errors)) if !errors.is_empty() => {
            let problem = errors.into_list().into_iter().find(|error| !error.field.starts_with("item_ids["));
            let line = problem.map(|error| format!("The items: {}.", error.message)).unwrap_or_default();
            let notice = Notice::new("bad", "Nothing was papered".to_owned(), [line]);
            let typed = Fields::submitted(form, FieldErrors::default());
            Ok(preview(request, &items, id, Some(typed), Some(notice)).await?.conflicting())
        }
        Err(error) => Err(error),
    }
}

const SHOWN: &str = "shown";

fn check_shown(shown: &Shown<PaperingPart>, prepared: &papering::Prepared) -> Result<(), Error> {
    let changed = shown.changed_to(&prepared.shown());
    let said = |part: &PaperingPart| match part {
        PaperingPart::Items => "Changed: the items or their facts.",
        PaperingPart::Trust => "Changed: the trust, its settlors or its trustees.",
        PaperingPart::Names => "Changed: names of people or of the workspace.",
        PaperingPart::Day => "The documents now have another date.",
    };
    let mut errors = FieldErrors::default();
    for part in &changed {
        errors.extend(FieldErrors::one(SHOWN, FieldCode::WrongState, said(part)));
    }
    if changed.is_empty() { Ok(()) } else { Err(Error::Invalid(errors)) }
}

fn read(form: &Form, items: &[FundingItemId]) -> Result<NewPapering, FieldErrors> {
    let name = match form.get(DRAFT.name) {
        blank if blank.trim().is_empty() => None,
        text => {
            let name = AgreementName::parse(text);
            Some(name.map_err(|(code, message): (FieldCode, String)| FieldErrors::one(DRAFT.name, code, message))?)
        }
    };
    Ok(NewPapering { item_ids: ItemIds::new(items.to_vec())?, name })
}

pub(crate) async fn print(request: &mut Request) -> Result<PageResponse, Error> {
    let (id, signed_in): (WorkspaceId, _) = (request.path_id("id")?, request.signed_in()?);
    let review = funding_review::of_workspace(signed_in.scope(), id).await?;
    let organization = signed_in.organization();
    let day = organization.time_zone.day_of(request.now());
    let letter = crate::print::schedule(&review, organization.name.as_str(), day);
    let file = letters::print(letter).await?;
    let name = format!("funding-schedule-{day}.pdf");
    Ok(PageResponse::file(file.into(), "application/pdf", "attachment", &name).showing([id.uuid()]))
}

//! Acts on several items of the funding page at once: sorting, or continuing to paper them.
//!
//! Decision: sorting several sets only what was chosen. All are checked first, then each has its own transaction.

use pages::chosen::{self, NAMED};
use pages::done::{redirect_with, with_notice};
use pages::form;
use pages::form::Field;
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::papers_url;
use shared::domain::funding::input::{ContactIds, FundingItemChanges};
use shared::domain::funding::{FundingItem, Verb};
use shared::domain::ids::{ContactId, FundingItemId, TrustId, WorkspaceId};
use shared::error::Error;
use shared::limits;
use shared::service::funding_items::NAMED_OWNER;
use shared::service::precondition::ExpectedVersion;
use shared::service::{funding_items, funding_review};
use shared::text::funding_words as words;
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input::{NullablePatch, Patch};

use crate::schedule::{SELECTED, list_of, page};
use crate::{Typed, facts, not_possible};

form! {
    /// What is changed of the selected items.
    pub(crate) SELECTED_FORM: SelectedForm {
        verb: Field::choice("verb", "Action"),
        trust: Field::choice("trust", "Trust"),
        owner: Field::choice("owner", "Owner"),
        owner_name: NAMED.name,
        owner_kind: NAMED.kind,
        owner_email: NAMED.email,
        items: Field::choice("item.", "Items"),
    }
}

pub(crate) const ACT_OPERATIONS: Operation =
    Operation::ByField { field: "act", names: &[("sort", "sort_funding_items")], otherwise: "select_funding_items" };

pub(crate) async fn act(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (workspace, form): (WorkspaceId, _) = (request.path_id("id")?, submitted.form());
    let items: Vec<FundingItemId> = form.checked("item.").filter_map(|id| id.parse().ok()).collect();
    if items.is_empty() {
        let notice = Notice::bad("Nothing is selected", "Choose at least one item below.");
        return refused(request, form, notice).await;
    }
    if form.get("act") == "sort" {
        return Box::pin(sort(request, &submitted, workspace, &items)).await;
    }
    // Enter in a field presses this button too.
    if !matches!(read(form), Ok(None)) {
        let line = "Something is filled in under “Change several at once”. Change the items first, or clear it.";
        return refused(request, form, Notice::warn("Nothing is papered yet", line)).await;
    }
    if items.len() > limits::PAPERED_ITEMS_MAX {
        let line = format!("An agreement papers up to {} items.", limits::PAPERED_ITEMS_MAX);
        return refused(request, form, Notice::bad("Too many items are selected", line)).await;
    }
    Ok(PageResponse::see_other(papers_url(workspace, &items)))
}

async fn refused(request: &Request, form: &Form, notice: Notice) -> Result<PageResponse, Error> {
    let typed = Typed::new(SELECTED, form, FieldErrors::default());
    Ok(page(request, typed, Some(notice)).await?.unprocessable())
}

async fn sort(
    request: &Request,
    submitted: &SubmittedForm<'_>,
    workspace: WorkspaceId,
    ids: &[FundingItemId],
) -> Result<PageResponse, Error> {
    let form = submitted.form();
    let wrong = async |errors: FieldErrors| {
        let typed = Typed::new(SELECTED, form, errors);
        Ok(page(request, typed, None).await?.unprocessable())
    };
    let (mut changes, owner) = match (read(form), facts::read_owner(form)) {
        (Ok(None), Ok(_)) => {
            let line = "Choose an action, a trust or an owner.";
            return refused(request, form, Notice::bad("Nothing was changed", line)).await;
        }
        (Ok(Some(changes)), Ok(owner)) => (changes, owner),
        (changes, owner) => {
            let mut errors = changes.err().unwrap_or_default();
            errors.extend(owner.err().unwrap_or_default());
            return wrong(errors).await;
        }
    };
    let review = funding_review::of_workspace(submitted.scope(), workspace).await?;
    let found = |id: &FundingItemId| review.schedule.items.iter().find(|item| item.id() == *id);
    let items: Vec<&FundingItem> = ids.iter().filter_map(found).collect();
    if items.len() < ids.len() {
        return Err(Error::not_found());
    }
    let problems = problems(&items, &changes, submitted);
    if !problems.is_empty() {
        let title = "Nothing was changed".to_owned();
        let shown = problems.len().min(PROBLEMS_SHOWN);
        let more = (problems.len() > shown).then(|| format!("{} more items.", problems.len() - shown));
        let notice = Notice::new("bad", title, problems.into_iter().take(shown).chain(more));
        return refused(request, form, notice).await;
    }
    let count = ids.len();
    let done = Notice::good(
        if count == 1 { "1 item was changed".to_owned() } else { format!("{count} items were changed") },
        "Next: fill in what is missing, or paper those that are ready.",
    );
    let location = format!("{}#notice", list_of(request, workspace)?);
    let redirect = redirect_with(submitted, location.clone(), &done).await;
    // The first item finds or makes the named owner, and the others get the same one.
    let (mut named, mut existing) = (owner.clone(), Vec::new());
    for (at, id) in ids.iter().enumerate() {
        let part = submitted.part("update_funding_item", &[id.uuid()])?;
        let run = || funding_items::update_in_form(&part, *id, &ExpectedVersion::Any, changes.clone(), named.clone());
        match part.run(run).await {
            Ok(saved) => {
                if named.take().is_some() {
                    let owners = ContactIds::new(saved.item.owner_contact_ids().iter().copied());
                    changes.owner_contact_ids = Patch::Set(owners.map_err(|(code, message)| {
                        Error::Invalid(FieldErrors::one(SELECTED_FORM.owner, code, message))
                    })?);
                    existing = saved.existing;
                }
            }
            Err(Error::Invalid(errors)) if is_about_owner(&errors) => return wrong(errors).await,
            Err(Error::Invalid(_) | Error::NotFound(_)) => {
                let line = format!(
                    "{at} of {count} items were changed. The next one was changed, papered or closed meanwhile: the page shows how it is now."
                );
                return refused(request, form, Notice::warn("Not all items were changed", line)).await;
            }
            Err(error) => return Err(error),
        }
    }
    let Some(owner) = owner else { return Ok(redirect.into()) };
    let done = Notice { lines: done.lines.into_iter().chain([chosen::became_of(&owner, &existing)]).collect(), ..done };
    Ok(with_notice(submitted, location, &done).await.into())
}

/// Whether the form has a place for an error about the named owner.
fn is_about_owner(errors: &FieldErrors) -> bool {
    let name = SELECTED_FORM.owner_name.member(NAMED_OWNER);
    errors.clone().into_list().iter().any(|error| error.field == name)
}

const PROBLEMS_SHOWN: usize = 8;

fn problems(items: &[&FundingItem], changes: &FundingItemChanges, submitted: &SubmittedForm<'_>) -> Vec<String> {
    let now = submitted.scope().now();
    let problem = |item: &&FundingItem| {
        let errors = item.sort(changes.clone(), now).err()?;
        let first = errors.into_list().into_iter().next()?;
        let label = item.label().as_str();
        Some(match (first.code, &changes.verb) {
            (FieldCode::VerbNotAllowed, NullablePatch::Set(verb)) => {
                format!("“{label}”: {} {}.", words::verb(*verb), not_possible(item.asset_kind()))
            }
            _ => format!("“{label}” {}.", first.message.trim_end_matches('.')),
        })
    };
    items.iter().filter_map(problem).collect()
}

fn read(form: &Form) -> Result<Option<FundingItemChanges>, FieldErrors> {
    let chosen = |field: Field<'_>| Some(form.get(field).trim()).filter(|text| !text.is_empty());
    let unknown = |field: Field<'_>| FieldErrors::one(field, FieldCode::InvalidValue, "must be chosen from the list");
    let mut changes = FundingItemChanges::default();
    let mut is_any = false;
    if let Some(text) = chosen(SELECTED_FORM.verb) {
        changes.verb = NullablePatch::Set(Verb::parse(text).ok_or_else(|| unknown(SELECTED_FORM.verb))?);
        is_any = true;
    }
    if let Some(text) = chosen(SELECTED_FORM.trust) {
        changes.trust_id = NullablePatch::Set(text.parse::<TrustId>().map_err(|_| unknown(SELECTED_FORM.trust))?);
        is_any = true;
    }
    let owner = chosen(SELECTED_FORM.owner).map(str::parse::<ContactId>).transpose();
    let owner = owner.map_err(|_| unknown(SELECTED_FORM.owner))?;
    // A named owner joins these once they are known.
    if owner.is_some() || chosen::is_named(form, NAMED_OWNER) {
        let owners = ContactIds::new(owner);
        changes.owner_contact_ids =
            Patch::Set(owners.map_err(|(code, message)| FieldErrors::one(SELECTED_FORM.owner, code, message))?);
        is_any = true;
    }
    Ok(is_any.then_some(changes))
}

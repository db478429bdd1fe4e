//! The funding of a workspace: items by phase, progress, next steps, and the forms that add an item and act on several.
//!
//! Decision: a page has fifty items by phase; a thousand would load too slowly. Phases count all filtered items.

use std::collections::HashMap;

use askama::Template;
use pages::chosen::{self, NamedFields};
use pages::done::{notice_of_act, redirect_with};
use pages::fields::Fields;
use pages::form;
use pages::form::FormFields;
use pages::labels::{Badge, item_badge};
use pages::layout::{Layout, Link, Notice};
use pages::pager::{Pager, is_past_the_end, page_at};
use pages::response::PageResponse;
use pages::sorting::Sorting;
use pages::urls::{NEW_TRUST, PAPERS, encode_query_value, funding_url, item_url, trust_url, workspace_url};
use shared::domain::contact::ContactKind;
use shared::domain::funding::input::NewFundingItem;
use shared::domain::funding::proof::Proof;
use shared::domain::funding::summary::FundingSummary;
use shared::domain::funding::{FundingItem, Phase, Verb};
use shared::domain::ids::{FundingItemId, TrustId, WorkspaceId};
use shared::domain::trust::Trust;
use shared::error::Error;
use shared::limits;
use shared::service::funding_items::{self, NAMED_OWNER, Upserted};
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::text::{self, funding_words as words};
use shared::web::{Form, Request};
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Filter, Offset, Order, Page, Search};

use crate::rows::Progress;
use crate::{Choice, Typed, hold_badge, kinds, people_choices, trust_choices, verbs};

form! {
    /// An item that is added.
    pub(crate) NEW_ITEM: NewItemForm {
        label: Field::line("label", "Label", 200).hint("What it is called, without its account number."),
        kind: Field::choice("asset_kind", "Kind"),
        trust: Field::choice("trust_id", "Trust"),
        reference: Field::key("external_reference", "Your reference", 200)
            .hint("Optional: its key in your own system, such as asset-17."),
    }
}

const ADD: &str = "add";
pub(super) const SELECTED: &str = "selected";

#[derive(Template)]
#[template(path = "funding.html")]
struct SchedulePage {
    layout: Layout,
    notice: Option<Notice>,
    has_errors: bool,
    /// Whose funding it is: that of a trust, or of several trusts in a workspace.
    whose: String,
    workspace: Link,
    path: String,
    /// Where the form goes that acts on several items.
    selected_action: String,
    /// Where the form goes that adds an item.
    add_action: String,
    progress: Progress,
    funded: u32,
    unfunded: u32,
    parked: u32,
    next: Option<Link>,
    filters: Filters,
    phases: Vec<PhaseLink>,
    sorting: Sorting,
    trusts: Vec<Choice>,
    trust_links: Vec<Link>,
    new_trust: String,
    groups: Vec<Group>,
    /// The trust whose items are listed, if that is the only filter.
    empty_trust: Option<String>,
    pager: Option<Pager>,
    people: Vec<Choice>,
    verbs: Vec<Choice>,
    kinds: Vec<Choice>,
    /// An owner of the selected items who isn't one of the people.
    new_owner: NamedFields,
    contact_kinds: Vec<pages::fields::Choice>,
    /// The names of contacts to suggest.
    known: Vec<String>,
    selected: Fields,
    add: Fields,
    print: String,
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Filters {
    #[deserr(default)]
    phase: Filter<Phase>,
    #[deserr(default)]
    hold: Filter<Hold>,
    #[deserr(default)]
    trust_id: Filter<TrustId>,
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    sort: Filter<Order>,
    #[deserr(default)]
    offset: Offset,
}

#[derive(Debug, Clone, Copy, deserr::Deserr)]
#[deserr(error = FieldErrors)]
enum Hold {
    #[deserr(rename = "yes")]
    Only,
}

impl Filters {
    fn fits(&self, item: &FundingItem) -> bool {
        self.phase.get().is_none_or(|phase| item.phase() == phase) && self.fits_but_phase(item)
    }

    fn fits_but_phase(&self, item: &FundingItem) -> bool {
        (!self.is_parked() || item.hold().is_some())
            && self.trust_id.get().is_none_or(|trust| item.trust_id() == Some(trust))
            && self.search.needle().is_none_or(|needle| item.search_text().as_str().contains(needle))
    }

    fn is_parked(&self) -> bool {
        self.hold.get().is_some()
    }

    fn is_any(&self) -> bool {
        self.phase.get().is_some()
            || self.is_parked()
            || self.trust_id.get().is_some()
            || self.search.needle().is_some()
    }

    fn is_only_trust(&self) -> bool {
        self.trust_id.get().is_some() && !Self { trust_id: Filter::default(), ..self.clone() }.is_any()
    }

    fn trust_is(&self, id: &str) -> bool {
        self.trust_id.get().is_some_and(|trust| trust.to_string() == id)
    }

    fn order(&self) -> Order {
        self.sort.get().unwrap_or(Order::NewestFirst)
    }

    /// Sorts items within their phases. They come the oldest first.
    fn sort(&self, items: &mut Vec<&FundingItem>) {
        match self.order() {
            Order::OldestFirst => {}
            Order::ByName => items.sort_by_cached_key(|item| item.search_text().as_str().to_owned()),
            Order::NewestFirst | Order::ByDue | Order::ByAmount => items.reverse(),
        }
        items.sort_by_key(|item| item.phase());
    }

    /// The same part of the list, where forms go, so that it is there again if they come back.
    fn at(&self, path: &str) -> String {
        match self.offset.get() {
            0 => self.in_phase(path, self.phase.get()),
            offset => format!("{}&offset={offset}", self.with_phase(path, self.phase.get())),
        }
    }

    /// Without a query if nothing is filtered or sorted.
    fn in_phase(&self, path: &str, phase: Option<Phase>) -> String {
        if self.is_any() || self.sort.get().is_some() { self.with_phase(path, phase) } else { path.to_owned() }
    }

    fn with_phase(&self, path: &str, phase: Option<Phase>) -> String {
        self.in_order(path, phase, self.order())
    }

    fn in_order(&self, path: &str, phase: Option<Phase>, order: Order) -> String {
        let hold = if self.is_parked() { "yes" } else { "" };
        let trust = self.trust_id.get().map(|id| id.to_string()).unwrap_or_default();
        let phase = phase.map_or("", Phase::as_str);
        let search = encode_query_value(self.search.typed());
        format!("{path}?phase={phase}&hold={hold}&trust_id={trust}&search={search}&sort={order}")
    }
}

struct PhaseLink {
    url: String,
    text: &'static str,
    count: u32,
    is_current: bool,
}

struct Group {
    phase: &'static str,
    title: &'static str,
    count: u32,
    about: &'static str,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    url: String,
    label: String,
    about: String,
    trust: Option<String>,
    next: String,
    badge: Badge,
    on_hold: Option<String>,
    agreement: Option<String>,
    is_checked: bool,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Typed::default(), notice).await?.with_cookie(cookie))
}

/// The list that a form of the page was sent from, in all its phases: what was changed may be in another one now.
pub(super) fn list_of(request: &Request, workspace: WorkspaceId) -> Result<String, Error> {
    let filters: Filters = request.read_query()?;
    Ok(filters.in_phase(&funding_url(workspace), None))
}

pub(super) async fn page(request: &Request, typed: Typed, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, signed_in): (WorkspaceId, _) = (request.path_id("id")?, request.signed_in()?);
    let review = funding_review::of_workspace(signed_in.scope(), id);
    let (review, known) = tokio::try_join!(review, chosen::known_names(signed_in.scope()))?;
    let filters: Filters = request.read_query()?;
    let path = funding_url(id);
    let mut shown: Vec<&FundingItem> = review.schedule.items.iter().filter(|item| filters.fits(item)).collect();
    filters.sort(&mut shown);
    let found = Page::slice(shown, page_at(filters.offset));
    let url = |offset: u64| format!("{}&offset={offset}", filters.with_phase(&path, filters.phase.get()));
    if is_past_the_end(found.pagination) {
        return Ok(PageResponse::see_other(url(0)));
    }
    let counts = counts(&review, &filters);
    let new_owner = NamedFields::new(NAMED_OWNER);
    let selected = typed.fields_or_none(SELECTED).over(new_owner.usually(ContactKind::Person));
    let summary = FundingSummary::of(review.schedule.items.iter().filter(|item| filters.fits_but_phase(item)));
    let chosen = filters.trust_id.get().and_then(|id| review.trust(Some(id)));
    let only = review.schedule.trusts.first().filter(|_| review.schedule.trusts.len() == 1);
    // The one trust has all of it, unless an item has none.
    let has_all = |trust: &&Trust| review.schedule.items.iter().all(|item| item.trust_id() == Some(trust.id));
    let whose = chosen
        .or(only.filter(has_all))
        .map_or(review.workspace.name.as_str(), |trust| trust.formal_name.as_str())
        .to_owned();
    let page = SchedulePage {
        layout: Layout::new(request),
        notice,
        has_errors: typed.has_errors(),
        whose,
        workspace: Link { url: workspace_url(id), text: review.workspace.name.as_str().to_owned() },
        progress: Progress { done: summary.done, total: summary.total, claimed: summary.claimed },
        funded: summary.funded,
        unfunded: summary.unfunded,
        parked: summary.parked,
        next: next(&review, &filters, &path),
        phases: phases(&filters, &path, &counts),
        sorting: Sorting::new(filters.order(), |order| filters.in_order(&path, filters.phase.get(), order)),
        trusts: trust_choices(&review.schedule.trusts),
        trust_links: review
            .schedule
            .trusts
            .iter()
            .map(|trust| Link { url: trust_url(trust.id), text: trust.formal_name.as_str().to_owned() })
            .collect(),
        new_trust: format!("{NEW_TRUST}?workspace={id}"),
        groups: groups(&review, &found.data, &counts, &selected),
        pager: Pager::new("funding items", found.pagination, url),
        people: people_choices(&review.people),
        verbs: verbs(Verb::ALL.into_iter()),
        kinds: kinds(),
        new_owner,
        contact_kinds: chosen::kinds(),
        known,
        selected,
        empty_trust: chosen.filter(|_| filters.is_only_trust()).map(|trust| trust.formal_name.as_str().to_owned()),
        add: {
            // The only trust is the likely one.
            let trust = chosen.or(only).map(|trust| trust.id.to_string()).unwrap_or_default();
            typed.fields_of(ADD, [(NEW_ITEM.kind, "other".to_owned()), (NEW_ITEM.trust, trust)])
        },
        print: format!("{PAPERS}/{id}/schedule.pdf"),
        selected_action: filters.at(&format!("{path}/selected")),
        add_action: filters.at(&path),
        path,
        filters,
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid()]))
}

/// How many of the items that fit all filters but the phase are in each phase.
fn counts(review: &WorkspaceFundingReview, filters: &Filters) -> HashMap<Phase, u32> {
    let mut counts = HashMap::new();
    for item in review.schedule.items.iter().filter(|item| filters.fits_but_phase(item)) {
        *counts.entry(item.phase()).or_insert(0) += 1;
    }
    counts
}

fn phases(filters: &Filters, path: &str, counts: &HashMap<Phase, u32>) -> Vec<PhaseLink> {
    let link = |phase: Option<Phase>| PhaseLink {
        url: filters.with_phase(path, phase),
        text: phase.map_or("All", words::phase),
        count: phase.map_or_else(|| counts.values().sum(), |phase| counts.get(&phase).copied().unwrap_or_default()),
        is_current: filters.phase.get() == phase,
    };
    std::iter::once(None).chain(Phase::ALL.into_iter().map(Some)).map(link).collect()
}

fn is_left_out(item: &FundingItem) -> bool {
    item.phase() == Phase::Ready && item.verb() == Some(Verb::LeaveOut)
}

/// The next step: decisions first, then whatever is closest to the trust.
fn next(review: &WorkspaceFundingReview, filters: &Filters, path: &str) -> Option<Link> {
    let items: Vec<&FundingItem> = review.schedule.items.iter().filter(|item| filters.fits_but_phase(item)).collect();
    let waits = |item: &&FundingItem| !item.is_closed() && item.proofs().iter().any(Proof::is_undecided);
    let to_review: Vec<&FundingItem> = items.iter().copied().filter(waits).collect();
    if let Some(first) = to_review.first() {
        let url = format!("{}#next", item_url(first.id()));
        let text = match to_review.len() {
            1 => format!("review the proof of {}", first.label().as_str()),
            many => format!("review proof of {many} items, beginning with {}", first.label().as_str()),
        };
        return Some(Link { url, text });
    }
    let count = |is: &dyn Fn(&FundingItem) -> bool| items.iter().filter(|item| is(item)).count();
    let is_ready = |item: &FundingItem| item.check_papering().is_ok();
    let steps = [
        (Phase::Ready, count(&is_ready), "paper"),
        (Phase::Ready, count(&is_left_out), "close what is left out:"),
        (Phase::Papered, count(&|item| item.phase() == Phase::Papered), "publish the drafts of"),
        (Phase::Gathering, count(&|item| item.phase() == Phase::Gathering), "fill in what is missing for"),
        (Phase::Unsorted, count(&|item| item.phase() == Phase::Unsorted), "choose the action for"),
        (Phase::Claimed, count(&|item| item.phase() == Phase::Claimed), "file proof for"),
        (Phase::InProgress, count(&|item| item.phase() == Phase::InProgress), "file proof for"),
    ];
    let (phase, count, act) = steps.into_iter().find(|(_, count, _)| *count > 0)?;
    let items = if count == 1 { "1 item".to_owned() } else { format!("{count} items") };
    Some(Link { url: filters.with_phase(path, Some(phase)), text: format!("{act} {items}") })
}

fn groups(
    review: &WorkspaceFundingReview,
    items: &[&FundingItem],
    counts: &HashMap<Phase, u32>,
    selected: &Fields,
) -> Vec<Group> {
    let group = |phase: Phase| Group {
        phase: phase.as_str(),
        title: words::phase(phase),
        count: counts.get(&phase).copied().unwrap_or_default(),
        about: match phase {
            Phase::Claimed => "A claim is no proof: these don’t count as done.",
            Phase::Ready if items.iter().any(|item| is_left_out(item)) => {
                "Nothing is missing: paper these, and close those that are left out."
            }
            _ => "",
        },
        rows: items.iter().filter(|item| item.phase() == phase).map(|item| row(review, item, selected)).collect(),
    };
    Phase::ALL.into_iter().map(group).filter(|group| !group.rows.is_empty()).collect()
}

fn row(review: &WorkspaceFundingReview, item: &FundingItem, selected: &Fields) -> Row {
    let verb = item.verb().map(|verb| format!(" · {}", words::verb(verb))).unwrap_or_default();
    let trust = review.trust(item.trust_id());
    Row {
        id: item.id().to_string(),
        url: item_url(item.id()),
        label: item.label().as_str().to_owned(),
        about: format!("{}{verb}", words::asset_kind(item.asset_kind())),
        trust: trust.map(|trust| trust.formal_name.as_str().to_owned()),
        next: text::next_step_of_item(item),
        badge: item_badge(item),
        on_hold: hold_badge(item),
        agreement: item.agreement_id().map(pages::urls::agreement_url),
        is_checked: selected.is_checked(format!("item.{}", item.id())),
    }
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (workspace, form): (WorkspaceId, _) = (request.path_id("id")?, submitted.form());
    let again =
        async |errors: FieldErrors| Ok(page(request, Typed::new(ADD, form, errors), None).await?.unprocessable());
    let id = submitted.new_id::<FundingItemId>();
    let new = match read(form, workspace) {
        Ok(new) => new,
        Err(errors) => return again(errors).await,
    };
    let done =
        Notice::good(format!("{} was added", new.label.as_str()), "Next: choose its action and fill in its facts.");
    let redirect = redirect_with(&submitted, format!("{}#notice", item_url(id)), &done).await;
    match submitted.run(|| funding_items::create_with_id(&submitted, id, new.clone())).await {
        Ok(Upserted::Created(_)) => Ok(redirect.into()),
        Ok(Upserted::Existing(existing, _)) => {
            let title = "An item has this reference already";
            let link = Link { url: item_url(existing.id()), text: existing.label().as_str().to_owned() };
            let notice = Notice { links: vec![link], ..Notice::bad(title, "Nothing was added.") };
            let typed = Typed::new(ADD, form, FieldErrors::default());
            Ok(page(request, typed, Some(notice)).await?.conflicting())
        }
        Err(Error::Invalid(errors)) => again(errors).await,
        Err(Error::NotFound(errors))
            if errors.clone().into_list().iter().all(|error| error.field == NEW_ITEM.trust.name) =>
        {
            again(errors).await
        }
        Err(error) => Err(error),
    }
}

fn read(form: &Form, workspace_id: WorkspaceId) -> Result<NewFundingItem, FieldErrors> {
    let sent = NEW_ITEM.names().into_iter().filter(|name| !form.get(name).trim().is_empty());
    let mut body: serde_json::Map<String, serde_json::Value> =
        sent.map(|name| (name.to_owned(), form.get(name).into())).collect();
    body.insert("workspace_id".to_owned(), workspace_id.to_string().into());
    shared::wire::input::read(body.into())
}

//! The home page: a work queue, most urgent first, and the latest changes.

mod payment;
mod proof;

use std::collections::BTreeSet;

use askama::Template;
use pages::audit_rows::{Object, caller_of};
use pages::blockers::{BlockerRow, blocker_rows};
use pages::labels::{Badge, DisplayTime, action_verb, actor_label, proposal_badge, quarantined_deliveries};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::urls::{NEW_AGREEMENT, OBLIGATIONS, TOKENS, access_url, agreement_url, endpoint_url, obligation_url};
use shared::domain::agreement::Agreement;
use shared::domain::audit::{AuditRow, ObjectKind};
use shared::domain::contact::Contact;
use shared::domain::ids::ContactId;
use shared::domain::organization::Organization;
use shared::domain::proposal::{Decision, Proposal, ProposalState};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::domain::token::Token;
use shared::error::Error;
use shared::limits;
use shared::service::audit::{self, Names};
use shared::service::endpoints::EndpointState;
use shared::service::home::{self, Home, PaperToConfirm, QueuedAgreement, QueuedObligation, Shortlist, WorkQueue};
use shared::text::reader;
use shared::text::{self, CurrentWait, WaitContext};
use shared::web::Request;
use shared::wire::fields::FieldErrors;
use shared::wire::page::Filter;
use uuid::Uuid;

/// How long before its end an item's badge turns red, in milliseconds.
const URGENT_MS: i64 = 12 * 3600 * 1000;
const ALL_ATTENTION: &str = "/app?attention=all#needs";
const BLOCKERS_MAX: usize = 2;
const LOOKS_MAX: usize = 4;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    layout: Layout,
    notice: Option<Notice>,
    lead: String,
    sections: Vec<Section>,
    rest: Option<Rest>,
    begin: &'static str,
    has_activity: bool,
    changes: Vec<ChangeRow>,
    now: Timestamp,
    /// What the times are marked with elsewhere.
    zone: String,
    /// Whether an admin should look at it, before anything is published.
    sets_zone: bool,
}

impl HomePage {
    fn short(&self, at: &Timestamp) -> DisplayTime {
        DisplayTime::short(*at, self.now)
    }
}

struct Section {
    id: &'static str,
    title: &'static str,
    items: Vec<Item>,
    more: Vec<(String, String)>,
}

struct Item {
    urgency: Urgency,
    /// Since when it waits.
    at: Option<Timestamp>,
    /// When it is due or ends.
    ends_at: Option<Timestamp>,
    url: String,
    title: String,
    /// What it is, where the title doesn’t say so.
    what: &'static str,
    detail: String,
    amount: String,
    blockers: Vec<BlockerRow>,
    more_blockers: usize,
    when: Option<(&'static str, Timestamp)>,
    looks: Vec<(String, Option<Timestamp>)>,
    more_looks: usize,
    badge: Option<(String, &'static str)>,
}

/// How soon a member should look at an item, soonest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// The money may be going to a fraudster.
    AtRisk,
    /// Money may be lost, or everyone is stopped.
    Stopped,
    /// It is overdue, or ends within [`URGENT_MS`].
    Late,
    /// Others wait for the member.
    Asked,
    /// It is to be done.
    ToDo,
    /// It is the member’s own work in progress.
    Draft,
}

struct Rest {
    title: &'static str,
    text: &'static str,
    act: &'static str,
}

struct ChangeRow {
    /// Who did what.
    said: String,
    object: Option<Object>,
    /// What follows the object, if the sentence names it.
    rest: Option<String>,
    /// When, the last time.
    at: Timestamp,
    /// How often in a row.
    times: usize,
}

pub(crate) struct ProposalRow {
    pub url: String,
    pub title: String,
    pub badge: Badge,
    pub actor: String,
    pub at: DisplayTime,
}

pub(crate) const JOINED: &str = "/app?arrived=joined";
pub(crate) const SWITCHED: &str = "/app?arrived=switched";

fn arrival(arrived: Option<Arrival>, organization: &Organization) -> Option<Notice> {
    let name = organization.name.as_str();
    Some(match arrived? {
        Arrival::Joined => {
            Notice::good(format!("You joined {name}"), "Its agreements and what they wait for appear here.")
        }
        Arrival::Switched => Notice::good(format!("You switched to {name}"), ""),
    })
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    arrived: Filter<Arrival>,
    #[deserr(default)]
    attention: Filter<Attention>,
}

#[derive(Debug, Clone, Copy, deserr::Deserr)]
#[deserr(error = FieldErrors, rename_all = lowercase)]
enum Arrival {
    Joined,
    Switched,
}

#[derive(Debug, Clone, Copy, deserr::Deserr)]
#[deserr(error = FieldErrors, rename_all = lowercase)]
enum Attention {
    All,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let organization = signed_in.organization();
    let own = &organization.own_contact_ids;
    let query: Query = request.read_query()?;
    let all_attention = query.attention.get().is_some();
    let found = home::get(signed_in.scope(), signed_in.member(), organization, all_attention).await?;
    let is_admin = signed_in.member().is_admin();
    let page = HomePage {
        layout: Layout::new(request),
        notice: arrival(query.arrived.get(), organization),
        lead: lead(&found),
        sections: sections(&found, own, request.now()),
        rest: rest(&found),
        begin: NEW_AGREEMENT,
        has_activity: !found.queue.is_new || !found.changes.is_empty(),
        changes: ChangeRow::all(&found, is_admin),
        now: request.now(),
        zone: reader::zone().called(),
        sets_zone: is_admin && found.queue.active_total == 0 && organization.time_zone == TimeZone::default(),
    };
    Ok(PageResponse::render(&page)?.showing(shown(&found)))
}

fn shown(found: &Home) -> Vec<Uuid> {
    let WorkQueue { proposals, drafts, waiting, attention, closing, .. } = &found.queue;
    let agreements = [drafts, waiting, attention, closing].into_iter().flat_map(|section| &section.shown);
    let proposals = proposals.shown.iter().map(|proposal| proposal.id().uuid());
    let tokens = found.tokens.shown.iter().map(|token| token.id.uuid());
    let endpoints = found.endpoints.shown.iter().map(|state| state.endpoint.id().uuid());
    let payments = found.queue.payments.shown.iter().map(|payment| payment.movement.id().uuid());
    let owed = found.obligations.overdue.shown.iter().chain(&found.obligations.to_confirm.shown);
    let owed = owed.map(|queued| queued.obligation.id().uuid());
    let agreements = agreements.map(|queued| queued.agreement.id().uuid());
    let proofs = found.proofs.shown.iter().map(|proof| proof.item.id().uuid());
    let owed = proofs.chain(owed);
    proposals.chain(payments).chain(owed).chain(agreements).chain(tokens).chain(endpoints).collect()
}

fn lead(found: &Home) -> String {
    match things(found) {
        0 if found.queue.is_new => "Welcome. Agreements, decisions and what they wait for appear here.".to_owned(),
        0 => "Nothing needs you.".to_owned(),
        1 => "One thing needs you.".to_owned(),
        many => format!("{many} things need you."),
    }
}

/// How many lines the lists have that ask for something.
fn things(Home { queue, obligations, proofs, tokens, endpoints, .. }: &Home) -> usize {
    let WorkQueue { proposals, papers, payments, drafts, attention, .. } = queue;
    let owed = obligations.overdue.total + obligations.to_confirm.total;
    let agreements = drafts.total + attention.total;
    proposals.total + papers.total + payments.total + proofs.total + agreements + owed + tokens.total + endpoints.total
}

fn is_idle(found: &Home) -> bool {
    things(found) == 0 && found.queue.closing.total == 0
}

fn rest(found: &Home) -> Option<Rest> {
    if found.queue.is_new {
        return Some(Rest {
            title: "Begin your first agreement",
            text: "Start from a template or a blank page. Drafting sends nothing to anyone, and nothing happens until a member of your organization confirms.",
            act: "Begin an agreement",
        });
    }
    let text = if found.queue.waiting.total > 0 {
        "Nothing needs a decision at the moment. What active agreements wait for is listed below."
    } else {
        "Nothing needs you at the moment, and you’re not waiting on anyone."
    };
    is_idle(found).then_some(Rest { title: "All caught up", text, act: "New agreement" })
}

fn sections(found: &Home, own: &BTreeSet<ContactId>, now: Timestamp) -> Vec<Section> {
    let WorkQueue { waiting, closing, contacts, all_payments, named_payments: named, active_total, .. } = &found.queue;
    let queue = Queue { context: WaitContext { contacts, own, payments: all_payments.states(), named }, now };
    let agreements = |list: &Shortlist<QueuedAgreement>, item: fn(&QueuedAgreement, &Queue<'_>) -> Item| {
        list.shown.iter().map(|queued| item(queued, &queue)).collect()
    };
    let sections = [
        Section { id: "needs", title: "Needs you", items: needs(found, &queue), more: more_needs(found) },
        Section {
            id: "waiting",
            title: "Waiting on others",
            items: agreements(waiting, Item::of_waiting),
            more: more(waiting.more(), format!("Show all {active_total} active"), "/app/agreements?lifecycle=active"),
        },
        Section {
            id: "closing",
            title: "Closing soon",
            items: agreements(closing, Item::of_closing),
            more: more(closing.more(), format!("Show {} more", closing.more()), "/app/agreements"),
        },
    ];
    sections.into_iter().filter(|section| !section.items.is_empty()).collect()
}

/// Everything that needs a member, most urgent first. Among its like comes first what is due or ends soon, by when that
/// is, then what has waited longest.
fn needs(found: &Home, queue: &Queue<'_>) -> Vec<Item> {
    let WorkQueue { proposals, papers, payments, drafts, attention, contacts, .. } = &found.queue;
    let due = &found.obligations;
    let mut items: Vec<Item> = Vec::new();
    items.extend(proposals.shown.iter().map(|proposal| {
        let amount = found.queue.proposed_amounts.get(&proposal.agreement_id).cloned().unwrap_or_default();
        Item { amount, ..Item::of_proposal(proposal, queue.now) }
    }));
    items.extend(payments.shown.iter().map(Item::of_payment));
    items.extend(attention.shown.iter().map(|queued| Item::of_attention(queued, queue)));
    items.extend(due.overdue.shown.iter().map(Item::of_overdue));
    items.extend(papers.shown.iter().map(|paper| Item::of_paper(paper, contacts)));
    items.extend(found.proofs.shown.iter().map(Item::of_proof));
    items.extend(due.to_confirm.shown.iter().map(Item::of_claim));
    items.extend(found.endpoints.shown.iter().map(Item::of_endpoint));
    items.extend(found.tokens.shown.iter().map(|token| Item::of_token(token, queue.now)));
    items.extend(drafts.shown.iter().map(|queued| Item::of_draft(queued, queue)));
    // What has no time comes last among its like, in the order of its list.
    let soon = queue.now.plus_seconds(limits::CLOSES_SOON_S);
    items.sort_by_key(|item| {
        let ends_at = item.ends_at.filter(|at| *at <= soon);
        (item.urgency, ends_at.is_none(), ends_at, item.at.is_none(), item.at)
    });
    items
}

/// Links to what the list of what needs a member leaves out.
fn more_needs(found: &Home) -> Vec<(String, String)> {
    let Home { queue, obligations: due, proofs, tokens, endpoints, .. } = found;
    let WorkQueue { proposals, papers, payments, drafts, attention, .. } = queue;
    // With all requested, the list of those beyond even that.
    let is_long = attention.shown.len() > limits::HOME_AGREEMENTS_MAX;
    let all_attention = if is_long { "/app/agreements?lifecycle=active" } else { ALL_ATTENTION };
    let lists = [
        (proposals.more(), "more proposal", "/app/proposals?state=pending"),
        (payments.more(), "more payment", "/app/money"),
        (attention.more(), "more agreement", all_attention),
        (papers.more(), "more paper signature", "/app/agreements?lifecycle=active"),
        (proofs.more(), "more funding item", pages::urls::FUNDING),
        (due.overdue.more() + due.to_confirm.more(), "more obligation", OBLIGATIONS),
        (endpoints.more(), "more failing endpoint", "/app/developers"),
        (tokens.more(), "more token", TOKENS),
        (drafts.more(), "more draft", "/app/agreements?lifecycle=draft"),
    ];
    lists.into_iter().flat_map(|(count, what, url)| more(count, text::counted(count, what), url)).collect()
}

struct Queue<'a> {
    context: WaitContext<'a>,
    now: Timestamp,
}

impl Queue<'_> {
    /// When an agreement expires, if that is soon.
    fn closes_soon(&self, agreement: &Agreement) -> Option<Timestamp> {
        let soon = self.now..=self.now.plus_seconds(limits::CLOSES_SOON_S);
        agreement.expires_at.filter(|at| soon.contains(at))
    }
}

/// A link to the list of so many more, if there are any.
fn more(count: usize, text: String, url: &str) -> Vec<(String, String)> {
    (count > 0).then(|| (url.to_owned(), text)).into_iter().collect()
}

fn time_left(now: Timestamp, until: Timestamp) -> (String, &'static str) {
    let is_urgent = until.unix_ms() - now.unix_ms() < URGENT_MS;
    (text::time_left(now, until), if is_urgent { "red" } else { "amber" })
}

impl Item {
    fn new(urgency: Urgency, url: String, title: &str, detail: String) -> Self {
        Self {
            urgency,
            at: None,
            ends_at: None,
            url,
            title: title.to_owned(),
            what: "",
            detail,
            amount: String::new(),
            blockers: Vec::new(),
            more_blockers: 0,
            when: None,
            looks: Vec::new(),
            more_looks: 0,
            badge: None,
        }
    }

    fn of_agreement(queued: &QueuedAgreement, detail: String) -> Self {
        let agreement = &queued.agreement;
        let item = Self::new(Urgency::ToDo, agreement_url(agreement.id()), agreement.name.as_str(), detail);
        Self { amount: queued.amount.clone(), ..item }
    }

    fn of_proposal(proposal: &Proposal, now: Timestamp) -> Self {
        let ProposalRow { url, title, .. } = ProposalRow::new(proposal, now);
        let (left, class) = time_left(now, proposal.expires_at);
        let urgency = if class == "red" { Urgency::Late } else { Urgency::Asked };
        Self {
            at: Some(proposal.created_at),
            ends_at: Some(proposal.expires_at),
            what: "Needs your decision",
            when: Some(("", proposal.created_at)),
            badge: Some((left, class)),
            ..Self::new(urgency, url, &title, format!("proposed by {}", actor_label(&proposal.created_by)))
        }
    }

    fn of_paper(paper: &PaperToConfirm, contacts: &[Contact]) -> Self {
        let contact = contacts.iter().find(|contact| contact.id == paper.contact_id);
        let name = contact.map_or("a participant", |contact| contact.display_name.as_str());
        let url = format!("{}#papers", access_url(paper.agreement_id, paper.participant_id));
        let detail = format!("Signature of {name} on “{}”", paper.document.as_str());
        Self {
            at: Some(paper.recorded_at),
            what: "Paper signature",
            amount: paper.amount.clone(),
            when: Some(("recorded", paper.recorded_at)),
            badge: Some(("To confirm".to_owned(), "blue")),
            ..Self::new(Urgency::Asked, url, paper.agreement.as_str(), detail)
        }
    }

    fn of_overdue(queued: &QueuedObligation) -> Self {
        let due = queued.obligation.next_due_at();
        let waits_for = queued.waits_for.as_ref().map(|waits_for| format!(" · waiting for {waits_for}"));
        Self {
            urgency: Urgency::Late,
            ends_at: due,
            when: due.map(|due| ("since", due)),
            badge: Some(("Overdue".to_owned(), "red")),
            ..Self::of_obligation(queued, &waits_for.unwrap_or_default())
        }
    }

    fn of_claim(queued: &QueuedObligation) -> Self {
        let claim = queued.obligation.waiting_claims().next();
        let by = claim.map(|claim| format!(", said to be done by {}", claim.who()));
        Self {
            at: claim.map(|claim| claim.at),
            when: claim.map(|claim| ("", claim.at)),
            badge: Some(("To confirm".to_owned(), "amber")),
            ..Self::of_obligation(queued, &by.unwrap_or_default())
        }
    }

    fn of_obligation(queued: &QueuedObligation, more: &str) -> Self {
        let (url, detail) = (obligation_url(queued.obligation.id()), format!("{}{more}", queued.agreement.as_str()));
        let item = Self::new(Urgency::Asked, url, queued.obligation.name().as_str(), detail);
        Self { what: "Obligation", ..item }
    }

    /// A draft that expires soon is pressing: after that it can’t be published as it is.
    fn of_draft(queued: &QueuedAgreement, queue: &Queue<'_>) -> Self {
        let mut blockers = blocker_rows(&queued.agreement, queue.context.contacts, &[], &queued.blockers);
        let total = blockers.len();
        blockers.truncate(BLOCKERS_MAX);
        let (detail, state) = match total {
            0 => ("Everything is in place.", "Ready to publish".to_owned()),
            1 => ("", "1 thing left".to_owned()),
            many => ("", format!("{many} things left")),
        };
        let ends_at = queue.closes_soon(&queued.agreement);
        let (urgency, when, badge) = match ends_at {
            Some(at) => {
                let (left, class) = time_left(queue.now, at);
                (if class == "red" { Urgency::Late } else { Urgency::ToDo }, ("expires", at), (left, class))
            }
            None => (Urgency::Draft, ("changed", queued.agreement.updated_at), (state, "quiet")),
        };
        Self {
            urgency,
            ends_at,
            more_blockers: total - blockers.len(),
            blockers,
            when: Some(when),
            badge: Some(badge),
            ..Self::of_agreement(queued, detail.to_owned())
        }
    }

    fn of_waiting(queued: &QueuedAgreement, queue: &Queue<'_>) -> Self {
        Self::of_wait(queued, text::wait_for_others(&queued.agreement, queue.context), queue)
    }

    fn of_wait(
        queued: &QueuedAgreement,
        wait: Option<CurrentWait>,
        &Queue { context: WaitContext { contacts, .. }, now }: &Queue<'_>,
    ) -> Self {
        let Some(wait) = wait else {
            return Self::of_agreement(queued, text::agreement_status(&queued.agreement, false));
        };
        let urgency = if wait.is_declined { Urgency::Stopped } else { Urgency::Asked };
        let (when, badge) = match wait.until {
            Some(until) => (("ends", until), Some((text::time_left(now, until), "quiet"))),
            None if wait.is_declined => (("since", wait.since), Some(("Declined".to_owned(), "red"))),
            None => {
                let to_review = wait.to_review.map(|what| (what.to_owned(), "amber"));
                (("since", wait.since), to_review.or_else(|| Some((text::stuck(now, wait.since)?, "amber"))))
            }
        };
        Self { urgency, at: Some(wait.since), when: Some(when), badge, ..Self::of_agreement(queued, wait.on) }
            .looked_at(queued, contacts)
    }

    fn looked_at(self, queued: &QueuedAgreement, contacts: &[Contact]) -> Self {
        let name = |id: ContactId| contacts.iter().find(|contact| contact.id == id);
        let name = |id| name(id).map_or("A participant".to_owned(), |contact| contact.display_name.as_str().to_owned());
        let shown = queued.looks.iter().take(LOOKS_MAX);
        let looks = shown.map(|(id, seen_at)| (name(*id), *seen_at)).collect();
        Self { looks, more_looks: queued.looks.len().saturating_sub(LOOKS_MAX), ..self }
    }

    fn of_attention(queued: &QueuedAgreement, queue: &Queue<'_>) -> Self {
        let item = Self::of_wait(queued, text::current_wait(&queued.agreement, queue.context), queue);
        let badge = item.badge.or_else(|| Some(("Your turn".to_owned(), "amber")));
        // An agreement that closes soon is in no other section, so it says so here.
        let closes = queue.closes_soon(&queued.agreement);
        let detail = match closes {
            Some(at) => format!("{} · expires {}", item.detail, reader::zone().briefly(at, queue.now)),
            None => item.detail,
        };
        Self { detail, badge, ends_at: closes, ..item }
    }

    fn of_closing(queued: &QueuedAgreement, &Queue { context, now }: &Queue<'_>) -> Self {
        let agreement = &queued.agreement;
        let wait = text::current_wait(agreement, context);
        let status = || text::agreement_status(agreement, false);
        Self {
            when: agreement.expires_at.map(|at| ("expires", at)),
            badge: agreement.expires_at.map(|at| time_left(now, at)),
            ..Self::of_agreement(queued, wait.map_or_else(status, |wait| wait.on))
        }
        .looked_at(queued, context.contacts)
    }

    fn of_endpoint(state: &EndpointState) -> Self {
        let endpoint = &state.endpoint;
        let reason = match state.health.failures_in_a_row {
            0 => format!("{} could not be processed", quarantined_deliveries(state)),
            1 => "its last attempt failed".to_owned(),
            failures => format!("{failures} failures in a row"),
        };
        let url = endpoint_url(endpoint.id());
        let item = Self::new(Urgency::ToDo, url, endpoint.url().as_str(), reason);
        Self { what: "Webhook endpoint", badge: Some(("Failing".to_owned(), "red")), ..item }
    }

    fn of_token(token: &Token, now: Timestamp) -> Self {
        let (left, class) = time_left(now, token.expires_at);
        Self {
            ends_at: Some(token.expires_at),
            what: "Access token",
            when: Some(("expires", token.expires_at)),
            badge: Some((left, class)),
            ..Self::new(
                if class == "red" { Urgency::Late } else { Urgency::ToDo },
                TOKENS.to_owned(),
                &token.name,
                String::new(),
            )
        }
    }
}

impl ChangeRow {
    fn new(row: &AuditRow, names: &Names, is_admin: bool) -> Self {
        let mut objects: Vec<_> = audit::objects_of(row).collect();
        // Proposals before agreements, items before trusts, contents before workspaces.
        objects.sort_by_key(|(kind, id)| match names.object(*id).map_or(*kind, |(kind, _)| kind) {
            ObjectKind::Proposal | ObjectKind::FundingItem | ObjectKind::Payment => 0,
            ObjectKind::Agreement | ObjectKind::Trust => 1,
            _ => 2,
        });
        let is_payment = |id: &Uuid| names.object(*id).is_some_and(|(kind, _)| kind == ObjectKind::Payment);
        let of_payment = objects.first().is_some_and(|(_, id)| is_payment(id));
        let said = text::sentence(&caller_of(row, names), &names.did(row));
        let with_name = |said: &str| {
            let (before, after) = said.split_once("the payment “")?;
            Some((before.to_owned(), after.split_once('”')?.1.to_owned()))
        };
        let unnamed = |said: &str| said.split_once("a payment").map(|(said, rest)| (said.to_owned(), rest.to_owned()));
        let around = if of_payment { unnamed(&said).or_else(|| with_name(&said)) } else { None };
        let (said, rest) = around.map_or((said, None), |(said, rest)| (said, Some(rest)));
        let object = objects.into_iter().find_map(|(_, id)| Object::new(row, id, names, is_admin));
        Self { said, object, rest, at: row.at, times: 1 }
    }

    /// What was done again and again is one line.
    fn all(found: &Home, is_admin: bool) -> Vec<Self> {
        let mut rows: Vec<_> = found.changes.iter().map(|row| Self::new(row, &found.names, is_admin)).collect();
        rows.dedup_by(|older, newer| {
            let is_alike = (&older.said, &older.object, &older.rest) == (&newer.said, &newer.object, &newer.rest);
            newer.times += if is_alike { older.times } else { 0 };
            is_alike
        });
        rows
    }
}

impl ProposalRow {
    pub fn new(proposal: &Proposal, now: Timestamp) -> Self {
        let state: ProposalState = proposal.state_at(now);
        let (actor, at) = match (proposal.decision(), state) {
            (Decision::Confirmed(decided) | Decision::Declined(decided), _) => (actor_label(&decided.by), decided.at),
            (_, ProposalState::Pending) => {
                (format!("Proposed by {}", actor_label(&proposal.created_by)), proposal.created_at)
            }
            _ => ("No one decided".to_owned(), proposal.expires_at),
        };
        Self {
            url: format!("/app/proposals/{}", proposal.id()),
            title: format!("{} “{}”", action_verb(proposal.action), proposal.subject.name.as_str()),
            badge: proposal_badge(state),
            actor,
            at: at.into(),
        }
    }
}

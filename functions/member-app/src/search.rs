//! The search page: everything with a name, by kind.

use askama::Template;
use pages::agreement_payments::purpose_of;
use pages::labels::{
    Badge, agreement_badge, contact_kind_label, endpoint_badge, item_badge, obligation_badge, payment_badge,
    role_label, scope_label, subscription_label, token_badge, workspace_badge,
};
use pages::layout::Layout;
use pages::response::PageResponse;
use pages::shelves;
use pages::urls::{
    TOKENS, agreement_url, contact_url, encode_query_value, endpoint_url, item_url, members_url, movement_url,
    obligation_url, statement_url, trust_url, workspace_url,
};
use shared::domain::agreement::Agreement;
use shared::domain::contact::ListedContact;
use shared::domain::funding::FundingItem;
use shared::domain::money::Money;
use shared::domain::movement::Movement;
use shared::domain::obligation::Obligation;
use shared::domain::organization::MemberRecord;
use shared::domain::proposal::Proposal;
use shared::domain::statement::Statement;
use shared::domain::time::Timestamp;
use shared::domain::token::Token;
use shared::domain::trust::Trust;
use shared::domain::workspace::Workspace;
use shared::error::Error;
use shared::service::endpoints::EndpointState;
use shared::service::search::{self, Found, SearchQuery};
use shared::text::reader::Shown as _;
use shared::text::{self, funding_words as words};
use shared::web::Request;
use shared::wire::page::Page;
use uuid::Uuid;

use crate::home::ProposalRow;

#[derive(Template)]
#[template(path = "found.html")]
struct SearchPage {
    layout: Layout,
    search: String,
    groups: Option<Vec<Group>>,
}

struct Group {
    id: &'static str,
    title: &'static str,
    total: u64,
    about: &'static str,
    badge: &'static str,
    rows: Vec<Row>,
    all: Option<String>,
    /// The text of the link, if it doesn't lead to the full list.
    all_text: &'static str,
}

struct Row {
    url: String,
    name: String,
    about: String,
    badge: Badge<String>,
    id: Uuid,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let query: SearchQuery = request.read_query()?;
    let search = query.q.typed().to_owned();
    let found = Box::pin(search::find(signed_in.scope(), signed_in.member(), &query)).await?;
    let groups = found.map(|found| groups(&found, &query, &search, request.now()));
    let shown: Vec<Uuid> = groups.iter().flatten().flat_map(|group| &group.rows).map(|row| row.id).collect();
    let page = SearchPage { layout: Layout::new(request), search, groups };
    Ok(PageResponse::render(&page)?.showing(shown))
}

fn groups(found: &Found, query: &SearchQuery, search: &str, now: Timestamp) -> Vec<Group> {
    let list = |path: &str| format!("{path}?search={}", encode_query_value(search));
    let all = [
        group(
            ["agreements", "Agreements", "Participants", "State"],
            &found.agreements,
            list("/app/agreements"),
            agreement,
        ),
        Group {
            // No list finds documents.
            all: None,
            ..group(["documents", "Documents", "Agreement", "State"], &found.with_documents, String::new(), |found| {
                documents(found, query)
            })
        },
        group(
            ["workspaces", "Workspaces", "Reference", "State"],
            &found.workspaces,
            list("/app/workspaces"),
            workspace,
        ),
        group(["contacts", "Contacts", "Email", "Kind"], &found.contacts, list("/app/contacts"), contact),
        group(["proposals", "Proposals", "By", "State"], &found.proposals, list("/app/proposals"), |found| {
            proposal(found, now)
        }),
        Group {
            // The ledger finds payments only by its own columns.
            all_text: "Search Money",
            ..group(["payments", "Payments", "Amount", "State"], &found.payments, list("/app/money"), payment)
        },
        Group {
            all_text: "Search Money",
            ..group(
                ["obligations", "Obligations", "Next due", "State"],
                &found.obligations,
                format!("{}&row_type=obligation", list("/app/money")),
                |found| obligation(found, now),
            )
        },
        group(
            ["statements", "Statements", "Entries", "Format"],
            &found.statements,
            pages::urls::STATEMENTS.to_owned(),
            statement,
        ),
        group(["trusts", "Trusts", "Trustees", "Kind"], &found.trusts, list("/app/trusts"), trust),
        group(
            ["funding-items", "Funding items", "Kind", "State"],
            &found.funding_items,
            list("/app/funding"),
            funding_item,
        ),
        group(["members", "Members", "Email", "Role"], &found.members, members_url(search, 0), |found| {
            member(found, search)
        }),
        group(["tokens", "Access tokens", "Scope", "State"], &found.tokens, TOKENS.to_owned(), |found| {
            token(found, now)
        }),
        group(
            ["endpoints", "Webhook endpoints", "Events", "State"],
            &found.endpoints,
            "/app/developers".to_owned(),
            endpoint,
        ),
    ];
    all.into_iter().filter(|group| group.total > 0).collect()
}

fn group<T>(
    [id, title, about, badge]: [&'static str; 4],
    page: &Page<T>,
    list: String,
    row: impl Fn(&T) -> Row,
) -> Group {
    Group {
        id,
        title,
        total: page.pagination.total,
        about,
        badge,
        rows: page.data.iter().map(row).collect(),
        all: page.pagination.has_more.then_some(list),
        all_text: "",
    }
}

fn agreement(found: &Agreement) -> Row {
    Row {
        url: agreement_url(found.id()),
        name: found.name.as_str().to_owned(),
        about: found.participants.len().to_string(),
        badge: shelves::badge(found.shelf()).map_or_else(|| step_badge(found), Badge::from),
        id: found.id().uuid(),
    }
}

/// As in lists, but for what would take more reads: whether a draft is ready to publish.
fn step_badge(found: &Agreement) -> Badge<String> {
    agreement_badge(found, false)
}

fn documents(found: &Agreement, query: &SearchQuery) -> Row {
    let names = found.documents.iter().map(|document| document.name.as_str());
    let names: Vec<&str> = names.filter(|name| search::matches(query, name)).collect();
    Row {
        url: format!("{}#documents", agreement_url(found.id())),
        name: names.join(", "),
        about: found.name.as_str().to_owned(),
        badge: step_badge(found),
        id: found.id().uuid(),
    }
}

fn workspace(found: &Workspace) -> Row {
    Row {
        url: workspace_url(found.id()),
        name: found.name.as_str().to_owned(),
        about: found.number.to_string(),
        badge: shelves::badge(found.shelf()).unwrap_or_else(|| workspace_badge(found)).into(),
        id: found.id().uuid(),
    }
}

fn contact(found: &ListedContact) -> Row {
    Row {
        url: contact_url(found.id),
        name: found.display_name.as_str().to_owned(),
        about: found.email.as_ref().map_or("No email address", |email| email.as_str()).to_owned(),
        badge: shelves::badge(found.shelf())
            .unwrap_or(Badge { text: contact_kind_label(found.kind), class: "quiet" })
            .into(),
        id: found.id.uuid(),
    }
}

fn proposal(found: &Proposal, now: Timestamp) -> Row {
    let ProposalRow { url, title, badge, actor, .. } = ProposalRow::new(found, now);
    Row { url, name: title, about: actor, badge: badge.into(), id: found.id().uuid() }
}

fn payment(found: &Movement) -> Row {
    Row {
        url: movement_url(found.id()),
        name: purpose_of(found),
        about: found.terms().money.map_or_else(|| "No amount".to_owned(), Money::for_people),
        badge: payment_badge(found).into(),
        id: found.id().uuid(),
    }
}

fn obligation(found: &Obligation, now: Timestamp) -> Row {
    let due = found.next_due_at().map(|due| found.zone().day_of(due).shown());
    Row {
        url: obligation_url(found.id()),
        name: found.name().as_str().to_owned(),
        about: due.unwrap_or_else(|| text::NOTHING_DUE.to_owned()),
        badge: obligation_badge(found, now).into(),
        id: found.id().uuid(),
    }
}

fn statement(found: &Statement) -> Row {
    let (entries, format) = match &found.facts {
        Some(facts) => (facts.entries.to_string(), facts.format.as_str()),
        None => ("Not read yet".to_owned(), "CSV"),
    };
    Row {
        url: statement_url(found.id),
        name: found.file.name.as_str().to_owned(),
        about: entries,
        badge: Badge { text: format, class: "quiet" }.into(),
        id: found.id.uuid(),
    }
}

fn trust(found: &Trust) -> Row {
    Row {
        url: trust_url(found.id),
        name: found.formal_name.as_str().to_owned(),
        about: found.trustee_contact_ids.len().to_string(),
        badge: Badge { text: "Trust", class: "quiet" }.into(),
        id: found.id.uuid(),
    }
}

fn funding_item(found: &FundingItem) -> Row {
    Row {
        url: item_url(found.id()),
        name: found.label().as_str().to_owned(),
        about: words::asset_kind(found.asset_kind()).to_owned(),
        badge: item_badge(found).into(),
        id: found.id().uuid(),
    }
}

fn member(found: &MemberRecord, search: &str) -> Row {
    Row {
        url: members_url(search, 0),
        name: found.name.as_str().to_owned(),
        about: found.email.as_str().to_owned(),
        badge: Badge { text: role_label(found.role), class: "quiet" }.into(),
        id: found.id.uuid(),
    }
}

fn token(found: &Token, now: Timestamp) -> Row {
    Row {
        url: TOKENS.to_owned(),
        name: found.name.clone(),
        about: scope_label(found.scope).to_owned(),
        badge: token_badge(found, now).into(),
        id: found.id.uuid(),
    }
}

fn endpoint(found: &EndpointState) -> Row {
    Row {
        url: endpoint_url(found.endpoint.id()),
        name: found.endpoint.url().as_str().to_owned(),
        about: subscription_label(found.endpoint.events()),
        badge: endpoint_badge(found).into(),
        id: found.endpoint.id().uuid(),
    }
}

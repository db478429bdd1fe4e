//! The search over everything that has a name: the lists' own searches, side by side, and the few records of an
//! organization that have no list.

use deserr::Deserr;
use uuid::Uuid;

use crate::domain::agreement::Agreement;
use crate::domain::audit::ObjectKind;
use crate::domain::contact::ListedContact;
use crate::domain::funding::FundingItem;
use crate::domain::member::Member;
use crate::domain::movement::Movement;
use crate::domain::obligation::Obligation;
use crate::domain::organization::MemberRecord;
use crate::domain::proposal::Proposal;
use crate::domain::statement::Statement;
use crate::domain::token::Token;
use crate::domain::trust::Trust;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::limits;
use crate::service::agreements::AgreementQuery;
use crate::service::contacts::ContactQuery;
use crate::service::endpoints::{self, EndpointState};
use crate::service::funding_items::FundingItemQuery;
use crate::service::movements::MovementQuery;
use crate::service::proposals::{ProposalFilter, ProposalQuery};
use crate::service::scope::Scope;
use crate::service::trusts::TrustQuery;
use crate::service::workspaces::WorkspaceQuery;
use crate::service::{members, tokens};
use crate::wire::fields::FieldErrors;
use crate::wire::page::{Order, Page, PageRequest, Search, Shelf};
use crate::wire::text::Folded;

/// What is searched for.
#[derive(Debug, Clone, Default, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct SearchQuery {
    /// A part of a name, whatever its case or composition.
    #[deserr(default)]
    pub q: Search<{ limits::SEARCH_CHARS_MAX }>,
}

/// The first matching records of each kind, and the number of all.
#[derive(Debug)]
pub struct Found {
    /// By name.
    pub agreements: Page<Agreement>,
    /// By the name of a document.
    pub with_documents: Page<Agreement>,
    /// By name or reference.
    pub workspaces: Page<Workspace>,
    /// By name or email address.
    pub contacts: Page<ListedContact>,
    /// By the name of the agreement, newest first.
    pub proposals: Page<Proposal>,
    /// By purpose, reference or the name of the agreement.
    pub payments: Page<Movement>,
    /// By name.
    pub obligations: Page<Obligation>,
    /// By the name of the file, newest first.
    pub statements: Page<Statement>,
    /// By formal name.
    pub trusts: Page<Trust>,
    /// By label.
    pub funding_items: Page<FundingItem>,
    /// By name or email address.
    pub members: Page<MemberRecord>,
    /// By name, for admins.
    pub tokens: Page<Token>,
    /// By URL, for admins.
    pub endpoints: Page<EndpointState>,
}

/// Whether a text contains the searched one.
#[must_use]
pub fn matches(query: &SearchQuery, text: &str) -> bool {
    query.q.needle().is_some_and(|needle| Folded::new(text).as_str().contains(needle))
}

/// What a member finds, also what is archived or merged. None without a text to search for.
pub async fn find(scope: &Scope, member: &Member, query: &SearchQuery) -> Result<Option<Found>, Error> {
    let Some(needle) = query.q.needle() else { return Ok(None) };
    let (store, page) = (scope.store(), PageRequest::new(limits::SEARCH_ROWS_MAX, 0));
    let agreements = AgreementQuery { search: query.q.clone().with_chars_max(), ..AgreementQuery::of_page(page) };
    let workspaces = WorkspaceQuery { search: query.q.clone(), ..WorkspaceQuery::of_page(page) };
    let contacts = ContactQuery { search: query.q.clone(), ..ContactQuery::of_page(page) };
    let named = ProposalFilter { action: None, search: query.q.clone().with_chars_max() };
    let proposals = ProposalQuery::of_page(page);
    let payments = MovementQuery { search: query.q.clone(), ..MovementQuery::of_page(page) };
    let lists = async {
        Ok(tokio::try_join!(
            store.list_agreements(Order::NewestFirst, Shelf::All, &agreements),
            store.agreements_with_document(needle, page),
            store.list_workspaces(Order::NewestFirst, Shelf::All, &workspaces),
            store.list_contacts(Order::ByName, Shelf::All, &contacts),
            store.list_proposals(Order::NewestFirst, &proposals, &named, scope.now()),
        )?)
    };
    let money = Box::pin(async {
        Ok(tokio::try_join!(
            store.list_movements(&payments),
            store.obligations_named(needle, page),
            store.statements_named(needle, page),
        )?)
    });
    let of_trusts = TrustQuery { search: query.q.clone(), ..TrustQuery::of_page(page) };
    let of_items = FundingItemQuery { search: query.q.clone(), ..FundingItemQuery::of_page(page) };
    let funding = Box::pin(async {
        let trusts = store.list_trusts(Order::NewestFirst, &of_trusts);
        Ok(tokio::try_join!(trusts, store.list_funding_items(Order::NewestFirst, &of_items))?)
    });
    let tokens = async { if member.is_admin() { tokens::list(scope).await } else { Ok(Vec::new()) } };
    let endpoints = async { if member.is_admin() { endpoints::list(scope).await } else { Ok(Vec::new()) } };
    let (lists, (payments, obligations, statements), (trusts, funding_items), members, tokens, endpoints) =
        tokio::try_join!(lists, money, funding, members::list(scope), tokens, endpoints)?;
    let (agreements, with_documents, workspaces, contacts, proposals) = lists;
    let has = |texts: &[&str]| Folded::join(texts.iter().copied()).as_str().contains(needle);
    Ok(Some(Found {
        agreements,
        with_documents,
        workspaces,
        contacts,
        proposals,
        payments,
        obligations,
        statements,
        trusts,
        funding_items,
        members: Page::slice(members.into_iter().filter(|member| members::is_found(member, &query.q)), page),
        tokens: Page::slice(tokens.into_iter().filter(|token| has(&[&token.name])), page),
        endpoints: Page::slice(endpoints.into_iter().filter(|state| has(&[state.endpoint.url().as_str()])), page),
    }))
}

/// A record that the audit log can be filtered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedObject {
    /// What it is.
    pub kind: ObjectKind,
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
}

/// The records whose names match a text: the first of each kind, and the number of all. Proposals are left out, because
/// the rows of their agreements tell of them. An unsearchable text is an error at `object`.
pub async fn objects_named(scope: &Scope, member: &Member, text: &str) -> Result<(Vec<NamedObject>, u64), Error> {
    let query = SearchQuery { q: Search::parse(text, "object").map_err(Error::Invalid)? };
    let Some(found) = Box::pin(find(scope, member, &query)).await? else { return Ok((Vec::new(), 0)) };
    let Found { agreements, workspaces, contacts, trusts, funding_items, members, tokens, endpoints, .. } = found;
    let totals = [
        agreements.pagination.total,
        workspaces.pagination.total,
        contacts.pagination.total,
        trusts.pagination.total,
        funding_items.pagination.total,
        members.pagination.total,
        tokens.pagination.total,
        endpoints.pagination.total,
    ];
    let object = |kind, id: Uuid, name: &str| NamedObject { kind, id, name: name.to_owned() };
    let agreements =
        agreements.data.iter().map(|found| object(ObjectKind::Agreement, found.id().uuid(), found.name.as_str()));
    let workspaces =
        workspaces.data.iter().map(|found| object(ObjectKind::Workspace, found.id().uuid(), found.name.as_str()));
    let contacts =
        contacts.data.iter().map(|found| object(ObjectKind::Contact, found.id.uuid(), found.display_name.as_str()));
    let trusts = trusts.data.iter().map(|found| object(ObjectKind::Trust, found.id.uuid(), found.formal_name.as_str()));
    let items = funding_items.data.iter();
    let items = items.map(|found| object(ObjectKind::FundingItem, found.id().uuid(), found.label().as_str()));
    let members = members.data.iter().map(|found| object(ObjectKind::Member, found.id.uuid(), found.name.as_str()));
    let tokens = tokens.data.iter().map(|found| object(ObjectKind::Token, found.id.uuid(), &found.name));
    let endpoints = endpoints
        .data
        .iter()
        .map(|found| object(ObjectKind::Endpoint, found.endpoint.id().uuid(), found.endpoint.url().as_str()));
    let records = agreements.chain(workspaces).chain(contacts).chain(trusts).chain(items);
    let shown = records.chain(members).chain(tokens).chain(endpoints).collect();
    Ok((shown, totals.iter().sum()))
}

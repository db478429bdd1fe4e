//! Papering: an ordinary draft for items, in one transaction with them.
//!
//! It takes two steps, since its documents are files: [`prepare`] checks everything and gives the texts, the entrance
//! stores files of them, and [`paper`] decides. Files are named by content, so a repeat leaves nothing behind. The
//! transaction holds only for what was read; other changes take another preparation.

use std::collections::BTreeMap;

use crate::domain::agreement::blockers::{DraftContext, blockers};
use crate::domain::agreement::{Agreement, AgreementName, DocumentContent};
use crate::domain::contact::Contact;
use crate::domain::day::Day;
use crate::domain::funding::FundingItem;
use crate::domain::funding::input::{ItemIds, NewPapering};
use crate::domain::funding::item::Papering;
use crate::domain::funding::names::NamesDigest;
use crate::domain::funding::papers::{self, Paper, Parties};
use crate::domain::ids::{AgreementId, FundingItemId};
use crate::domain::trust::Trust;
use crate::domain::workspace::PeopledWorkspace;
use crate::error::Error;
use crate::service::agreements::AgreementInFull;
use crate::service::funding_shown::{self, PaperingPart};
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::shown::Shown;
use crate::service::workspaces;
use crate::store::{Versioned, agreements, funding_items as stored, trusts};
use crate::wire::fields::{FieldCode, FieldErrors};

/// Items that can be papered, with the texts of their documents.
#[derive(Debug)]
pub struct Prepared {
    id: AgreementId,
    name: AgreementName,
    workspace: PeopledWorkspace,
    trust: Versioned<Trust>,
    contacts: Vec<Contact>,
    items: Vec<Versioned<FundingItem>>,
    papers: Vec<Paper>,
    day: Day,
}

impl Prepared {
    /// The same with the id that a form carries.
    #[must_use]
    pub fn with_id(self, id: AgreementId) -> Self {
        Self { id, ..self }
    }

    /// The agreement's id.
    #[must_use]
    pub fn id(&self) -> AgreementId {
        self.id
    }

    /// The name of the agreement.
    #[must_use]
    pub fn name(&self) -> &AgreementName {
        &self.name
    }

    /// The trust.
    #[must_use]
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The contacts of the trust and of the owners.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// The items, in the order they were named.
    pub fn items(&self) -> impl Iterator<Item = &FundingItem> {
        self.items.iter().map(|item| &**item)
    }

    /// The day of the documents, in the organization's zone.
    #[must_use]
    pub fn day(&self) -> Day {
        self.day
    }

    /// The documents, one per item in the same order.
    #[must_use]
    pub fn papers(&self) -> &[Paper] {
        &self.papers
    }

    /// What its preview shows.
    #[must_use]
    pub fn shown(&self) -> Shown<PaperingPart> {
        funding_shown::of_papering(self.items(), &self.workspace, &self.trust, &self.contacts, self.day)
    }

    fn draft(&self, files: Vec<DocumentContent>, scope: &Scope) -> Result<Agreement, Error> {
        let papered: Vec<_> = self.items().zip(files).collect();
        let (actor, now) = (scope.actor().clone(), scope.now());
        papers::draft(self.id, self.name.clone(), &self.trust, &papered, actor, now).map_err(Error::Invalid)
    }
}

/// Reads items, and checks that they can be papered together. Errors are at each item that can't.
pub async fn prepare(scope: &Scope, new: &NewPapering) -> Result<Prepared, Error> {
    let items = named(scope, &new.item_ids).await?;
    check(&items).map_err(Error::Invalid)?;
    // An item that is ready has its trust.
    let trust_id = items.first().and_then(|item| item.trust_id()).ok_or(Error::Conflict)?;
    let trust = scope.store().trust(trust_id).await?;
    let trust = trust.ok_or_else(|| Error::Internal("a funding item without its trust".to_owned()))?;
    let wanted = papers::named_contacts(&trust, items.iter().map(|item| &**item));
    let contacts = async { scope.store().contacts(wanted).await.map_err(Error::from) };
    let workspace = workspaces::workspace_of_with_people(scope, trust.workspace_id);
    let zone = async { scope.store().organization().await.map(|found| found.time_zone).map_err(Error::from) };
    let (contacts, workspace, zone) = futures_util::try_join!(contacts, workspace, zone)?;
    let contacts: Vec<Contact> = contacts.into_iter().map(Versioned::into_inner).collect();
    let day: Day = zone.day_of(scope.now());
    let parties = Parties { trust: &trust, contacts: &contacts };
    let papers = items.iter().filter_map(|item| papers::paper(item, parties, day)).collect();
    let name = new.name.clone().or_else(|| papers::default_name(&trust));
    let name = name.ok_or_else(|| Error::Internal("a trust whose name makes no name".to_owned()))?;
    let prepared = Prepared { id: AgreementId::new(), name, workspace, trust, contacts, items, papers, day };
    // Refuses what no agreement can take before documents are written. Blank files suffice: no rule depends on them.
    let blank = DocumentContent { sha256: String::new(), size_bytes: 0 };
    prepared.draft(vec![blank; prepared.items.len()], scope)?;
    Ok(prepared)
}

async fn named(scope: &Scope, ids: &ItemIds) -> Result<Vec<Versioned<FundingItem>>, Error> {
    let found = scope.store().funding_items(ids.as_slice().iter().copied()).await?;
    let mut unknown = FieldErrors::default();
    for (at, id) in ids.as_slice().iter().enumerate() {
        if found.iter().all(|item| item.id() != *id) {
            let message = "is no funding item of your organization";
            unknown.extend(FieldErrors::one(format!("item_ids[{at}]"), FieldCode::NotFound, message));
        }
    }
    if unknown.is_empty() { Ok(found) } else { Err(Error::NotFound(unknown)) }
}

fn check(items: &[Versioned<FundingItem>]) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    let first = items.first();
    // Items that lack a trust are refused for that: the first that has one decides which it is.
    let trust = items.iter().find_map(|item| item.trust_id());
    for (at, item) in items.iter().enumerate() {
        let mut refused = |code, message: &str| {
            errors.extend(FieldErrors::one(format!("item_ids[{at}]"), code, message));
        };
        if first.is_some_and(|first| first.workspace_id() != item.workspace_id()) {
            refused(FieldCode::WrongWorkspace, "is of another workspace than the first item");
        } else if item.trust_id().is_some() && item.trust_id() != trust {
            refused(FieldCode::InvalidValue, "is of another trust than the items before it");
        }
        if let Err(reason) = item.check_papering() {
            let (code, message) = reason.said();
            refused(code, message);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Papers what was prepared, with the files of its documents in their order; `limit_reached` at `item_ids`.
pub fn paper(
    by: &impl Writer,
    prepared: Prepared,
    files: Vec<DocumentContent>,
) -> Result<Plan<AgreementInFull>, Error> {
    let scope = by.scope();
    if files.len() != prepared.papers.len() || prepared.papers.len() != prepared.items.len() {
        return Err(Error::Internal(format!("{} files for {} items", files.len(), prepared.items.len())));
    }
    let agreement = prepared.draft(files, scope)?;
    let Prepared { id, workspace, trust, contacts, items, .. } = prepared;
    let now = scope.now();
    let draft = agreement.as_draft().map_err(|reason| Error::Invalid(reason.at("item_ids")))?;
    let mut changes = vec![agreements::create(scope.call(), &draft)?, trusts::check(scope.call(), &trust)];
    let people = draft.participants.iter().map(|one| one.contact_id);
    let joining = workspaces::join(scope, &workspace, people).map_err(|error| match error {
        Error::Invalid(found) => Error::Invalid(at_items(found)),
        other => other,
    })?;
    let left_people = agreements::leave_people(scope.call(), &draft);
    let (mut events, mut shown) = (Vec::new(), vec![id.uuid()]);
    for item in items {
        let papered_at = scope.moment_after(item.updated_at()).at();
        let names = NamesDigest::of(item.owner_contact_ids(), &trust.trustee_contact_ids, &contacts);
        let papering = Papering { agreement_id: id, papered_at, trust_version: trust.version(), names };
        // What was checked before still holds: nothing was read again.
        let change = item.paper(papering).map_err(|_| Error::Conflict)?;
        changes.push(stored::change(scope.call(), &item, &change)?);
        events.extend(change.events().to_vec());
        shown.push(item.id().uuid());
    }
    let workspace_activated = workspace.activated_at().is_some();
    let context = DraftContext { workspace_activated, contacts: &contacts, payments: &[], changed_items: &[], now };
    let blockers = blockers(&agreement, &context);
    let takes_part = |contact: &Contact| agreement.participants.iter().any(|one| one.contact_id == contact.id);
    let contacts = contacts.into_iter().filter(takes_part).collect();
    let payments_wait_for = BTreeMap::new();
    let papered = AgreementInFull { agreement, contacts, blockers, is_proposed: false, payments_wait_for };
    let plan = Plan::new(scope, papered).change(changes).emit(events).showing(shown);
    Ok(plan.join(joining, Some(left_people)))
}

/// Moves errors to the items: because of them, the people would join the workspace.
fn at_items(found: FieldErrors) -> FieldErrors {
    let mut errors = FieldErrors::default();
    for error in found.into_list() {
        let message = format!("{}; remove those who are not needed, then paper again", error.message);
        errors.extend(FieldErrors::one("item_ids", error.code, message));
    }
    errors
}

/// The agreement that an earlier submission of the form papered.
pub async fn papered_before(scope: &Scope, id: AgreementId) -> Result<Option<Vec<FundingItemId>>, Error> {
    let found = scope.store().agreement(id).await?;
    Ok(found.map(|agreement| agreement.funding_item_ids.clone()))
}

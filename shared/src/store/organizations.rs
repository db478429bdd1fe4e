//! Organizations. Settings change in place, so that admins who change different ones at once do not conflict.

use aws_sdk_dynamodb::types::AttributeValue;

use super::change::{Change, Changes, Condition, Update};
use super::item::from_item;
use super::{OrgStore, Store, StoreError, keys};
use crate::domain::call_context::CallContext;
use crate::domain::ids::{ContactId, OrgId};
use crate::domain::member::{Admin, Member};
use crate::domain::organization::{EarlierName, Organization, OrganizationSettings};
use crate::domain::own_account::OwnAccount;
use crate::domain::time::Timestamp;
use crate::limits;

impl Store {
    pub(crate) async fn organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        self.get(keys::organization(org)).await?.map(from_item).transpose()
    }
}

impl OrgStore {
    /// The organization.
    ///
    /// # Errors
    /// When the organization does not exist.
    pub async fn organization(&self) -> Result<Organization, StoreError> {
        let found = self.store.organization(self.org).await?;
        found.ok_or_else(|| StoreError::Failed("the organization is not there".to_owned()))
    }
}

/// Changes the settings. Keeps the previous name if it differs; it must not have changed meanwhile.
pub(crate) fn change_settings(
    call: &CallContext,
    admin: Admin<'_>,
    settings: &OrganizationSettings,
    asks_for_codes: bool,
    before: &EarlierName,
    is_renamed: bool,
) -> Changes {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let mut changed = Update {
        key: keys::organization(call.org()),
        expression: "SET #name = :name, #time_zone = :time_zone, #codes = :codes",
        condition: "#name = :before",
        names: vec![("#name", "name"), ("#time_zone", "time_zone"), ("#codes", "asks_for_codes")],
        values: vec![
            (":name", text(settings.name.as_str())),
            (":time_zone", text(settings.time_zone.as_str())),
            (":codes", AttributeValue::Bool(asks_for_codes)),
            (":before", text(before.name.as_str())),
        ],
    };
    if is_renamed {
        let EarlierName { name, until } = before;
        let earlier = [("name", name.as_str()), ("until", &until.to_string())];
        let earlier = earlier.map(|(member, value)| (member.to_owned(), text(value)));
        changed.expression = "SET #name = :name, #time_zone = :time_zone, #codes = :codes, \
            #earlier = list_append(if_not_exists(#earlier, :none), :earlier)";
        changed.names.push(("#earlier", "earlier_names"));
        changed.values.push((":none", AttributeValue::L(Vec::new())));
        changed.values.push((":earlier", AttributeValue::L(vec![AttributeValue::M(earlier.into())])));
    }
    Changes::by_admin(call, admin, [Change::Update(changed)])
}

/// Suspends or resumes the organization. Holds only if that changes anything.
pub(crate) fn suspend(call: &CallContext, at: Option<Timestamp>) -> Changes {
    let (expression, condition, values) = match at {
        Some(at) => (
            "SET #suspended_at = :at",
            "attribute_exists(#pk) AND attribute_not_exists(#suspended_at)",
            vec![(":at", AttributeValue::S(at.to_string()))],
        ),
        None => ("REMOVE #suspended_at", "attribute_exists(#pk) AND attribute_exists(#suspended_at)", Vec::new()),
    };
    let suspended = Update {
        key: keys::organization(call.org()),
        expression,
        condition,
        names: vec![("#suspended_at", SUSPENDED_AT), ("#pk", keys::PARTITION)],
        values,
    };
    Changes::of(call, [Change::Update(suspended)])
}

pub(super) fn is_not_suspended(org: OrgId) -> Change {
    Change::Check(Condition {
        key: keys::organization(org),
        expression: "attribute_not_exists(#suspended_at)",
        names: vec![("#suspended_at", SUSPENDED_AT)],
        values: Vec::new(),
    })
}

const SUSPENDED_AT: &str = "suspended_at";

pub(crate) fn add_own_contact(call: &CallContext, admin: Admin<'_>, contact: ContactId) -> Changes {
    let added = Update {
        key: keys::organization(call.org()),
        expression: "ADD #own :contact",
        condition: "attribute_exists(#pk) AND (attribute_not_exists(#own) OR size(#own) < :max)",
        names: vec![("#own", OWN_CONTACTS), ("#pk", keys::PARTITION)],
        values: vec![
            (":contact", AttributeValue::Ss(vec![contact.to_string()])),
            (":max", AttributeValue::N(limits::OWN_CONTACTS_MAX.to_string())),
        ],
    };
    Changes::by_admin(call, admin, [Change::Update(added)])
}

pub(crate) fn remove_own_contact(call: &CallContext, admin: Admin<'_>, contact: ContactId) -> Changes {
    let removed = Update {
        key: keys::organization(call.org()),
        expression: "DELETE #own :contact",
        condition: "attribute_exists(#pk)",
        names: vec![("#own", OWN_CONTACTS), ("#pk", keys::PARTITION)],
        values: vec![(":contact", AttributeValue::Ss(vec![contact.to_string()]))],
    };
    Changes::by_admin(call, admin, [Change::Update(removed)])
}

pub(crate) fn change_own_accounts(
    call: &CallContext,
    member: &Member,
    before: &[OwnAccount],
    after: &[OwnAccount],
) -> Result<Changes, StoreError> {
    let encoded = |accounts: &[OwnAccount]| {
        serde_dynamo::to_attribute_value(accounts)
            .map_err(|error| StoreError::Failed(format!("encoding own accounts: {error}")))
    };
    let mut changed = Update {
        key: keys::organization(call.org()),
        expression: "SET #own = :after",
        condition: "attribute_exists(#pk) AND attribute_not_exists(#own)",
        names: vec![("#own", OWN_ACCOUNTS), ("#pk", keys::PARTITION)],
        values: vec![(":after", encoded(after)?)],
    };
    if !before.is_empty() {
        changed.condition = "attribute_exists(#pk) AND #own = :before";
        changed.values.push((":before", encoded(before)?));
    }
    if after.is_empty() {
        changed.expression = "REMOVE #own";
        changed.values.retain(|(name, _)| *name != ":after");
    }
    Ok(Changes::by_member(call, member, [Change::Update(changed)]))
}

const OWN_ACCOUNTS: &str = "own_accounts";

/// A set.
const OWN_CONTACTS: &str = "own_contact_ids";

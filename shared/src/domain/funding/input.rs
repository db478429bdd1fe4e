//! What callers send about funding items.

use deserr::{Deserr, IntoValue, Sequence, Value, ValuePointerRef};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::WaitingOn;
use super::facts::{AssetKind, DetailChanges, Verb};
use super::item::{FundingItem, ItemLabel};
use crate::domain::agreement::AgreementName;
use crate::domain::contact::ExternalReference;
use crate::domain::ids::{ContactId, FundingItemId, TrustId, WorkspaceId};
use crate::domain::note::Note;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::{NullablePatch, OrDefault, Patch};

/// Contacts in the order sent, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactIds(Vec<ContactId>);

impl ContactIds {
    /// The contacts without repetitions; `limit_reached`, without a field.
    pub fn new(ids: impl IntoIterator<Item = ContactId>) -> Result<Self, (FieldCode, String)> {
        let mut unique = Vec::new();
        for id in ids {
            if !unique.contains(&id) {
                unique.push(id);
            }
        }
        if unique.len() > limits::FUNDING_CONTACTS_MAX {
            let message = format!("must have at most {} contacts", limits::FUNDING_CONTACTS_MAX);
            return Err((FieldCode::LimitReached, message));
        }
        Ok(Self(unique))
    }

    /// The contacts.
    #[must_use]
    pub fn as_slice(&self) -> &[ContactId] {
        &self.0
    }

    /// The contacts.
    #[must_use]
    pub fn into_vec(self) -> Vec<ContactId> {
        self.0
    }
}

impl Deserr<FieldErrors> for ContactIds {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let ids = Vec::<ContactId>::deserialize_from_value(value, location)?;
        Self::new(ids).map_err(|(code, message)| FieldErrors::at(location, code, message))
    }
}

impl PartialSchema for ContactIds {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .description(Some("Contacts of your organization, 20 at most. A repeated one counts once."))
            .items(utoipa::openapi::Ref::from_schema_name(ContactId::name()))
            .examples([serde_json::json!(["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"])])
            .into()
    }
}

impl ToSchema for ContactIds {
    fn name() -> std::borrow::Cow<'static, str> {
        "ContactIds".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((ContactId::name().into(), ContactId::schema()));
    }
}

/// A funding item to be added. A label is enough.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({
    "workspace_id": "01980a41-0c8a-7e31-b3d4-6a90c1f25e77",
    "trust_id": "01980a60-1b22-7c33-8d44-5e66f7788990",
    "label": "Checking at First National",
    "asset_kind": "bank_account",
    "external_reference": "asset-17",
}))]
pub struct NewFundingItem {
    /// A workspace of your organization. It has at most 1,000 items.
    pub workspace_id: WorkspaceId,
    /// A trust of the workspace.
    #[deserr(default)]
    #[schema(nullable)]
    pub trust_id: Option<TrustId>,
    /// What it is called.
    pub label: ItemLabel,
    /// What it is; `other` if left out.
    #[deserr(default)]
    #[schema(value_type = AssetKind, required = false)]
    pub asset_kind: OrDefault<Option<AssetKind>>,
    /// Your own key for it. If an item has it already, that one is returned, unchanged, with status 200.
    #[deserr(default)]
    #[schema(nullable)]
    pub external_reference: Option<ExternalReference>,
    /// What is already known about it, such as facts in an import file. Named contacts must belong to the organization.
    #[deserr(skip)]
    #[schema(ignore)]
    pub sorted: Option<Box<FundingItemChanges>>,
}

impl NewFundingItem {
    /// The fields whose values differ from those of an existing item, in order.
    #[must_use]
    pub fn differences(&self, existing: &FundingItem) -> Vec<&'static str> {
        let fields = [
            ("trust_id", self.trust_id.is_some() && self.trust_id != existing.trust_id()),
            ("label", self.label != *existing.label()),
            ("asset_kind", self.asset_kind.0.is_some_and(|sent| sent != existing.asset_kind())),
        ];
        fields.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

/// What to change of a funding item; what is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({
    "verb": "retitle",
    "trust_id": "01980a60-1b22-7c33-8d44-5e66f7788990",
    "owner_contact_ids": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"],
    "detail": {"institution": "First National", "account_last4": "4411"},
}))]
pub struct FundingItemChanges {
    /// What is to be done with it; `null` takes that back. It has to fit the kind of asset.
    #[deserr(default)]
    #[schema(value_type = Option<Verb>)]
    pub verb: NullablePatch<Verb>,
    /// A trust of the item's workspace; `null` removes it.
    #[deserr(default)]
    #[schema(value_type = Option<TrustId>)]
    pub trust_id: NullablePatch<TrustId>,
    /// Who owns it, in the place of those before; `[]` removes all.
    #[deserr(default)]
    #[schema(value_type = Option<ContactIds>, nullable = false)]
    pub owner_contact_ids: Patch<ContactIds>,
    /// Facts to set, or to remove with `null`; others stay.
    #[deserr(default)]
    #[schema(value_type = Option<DetailChanges>, nullable = false)]
    pub detail: Patch<DetailChanges>,
    /// What it is called.
    #[deserr(default)]
    #[schema(value_type = Option<ItemLabel>, nullable = false)]
    pub label: Patch<ItemLabel>,
    /// What it is. Facts that the new kind does not have are removed.
    #[deserr(default)]
    #[schema(value_type = Option<AssetKind>, nullable = false)]
    pub asset_kind: Patch<AssetKind>,
}

/// For whom an item waits, or that its hold is cleared.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors)]
#[schema(example = json!({"waiting_on": "institution", "note": "They want a certified copy of the trust."}))]
#[deserr(deny_unknown_fields)]
pub struct Parking {
    /// For whom it waits; `null` clears the hold.
    #[schema(value_type = Option<WaitingOn>, required = true)]
    pub waiting_on: Nullable<WaitingOn>,
    /// A remark for people. It is in no response and no event.
    #[deserr(default)]
    #[schema(nullable)]
    pub note: Option<Note>,
}

/// A required field that may be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nullable<T>(pub Option<T>);

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Nullable<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Null => Ok(Self(None)),
            value => T::deserialize_from_value(value, location).map(|value| Self(Some(value))),
        }
    }
}

/// The items to paper, all or none.
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schema(example = json!({"item_ids": ["01980a61-2c33-7d44-9e55-6f7788990a1b"], "name": "Funding of the Ellery Family Trust"}))]
pub struct NewPapering {
    /// 1 to 25 items of one workspace and one trust, each ready and not on hold.
    pub item_ids: ItemIds,
    /// What the agreement is called; after its trust if left out.
    #[deserr(default)]
    #[schema(nullable)]
    pub name: Option<AgreementName>,
}

/// 1 to 25 funding items, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemIds(Vec<FundingItemId>);

impl ItemIds {
    /// The items, in the order sent.
    #[must_use]
    pub fn as_slice(&self) -> &[FundingItemId] {
        &self.0
    }

    /// Checks the number of items (`too_short`, `too_long`), and that none repeats (`invalid_value`).
    pub fn new(ids: Vec<FundingItemId>) -> Result<Self, FieldErrors> {
        let max = limits::PAPERED_ITEMS_MAX;
        let refused = |code, message: String| Err(FieldErrors::one("item_ids", code, message));
        if ids.is_empty() {
            return refused(FieldCode::TooShort, format!("must have 1 to {max} items"));
        }
        if ids.len() > max {
            return refused(FieldCode::TooLong, format!("must have at most {max} items"));
        }
        let mut errors = FieldErrors::default();
        for (at, id) in ids.iter().enumerate() {
            if ids.iter().take(at).any(|earlier| earlier == id) {
                let message = "is the same item as one before it";
                errors.extend(FieldErrors::one(format!("item_ids[{at}]"), FieldCode::InvalidValue, message));
            }
        }
        if errors.is_empty() { Ok(Self(ids)) } else { Err(errors) }
    }
}

impl Deserr<FieldErrors> for ItemIds {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        if let Value::Sequence(all) = &value
            && all.len() > limits::PAPERED_ITEMS_MAX
        {
            let message = format!("must have at most {} items", limits::PAPERED_ITEMS_MAX);
            return Err(FieldErrors::at(location, FieldCode::TooLong, message));
        }
        Self::new(Vec::<FundingItemId>::deserialize_from_value(value, location)?)
    }
}

impl PartialSchema for ItemIds {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .description(Some("1 to 25 funding items, each once."))
            .items(utoipa::openapi::Ref::from_schema_name(FundingItemId::name()))
            .min_items(Some(1))
            .max_items(Some(limits::PAPERED_ITEMS_MAX))
            .into()
    }
}

impl ToSchema for ItemIds {
    fn name() -> std::borrow::Cow<'static, str> {
        "FundingItemIds".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((FundingItemId::name().into(), FundingItemId::schema()));
    }
}

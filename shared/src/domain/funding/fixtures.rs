use super::facts::{AssetKind, DetailChanges, Fact, FactType, Given, Verb};
use super::input::{ContactIds, FundingItemChanges, NewFundingItem};
use super::item::{FundingItem, ItemLabel, Place};
use crate::domain::actor::Actor;
use crate::domain::agreement::fixtures;
use crate::domain::contact::{Contact, DisplayName};
use crate::domain::ids::{ContactId, FundingItemId, TrustId, WorkspaceId};
use crate::domain::time::Timestamp;
use crate::domain::trust::Trust;
use crate::wire::input::{NullablePatch, OrDefault, Patch};

pub(crate) fn noon() -> Timestamp {
    fixtures::noon()
}

pub(crate) fn trust() -> Trust {
    Trust {
        id: TrustId::new(),
        workspace_id: WorkspaceId::new(),
        contact_id: ContactId::new(),
        formal_name: DisplayName::parse("The Ellery Family Trust").unwrap(),
        settlor_contact_ids: vec![ContactId::new()],
        trustee_contact_ids: vec![ContactId::new()],
        external_reference: None,
        created_by: Actor::system(),
        created_at: noon(),
        updated_at: noon(),
    }
}

pub(crate) fn contacts(trust: &Trust) -> Vec<Contact> {
    let named = |id: &ContactId, name: &str| Contact { id: *id, ..fixtures::contact(name) };
    vec![named(&trust.trustee_contact_ids[0], "Ada"), named(&trust.settlor_contact_ids[0], "Ben")]
}

pub(crate) fn item(trust: &Trust, asset_kind: AssetKind) -> FundingItem {
    let new = NewFundingItem {
        workspace_id: trust.workspace_id,
        trust_id: None,
        label: ItemLabel::parse("Other asset").unwrap(),
        asset_kind: OrDefault(Some(asset_kind)),
        external_reference: None,
        sorted: None,
    };
    FundingItem::add(FundingItemId::new(), Place::new(1).unwrap(), new, Actor::system(), noon()).unwrap().into_item()
}

pub(crate) fn value(fact: Fact) -> Given {
    match fact.fact_type() {
        FactType::Line | FactType::Identifier | FactType::Lines => Given::Text("Some words".to_owned()),
        FactType::Last4 => Given::Text("4411".to_owned()),
        FactType::Amount => Given::Number(125_000.into()),
        FactType::Currency => Given::Text("USD".to_owned()),
        FactType::Percent => Given::Number(50.into()),
        FactType::Flag => Given::Flag(true),
    }
}

pub(crate) fn everything(trust: &Trust, kind: AssetKind, verb: Verb) -> FundingItemChanges {
    let facts = kind.facts_for(verb).unwrap_or_default();
    let facts = facts.iter().map(|fact| (*fact, Some(fact.read(value(*fact)).unwrap())));
    FundingItemChanges {
        verb: NullablePatch::Set(verb),
        trust_id: NullablePatch::Set(trust.id),
        owner_contact_ids: Patch::Set(ContactIds::new(trust.settlor_contact_ids.clone()).unwrap()),
        detail: Patch::Set(DetailChanges::of(facts)),
        ..FundingItemChanges::default()
    }
}

pub(crate) fn ready_item(trust: &Trust, verb: Verb) -> FundingItem {
    let changes = everything(trust, AssetKind::Other, verb);
    item(trust, AssetKind::Other).sort(changes, noon()).unwrap().into_item()
}

//! Reseals with the current key what older keys sealed, for operators, after a key rotation.
//!
//! - Decision: a resealed value replaces the old one only as it was read, so resealing runs beside traffic, repeatedly.
//! - Decision: sealed bank details of sent answers stay, since their receipt proves them; what opens is kept beside.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;

use super::change::{Change, Update};
use super::failure::TransactionOutcome;
use super::information::AnswerDraft;
use super::item::{Item, from_item, from_versioned_item, to_versioned_item};
use super::keys::{Key, SORT};
use super::record_kind::{Place, RecordKind};
use super::{Store, StoreError};
use crate::crypto::keyring::{Keyring, SealError};
use crate::domain::endpoint::Endpoint;
use crate::domain::ids::OrgId;
use crate::domain::information::{Submission, draft_place};
use crate::domain::movement::instructions::{self, SealedInstructions};
use crate::domain::second_factor::{self, SecondFactor};

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resealed {
    /// Nothing of it is sealed.
    Nothing,
    /// All that is sealed of it is sealed with the current key.
    Current,
    /// It was sealed anew.
    Done,
    /// It has changed meanwhile: the next walk looks at it again.
    Changed,
    /// It does not open, or can't be read.
    Lost(String),
}

enum NotResealed {
    Seal(SealError),
    Store(StoreError),
}

impl From<SealError> for NotResealed {
    fn from(error: SealError) -> Self {
        Self::Seal(error)
    }
}

impl From<StoreError> for NotResealed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Store {
    /// Reseals an item with the current key of a keyring.
    pub async fn reseal(&self, item: &Item, keys: &Keyring) -> Result<Resealed, StoreError> {
        let change = match change_of(item, keys) {
            Ok(None) => return Ok(Resealed::Nothing),
            Ok(Some(None)) => return Ok(Resealed::Current),
            Ok(Some(Some(change))) => change,
            Err(NotResealed::Seal(error)) => return Ok(Resealed::Lost(error.to_string())),
            Err(NotResealed::Store(StoreError::Unreadable(cause))) => return Ok(Resealed::Lost(cause)),
            Err(NotResealed::Store(error)) => return Err(error),
        };
        match self.transact(vec![change]).await {
            Ok(TransactionOutcome::Committed) => Ok(Resealed::Done),
            Ok(TransactionOutcome::ConditionsFailed(_)) | Err(StoreError::Conflict) => Ok(Resealed::Changed),
            Err(error) => Err(error),
        }
    }
}

/// Reseals an item; the inner None if all of it has the current key, the outer if nothing is sealed.
#[allow(clippy::option_option, reason = "nothing sealed and nothing to do are two cases")]
fn change_of(item: &Item, keys: &Keyring) -> Result<Option<Option<Change>>, NotResealed> {
    let Some(key) = Key::of(item) else { return Ok(None) };
    let Some(place) = Place::of(&key).filter(|place| !place.kind.declared().sealed.is_empty()) else { return Ok(None) };
    match (place.kind, place.org) {
        (RecordKind::Endpoint, Some(org)) => endpoint(item, key, org, keys).map(Some),
        (RecordKind::SecondFactor, _) => second_factor(item, key, keys).map(Some),
        (RecordKind::Instructions, _) => {
            let SealedInstructions { movement_id, revision, sealed } = from_item(item.clone())?;
            let anew = keys.reseal(&sealed, &instructions::place(movement_id, revision))?;
            Ok(Some(anew.map(|anew| replace(item, key, "sealed", &anew)).transpose()?))
        }
        (RecordKind::AnswerDraft, Some(org)) => {
            let [agreement, gate, participant] = place.ids[..] else { return Ok(None) };
            let AnswerDraft { sealed, .. } = from_item(item.clone())?;
            let place = draft_place(org, agreement.into(), gate.into(), participant.into());
            let anew = keys.reseal(&sealed, &place)?;
            Ok(Some(anew.map(|anew| replace(item, key, "sealed", &anew)).transpose()?))
        }
        (RecordKind::Submission, _) => {
            let submission: Submission = from_item(item.clone())?;
            if !submission.has_sealed() {
                return Ok(None);
            }
            let anew = submission.resealed_with(keys)?;
            Ok(Some(anew.map(|anew| replace(item, key, "resealed", &anew)).transpose()?))
        }
        _ => Ok(None),
    }
}

fn endpoint(item: &Item, key: Key, org: OrgId, keys: &Keyring) -> Result<Option<Change>, NotResealed> {
    let before = from_versioned_item::<Endpoint>(item.clone())?;
    let Some(after) = before.resealed(org, keys)? else { return Ok(None) };
    let item = to_versioned_item(key, &after, before.version() + 1)?;
    Ok(Some(Change::Replace(item, before.version())))
}

fn second_factor(item: &Item, key: Key, keys: &Keyring) -> Result<Option<Change>, NotResealed> {
    let before = from_versioned_item::<SecondFactor>(item.clone())?;
    let folded = key.partition().split_once('#').map_or("", |(_, folded)| folded).to_owned();
    let Some(secret) = keys.reseal(before.secret(), &second_factor::place(&folded))? else { return Ok(None) };
    let item = to_versioned_item(key, &before.with_secret(secret), before.version() + 1)?;
    Ok(Some(Change::Replace(item, before.version())))
}

/// Changes one attribute if it is as it was read: whoever writes it at the same moment writes what they sealed.
fn replace<T: Serialize>(item: &Item, key: Key, name: &'static str, after: &T) -> Result<Change, StoreError> {
    let encoded = serde_dynamo::to_attribute_value(after)
        .map_err(|error| StoreError::Failed(format!("encoding a sealed value: {error}")))?;
    let before: Option<AttributeValue> = item.get(name).cloned();
    let condition =
        if before.is_some() { "#sealed = :before" } else { "attribute_exists(#sk) AND attribute_not_exists(#sealed)" };
    let mut names = vec![("#sealed", name)];
    if before.is_none() {
        names.push(("#sk", SORT));
    }
    let mut values = vec![(":after", encoded)];
    values.extend(before.map(|before| (":before", before)));
    // The version stays: open forms name it.
    Ok(Change::Update(Update { key, expression: "SET #sealed = :after", condition, names, values }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_with_sealed_attributes_is_resealed() {
        let keys = Keyring::new("one").unwrap();
        let written = crate::store::keys::tests::written(OrgId::new());
        for (kind, key) in written {
            let looked_at = change_of(&key.into_item(), &keys);
            // Only those have to be read, and this item has nothing but its key.
            assert_eq!(looked_at.is_err(), !kind.declared().sealed.is_empty(), "{kind}");
        }
    }
}

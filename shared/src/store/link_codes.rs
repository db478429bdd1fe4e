//! Codes that members read out to participants: one item beside the agreement for each participant who got one.

use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::agreements;
use super::change::{Change, Changes, Update};
use super::item::{from_item, to_item};
use super::keys::{self, DROP_AT};
use super::{OrgStore, StoreError};
use crate::domain::agreement::Agreement;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{AgreementId, ParticipantId};
use crate::domain::member::Member;
use crate::domain::participant::link_code::StoredLinkCode;
use crate::domain::participant::session::Part;
use crate::limits;

impl OrgStore {
    /// The participant's latest code, whether or not it still works.
    pub(crate) async fn link_code(
        &self,
        agreement: AgreementId,
        participant: ParticipantId,
    ) -> Result<Option<StoredLinkCode>, StoreError> {
        let item = self.table().get(keys::link_code(self.part(agreement, participant))).await?;
        item.map(from_item).transpose()
    }

    /// Counts a try at a code before it is compared. False if it has been tried too often or replaced since.
    pub(crate) async fn count_code_try(&self, part: Part, id: Uuid) -> Result<bool, StoreError> {
        let counted = Update {
            key: keys::link_code(part),
            expression: "SET #tries = #tries + :one",
            condition: "#id = :id AND #tries < :max",
            names: vec![("#id", "id"), ("#tries", "tries")],
            values: vec![
                (":id", AttributeValue::S(id.to_string())),
                (":one", AttributeValue::N("1".to_owned())),
                (":max", AttributeValue::N(limits::LINK_CODE_TRIES_MAX.to_string())),
            ],
        };
        Ok(self.table().update(counted).await?.is_some())
    }
}

pub(crate) fn create(
    call: &CallContext,
    by: &Member,
    agreement: &Agreement,
    participant: ParticipantId,
    code: &StoredLinkCode,
) -> Result<Changes, StoreError> {
    let part = Part { organization_id: call.org(), agreement_id: agreement.id(), participant_id: participant };
    let mut item = to_item(keys::link_code(part), code)?;
    item.insert(DROP_AT.to_owned(), AttributeValue::N(code.expires_at.unix_s().to_string()));
    let changes = Changes::by_member(call, by, [Change::Put(item)]);
    Ok(changes.about_part(agreement.id(), agreements::participant_part(agreement, participant)))
}

/// Opens a session with a code. It holds once, and only if no newer code exists.
pub(crate) fn use_once(call: &CallContext, part: Part, id: Uuid) -> Changes {
    let used = Update {
        key: keys::link_code(part),
        expression: "SET #used = :true",
        condition: "#id = :id AND #used = :false",
        names: vec![("#id", "id"), ("#used", "is_used")],
        values: vec![
            (":id", AttributeValue::S(id.to_string())),
            (":true", AttributeValue::Bool(true)),
            (":false", AttributeValue::Bool(false)),
        ],
    };
    Changes::of(call, [Change::Update(used)])
}

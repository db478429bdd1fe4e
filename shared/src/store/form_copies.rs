//! Copies of the app's forms. Each display of a form is a copy that can be used once: the act's transaction records it
//! with a fingerprint of the submission. A repeat gets the first answer; other content does nothing.
//!
//! Decision: a form that acts in parts records its copy, as unfinished, in the transaction of the first, and finishes it
//! with its answer. A repeat goes on with what is left. Parts know what they did by ids that the copy gives, or because
//! their change has no effect.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

use super::change::{Change, Expiry, Update};
use super::item::{bytes, number, text};
use super::keys::{self, DROP_AT};
use super::{Item, Store, StoreError};
use crate::domain::call_context::CallContext;
use crate::domain::time::Timestamp;
use crate::limits;

const FINGERPRINT: &str = "fingerprint";
const LOCATION: &str = "location";
const COOKIES: &str = "cookies";
const UNFINISHED: &str = "unfinished";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormCopy {
    /// Only the session that was shown the form can name it. Records that the form makes take it as their id.
    pub id: Uuid,
    /// HMAC of path and content, under the session's secret.
    pub fingerprint: [u8; 32],
}

/// The answer to a form, which a repeat gets again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormAnswer {
    /// The page it leads to.
    pub location: String,
    /// The `Set-Cookie` headers of what that page shows once, each sealed for the session.
    pub cookies: Vec<String>,
}

impl FormAnswer {
    fn attributes(&self) -> [(&'static str, AttributeValue); 2] {
        let cookies = self.cookies.iter().cloned().map(AttributeValue::S).collect();
        [(LOCATION, AttributeValue::S(self.location.clone())), (COOKIES, AttributeValue::L(cookies))]
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsedCopy {
    pub fingerprint: [u8; 32],
    /// Whether its form acts in parts, some of which may be left to do.
    pub is_unfinished: bool,
    pub answer: Option<FormAnswer>,
}

/// What uses a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CopyUse<'a> {
    /// The form's act, with its answer if known.
    Act(Option<&'a FormAnswer>),
    /// The first of several parts.
    FirstPart,
}

impl UsedCopy {
    /// Whether a form with this copy has begun to act in parts, with the same content.
    pub(crate) fn is_begun_by(&self, copy: FormCopy) -> bool {
        self.is_unfinished && self.fingerprint == copy.fingerprint
    }
}

impl Store {
    /// How a copy was used. Lists that begin from now on have what its form wrote, however late that was.
    pub(crate) async fn used_copy(&self, id: Uuid, now: Timestamp) -> Result<Option<UsedCopy>, StoreError> {
        let Some(item) = self.get(keys::form_copy(id)).await? else { return Ok(None) };
        let used = read(&item).ok_or_else(|| StoreError::Unreadable("decoding a form's copy".to_owned()))?;
        // DynamoDB deletes expired items with a delay.
        if number(&item, DROP_AT).is_some_and(|drop_at: i64| now.unix_s() >= drop_at) {
            return Ok(None);
        }
        self.acknowledge_late(&item).await?;
        Ok(Some(used))
    }

    /// Adds the answer of a used copy that became known after its act, or all of its parts, took effect.
    pub(crate) async fn keep_answer(&self, id: Uuid, answer: &FormAnswer) -> Result<(), StoreError> {
        let [(_, location), (_, cookies)] = answer.attributes();
        let update = Update {
            key: keys::form_copy(id),
            expression: "SET #location = :location, #cookies = :cookies REMOVE #unfinished",
            condition: "attribute_exists(#fingerprint)",
            names: vec![
                ("#location", LOCATION),
                ("#cookies", COOKIES),
                ("#unfinished", UNFINISHED),
                ("#fingerprint", FINGERPRINT),
            ],
            values: vec![(":location", location), (":cookies", cookies)],
        };
        self.update(update).await.map(|_| ())
    }
}

fn read(item: &Item) -> Option<UsedCopy> {
    let cookies = item.get(COOKIES).and_then(|cookies| cookies.as_l().ok()).into_iter().flatten();
    let cookies = cookies.filter_map(|cookie| cookie.as_s().ok().cloned()).collect();
    let answer = text(item, LOCATION).map(|location| FormAnswer { location: location.to_owned(), cookies });
    let is_unfinished = item.contains_key(UNFINISHED);
    Some(UsedCopy { fingerprint: bytes(item, FINGERPRINT)?.try_into().ok()?, is_unfinished, answer })
}

pub(super) fn record(call: &CallContext, copy: FormCopy, by: CopyUse<'_>) -> Change {
    let mut item = keys::form_copy(copy.id).into_item();
    item.insert(FINGERPRINT.to_owned(), AttributeValue::B(Blob::new(copy.fingerprint)));
    let answer = match by {
        CopyUse::Act(answer) => answer,
        CopyUse::FirstPart => {
            item.insert(UNFINISHED.to_owned(), AttributeValue::Bool(true));
            None
        }
    };
    let attributes = answer.into_iter().flat_map(FormAnswer::attributes);
    item.extend(attributes.map(|(name, value)| (name.to_owned(), value)));
    let now = call.now().unix_s();
    item.insert(DROP_AT.to_owned(), AttributeValue::N((now + limits::FORM_COPY_LIFETIME_S).to_string()));
    Change::PutIfExpired(item, Expiry { attribute: DROP_AT, now })
}

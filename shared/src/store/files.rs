//! An organization's stored files, by content: which calls uploaded each, and whether a record names it.
//!
//! A call notes its upload before storing it. A day later the clock removes the file, unless that call took effect.
//!
//! - Decision: a committed call names what it uploaded, and its audit row says whether it committed. So records need no
//!   list of their files, and files no room in a transaction. A refused call can't name its file later, unless it kept
//!   what was typed.
//! - Decision: a file once named stays: a copied record, a snapshot or a bundle may share it, and a count could drift.
//! - Decision: an upload of a file under removal waits for the end. Another clock takes over from an interrupted one.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;

use super::change::Update;
use super::due::DueEntry;
use super::item::{Item, number};
use super::keys::{self, Due, Key, PARTITION};
use super::{OrgStore, Store, StoreError, audit};
use crate::domain::agreement::DocumentContent;
use crate::domain::call_context::CallContext;
use crate::domain::ids::{OrgId, RequestId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::retry::{Budget, retry_on_conflict};

/// The calls that uploaded a file and may yet take effect.
const UPLOADS: &str = "uploads";
/// A record names the file or once did.
const NAMED: &str = "named";
/// When a clock began to remove the file, in milliseconds since 1970.
const REMOVING: &str = "removing";
/// In a due entry: the hashes of the files that its call uploaded.
const FILES: &str = "files";

/// A file that a call is about to store and has noted as its upload. Storing a file requires one.
///
/// ```compile_fail,E0451
/// use shared::domain::agreement::DocumentContent;
/// use shared::domain::ids::OrgId;
/// use shared::store::files::Upload;
///
/// fn unnoted(org: OrgId, content: DocumentContent) -> Upload {
///     Upload { org, content }
/// }
/// ```
#[derive(Debug)]
pub struct Upload {
    org: OrgId,
    content: DocumentContent,
}

impl Upload {
    /// The organization.
    #[must_use]
    pub fn org(&self) -> OrgId {
        self.org
    }

    /// The file's hash and size.
    #[must_use]
    pub fn content(&self) -> &DocumentContent {
        &self.content
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    Nothing,
    Named,
    /// Calls uploaded it; none is known to have taken effect.
    Uploaded(BTreeSet<RequestId>),
    Removing(i64),
}

impl Known {
    fn of(item: &Item) -> Self {
        if item.contains_key(NAMED) {
            return Self::Named;
        }
        if let Some(since) = number(item, REMOVING) {
            return Self::Removing(since);
        }
        let uploads = item.get(UPLOADS).and_then(|uploads| uploads.as_ss().ok());
        Self::Uploaded(uploads.into_iter().flatten().filter_map(|call| call.parse().ok()).collect())
    }
}

/// What a clock has to do about a file whose upload is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Nothing: it is named, is gone, or has a later upload with an entry of its own.
    Kept,
    /// Nothing now: the call has not ended, or something else is under way.
    Later,
    /// To remove it, and to say so then.
    Begun,
}

impl Store {
    pub(crate) async fn uploads_of(&self, entry: &DueEntry) -> Result<Vec<String>, StoreError> {
        let item = self.get(entry.key().clone()).await?.unwrap_or_default();
        Ok(item.get(FILES).and_then(|files| files.as_ss().ok()).cloned().unwrap_or_default())
    }
}

impl OrgStore {
    /// Notes a call's uploads, to be checked again; must precede storing. Conflicts with a removal or too many uploads.
    pub(crate) async fn begin_uploads(
        &self,
        call: &CallContext,
        contents: Vec<DocumentContent>,
        until: Timestamp,
    ) -> Result<Vec<Upload>, StoreError> {
        let key = |content: &DocumentContent| keys::stored_file(self.org, &content.sha256);
        let known = self.store.get_all(&contents.iter().map(key).collect::<Vec<_>>()).await?;
        let named = known.iter().filter(|item| Known::of(item) == Known::Named).filter_map(Key::of);
        let named: BTreeSet<Key> = named.collect();
        let new = contents.iter().filter(|content| !named.contains(&key(content)));
        let new: BTreeSet<&str> = new.map(|content| content.sha256.as_str()).collect();
        if !new.is_empty() {
            // The due entry comes first, so that every noted upload is checked again.
            let due = Update {
                key: keys::due(until, Due::Upload, self.org, call.request_id().uuid()),
                expression: "ADD #files :files",
                condition: "",
                names: vec![("#files", FILES)],
                values: vec![(":files", AttributeValue::Ss(new.iter().map(|&sha256| sha256.to_owned()).collect()))],
            };
            self.store.update(due).await?;
            try_join_all(new.iter().map(|sha256| self.note_upload(call, sha256))).await?;
        }
        Ok(contents.into_iter().map(|content| Upload { org: self.org, content }).collect())
    }

    /// Notes one upload. Waits for a removal that is under way.
    async fn note_upload(&self, call: &CallContext, sha256: &str) -> Result<(), StoreError> {
        retry_on_conflict(Budget::attempts(limits::UPLOAD_ATTEMPTS_MAX), || async move {
            let id = call.request_id().to_string();
            let noted = Update {
                key: keys::stored_file(self.org, sha256),
                expression: "ADD #uploads :calls",
                condition: "attribute_not_exists(#named) AND attribute_not_exists(#removing) AND (attribute_not_exists(#uploads) OR size(#uploads) < :most OR contains(#uploads, :call))",
                names: vec![("#uploads", UPLOADS), ("#named", NAMED), ("#removing", REMOVING)],
                values: vec![
                    (":calls", AttributeValue::Ss(vec![id.clone()])),
                    (":call", AttributeValue::S(id)),
                    (":most", AttributeValue::N(limits::UPLOADS_OF_FILE_MAX.to_string())),
                ],
            };
            if self.store.update(noted).await?.is_some() {
                return Ok(());
            }
            match self.known(sha256).await? {
                Known::Named => Ok(()),
                Known::Uploaded(calls) => {
                    self.settle(sha256, calls, Timestamp::now()).await?;
                    Err(StoreError::Conflict)
                }
                Known::Nothing | Known::Removing(_) => Err(StoreError::Conflict),
            }
        })
        .await
    }

    async fn known(&self, sha256: &str) -> Result<Known, StoreError> {
        let item = self.store.get(keys::stored_file(self.org, sha256)).await?;
        Ok(item.as_ref().map_or(Known::Nothing, Known::of))
    }

    /// Marks a file as named if one of its calls took effect; otherwise forgets the calls that have ended.
    async fn settle(&self, sha256: &str, calls: BTreeSet<RequestId>, now: Timestamp) -> Result<Known, StoreError> {
        let rows: Vec<Key> = calls.iter().map(|call| keys::audit(self.org, *call)).collect();
        let rows = self.store.get_all(&rows).await?;
        let rows: HashMap<Key, Item> = rows.into_iter().filter_map(|row| Some((Key::of(&row)?, row))).collect();
        let key = keys::stored_file(self.org, sha256);
        if rows.values().any(audit::took_effect) {
            let named = Update {
                key,
                expression: "SET #named = :true REMOVE #uploads",
                condition: "attribute_exists(#pk) AND attribute_not_exists(#removing)",
                names: vec![("#named", NAMED), ("#uploads", UPLOADS), ("#pk", PARTITION), ("#removing", REMOVING)],
                values: vec![(":true", AttributeValue::Bool(true))],
            };
            return self.store.update(named).await?.as_ref().map(Known::of).ok_or(StoreError::Conflict);
        }
        let has_ended = |call: &&RequestId| rows.contains_key(&keys::audit(self.org, **call)) || is_over(**call, now);
        let ended: Vec<String> = calls.iter().filter(has_ended).map(RequestId::to_string).collect();
        if ended.is_empty() {
            return Ok(Known::Uploaded(calls));
        }
        let forgotten = Update {
            key,
            expression: "DELETE #uploads :calls",
            condition: "attribute_exists(#pk)",
            names: vec![("#uploads", UPLOADS), ("#pk", PARTITION)],
            values: vec![(":calls", AttributeValue::Ss(ended))],
        };
        let left = self.store.update(forgotten).await?;
        Ok(left.as_ref().map_or(Known::Nothing, Known::of))
    }

    /// Begins to remove a file that a call uploaded, if nothing names it and no other call may.
    pub(crate) async fn begin_removal(
        &self,
        sha256: &str,
        call: RequestId,
        now: Timestamp,
    ) -> Result<Removal, StoreError> {
        let known = match self.known(sha256).await? {
            Known::Uploaded(calls) if !calls.is_empty() => self.settle(sha256, calls, now).await?,
            known => known,
        };
        let mut names = vec![("#removing", REMOVING), ("#pk", PARTITION)];
        let mut values = vec![(":now", AttributeValue::N(now.unix_ms().to_string()))];
        let condition = match known {
            Known::Nothing | Known::Named => return Ok(Removal::Kept),
            Known::Uploaded(calls) if calls.contains(&call) => return Ok(Removal::Later),
            Known::Uploaded(calls) if !calls.is_empty() => return Ok(Removal::Kept),
            Known::Removing(since) if now.unix_ms() < since.saturating_add(limits::FILE_REMOVAL_S * 1000) => {
                return Ok(Removal::Later);
            }
            Known::Uploaded(_) => {
                names.extend([("#uploads", UPLOADS), ("#named", NAMED)]);
                "attribute_exists(#pk) AND attribute_not_exists(#uploads) AND attribute_not_exists(#named) AND attribute_not_exists(#removing)"
            }
            Known::Removing(since) => {
                values.push((":since", AttributeValue::N(since.to_string())));
                "attribute_exists(#pk) AND #removing = :since"
            }
        };
        let begun = Update {
            key: keys::stored_file(self.org, sha256),
            expression: "SET #removing = :now",
            condition,
            names,
            values,
        };
        Ok(if self.store.update(begun).await?.is_some() { Removal::Begun } else { Removal::Later })
    }

    pub(crate) async fn end_removal(&self, sha256: &str) -> Result<(), StoreError> {
        self.store.delete(keys::stored_file(self.org, sha256)).await
    }
}

/// Whether a call has ended by now, whatever its outcome.
fn is_over(call: RequestId, now: Timestamp) -> bool {
    const BITS_BELOW_THE_TIME: u32 = 80;
    let began = i64::try_from(call.uuid().as_u128() >> BITS_BELOW_THE_TIME).unwrap_or(i64::MAX);
    began.saturating_add(limits::CALL_OVER_AFTER_S * 1000) <= now.unix_ms()
}

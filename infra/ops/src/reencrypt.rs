//! Seals all that older keys sealed with the current key, after the keyring was rotated: then an old key can be dropped, and
//! nothing is lost.

use std::path::Path;

use serde::{Deserialize, Serialize};
use shared::crypto::keyring::Keyring;
use shared::store::Store;
use shared::store::keys::Key;
use shared::store::resealing::Resealed;

use crate::walk::{Walk, WalkError};

/// What a walk did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reencrypted {
    /// How many items were sealed with the current key already.
    pub current: u64,
    /// How many were sealed anew.
    pub resealed: u64,
    /// How many changed just then, so that another walk has to look at them.
    pub changed: u64,
    /// How many do not open.
    pub lost: u64,
}

impl Reencrypted {
    /// Whether nothing needs an older key: a walk found nothing to do.
    #[must_use]
    pub fn needs_no_older_key(&self) -> bool {
        self.resealed == 0 && self.changed == 0 && self.lost == 0
    }
}

/// Seals what older keys of a keyring sealed with its current one, and tells `on` of every item that does not open. It can go
/// on beside traffic, and be repeated.
///
/// # Errors
/// [`WalkError`].
pub async fn reencrypt(
    store: &Store,
    keyring: &Keyring,
    resume: Option<&Path>,
    mut on: impl FnMut(&Key, &str, &dyn Fn(&str)),
) -> Result<Reencrypted, WalkError> {
    let does = format!("re-encrypt to the key {}", keyring.current());
    let mut walk = Walk::<Reencrypted>::begin(store, &does, resume).await?;
    while let Some(items) = walk.next_page().await? {
        for item in &items {
            match store.reseal(item, keyring).await? {
                Resealed::Nothing => {}
                Resealed::Current => walk.counts().current += 1,
                Resealed::Done => walk.counts().resealed += 1,
                Resealed::Changed => walk.counts().changed += 1,
                Resealed::Lost(why) => {
                    walk.counts().lost += 1;
                    if let Some(key) = Key::of(item) {
                        on(&key, &why, &|line| walk.say(line));
                    }
                }
            }
        }
        walk.note(u64::try_from(items.len()).unwrap_or_default())?;
    }
    Ok(walk.end().1)
}

//! After a rotation of the keyring, reseals with the current key, so that an old key can be dropped without loss.

use std::path::Path;

use serde::{Deserialize, Serialize};
use shared::crypto::keyring::Keyring;
use shared::store::Store;
use shared::store::keys::Key;
use shared::store::resealing::Resealed;

use crate::walk::{Walk, WalkError};

/// Items counted by a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reencrypted {
    /// The current key had sealed them already.
    pub current: u64,
    /// Sealed anew.
    pub resealed: u64,
    /// Changed meanwhile: another walk must look at them.
    pub changed: u64,
    /// No key of the keyring opens them.
    pub lost: u64,
}

impl Reencrypted {
    /// Whether no item needs an older key.
    #[must_use]
    pub fn needs_no_older_key(&self) -> bool {
        self.resealed == 0 && self.changed == 0 && self.lost == 0
    }
}

/// Reseals with the current key what older keys sealed; reports what doesn't open to `on`. Repeatable during traffic.
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

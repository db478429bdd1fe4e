//! Rewrites records of older schema versions (`ops migrate`).

use std::path::Path;

use shared::limits;
use shared::store::Store;
use shared::store::migrate::Migrated;
use shared::store::operator::Operator;

use crate::walk::{Walk, WalkError};

/// Rewrites or counts older records. Resumes an interrupted walk from the file, repeating the interrupted page.
pub async fn rewrite(store: &Store, is_dry: bool, resume: Option<&Path>) -> Result<Migrated, WalkError> {
    let does = if is_dry { "migrate --dry-run" } else { "migrate" };
    let mut walk = Walk::<Migrated>::begin(store, does, resume).await?;
    while !walk.is_over() {
        let page = Operator::new(store).migrate_page(walk.behind(), limits::TABLE_PAGE_ITEMS, is_dry);
        let (done, next) = page.await?;
        let looked_at = done.looked_at;
        walk.counts().add(done);
        walk.go_on_behind(next);
        walk.note(looked_at)?;
    }
    Ok(walk.end().1)
}

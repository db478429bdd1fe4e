//! Who counts as a second member, from the store.

use crate::domain::member::second::SecondMembers;
use crate::error::Error;
use crate::service::scope::Scope;

/// The organization's members, and their ties.
pub async fn load(scope: &Scope) -> Result<SecondMembers, Error> {
    let (members, (ties, departures)) = tokio::try_join!(scope.store().members(), scope.store().member_ties())?;
    Ok(SecondMembers { members, ties, departures, now: scope.now() })
}

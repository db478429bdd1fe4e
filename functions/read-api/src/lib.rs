//! The operations that read: `GET /api/v1/**`. One file per resource.

mod agreements;
mod contacts;
mod identity;
mod workspaces;

use shared::api::operation::Register;

/// Tells this function's operations.
pub fn operations(to: &mut impl Register) {
    to.read::<identity::GetIdentity>();
    to.read::<contacts::ListContacts>();
    to.read::<contacts::GetContact>();
    to.read::<workspaces::ListWorkspaces>();
    to.read::<workspaces::GetWorkspace>();
    to.read::<agreements::ListAgreements>();
    to.read::<agreements::GetAgreement>();
}

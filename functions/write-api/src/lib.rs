//! The operations that write, except proposals: `POST` and `PATCH /api/v1/**`. One file per resource.

mod agreements;
mod contacts;
mod workspaces;

use shared::api::operation::Register;

/// Tells this function's operations.
pub fn operations(to: &mut impl Register) {
    to.write::<contacts::CreateContact>();
    to.write::<contacts::UpdateContact>();
    to.write::<workspaces::CreateWorkspace>();
    to.write::<workspaces::AddWorkspaceContact>();
    to.write::<agreements::CreateAgreement>();
    to.write::<agreements::AddParticipant>();
}

//! The write operations except proposals and papering, `POST` and `PATCH /api/v1/**`, with a file per resource.

mod agreements;
mod contacts;
mod funding_items;
mod trusts;
mod workspaces;

use shared::api::operation::Register;

/// Registers this function's operations.
pub fn operations(routes: &mut impl Register) {
    routes.write::<contacts::CreateContact>();
    routes.write::<contacts::UpdateContact>();
    routes.write::<workspaces::CreateWorkspace>();
    routes.write::<workspaces::AddWorkspaceContact>();
    routes.write::<agreements::CreateAgreement>();
    routes.write::<agreements::AddParticipant>();
    routes.write::<trusts::CreateTrust>();
    routes.write::<funding_items::CreateFundingItem>();
    routes.write::<funding_items::UpdateFundingItem>();
    routes.write::<funding_items::ParkFundingItem>();
}

//! The operations on proposals. A proposal asks for a protected effect, which only a member can confirm, in the app.

mod proposals;

use shared::api::operation::Register;

/// Registers this function's operations.
pub fn operations(routes: &mut impl Register) {
    routes.write::<proposals::CreateProposal>();
    routes.read::<proposals::ListProposals>();
    routes.read::<proposals::GetProposal>();
}

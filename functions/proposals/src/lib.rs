//! The operations on proposals: protected effects that only a member of the organization decides, in the app.

mod proposals;

use shared::api::operation::Register;

/// Tells this function's operations.
pub fn operations(to: &mut impl Register) {
    to.write::<proposals::CreateProposal>();
    to.read::<proposals::ListProposals>();
    to.read::<proposals::GetProposal>();
}

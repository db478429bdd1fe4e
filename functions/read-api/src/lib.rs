//! The read operations, `GET /api/v1/**`, with a file per resource, and the documentation at `/docs`.

mod agreements;
mod contacts;
mod funding_items;
mod identity;
mod information;
mod ledger;
mod movements;
mod obligations;
mod trusts;
mod workspaces;

use shared::api::operation::Register;
use shared::api::page::{self, PublicPage};

/// The documentation page and its policy. `make generate` writes both files.
pub const DOCS: PublicPage = PublicPage {
    path: page::DOCS,
    operation: "view_docs",
    compressed: include_bytes!("../docs/page.html.gz"),
    policy: include_str!("../docs/policy.txt"),
};

/// Registers this function's operations.
pub fn operations(routes: &mut impl Register) {
    routes.read::<identity::GetIdentity>();
    routes.read::<contacts::ListContacts>();
    routes.read::<contacts::GetContact>();
    routes.read::<workspaces::ListWorkspaces>();
    routes.read::<workspaces::GetWorkspace>();
    routes.read::<agreements::ListAgreements>();
    routes.read::<agreements::GetAgreement>();
    routes.read::<information::ListInformation>();
    routes.read::<movements::ListMovements>();
    routes.read::<movements::GetMovement>();
    routes.read::<ledger::ListLedger>();
    routes.read::<obligations::ListObligations>();
    routes.read::<obligations::GetObligation>();
    routes.read::<trusts::ListTrusts>();
    routes.read::<funding_items::GetFundingSchedule>();
    routes.read::<funding_items::ListFundingItems>();
    routes.read::<funding_items::GetFundingItem>();
}

//! What the API shows: the responses, and the types of paths, a file per resource. A body is the input of a rule and
//! stands with it in [`domain`](crate::domain); the query of a list stands with its rows in [`store`](crate::store).

pub mod agreements;
pub mod contacts;
pub mod funding_items;
pub mod identity;
pub mod information;
pub mod ledger;
pub mod movements;
pub mod obligations;
pub mod proposals;
pub mod trusts;
pub mod workspaces;

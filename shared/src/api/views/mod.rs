//! The API's views: types of responses and paths, one file per resource. Body types are in [`domain`](crate::domain),
//! with their rules; list queries are in [`store`](crate::store), with their rows.

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

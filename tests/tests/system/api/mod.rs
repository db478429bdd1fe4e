//! The API: each operation's responses, and common rules.

mod agreements;
mod audit;
mod bodies;
mod contacts;
mod docs;
mod fields;
mod funding_items;
mod idempotency;
mod identity;
mod incomplete;
mod input;
mod large_pages;
mod ledger;
mod lists;
mod movements;
mod obligations;
mod openapi;
mod papering;
mod progress;
mod proposals;
pub(crate) mod protected;
mod rate_limit;
mod routes;
mod tokens;
mod trusts;
mod workspaces;

//! What the API shows: the responses, and the types of paths and queries, a file per resource. Bodies that are the input
//! of a rule are with the rule, in [`domain`](crate::domain).

pub mod agreements;
pub mod contacts;
pub mod identity;
pub mod proposals;
pub mod workspaces;

//! The use cases, each once, whoever starts it: an operation, a form, the clock, an operator, the demo.
//!
//! A use case takes what proves the right to it, loads what the rules need, calls the pure rule, and gives a plan
//! ([`scope::Plan`]): changes, checks, events, the ids shown, and its output. The entrance that called it commits the plan
//! and makes a response of the output.

pub mod agreements;
pub mod contacts;
pub mod deliveries;
pub mod due;
pub mod endpoints;
pub mod members;
pub mod precondition;
pub mod proposals;
pub mod scope;
pub mod system;
pub mod workspaces;

pub use scope::{Plan, Scope, Writer};

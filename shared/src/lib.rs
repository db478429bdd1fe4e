//! What every Countersign function shares: the pipeline each call goes through, the rules of the domain, and the store.
//!
//! One direction: function main → [`pipeline`] → operation → [`domain`] → [`store`] → response. Only the outermost file
//! of a function knows Lambda, only [`store`] knows `DynamoDB`, and [`domain`] does no I/O.

mod app;
pub mod aws;
pub mod caller;
pub mod config;
pub mod crypto;
pub mod domain;
pub mod draft;
pub mod error;
pub mod function;
pub mod input;
mod json;
pub mod limits;
pub mod membership;
pub mod openapi;
pub mod operation;
pub mod page;
pub mod pipeline;
pub mod seal;
pub mod session;
pub mod store;
pub mod telemetry;
pub mod text;
pub mod visit;
pub mod webhook;

pub use app::{App, Webhooks};

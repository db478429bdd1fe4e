//! The crate that all functions share, in layers: a layer uses only those below it (`tests/layers.rs` checks it).
//!
//! [`lambda`], [`api`] and [`web`] are the entrances; [`platform`] adapts the outside world; [`service`] has the use
//! cases; [`webhook`] delivers events; [`store`] alone knows `DynamoDB`; [`text`] has what people read; [`domain`] has
//! the rules, without I/O; [`wire`], [`crypto`], [`retry`] and [`limits`] are the base.

pub mod api;
pub mod crypto;
pub mod domain;
pub mod error;
#[cfg(feature = "lambda")]
pub mod lambda;
pub mod limits;
pub mod platform;
pub mod retry;
pub mod service;
pub mod store;
pub mod text;
pub mod web;
pub mod webhook;
pub mod wire;

pub use platform::app_state::{AppState, Webhooks};

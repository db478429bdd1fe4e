//! What a call of the API goes through.

pub mod caller;
mod incoming;
pub mod openapi;
pub mod operation;
pub mod pipeline;
pub mod preconditions;
pub mod views;

//! What a call of the API goes through.

pub mod caller;
pub mod openapi;
pub mod operation;
pub mod pipeline;
pub mod views;

//! Telling subscribers what happened: the signature of a delivery, where it may go, and one attempt at it.

pub mod client;
pub mod guard;
pub mod queue;
pub mod relay;
pub mod resolve;
pub mod signature;
#[cfg(test)]
mod testing;

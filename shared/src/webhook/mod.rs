//! Telling subscribers what happened: the signature of a delivery, where it may go, and one attempt at it.

pub mod client;
pub mod guard;
pub mod resolve;
pub mod secret;
pub mod signature;
#[cfg(test)]
mod testing;

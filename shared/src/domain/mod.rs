//! The rules, without I/O: types that are valid when they exist, and what may become of them.

pub mod actor;
pub mod agreement;
pub mod contact;
pub mod delivery;
pub mod endpoint;
pub mod event;
#[cfg(test)]
mod histories;
pub mod ids;
pub mod member;
pub mod movement;
pub mod organization;
pub mod proposal;
pub mod sentences;
pub mod time;
pub mod token;
pub mod workspace;

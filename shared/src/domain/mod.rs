//! The rules, without I/O: types that are valid when they exist, and what may become of them.

pub mod contact;
pub mod ids;
pub mod organization;
pub mod time;
pub mod token;
pub mod workspace;

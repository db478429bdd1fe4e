//! How values are read and written.

pub(crate) mod enums;
pub mod fields;
pub mod input;
mod json;
pub mod page;
pub mod text;

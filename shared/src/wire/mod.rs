//! How values are read and written.

pub mod fields;
pub mod input;
mod json;
pub mod page;
pub mod text;

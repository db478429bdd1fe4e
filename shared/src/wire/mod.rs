//! Reading and writing values: JSON, queries, validation errors, enumerations, lists.

pub(crate) mod body;
pub(crate) mod enums;
pub mod fields;
pub mod input;
pub(crate) mod json;
pub mod page;
pub mod path;
pub mod text;

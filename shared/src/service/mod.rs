//! The use cases, each once, whoever starts it.

pub mod drafts;
pub mod members;

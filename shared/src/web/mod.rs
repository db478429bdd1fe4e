//! What a request to the app goes through.

pub mod request;
pub mod session;

pub use request::Request;

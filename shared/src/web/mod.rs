//! What a request to the app goes through: the session, the check of forms, the audit row.

pub mod client_address;
pub mod cookies;
pub mod form;
pub mod login;
pub mod next;
pub mod request;
pub mod session;

pub use form::{Form, SubmittedForm};
pub use request::Request;

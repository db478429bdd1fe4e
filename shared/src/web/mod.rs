//! The pipeline of a request to the app: session, CSRF check, form, audit row.
//!
//! - Decision: a flash (a new signing secret, a removed member's name) travels from form to page in a sealed cookie for
//!   two minutes. A form answers with a redirect, no store keeps the text, and in a URL it could be forged.
//! - Decision: a form names its redirect before it commits, and keeps it if the commit's response is lost.

pub mod client_address;
pub mod cookies;
pub mod entrance;
pub mod flash;
pub mod form;
mod form_copy;
pub mod next;
mod owner_hint;
mod participant_cookies;
pub mod participant_link;
pub mod redirect;
pub mod request;
mod sign_in;
pub mod submitted_form;

pub use crate::service::form_copies::FormAnswer;
pub use crate::service::submitter::Submitter;
pub use flash::Flash;
pub use form::{FILES, Form, FormKeys};
pub use form_copy::Repeat;
pub use redirect::Redirect;
pub use request::Request;
pub use submitted_form::SubmittedForm;

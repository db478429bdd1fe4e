//! The pipeline of a request to the app: session, CSRF check, form, audit row.
//!
//! - Decision: failed logins count by device where someone has signed in before, and elsewhere by account and by
//!   address. Otherwise guessing could lock out the owner; a count per pair would only cost attackers more addresses.
//! - Decision: a flash (a new signing secret, a removed member's name) travels from form to page in a sealed cookie for
//!   two minutes. A form answers with a redirect, no store keeps the text, and in a URL it could be forged.
//! - Decision: a form names its redirect before it commits, and keeps it if the commit's response is lost.

pub mod client_address;
pub mod cookies;
mod credentials;
pub mod entrance;
pub mod flash;
pub mod form;
mod form_copy;
pub mod link_holder;
pub mod login;
pub mod member_call;
pub mod next;
pub mod own_account;
mod owner_hint;
pub mod participant_link;
pub mod participant_session;
pub mod redirect;
pub mod request;
pub mod second_factor;
mod second_step;
pub mod session;
pub mod submitted_form;

pub use crate::store::form_copies::FormAnswer;
pub use flash::Flash;
pub use form::{FILES, Form, FormKeys};
pub use form_copy::Repeat;
pub use redirect::Redirect;
pub use request::Request;
pub use submitted_form::{SubmittedForm, Submitter};

//! The pipeline of a request to the app: session, CSRF check, form, audit row.
//!
//! - Decision: failed logins count by device in a browser that has signed in to the account before, and elsewhere by
//!   account and by address. Otherwise someone could lock out the account's owner by guessing wrong on purpose; a count
//!   per account and address together would only cost an attacker a few more addresses.
//! - Decision: a flash (a new signing secret, a removed member's name) travels from the form's handler to the page in a
//!   cookie, sealed for the session together with its time, and opens for two minutes. A form answers with a redirect,
//!   and no store keeps the text. A name in the URL could be forged.
//! - Decision: a form names its redirect before it commits. If the commit takes effect and its response is lost, the
//!   form still gets the same redirect and cookie: a new secret is shown, and no link leads to a missing page.

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

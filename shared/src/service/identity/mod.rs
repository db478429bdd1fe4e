//! Who calls: signing in, sessions, links, invitations, passwords and second factors. The entrance has what browsers
//! keep and show; each use case is here.
//!
//! - Decision: failed logins count by device where someone has signed in before, and elsewhere by account and by
//!   address. Otherwise guessing could lock out the owner; a count per pair would only cost attackers more addresses.

pub mod account;
mod attempts;
pub mod call;
mod credentials;
pub mod demo_call;
pub mod invitations;
pub mod link_codes;
pub mod participant_links;
pub mod participant_sessions;
pub mod password_links;
pub mod second_factors;
pub mod sessions;
pub mod sign_in;

pub use call::BrowserCall;
pub use credentials::SecondStep;

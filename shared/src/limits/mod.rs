//! Every limit of the service, each with its unit and reason.
//!
//! - Decision: a page of more than 6.2 MB is refused with 422 `limit`, since Lambda refuses it without an envelope.
//! - Decision: a response has at most 100 field errors, the last of which counts the rest, for the same limit.
//! - Decision: bodies of up to 8 MiB are received before the 422: an honest client sees it, not a broken connection.

mod agreements;
mod files;
mod funding;
mod identity;
mod obligations;
mod pages;
mod payments;
mod requests;
mod store;
mod texts;
mod webhooks;

pub use agreements::*;
pub use files::*;
pub use funding::*;
pub use identity::*;
pub use obligations::*;
pub use pages::*;
pub use payments::*;
pub use requests::*;
pub use store::*;
pub use texts::*;
pub use webhooks::*;

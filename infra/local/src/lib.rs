//! The local stack: the same functions that run on Lambda, in one process, on a store that is a
//! file in a data directory. A person starts it with `make run`; the tests start it in process.
//!
//! What is emulated is only what AWS would provide: DynamoDB (`embedded`), the gateway and the
//! schedule of the clock (`stack`). Every rule is in the functions themselves.
//!
//! Decision: the process itself tells the relay what it writes, and only the webhook tests of `make test-aws` read the
//! table's stream, as Lambda does. On the embedded store each write would scan all records of the stream, and with
//! DynamoDB Local it takes three times as long.

mod background;
mod banner;
mod browser;
mod command;
mod credentials;
mod data_dir;
mod demo;
mod embedded;
mod error;
mod guard;
mod listen;
mod options;
mod pdf;
mod private_file;
mod queue;
mod ready;
mod seed;
mod stack;
mod stream;

pub use command::main;
pub use error::StartError;
pub use guard::PublicOrLoopback;
pub use options::{Options, Seed, StoreAt};
pub use queue::{LocalQueue, Sending};
pub use ready::{Member, Organization, ReadyFile};
pub use stack::Stack;

use shared::api::operation::Register;

/// The whole HTTP API: the operations of all functions together, as the gateway shows them.
pub fn operations(to: &mut impl Register) {
    read_api::operations(to);
    write_api::operations(to);
    proposals::operations(to);
}

/// The description of the whole API, as `shared/openapi.json` keeps it.
#[must_use]
pub fn openapi_json() -> String {
    let mut description = shared::api::openapi::Description::new();
    operations(&mut description);
    description.into_json()
}

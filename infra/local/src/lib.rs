//! The local stack: the functions in one process, on a store in a file, for people (`make run`) and for tests.
//!
//! The stack emulates only AWS: DynamoDB (`store`), the gateway (`server`), queues and schedule (`background`).
//!
//! Decision: the process tells the relay of its own writes; only webhook tests of `make test-aws` read the table's
//! stream, as Lambda does. Embedded, each write would scan all stream records; DynamoDB Local would be slower.
//!
//! A module uses only modules below it, which a test ensures. From top to bottom:
//!
//! | Module | |
//! |---|---|
//! | `command` | runs what the command line asks for: `serve` or `listen` |
//! | `cli` | the command line |
//! | `stack` | starts and stops a stack: `serve` |
//! | `listen` | a subscriber that prints deliveries: `listen` |
//! | `seed` | the data that a stack starts with |
//! | `functions` | the functions, with one state and one router |
//! | `gateway` | which function answers what |
//! | `background` | what runs without a request: relay, deliveries, clock |
//! | `store` | the embedded store, or one elsewhere |
//! | `server` | HTTP on a port |
//! | `console` | terminal output |
//! | `data` | the files of a data directory |
//! | `calls` | which function makes which calls |
//! | `options`, `guard`, `subscribers`, `error` | what all of them use |

mod background;
mod calls;
mod cli;
mod command;
mod console;
mod data;
mod error;
mod functions;
pub mod gateway;
mod guard;
mod listen;
mod options;
mod seed;
mod server;
mod stack;
mod store;
mod subscribers;

pub use background::{DeliveryWorker, LocalQueue};
pub use calls::Calls;
pub use command::main;
pub use data::{Member, Organization, ReadyFile};
pub use error::StartError;
pub use functions::{documentation, openapi_json, operations, tools_json};
pub use guard::PublicOrLoopback;
pub use options::{Options, Seed, StoreAt};
pub use stack::Stack;
pub use store::contention::Contention;
pub use store::partitions::Partitions;
pub use subscribers::Subscribers;

pub use pictures::read_pdf_if_asked;

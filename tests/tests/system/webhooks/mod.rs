//! Webhooks, from an event to its subscriber.

mod deliveries;
mod endpoint_deliveries;
mod endpoints;
mod faults;
mod keys;
pub(crate) mod lambda;
mod listen;
mod lost_answers;
mod schedule;
mod sender_simulation;
mod vectors;

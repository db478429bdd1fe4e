//! Every text for people that the API gives, and what the app says about an agreement. Texts change freely; clients branch
//! on enums.
//!
//! `status` has an agreement's `status` and a gate's `waiting_on`; `review` what ends in `_sentence`, what a gate asks
//! for, and what a decision does; `changes` what has changed since a proposal was made; `terms` roles, amounts and the
//! terms of a SAFE. When an event is sent is declared with the event, in [`event`](super::event).

mod changes;
mod names;
mod review;
mod status;
mod terms;

pub use changes::changes_since;
pub use review::{effects, proposal_summary, requirement, size, stage_action, time_left};
pub use status::{agreement_status, waiting_on};
pub use terms::{amount, role, terms};

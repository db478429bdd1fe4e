//! Webhooks: the relay from events to deliveries, the queue, the address guard, signatures, and attempts.
//!
//! - Decision: every attempt has its own connection to an address checked just before. A connection pool could reuse a
//!   connection to another host, and an HTTP library made for browsers would follow redirects and use proxies.
//! - Decision: the operating system resolves names, within 5 s. Our own resolver would add 290 KB to each function.
//! - Decision: resumed deliveries are due 25 ms apart, in their events' order: a paused endpoint isn't flooded.
//! - Decision: a message's group is its organization: standard queues are fair among groups, so each has one share,
//!   however many endpoints hang. Among its own, a sender has five attempts under way at one and puts others back.

pub mod client;
pub mod guard;
pub mod queue;
pub mod relay;
pub mod resolve;
pub mod signature;
#[cfg(test)]
mod testing;

//! Webhooks: the relay from events to deliveries, the queue, the address guard, signatures, and attempts.
//!
//! Decision: every attempt has a connection of its own, to an address that was checked just before. No pool can then
//! hold a connection to another host; a library made for browsers would follow redirects, use proxies and
//! keep pools.
//!
//! Decision: the system looks up names (`getaddrinfo`), as absolute names, within 5 s. A resolver of our own would add
//! 290 KB to each function, and the guard checks every answer, so it does not matter who answers.
//!
//! Decision: resumed deliveries become due 25 ms apart, in the order of their events, because an endpoint that was
//! paused for a day should not get everything within a second.
//!
//! Decision: messages carry their endpoint as the group, because standard queues are fair among groups: a storm at one
//! endpoint or organization does not hold up the others. FIFO queues would cost extra for an order that nothing needs.

pub mod client;
pub mod guard;
pub mod queue;
pub mod relay;
pub mod resolve;
pub mod signature;
#[cfg(test)]
mod testing;

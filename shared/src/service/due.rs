//! What the clock writes down: what became of an entry of the due index.

/// What became of an entry of the due index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It was due, and what follows is written down.
    Settled,
    /// It had been settled already: the entry goes.
    Stale,
    /// By the clock of this call it is not time yet: the entry stays.
    Early,
}

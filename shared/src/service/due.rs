//! The result of settling an entry of the due index.

/// The result of settling an entry of the due index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// The record was due, and its next state is recorded.
    Settled,
    /// The record was already settled: the entry is to be deleted.
    Stale,
    /// By this call's clock the record is not due yet: the entry stays.
    Early,
}

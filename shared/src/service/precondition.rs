//! What a caller expects of the record that is to be changed.

use crate::error::Error;

/// The versions that a change is meant for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Whatever version the record has.
    #[default]
    Any,
    /// One of these.
    OneOf(Vec<u64>),
}

impl ExpectedVersion {
    /// Checks the version of the record.
    ///
    /// # Errors
    /// [`Error::StaleMatch`] when another one is expected.
    pub fn check(&self, version: u64) -> Result<(), Error> {
        match self {
            Self::OneOf(expected) if !expected.contains(&version) => Err(Error::StaleMatch),
            Self::Any | Self::OneOf(_) => Ok(()),
        }
    }
}

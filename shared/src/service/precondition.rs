//! The precondition of a change, on its record's version.

use crate::error::Error;

/// The versions to which a change applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Any version.
    #[default]
    Any,
    /// One of these.
    OneOf(Vec<u64>),
}

impl ExpectedVersion {
    /// Checks the version of the record; [`Error::StaleMatch`] if it is unexpected.
    pub fn check(&self, version: u64) -> Result<(), Error> {
        match self {
            Self::OneOf(expected) if !expected.contains(&version) => Err(Error::StaleMatch),
            Self::Any | Self::OneOf(_) => Ok(()),
        }
    }
}

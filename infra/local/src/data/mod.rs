//! The files of a data directory. [`DataDir`] has the list.

mod credentials;
mod directory;
mod private_file;
mod ready_file;

pub(crate) use credentials::{Credentials, OrganizationCredentials, StoredToken};
pub(crate) use directory::{DataDir, check_disk_full};
pub use ready_file::{Member, Organization, ReadyFile};

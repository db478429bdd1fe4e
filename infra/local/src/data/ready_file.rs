//! The ready file: the running stack's addresses, tokens and passwords, for people and programs.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::private_file;
use crate::error::StartError;

/// The content of the ready file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyFile {
    /// The API's address and the origin of every link.
    pub base_url: String,
    /// The app's address.
    pub app_url: String,
    /// At least two.
    pub organizations: Vec<Organization>,
}

/// An organization's tokens and members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its scope is `read_write`.
    pub read_write_token: String,
    /// Its scope is `read`.
    pub read_only_token: String,
    /// Can sign in. The first is an admin.
    pub members: Vec<Member>,
}

/// A person who can sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The person's name.
    pub name: String,
    /// For signing in. Unique over all organizations.
    pub email: String,
    /// For signing in.
    pub password: String,
    /// `admin` or `member`.
    pub role: String,
}

impl ReadyFile {
    /// Removes an earlier stack's file and checks that a new one can be written: first, before anything else changes.
    pub(crate) fn prepare(path: &Path) -> Result<(), StartError> {
        if path.is_dir() {
            return Err(cannot_write(path)(io::ErrorKind::IsADirectory.into()));
        }
        private_file::remove(path).map_err(cannot_write(path))?;
        let folder = private_file::folder_of(path);
        std::fs::create_dir_all(folder).map_err(cannot_write(path))?;
        tempfile::tempfile_in(folder).map_err(cannot_write(path))?;
        Ok(())
    }

    /// Writes the file atomically, readable by its owner only.
    pub(crate) fn write(&self, path: &Path) -> Result<(), StartError> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| cannot_write(path)(error.into()))?;
        text.push(b'\n');
        private_file::write(path, &text).map_err(cannot_write(path))
    }

    /// The file's content, if present and valid.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    pub(crate) fn remove(path: &Path) -> io::Result<()> {
        private_file::remove(path)
    }
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> StartError {
    move |error| StartError::ReadyFile { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_exactly_the_documented_shape() {
        let ready = ReadyFile {
            base_url: "http://127.0.0.1:8080".into(),
            app_url: "http://127.0.0.1:8080/app".into(),
            organizations: vec![Organization {
                id: "o".into(),
                name: "n".into(),
                read_write_token: "w".into(),
                read_only_token: "r".into(),
                members: vec![Member {
                    name: "m".into(),
                    email: "e".into(),
                    password: "p".into(),
                    role: "admin".into(),
                }],
            }],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ready.json");
        ready.write(&path).unwrap();
        let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            written,
            serde_json::json!({
                "base_url": "http://127.0.0.1:8080",
                "app_url": "http://127.0.0.1:8080/app",
                "organizations": [{
                    "id": "o", "name": "n", "read_write_token": "w", "read_only_token": "r",
                    "members": [{"name": "m", "email": "e", "password": "p", "role": "admin"}],
                }],
            })
        );
        assert_eq!(ReadyFile::read(&path), Some(ready));
    }
}

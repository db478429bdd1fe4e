//! The ready file: where a running stack answers and as whom to call it, for people and programs.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::private_file;

/// What the ready file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyFile {
    /// Where the API answers; the origin of every link.
    pub base_url: String,
    /// Where the app answers.
    pub app_url: String,
    /// At least two.
    pub organizations: Vec<Organization>,
}

/// An organization and the ways into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A token that may write.
    pub read_write_token: String,
    /// A token that may only read.
    pub read_only_token: String,
    /// Who can sign in. The first is an admin.
    pub members: Vec<Member>,
}

/// Somebody who can sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The person's name.
    pub name: String,
    /// The e-mail address to sign in with, in no other organization.
    pub email: String,
    /// The password to sign in with.
    pub password: String,
    /// `admin` or `member`.
    pub role: String,
}

impl ReadyFile {
    /// Writes it, whole or not at all, for its owner only.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        private_file::write(path, &text)
    }

    /// Reads one, if there is one.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
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

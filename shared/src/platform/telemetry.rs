//! The log: one JSON line per call. Lines hold ids, codes and figures, and no text of a user.
//!
//! No line declares metrics (CloudWatch's embedded metric format): each figure of each operation would be one, some 900 in all,
//! which cost more than everything else at little load. The template makes the few that alarms need from the lines, and
//! queries over them answer the rest (the operators' handbook, `Logs`).

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::domain::audit::Via;
use crate::domain::ids::{MemberId, OrgId, RequestId, TokenId};
use crate::store::Usage;

/// The log.
#[derive(Clone)]
pub struct Log(Arc<Mutex<Target>>);

enum Target {
    Stdout,
    File(File),
}

impl Log {
    /// A log to the standard output, which Lambda collects.
    #[must_use]
    pub fn stdout() -> Self {
        Self(Arc::new(Mutex::new(Target::Stdout)))
    }

    /// A log that appends to a file.
    ///
    /// # Errors
    /// When the file can't be opened.
    pub fn file(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Arc::new(Mutex::new(Target::File(file)))))
    }

    /// Writes a line. Errors are dropped, because a log that can't be written must not fail a call.
    pub fn line(&self, line: &impl Serialize) {
        let Ok(mut bytes) = serde_json::to_vec(line) else { return };
        bytes.push(b'\n');
        let mut target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = match &mut *target {
            Target::Stdout => io::stdout().lock().write_all(&bytes),
            Target::File(file) => file.write_all(&bytes),
        };
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// The line of a call.
#[derive(Debug, Serialize)]
pub struct CallLine<'a> {
    /// The id that the client gets.
    pub request_id: RequestId,
    /// The operation's id, or `none`.
    pub operation: &'a str,
    /// The organization, if it is known.
    pub organization_id: Option<OrgId>,
    /// The token, if it is known.
    pub token_id: Option<TokenId>,
    /// The member, in the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_id: Option<MemberId>,
    /// The entrance that the call came through, unless it was HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// The HTTP status.
    pub status: u16,
    /// `ok`, `replayed`, or the error's code.
    pub code: &'a str,
    /// From the request to the response.
    pub duration_ms: f64,
    /// The capacity units of the call.
    pub read_units: f64,
    /// See `read_units`.
    pub write_units: f64,
    /// The calls of the table.
    pub round_trips: u32,
    /// How many times the call waited for the table: calls under way together are one wait.
    pub waits: u32,
    /// The attempts at them beyond the first.
    pub retries: u32,
    /// 1 if the service failed.
    pub faults: u8,
    /// The internal cause of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl<'a> CallLine<'a> {
    /// The line of a call that ends now.
    #[must_use]
    pub fn new(
        request_id: RequestId,
        operation: &'a str,
        status: u16,
        code: &'a str,
        duration_ms: f64,
        usage: Usage,
    ) -> Self {
        Self {
            request_id,
            operation,
            organization_id: None,
            token_id: None,
            member_id: None,
            via: None,
            status,
            code,
            duration_ms,
            read_units: usage.read_units,
            write_units: usage.write_units,
            round_trips: usage.round_trips,
            waits: usage.waits,
            retries: usage.retries,
            faults: u8::from(status >= 500),
            cause: None,
        }
    }
}

//! The log: one JSON line per call, with ids, codes and figures, and no user's text.
//!
//! No line declares metrics (CloudWatch's embedded metric format): one per figure and operation would be some 900,
//! which at low load cost more than everything else. The template derives the few that alarms need from the lines;
//! queries answer the rest (the operators' handbook, `Logs`).

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
    /// Logs to the standard output, which Lambda collects.
    #[must_use]
    pub fn stdout() -> Self {
        Self(Arc::new(Mutex::new(Target::Stdout)))
    }

    /// Appends to a file.
    ///
    /// # Errors
    /// If the file can't be opened.
    pub fn file(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Arc::new(Mutex::new(Target::File(file)))))
    }

    /// Writes a line. Drops errors: a log that can't be written must not fail a call.
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

/// A call's line.
#[derive(Debug, Serialize)]
pub struct CallLine<'a> {
    /// The id that the client gets.
    pub request_id: RequestId,
    /// The operation's id, or `none`.
    pub operation: &'a str,
    /// The organization, if known.
    pub organization_id: Option<OrgId>,
    /// The token, if known.
    pub token_id: Option<TokenId>,
    /// The member, in the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_id: Option<MemberId>,
    /// The entrance, unless HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// The HTTP status.
    pub status: u16,
    /// `ok`, `replayed`, or the error's code.
    pub code: &'a str,
    /// From request to response.
    pub duration_ms: f64,
    /// Capacity units read.
    pub read_units: f64,
    /// Capacity units written.
    pub write_units: f64,
    /// Calls of the table.
    pub round_trips: u32,
    /// Waits for the table: simultaneous calls count as one.
    pub waits: u32,
    /// Attempts at the table's calls beyond the first.
    pub retries: u32,
    /// 1 if the service failed.
    pub faults: u8,
    /// A failure's internal cause.
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

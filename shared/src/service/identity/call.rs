//! What use cases of identity know of a call, and how they commit: their scope is known only once they have decided.

use std::ops::Deref;
use std::sync::Arc;

use crate::crypto::CookieSecret;
use crate::crypto::keyring::Keyring;
use crate::crypto::keys::Keys;
use crate::error::Error;
use crate::retry::retry_on_conflict;
use crate::service::call_record::CallRecord;
use crate::service::scope::{Plan, Scope};

/// A call from a browser, signed in or not.
#[derive(Debug)]
pub struct BrowserCall<'a> {
    pub(crate) record: &'a CallRecord,
    /// The encryption keys, in a function that is set up for them.
    pub(crate) keys: Option<&'a dyn Keys>,
    /// The network that the call comes from, by which failed attempts count.
    pub(crate) network: String,
    /// The name of the browser's program, as it says.
    pub(crate) user_agent: Option<&'a str>,
    /// The secret of the browser's session, whether it is alive or not.
    pub(crate) session: Option<CookieSecret>,
    /// The secret of a browser in which someone has signed in.
    pub(crate) device: Option<CookieSecret>,
    /// The ids in the path, 16 bytes each, for the audit row.
    pub(crate) named: Vec<u8>,
}

/// What an attempt at a use case decided.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one at a time, for the time of an attempt")]
pub(crate) enum Decided<T> {
    /// To commit a plan in its scope.
    Act(Scope, Plan<T>),
    /// To change nothing.
    Nothing(T),
}

impl<T> Decided<T> {
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Decided<U> {
        match self {
            Self::Act(scope, plan) => Decided::Act(scope, plan.map(make)),
            Self::Nothing(output) => Decided::Nothing(make(output)),
        }
    }
}

impl Deref for BrowserCall<'_> {
    type Target = CallRecord;

    fn deref(&self) -> &CallRecord {
        self.record
    }
}

impl BrowserCall<'_> {
    pub(crate) fn keys(&self) -> Result<&dyn Keys, Error> {
        self.keys.ok_or_else(|| Error::Internal("this function is not set up for keys".to_owned()))
    }

    pub(crate) async fn keyring(&self) -> Result<Arc<Keyring>, Error> {
        Ok(self.keys()?.keyring().await?)
    }

    /// Decides and commits, again after each conflict until the write deadline, and returns the output.
    pub(crate) async fn run<T, F>(&self, mut decide: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Decided<T>, Error>>,
    {
        retry_on_conflict(self.write_budget(), || {
            let decided = decide();
            async {
                match decided.await? {
                    Decided::Act(scope, plan) => self.commit(&scope, plan, None).await,
                    Decided::Nothing(output) => Ok(output),
                }
            }
        })
        .await
    }
}

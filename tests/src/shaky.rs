//! A stack for browsers with breakable store calls: things can happen between a form's decision and its write.

use std::sync::Arc;

use futures_util::future::{LocalBoxFuture, join};

use crate::app::{Browser, Person};
use crate::faults::{Fault, Faults, Rule};
use crate::org::Org;
use crate::stack::Stack;

/// A second stack on an organization's table, without background, behind a proxy.
#[derive(Debug)]
pub struct Shaky {
    // Dropped before its proxy.
    stack: Arc<Stack>,
    /// The proxy.
    pub faults: Faults,
}

impl Shaky {
    /// Beside an organization's own stack, which must live as long.
    #[must_use]
    pub fn beside(org: &Org) -> Self {
        let faults = Faults::before(&org.stack().table().endpoint);
        Self { stack: org.stack().through(&faults), faults }
    }

    /// A new browser on this stack, without cookies.
    #[must_use]
    pub fn browser(&self) -> Browser {
        Browser::new(&self.stack.base_url)
    }

    /// A browser on this stack that is signed in.
    pub async fn browser_of(&self, person: &Person) -> Browser {
        let browser = self.browser();
        let page = browser.sign_in(&person.email, &person.password, "/app").await;
        assert_eq!((page.status, page.location()), (303, "/app"), "{}", page.body);
        browser
    }

    /// Runs `done` while the first call that fits a rule is held, with its retries, which a busy machine may cause.
    pub fn meanwhile<'a, T: 'a>(
        &'a self,
        calls: Rule,
        request: impl Future<Output = T> + 'a,
        done: impl Future<Output = ()> + 'a,
    ) -> LocalBoxFuture<'a, T> {
        let held = self.faults.inject(calls, Fault::Held);
        let done = async move {
            held.wait_for_hits(1).await;
            done.await;
            held.end();
        };
        Box::pin(async move { join(request, done).await.0 })
    }
}

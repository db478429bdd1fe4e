//! A stack whose every call of the store can be broken, for people in their browsers: to do something at the moment when
//! a form has been decided and is about to be written.

use std::sync::Arc;

use futures_util::future::join;

use crate::app::{Browser, Person};
use crate::faults::{Fault, Faults, Rule};
use crate::org::Org;
use crate::stack::Stack;

/// A second stack on an organization's table, without a background, behind a proxy.
#[derive(Debug)]
pub struct Shaky {
    // Dropped before the proxy that it goes through.
    stack: Arc<Stack>,
    /// The proxy.
    pub faults: Faults,
}

impl Shaky {
    /// The one beside an organization's own stack, which has to live as long.
    #[must_use]
    pub fn beside(org: &Org) -> Self {
        let faults = Faults::before(&org.stack().table().endpoint);
        Self { stack: org.stack().through(&faults), faults }
    }

    /// A new browser there, without cookies.
    #[must_use]
    pub fn browser(&self) -> Browser {
        Browser::new(&self.stack.base_url)
    }

    /// One that is signed in.
    ///
    /// # Panics
    /// When signing in does not work.
    pub async fn browser_of(&self, person: &Person) -> Browser {
        let browser = self.browser();
        let page = browser.sign_in(&person.email, &person.password, "/app").await;
        assert_eq!((page.status, page.location()), (303, "/app"), "{}", page.body);
        browser
    }

    /// What comes of something, with something else that is done when it makes the first of the calls of a rule.
    ///
    /// # Panics
    /// When it makes none.
    pub async fn meanwhile<T>(&self, calls: Rule, of: impl Future<Output = T>, done: impl Future<Output = ()>) -> T {
        let held = self.faults.inject(calls.times(1), Fault::Held);
        let done = async {
            held.befallen(1).await;
            done.await;
            held.end();
        };
        join(of, done).await.0
    }
}

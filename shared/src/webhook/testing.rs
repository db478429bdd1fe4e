//! What tests of webhooks share.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::guard::{Guard, PublicOnly, Scheme};
use super::resolve::{Resolve, Resolving};

/// Answers every name with the first of its answers, then the second, and so on; the last stays.
#[derive(Debug)]
pub(super) struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    pub(super) fn always(answer: &[IpAddr]) -> Self {
        Self::in_turn(&[answer])
    }

    pub(super) fn in_turn(answers: &[&[IpAddr]]) -> Self {
        Self { answers: answers.iter().map(|answer| answer.to_vec()).collect(), asked: AtomicUsize::new(0) }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[turn.min(self.answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    }
}

/// Lets through what a test listens on, beside the public.
#[derive(Debug)]
pub(super) struct WithLoopback;

impl Guard for WithLoopback {
    fn allows_scheme(&self, _scheme: Scheme) -> bool {
        true
    }

    fn allows_name(&self, name: &str) -> bool {
        PublicOnly.allows_name(name)
    }

    fn allows_address(&self, scheme: Scheme, address: IpAddr) -> bool {
        address.is_loopback() || PublicOnly.allows_address(scheme, address)
    }
}

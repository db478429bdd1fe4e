//! Digests of what a page showed, part by part: a refused decision says which parts have changed since.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;

use crate::crypto;
use crate::domain::member::Changed;

/// The digits of each part. Few suffice: nobody searches for another content with the same digits.
const DIGITS: usize = 16;
const BETWEEN: &str = "-";

/// A part of what a page showed.
pub trait ShownPart: Copy + 'static {
    /// All parts, in the order of the digests.
    const ALL: &'static [Self];
}

impl ShownPart for Changed {
    const ALL: &'static [Self] = &[Self::Agreement, Self::References];
}

/// A digest of each part of what a page showed. The form of a decision carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<P> {
    digests: Vec<String>,
    parts: PhantomData<P>,
}

impl<P: ShownPart> Shown<P> {
    pub(super) fn of(digest: impl FnMut(P) -> String) -> Self {
        Self { digests: P::ALL.iter().copied().map(digest).collect(), parts: PhantomData }
    }

    /// What a form carries. Invalid text matches nothing.
    #[must_use]
    pub fn from_form(text: &str) -> Self {
        Self { digests: text.split(BETWEEN).map(str::to_owned).collect(), parts: PhantomData }
    }

    /// Whether a form carried a digest of each part.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.digests.len() == P::ALL.len()
    }

    /// What has changed between the page and now, in the order of the parts.
    #[must_use]
    pub fn changed_to(&self, now: &Self) -> Vec<P> {
        if !self.is_readable() {
            return P::ALL.to_vec();
        }
        let changed = |(at, part): (usize, &P)| (self.digests.get(at) != now.digests.get(at)).then_some(*part);
        P::ALL.iter().enumerate().filter_map(changed).collect()
    }
}

impl<P> fmt::Display for Shown<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.digests.join(BETWEEN))
    }
}

pub(super) fn digest(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).unwrap_or_default();
    let mut digits = crypto::hex(&crypto::fingerprint(&[&json]));
    digits.truncate(DIGITS);
    digits
}

//! What a page showed of an agreement when a member decided on it.

use std::collections::BTreeSet;
use std::fmt;

use crate::crypto;
use crate::domain::agreement::warnings::{self, Warning, WarningKind};
use crate::domain::member::Changed;
use crate::service::loaded_agreement::LoadedAgreement;

/// A fingerprint of what a page showed, with the warnings ticked: a member confirms exactly what they saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFingerprint {
    /// The agreement's version.
    agreement: u64,
    /// A fingerprint of the participants and the workspace.
    references: String,
    /// What the member has ticked.
    meant: BTreeSet<WarningKind>,
}

impl ReviewFingerprint {
    pub(super) fn of(loaded: &LoadedAgreement) -> Self {
        let workspace = loaded.workspace();
        let mut parts = vec![
            workspace.id().to_string(),
            workspace.name.as_str().to_owned(),
            workspace.activated_at().is_some().to_string(),
        ];
        parts.extend(loaded.participants().iter().map(|contact| format!("{} {}", contact.id, contact.version())));
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        Self {
            agreement: loaded.agreement().version(),
            references: crypto::hex(&crypto::fingerprint(&parts)),
            meant: BTreeSet::new(),
        }
    }

    /// The same with what the member has ticked.
    #[must_use]
    pub fn with_meant(self, meant: impl IntoIterator<Item = WarningKind>) -> Self {
        Self { meant: meant.into_iter().collect(), ..self }
    }

    /// The warnings that need a tick and have none.
    pub(super) fn not_meant(&self, now: &[Warning]) -> BTreeSet<WarningKind> {
        warnings::to_tick(now).difference(&self.meant).copied().collect()
    }

    /// The fingerprint from a form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (agreement, references) = text.split_once('-')?;
        let (agreement, references) = (agreement.parse().ok()?, references.to_owned());
        Some(Self { agreement, references, meant: BTreeSet::new() })
    }

    /// What has changed between the page and now.
    #[must_use]
    pub fn changed_to(&self, now: &Self) -> Option<Changed> {
        if self.agreement != now.agreement {
            return Some(Changed::Agreement);
        }
        (self.references != now.references).then_some(Changed::References)
    }
}

impl fmt::Display for ReviewFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.agreement, self.references)
    }
}

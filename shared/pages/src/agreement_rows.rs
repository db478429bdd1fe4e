//! Agreements in lists.

use shared::domain::agreement::Agreement;
use shared::domain::sentences;

use crate::labels::{Badge, lifecycle_badge};

/// An agreement in a list.
pub struct AgreementRow {
    /// Its page.
    pub url: String,
    /// Its name.
    pub name: String,
    /// What there is to say about the state besides the badge.
    pub status: Option<String>,
    /// Its state.
    pub badge: Badge,
    /// How many participants it has.
    pub participants: usize,
}

impl AgreementRow {
    /// An agreement as lists show it. Whether a draft is ready decides what is said about it.
    #[must_use]
    pub fn new(agreement: &Agreement, is_ready: bool) -> Self {
        let badge = lifecycle_badge(agreement.lifecycle());
        let status = sentences::agreement_status(agreement, is_ready);
        Self {
            url: format!("/app/agreements/{}", agreement.id()),
            name: agreement.name.as_str().to_owned(),
            status: (status != badge.text).then_some(status),
            badge,
            participants: agreement.participants.len(),
        }
    }
}

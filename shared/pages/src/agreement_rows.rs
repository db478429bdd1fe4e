//! Agreements in lists.

use shared::domain::agreement::Agreement;
use shared::text;

use crate::labels::{Badge, lifecycle_badge};

/// An agreement in a list.
pub struct AgreementRow {
    /// Its page.
    pub url: String,
    /// Its name.
    pub name: String,
    /// What the badge doesn't say about its state.
    pub status: Option<String>,
    /// Its state.
    pub badge: Badge,
    /// The number of participants.
    pub participants: usize,
}

impl AgreementRow {
    /// A row; the status of a draft depends on whether it is ready.
    #[must_use]
    pub fn new(agreement: &Agreement, is_ready: bool) -> Self {
        let badge = lifecycle_badge(agreement.lifecycle());
        let status = text::agreement_status(agreement, is_ready);
        Self {
            url: format!("/app/agreements/{}", agreement.id()),
            name: agreement.name.as_str().to_owned(),
            status: (status != badge.text).then_some(status),
            badge,
            participants: agreement.participants.len(),
        }
    }
}

//! An agreement's history: who did what, when.

use shared::domain::actor::ActorType;
use shared::domain::agreement::Agreement;
use shared::domain::agreement::acts::Act;
use shared::domain::event::EventType;
use shared::domain::ids::ContactId;
use shared::service::agreements::AgreementReview;
use shared::text;

use crate::labels::{DisplayTime, actor_label};

/// The newest acts, for `acts.html`.
pub struct Acts {
    /// The first lines, newest first.
    pub rows: Vec<ActRow>,
    /// The lines that are shown on demand.
    pub more: Vec<ActRow>,
    /// Whether there are older ones.
    pub has_more: bool,
}

/// An act in a list.
pub struct ActRow {
    /// What was done.
    pub did: String,
    /// Who did it. None for a countdown's end or an expiry.
    pub by: Option<String>,
    /// When it was done, the last time.
    pub at: DisplayTime,
    /// How often in a row.
    pub times: usize,
}

/// Lines of a history that show at first.
const SHOWN: usize = 5;

impl Acts {
    /// The newest acts of an agreement.
    #[must_use]
    pub fn new(review: &AgreementReview) -> Self {
        let AgreementReview { in_full, acts, has_more_acts: has_more, former, .. } = review;
        let (agreement, has_more) = (&in_full.agreement, *has_more);
        let contacts = || in_full.contacts.iter().chain(former);
        let name_of = |id| contacts().find(|contact| contact.id == id).map(|contact| contact.display_name.as_str());
        let mut rows: Vec<ActRow> = Vec::new();
        for act in acts.iter().filter(|act| !is_drafting(act, agreement)) {
            // What time completed says so itself.
            let completes =
                act.events.contains(&EventType::AgreementCompleted) && act.actor.actor_type != ActorType::System;
            rows.extend(completes.then(|| ActRow {
                did: "Completed".to_owned(),
                by: None,
                at: act.at.into(),
                times: 1,
            }));
            rows.push(ActRow::new(act, name_of));
        }
        // A draft older than its history still shows who drafted it.
        let is_complete = acts.last().is_some_and(|oldest| oldest.at <= agreement.created_at);
        if !has_more && !is_complete && agreement.published_at().is_none() {
            rows.push(ActRow {
                did: "Drafted".to_owned(),
                by: Some(actor_label(&agreement.created_by)),
                at: agreement.created_at.into(),
                times: 1,
            });
        }
        rows.dedup_by(|older, newer| {
            let is_alike = (&older.did, &older.by) == (&newer.did, &newer.by);
            newer.times += if is_alike { older.times } else { 0 };
            is_alike
        });
        let more = rows.split_off(rows.len().min(SHOWN));
        Self { rows, more, has_more }
    }
}

/// Whether an act made or edited a draft that was published since: the page shows what became of it, and who drafted it.
fn is_drafting(act: &Act, agreement: &Agreement) -> bool {
    let is_before = agreement.published_at().is_some_and(|published_at| act.at < published_at);
    is_before && act.proposed.is_none()
}

impl ActRow {
    fn new<'a>(act: &Act, name_of: impl Fn(ContactId) -> Option<&'a str>) -> Self {
        let is_system = act.actor.actor_type == ActorType::System;
        Self {
            did: text::act(act, name_of).into_owned(),
            by: (!is_system).then(|| actor_label(&act.actor)),
            at: act.at.into(),
            times: 1,
        }
    }
}

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
    /// What made and edited a draft. Empty once it is published: its page shows what became of it, and who drafted it.
    pub drafting: Vec<ActRow>,
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
        let (drafting, since): (Vec<&Act>, Vec<&Act>) = acts.iter().partition(|act| is_drafting(act, agreement));
        let mut rows: Vec<ActRow> = Vec::new();
        for act in since {
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
        let mut rows = counted(rows);
        let more = rows.split_off(rows.len().min(SHOWN));
        let drafting = if agreement.was_published() { Vec::new() } else { drafting };
        let drafting = counted(drafting.into_iter().map(|act| ActRow::new(act, name_of)).collect());
        Self { rows, more, drafting, has_more }
    }
}

/// The rows, in which the same act in a row stands once.
fn counted(mut rows: Vec<ActRow>) -> Vec<ActRow> {
    rows.dedup_by(|older, newer| {
        let is_alike = (&older.did, &older.by) == (&newer.did, &newer.by);
        newer.times += if is_alike { older.times } else { 0 };
        is_alike
    });
    rows
}

/// Whether an act made or edited a draft. What publishes or discards one is proposed.
fn is_drafting(act: &Act, agreement: &Agreement) -> bool {
    agreement.published_at().is_none_or(|published_at| act.at < published_at) && act.proposed.is_none()
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

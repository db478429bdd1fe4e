//! The history of an agreement: who did what, when.

use shared::domain::actor::ActorType;
use shared::domain::agreement::Agreement;
use shared::domain::agreement::acts::Act;
use shared::domain::sentences;

use crate::labels::{DisplayTime, actor_label};

/// The newest acts, as `acts.html` shows them.
pub(crate) struct Acts {
    pub rows: Vec<ActRow>,
    /// Whether there are older ones than these.
    pub has_more: bool,
}

pub(crate) struct ActRow {
    pub did: String,
    /// Who did it. None if the time came: a countdown ended, or the agreement expired.
    pub by: Option<String>,
    pub at: DisplayTime,
}

impl Acts {
    pub fn new(agreement: &Agreement, acts: &[Act], has_more: bool) -> Self {
        let mut rows: Vec<ActRow> = acts.iter().map(ActRow::new).collect();
        // Agreements that are older than their histories still say who drafted them.
        let is_complete = acts.last().is_some_and(|oldest| oldest.at <= agreement.created_at);
        if !has_more && !is_complete {
            rows.push(ActRow {
                did: "Drafted".to_owned(),
                by: Some(actor_label(&agreement.created_by)),
                at: agreement.created_at.into(),
            });
        }
        Self { rows, has_more }
    }
}

impl ActRow {
    fn new(act: &Act) -> Self {
        let is_system = act.actor.actor_type == ActorType::System;
        Self {
            did: sentences::act(act).into_owned(),
            by: (!is_system).then(|| actor_label(&act.actor)),
            at: act.at.into(),
        }
    }
}

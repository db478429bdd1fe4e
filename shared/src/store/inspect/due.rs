//! Entries of the due index, each of which needs a reason.

use super::super::due::DueEntry;
use super::super::item::from_item;
use super::super::keys::{self, Due};
use super::{Problem, Sight};
use crate::domain::agreement::Agreement;
use crate::domain::delivery::{Delivery, DeliveryState};
use crate::domain::proposal::{Decision, Proposal};

pub(super) fn look(sight: &mut Sight<'_>) {
    let Some(entry) = DueEntry::of(sight.key.clone()) else { return sight.unreadable() };
    let DueEntry { what, at, org, id, endpoint, .. } = entry;
    sight.refers(keys::organization(org), Problem::NoOrganization, "its organization");
    let problem = Problem::DueWithoutReason;
    match what {
        Due::Event => {
            sight.derives_from(keys::event(org, id.into()), problem, "is for an event that is gone", |_| true);
        }
        Due::Proposal => {
            let says = "is for a proposal that does not expire then";
            sight.derives_from(keys::proposal(org, id.into()), problem, says, move |proposal| {
                let proposal = from_item::<Proposal>(proposal.clone());
                proposal
                    .is_ok_and(|proposal| proposal.expires_at == at && matches!(proposal.decision(), Decision::Pending))
            });
        }
        Due::Agreement => {
            let says = "is for an agreement to which time does nothing then";
            sight.derives_from(keys::agreement(org, id.into()), problem, says, move |agreement| {
                from_item::<Agreement>(agreement.clone()).is_ok_and(|agreement| agreement.next_due() == Some(at))
            });
        }
        Due::Ending => {
            // Participants of a draft may have yet to become people of the workspace.
            let says = "is for an agreement that is gone";
            sight.derives_from(keys::agreement(org, id.into()), problem, says, |_| true);
        }
        Due::Delivery => {
            let Some(endpoint) = endpoint else { return sight.unreadable() };
            let says = "is for a delivery that is not attempted then";
            sight.derives_from(keys::delivery(org, endpoint, id.into()), problem, says, move |delivery| {
                // A sender that has just held one may have yet to see whether its endpoint is still paused.
                let delivery = from_item::<Delivery>(delivery.clone());
                delivery.is_ok_and(|held| held.due_at() == Some(at) || held.state() == DeliveryState::Held)
            });
        }
        Due::People => {
            let says = "is for a workspace that is gone";
            sight.derives_from(keys::workspace(org, id.into()), problem, says, |_| true);
        }
        // Going through deliveries of a deleted endpoint or through removed files again does no harm.
        Due::Endpoint | Due::Upload => {}
    }
}

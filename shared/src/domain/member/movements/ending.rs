//! How an agreement's end depends on its payments.

use std::collections::BTreeSet;

use MovementState::{Authorized, Cancelled, Draft, InstructionsReady, Processing, ReceiptPending, SenderReported};

use super::fixtures::*;
use super::*;
use crate::domain::agreement::Lifecycle;
use crate::domain::agreement::fixtures::{after, noon, time_scale};
use crate::domain::member::{self, DecisionContext, Refusal};
use crate::domain::proposal::{self, NewProposal, ProposalAction};
use crate::domain::time_zone::TimeZone;
use crate::domain::workspace::{NewWorkspace, Workspace, WorkspaceName, WorkspaceNumber};
use crate::wire::fields::FieldCode;

#[test]
fn an_agreement_is_cancelled_in_every_state_of_its_payment_but_while_money_is_in_flight() {
    let workspace =
        Workspace::create(NewWorkspace { name: WorkspaceName::parse("Harbor").unwrap() }, WorkspaceNumber(1), noon());
    for state in MovementState::ALL {
        let world = World::in_state(state);
        let new =
            NewProposal { action: ProposalAction::CancelAgreement, agreement_id: world.agreement.id(), note: None };
        let (actor, until) = (world.maren.actor(), after(72));
        let made = proposal::propose(new, &world.agreement, &[], &[], actor, world.moment(), until).unwrap();
        let proposal = made.into_proposal();
        let context = DecisionContext {
            proposal: &proposal,
            agreement: &world.agreement,
            changed: None,
            contacts: &[],
            workspace: &workspace,
            blockers: &[],
            not_meant: &BTreeSet::new(),
            facts: world.agreement.facts(),
            time_scale: time_scale(),
            zone: &TimeZone::default(),
        };
        let decided = member::confirm(&world.jonas, context, None, world.moment());
        if matches!(state, SenderReported | ReceiptPending | Processing) {
            let Err(Refusal::Blocked(errors)) = decided else { panic!("{state:?}: {decided:?}") };
            let errors = errors.into_list();
            let found: Vec<_> = errors.iter().map(|error| (error.field.as_str(), error.code)).collect();
            assert_eq!(found, [("agreement_id", FieldCode::MovementInFlight)], "{state:?}");
            assert!(member::decline(&world.jonas, &proposal, None, world.moment()).is_ok(), "{state:?}");
            continue;
        }
        let agreement = decided.unwrap().agreement.unwrap().into_inner();
        assert_eq!(agreement.lifecycle(), Lifecycle::Cancelled, "{state:?}");
        let left = if matches!(state, Draft | Authorized | InstructionsReady) { Cancelled } else { state };
        assert_eq!(agreement.movement_state(world.movement.id()), Some(left), "{state:?}");
    }
}

//! The steps that movements wait for: once one with `open_movement` or `release_instructions` is done, members may act.
//!
//! Decision: a movement waits for the last step with the action before the step whose condition needs the act, so that
//! no step waits for itself. A movement that no condition names waits for the first step with the action, if any.

use std::collections::{BTreeMap, BTreeSet};

use super::gate::{Gate, GateRule, GateState};
use super::{Agreement, Lifecycle, Stage, StageAction, StageState};
use crate::domain::ids::MovementId;
use crate::domain::movement::state::MovementState;

impl Agreement {
    /// The first step with a condition that names a movement, if any.
    #[must_use]
    pub fn stage_of_movement(&self, movement: MovementId) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.gates.iter().any(|gate| names(&gate.rule, movement)))
    }

    /// Whether earlier steps let members authorize a movement.
    #[must_use]
    pub fn lets_authorize(&self, movement: MovementId) -> bool {
        self.lets(StageAction::OpenMovement, |rule| names(rule, movement))
    }

    /// Whether earlier steps let members release a movement's instructions.
    #[must_use]
    pub fn lets_release(&self, movement: MovementId) -> bool {
        let names = |rule: &GateRule| matches!(rule, GateRule::MovementReconciled { movement_id } if *movement_id == Some(movement));
        self.lets(StageAction::ReleaseInstructions, names)
    }

    fn lets(&self, action: StageAction, names: impl Fn(&GateRule) -> bool) -> bool {
        let has_action = |stage: &&Stage| stage.actions.contains(&action);
        let own = self.stages.iter().position(|stage| stage.gates.iter().any(|gate| names(&gate.rule)));
        let waits_for = match own {
            Some(own) => self.stages.iter().take(own).rfind(has_action),
            None => self.stages.iter().find(has_action),
        };
        waits_for.is_none_or(|stage| stage.state == StageState::Done)
    }
}

impl Agreement {
    /// The movements that members can authorize now.
    pub fn movements_to_authorize(&self) -> impl Iterator<Item = MovementId> {
        self.movements_in(MovementState::Draft).filter(|id| self.lets_authorize(*id))
    }

    /// The authorized movements whose instructions members can release now, once there are any.
    pub fn movements_to_release(&self) -> impl Iterator<Item = MovementId> {
        self.movements_in(MovementState::Authorized).filter(|id| self.lets_release(*id))
    }

    /// The movements of an active agreement in a state.
    fn movements_in(&self, state: MovementState) -> impl Iterator<Item = MovementId> {
        let is_active = self.lifecycle() == Lifecycle::Active;
        let own = self.movements().iter().filter(move |(_, own)| is_active && **own == state);
        own.map(|(id, _)| *id)
    }

    /// How many open conditions wait for members to authorize a movement.
    #[must_use]
    pub fn authorizations_waiting(&self) -> usize {
        let can_be: BTreeSet<MovementId> = self.movements_to_authorize().collect();
        let gates = self.stages.iter().flat_map(|stage| &stage.gates);
        let waits = |gate: &&Gate| {
            matches!(gate.state, GateState::Open { .. })
                && matches!(gate.rule, GateRule::MovementAuthorized { movement_id: Some(id) } if can_be.contains(&id))
        };
        gates.filter(waits).count()
    }

    /// The movements whose arrival an open condition needs, and the side that must act: to pay, or to show the arrival.
    #[must_use]
    pub fn payments_waiting(&self) -> BTreeMap<MovementId, PaymentSide> {
        if self.lifecycle() != Lifecycle::Active {
            return BTreeMap::new();
        }
        let gates = self.stages.iter().flat_map(|stage| &stage.gates);
        let open = gates.filter(|gate| matches!(gate.state, GateState::Locked | GateState::Open { .. }));
        let waiting = open.filter_map(|gate| {
            let GateRule::MovementReconciled { movement_id: Some(id) } = gate.rule else { return None };
            match self.movement_state(id)? {
                MovementState::InstructionsReady => Some((id, PaymentSide::Payer)),
                MovementState::SenderReported | MovementState::ReceiptPending => Some((id, PaymentSide::Payee)),
                _ => None,
            }
        });
        waiting.collect()
    }
}

/// A side of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentSide {
    /// Who pays.
    Payer,
    /// Who is paid.
    Payee,
}

fn names(rule: &GateRule, movement: MovementId) -> bool {
    rule.movement() == Some(movement)
}

use super::{ByMember, Member};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::gate::{Gate, GateState};
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::ids::GateId;
use crate::domain::time::Timestamp;

/// An agreement with a reopened condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopened {
    /// The agreement.
    pub agreement: ByMember<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Why a condition was not reopened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReopened {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// The condition is not declined, but open or cleared.
    NotDeclined,
    /// It was declined again, for another reason, after the page was shown.
    DeclinedAgain,
    /// The agreement has no such condition.
    Unknown,
}

/// Reopens a declined gate (contract, section 3, "Gate"). `shown` is when it was declined, as the member saw it.
pub fn reopen_gate(
    by: &Member,
    context: AgreementContext<'_>,
    gate: GateId,
    shown: Timestamp,
) -> Result<Reopened, NotReopened> {
    let AgreementContext { agreement, facts, time_scale, moment } = context;
    let current = context.active().map_err(NotReopened::NotActive)?;
    let mut gates = current.stages.iter().flat_map(|stage| &stage.gates);
    match gates.find(|found| found.id == gate).map(|gate: &Gate| &gate.state) {
        None => Err(NotReopened::Unknown),
        Some(GateState::Declined { declined_at, .. }) if *declined_at != shown => Err(NotReopened::DeclinedAgain),
        Some(GateState::Declined { .. }) => {
            let after = agreement.reopened(facts, time_scale, moment.at(), gate);
            let events = after.completion().into_iter().collect();
            Ok(Reopened { agreement: ByMember::new(after, by, moment), events })
        }
        Some(GateState::Locked | GateState::Open { .. } | GateState::Cleared { .. }) => Err(NotReopened::NotDeclined),
    }
}

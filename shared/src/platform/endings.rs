//! Ends what is left of an agreement that was cancelled or has expired, and sets the items in progress that its publication
//! left: each record in a call of its own, with its own audit row and log line. The page of the act does it at once, and the
//! clock what an interruption left.

use std::time::Instant;

use crate::domain::ids::{AgreementId, OrgId};
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::platform::call_record::{log_failure, log_system_call};
use crate::service::due::Settlement;
use crate::service::endings;
use crate::service::system::SystemContext;

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// How many records it changed.
    pub records: u32,
    /// Whether nothing is left.
    pub is_complete: bool,
}

/// Ends what is left of an agreement until a moment at the latest. The log has each failure.
///
/// # Errors
/// The first failure. What is left then stays on the due index.
pub async fn end_with_agreement(
    app: &AppState,
    org: OrgId,
    agreement: AgreementId,
    until: Instant,
) -> Result<Ended, Error> {
    let begin = |operation| SystemContext::begin(&app.store, org, operation, app.time_scale);
    let mut ended = Ended::default();
    let left = endings::left_to_end(&begin(endings::END_MOVEMENT), agreement).await;
    let Some((agreement, left)) = left.inspect_err(|error| log_failure(&app.log, endings::END_MOVEMENT, error))? else {
        return Ok(Ended { is_complete: true, ..ended });
    };
    for one in left {
        if until <= Instant::now() {
            return Ok(ended);
        }
        let system = begin(one.operation());
        let result = system.run(limits::SWEEP_ATTEMPTS_MAX, || endings::end(&system, &agreement, one)).await;
        match result {
            Ok(Settlement::Settled) => {
                log_system_call(app, &system, Ok(()));
                ended.records += 1;
            }
            Ok(Settlement::Stale | Settlement::Early) => {}
            Err(error) => {
                log_system_call(app, &system, Err(&error));
                return Err(error);
            }
        }
    }
    Ok(Ended { is_complete: true, ..ended })
}

/// The same right after the act of a member that ended the agreement. A failure delays the rest until the clock's next tick,
/// and is none of the act, which has taken effect.
pub async fn end_at_once(app: &AppState, org: OrgId, agreement: AgreementId) {
    let _ = end_with_agreement(app, org, agreement, Instant::now() + limits::ENDING_AT_ONCE).await;
}

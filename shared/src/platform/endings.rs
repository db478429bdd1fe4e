//! Ends the rest of a cancelled or expired agreement, and marks the items its publication left in progress: one call
//! per record, with its own audit row and log line. Runs right after the act, or by the clock.

use tokio::time::Instant;

use crate::domain::ids::{AgreementId, OrgId};
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::service::call_record::log_failure;
use crate::service::due::Settlement;
use crate::service::endings;
use crate::service::system::SystemContext;

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// How many records changed.
    pub records: u32,
    /// Whether nothing is left.
    pub is_complete: bool,
}

/// Ends the rest of an agreement until a deadline. Logs each failure.
///
/// # Errors
/// The first failure. The rest stays on the due index.
pub async fn end_with_agreement(
    app: &AppState,
    org: OrgId,
    agreement: AgreementId,
    until: Instant,
) -> Result<Ended, Error> {
    let begin = |operation| SystemContext::begin(&app.store, org, operation, app.time_scale);
    let mut ended = Ended::default();
    let left = endings::left_to_end(&begin(endings::END_MOVEMENT), agreement).await;
    let Some((agreement, left)) = left.inspect_err(|error| log_failure(endings::END_MOVEMENT, Some(org), error))?
    else {
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
                system.log(Ok(()));
                ended.records += 1;
            }
            Ok(Settlement::Stale | Settlement::Early) => {}
            Err(error) => {
                system.log(Err(&error));
                return Err(error);
            }
        }
    }
    Ok(Ended { is_complete: true, ..ended })
}

/// Ends the rest right after a member's act ended the agreement. A failure only delays it to the clock's next tick.
pub async fn end_at_once(app: &AppState, org: OrgId, agreement: AgreementId) {
    let _ = end_with_agreement(app, org, agreement, Instant::now() + limits::ENDING_AT_ONCE).await;
}

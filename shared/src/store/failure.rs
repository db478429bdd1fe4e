//! What DynamoDB's refusals mean: another call in the way, too much to do, or a failure.

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::CancellationReason;

use super::StoreError;

/// The code of a transaction that is still under way with the same request token.
pub(super) const IN_PROGRESS: &str = "TransactionInProgressException";

/// The codes of calls that DynamoDB had no capacity for.
const THROTTLED: [&str; 4] =
    ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "LimitExceededException"];

/// What became of a transaction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Transacted {
    /// It took effect.
    Committed,
    /// It had no effect: the conditions of these items did not hold.
    Refused(Vec<usize>),
}

/// Tells a transaction that met another one, or a busy table, from one that can't succeed.
pub(super) fn decide_cancelled(reasons: &[CancellationReason]) -> Result<Transacted, StoreError> {
    let (mut refused, mut hopeless, mut throttled) = (Vec::new(), Vec::new(), None);
    for (index, reason) in reasons.iter().enumerate() {
        match reason.code().unwrap_or("None") {
            "None" | "TransactionConflict" => {}
            "ConditionalCheckFailed" => refused.push(index),
            code @ ("ThrottlingError" | "ProvisionedThroughputExceeded") => throttled = Some(code),
            code => hopeless.push(code),
        }
    }
    if !hopeless.is_empty() {
        return Err(StoreError::Failed(format!("TransactWriteItems: {}", hopeless.join(", "))));
    }
    if !refused.is_empty() {
        return Ok(Transacted::Refused(refused));
    }
    Err(throttled.map_or(StoreError::Conflict, |code| StoreError::Throttled(format!("TransactWriteItems: {code}"))))
}

// For the log: its code, or what kind of failure it was. Messages are left out, since they can quote values.
impl<E: ProvideErrorMetadata, R> From<SdkError<E, R>> for StoreError {
    fn from(error: SdkError<E, R>) -> Self {
        let kind = match &error {
            SdkError::ConstructionFailure(_) => "the request could not be built",
            SdkError::TimeoutError(_) => "timed out",
            SdkError::DispatchFailure(_) => "not sent",
            SdkError::ResponseError(_) => "the response could not be read",
            SdkError::ServiceError(_) => "refused",
            _ => "failed",
        };
        let code = error.code().unwrap_or("no code");
        if THROTTLED.contains(&code) {
            return Self::Throttled(code.to_owned());
        }
        Self::Failed(format!("DynamoDB: {kind} ({code})"))
    }
}

impl From<BuildError> for StoreError {
    fn from(error: BuildError) -> Self {
        Self::Failed(format!("DynamoDB: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(codes: &[&str]) -> Result<Transacted, StoreError> {
        let reasons: Vec<_> = codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect();
        decide_cancelled(&reasons)
    }

    #[test]
    fn only_conflicts_and_throttling_are_worth_another_attempt() {
        assert!(matches!(decide(&["None", "TransactionConflict"]), Err(StoreError::Conflict)));
        for code in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
            assert!(matches!(decide(&[code, "None"]), Err(StoreError::Throttled(_))), "{code}");
            assert!(matches!(decide(&["TransactionConflict", code]), Err(StoreError::Throttled(_))), "{code}");
        }
        assert!(matches!(decide(&["None", "ConditionalCheckFailed"]), Ok(Transacted::Refused(at)) if at == [1]));
        for code in ["ValidationError", "ItemCollectionSizeLimitExceeded", "DuplicateItem", "AccessDenied", "Unheard"] {
            let refused = decide(&["TransactionConflict", code]);
            assert!(matches!(refused, Err(StoreError::Failed(_))), "{code}");
        }
    }
}

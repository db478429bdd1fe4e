//! The meaning of `DynamoDB`'s refusals: a conflict with another call, throttling, or a failure.

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::CancellationReason;

use super::StoreError;

/// Another transaction has the same request token, or holds the item of a single write.
const CONFLICT: [&str; 2] = ["TransactionInProgressException", "TransactionConflictException"];

const THROTTLED: [&str; 4] =
    ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "LimitExceededException"];

/// What a canceled transaction says of a change whose partition is throttled.
const ITEM_THROTTLED: [&str; 2] = ["ThrottlingError", "ProvisionedThroughputExceeded"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TransactionOutcome {
    Committed,
    ConditionsFailed(Vec<usize>),
}

/// Whether a partition took no more than it had, of the change to which a reason belongs.
pub(super) fn is_throttled(reason: &CancellationReason) -> bool {
    reason.code().is_some_and(|code| ITEM_THROTTLED.contains(&code))
}

/// Tells a canceled transaction that may succeed later from one that can't.
pub(super) fn outcome_of_canceled(reasons: &[CancellationReason]) -> Result<TransactionOutcome, StoreError> {
    let (mut failed_conditions, mut hopeless, mut throttled) = (Vec::new(), Vec::new(), None);
    for (index, reason) in reasons.iter().enumerate() {
        match reason.code().unwrap_or("None") {
            "None" | "TransactionConflict" => {}
            "ConditionalCheckFailed" => failed_conditions.push(index),
            code if ITEM_THROTTLED.contains(&code) => throttled = Some(code),
            code => hopeless.push(code),
        }
    }
    if !hopeless.is_empty() {
        return Err(StoreError::Failed(format!("TransactWriteItems: {}", hopeless.join(", "))));
    }
    if !failed_conditions.is_empty() {
        return Ok(TransactionOutcome::ConditionsFailed(failed_conditions));
    }
    Err(throttled.map_or(StoreError::Conflict, |code| StoreError::Throttled(format!("TransactWriteItems: {code}"))))
}

// Logs the code or the kind of failure: messages can quote values.
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
        if CONFLICT.contains(&code) {
            return Self::Conflict;
        }
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

    fn decide(codes: &[&str]) -> Result<TransactionOutcome, StoreError> {
        let reasons: Vec<_> = codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect();
        outcome_of_canceled(&reasons)
    }

    #[test]
    fn only_conflicts_and_throttling_are_worth_another_attempt() {
        assert!(matches!(decide(&["None", "TransactionConflict"]), Err(StoreError::Conflict)));
        for code in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
            assert!(matches!(decide(&[code, "None"]), Err(StoreError::Throttled(_))), "{code}");
            assert!(matches!(decide(&["TransactionConflict", code]), Err(StoreError::Throttled(_))), "{code}");
        }
        assert!(
            matches!(decide(&["None", "ConditionalCheckFailed"]), Ok(TransactionOutcome::ConditionsFailed(at)) if at == [1])
        );
        for code in ["ValidationError", "ItemCollectionSizeLimitExceeded", "DuplicateItem", "AccessDenied", "Unheard"] {
            let refused = decide(&["TransactionConflict", code]);
            assert!(matches!(refused, Err(StoreError::Failed(_))), "{code}");
        }
    }
}

//! Validation errors by field, collected while reading.

use std::fmt;
use std::ops::ControlFlow;

use deserr::{DeserializeError, ErrorKind, IntoValue, MergeWithError, Value, ValueKind, ValuePointerRef};
use serde::Serialize;
use utoipa::ToSchema;

use crate::limits;
use crate::wire::enums::text_enum;

text_enum! {
    /// What is wrong with a field (contract, section 1, "`errors[].code`").
    pub enum FieldCode {
        /// The value is missing or `null`.
        Required = "required",
        /// The value has another JSON type, or is no number where one is expected.
        InvalidType = "invalid_type",
        /// The text does not have the expected format.
        InvalidFormat = "invalid_format",
        /// The value is not one of the allowed ones.
        InvalidValue = "invalid_value",
        /// The text is empty or blank.
        TooShort = "too_short",
        /// The value is longer than allowed.
        TooLong = "too_long",
        /// The number is out of bounds.
        OutOfRange = "out_of_range",
        /// The body has no such field.
        UnknownField = "unknown_field",
        /// The query has no such parameter.
        UnknownParameter = "unknown_parameter",
        /// The body is not valid JSON.
        MalformedJson = "malformed_json",
        /// The organization has no such record.
        NotFound = "not_found",
        /// Another record has the reference.
        Taken = "taken",
        /// The record belongs to another workspace.
        WrongWorkspace = "wrong_workspace",
        /// The record's state does not allow it.
        WrongState = "wrong_state",
        /// A limit on the number or size is reached.
        LimitReached = "limit_reached",
        /// Money is on its way.
        MovementInFlight = "movement_in_flight",
        /// Another proposal of the action is pending.
        ProposalPending = "proposal_pending",
        /// The verb does not fit the asset.
        VerbNotAllowed = "verb_not_allowed",
        /// Facts are missing.
        MissingFacts = "missing_facts",
        /// The item is on hold.
        OnHold = "on_hold",
        /// The value looks like an account number, a card number or a key.
        SensitiveValue = "sensitive_value",
        /// Blocker: the workspace is not activated.
        WorkspaceNotActivated = "workspace_not_activated",
        /// Blocker: there are no participants.
        NoParticipants = "no_participants",
        /// Blocker: a participant who must act has no email address.
        ParticipantEmailMissing = "participant_email_missing",
        /// Blocker: there are no stages.
        NoStages = "no_stages",
        /// Blocker: a stage has no gates.
        StageEmpty = "stage_empty",
        /// Blocker: a gate lacks its document, movement, date or questions.
        GateIncomplete = "gate_incomplete",
        /// Blocker: a gate names no participant.
        GateParticipantMissing = "gate_participant_missing",
        /// Blocker: a document has no file.
        DocumentMissing = "document_missing",
        /// Blocker: a payment is incomplete.
        PaymentIncomplete = "payment_incomplete",
        /// Blocker: a payment lacks its parties.
        PaymentPartiesMissing = "payment_parties_missing",
        /// Blocker: the terms of the SAFE are incomplete.
        SafeTermsIncomplete = "safe_terms_incomplete",
        /// Blocker: the SAFE lacks its parties.
        SafePartiesMissing = "safe_parties_missing",
        /// Blocker: a funding item has changed since it was papered.
        FundingItemChanged = "funding_item_changed",
        /// Blocker: the expiry is in the past.
        ExpiryInPast = "expiry_in_past",
    }
}

impl FieldCode {
    /// Errors in any request's form, whatever is stored. The other codes belong to rules, which operations declare.
    pub const OF_FORM: [Self; 10] = [
        Self::Required,
        Self::InvalidType,
        Self::InvalidFormat,
        Self::InvalidValue,
        Self::TooShort,
        Self::TooLong,
        Self::OutOfRange,
        Self::UnknownField,
        Self::UnknownParameter,
        Self::MalformedJson,
    ];
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Where: a dotted path into the body, a query parameter, `path.…`, `header.…`, or `body` as a whole.
    #[schema(example = "display_name")]
    pub field: String,
    /// Branch on this.
    pub code: FieldCode,
    /// What would be right, for a person.
    #[schema(example = "must have 1 to 200 characters")]
    pub message: String,
}

/// A request's errors: keeps the first [`limits::FIELD_ERRORS_MAX`] and counts the rest.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FieldErrors {
    first: Vec<FieldError>,
    more: usize,
}

impl FieldErrors {
    /// The error of one field.
    #[must_use]
    pub fn one(field: impl Into<String>, code: FieldCode, message: impl Into<String>) -> Self {
        let mut errors = Self::default();
        errors.push(FieldError { field: field.into(), code, message: message.into() });
        errors
    }

    /// The error at a location in the input.
    #[must_use]
    pub fn at(location: ValuePointerRef<'_>, code: FieldCode, message: impl Into<String>) -> Self {
        Self::one(field_path(location), code, message)
    }

    /// Adds an error. Formats its path only if the error is kept.
    pub fn add_at(&mut self, location: ValuePointerRef<'_>, code: FieldCode, message: &str) {
        if self.first.len() < limits::FIELD_ERRORS_MAX {
            self.extend(Self::at(location, code, message));
        } else {
            self.more += 1;
        }
    }

    /// Adds the errors of another part of the request.
    pub fn extend(&mut self, other: Self) {
        self.more += other.more;
        for error in other.first {
            self.push(error);
        }
    }

    fn push(&mut self, mut error: FieldError) {
        if self.first.len() >= limits::FIELD_ERRORS_MAX {
            self.more += 1;
            return;
        }
        if error.field.chars().nth(limits::FIELD_PATH_CHARS_MAX).is_some() {
            error.field = error.field.chars().take(limits::FIELD_PATH_CHARS_MAX).chain(['…']).collect();
        }
        self.first.push(error);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The errors in the order found, with a last entry for those only counted.
    #[must_use]
    pub fn into_list(self) -> Vec<FieldError> {
        let mut list = self.first;
        if self.more > 0 {
            let message = format!("has {} more errors", self.more);
            list.push(FieldError { field: BODY.to_owned(), code: FieldCode::LimitReached, message });
        }
        list
    }

    pub(crate) fn map(mut self, change: impl Fn(&mut FieldError)) -> Self {
        self.first.iter_mut().for_each(change);
        self
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.first.iter().enumerate() {
            let separator = if n == 0 { "" } else { "; " };
            write!(f, "{separator}{} {}", error.field, error.message)?;
        }
        Ok(())
    }
}

fn field_path(location: ValuePointerRef<'_>) -> String {
    fn written(location: ValuePointerRef<'_>) -> String {
        match location {
            ValuePointerRef::Origin => String::new(),
            ValuePointerRef::Key { key, prev } => {
                let before = written(*prev);
                if before.is_empty() { key.to_owned() } else { format!("{before}.{key}") }
            }
            ValuePointerRef::Index { index, prev } => format!("{}[{index}]", written(*prev)),
        }
    }
    let path = written(location);
    if path.is_empty() { BODY.to_owned() } else { path }
}

pub(crate) const BODY: &str = "body";

impl MergeWithError<FieldErrors> for FieldErrors {
    fn merge(self_: Option<Self>, other: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let mut all = self_.unwrap_or_default();
        all.extend(other);
        ControlFlow::Continue(all)
    }
}

impl DeserializeError for FieldErrors {
    fn error<V: IntoValue>(
        self_: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let found = match error {
            ErrorKind::IncorrectValueKind { actual: Value::Null, .. } => {
                Self::at(location, FieldCode::Required, "is required")
            }
            ErrorKind::IncorrectValueKind { accepted, .. } => {
                Self::at(location, FieldCode::InvalidType, format!("must be {}", kinds(accepted)))
            }
            ErrorKind::MissingField { field } => Self::at(location.push_key(field), FieldCode::Required, "is required"),
            ErrorKind::UnknownKey { key, accepted } => Self::at(
                location.push_key(key),
                FieldCode::UnknownField,
                format!("is not known here; known: {}", listed(accepted)),
            ),
            ErrorKind::UnknownValue { accepted, .. } => {
                Self::at(location, FieldCode::InvalidValue, format!("must be one of {}", listed(accepted)))
            }
            ErrorKind::BadSequenceLen { expected, .. } => {
                Self::at(location, FieldCode::OutOfRange, format!("must have {expected} elements"))
            }
            ErrorKind::Unexpected { msg } => Self::at(location, FieldCode::InvalidValue, msg),
        };
        Self::merge(self_, found, location)
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn kinds(kinds: &[ValueKind]) -> String {
    let names: Vec<&str> = kinds
        .iter()
        .map(|kind| match kind {
            ValueKind::Null => "null",
            ValueKind::Boolean => "a boolean",
            ValueKind::Integer | ValueKind::NegativeInteger => "an integer",
            ValueKind::Float => "a number",
            ValueKind::String => "a string",
            ValueKind::Sequence => "an array",
            ValueKind::Map => "an object",
        })
        .collect();
    names.join(" or ")
}

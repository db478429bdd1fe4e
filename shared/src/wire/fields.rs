//! What is wrong with a request, field by field: the errors that reading collects.

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
        /// It is missing or `null`.
        Required = "required",
        /// It is of another JSON type, or no number where one is needed.
        InvalidType = "invalid_type",
        /// It is not written as it must be.
        InvalidFormat = "invalid_format",
        /// It is none of the values that are allowed.
        InvalidValue = "invalid_value",
        /// It is empty or blank.
        TooShort = "too_short",
        /// It is longer than allowed.
        TooLong = "too_long",
        /// It is a number outside of the bounds.
        OutOfRange = "out_of_range",
        /// The body has no such field.
        UnknownField = "unknown_field",
        /// The query has no such parameter.
        UnknownParameter = "unknown_parameter",
        /// The body is no JSON that can be read.
        MalformedJson = "malformed_json",
        /// It names a record that is not in the organization.
        NotFound = "not_found",
        /// The reference is in use by another record.
        Taken = "taken",
        /// The record belongs to another workspace.
        WrongWorkspace = "wrong_workspace",
        /// The record's state does not allow it.
        WrongState = "wrong_state",
        /// There are as many as there may be.
        LimitReached = "limit_reached",
        /// Money is on its way.
        MovementInFlight = "movement_in_flight",
        /// A proposal is waiting for a decision already.
        ProposalPending = "proposal_pending",
        /// The verb does not fit the asset.
        VerbNotAllowed = "verb_not_allowed",
        /// Facts are missing.
        MissingFacts = "missing_facts",
        /// The item is on hold.
        OnHold = "on_hold",
        /// It looks like an account number, a card number or a key.
        SensitiveValue = "sensitive_value",
        /// Blocker: the workspace is not activated.
        WorkspaceNotActivated = "workspace_not_activated",
        /// Blocker: nobody takes part.
        NoParticipants = "no_participants",
        /// Blocker: someone who must act has no e-mail.
        ParticipantEmailMissing = "participant_email_missing",
        /// Blocker: there is no stage.
        NoStages = "no_stages",
        /// Blocker: a stage is empty.
        StageEmpty = "stage_empty",
        /// Blocker: a gate lacks its document, movement, date or questions.
        GateIncomplete = "gate_incomplete",
        /// Blocker: a gate names nobody.
        GateParticipantMissing = "gate_participant_missing",
        /// Blocker: a document is missing.
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

/// What is wrong with a request: any number of fields, of which the first are kept and the rest are counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FieldErrors {
    first: Vec<FieldError>,
    more: usize,
}

impl FieldErrors {
    /// One field that is wrong.
    #[must_use]
    pub fn one(field: impl Into<String>, code: FieldCode, message: impl Into<String>) -> Self {
        let mut errors = Self::default();
        errors.push(FieldError { field: field.into(), code, message: message.into() });
        errors
    }

    /// One value that is wrong, where `deserr` stands.
    #[must_use]
    pub fn at(location: ValuePointerRef<'_>, code: FieldCode, message: impl Into<String>) -> Self {
        Self::one(field_path(location), code, message)
    }

    /// Adds a value that is wrong. Where it stands is only written out as long as it is kept.
    pub fn add_at(&mut self, location: ValuePointerRef<'_>, code: FieldCode, message: &str) {
        if self.first.len() < limits::FIELD_ERRORS_MAX {
            self.extend(Self::at(location, code, message));
        } else {
            self.more += 1;
        }
    }

    /// Adds those of another part of the request.
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

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The fields, in the order in which they were found: as many as a response should carry, with a last entry that
    /// says how many more there are.
    #[must_use]
    pub fn into_list(self) -> Vec<FieldError> {
        let mut list = self.first;
        if self.more > 0 {
            let message = format!("has {} more errors", self.more);
            list.push(FieldError { field: BODY.to_owned(), code: FieldCode::LimitReached, message });
        }
        list
    }

    pub(super) fn map(mut self, change: impl Fn(&mut FieldError)) -> Self {
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

/// A dotted path such as `item_ids[2]`; `body` for the whole.
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

/// The field of errors of a body as a whole.
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

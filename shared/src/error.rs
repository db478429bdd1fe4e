//! Failures of calls: the part for the client, and the part for the log.
//!
//! [`Error`] is the error of operations. Only its public part, [`Envelope`], is serialized: no cause ever reaches it.

use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::crypto::NoRandomness;
use crate::crypto::keyring::SealError;
use crate::domain::ids::RequestId;
use crate::retry::{Obstacle, Transient};
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldError, FieldErrors};

/// The failure of a call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is missing, malformed, unknown, expired or revoked. The response does not tell which.
    #[error("unauthenticated")]
    Unauthenticated,
    /// The token is valid, but its organization is suspended.
    ///
    /// Decision: the response is 401 `unauthenticated`, the one answer of every operation to a token that does not
    /// work; 403 `forbidden` is for writes, and implies that reads would work.
    #[error("suspended")]
    Suspended,
    /// The organization has more calls than this process answers for it in a second.
    #[error("rate limited")]
    RateLimited,
    /// A read-only token on a write.
    #[error("read-only token")]
    ReadOnlyToken,
    /// The form lacks the token of its session: it is forged, or was shown in a session that has ended.
    #[error("forged form")]
    ForgedForm,
    /// Another request has used the form's copy.
    #[error("form used")]
    FormUsed,
    /// Only admins may do this.
    #[error("admins only")]
    AdminsOnly,
    /// A browser's request from another origin, or to a host name that is not this service's.
    #[error("foreign origin")]
    ForeignOrigin,
    /// No such route.
    #[error("no such route")]
    NoSuchRoute,
    /// The route exists, but not with this method.
    #[error("method not allowed")]
    MethodNotAllowed {
        /// The methods of the route, as the `Allow` header lists them.
        allow: String,
    },
    /// The organization has no such record. The fields are those of the body that name it; none if the path does.
    #[error("no such record")]
    NotFound(FieldErrors),
    /// The request is invalid, or the record's state does not allow it.
    #[error("invalid request")]
    Invalid(FieldErrors),
    /// `Idempotency-Key` was used for another request.
    #[error("idempotency key reused")]
    KeyReused,
    /// `If-Match` names another version than the record has.
    #[error("stale If-Match")]
    StaleMatch,
    /// Another call changed the records between reading and committing. The entrance decides again.
    #[error("conflict")]
    Conflict,
    /// The table throttled the call for too long. The cause is for the log.
    #[error("throttled: {0}")]
    Throttled(String),
    /// A service that the call needs does not answer, such as the source of the keys. The log gets the cause.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Another function that got the call did not answer: it may or may not have taken effect. The log gets the cause.
    #[error("unanswered: {0}")]
    Unanswered(String),
    /// A failure of the service. The cause is for the log.
    #[error("internal: {0}")]
    Internal(String),
}

impl Error {
    /// The record that the path names does not exist.
    #[must_use]
    pub fn not_found() -> Self {
        Self::NotFound(FieldErrors::default())
    }

    /// The record that a field of the body names does not exist.
    #[must_use]
    pub fn unknown_reference(field: &str, what: &str) -> Self {
        let message = format!("is no {what} of your organization");
        Self::NotFound(FieldErrors::one(field, FieldCode::NotFound, message))
    }

    /// The HTTP status and its code (contract, section 1, "Status ↔ code").
    #[must_use]
    pub fn status(&self) -> (StatusCode, ErrorCode) {
        match self {
            Self::Unauthenticated | Self::Suspended => (StatusCode::UNAUTHORIZED, ErrorCode::Unauthenticated),
            Self::RateLimited => (StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited),
            Self::ReadOnlyToken | Self::ForgedForm | Self::AdminsOnly | Self::ForeignOrigin => {
                (StatusCode::FORBIDDEN, ErrorCode::Forbidden)
            }
            Self::NoSuchRoute | Self::NotFound(_) => (StatusCode::NOT_FOUND, ErrorCode::NotFound),
            Self::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, ErrorCode::MethodNotAllowed),
            Self::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidRequest),
            Self::KeyReused | Self::StaleMatch | Self::FormUsed => (StatusCode::CONFLICT, ErrorCode::Conflict),
            Self::Conflict | Self::Throttled(_) | Self::Unavailable(_) | Self::Unanswered(_) | Self::Internal(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::InternalError)
            }
        }
    }

    /// The cause for the log, without text of a user.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::Conflict => Some("the records kept changing until the deadline".to_owned()),
            Self::Throttled(cause) | Self::Unavailable(cause) | Self::Unanswered(cause) | Self::Internal(cause) => {
                Some(cause.clone())
            }
            _ => None,
        }
    }

    fn message(&self) -> &'static str {
        match self {
            Self::Unauthenticated => "Send a valid access token as `Authorization: Bearer <token>`.",
            Self::Suspended => "Your organization is suspended; its tokens work again when it is resumed.",
            Self::RateLimited => {
                "Your organization sends too many requests at once. Wait as long as Retry-After says, then send it again; nothing was done."
            }
            Self::ReadOnlyToken => "This token is read-only; the call needs one that may read and write.",
            Self::ForgedForm => "This form does not belong to your session.",
            Self::FormUsed => "This form was already used; open its page again.",
            Self::AdminsOnly => "Only admins of your organization may do this.",
            Self::ForeignOrigin => "The headers Host and Origin must name this service, or what its operator allows.",
            Self::NoSuchRoute => "There is nothing at this path.",
            Self::MethodNotAllowed { .. } => {
                "This path does not answer this method; the Allow header lists those it does."
            }
            Self::NotFound(_) => "There is no such record in your organization.",
            Self::Invalid(_) => "The request is not valid; `errors` lists each field and what would be right.",
            Self::KeyReused => {
                "This Idempotency-Key was used for a different request; use a new key for a new request."
            }
            Self::StaleMatch => "The record has changed since the version that If-Match names; fetch it and try again.",
            Self::Unanswered(_) => {
                "No answer came back, and the call may have taken effect. Look before you send it again without an Idempotency-Key; quote the request_id to support."
            }
            Self::Conflict | Self::Throttled(_) | Self::Unavailable(_) | Self::Internal(_) => {
                "Something went wrong on our side. Try again, with the same Idempotency-Key if you sent one; quote the request_id to support."
            }
        }
    }

    /// The envelope for the client.
    #[must_use]
    pub fn into_envelope(self, request_id: RequestId) -> Envelope {
        let (status, code) = self.status();
        let message = self.message();
        let errors = match self {
            Self::NotFound(fields) | Self::Invalid(fields) => fields.into_list(),
            _ => Vec::new(),
        };
        Envelope { error: ErrorBody { code, message, status: status.as_u16(), request_id, errors } }
    }
}

impl Transient for Error {
    fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Conflict => Some(Obstacle::Conflict),
            Self::Throttled(_) => Some(Obstacle::Throttled),
            _ => None,
        }
    }
}

impl From<SealError> for Error {
    fn from(error: SealError) -> Self {
        match error {
            SealError::NoKeys(_) => Self::Unavailable(error.to_string()),
            error => Self::Internal(error.to_string()),
        }
    }
}

impl From<NoRandomness> for Error {
    fn from(error: NoRandomness) -> Self {
        Self::Internal(error.to_string())
    }
}

text_enum! {
    /// The stable codes of `error.code` (specification, "Errors").
    pub enum ErrorCode {
        /// 404: no such route, or no such record in the organization.
        NotFound = "not_found",
        /// 401: the token is missing, malformed, expired or revoked.
        Unauthenticated = "unauthenticated",
        /// 403: the token may only read, or the request comes from a page of a foreign origin.
        Forbidden = "forbidden",
        /// 422: the request did not pass validation, or a rule refuses it; `errors` says where.
        InvalidRequest = "invalid_request",
        /// 405: the path does not answer this method.
        MethodNotAllowed = "method_not_allowed",
        /// 409: the `Idempotency-Key` was used for another request, or `If-Match` names another version.
        Conflict = "conflict",
        /// 429: the organization sends too many requests at once. Wait as long as `Retry-After` says.
        RateLimited = "rate_limited",
        /// 500: something went wrong on our side.
        InternalError = "internal_error",
    }
}

/// The body of every failure (specification, "Error envelope").
#[derive(Debug, Serialize, ToSchema)]
pub struct Envelope {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// Branch on this.
    pub code: ErrorCode,
    /// For a person; its wording may change.
    #[schema(example = "There is no such record in your organization.")]
    pub message: &'static str,
    /// The HTTP status.
    #[schema(example = 404)]
    pub status: u16,
    /// Quote this to support. Equals the header `x-request-id`.
    pub request_id: RequestId,
    /// Each field that is wrong, on 422; on 404, each field of the body that names a record that is not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

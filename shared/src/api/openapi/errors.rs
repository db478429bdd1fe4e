//! What operations answer when they fail.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::GatewayError;
use super::headers::header_reference;
use crate::domain::ids::RequestId;
use crate::error::{Envelope, Error};
use crate::wire::fields::{FieldCode, FieldErrors};

#[derive(Debug, Clone, Copy)]
pub(super) enum GivenBy {
    /// Each.
    All,
    /// `get_openapi` itself. The others describe the error with their rules.
    Undescribed,
    Writes,
    Posts,
    Patches,
    /// Operations that name records in path or body. An unknown record in a list's filter just finds nothing.
    WhatNamesRecords,
}

/// Shared failures: status, name, condition, operations.
pub(super) const ERRORS: &[(u16, &str, &str, GivenBy)] = &[
    (401, "Unauthenticated", "The token is missing, malformed, expired or revoked.", GivenBy::All),
    (403, "Forbidden", "The token is read-only.", GivenBy::Writes),
    (
        404,
        "NotFound",
        "There is no such record in your organization. If the body names it, `errors` says in which field.",
        GivenBy::WhatNamesRecords,
    ),
    (
        405,
        "MethodNotAllowed",
        "The path does not answer this method; the Allow header lists those it does.",
        GivenBy::All,
    ),
    (409, "KeyReused", "The Idempotency-Key was used for another request.", GivenBy::Posts),
    (409, "StaleMatch", "The record has changed since the version that If-Match names.", GivenBy::Patches),
    (
        422,
        "InvalidRequest",
        "The request did not pass validation; `errors` lists every field that is wrong.",
        GivenBy::Undescribed,
    ),
    (
        500,
        "InternalError",
        "Something went wrong on our side, and the request may have been done. If you sent an Idempotency-Key, it is safe to repeat it.",
        GivenBy::All,
    ),
];

/// The gateway's own responses: status, name, condition, text, and a header if any.
pub(super) const OF_GATEWAY: &[(u16, &str, &str, &str, Option<&str>)] = &[
    (413, "TooLarge", "The request is larger than the gateway accepts.", "Request Entity Too Large", None),
    (
        429,
        "TooManyRequests",
        "Your organization sends too many requests at once, or all callers together send more than the gateway lets through, which then answers with a body of its own: `{\"message\": \"Too Many Requests\"}`. Nothing was done. Wait as long as Retry-After says, a second if there is none, then send it again.",
        "Too Many Requests",
        Some("retry-after"),
    ),
    (
        503,
        "Unavailable",
        "The gateway could not reach the service. Wait, then repeat it, with the same Idempotency-Key if you sent one.",
        "Service Unavailable",
        Some("retry-after"),
    ),
];

pub(super) fn response_reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/responses/{name}")})
}

pub(super) fn error_response(status: u16, when: &str, example: Error) -> Value {
    let own = match status {
        401 => Some("www-authenticate"),
        405 => Some("allow"),
        500 => Some("retry-after"),
        _ => None,
    };
    let names = ["x-request-id"].into_iter().chain(own);
    let headers: Map<String, Value> = names.map(|name| (name.to_owned(), header_reference(name))).collect();
    let request_id = RequestId::from(uuid::uuid!("01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"));
    json!({
        "description": when,
        "headers": headers,
        "content": {"application/json": {
            "schema": {"$ref": format!("#/components/schemas/{}", Envelope::name())},
            "example": example.into_envelope(request_id),
        }},
    })
}

pub(super) fn error_responses() -> Value {
    let example_of = |name: &str| match name {
        "Unauthenticated" => Error::Unauthenticated,
        "Forbidden" => Error::ReadOnlyToken,
        "NotFound" => Error::not_found(),
        "MethodNotAllowed" => Error::MethodNotAllowed { allow: String::new() },
        "KeyReused" => Error::KeyReused,
        "StaleMatch" => Error::StaleMatch,
        "InvalidRequest" => {
            Error::Invalid(FieldErrors::one("limit", FieldCode::UnknownParameter, "is not known here; known: none"))
        }
        _ => Error::Internal(String::new()),
    };
    let own = ERRORS
        .iter()
        .map(|(status, name, when, _)| ((*name).to_owned(), error_response(*status, when, example_of(name))));
    let of_gateway = OF_GATEWAY.iter().map(|(status, name, when, message, header)| {
        let headers: Map<String, Value> =
            header.iter().map(|name| ((*name).to_owned(), header_reference(name))).collect();
        let mut response = json!({
            "description": when,
            "headers": headers,
            "content": {"application/json": {
                "schema": {"$ref": format!("#/components/schemas/{}", GatewayError::name())},
                "example": {"message": message},
            }},
        });
        if *status == 429 {
            // The service refuses one caller's flood, and the gateway that of all.
            let own = error_response(*status, when, Error::RateLimited);
            let content = &mut response["content"]["application/json"];
            let of_own = &own["content"]["application/json"];
            *content = json!({
                "schema": {"oneOf": [of_own["schema"], content["schema"]]},
                "example": of_own["example"],
            });
        }
        ((*name).to_owned(), response)
    });
    Value::Object(own.chain(of_gateway).collect())
}

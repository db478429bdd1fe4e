//! Responses of operations.

use std::marker::PhantomData;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::preconditions::etag;
use crate::error::Error;
use crate::limits;
use crate::store::idempotency::{IGNORED_FIELDS, StoredResponse};
use crate::wire::page::Page;

/// The request id's header.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A successful response's body.
pub trait Output: Serialize + ToSchema + Send {
    /// Ids of the records shown, for the audit row.
    fn objects(&self) -> Vec<Uuid>;

    /// The path for `Location`: that of the shown record or its parent.
    fn path(&self) -> Option<String> {
        None
    }
}

impl<T: Output> Output for Page<T> {
    fn objects(&self) -> Vec<Uuid> {
        self.data.iter().flat_map(Output::objects).collect()
    }
}

/// The response of a read.
#[derive(Debug)]
pub struct ReadResult<T>(Response<T>);

impl<T: Output> From<T> for ReadResult<T> {
    fn from(output: T) -> Self {
        Self(Response::ok(output))
    }
}

impl<T: Output> From<Response<T>> for ReadResult<T> {
    fn from(response: Response<T>) -> Self {
        Self(response)
    }
}

impl<T: Output> ReadResult<T> {
    pub(super) fn encode(&self) -> Result<StoredResponse, Error> {
        self.0.encode()
    }
}

/// A successful response before encoding.
#[derive(Debug)]
pub struct Response<T> {
    status: StatusCode,
    output: T,
    version: Option<u64>,
    /// Sent fields that were not stored, since their values differ from the record's, in order.
    ignored: Vec<&'static str>,
}

impl<T: Output> Response<T> {
    /// A 200.
    #[must_use]
    pub fn ok(output: T) -> Self {
        Self { status: StatusCode::OK, output, version: None, ignored: Vec::new() }
    }

    /// A 201, with the record's path as `Location`.
    #[must_use]
    pub fn created(output: T) -> Self {
        Self { status: StatusCode::CREATED, ..Self::ok(output) }
    }

    /// Adds the shown record's version, for `ETag`.
    #[must_use]
    pub fn at_version(self, version: u64) -> Self {
        Self { version: Some(version), ..self }
    }

    /// Names fields that were sent but not stored.
    #[must_use]
    pub fn ignoring(self, fields: &[&'static str]) -> Self {
        Self { ignored: fields.to_vec(), ..self }
    }

    pub(super) fn encode(&self) -> Result<StoredResponse, Error> {
        let body = serde_json::to_vec(&self.output)
            .map_err(|error| Error::Internal(format!("encoding a response: {error}")))?;
        let objects = self.output.objects().into_iter().flat_map(Uuid::into_bytes).collect();
        Ok(StoredResponse { status: self.status, body, headers: self.headers(), objects })
    }

    fn headers(&self) -> HeaderMap {
        let location = if self.status == StatusCode::CREATED { self.output.path() } else { None };
        let ignored = (!self.ignored.is_empty()).then(|| self.ignored.join(", "));
        let all = [(header::ETAG, self.version.map(etag)), (header::LOCATION, location), (IGNORED_FIELDS, ignored)];
        let header = |(name, text): (HeaderName, Option<String>)| Some((name, HeaderValue::try_from(text?).ok()?));
        all.into_iter().filter_map(header).collect()
    }
}

/// The response of a write that took effect. Only a commit creates one.
#[derive(Debug)]
pub struct Committed<T> {
    pub(super) response: StoredResponse,
    output: PhantomData<T>,
}

impl<T> Committed<T> {
    pub(super) fn new(response: StoredResponse) -> Self {
        Self { response, output: PhantomData }
    }
}

/// Whether a response exceeds Lambda's limit. Lambda receives it as a JSON string, so escapes count.
pub(super) fn is_too_large(body: &[u8]) -> bool {
    let escaped = || body.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    body.len() > limits::RESPONSE_BYTES_MAX / 2 && body.len() + escaped() > limits::RESPONSE_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_measured_as_text_in_json() {
        let (half, all) = (limits::RESPONSE_BYTES_MAX / 2, limits::RESPONSE_BYTES_MAX);
        assert!(!is_too_large(&vec![b'a'; all]) && is_too_large(&vec![b'a'; all + 1]));
        assert!(!is_too_large(&vec![b'"'; half]) && is_too_large(&vec![b'"'; half + 1]));
        let mixed = [vec![b'\\'; 1000], vec![b'a'; all - 2000]].concat();
        assert!(!is_too_large(&mixed) && is_too_large(&[mixed.as_slice(), b"a"].concat()));
    }
}

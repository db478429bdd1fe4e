//! Responses of operations.

use std::marker::PhantomData;

use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::preconditions::etag;
use crate::error::Error;
use crate::limits;
use crate::store::idempotency::StoredResponse;
use crate::wire::page::Page;

/// The body of a successful response.
pub trait Output: Serialize + ToSchema + Send {
    /// The ids of the records that the body shows, for the audit row.
    fn objects(&self) -> Vec<Uuid>;
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

/// A successful response before it is encoded.
#[derive(Debug)]
pub struct Response<T> {
    status: StatusCode,
    output: T,
    version: Option<u64>,
}

impl<T: Output> Response<T> {
    /// 200.
    #[must_use]
    pub fn ok(output: T) -> Self {
        Self { status: StatusCode::OK, output, version: None }
    }

    /// 201.
    #[must_use]
    pub fn created(output: T) -> Self {
        Self { status: StatusCode::CREATED, output, version: None }
    }

    /// Adds the version of the record that it shows, for its `ETag`.
    #[must_use]
    pub fn at_version(self, version: u64) -> Self {
        Self { version: Some(version), ..self }
    }

    pub(super) fn encode(&self) -> Result<StoredResponse, Error> {
        let body = serde_json::to_vec(&self.output)
            .map_err(|error| Error::Internal(format!("encoding a response: {error}")))?;
        let objects = self.output.objects().into_iter().flat_map(Uuid::into_bytes).collect();
        Ok(StoredResponse { status: self.status, body, etag: self.version.map(etag), objects })
    }
}

/// The response of a write that took effect. Only a commit makes one.
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

/// Whether a response is larger than Lambda allows.
pub(super) fn is_too_large(body: &[u8]) -> bool {
    let escaped = || body.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    body.len() > limits::RESPONSE_BYTES_MAX / 2 && body.len() + escaped() > limits::RESPONSE_BYTES_MAX
}

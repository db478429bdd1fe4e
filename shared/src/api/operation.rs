//! What an operation is. It is declared once, as a type; its route, its scope and its description derive from that.

use std::marker::PhantomData;

use deserr::Deserr;
use http::{Method, StatusCode};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::api::caller::{ReadCaller, WriteCaller};
use crate::api::preconditions::etag;
use crate::error::Error;
use crate::limits;
use crate::store::idempotency::StoredResponse;
use crate::wire::fields::FieldErrors;

/// What everybody may know about an operation.
#[derive(Debug)]
pub struct OperationSpec {
    /// Its id in the description, in logs and in audit rows.
    pub id: &'static str,
    /// Its method.
    pub method: Method,
    /// Its path, with parameters in braces.
    pub path: &'static str,
    /// The group that it is described in.
    pub tag: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What else is to be known.
    pub description: &'static str,
    /// The statuses of success, each with when it is given.
    pub success: &'static [(u16, &'static str)],
    /// Whether its response has an `ETag`.
    pub has_etag: bool,
}

/// What an operation answers with.
pub trait Output: Serialize + ToSchema + Send {
    /// The ids of the records that it shows, for the audit row.
    fn objects(&self) -> Vec<Uuid>;
}

impl<T: Output> Output for crate::wire::page::Page<T> {
    fn objects(&self) -> Vec<Uuid> {
        self.data.iter().flat_map(Output::objects).collect()
    }
}

/// What a read found.
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

/// An operation that changes nothing: a GET.
pub trait ReadOperation: 'static {
    /// What everybody may know.
    const SPEC: OperationSpec;
    /// The parameters of its path.
    type Path: Deserr<FieldErrors> + IntoParams + Send;
    /// The parameters of its query.
    type Query: Deserr<FieldErrors> + IntoParams + Send;
    /// What it answers with.
    type Output: Output;

    /// Finds the answer.
    ///
    /// # Errors
    /// See [`Error`].
    fn run(
        caller: &ReadCaller,
        path: Self::Path,
        query: Self::Query,
    ) -> impl Future<Output = Result<ReadResult<Self::Output>, Error>> + Send;
}

/// An operation that changes something: a POST or a PATCH.
pub trait WriteOperation: 'static {
    /// What everybody may know.
    const SPEC: OperationSpec;
    /// The parameters of its path.
    type Path: Deserr<FieldErrors> + IntoParams + Clone + Send + Sync;
    /// Its body.
    type Body: Deserr<FieldErrors> + ToSchema + Clone + Send + Sync;
    /// What it answers with.
    type Output: Output;

    /// The ids of the records that a body names, for the audit row.
    #[must_use]
    fn references(_: &Self::Body) -> Vec<Uuid> {
        Vec::new()
    }

    /// Loads, decides and commits. On [`Error::Conflict`] the pipeline calls it again.
    ///
    /// # Errors
    /// See [`Error`].
    fn run(
        caller: &WriteCaller,
        path: Self::Path,
        body: Self::Body,
    ) -> impl Future<Output = Result<Committed<Self::Output>, Error>> + Send;
}

/// Somebody who wants to know a function's operations: its routes, its description.
pub trait Register {
    /// Takes note of an operation that reads.
    fn read<O: ReadOperation>(&mut self);
    /// Takes note of an operation that writes.
    fn write<O: WriteOperation>(&mut self);
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

    /// The same with the version of the record that it shows, for its `ETag`.
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

/// Whether Lambda would refuse to hand a response on.
pub(super) fn is_too_large(body: &[u8]) -> bool {
    let escaped = || body.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    body.len() > limits::RESPONSE_BYTES_MAX / 2 && body.len() + escaped() > limits::RESPONSE_BYTES_MAX
}

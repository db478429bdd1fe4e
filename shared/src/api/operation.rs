//! Operations. Each is declared once, as a type, from which its route, scope and description derive.

use deserr::Deserr;
use http::Method;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::api::caller::{ReadCaller, WriteCaller};
pub use crate::api::response::{Committed, Output, ReadResult, Response};
use crate::error::Error;
use crate::wire::fields::{FieldCode, FieldErrors};

/// The public description of an operation.
#[derive(Debug)]
pub struct OperationSpec {
    /// Its id in the description, logs and audit rows.
    pub id: &'static str,
    /// Its method.
    pub method: Method,
    /// Its path, with parameters in braces.
    pub path: &'static str,
    /// Its group in the description.
    pub tag: &'static str,
    /// A one-line summary.
    pub summary: &'static str,
    /// Further details.
    pub description: &'static str,
    /// Its description for agents: what it does, what it doesn't, what to call next.
    pub agent: &'static str,
    /// Success statuses and their meanings.
    pub success: &'static [(u16, &'static str)],
    /// Headers of its success, beyond those of its method and status.
    pub headers: &'static [&'static str],
}

/// A rule that refuses a well-formed request: field, code and text.
pub type Rule = (&'static str, FieldCode, &'static str);

/// An operation that changes nothing: a GET.
pub trait ReadOperation: 'static {
    /// The public description.
    const SPEC: OperationSpec;
    /// The parameters of its path.
    type Path: Deserr<FieldErrors> + IntoParams + Send;
    /// The parameters of its query.
    type Query: Deserr<FieldErrors> + IntoParams + Send;
    /// The body of its response.
    type Output: Output;

    /// Members that are null in list rows, but not in a single record.
    const NULL_IN_ROWS: &'static [&'static str] = &[];

    /// Reads the response.
    fn run(
        caller: &ReadCaller,
        path: Self::Path,
        query: Self::Query,
    ) -> impl Future<Output = Result<ReadResult<Self::Output>, Error>> + Send;
}

/// An operation that changes something: a POST or a PATCH.
pub trait WriteOperation: 'static {
    /// The public description.
    const SPEC: OperationSpec;
    /// The parameters of its path.
    type Path: Deserr<FieldErrors> + IntoParams + Clone + Send + Sync;
    /// Its body.
    type Body: Deserr<FieldErrors> + ToSchema + Clone + Send + Sync;
    /// The body of its response.
    type Output: Output;

    /// Rules that refuse with 422, beyond [`FieldCode::OF_FORM`]. The first is the description's example.
    const RULES: &'static [Rule] = &[];

    /// Ids of records that a body names, for the audit row.
    #[must_use]
    fn references(_: &Self::Body) -> Vec<Uuid> {
        Vec::new()
    }

    /// Loads, decides and commits. On [`Error::Conflict`] the pipeline calls it again.
    fn run(
        caller: &WriteCaller,
        path: Self::Path,
        body: Self::Body,
    ) -> impl Future<Output = Result<Committed<Self::Output>, Error>> + Send;
}

/// Collects a function's operations: its routes, or its description.
pub trait Register {
    /// Adds a read.
    fn read<O: ReadOperation>(&mut self);
    /// Adds a write.
    fn write<O: WriteOperation>(&mut self);
}

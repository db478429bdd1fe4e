//! Operations. Each is declared once, as a type; its route, its scope and its description derive from the declaration.

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
    /// Its id in the description, in logs and in audit rows.
    pub id: &'static str,
    /// Its method.
    pub method: Method,
    /// Its path, with parameters in braces.
    pub path: &'static str,
    /// The group that it is described in.
    pub tag: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// Further details.
    pub description: &'static str,
    /// Its description for agents: what it does, what it doesn't do, what to call next.
    pub agent: &'static str,
    /// The statuses of success, each with its meaning.
    pub success: &'static [(u16, &'static str)],
    /// Headers of its success, besides those that follow from its method and status.
    pub headers: &'static [&'static str],
}

/// A rule that refuses a well-formed request: the field, code and text of its refusal.
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

    /// For a list: members that are null in its rows, but not in a record read by itself.
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

    /// The rules by which it refuses with 422, beyond [`FieldCode::OF_FORM`]. The first is the description's example.
    const RULES: &'static [Rule] = &[];

    /// The ids of the records that a body names, for the audit row.
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

/// A collector of a function's operations: its routes, or its description.
pub trait Register {
    /// Adds an operation that reads.
    fn read<O: ReadOperation>(&mut self);
    /// Adds an operation that writes.
    fn write<O: WriteOperation>(&mut self);
}

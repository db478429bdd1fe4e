//! Queries of one partition, strongly consistent: a response at a time, or all there is.

use std::fmt::Display;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, Select};
use uuid::Uuid;

use super::item::Item;
use super::keys::{PARTITION, SORT};
use super::{Store, StoreError};

/// What to read of a partition, in the order of sort keys.
#[derive(Debug, Clone)]
pub(super) struct Query<'a> {
    partition: String,
    sort: SortKeys,
    attributes: &'a [&'a str],
    condition: Option<(&'a str, &'a [&'a str])>,
    is_backward: bool,
    is_count: bool,
    limit: Option<i32>,
}

#[derive(Debug, Clone)]
enum SortKeys {
    All,
    Beginning(String),
    Between { from: String, to: String },
    From(String),
}

/// The items of one response.
#[derive(Debug)]
pub(super) struct QueryPage {
    pub items: Vec<Item>,
    /// Their number, also if only that was asked for.
    pub count: u64,
    /// The key to continue after, if there may be more.
    pub next: Option<Item>,
}

impl<'a> Query<'a> {
    pub(super) fn of(partition: String) -> Self {
        Self {
            partition,
            sort: SortKeys::All,
            attributes: &[],
            condition: None,
            is_backward: false,
            is_count: false,
            limit: None,
        }
    }

    /// Only items whose sort keys begin with a text; all if it is empty.
    pub(super) fn beginning(self, prefix: String) -> Self {
        Self { sort: if prefix.is_empty() { SortKeys::All } else { SortKeys::Beginning(prefix) }, ..self }
    }

    /// Only items between two sort keys, inclusive.
    pub(super) fn between(self, from: impl Display, to: impl Display) -> Self {
        Self { sort: SortKeys::Between { from: format!("{from}"), to: format!("{to}") }, ..self }
    }

    /// Only items from a sort key on.
    pub(super) fn from(self, from: String) -> Self {
        Self { sort: SortKeys::From(from), ..self }
    }

    pub(super) fn only(self, attributes: &'a [&'a str]) -> Self {
        Self { attributes, ..self }
    }

    /// Only items of which an attribute is one of at most 100 values. The others are read and paid for, too.
    pub(super) fn one_of(self, name: &'a str, values: &'a [&'a str]) -> Self {
        Self { condition: Some((name, values)), ..self }
    }

    pub(super) fn backward(self) -> Self {
        Self { is_backward: true, ..self }
    }

    /// How many items to read for a response, before the condition.
    pub(super) fn limit(self, limit: i32) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

/// The id that follows one.
pub(super) fn after(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_add(1))
}

impl Store {
    /// One response to a query, from its beginning or after a key.
    pub(super) async fn page_of(&self, query: &Query<'_>, start: Option<Item>) -> Result<QueryPage, StoreError> {
        let text = |value: &str| AttributeValue::S(value.to_owned());
        let mut request = self
            .client
            .query()
            .table_name(&*self.table)
            .expression_attribute_names("#pk", PARTITION)
            .expression_attribute_values(":pk", text(&query.partition))
            .scan_index_forward(!query.is_backward)
            .set_limit(query.limit)
            .set_select(query.is_count.then_some(Select::Count))
            .consistent_read(true)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        request = match &query.sort {
            SortKeys::All => request.key_condition_expression("#pk = :pk"),
            SortKeys::Beginning(prefix) => request
                .key_condition_expression("#pk = :pk AND begins_with(#sk, :prefix)")
                .expression_attribute_names("#sk", SORT)
                .expression_attribute_values(":prefix", text(prefix)),
            SortKeys::From(from) => request
                .key_condition_expression("#pk = :pk AND #sk >= :from")
                .expression_attribute_names("#sk", SORT)
                .expression_attribute_values(":from", text(from)),
            SortKeys::Between { from, to } => request
                .key_condition_expression("#pk = :pk AND #sk BETWEEN :from AND :to")
                .expression_attribute_names("#sk", SORT)
                .expression_attribute_values(":from", text(from))
                .expression_attribute_values(":to", text(to)),
        };
        if let Some((name, values)) = query.condition {
            let names: Vec<String> = (0..values.len()).map(|at| format!(":value{at}")).collect();
            request = request
                .filter_expression(format!("#filter IN ({})", names.join(", ")))
                .expression_attribute_names("#filter", name);
            for (name, value) in names.into_iter().zip(values) {
                request = request.expression_attribute_values(name, text(value));
            }
        }
        if !query.attributes.is_empty() {
            // Some of the names are reserved words of the expression language.
            let names: Vec<String> = (0..query.attributes.len()).map(|at| format!("#attribute{at}")).collect();
            request = request.projection_expression(names.join(", "));
            for (name, attribute) in names.into_iter().zip(query.attributes) {
                request = request.expression_attribute_names(name, *attribute);
            }
        }
        let output = request.customize().interceptor(self.meter.count_call()).send().await?;
        self.meter.add_read(output.consumed_capacity());
        let next = output.last_evaluated_key.filter(|key| !key.is_empty());
        let count = u64::try_from(output.count).unwrap_or_default();
        Ok(QueryPage { items: output.items.unwrap_or_default(), count, next })
    }

    /// The number of a query's items, which are read and paid for but not sent.
    pub(super) async fn count(&self, query: Query<'_>) -> Result<u64, StoreError> {
        let query = Query { is_count: true, ..query };
        let (mut count, mut start) = (0, None);
        loop {
            let page = self.page_of(&query, start).await?;
            count += page.count;
            if page.next.is_none() {
                return Ok(count);
            }
            start = page.next;
        }
    }

    /// Calls `visit` with each item of a query.
    pub(super) async fn each(&self, query: Query<'_>, mut visit: impl FnMut(Item)) -> Result<(), StoreError> {
        let mut start = None;
        loop {
            let QueryPage { items, next, .. } = self.page_of(&query, start).await?;
            items.into_iter().for_each(&mut visit);
            if next.is_none() {
                return Ok(());
            }
            start = next;
        }
    }

    /// All items of a query.
    pub(super) async fn all(&self, query: Query<'_>) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        self.each(query, |item| items.push(item)).await?;
        Ok(items)
    }
}

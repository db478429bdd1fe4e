//! The orders of a list, as links above it.
//!
//! Decision: the lists of statements, of schedules and of a trust's items have one order, the newest first, since they stay
//! short; a schedule has its items in any.

use shared::wire::page::Order;

use crate::layout::Link;

/// The orders of a list: all but the current one are links.
pub struct Sorting {
    /// The parameter's value, to keep the order through a search.
    pub current: &'static str,
    /// The orders.
    pub orders: Vec<SortLink>,
}

/// Those of a list of names.
pub const ORDERS: [Order; 3] = [Order::NewestFirst, Order::OldestFirst, Order::ByName];

/// An order of a list.
pub struct SortLink {
    /// The first page in this order.
    pub link: Link,
    /// Whether the list is in it.
    pub is_current: bool,
}

impl Sorting {
    /// The orders of a list of names. `page_url` returns the address of the first page in one.
    pub fn new(current: Order, page_url: impl Fn(Order) -> String) -> Self {
        Self::among(&ORDERS, current, page_url)
    }

    /// These orders.
    pub fn among(orders: &[Order], current: Order, page_url: impl Fn(Order) -> String) -> Self {
        let link = |order: Order| SortLink {
            link: Link { url: page_url(order), text: label(order).to_owned() },
            is_current: order == current,
        };
        Self { current: current.as_str(), orders: orders.iter().copied().map(link).collect() }
    }
}

fn label(order: Order) -> &'static str {
    match order {
        Order::NewestFirst => "Newest",
        Order::OldestFirst => "Oldest",
        Order::ByName => "Name",
        Order::ByDue => "Due",
        Order::ByAmount => "Amount",
    }
}

//! What the table's partitions take, which the embedded store doesn't bound: tests and `make load` see who is throttled.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::time::Instant;

/// Bytes of an item per write unit.
const UNIT_BYTES: usize = 1024;

/// Partitions that take so many write units a second each, up to a second's worth at once. `DynamoDB`'s take 1,000.
#[derive(Debug)]
pub struct Partitions {
    per_second: f64,
    used: Mutex<HashMap<String, Used>>,
}

#[derive(Debug, Clone, Copy)]
struct Used {
    /// Units that it takes at once.
    left: f64,
    at: Instant,
    refused: u64,
}

impl Partitions {
    /// Partitions that take this many write units a second.
    #[must_use]
    pub fn taking(units_per_second: u32) -> Self {
        Self { per_second: f64::from(units_per_second), used: Mutex::default() }
    }

    /// The partitions that refused writes, with how many.
    #[must_use]
    pub fn refused(&self) -> BTreeMap<String, u64> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.iter().filter(|(_, used)| used.refused > 0).map(|(name, used)| (name.clone(), used.refused)).collect()
    }

    /// Takes the units of one call's writes, or none of them if a partition is spent; then the error says whose are
    /// throttled.
    pub(super) fn take<'a>(
        &self,
        writes: impl Iterator<Item = (&'a str, u32)> + Clone,
        now: Instant,
    ) -> Result<(), Vec<bool>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_spent = |partition: &str| {
            let full = Used { left: self.per_second, at: now, refused: 0 };
            let of_partition = used.entry(partition.to_owned()).or_insert(full);
            let since = now.saturating_duration_since(of_partition.at).as_secs_f64();
            of_partition.left = (of_partition.left + since * self.per_second).min(self.per_second);
            of_partition.at = now;
            let is_spent = of_partition.left <= 0.0;
            of_partition.refused += u64::from(is_spent);
            is_spent
        };
        let throttled: Vec<bool> = writes.clone().map(|(partition, _)| is_spent(partition)).collect();
        if throttled.contains(&true) {
            return Err(throttled);
        }
        for (partition, units) in writes {
            if let Some(of_partition) = used.get_mut(partition) {
                of_partition.left -= f64::from(units);
            }
        }
        Ok(())
    }
}

/// The write units of one write. An update counts as its smallest, since only the store knows its item.
pub(super) fn units(write: &Value) -> u32 {
    let bytes =
        write["Item"].as_object().into_iter().flatten().map(|(name, value)| name.len() + size(value)).sum::<usize>();
    u32::try_from(bytes.div_ceil(UNIT_BYTES).max(1)).unwrap_or(u32::MAX)
}

/// About what an attribute takes in bytes: what it says, without the letters that name its types.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(members) => {
            let of =
                |(name, value): (&String, &Value)| if name.len() == 1 { size(value) } else { name.len() + size(value) };
            members.iter().map(of).sum()
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_partition_that_is_spent_refuses_until_time_has_passed_and_others_go_on() {
        let (partitions, began) = (Partitions::taking(10), Instant::now());
        let take = |names: &[&'static str], units: u32, after_ms| {
            partitions.take(names.iter().map(|name| (*name, units)), began + Duration::from_millis(after_ms))
        };
        assert_eq!(take(&["a", "b"], 12, 0), Ok(()), "more than is left is taken once");
        assert_eq!(take(&["c", "a"], 2, 100), Err(vec![false, true]), "nothing of it");
        assert_eq!(take(&["c"], 10, 100), Ok(()));
        assert_eq!(take(&["a"], 1, 200), Err(vec![true]));
        assert_eq!(take(&["a"], 1, 201), Ok(()), "it has one again");
        assert_eq!(partitions.refused(), BTreeMap::from([("a".to_owned(), 2)]));
    }

    #[test]
    fn an_item_costs_a_unit_for_each_1024_bytes() {
        let item =
            |length: usize| json!({"Item": {"pk": {"S": "p"}, "sk": {"S": "s"}, "text": {"S": "x".repeat(length)}}});
        let most = UNIT_BYTES - "pkpskstext".len();
        assert_eq!([0, most, most + 1].map(|length| units(&item(length))), [1, 1, 2]);
        assert_eq!(units(&json!({"Key": {"pk": {"S": "p"}}})), 1);
    }
}

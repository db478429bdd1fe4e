//! Compact sets of sequence numbers: neighbors are kept as one range.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Sequences(Vec<(u32, u32)>);

impl Sequences {
    pub(super) fn insert(&mut self, number: u32) {
        if self.contains(number) {
            return;
        }
        let at = self.0.partition_point(|(first, _)| *first < number);
        self.0.insert(at, (number, number));
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for (first, last) in self.0.drain(..) {
            match joined.last_mut() {
                Some((_, before)) if before.checked_add(1) == Some(first) => *before = last,
                _ => joined.push((first, last)),
            }
        }
        self.0 = joined;
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|(first, last)| (last - first).saturating_add(1)).fold(0, u32::saturating_add)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set_in_as_few_ranges_as_there_are(numbers in proptest::collection::vec(1..40_u32, 0..60)) {
            let mut sequences = Sequences::default();
            let mut model = BTreeSet::new();
            for number in numbers {
                prop_assert_eq!(sequences.contains(number), model.contains(&number));
                sequences.insert(number);
                model.insert(number);
            }
            let runs = model.iter().filter(|number| !model.contains(&(*number - 1))).count();
            prop_assert_eq!((sequences.0.len(), sequences.is_empty()), (runs, model.is_empty()));
            prop_assert_eq!(usize::try_from(sequences.count()).unwrap(), model.len());
            prop_assert_eq!(sequences.iter().collect::<Vec<_>>(), model.into_iter().collect::<Vec<_>>());
        }
    }
}

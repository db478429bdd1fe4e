//! The first of what a section of Home has, and how many there are.

/// The first of many.
#[derive(Debug)]
pub struct Shortlist<T> {
    /// Those that are shown, most urgent first.
    pub shown: Vec<T>,
    /// How many there are.
    pub total: usize,
}

impl<T> Shortlist<T> {
    pub(super) fn of(mut all: Vec<T>, max: usize) -> Self {
        let total = all.len();
        all.truncate(max);
        Self { shown: all, total }
    }

    /// What there is to see of those that are shown. Whatever has ended by now, the total leaves out too: the clock may
    /// not have recorded it yet.
    pub(super) fn seen<U>(&self, see: impl FnMut(&T) -> Option<U>) -> Shortlist<U> {
        let shown: Vec<U> = self.shown.iter().filter_map(see).collect();
        let ended = self.shown.len() - shown.len();
        Shortlist { shown, total: self.total.saturating_sub(ended) }
    }

    /// How many are not shown.
    #[must_use]
    pub fn more(&self) -> usize {
        self.total.saturating_sub(self.shown.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_since_its_row_was_written_does_not_count() {
        let rows = Shortlist::of(vec![1, 2, 3, 4, 5], 3);
        let odd = rows.seen(|row| (row % 2 == 1).then_some(row * 10));
        assert_eq!((odd.shown.as_slice(), odd.total, odd.more()), (&[10, 30][..], 4, 2));
    }
}

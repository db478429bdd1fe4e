//! Finds movements' references in the references and texts of entries.
//!
//! Decision: case, blanks and punctuation don't count, but a reference ends at word boundaries: `INV-2026-17` is in
//! "invoice inv 2026 17." and not in "INV-2026-170". The time depends on the text's length alone.

use std::collections::{BTreeMap, HashMap};

use crate::limits;
use crate::model::Entry;

use super::Place;

/// Fewest letters and digits of a reference found among other words. A shorter one must be a whole reference.
const WITHIN_CHARS_MIN: usize = 5;
const WORDS_MAX: usize = 12;

#[derive(Debug, Default)]
pub(super) struct References {
    /// The reference's letters and digits, with its movements and its index in each.
    by_letters: HashMap<String, Vec<(usize, usize)>>,
    longest: usize,
}

impl References {
    /// Adds a movement's reference. One without letters or digits is never found.
    pub fn add(&mut self, reference: &str, movement: usize, number: usize) {
        let (letters, _) = words(reference);
        if letters.is_empty() || letters.chars().count() > limits::REFERENCE_CHARS_MAX {
            return;
        }
        self.longest = self.longest.max(letters.len());
        let movements = self.by_letters.entry(letters).or_default();
        if movements.len() < limits::CANDIDATES_MAX {
            movements.push((movement, number));
        }
    }

    /// The movements that an entry references, each with the reference's index and the place of the first hit.
    pub fn find(&self, entry: &Entry) -> BTreeMap<usize, (usize, Place)> {
        let mut found = BTreeMap::new();
        if self.by_letters.is_empty() {
            return found;
        }
        for reference in &entry.references {
            self.find_in(&reference.value, Place::Reference(reference.kind), &mut found);
        }
        if let Some(text) = &entry.text {
            self.find_in(text, Place::Text, &mut found);
        }
        found
    }

    fn find_in(&self, text: &str, place: Place, found: &mut BTreeMap<usize, (usize, Place)>) {
        let (letters, ends) = words(text);
        let begins = [0].into_iter().chain(ends.iter().copied());
        for (at, begin) in begins.enumerate().take(ends.len()) {
            for end in ends.iter().skip(at).take(WORDS_MAX) {
                let Some(joined) = letters.get(begin..*end).filter(|joined| joined.len() <= self.longest) else {
                    break;
                };
                let is_whole = joined.len() == letters.len() && place != Place::Text;
                if !is_whole && joined.chars().take(WITHIN_CHARS_MIN).count() < WITHIN_CHARS_MIN {
                    continue;
                }
                for (movement, number) in self.by_letters.get(joined).into_iter().flatten() {
                    found.entry(*movement).or_insert((*number, place));
                }
            }
        }
    }
}

/// The text's letters and digits in capitals, and where words end in them.
fn words(text: &str) -> (String, Vec<usize>) {
    let (mut letters, mut ends) = (String::with_capacity(text.len()), Vec::new());
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            letters.extend(letter.to_uppercase());
        } else if ends.last().copied().unwrap_or(0) < letters.len() {
            ends.push(letters.len());
        }
    }
    if ends.last().copied().unwrap_or(0) < letters.len() {
        ends.push(letters.len());
    }
    (letters, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::currency::Currency;
    use crate::model::{Position, Reference, ReferenceKind, Side};

    fn is_found(reference: &str, references: &[&str], text: Option<&str>) -> bool {
        let mut open = References::default();
        open.add(reference, 3, 0);
        let mut entry = Entry::new(Position::Line(1), Side::Credit, 1, Currency::parse("EUR").unwrap());
        entry.text = text.map(str::to_owned);
        entry.references = references
            .iter()
            .map(|value| Reference { kind: ReferenceKind::EndToEndId, value: (*value).to_owned() })
            .collect();
        open.find(&entry).contains_key(&3)
    }

    #[test]
    fn references_are_found_however_they_are_written() {
        for (reference, text) in [
            ("INV-2026-17", "invoice inv 2026 17."),
            ("INV-2026-17", "INV2026-17"),
            ("inv 2026/17", "Rechnung:INV-2026-17,Danke"),
            ("INV202617", "INV-2026-17"),
            ("RF18 5390 0754 7034", "RF18539007547034"),
            ("Größe-77", "GRÖSSE 77"),
        ] {
            assert!(is_found(reference, &[], Some(text)), "{reference} in {text}");
            assert!(is_found(reference, &[text], None), "{reference} in {text}");
        }
    }

    #[test]
    fn parts_of_words_and_short_references_are_not() {
        for (reference, text) in
            [("INV-2026-17", "INV-2026-170"), ("INV-2026-17", "XINV-2026-17"), ("A1", "flat A1"), ("", "x"), ("-", "-")]
        {
            assert!(!is_found(reference, &[], Some(text)), "{reference} in {text}");
        }
        assert!(is_found("A1", &["a-1"], None));
        assert!(!is_found("A1", &["A1 B2"], None));
        assert!(!is_found("A1", &[], Some("A1")));
    }
}

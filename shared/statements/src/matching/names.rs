//! Names of people and companies, as different banks write them.
//!
//! Decision: accents, legal forms and word order don't count. Names are similar if one has all words of the other (at
//! least two, or a long one), or by Jaro-Winkler (`strsim`, a dependency already).

use unicode_normalization::UnicodeNormalization;

const LEFT_OUT: [&str; 40] = [
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "co",
    "company",
    "llc",
    "llp",
    "lp",
    "ltd",
    "limited",
    "plc",
    "gmbh",
    "mbh",
    "ag",
    "kg",
    "ohg",
    "gbr",
    "ug",
    "se",
    "ek",
    "sa",
    "sas",
    "sarl",
    "srl",
    "spa",
    "bv",
    "nv",
    "ab",
    "oy",
    "as",
    "aps",
    "mr",
    "mrs",
    "ms",
    "dr",
    "herr",
    "frau",
    "the",
    "and",
];
/// Names this similar are nearly the same: one letter of two words may differ.
const NEARLY_SAME: f64 = 0.94;
/// A word of this many letters suffices alone.
const LONG_WORD: usize = 6;
/// Letters compared per name: comparing takes quadratic time.
const LETTERS_MAX: usize = 70;

#[derive(Debug)]
pub(super) struct Name {
    /// Sorted, without duplicates.
    words: Vec<String>,
    joined: String,
}

impl Name {
    pub fn new(name: &str) -> Self {
        let folded: String = name.nfkd().filter(|letter| !is_mark(*letter)).flat_map(char::to_lowercase).collect();
        // Writing out umlauts or dropping them gives nearly the same name.
        let folded = folded.replace('ß', "ss").replace('ø', "o").replace('ł', "l").replace(['.', '\'', '’'], "");
        let words = folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let (kept, left_out): (Vec<&str>, Vec<&str>) =
            words.take(LETTERS_MAX).partition(|word| !LEFT_OUT.contains(word));
        let mut words: Vec<String> =
            if kept.is_empty() { left_out } else { kept }.into_iter().map(str::to_owned).collect();
        words.sort();
        words.dedup();
        let joined = words.join(" ").chars().take(LETTERS_MAX).collect();
        Self { words, joined }
    }

    pub fn is_similar(&self, other: &Self) -> bool {
        if self.words.is_empty() || other.words.is_empty() {
            return false;
        }
        let (fewer, more) = if self.words.len() <= other.words.len() { (self, other) } else { (other, self) };
        let is_telling = fewer.words.len() > 1 || fewer.words.iter().any(|word| word.chars().count() >= LONG_WORD);
        let has_all = fewer.words.iter().all(|word| more.words.binary_search(word).is_ok());
        self.joined == other.joined
            || (is_telling && has_all)
            || strsim::jaro_winkler(&self.joined, &other.joined) >= NEARLY_SAME
    }
}

fn is_mark(letter: char) -> bool {
    unicode_normalization::char::is_combining_mark(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_the_same_is_recognized() {
        for (a, b) in [
            ("Northwind Ventures LLC", "NORTHWIND VENTURES L.L.C."),
            ("Ada Okafor", "OKAFOR ADA"),
            ("Ada Okafor", "Mrs Ada Nkechi Okafor"),
            ("Müller GmbH", "MULLER GMBH"),
            ("Häßler & Söhne KG", "Hassler Sohne"),
            ("Northwind Ventures", "Northwind Venturs"),
            ("Łódź Holding", "Lodz Holding"),
            ("AG", "ag"),
        ] {
            assert!(Name::new(a).is_similar(&Name::new(b)), "{a} / {b}");
        }
    }

    #[test]
    fn others_are_not() {
        for (a, b) in [
            ("Northwind Ventures LLC", "Southgate Partners LLC"),
            ("Ada Okafor", "Ben Okafor"),
            ("Ada", "Ada Okafor"),
            ("", ""),
            ("", "Ada"),
            ("GmbH", "AG"),
            ("...", "..."),
        ] {
            assert!(!Name::new(a).is_similar(&Name::new(b)), "{a} / {b}");
        }
    }
}

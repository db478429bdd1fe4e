//! Collects entries for the readers of all formats, and cleans their parts.

use crate::limits;
use crate::model::{Entry, Reference, ReferenceKind};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::{clean, masked, shortened};

/// What banks write for "no reference", besides zeros.
const NO_REFERENCE: [&str; 5] = ["NOTPROVIDED", "NONREF", "NOREF", "NOT PROVIDED", "KREF+NONREF"];

#[derive(Debug, Default)]
pub(crate) struct Collector {
    account: Option<String>,
    entries: Vec<Entry>,
    entries_of_zero: usize,
    count: usize,
}

impl Collector {
    pub fn begin(&mut self, account: Option<&str>) {
        self.account = account.map(str::to_owned);
    }

    pub fn take(&mut self) -> (Vec<Entry>, usize) {
        (std::mem::take(&mut self.entries), std::mem::take(&mut self.entries_of_zero))
    }

    /// Adds an entry; only counts one of amount 0.
    pub fn add(&mut self, entry: Entry) -> Result<(), Refusal> {
        self.count += 1;
        if self.count > limits::ENTRIES_MAX {
            return Err(Refusal::TOO_MANY_ENTRIES);
        }
        if entry.amount_minor <= 0 {
            self.entries_of_zero += 1;
            return Ok(());
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Adds a reference, unless it is a placeholder.
    pub fn reference(&self, entry: &mut Entry, kind: ReferenceKind, value: &str) -> Result<(), Problem> {
        let value = self.cleaned(value);
        let is_none =
            value.bytes().all(|byte| byte == b'0') || NO_REFERENCE.contains(&value.to_ascii_uppercase().as_str());
        if is_none {
            return Ok(());
        }
        if value.chars().count() > limits::REFERENCE_CHARS_MAX {
            return Err(Problem::TooLong { most: limits::REFERENCE_CHARS_MAX });
        }
        entry.refer(Reference { kind, value });
        Ok(())
    }

    pub fn text(&self, entry: &mut Entry, text: &str) {
        if entry.text.is_none() {
            entry.text = self.optional(text, limits::TEXT_CHARS_MAX);
        }
    }

    pub fn counterparty(&self, entry: &mut Entry, name: &str) {
        if entry.counterparty.is_none() {
            entry.counterparty = self.optional(name, limits::NAME_CHARS_MAX);
        }
    }

    fn optional(&self, text: &str, most: usize) -> Option<String> {
        let text = self.cleaned(text);
        (!text.is_empty()).then(|| shortened(&text, most))
    }

    fn cleaned(&self, text: &str) -> String {
        masked(&clean(text), self.account.as_deref()).into_owned()
    }
}

//! A row of a list in memory and in the log: its searched text, and its attributes as bytes.

use uuid::Uuid;

use crate::store::item::{Item, VERSION};
use crate::store::keys::{PARTITION, SORT};
use crate::store::packed::{Packer, Unpacker};

use super::TEXT;

/// A row as a list reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct HeldRow<'a> {
    id: Uuid,
    text: &'a str,
    attributes: &'a [u8],
}

/// A row with what it borrows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::store) struct OwnedRow {
    pub text: String,
    /// Each with its name, both behind their lengths.
    pub attributes: Vec<u8>,
}

impl OwnedRow {
    /// What a stored row says besides key and version.
    pub(in crate::store) fn of(item: &Item) -> Self {
        let text = item.get(TEXT).and_then(|text| text.as_s().ok()).cloned().unwrap_or_default();
        let mut attributes = Packer::default();
        for (name, value) in item {
            if [PARTITION, SORT, TEXT, VERSION].contains(&name.as_str()) {
                continue;
            }
            let value = value.as_s().or_else(|_| value.as_n()).map(String::as_bytes);
            let value = value.or_else(|_| item[name].as_b().map(AsRef::as_ref));
            if let Ok(value) = value {
                attributes = attributes.sized(name.as_bytes()).sized(value);
            }
        }
        Self { text, attributes: attributes.into_bytes() }
    }

    #[cfg(test)]
    pub(in crate::store) fn with_id(&self, id: Uuid) -> HeldRow<'_> {
        HeldRow { id, text: &self.text, attributes: &self.attributes }
    }
}

impl<'a> HeldRow<'a> {
    pub(super) fn new(id: Uuid, text: &'a str, attributes: &'a [u8]) -> Self {
        Self { id, text, attributes }
    }

    /// The record's id.
    pub(in crate::store) fn id<T: From<Uuid>>(&self) -> T {
        self.id.into()
    }

    /// The folded text that searches look through.
    pub(in crate::store) fn searched(&self) -> &'a str {
        self.text
    }

    pub(in crate::store) fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        let mut attributes = Unpacker::of_bytes(self.attributes);
        loop {
            let (found, value) = (attributes.sized()?, attributes.sized()?);
            if found == name.as_bytes() {
                return Some(value);
            }
        }
    }

    pub(in crate::store) fn text(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    pub(in crate::store) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }

    /// The ids in an attribute of 16 bytes each. None without the attribute.
    pub(in crate::store) fn ids(&self, name: &str) -> Option<Vec<Uuid>> {
        let ids = self.bytes(name)?.chunks_exact(size_of::<Uuid>());
        Some(ids.filter_map(|id| Uuid::from_slice(id).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::primitives::Blob;
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;

    #[test]
    fn a_row_has_the_attributes_of_its_item() {
        let (id, ids) = (Uuid::now_v7(), [Uuid::now_v7(), Uuid::now_v7()]);
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let packed: Vec<u8> = ids.into_iter().flat_map(Uuid::into_bytes).collect();
        let item = Item::from([
            (PARTITION.to_owned(), text("somewhere")),
            (SORT.to_owned(), text(&id.to_string())),
            (VERSION.to_owned(), AttributeValue::N("7".to_owned())),
            (TEXT.to_owned(), text("ada\nada@example.org")),
            ("l".to_owned(), text("active")),
            ("x".to_owned(), AttributeValue::N("1790000000000".to_owned())),
            ("p".to_owned(), AttributeValue::B(Blob::new(packed))),
            ("long".to_owned(), text(&"x".repeat(300))),
        ]);
        let owned = OwnedRow::of(&item);
        let row = owned.with_id(id);
        assert_eq!((row.id::<Uuid>(), row.searched()), (id, "ada\nada@example.org"));
        assert_eq!((row.text("l"), row.number("x")), (Some("active"), Some(1_790_000_000_000_i64)));
        assert_eq!((row.ids("p"), row.text("long").map(str::len)), (Some(ids.to_vec()), Some(300)));
        for absent in [PARTITION, SORT, VERSION, TEXT, "a", ""] {
            assert_eq!(row.bytes(absent), None, "{absent}");
        }
    }
}

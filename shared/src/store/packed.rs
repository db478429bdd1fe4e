//! What a list row has for filters and the ledger, packed into one attribute.
//!
//! Decision: rows of movements and obligations have many small values: as attributes they would double the units of a
//! pass and treble its time. Participants' ids are shortened: half of the random bits suffice in an agreement.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use uuid::Uuid;

pub(super) const PACKED: &str = "z";

/// The last 8 bytes of an id, which exclude its version and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ShortId([u8; 8]);

impl ShortId {
    pub(super) fn of(id: Uuid) -> Self {
        Self(id.as_u64_pair().1.to_be_bytes())
    }

    pub(super) fn number(self) -> u64 {
        u64::from_be_bytes(self.0)
    }
}

#[derive(Debug, Default)]
pub(super) struct Packer(Vec<u8>);

impl Packer {
    /// Begins with the layout's number, which says what follows.
    pub(super) fn of_layout(layout: u8) -> Self {
        Self(vec![layout])
    }

    pub(super) fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    /// Adds bytes whose count the layout knows.
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(super) fn id(self, id: Uuid) -> Self {
        self.bytes(id.as_bytes())
    }

    pub(super) fn short_id(self, id: ShortId) -> Self {
        self.bytes(&id.0)
    }

    /// Adds a number, 7 bits a byte, lowest first.
    pub(super) fn number(mut self, mut number: u64) -> Self {
        while let Some(low) = u8::try_from(number & 0x7f).ok().filter(|_| number > 0x7f) {
            self.0.push(low | 0x80);
            number >>= 7;
        }
        self.0.push(u8::try_from(number).unwrap_or_default());
        self
    }

    pub(super) fn with<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self, value),
            None => self,
        }
    }

    pub(super) fn each<T>(self, all: &[T], add: impl Fn(Self, &T) -> Self) -> Self {
        all.iter().fold(self.number(u64::try_from(all.len()).unwrap_or_default()), add)
    }

    /// Adds bytes behind their number.
    pub(super) fn sized(self, bytes: &[u8]) -> Self {
        self.number(u64::try_from(bytes.len()).unwrap_or_default()).bytes(bytes)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn into_attribute(self) -> (&'static str, AttributeValue) {
        (PACKED, AttributeValue::B(Blob::new(self.0)))
    }
}

/// Unpacks values in the order in which they were packed, with None at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    /// None for bytes of another layout.
    pub(super) fn of_layout(bytes: &'a [u8], layout: u8) -> Option<Self> {
        let mut packed = Self(bytes);
        (packed.byte()? == layout).then_some(packed)
    }

    pub(super) fn of_bytes(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a number of things in memory.
    pub(super) fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Reads bytes behind their number.
    pub(super) fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads bytes whose count the layout knows.
    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn id(&mut self) -> Option<Uuid> {
        self.bytes().map(Uuid::from_bytes)
    }

    pub(super) fn short_id(&mut self) -> Option<ShortId> {
        self.bytes().map(ShortId)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    #[allow(clippy::option_option, reason = "what is not there can be read; what can't be read is another case")]
    pub(super) fn when<T>(&mut self, is_there: bool, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if is_there { read(self).map(Some) } else { Some(None) }
    }

    pub(super) fn each<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| read(self)).collect()
    }
}

pub(super) fn packed_number(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

#[cfg(test)]
pub(super) fn packed_row(packer: Packer) -> super::list::OwnedRow {
    let (name, value) = packer.into_attribute();
    super::list::OwnedRow::of(&super::Item::from([(name.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(byte: u8, number: u64, id: u128, ids: Vec<u128>, some: Option<u64>) {
            let (id, ids) = (Uuid::from_u128(id), ids.into_iter().map(Uuid::from_u128).collect::<Vec<_>>());
            let packer = Packer::of_layout(7).byte(byte).number(number).id(id).with(some, Packer::number);
            let packer = packer.each(&ids, |packer, id| packer.short_id(ShortId::of(*id))).number(u64::MAX);
            let bytes = packer.into_bytes();
            prop_assert!(Unpacker::of_layout(&bytes, 8).is_none());
            let mut packed = Unpacker::of_layout(&bytes, 7).unwrap();
            prop_assert_eq!(packed.byte(), Some(byte));
            prop_assert_eq!(packed.number(), Some(number));
            prop_assert_eq!(packed.id(), Some(id));
            prop_assert_eq!(some.and_then(|_| packed.number()), some);
            let short: Vec<ShortId> = ids.iter().map(|id| ShortId::of(*id)).collect();
            prop_assert_eq!(packed.each(Unpacker::short_id), Some(short));
            prop_assert_eq!(packed.number(), Some(u64::MAX));
            prop_assert_eq!(packed.byte(), None);
        }

        #[test]
        fn bytes_that_nothing_packed_are_refused_and_never_too_many(bytes: Vec<u8>) {
            if let Some(packed) = Unpacker::of_layout(&bytes, 1) {
                let _ = ({ packed }.number(), { packed }.each(Unpacker::id), { packed }.bytes::<3>(), { packed }.sized());
            }
        }
    }

    #[test]
    fn a_number_takes_a_byte_for_each_seven_bits() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (1_250_000, 3), (1_800_000_000_000, 6), (u64::MAX, 10)] {
            let AttributeValue::B(packed) = Packer::of_layout(1).number(number).into_attribute().1 else {
                unreachable!("bytes")
            };
            assert_eq!(packed.as_ref().len() - 1, length, "{number}");
        }
    }
}

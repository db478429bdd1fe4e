//! The zip format in its one allowed form: stored entries with fixed flags and dates, the directory, and nothing else.

use crate::FILES_MAX;

const ENTRIES_MAX: usize = FILES_MAX + 2;

pub(crate) const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
pub(crate) const CENTRAL_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
pub(crate) const END_SIGNATURE: [u8; 4] = *b"PK\x05\x06";
pub(crate) const LOCAL_BYTES: usize = 30;
pub(crate) const CENTRAL_BYTES: usize = 46;
pub(crate) const END_BYTES: usize = 22;

/// Version 2.0, which every program supports.
const VERSION: u8 = 20;
/// Made by version 2.0 on Unix. For other systems, Info-ZIP's `unzip` would misread UTF-8 names.
const MADE_BY: [u8; 2] = [VERSION, 3];
/// The external attributes of each entry: a regular file, writable by its owner and readable by all.
const ATTRIBUTES: [u8; 4] = [0, 0, 0xa4, 0x81];
/// Version 2.0 to extract, the flag for UTF-8 names, stored, and 00:00 on January 1, 1980, a zip's earliest date.
const FIXED: [u8; 10] = [VERSION, 0, 0x00, 0x08, 0, 0, 0, 0, 0x21, 0x00];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) content: &'a [u8],
    crc: u32,
    header: &'a [u8],
}

pub(crate) struct Walked<'a> {
    pub(crate) entries: Vec<Entry<'a>>,
    rest: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(crate) fn new(name: &'a str, content: &'a [u8]) -> Self {
        Self::with_crc(name, content, crc32fast::hash(content))
    }

    pub(crate) fn with_crc(name: &'a str, content: &'a [u8], crc: u32) -> Self {
        Self { name, content, crc, header: &[] }
    }

    pub(crate) fn size(&self) -> usize {
        LOCAL_BYTES + CENTRAL_BYTES + 2 * self.name.len() + self.content.len()
    }

    pub(crate) fn has_its_crc(&self) -> bool {
        crc32fast::hash(self.content) == self.crc
    }

    pub(crate) fn has_its_header(&self) -> bool {
        self.header == self.local_header()
    }

    /// The entry at an offset, whatever its header says besides sizes and CRC-32. None if there is no complete entry.
    fn at(zip: &'a [u8], offset: usize) -> Option<Self> {
        let bytes = zip.get(offset..).filter(|bytes| bytes.starts_with(&LOCAL_SIGNATURE))?;
        let name_end = LOCAL_BYTES + u16_at(bytes, 26)?;
        let content_start = name_end + u16_at(bytes, 28)?;
        let content_end = content_start.checked_add(usize::try_from(u32_at(bytes, 18)?).ok()?)?;
        Some(Self {
            name: std::str::from_utf8(bytes.get(LOCAL_BYTES..name_end)?).ok()?,
            content: bytes.get(content_start..content_end)?,
            crc: u32_at(bytes, 14)?,
            header: bytes.get(..content_start)?,
        })
    }

    fn local_header(&self) -> Vec<u8> {
        let mut header = Vec::with_capacity(LOCAL_BYTES + self.name.len());
        header.extend(LOCAL_SIGNATURE);
        header.extend(FIXED);
        header.extend(self.crc_and_sizes());
        header.extend([0; 2]);
        header.extend(self.name.as_bytes());
        header
    }

    fn central_header(&self, offset: usize) -> Vec<u8> {
        let mut header = Vec::with_capacity(CENTRAL_BYTES + self.name.len());
        header.extend(CENTRAL_SIGNATURE);
        header.extend(MADE_BY);
        header.extend(FIXED);
        header.extend(self.crc_and_sizes());
        // Extra field length, file comment length, disk number start, internal file attributes.
        header.extend([0; 8]);
        header.extend(ATTRIBUTES);
        header.extend(u32_of(offset));
        header.extend(self.name.as_bytes());
        header
    }

    fn crc_and_sizes(&self) -> Vec<u8> {
        let size = u32_of(self.content.len());
        [&self.crc.to_le_bytes()[..], &size, &size, &u16_of(self.name.len())].concat()
    }
}

pub(crate) fn size(entries: &[Entry<'_>]) -> usize {
    entries.iter().fold(END_BYTES, |size, entry| size.saturating_add(entry.size()))
}

/// Writes a zip. The caller has checked the limits of a bundle, which are stricter than a zip's.
pub(crate) fn write(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut zip = Vec::with_capacity(size(entries));
    for entry in entries {
        zip.extend(entry.local_header());
        zip.extend(entry.content);
    }
    zip.extend(directory(entries));
    zip
}

fn directory(entries: &[Entry<'_>]) -> Vec<u8> {
    let (mut directory, mut offset) = (Vec::new(), 0);
    for entry in entries {
        directory.extend(entry.central_header(offset));
        offset += LOCAL_BYTES + entry.name.len() + entry.content.len();
    }
    let (size, count) = (u32_of(directory.len()), u16_of(entries.len()));
    directory.extend(END_SIGNATURE);
    // Number of this disk, and of the disk with the central directory.
    directory.extend([0; 4]);
    directory.extend([count, count].concat());
    directory.extend(size);
    directory.extend(u32_of(offset));
    // Comment length.
    directory.extend([0; 2]);
    directory
}

/// Reads a zip from the first byte, entry by entry, without its directory. Nothing is copied or unpacked.
pub(crate) fn walk(zip: &[u8]) -> Walked<'_> {
    let (mut entries, mut offset) = (Vec::new(), 0);
    while entries.len() < ENTRIES_MAX
        && let Some(entry) = Entry::at(zip, offset)
    {
        offset += entry.header.len() + entry.content.len();
        entries.push(entry);
    }
    Walked { entries, rest: zip.get(offset..).unwrap_or_default() }
}

impl Walked<'_> {
    pub(crate) fn ends_with_its_directory(&self) -> bool {
        self.rest == directory(&self.entries)
    }
}

pub(crate) fn find<'e, 'a>(entries: &'e [Entry<'a>], name: &str) -> Option<&'e Entry<'a>> {
    entries.iter().find(|entry| entry.name == name)
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(usize::from(u16::from_le_bytes(*bytes)))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// A bundle's limits keep these numbers below 65,535 and 4 GiB.
fn u16_of(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

fn u32_of(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

//! Reads a zip that another program packed: stored or deflated, in any order, perhaps in one folder.
//!
//! Decision: only what programs agree on. The directory and the local headers say the same, and nothing stands between or
//! around the entries; no ZIP64, encryption or comment. All else is not read, and stays `not a bundle`.

use std::borrow::Cow;
use std::collections::HashMap;

use flate2::{Decompress, FlushDecompress, Status};

use crate::container::{
    CENTRAL_BYTES, CENTRAL_SIGNATURE, END_BYTES, END_SIGNATURE, Entry, LOCAL_BYTES, LOCAL_SIGNATURE, u16_at, u32_at,
};
use crate::manifest::Manifest;
use crate::{BUNDLE_BYTES_MAX, MANIFEST_PATH, SIGNATURE_PATH};

/// No manifest of [`FILES_MAX`](crate::FILES_MAX) files is larger.
const MANIFEST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A signature is 128 digits.
const SIGNATURE_BYTES_MAX: usize = 1024;

const DEFLATED: usize = 8;
/// Flag: CRC-32 and sizes follow the content, and the local header has none.
const FOLLOWED: usize = 1 << 3;
/// Flags that change nothing: the compressor's level, names in UTF-8.
const HARMLESS: usize = FOLLOWED | 1 << 1 | 1 << 2 | 1 << 11;
const DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";

#[derive(Clone, Copy)]
struct Packed<'a> {
    name: &'a str,
    is_deflated: bool,
    bytes: &'a [u8],
    size: usize,
    crc: u32,
}

/// A file of the zip. Without content, it is not as the manifest says.
pub(crate) struct Unpacked<'a> {
    name: &'a str,
    content: Option<Cow<'a, [u8]>>,
    crc: u32,
}

impl Unpacked<'_> {
    pub(crate) fn entry(&self) -> Entry<'_> {
        match &self.content {
            Some(content) => Entry::with_crc(self.name, content, self.crc),
            // Empty bytes with another CRC-32 are no file's content.
            None => Entry::with_crc(self.name, &[], !0),
        }
    }
}

/// The files of a zip that another program packed, without folders. None if it is not one, or has no manifest.
pub(crate) fn read(zip: &[u8]) -> Option<Vec<Unpacked<'_>>> {
    let packed = without_folder(entries(zip)?);
    let find = |name: &str| packed.iter().find(|entry| entry.name == name);
    let json = find(MANIFEST_PATH)?.unpacked(MANIFEST_BYTES_MAX)?;
    let manifest = Manifest::parse(&json);
    let files = manifest.iter().flat_map(|manifest| &manifest.files);
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    for file in files {
        sizes.insert(&file.path, usize::try_from(file.size_bytes).ok()?);
    }
    if sizes.values().fold(0, |sum: usize, size| sum.saturating_add(*size)) > BUNDLE_BYTES_MAX {
        return None;
    }
    sizes.insert(MANIFEST_PATH, json.len());
    if let Some(signature) = find(SIGNATURE_PATH) {
        sizes.insert(SIGNATURE_PATH, signature.size.min(SIGNATURE_BYTES_MAX));
    }
    // The first of two with one name counts: no file is unpacked twice.
    let unpack = |entry: &Packed<'_>| sizes.remove(entry.name);
    let sizes: Vec<Option<usize>> = packed.iter().map(unpack).collect();
    let unpacked = packed.into_iter().zip(sizes).map(|(entry, size)| {
        let content = size.filter(|size| *size == entry.size).and_then(|size| entry.unpacked(size));
        Unpacked { name: entry.name, content, crc: entry.crc }
    });
    Some(unpacked.collect())
}

impl<'a> Packed<'a> {
    fn unpacked(self, bytes_max: usize) -> Option<Cow<'a, [u8]>> {
        if self.size > bytes_max {
            return None;
        }
        if !self.is_deflated {
            return Some(Cow::Borrowed(self.bytes));
        }
        let mut content = Vec::with_capacity(self.size.saturating_add(1));
        let mut inflater = Decompress::new(false);
        let status = inflater.decompress_vec(self.bytes, &mut content, FlushDecompress::Finish).ok()?;
        let is_all = status == Status::StreamEnd && usize::try_from(inflater.total_in()) == Ok(self.bytes.len());
        (is_all && content.len() == self.size).then_some(Cow::Owned(content))
    }
}

/// If another program packed the folder of a bundle, the names in it are those of the bundle.
fn without_folder(entries: Vec<Packed<'_>>) -> Vec<Packed<'_>> {
    let is_folder = |entry: &Packed<'_>| entry.name.ends_with('/') && entry.size == 0;
    let mut files: Vec<Packed<'_>> = entries.into_iter().filter(|entry| !is_folder(entry)).collect();
    if files.iter().any(|entry| entry.name == MANIFEST_PATH) {
        return files;
    }
    let folder_of = |entry: &Packed<'_>| {
        let folder = entry.name.strip_suffix(MANIFEST_PATH)?.strip_suffix('/')?;
        (!folder.contains('/')).then(|| format!("{folder}/"))
    };
    if let Some(folder) = files.iter().find_map(folder_of) {
        for entry in &mut files {
            entry.name = entry.name.strip_prefix(&*folder).unwrap_or(entry.name);
        }
    }
    files
}

/// The entries of a directory that the rest of the zip agrees with.
fn entries(zip: &[u8]) -> Option<Vec<Packed<'_>>> {
    let end_at = zip.len().checked_sub(END_BYTES)?;
    let end = zip.get(end_at..).filter(|end| end.starts_with(&END_SIGNATURE))?;
    let (count, directory_at) = (u16_at(end, 10)?, usize_at(end, 16)?);
    let is_one_disk = usize_at(end, 4)? == 0 && u16_at(end, 8)? == count && u16_at(end, 20)? == 0;
    if !is_one_disk || directory_at.checked_add(usize_at(end, 12)?)? != end_at {
        return None;
    }
    let before = zip.get(..directory_at)?;
    let (mut entries, mut directory, mut at) = (Vec::new(), zip.get(directory_at..end_at)?, 0);
    for _ in 0..count {
        let header = directory.get(..CENTRAL_BYTES).filter(|header| header.starts_with(&CENTRAL_SIGNATURE))?;
        let name_end = CENTRAL_BYTES.checked_add(u16_at(header, 28)?)?;
        let header_end = name_end.checked_add(u16_at(header, 30)?)?.checked_add(u16_at(header, 32)?)?;
        let name = directory.get(CENTRAL_BYTES..name_end)?;
        directory = directory.get(header_end..)?;
        if usize_at(header, 42)? != at {
            return None;
        }
        let (entry, length) = entry(before.get(at..)?, header, name)?;
        entries.push(entry);
        at = at.checked_add(length)?;
    }
    (directory.is_empty() && at == directory_at).then_some(entries)
}

/// The entry that begins here, and its length with what follows it, if its local header says what the directory says.
fn entry<'a>(bytes: &'a [u8], central: &[u8], name: &'a [u8]) -> Option<(Packed<'a>, usize)> {
    let local = bytes.get(..LOCAL_BYTES).filter(|header| header.starts_with(&LOCAL_SIGNATURE))?;
    let (flags, method) = (u16_at(central, 8)?, u16_at(central, 10)?);
    let is_followed = flags & FOLLOWED != 0;
    // CRC-32 and both sizes.
    let sums = central.get(16..28)?;
    let is_same = u16_at(local, 6)? == flags
        && u16_at(local, 8)? == method
        && (is_followed || local.get(14..26)? == sums)
        && bytes.get(LOCAL_BYTES..LOCAL_BYTES.checked_add(u16_at(local, 26)?)?)? == name;
    let (packed, size) = (usize_at(sums, 4)?, usize_at(sums, 8)?);
    let is_read = flags & !HARMLESS == 0 && (method == DEFLATED || (method == 0 && packed == size));
    if !is_same || !is_read {
        return None;
    }
    let start = LOCAL_BYTES.checked_add(name.len())?.checked_add(u16_at(local, 28)?)?;
    let end = start.checked_add(packed)?;
    let entry = Packed {
        name: std::str::from_utf8(name).ok()?,
        is_deflated: method == DEFLATED,
        bytes: bytes.get(start..end)?,
        size,
        crc: u32_at(sums, 0)?,
    };
    if !is_followed {
        return Some((entry, end));
    }
    let after = bytes.get(end..)?;
    let signed = after.strip_prefix(&DESCRIPTOR_SIGNATURE).filter(|after| after.starts_with(sums));
    let length = if signed.is_some() { 16 } else { 12 };
    (signed.is_some() || after.starts_with(sums)).then_some((entry, end.checked_add(length)?))
}

fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}

//! A zip file with every field settable. Shares no code with the crate.

#[derive(Clone, Default)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) version: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) time: u16,
    pub(crate) date: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
    /// The following are only in the directory.
    pub(crate) made_by: u16,
    pub(crate) comment: Vec<u8>,
    pub(crate) disk: u16,
    pub(crate) internal: u16,
    pub(crate) external: u32,
    pub(crate) shift: u32,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) local: Header,
    pub(crate) central: Header,
    pub(crate) content: Vec<u8>,
    pub(crate) before: Vec<u8>,
    pub(crate) is_in_directory: bool,
}

impl Entry {
    pub(crate) fn new(name: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        let (name, made_by, external) = (name.into(), 0x0314, 0o100_644 << 16);
        let central = Header { name, version: 20, flags: 0x800, date: 0x21, made_by, external, ..Header::default() };
        let (local, content, before) = (central.clone(), content.into(), Vec::new());
        let mut entry = Self { local, central, content, before, is_in_directory: true };
        entry.settle();
        entry
    }

    pub(crate) fn settle(&mut self) {
        let size = u32::try_from(self.content.len()).expect("a size");
        self.set(|header| (header.packed, header.size) = (size, size));
        let crc = crc32fast::hash(&self.content);
        self.set(|header| header.crc = crc);
    }

    /// Compresses the content, and says its size and CRC-32 in both headers.
    pub(crate) fn deflate(&mut self) {
        let content = std::mem::take(&mut self.content);
        self.deflate_as(&content, &content);
    }

    /// Compresses a content, and says size and CRC-32 of another.
    pub(crate) fn deflate_as(&mut self, content: &[u8], said: &[u8]) {
        self.content = miniz_oxide::deflate::compress_to_vec(content, 9);
        self.settle();
        let (crc, size) = (crc32fast::hash(said), u32::try_from(said.len()).expect("a size"));
        self.set(|header| (header.crc, header.size, header.method) = (crc, size, 8));
    }

    pub(crate) fn set(&mut self, change: impl Fn(&mut Header)) {
        change(&mut self.local);
        change(&mut self.central);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Zip {
    pub(crate) entries: Vec<Entry>,
    pub(crate) before_directory: Vec<u8>,
    /// Added to the words of the end: disk, disk of the directory, entries here, entries.
    pub(crate) end: [u16; 4],
    pub(crate) comment: Vec<u8>,
}

impl Zip {
    pub(crate) fn read(zip: &[u8]) -> Self {
        let u16_at = |at: usize| usize::from(u16::from_le_bytes([zip[at], zip[at + 1]]));
        let u32_at = |at: usize| u16_at(at) + (u16_at(at + 2) << 16);
        let end = zip.len() - 22;
        let (mut at, mut entries) = (u32_at(end + 16), Vec::new());
        while at < end {
            let (size, name_size, offset) = (u32_at(at + 20), u16_at(at + 28), u32_at(at + 42));
            let start = offset + 30 + name_size;
            entries.push(Entry::new(&zip[at + 46..at + 46 + name_size], &zip[start..start + size]));
            at += 46 + name_size;
        }
        Self { entries, ..Self::default() }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let (mut zip, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
        for entry in &self.entries {
            zip.extend(&entry.before);
            let offset = u32::try_from(zip.len()).expect("an offset");
            if entry.is_in_directory {
                directory.extend(central(&entry.central, offset + entry.central.shift));
                count += 1;
            }
            zip.extend([b"PK\x03\x04", &common(&entry.local)[..], &entry.local.name, &entry.local.extra].concat());
            zip.extend(&entry.content);
        }
        zip.extend(&self.before_directory);
        let offset = u32::try_from(zip.len()).expect("an offset");
        let size = u32::try_from(directory.len()).expect("a size");
        zip.extend(directory);
        let [disk, of_directory, here, all] = self.end;
        zip.extend(b"PK\x05\x06");
        zip.extend([disk, of_directory, count + here, count + all].map(u16::to_le_bytes).concat());
        zip.extend([size, offset].map(u32::to_le_bytes).concat());
        zip.extend(u16::try_from(self.comment.len()).expect("a size").to_le_bytes());
        zip.extend(&self.comment);
        zip
    }
}

/// The common part of both headers, up to the size of the extra field.
fn common(header: &Header) -> Vec<u8> {
    let Header { version, flags, method, time, date, crc, packed, size, name, extra, .. } = header;
    let lengths = [name, extra].map(|bytes| u16::try_from(bytes.len()).expect("a size"));
    [
        [*version, *flags, *method, *time, *date].map(u16::to_le_bytes).concat(),
        [*crc, *packed, *size].map(u32::to_le_bytes).concat(),
        lengths.map(u16::to_le_bytes).concat(),
    ]
    .concat()
}

fn central(header: &Header, offset: u32) -> Vec<u8> {
    let Header { made_by, comment, disk, internal, external, name, extra, .. } = header;
    let comment_size = u16::try_from(comment.len()).expect("a size");
    [
        b"PK\x01\x02",
        &made_by.to_le_bytes()[..],
        &common(header),
        &[comment_size, *disk, *internal].map(u16::to_le_bytes).concat(),
        &[*external, offset].map(u32::to_le_bytes).concat(),
        name,
        extra,
        comment,
    ]
    .concat()
}

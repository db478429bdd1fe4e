//! Bundles that were unpacked and packed again by another program, whole and not.

use bundle::{File, write};

use crate::cases::Case;
use crate::zip::{Entry, Header, Zip};
use crate::{ABOUT, FILES, REPACKED, good, key};

const FOLDER: &str = "Lease evidence/";
const CERTIFICATE: usize = 3;
const DEED: usize = 4;
const LAST: usize = 7;

/// A bundle, compressed by another program, with other dates; and then changed.
fn repacked(name: &str, change: impl FnOnce(&mut Zip), expected: &[&str]) -> Case {
    let mut zip = Zip::read(&good());
    zip.entries.iter_mut().for_each(deflated);
    change(&mut zip);
    Case::new(format!("repacked: {name}"), zip.write(), expected)
}

fn deflated(entry: &mut Entry) {
    entry.deflate();
    entry.set(|header| (header.time, header.date) = (0x6000, 0x5b3c));
}

fn added(path: impl Into<Vec<u8>>) -> impl FnOnce(&mut Zip) {
    let path = path.into();
    move |zip| zip.entries.push(Entry::new(path, b"added".as_slice()))
}

fn in_folder(zip: &mut Zip) {
    for entry in &mut zip.entries {
        entry.set(|header| header.name = [FOLDER.as_bytes(), &header.name].concat());
    }
    zip.entries.insert(0, Entry::new(FOLDER, b"".as_slice()));
    zip.entries.insert(5, Entry::new([FOLDER, "documents/"].concat(), b"".as_slice()));
}

/// Moves CRC-32 and sizes behind the contents, as programs do that write to a pipe.
fn followed(zip: &mut Zip, signature: &[u8]) {
    let mut before = Vec::new();
    for entry in &mut zip.entries {
        entry.before = std::mem::take(&mut before);
        entry.set(|header| header.flags |= 8);
        let Header { crc, packed, size, .. } = entry.local;
        before = [signature, &[crc, packed, size].map(u32::to_le_bytes).concat()].concat();
        (entry.local.crc, entry.local.packed, entry.local.size) = (0, 0, 0);
    }
    zip.before_directory = before;
}

pub(crate) fn cases() -> Vec<Case> {
    [whole(), other_contents(), packed_badly(), hidden()].into_iter().flatten().collect()
}

fn whole() -> Vec<Case> {
    let stored = |zip: &mut Zip| zip.entries.clone_from(&Zip::read(&good()).entries);
    let stored_later = |zip: &mut Zip| {
        stored(zip);
        zip.entries.iter_mut().for_each(|entry| entry.set(|header| header.date = 0x5b3c));
    };
    let extra = |zip: &mut Zip| zip.entries[DEED].set(|header| header.extra = vec![0x55, 0x54, 1, 0, 0]);
    let local_extra = |zip: &mut Zip| zip.entries[DEED].local.extra = vec![0x55, 0x54, 1, 0, 0];
    let ascii = |zip: &mut Zip| zip.entries.iter_mut().for_each(|entry| entry.set(|header| header.flags = 0));
    let folder = |zip: &mut Zip| zip.entries.insert(DEED, Entry::new("documents/", b"".as_slice()));
    let followed_in_folder = |zip: &mut Zip| {
        in_folder(zip);
        followed(zip, b"PK\x07\x08");
    };
    let compressed = |zip: &mut Zip| zip.entries.iter_mut().for_each(|entry| entry.set(|header| header.flags |= 6));
    let comment = |zip: &mut Zip| zip.entries[DEED].central.comment = b"reviewed".to_vec();
    vec![
        repacked("compressed", |_| (), &[REPACKED]),
        repacked("stored, with other dates", stored_later, &[REPACKED]),
        repacked("backward", |zip| zip.entries.reverse(), &[REPACKED]),
        repacked("in a folder", in_folder, &[REPACKED]),
        repacked("with a folder of its own", folder, &[REPACKED]),
        repacked("with extra fields", extra, &[REPACKED]),
        repacked("with an extra field in the local header", local_extra, &[REPACKED]),
        repacked("with a comment on a file", comment, &[REPACKED]),
        repacked("without the flag for UTF-8", ascii, &[REPACKED]),
        repacked("with the compressor's level", compressed, &[REPACKED]),
        repacked("with sizes after the contents", |zip| followed(zip, b"PK\x07\x08"), &[REPACKED]),
        repacked("with sizes after the contents, unsigned", |zip| followed(zip, b""), &[REPACKED]),
        repacked("in a folder, with sizes after the contents", followed_in_folder, &[REPACKED]),
    ]
}

fn other_contents() -> Vec<Case> {
    let changed = |zip: &mut Zip| zip.entries[DEED].deflate_as(b"%PDF-1.7 dead", b"%PDF-1.7 dead");
    let twice = |zip: &mut Zip| zip.entries.push(zip.entries[CERTIFICATE].clone());
    let other = |zip: &mut Zip| {
        let mut entry = Entry::new("certificate.pdf", b"%PDF-1.7 another".as_slice());
        entry.deflate();
        zip.entries.insert(CERTIFICATE, entry);
    };
    let outside = |path: &'static str| {
        move |zip: &mut Zip| {
            in_folder(zip);
            added(path)(zip);
        }
    };
    let manifest = |zip: &mut Zip| {
        let text = Zip::read(&good()).entries[0].content.clone();
        let text = String::from_utf8(text).expect("a manifest").replace("2026-11-23", "2026-11-24");
        zip.entries[0].deflate_as(text.as_bytes(), text.as_bytes());
    };
    let signed = |id: &str, expected: &[&str]| {
        let mut zip = Zip::read(&write(&ABOUT, &FILES, &key(id)).expect("a bundle"));
        zip.entries.iter_mut().for_each(deflated);
        Case::new(format!("repacked: signed by {id}"), zip.write(), expected)
    };
    let inconsistent = [File { path: "movements.jsonl", content: b"{}\n" }];
    let mut records = Zip::read(&write(&ABOUT, &inconsistent, &key("2026-11")).expect("a bundle"));
    records.entries.iter_mut().for_each(deflated);
    vec![
        repacked("with a changed byte", changed, &["changed documents/deed.pdf"]),
        repacked("with another file", added(".DS_Store"), &["added .DS_Store"]),
        repacked("with a file beside its folder", outside("__MACOSX/._a"), &["added __MACOSX/._a"]),
        repacked("with a file beside its folder twice", outside("audit.json"), &["not a bundle audit.json"]),
        repacked("with a file twice", twice, &["not a bundle certificate.pdf"]),
        repacked("with another first", other, &["not a bundle certificate.pdf", "changed certificate.pdf"]),
        repacked("without a file", |zip| drop(zip.entries.remove(DEED)), &["missing documents/deed.pdf"]),
        repacked("without the signature", |zip| drop(zip.entries.remove(1)), &["missing manifest.sig"]),
        repacked("with another manifest", manifest, &["manifest changed manifest.json"]),
        signed("mallory", &["unknown key manifest.json"]),
        signed("leaked", &["compromised key manifest.json"]),
        Case::new("repacked: payments", records.write(), &["inconsistent movements.jsonl"]),
    ]
}

fn packed_badly() -> Vec<Case> {
    let zeros = vec![0; 64 * 1024 * 1024];
    let (deed, last) = (["changed documents/deed.pdf"], ["changed timeline.json"]);
    let content = FILES[2].content;
    let longer = |zip: &mut Zip| zip.entries[DEED].deflate_as(&[content, b"more"].concat(), content);
    let shorter = |zip: &mut Zip| zip.entries[DEED].deflate_as(&content[1..], content);
    let cut = |zip: &mut Zip| {
        let entry = &mut zip.entries[DEED];
        entry.content.pop();
        let size = u32::try_from(entry.content.len()).expect("a size");
        entry.set(|header| header.packed = size);
    };
    let noise = |zip: &mut Zip| zip.entries[DEED].content.fill(0xff);
    let crc = |zip: &mut Zip| zip.entries[DEED].set(|header| header.crc ^= 1);
    let signature = |zip: &mut Zip| zip.entries[1].deflate_as(&zeros, &zeros);
    vec![
        repacked("with a file of 64 MiB", |zip| zip.entries[LAST].deflate_as(&zeros, &zeros), &last),
        repacked(
            "with a file of 64 MiB that says less",
            |zip| zip.entries[LAST].deflate_as(&zeros, FILES[5].content),
            &last,
        ),
        repacked("with a file that goes on", longer, &deed),
        repacked("with a file that ends early", shorter, &deed),
        repacked("with a file that is cut off", cut, &deed),
        repacked("with a file that does not unpack", noise, &deed),
        repacked("with another CRC-32", crc, &deed),
        repacked("with a signature of 64 MiB", signature, &["manifest changed manifest.json"]),
    ]
}

/// What programs may read in several ways is no zip that was merely repacked.
fn hidden() -> Vec<Case> {
    let all = |zip: &Zip| {
        let names = zip.entries.iter().map(|entry| String::from_utf8(entry.local.name.clone()).expect("a name"));
        names.map(|name| format!("not a bundle {name}")).collect::<Vec<_>>()
    };
    let case = |name: &str, change: &dyn Fn(&mut Zip)| {
        let mut zip = Zip::read(&good());
        zip.entries.iter_mut().for_each(|entry| entry.set(|header| header.date = 0x5b3c));
        let mut expected = all(&zip);
        change(&mut zip);
        expected.push("not a bundle -".to_owned());
        Case::new(format!("repacked: {name}"), zip.write(), &expected.iter().map(String::as_str).collect::<Vec<_>>())
    };
    vec![
        case("with a comment", &|zip| zip.comment = b"reviewed".to_vec()),
        case("with bytes before the directory", &|zip| zip.before_directory = b"hidden".to_vec()),
        case("on two disks", &|zip| zip.end[0] = 1),
        case("encrypted", &|zip| zip.entries[DEED].set(|header| header.flags |= 1)),
        case("with another method", &|zip| zip.entries[DEED].set(|header| header.method = 12)),
        case("with another offset in the directory", &|zip| zip.entries[DEED].central.shift = 1),
        case("with other flags in the directory", &|zip| zip.entries[DEED].central.flags = 0),
        case("with another size in the directory", &|zip| zip.entries[DEED].central.size += 1),
    ]
}

//! Bundles with a zip or files damaged by accident, or by someone without the service's key.

use crate::cases::Case;
use crate::zip::{Entry, Header, Zip};
use crate::{FILES, REPACKED, good};

type Change = (&'static str, fn(&mut Header));

const FIRST: usize = 2;
const MANIFEST: &str = "manifest.json";

fn with(name: &str, change: impl FnOnce(&mut Zip), expected: &[&str]) -> Case {
    let mut zip = Zip::read(&good());
    change(&mut zip);
    Case::new(name, zip.write(), expected)
}

pub(crate) fn cases() -> Vec<Case> {
    let groups = [
        changed(),
        missing(),
        renamed(),
        added(),
        twice(),
        moved(),
        headers(),
        directory(),
        packed(),
        around(),
        others(),
    ];
    groups.into_iter().flatten().collect()
}

fn changed() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, file) in FILES.iter().enumerate() {
        let problem = format!("changed {}", file.path);
        let name = |what: &str| format!("{}: {what}", file.path);
        let mut add = |what: &str, change: &dyn Fn(&mut Entry)| {
            let change = |zip: &mut Zip| change(&mut zip.entries[FIRST + at]);
            cases.push(with(&name(what), change, &[&problem]));
        };
        add("wrong CRC-32 in both headers", &|entry| entry.set(|header| header.crc ^= 1));
        let longer = |entry: &mut Entry| {
            entry.content.push(b' ');
            entry.settle();
        };
        add("a byte more", &longer);
        for place in 0..file.content.len().min(3) {
            add(&format!("byte {place} changed"), &|entry| entry.content[place] ^= 0x20);
            let settled = |entry: &mut Entry| {
                entry.content[place] ^= 0x20;
                entry.settle();
            };
            add(&format!("byte {place} changed, CRC-32 too"), &settled);
        }
    }
    let exchange = |zip: &mut Zip| {
        let certificate = std::mem::take(&mut zip.entries[3].content);
        zip.entries[3].content = std::mem::replace(&mut zip.entries[4].content, certificate);
        zip.entries.iter_mut().for_each(Entry::settle);
    };
    let both = ["changed certificate.pdf", "changed documents/deed.pdf"];
    cases.push(with("two files have each other's content", exchange, &both));
    cases
}

fn missing() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, file) in FILES.iter().enumerate() {
        let remove = |zip: &mut Zip| drop(zip.entries.remove(FIRST + at));
        cases.push(with(&format!("{} removed", file.path), remove, &[&format!("missing {}", file.path)]));
        let hide = |zip: &mut Zip| zip.entries[FIRST + at].is_in_directory = false;
        cases.push(with(&format!("{} not in the directory", file.path), hide, &["not a bundle -"]));
    }
    let all: Vec<String> = FILES.iter().map(|file| format!("missing {}", file.path)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    cases.push(with("all files removed", |zip| zip.entries.truncate(FIRST), &all));
    cases.push(with("all removed", |zip| zip.entries.clear(), &["not a bundle -"]));
    cases.push(with("no manifest", |zip| drop(zip.entries.remove(0)), &["not a bundle -"]));
    cases.push(with("no signature", |zip| drop(zip.entries.remove(1)), &["missing manifest.sig"]));
    let two = |zip: &mut Zip| zip.entries.drain(1..3).for_each(drop);
    cases.push(with("no signature and a file removed", two, &["missing manifest.sig", "missing audit.json"]));
    cases
}

fn renamed() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, file) in FILES.iter().enumerate() {
        let new = format!("{}0", file.path);
        let rename = |zip: &mut Zip| zip.entries[FIRST + at].set(|header| header.name.clone_from(&new.clone().into()));
        let problems = [format!("missing {}", file.path), format!("added {new}")];
        cases.push(with(&format!("{} renamed", file.path), rename, &problems.each_ref().map(String::as_str)));
    }
    let rename = |at: usize, new: &'static [u8]| {
        move |zip: &mut Zip| zip.entries[at].set(|header: &mut Header| header.name = new.to_vec())
    };
    let normal = ["added documents/U\u{308}bergabe.pdf", "missing documents/\u{dc}bergabe.pdf"];
    // In the right place except for its name, which is encoded differently but looks the same.
    let renormalized = rename(6, "documents/U\u{308}bergabe.pdf".as_bytes());
    cases.push(with("another normal form", renormalized, &normal));
    let capital = ["added certificate.PDF", "missing certificate.pdf"];
    cases.push(with("another case", rename(3, b"certificate.PDF"), &capital));
    cases.push(with("manifest renamed", rename(0, b"MANIFEST.JSON"), &["not a bundle -"]));
    let no_signature = ["missing manifest.sig", "added Manifest.sig"];
    cases.push(with("signature renamed", rename(1, b"Manifest.sig"), &no_signature));
    // Only one of the two names, so that other programs might show the other.
    let local = |zip: &mut Zip| zip.entries[4].local.name = b"documents/dead.pdf".to_vec();
    let names = ["not a bundle -", "added documents/dead.pdf", "missing documents/deed.pdf"];
    cases.push(with("renamed in the local header only", local, &names));
    let central = |zip: &mut Zip| zip.entries[4].central.name = b"documents/dead.pdf".to_vec();
    cases.push(with("renamed in the directory only", central, &["not a bundle -"]));
    cases
}

fn added() -> Vec<Case> {
    let mut cases = Vec::new();
    // In path order, before the first file after it.
    for path in [
        "",
        "../evil",
        "../../evil",
        "/etc/passwd",
        "C:/evil",
        "C:evil",
        "\\\\host\\evil",
        "..\\evil",
        ".",
        "..",
        "./evil",
        "documents/../../evil",
        "documents/",
        "documents//a",
        "\0",
        "line\nbreak",
        "\u{1b}[2J",
        "\u{202e}fdp.exe",
        "documents",
        "certificate.pdf/a",
        "extra.pdf",
        "timeline.json2",
        "\u{1f600}",
        "zzz",
        "manifest.json/a",
        "__MACOSX/._certificate.pdf",
        ".DS_Store",
    ] {
        let add = |zip: &mut Zip| {
            let at = zip.entries.iter().skip(FIRST).position(|entry| entry.local.name.as_slice() > path.as_bytes());
            let at = at.map_or(zip.entries.len(), |at| at + FIRST);
            zip.entries.insert(at, Entry::new(path, b"added".as_slice()));
        };
        cases.push(with(&format!("{path:?} added"), add, &[&format!("added {path}")]));
    }
    let folder = |zip: &mut Zip| zip.entries.insert(4, Entry::new("documents/", b"".as_slice()));
    cases.push(with("a folder added", folder, &["added documents/"]));
    let end = |zip: &mut Zip| zip.entries.push(Entry::new("a", b"added".as_slice()));
    cases.push(with("added at the end", end, &["added a"]));
    let start = |zip: &mut Zip| zip.entries.insert(0, Entry::new("a", b"added".as_slice()));
    cases.push(with("added at the start", start, &["added a"]));
    let not_text = |zip: &mut Zip| zip.entries.push(Entry::new(b"\xff".as_slice(), b"added".as_slice()));
    cases.push(with("a name that is not UTF-8", not_text, &["not a bundle -"]));
    let surrogate = |zip: &mut Zip| zip.entries.push(Entry::new(b"\xed\xa0\x80".as_slice(), b"added".as_slice()));
    cases.push(with("a name with half a character", surrogate, &["not a bundle -"]));
    let hidden = |zip: &mut Zip| {
        let mut entry = Entry::new("zzz", b"hidden".as_slice());
        entry.is_in_directory = false;
        zip.entries.push(entry);
    };
    cases.push(with("added without a line in the directory", hidden, &["not a bundle -", "added zzz"]));
    let longest = |zip: &mut Zip| zip.entries.push(Entry::new(vec![b'z'; 65_535], b"long".as_slice()));
    cases.push(with("a name as long as can be", longest, &[&format!("added {}", "z".repeat(65_535))]));
    cases
}

fn twice() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in 0..FIRST + FILES.len() {
        let name = Zip::read(&good()).entries[at].local.name.clone();
        let name = String::from_utf8(name).expect("a name");
        let problem = format!("not a bundle {name}");
        let same = |zip: &mut Zip| zip.entries.insert(at, zip.entries[at].clone());
        cases.push(with(&format!("{name} twice"), same, &[&problem]));
        // Of two entries with one name, programs differ in which one they extract.
        let other = |zip: &mut Zip| zip.entries.insert(at + 1, Entry::new(name.as_str(), b"other".as_slice()));
        cases.push(with(&format!("{name} twice, the second differs"), other, &[&problem]));
        let at_end = |zip: &mut Zip| zip.entries.push(Entry::new(name.as_str(), b"other".as_slice()));
        if at < FIRST + FILES.len() - 1 {
            cases.push(with(&format!("{name} again at the end"), at_end, &[&problem]));
        }
    }
    let first = |zip: &mut Zip| zip.entries.insert(3, Entry::new("certificate.pdf", b"other".as_slice()));
    let found = ["not a bundle certificate.pdf", "changed certificate.pdf"];
    cases.push(with("a file twice, the first differs", first, &found));
    cases
}

/// As other programs may write them.
fn moved() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in 0..FIRST + FILES.len() - 1 {
        let swap = |zip: &mut Zip| zip.entries.swap(at, at + 1);
        cases.push(with(&format!("entries {at} and {} swapped", at + 1), swap, &[REPACKED]));
    }
    cases.push(with("manifest at the end", |zip| zip.entries.rotate_left(1), &[REPACKED]));
    cases.push(with("files backward", |zip| zip.entries[FIRST..].reverse(), &[REPACKED]));
    cases
}

fn headers() -> Vec<Case> {
    let mut cases = Vec::new();
    let changes: [Change; 9] = [
        ("version", |header| header.version = 45),
        ("flags: names in another alphabet", |header| header.flags = 0),
        ("flags: encrypted", |header| header.flags |= 1),
        ("flags: sizes follow", |header| header.flags |= 8),
        ("method", |header| header.method = 8),
        ("time", |header| header.time = 1),
        ("date", |header| header.date = 0x22),
        ("uncompressed size", |header| header.size ^= 1),
        ("extra field", |header| header.extra = vec![0x55, 0x54, 1, 0, 0]),
    ];
    for (what, change) in changes {
        // Other programs write these; what they agree on is compared.
        let is_of_others = ["version", "time", "date", "extra field"].contains(&what);
        let of_others = |problems: &'static [&'static str]| if is_of_others { &[REPACKED][..] } else { problems };
        let in_both = |zip: &mut Zip| zip.entries[3].set(change);
        let problems = match what {
            "flags: names in another alphabet" => &[REPACKED][..],
            "method" => &["changed certificate.pdf"][..],
            _ => of_others(&["not a bundle certificate.pdf", "not a bundle -"]),
        };
        cases.push(with(&format!("{what} in both headers"), in_both, problems));
        let in_local = |zip: &mut Zip| change(&mut zip.entries[3].local);
        let problems = of_others(&["not a bundle certificate.pdf"]);
        cases.push(with(&format!("{what} in the local header"), in_local, problems));
        let in_directory = |zip: &mut Zip| change(&mut zip.entries[3].central);
        cases.push(with(&format!("{what} in the directory"), in_directory, of_others(&["not a bundle -"])));
    }
    let crc = |zip: &mut Zip| zip.entries[3].local.crc ^= 1;
    cases.push(with("wrong CRC-32 in the local header", crc, &["not a bundle -", "changed certificate.pdf"]));
    let crc = |zip: &mut Zip| zip.entries[3].central.crc ^= 1;
    cases.push(with("wrong CRC-32 in the directory", crc, &["not a bundle -"]));
    for (at, name) in [MANIFEST, "manifest.sig"].into_iter().enumerate() {
        let crc = |zip: &mut Zip| zip.entries[at].set(|header| header.crc ^= 1);
        cases.push(with(&format!("wrong CRC-32 of {name}"), crc, &["manifest changed manifest.json"]));
        let date = |zip: &mut Zip| zip.entries[at].set(|header| header.date += 1);
        cases.push(with(&format!("date of {name}"), date, &[REPACKED]));
    }
    cases
}

fn directory() -> Vec<Case> {
    let mut cases = Vec::new();
    let changes: [Change; 9] = [
        ("made elsewhere", |header| header.made_by = 20),
        ("a link", |header| header.external = 0o120_777 << 16),
        ("a folder", |header| header.external = 0x10),
        ("a text", |header| header.internal = 1),
        ("on another disk", |header| header.disk = 1),
        ("a comment", |header| header.comment = b"reviewed".to_vec()),
        ("another offset", |header| header.shift = 1),
        ("compressed size", |header| header.packed += 1),
        ("ZIP64", |header| (header.size, header.packed, header.extra) = (u32::MAX, u32::MAX, vec![1, 0, 16, 0])),
    ];
    for (what, change) in changes {
        let changes_content = ["another offset", "compressed size", "ZIP64"].contains(&what);
        let change = |zip: &mut Zip| change(&mut zip.entries[4].central);
        let expected = if changes_content { "not a bundle -" } else { REPACKED };
        cases.push(with(&format!("directory: {what}"), change, &[expected]));
    }
    for word in 0..4 {
        let change = |zip: &mut Zip| zip.end[word] = 1;
        cases.push(with(&format!("end: word {word}"), change, &["not a bundle -"]));
    }
    cases.push(with("end: a comment", |zip| zip.comment = b"reviewed".to_vec(), &["not a bundle -"]));
    // The directory points to other content than what follows the preceding header.
    let shadow = |zip: &mut Zip| {
        let mut other = Entry::new("certificate.pdf", b"%PDF-1.7 another".as_slice());
        other.local.name = b"zzz".to_vec();
        zip.entries.push(other);
        zip.entries[3].is_in_directory = false;
    };
    cases.push(with("the directory leads to another content", shadow, &["not a bundle -", "added zzz"]));
    cases
}

fn packed() -> Vec<Case> {
    let mut cases = Vec::new();
    let pack = |entry: &mut Entry, content: &[u8]| entry.deflate_as(content, content);
    let one = |zip: &mut Zip| pack(&mut zip.entries[7], FILES[5].content);
    cases.push(with("a compressed file", one, &[REPACKED]));
    let zeros = vec![0; 64 * 1024 * 1024];
    let bomb = |zip: &mut Zip| pack(&mut zip.entries[7], &zeros);
    cases.push(with("a file that unpacks to 64 MiB", bomb, &["changed timeline.json"]));
    let added = |zip: &mut Zip| {
        let mut entry = Entry::new("zeros", b"".as_slice());
        pack(&mut entry, &zeros);
        zip.entries.push(entry);
    };
    cases.push(with("a bomb added", added, &["added zeros"]));
    let manifest = |zip: &mut Zip| {
        let text = zip.entries[0].content.clone();
        pack(&mut zip.entries[0], &text);
    };
    cases.push(with("a compressed manifest", manifest, &[REPACKED]));
    let bomb = |zip: &mut Zip| pack(&mut zip.entries[0], &zeros);
    let not_read = ["not a bundle manifest.json", "not a bundle -", "not a bundle manifest.json"];
    cases.push(with("a manifest that unpacks to 64 MiB", bomb, &not_read));
    // Sizes beyond the end: the rest of the zip is unreadable.
    let size = |zip: &mut Zip| zip.entries[7].local.packed = u32::MAX;
    cases.push(with("a size beyond the end", size, &["not a bundle -", "missing timeline.json"]));
    let size = |zip: &mut Zip| zip.entries[7].local.packed -= 1;
    let shorter = ["not a bundle timeline.json", "not a bundle -", "changed timeline.json"];
    cases.push(with("a size too small", size, &shorter));
    cases
}

fn around() -> Vec<Case> {
    let mut cases = Vec::new();
    let zip = good();
    for (what, bytes) in [("a byte", &b"\0"[..]), ("a program", b"MZ\x90\0"), ("a bundle", &zip)] {
        let before = [bytes, &zip].concat();
        // A bundle before another reads as the first with trailing data.
        cases.push(Case::new(format!("{what} before"), before, &["not a bundle -"]));
    }
    let much = vec![7; 100_000];
    for (what, bytes) in [("a byte", &b"\0"[..]), ("a line break", b"\n"), ("much", &much)] {
        cases.push(Case::new(format!("{what} after"), [&zip, bytes].concat(), &["not a bundle -"]));
    }
    let mut missing: Vec<String> = FILES[1..].iter().map(|file| format!("missing {}", file.path)).collect();
    missing.insert(0, "not a bundle -".to_owned());
    let between = |zip: &mut Zip| zip.entries[3].before = b"between".to_vec();
    cases.push(with("bytes between entries", between, &missing.iter().map(String::as_str).collect::<Vec<_>>()));
    let before_directory = |zip: &mut Zip| zip.before_directory = b"between".to_vec();
    cases.push(with("bytes before the directory", before_directory, &["not a bundle -"]));
    for cut in [1, 2, 21, 22, 23, 100] {
        let shorter = zip[..zip.len() - cut].to_vec();
        cases.push(Case::new(format!("{cut} bytes cut off"), shorter, &["not a bundle -"]));
    }
    for length in [1, 4, 29, 30, 42, 43, 100] {
        cases.push(Case::new(format!("only {length} bytes"), zip[..length].to_vec(), &["not a bundle -"]));
    }
    let last = zip.windows(4).rposition(|bytes| bytes == b"PK\x03\x04").expect("the last entry");
    for more in [0, 20, 40, 45] {
        let expected = ["not a bundle -", "missing timeline.json"];
        cases.push(Case::new(format!("cut off {more} bytes into an entry"), zip[..last + more].to_vec(), &expected));
    }
    cases
}

fn others() -> Vec<Case> {
    let ordinary = Zip { entries: vec![Entry::new("readme.txt", b"hello".as_slice())], ..Zip::default() };
    let other_manifest = Entry::new(MANIFEST, b"{\"manifest_version\": 3}".as_slice());
    let extension = Zip { entries: vec![other_manifest, Entry::new("x.js", b"".as_slice())], ..Zip::default() };
    let many = |count: usize| Zip {
        entries: (0..count).map(|number| Entry::new(format!("{number:05}"), b"".as_slice())).collect(),
        ..Zip::default()
    };
    vec![
        Case::new("an empty file", Vec::new(), &["not a bundle -"]),
        Case::new("a text", b"This is no bundle.\n".to_vec(), &["not a bundle -"]),
        Case::new("a PDF", b"%PDF-1.7\n%%EOF\n".to_vec(), &["not a bundle -"]),
        Case::new("zeros", vec![0; 1000], &["not a bundle -"]),
        Case::new("an ordinary zip", ordinary.write(), &["not a bundle -"]),
        Case::new("a zip with 12,000 files", many(12_000).write(), &["not a bundle -"]),
        Case::new("another manifest.json", extension.write(), &["not a bundle manifest.json"]),
    ]
}

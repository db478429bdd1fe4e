//! The Python verifier, `events/verify/verify_bundle.py`, and the script of the page `/verify` find exactly what this crate
//! finds.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bundle::{File, KeyDocument, verify, write};
use tempfile::TempDir;

use crate::zip::{Entry, Zip};
use crate::{ABOUT, FILES, bundle_of, cases, good, key as key_of, keys};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../events/verify/verify_bundle.py");
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/evidence/bin/python3");

/// The page's script, and what runs it outside a browser.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../pages/assets/verify.js");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bundles/page.cjs");

/// The environment variable that, with the value `no`, skips tests that need this Python.
const WANTED: &str = "COUNTERSIGN_PYTHON_TEST";

/// Python with the package. None only if the environment says to skip it: skipping silently is no success.
///
/// # Panics
/// When it is missing.
fn python() -> Option<PathBuf> {
    if std::env::var(WANTED).is_ok_and(|wanted| wanted == "no") {
        eprintln!("left out, as {WANTED}=no says");
        return None;
    }
    let candidates = [PathBuf::from(PYTHON), PathBuf::from("python3")];
    let has_package = |python: &PathBuf| {
        let output =
            Command::new(python).args(["-c", "import cryptography.hazmat.primitives.asymmetric.ed25519"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let python = candidates.into_iter().find(has_package);
    assert!(
        python.is_some(),
        "the verifier in Python needs its package: run `scripts/tools evidence`, or leave it out with {WANTED}=no"
    );
    python
}

struct Folder {
    folder: TempDir,
    names: Vec<String>,
}

impl Folder {
    fn new<'a>(bundles: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let folder = TempDir::new().expect("a folder");
        let mut names = Vec::new();
        for (number, bundle) in bundles.into_iter().enumerate() {
            let name = format!("{number}.zip");
            std::fs::write(folder.path().join(&name), bundle).expect("a file");
            names.push(name);
        }
        let keys = serde_json::to_vec(&keys()).expect("the key document");
        std::fs::write(folder.path().join("keys.json"), keys).expect("a file");
        Self { folder, names }
    }

    fn run(&self, python: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(python);
        command.current_dir(self.folder.path()).arg("-B").arg(PROGRAM).args(arguments);
        command.output().expect("the verifier")
    }

    fn verdicts(&self, python: &Path) -> Vec<String> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        self.read(&self.run(python, &[&["--keys", "keys.json"], &names[..]].concat()))
    }

    /// What the page's script says, where there is a Node.js that has what browsers have.
    fn verdicts_of_page(&self) -> Option<Vec<String>> {
        const NEEDED: &str = "new DecompressionStream('deflate-raw'); \
            crypto.subtle.generateKey('Ed25519', false, ['verify', 'sign']).catch(() => process.exit(1))";
        let has_all = Command::new("node").args(["--no-warnings", "-e", NEEDED]).output();
        if !has_all.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: there is no node that verifies Ed25519");
            return None;
        }
        let mut command = Command::new("node");
        command.current_dir(self.folder.path()).args(["--no-warnings", PAGE, SCRIPT, "keys.json"]).args(&self.names);
        Some(self.read(&command.output().expect("node")))
    }

    fn read(&self, output: &Output) -> Vec<String> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(wrong, "", "{said}");
        let (mut rest, mut verdicts) = (said.strip_prefix("0.zip:\n").expect("the first"), Vec::new());
        for next in names.iter().skip(1) {
            let (verdict, after) = rest.split_once(&format!("\n{next}:\n")).unwrap_or_else(|| panic!("no {next}"));
            verdicts.push(verdict.to_owned());
            rest = after;
        }
        verdicts.push(rest.trim_end_matches('\n').to_owned());
        verdicts
    }
}

fn assert_agree<'a>(bundles: impl IntoIterator<Item = (String, &'a [u8])>) {
    let Some(python) = python() else { return };
    let (names, bundles): (Vec<String>, Vec<&[u8]>) = bundles.into_iter().unzip();
    let folder = Folder::new(bundles.iter().copied());
    let own: Vec<String> = bundles.iter().map(|bundle| verify(bundle, &keys()).to_string()).collect();
    for verdicts in [Some(folder.verdicts(&python)), folder.verdicts_of_page()].into_iter().flatten() {
        assert_eq!(verdicts.len(), bundles.len());
        for ((name, own), verdict) in names.iter().zip(&own).zip(&verdicts) {
            assert_eq!(verdict, own, "{name}");
        }
    }
}

#[test]
fn they_agree_on_every_case() {
    let cases = cases::all();
    assert!(cases.len() >= 300, "{}", cases.len());
    assert_agree(cases.iter().map(|case| (case.name.clone(), case.bundle.as_slice())));
}

#[test]
fn they_agree_on_every_changed_byte() {
    let good = good();
    let changed = (0..good.len()).map(|at| {
        let mut bundle = good.clone();
        bundle[at] ^= 1 << (at % 8);
        bundle
    });
    let changed: Vec<Vec<u8>> = changed.collect();
    assert_agree(changed.iter().enumerate().map(|(at, bundle)| (format!("byte {at}"), bundle.as_slice())));
}

#[test]
fn they_agree_on_shuffled_pieces() {
    let (good, other) = (good(), bundle_of(&[]));
    let mut state = 0x2545_f491_u32;
    let mut below = move |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(state >> 8).expect("a number") % limit
    };
    let mut shuffled = Vec::new();
    for _ in 0..1000 {
        let mut bundle = good.clone();
        for _ in 0..=below(3) {
            let source = if below(4) == 0 { &other } else { &good };
            let from = below(source.len());
            let piece = &source[from..(from + below(80)).min(source.len())];
            let at = below(bundle.len());
            let end = (at + below(80)).min(bundle.len());
            bundle.splice(at..end, piece.iter().copied());
        }
        shuffled.push(bundle);
    }
    assert_agree(shuffled.iter().enumerate().map(|(number, bundle)| (number.to_string(), bundle.as_slice())));
}

#[test]
fn the_exit_status_tells_the_verdict() {
    let Some(python) = python() else { return };
    let (good, mut changed) = (good(), good());
    changed[500] ^= 1;
    let folder = Folder::new([good.as_slice(), &changed]);
    std::fs::write(folder.folder.path().join("no-keys.json"), "{\"keys\": [{\"id\": \"a\"}]}").expect("a file");
    let status = |arguments: &[&str]| folder.run(&python, arguments).status.code();
    assert_eq!(status(&["0.zip", "--keys", "keys.json"]), Some(0));
    assert_eq!(status(&["1.zip", "--keys", "keys.json"]), Some(1));
    assert_eq!(status(&["0.zip", "1.zip", "0.zip", "--keys", "keys.json"]), Some(1));
    let mut repacked = Zip::read(&good);
    repacked.entries.iter_mut().for_each(Entry::deflate);
    std::fs::write(folder.folder.path().join("repacked.zip"), repacked.write()).expect("a file");
    assert_eq!(status(&["repacked.zip", "--keys", "keys.json"]), Some(0));
    assert_eq!(status(&["0.zip"]), Some(2));
    assert_eq!(status(&["2.zip", "--keys", "keys.json"]), Some(2));
    assert_eq!(status(&["0.zip", "--keys", "no-keys.json"]), Some(2));
    assert_eq!(status(&["0.zip", "--keys", "0.zip"]), Some(2));
    let key = "\"id\": \"a\", \"public_key\": \"00000000000000000000000000000000000000000000000000000000000000aa\"";
    let time = "\"since\": \"2026-11-20T09:00:00.000Z\"";
    for (document, is_one) in [
        (format!("{{\"keys\": [{{{key}}}]}}"), true),
        (format!("{{\"keys\": [], \"compromised_keys\": [{{{key}, {time}}}]}}"), true),
        ("{\"keys\": [], \"compromised_keys\": []}".to_owned(), true),
        (format!("{{\"keys\": [{{{key}}}], \"compromised_keys\": [{{{key}, {time}}}]}}"), false),
        (format!("{{\"keys\": [], \"compromised_keys\": [{{{key}}}]}}"), false),
        (format!("{{\"keys\": [], \"compromised_keys\": [{{{key}, \"since\": null}}]}}"), false),
        (format!("{{\"keys\": [], \"compromised_keys\": [{{{key}, \"since\": \"2026-11-20\"}}]}}"), false),
        ("{\"keys\": [], \"compromised_keys\": null}".to_owned(), false),
        ("{\"keys\": {}}".to_owned(), false),
    ] {
        std::fs::write(folder.folder.path().join("other.json"), &document).expect("a file");
        assert_eq!(KeyDocument::parse(document.as_bytes()).is_ok(), is_one, "{document}");
        let expected = if is_one { Some(1) } else { Some(2) };
        assert_eq!(status(&["0.zip", "--keys", "other.json"]), expected, "{document}");
    }
    // A leaked key's bundle is not verified, and both say since when others may have had the key.
    let leaked = write(&ABOUT, &FILES, &key_of("leaked")).expect("a bundle");
    std::fs::write(folder.folder.path().join("leaked.zip"), &leaked).expect("a file");
    let output = folder.run(&python, &["leaked.zip", "--keys", "keys.json"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((output.status.code(), &said), (Some(1), &format!("{}\n", verify(&leaked, &keys()))));
    assert!(said.contains("since 2026-11-20T09:00:00.000Z") && said.contains("\nNOT VERIFIED: 1 problem"), "{said}");
    assert!(!said.contains("ok  ") && said.contains("not proven"), "{said}");
    let said = folder.run(&python, &["0.zip", "--keys", "keys.json"]).stdout;
    assert_eq!(String::from_utf8_lossy(&said), format!("{}\n", verify(&good, &keys())));
}

/// Oversized bundles are read no further. The file is sparse.
#[test]
fn both_refuse_what_is_too_large() {
    let Some(python) = python() else { return };
    let folder = Folder::new([good().as_slice()]);
    let file = std::fs::OpenOptions::new().write(true).open(folder.folder.path().join("0.zip")).expect("the file");
    file.set_len(u64::try_from(bundle::BUNDLE_BYTES_MAX).expect("a size") * 20).expect("a larger file");
    let output = folder.run(&python, &["0.zip", "--keys", "keys.json"]);
    assert_eq!(output.status.code(), Some(1));
    let mut expected = String::new();
    writeln!(expected, "not a bundle      (the whole file): it is larger than any bundle").expect("a line");
    writeln!(expected, "NOT VERIFIED: 1 problem").expect("a line");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

/// Ordinary programs (Python's standard library and `unzip`) open a bundle and show its names unchanged.
#[test]
fn a_bundle_is_an_ordinary_zip() {
    let folder = Folder::new([good().as_slice()]);
    for command in
        [&["python3", "-m", "zipfile", "-e", "0.zip", "python"], &["unzip", "-q", "0.zip", "-d", "unzip"][..]]
    {
        let mut program = Command::new(command[0]);
        program.args(&command[1..]).current_dir(folder.folder.path()).env("LC_ALL", "C.UTF-8");
        let Ok(output) = program.output() else {
            eprintln!("skipped: there is no {}", command[0]);
            continue;
        };
        assert!(output.status.success(), "{output:?}");
        let extracted = folder.folder.path().join(command[command.len() - 1]);
        for File { path, content } in FILES {
            assert_eq!(std::fs::read(extracted.join(path)).expect(path), content, "{command:?}: {path}");
        }
    }
}

/// What people do: unpack a bundle, and pack the folder or its files again.
#[test]
fn a_bundle_that_programs_pack_again_is_whole_and_not_verified() {
    let folder = Folder::new([good().as_slice()]);
    let extracted = folder.folder.path().join("Lease evidence");
    let run = |program: &str, arguments: &[&str], at: &Path| {
        let output = Command::new(program).args(arguments).current_dir(at).env("LC_ALL", "C.UTF-8").output();
        output.is_ok_and(|output| output.status.success())
    };
    assert!(run("python3", &["-m", "zipfile", "-e", "0.zip", "Lease evidence"], folder.folder.path()));
    let with_python = "import shutil; shutil.make_archive('../by-python', 'zip')";
    let programs: [(&str, &[&str], &Path, &str); 3] = [
        ("python3", &["-c", with_python], &extracted, "by-python.zip"),
        ("zip", &["-q", "-r", "../by-zip.zip", "."], &extracted, "by-zip.zip"),
        ("zip", &["-q", "-r", "folder.zip", "Lease evidence"], folder.folder.path(), "folder.zip"),
    ];
    for (program, arguments, at, name) in programs {
        if !run(program, arguments, at) {
            eprintln!("skipped: there is no {program}");
            continue;
        }
        let report = verify(&std::fs::read(folder.folder.path().join(name)).expect(name), &keys());
        assert!(report.is_whole() && report.is_repacked && !report.is_verified(), "{name}: {report}");
        let said = report.to_string();
        assert!(said.contains("\nCONTENTS WHOLE, CONTAINER REPACKED: 6 files, signed by "), "{said}");
    }
}

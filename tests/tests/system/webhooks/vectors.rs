//! Subscribers' code in three languages, and ours, with signatures by openssl (`events/verify/make-vectors`).

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use shared::crypto::signing_secret::SigningSecret;
use shared::webhook::signature;
use tempfile::TempDir;

#[allow(clippy::unreadable_literal, missing_docs, reason = "it is written to be copied")]
#[path = "../../../../events/verify/verify.rs"]
mod verify;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../events/verify");
const TSC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/typescript/bin/tsc");

fn vectors() -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(FOLDER).join("vectors.json")).expect("the vectors");
    serde_json::from_str(&text).expect("vectors")
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector[name].as_str().unwrap_or_else(|| panic!("no {name}: {vector}"))
}

fn now(vector: &Value) -> i64 {
    vector["now"].as_i64().expect("a time")
}

fn line(vector: &Value, valid: bool) -> String {
    format!("{} {} {}\n", if valid { "valid" } else { "refused" }, text(vector, "scheme"), text(vector, "name"))
}

/// Every program's output: each vector, then a delivery, its repeat, and the same with another secret.
fn expected() -> String {
    let mut lines: String = vectors().iter().map(|vector| line(vector, vector["valid"] == true)).collect();
    lines += "handled 204 1\nhandled 204 1\nhandled 401 1\n";
    lines
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

#[track_caller]
fn assert_prints_expected(program: &mut Command) {
    let output = program.arg(Path::new(FOLDER).join("vectors.json")).output().expect("the program");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected());
}

#[test]
fn there_are_enough_of_both_kinds() {
    let vectors = vectors();
    let names: HashSet<String> = vectors.iter().map(|vector| line(vector, true)).collect();
    assert_eq!(names.len(), vectors.len(), "each has its own name");
    for scheme in ["service", "standard"] {
        for (valid, at_least) in [(true, 8), (false, 12)] {
            let count = vectors.iter().filter(|vector| vector["scheme"] == scheme && vector["valid"] == valid).count();
            assert!(count >= at_least, "{scheme} {valid}: {count}");
        }
    }
}

#[test]
fn openssl_makes_them() {
    if !succeeds(Command::new("openssl").arg("version")) {
        eprintln!("skipped: there is no openssl");
        return;
    }
    let made = Command::new("bash").arg(Path::new(FOLDER).join("make-vectors")).output().expect("the script");
    assert!(made.status.success(), "{made:?}");
    let kept = std::fs::read(Path::new(FOLDER).join("vectors.json")).expect("the vectors");
    assert!(made.stdout == kept, "vectors.json is not what events/verify/make-vectors prints");
}

#[test]
fn our_own_code_verifies_them() {
    for vector in vectors() {
        let secret = SigningSecret::parse(text(&vector, "secret")).expect("a secret");
        let mut headers = HeaderMap::new();
        for (name, value) in vector["event"]["headers"].as_object().expect("headers") {
            let value = HeaderValue::from_bytes(value.as_str().expect("a value").as_bytes()).expect("a value");
            headers.insert(name.parse::<HeaderName>().expect("a name"), value);
        }
        let body = verify::raw_body(&vector["event"]).expect("a body");
        let verified = match text(&vector, "scheme") {
            "service" => signature::verify(&secret, &headers, &body, now(&vector)),
            _ => signature::verify_standard(&secret, &headers, &body, now(&vector)),
        };
        assert_eq!(verified.is_ok(), vector["valid"] == true, "{}: {verified:?}", text(&vector, "name"));
    }
}

#[test]
fn rust_verifies_them() {
    let mut printed = String::new();
    for vector in vectors() {
        let event = &vector["event"];
        let headers: verify::Headers = serde_json::from_value(event["headers"].clone()).expect("headers");
        let body = verify::raw_body(event).expect("a body");
        let check = if text(&vector, "scheme") == "service" { verify::verify } else { verify::verify_standard };
        printed += &line(&vector, check(text(&vector, "secret"), &headers, &body, now(&vector)));
    }
    let first = &vectors()[0];
    let (mut seen, mut acted) = (HashSet::new(), 0);
    for secret in [text(first, "secret"), text(first, "secret"), "whsec_another"] {
        let status = verify::handle(&first["event"], secret, &mut seen, &mut |_| acted += 1, now(first));
        writeln!(printed, "handled {status} {acted}").expect("a line");
    }
    assert_eq!(printed, expected());
}

#[test]
fn python_verifies_them() {
    if !succeeds(Command::new("python3").arg("--version")) {
        eprintln!("skipped: there is no python3");
        return;
    }
    assert_prints_expected(Command::new("python3").arg("-B").arg(Path::new(FOLDER).join("check.py")));
}

#[test]
fn typescript_verifies_them() {
    let compiled = TempDir::new().expect("a directory");
    let Some(program) = javascript(compiled.path()) else {
        eprintln!("skipped: this takes Node.js 20 and `scripts/tools typescript`, or Node.js 24");
        return;
    };
    assert_prints_expected(Command::new("node").arg(program));
}

/// The Node.js program: type-checked and compiled if the compiler is there; else unchanged, if Node.js takes that.
fn javascript(into: &Path) -> Option<PathBuf> {
    if !succeeds(Command::new("node").arg("--version")) {
        return None;
    }
    if Path::new(TSC).exists() {
        let output = Command::new(TSC).args(["-p", FOLDER, "--outDir"]).arg(into).output().expect("the compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return Some(into.join("check.js"));
    }
    let takes_types = succeeds(Command::new("node").args(["-e", "process.exit(process.features.typescript ? 0 : 1)"]));
    takes_types.then(|| Path::new(FOLDER).join("check.ts"))
}

#[test]
fn our_signatures_are_those_of_the_vectors() {
    let vector = &vectors()[0];
    let secret = SigningSecret::parse(text(vector, "secret")).expect("a secret");
    let body = text(&vector["event"], "body");
    let id = serde_json::from_str::<Value>(body).expect("an event")["id"].as_str().expect("an id").parse();
    let headers = signature::headers(&[secret], id.expect("an id"), now(vector), body.as_bytes());
    for (name, value) in vector["event"]["headers"].as_object().expect("headers") {
        assert_eq!(headers[name.as_str()], value.as_str().expect("a value"), "{name}");
    }
    let standard = vectors().into_iter().find(|vector| vector["scheme"] == "standard").expect("a vector");
    for (name, value) in standard["event"]["headers"].as_object().expect("headers") {
        assert_eq!(headers[name.as_str()], value.as_str().expect("a value"), "{name}");
    }
}

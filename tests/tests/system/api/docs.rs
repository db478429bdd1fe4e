//! `GET /docs`: the documentation is complete, self-contained, and its examples work.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tests::app::unescaped;
use tests::spec::{self, golden};
use tests::{Client, Fixture, Needs, Org, Stack};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::members;

/// The TypeScript compiler, if `scripts/tools typescript` has installed it.
const TSC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/typescript/bin/tsc");
const TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/typescript/node_modules/@types");

async fn page() -> String {
    let answer = Client::new(&Stack::with(Needs::SHARED).base_url).get("/docs").send().await;
    assert_eq!((answer.status, answer.header("content-type").as_str()), (200, "text/html; charset=utf-8"));
    String::from_utf8(answer.bytes).expect("text")
}

fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split_once(end).map(|(inside, _)| inside))
}

#[tokio::test]
async fn the_page_is_what_the_declarations_and_guides_say() {
    let files = local::documentation().expect("a page");
    assert!(page().await == files.page, "run `make generate`: the API document, a guide or the page has changed");
    assert!(files.policy == read_api_policy().await, "run `make generate`");
}

async fn read_api_policy() -> String {
    Client::new(&Stack::with(Needs::SHARED).base_url).get("/docs").send().await.header("content-security-policy")
}

#[tokio::test]
async fn the_page_is_public_kept_and_compressed() {
    let org = Org::new().await;
    let first = org.anonymous().get("/docs").send().await;
    assert_eq!((first.status, first.header("content-encoding").as_str()), (200, ""));
    assert_eq!(
        (first.header("cache-control").as_str(), first.header("vary").as_str()),
        ("public, no-cache", "accept-encoding")
    );
    for (name, value) in [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer")] {
        assert_eq!(first.header(name), value);
    }
    assert!(!first.request_id().is_empty());
    let tag = first.header("etag");
    for known in [tag.clone(), format!("\"other\", {tag}"), tag.trim_start_matches("W/").to_owned(), "*".to_owned()] {
        let again = org.anonymous().get("/docs").header("if-none-match", known.as_str()).send().await;
        assert_eq!((again.status, again.bytes.len(), again.header("etag")), (304, 0, tag.clone()), "{known}");
    }
    let other = org.anonymous().get("/docs").header("if-none-match", "\"other\"").query("q", "contact").send().await;
    assert_eq!((other.status, &other.bytes), (200, &first.bytes));
    let compressed = org.get("/docs").header("accept-encoding", "gzip").send().await;
    assert_eq!((compressed.header("content-encoding").as_str(), compressed.header("etag")), ("gzip", tag));
    assert!(compressed.bytes.len() < 80 * 1024, "{} bytes", compressed.bytes.len());
    let text = miniz_oxide::inflate::decompress_to_vec(&compressed.bytes[10..compressed.bytes.len() - 8]);
    assert!(text.expect("compressed bytes") == first.bytes);
    assert_eq!(org.audit().await, Vec::<Value>::new(), "reading it leaves no row");
}

#[tokio::test]
async fn the_page_stands_alone() {
    let (page, policy) = (page().await, read_api_policy().await);
    for (start, end, directive) in [("<style>", "</style>", "style-src"), ("<script>", "</script>", "script-src")] {
        let all: Vec<&str> = between(&page, start, end).collect();
        let [content] = all[..] else { panic!("{} of {start}", all.len()) };
        let hash = STANDARD.encode(Sha256::digest(content));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}';")), "{policy}");
    }
    assert!(policy.contains("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    for mark in [" src=", "<img", "<iframe", "@import", " style=", " onclick="] {
        assert!(!page.contains(mark), "{mark}");
    }
    let links: Vec<&str> = between(&page, "<link ", ">").collect();
    assert!(matches!(links[..], [icon] if icon.contains("href=\"data:")), "{links:?}");
    for target in between(&page, "url(\"", "\")") {
        assert!(target.starts_with("/app/fonts/") && target.contains("?v="), "{target}");
    }
    assert!(page.contains("<form id=\"search\" role=\"search\" hidden>"), "the search needs the script");
}

#[tokio::test]
async fn the_page_has_all_that_the_document_says() {
    let (page, golden) = (page().await, golden());
    let page = page.split("<script>").next().expect("what is before the script").to_owned();
    let ids: Vec<&str> = between(&page, " id=\"", "\"").collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "each id is there once");
    for target in between(&page, "href=\"#", "\"") {
        assert!(known.contains(target), "nothing at #{target}");
    }
    let section = |id: &str| {
        let start = format!("id=\"{id}\">");
        let rest = page.split_once(&start).unwrap_or_else(|| panic!("no {id}")).1;
        rest.split("<section ").next().unwrap_or_default().to_owned()
    };
    for kind in ["paths", "webhooks"] {
        for (path, methods) in golden[kind].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                let id = operation["operationId"].as_str().expect("an id");
                let shown = section(id);
                let mut words: Vec<&str> = Vec::new();
                if kind == "paths" {
                    let route = format!("<b>{}</b> {path}</code>", method.to_uppercase());
                    assert!(shown.contains(&route), "{id}");
                    words.extend(members(&operation["responses"]));
                    let parameters = operation["parameters"].as_array().into_iter().flatten();
                    words.extend(parameters.filter_map(|parameter| parameter["name"].as_str()));
                }
                let body = &operation["requestBody"]["content"]["application/json"]["schema"];
                let body = body["$ref"].as_str().and_then(|to| spec::resolve(&golden, to)).unwrap_or(body);
                if body.is_object() {
                    words.extend(members(&body["properties"]));
                }
                for word in words {
                    assert!(shown.contains(&format!("<code>{word}</code>")), "{id} without {word}");
                }
            }
        }
    }
    for (name, schema) in golden["components"]["schemas"].as_object().expect("schemas") {
        let shown = section(name);
        let values = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let properties = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        for word in values.chain(properties) {
            assert!(shown.contains(&format!("<code>{word}</code>")), "{name} without {word}");
        }
    }
    for status in ["401", "403", "404", "405", "409", "422", "429", "500"] {
        assert!(section(&format!("error-{status}")).contains("&#34;request_id&#34;"), "{status} without an example");
    }
    for status in ["413", "503"] {
        assert!(section(&format!("error-{status}")).contains("&#34;message&#34;"), "{status} without an example");
    }
    let conflict = section("error-409");
    assert!(conflict.contains("Idempotency-Key was used") && conflict.contains("If-Match names"), "{conflict}");
    let (papering, update) = (section("paper_funding_items"), section("update_contact"));
    assert!(papering.contains("<code>on_hold</code>") && papering.contains("lacks its verb"), "{papering}");
    assert!(update.contains("<code>taken</code>") && !update.contains("on_hold"), "{update}");
    for guide in ["idempotency", "webhooks", "claims-and-proofs", "agents"] {
        assert!(section(&format!("guide-{guide}")).len() > 1000, "{guide}");
    }
}

fn examples(page: &str, language: &str) -> Vec<(String, String, String)> {
    let start = format!("<code class=\"language-{language}\" data-operation=\"");
    let found = between(page, &start, "</code>").map(|example| {
        let (operation, code) = example.split_once("\">").expect("an example");
        let status = between(page, &format!("data-status=\"{operation}\">"), "<").next().expect("a status").to_owned();
        (operation.to_owned(), unescaped(code), status)
    });
    let found: Vec<_> = found.collect();
    let operations =
        golden()["paths"].as_object().expect("paths").values().map(|item| members(item).len()).sum::<usize>();
    assert_eq!(found.len(), operations, "each operation has an example in {language}");
    found
}

async fn prepared(program: &str) -> (Command, Fixture) {
    let fixture = Fixture::new().await;
    let mut command = Command::new(program);
    command.env("COUNTERSIGN_URL", fixture.org.base_url()).env("COUNTERSIGN_TOKEN", &fixture.org.token.value);
    for (name, id) in &fixture.ids {
        let name = if name == "item_ids" { "READY_ITEM_ID".to_owned() } else { name.to_uppercase() };
        command.env(name, id);
    }
    let contact = fixture.org.person("Cleo").await;
    command.env("CONTACT_ID", contact["id"].as_str().expect("an id"));
    (command, fixture)
}

async fn run(mut command: Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a program");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).await.expect("input is taken");
    drop(stdin);
    said(child.wait_with_output().await.expect("an output"))
}

#[track_caller]
fn said(output: Output) -> String {
    let wrong = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}\n{wrong}");
    said
}

#[track_caller]
fn assert_answered(said: &str, examples: &[(String, String, String)]) {
    let expected: Vec<String> = examples.iter().map(|(operation, _, status)| format!("{operation} {status}")).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

/// If set, as by `scripts/test-all`, missing tools fail tests.
const REQUIRE_TOOLS: &str = "COUNTERSIGN_REQUIRE_TOOLS";

async fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().await;
    found.is_ok_and(|status| status.success())
}

fn skip(why: &str) {
    assert!(std::env::var_os(REQUIRE_TOOLS).is_none(), "{REQUIRE_TOOLS} is set, and {why}");
    eprintln!("skipped: {why}");
}

#[tokio::test]
async fn the_examples_for_a_shell_work() {
    let examples = examples(&page().await, "sh");
    // The script prints the statuses too; the examples are unchanged.
    let mut script = "set -euo pipefail\ncurl() { command curl -w '\\n%{http_code}' \"$@\"; }\n".to_owned();
    for (operation, code, _) in &examples {
        writeln!(script, "said=$(\n{code}\n)\necho \"{operation} ${{said##*$'\\n'}}\"").expect("a line");
    }
    let (mut command, _fixture) = prepared("bash").await;
    command.arg("-s");
    assert_answered(&run(command, &script).await, &examples);
}

#[tokio::test]
async fn the_examples_in_python_work() {
    const RUNNER: &str = "
import contextlib, io, json, sys
for operation, code in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, operation, 'exec'), {})
    print(operation, said.getvalue().split(' ', 1)[0])
";
    if !is_there("python3").await {
        skip("there is no python3");
        return;
    }
    let examples = examples(&page().await, "python");
    let pairs: Vec<(&String, &String)> = examples.iter().map(|(operation, code, _)| (operation, code)).collect();
    let (mut command, _fixture) = prepared("python3").await;
    command.arg("-c").arg(RUNNER);
    assert_answered(&run(command, &json!(pairs).to_string()).await, &examples);
}

#[tokio::test]
async fn the_examples_in_typescript_work() {
    const RUNNER: &str = "
const log = console.log;
for (const operation of process.argv.slice(2)) {
  const said = [];
  console.log = (...values) => said.push(values);
  await import(`./${operation}.mjs`);
  log(operation, said[0][0]);
}
";
    if !is_there("node").await || !Path::new(TSC).exists() {
        skip("this takes Node.js 20 and `scripts/tools typescript`");
        return;
    }
    let examples = examples(&page().await, "typescript");
    let folder = TempDir::new().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file is written");
    let files: Vec<String> = examples.iter().map(|(operation, _, _)| format!("{operation}.mts")).collect();
    for (file, (_, code, _)) in files.iter().zip(&examples) {
        write(file, code);
    }
    let options = json!({"target": "es2022", "module": "nodenext", "strict": true, "noUncheckedIndexedAccess": true, "types": ["node"], "typeRoots": [TYPES]});
    write("tsconfig.json", &json!({"compilerOptions": options, "files": files}).to_string());
    write("run.mjs", RUNNER);
    let compiled = Command::new(TSC).arg("-p").arg(folder.path()).output().await.expect("the compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stdout));
    let (mut command, _fixture) = prepared("node").await;
    command.arg(folder.path().join("run.mjs")).args(examples.iter().map(|(operation, _, _)| operation));
    assert_answered(&run(command, "").await, &examples);
}

//! The operators' handbook: every command that it shows is run here, in its order, beside a stack; those that need AWS or a
//! tool of someone else are listed with the reason. And its bill is what was measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tests::app::Browser;
use tests::process::{Process, Serve};
use tokio::process::Command;

use crate::STACK;

const HANDBOOK: &str = include_str!("../../../../infra/OPERATIONS.md");
const CAPACITY: &str = include_str!("../../../golden/capacity.json");

/// How the handbook begins commands of `ops`.
const OPS: [&str; 2] = ["cargo run -q -p ops --features aws -- ", "cargo run -q -p ops -- "];

/// What can't be run here, by how it begins, and why.
const ELSEWHERE: [(&str, &str); 4] = [
    ("aws ", "needs AWS: no emulator has point-in-time recovery or moves messages between queues"),
    ("docker ", "needs Docker"),
    ("AWS_ENDPOINT_URL=", "runs this test itself, against what Docker has started"),
    ("curl -o evidence-keys.json ", "asks an address that is an example; the test asks the stack for the same file"),
];

/// Commands of `ops` that end with a refusal here, with what it says: the person of the handbook has no account yet. What
/// they do is tested where members are.
const REFUSED: [(&str, &str); 2] = [
    ("reset-second-factor ", "there is no account with this email address"),
    ("create-password-link ", "there is no account with this email address"),
];

/// The commands of the handbook, each in one line.
fn commands() -> Vec<String> {
    let blocks = HANDBOOK.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    let joined = blocks.map(|block| block.replace("\\\n", " ")).collect::<Vec<_>>().join("\n");
    let commands = joined.lines().filter_map(|line| line.strip_prefix("$ "));
    commands.map(|command| command.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The program `ops`, which is built with the stack.
fn ops() -> PathBuf {
    let program = Path::new(STACK).with_file_name("ops");
    assert!(program.is_file(), "ops is not built: `cargo build --workspace --bins` makes it");
    program
}

/// Runs a command line of `ops` in a shell, against the stack's store.
async fn run(folder: &Path, arguments: &str, store_url: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(format!("\"$OPS\" {arguments}")).current_dir(folder);
    shell.env("OPS", ops()).env("AWS_ENDPOINT_URL_DYNAMODB", store_url);
    for name in ["TABLE_NAME", "BASE_URL", "AWS_ENDPOINT_URL"] {
        shell.env_remove(name);
    }
    shell.output().await.expect("a shell")
}

#[tokio::test]
async fn every_command_runs_or_says_why_it_is_not_run_here() {
    let folder = tempfile::tempdir().expect("a folder");
    let process = Serve::over(STACK, folder.path().join(".local")).seed("demo").start().await;
    let url = std::fs::read_to_string(folder.path().join(".local/dynamodb-url")).expect("where the store answers");
    // The table that the handbook restores into.
    let settings = shared::platform::aws::AwsSettings::at(&url).expect("settings");
    let copy = shared::store::Store::new(shared::platform::aws::dynamodb(&settings), "countersign-copy");
    copy.create_table().await.expect("a table");

    export_bundle(folder.path(), &process).await;

    let mut run_here = 0;
    for command in commands() {
        let Some(arguments) = OPS.iter().find_map(|begin| command.strip_prefix(begin)) else {
            let is_known = ELSEWHERE.iter().any(|(begin, _)| command.starts_with(begin));
            assert!(is_known, "no test runs `{command}`, and none says why");
            continue;
        };
        run_here += 1;
        let output = run(folder.path(), arguments, &url).await;
        let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match REFUSED.iter().find(|(begin, _)| arguments.starts_with(begin)) {
            Some((_, why)) => assert!(!output.status.success() && wrong.contains(why), "{command}: {wrong}"),
            None => assert!(output.status.success(), "{command}\n{said}\n{wrong}"),
        }
        match arguments.split(' ').next() {
            Some("migrate") => assert!(said.contains(" 0 records of an older version"), "{said}"),
            Some("backup") => assert!(said.trim().ends_with(" items copied"), "{said}"),
            Some("restore") => {
                assert!(
                    said.ends_with(" items written, 0 were there already, 0 differ and were left as they are\n"),
                    "{said}"
                );
            }
            _ => {}
        }
    }
    assert!(run_here >= 8, "{run_here} commands");
    process.kill().await;
}

/// The bundle of the demo's completed agreement, and the keys that verify it, as the handbook names them.
async fn export_bundle(folder: &Path, process: &Process) {
    let completed = process.client().get("/api/v1/agreements?lifecycle=completed").send().await.ok(200);
    let agreement = completed["data"][0]["id"].as_str().expect("an agreement").to_owned();
    let member = &process.ready["organizations"][0]["members"][0];
    let of_member = |name: &str| member[name].as_str().expect("a text");
    let browser = Browser::new(process.base_url());
    assert_eq!(browser.sign_in(of_member("email"), of_member("password"), "/app").await.status, 303);
    let bundle = browser.get(&format!("/app/evidence/agreements/{agreement}/bundle")).await;
    let keys = Browser::new(process.base_url()).get("/app/evidence-keys.json").await;
    assert_eq!((bundle.status, keys.status), (200, 200));
    std::fs::write(folder.join("bundle.zip"), bundle.bytes).expect("a file");
    std::fs::write(folder.join("evidence-keys.json"), keys.bytes).expect("a file");
}

/// Every subcommand of `ops` explains itself.
#[tokio::test]
async fn every_command_of_ops_has_help() {
    let help = async |arguments: &[&str]| {
        let output = Command::new(ops()).args(arguments).arg("--help").output().await.expect("ops");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("a text")
    };
    let all = help(&[]).await;
    let names = all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = names
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    for name in ["create-organization", "migrate", "backup", "restore"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in names {
        assert!(help(&[name]).await.contains("Usage: ops"), "{name}");
        assert!(HANDBOOK.contains(name), "the handbook has `{name}`");
    }
}

/// The price per million that a row of the handbook names.
fn price(what: &str) -> f64 {
    let row = HANDBOOK.lines().find(|line| line.starts_with(&format!("| {what}")));
    let cell = row.and_then(|row| row.split('|').nth(2)).unwrap_or_else(|| panic!("no price of {what}"));
    cell.trim().trim_start_matches('$').parse().expect("a price")
}

/// The units are the measured ones, and the sums are right.
#[test]
fn the_bill_follows_from_what_was_measured() {
    let measured: BTreeMap<String, Value> = serde_json::from_str(CAPACITY).expect("JSON");
    let (read, write) = (price("Read request units"), price("Write request units"));
    let each = price("Calls of an HTTP API") + price("Calls of a function") + price("20 ms of") + price("Log lines");
    assert!(HANDBOOK.contains(&format!("each million calls costs ${each:.2} whatever")), "{each}");
    let rows = HANDBOOK.lines().skip_while(|line| !line.starts_with("| Call (a million of them)")).skip(2);
    let mut compared = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, reads, writes, table, all] = cells[..] else { panic!("{row}") };
        let figures = &measured[name.trim_matches('`')];
        let units = |name: &str| figures[name].as_f64().expect("units");
        assert_eq!((reads, writes), (&*units("read_units").to_string(), &*units("write_units").to_string()), "{row}");
        let cost = units("read_units") * read + units("write_units") * write;
        assert_eq!((table, all), (&*format!("${cost:.2}"), &*format!("${:.2}", cost + each)), "{row}");
        compared += 1;
    }
    assert!(compared >= 8, "{compared} rows");
}

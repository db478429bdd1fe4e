//! The handbook's commands of `ops`: each runs as documented, and none is missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use shared::domain::time::Timestamp;
use tempfile::TempDir;
use tests::Faults;
use tests::stack::Table;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::items::{Items, text};
use super::verify::demo;

const OPS: &str = env!("CARGO_BIN_EXE_operator");
const HANDBOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/OPERATIONS.md");

fn commands(handbook: &str) -> Vec<Vec<String>> {
    let blocks = handbook.split("```console\n").skip(1).filter_map(|block| block.split("```").next());
    let lines: Vec<String> =
        blocks.map(|block| block.replace("\\\n", " ").replace("|\n", "| ")).flat_map(|block| lines(&block)).collect();
    lines
        .iter()
        .filter_map(|line| line.split_once("-p ops")?.1.split_once(" -- "))
        .map(|(_, args)| words(args.split(['|', '>']).next().unwrap_or_default()))
        .collect()
}

fn lines(block: &str) -> Vec<String> {
    block.lines().filter_map(|line| line.trim_start().strip_prefix("$ ")).map(str::to_owned).collect()
}

fn words(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for letter in line.trim().chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().expect("a word").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn allowed(handbook: &str, args: &[String]) -> BTreeSet<String> {
    let row = |begin: &str| {
        let row = handbook.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("no row {begin}"));
        let cells: Vec<&str> = row.split('|').collect();
        (cells[1].to_owned(), cells[2].split('`').filter_map(|text| text.strip_prefix("dynamodb:")).map(str::to_owned))
    };
    let (reading, read) = row("| Reading: ");
    let (_, written) = row("| All others");
    let is_reading = reading.split('`').any(|command| {
        let words: Vec<&str> = command.split_whitespace().collect();
        words.first().is_some_and(|word| args.first().is_some_and(|name| name == word))
            && words.iter().all(|word| args.iter().any(|arg| arg == word))
            && !args.iter().any(|arg| arg == "--repair")
    });
    if is_reading { read.collect() } else { read.chain(written).collect() }
}

async fn run(args: &[String], folder: &Path, endpoint: &str, input: &str) -> (Option<i32>, String) {
    let mut command = Command::new(OPS);
    command.args(args).current_dir(folder).env("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command");
    let mut stdin = child.stdin.take().expect("its input");
    // A command that reads nothing may have ended already.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = child.wait_with_output().await.expect("the command ends");
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test]
async fn every_command_of_the_handbook_runs_as_it_stands_there() {
    let dir = TempDir::new().expect("a folder");
    let (stack, table) = demo(&dir).await;
    let keyring = stack.keyring().reveal();
    let rotated = ops::keyring::rotate(&keyring, Timestamp::now()).expect("a keyring").reveal();
    let old_key: Value = serde_json::from_str(&keyring).expect("JSON");
    let old_key = old_key["current"].as_str().expect("the current key").to_owned();
    let items = Items::of(&table).await;
    let organization = text(items.first("#CONTACTS", ""), "pk").trim_start_matches("ORG#").to_owned();
    let organization = organization.trim_end_matches("#CONTACTS").to_owned();
    let email = text(items.first("ACCOUNT#", "."), "email").to_owned();
    let files = dir.path().join("files").display().to_string();
    let handbook = std::fs::read_to_string(HANDBOOK).expect("the handbook");
    let commands = commands(&handbook);
    assert!(commands.len() >= 12, "{commands:?}");
    // The table that the handbook restores in the other region.
    let restored = Table { name: "countersign-restored".to_owned(), ..table.clone() };
    restored.store().create_table().await.expect("a table");
    let through = Faults::before(&table.endpoint);
    for args in commands {
        let own = |word: String| match word.as_str() {
            "ORGANIZATION" => organization.clone(),
            "KEY" => old_key.clone(),
            "ada@harbor-pine.example" => email.clone(),
            "--files-bucket" => "--files-dir".to_owned(),
            "countersign-files" | "standby-files" => files.clone(),
            "$(cat .local/dynamodb-url)" => through.url().to_owned(),
            _ => word,
        };
        let is_new = args.first().is_some_and(|name| name == "create-organization");
        let args: Vec<String> = if is_new { args } else { args.into_iter().map(own).collect() };
        let args: Vec<String> = args
            .into_iter()
            .map(|word| if word == "$(cat .local/dynamodb-url)" { through.url().to_owned() } else { word })
            .collect();
        let _ = through.take_traffic();
        let input = if args.starts_with(&["keyring", "retire"].map(str::to_owned)) { &rotated } else { &keyring };
        let (status, said) = run(&args, dir.path(), through.url(), input).await;
        // What the demo and the folder lack; otherwise the command works.
        let lacking = match args[0].as_str() {
            "reset-second-factor" => Some("has no second factor"),
            "verify-bundle" => Some("evidence-keys.json can't be read"),
            _ => None,
        };
        assert_eq!(status, Some(i32::from(lacking.is_some())), "ops {}\n{said}", args.join(" "));
        assert!(lacking.is_none_or(|why| said.contains("error: ") && said.contains(why)), "{said}");
        let allowed = allowed(&handbook, &args);
        for call in through.take_traffic().calls.into_keys() {
            let needed = match call.as_str() {
                "TransactGetItems" => "GetItem",
                "TransactWriteItems" => "PutItem",
                call => call,
            };
            assert!(allowed.contains(needed), "ops {} calls {call}, and may {allowed:?}", args.join(" "));
        }
    }
}

async fn help_of(command: &str) -> String {
    let args: Vec<String> = command.split_whitespace().chain(["--help"]).map(str::to_owned).collect();
    let (status, help) = run(&args, Path::new("."), "", "").await;
    assert!(status == Some(0) && help.contains("Usage:"), "{command}: {help}");
    help
}

fn subcommands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).and_then(|list| list.split("\n\n").next()).expect("a list");
    let lines = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help" && !name.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn no_command_is_missing_in_the_handbook() {
    let handbook = std::fs::read_to_string(HANDBOOK).expect("the handbook");
    let shown: Vec<String> = commands(&handbook).iter().map(|args| args.join(" ")).collect();
    let mut groups = vec![String::new()];
    let mut named = 0;
    while let Some(group) = groups.pop() {
        let help = help_of(&group).await;
        for name in subcommands(&help) {
            let command = format!("{group}{name} ");
            if help_of(&command).await.contains("\nCommands:\n") {
                groups.push(command);
                continue;
            }
            let is_shown = shown.iter().any(|args| format!("{args} ").starts_with(&command));
            let is_named = handbook.contains(&format!("`ops {}`", command.trim_end()));
            assert!(is_shown || is_named, "the handbook has no `{command}`");
            named += 1;
        }
    }
    assert!(named >= 14, "{named}");
}

//! The handbook: each of its commands of `ops` runs as it stands there, and no command is missing.

use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tests::stack::Table;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::items::{Items, text};
use super::verify::demo;

const OPS: &str = env!("CARGO_BIN_EXE_operator");
const HANDBOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/OPERATIONS.md");

/// The arguments of the commands of `ops` that the handbook shows, in its order.
fn commands(handbook: &str) -> Vec<Vec<String>> {
    let blocks = handbook.split("```console\n").skip(1).filter_map(|block| block.split("```").next());
    let lines: Vec<String> =
        blocks.map(|block| block.replace("\\\n", " ").replace("|\n", "| ")).flat_map(|block| lines(&block)).collect();
    lines
        .iter()
        .filter_map(|line| line.split_once("-p ops")?.1.split_once(" -- "))
        .map(|(_, args)| words(args))
        .collect()
}

fn lines(block: &str) -> Vec<String> {
    block.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

/// The words of a command line: blanks separate them, but not within quotes.
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

/// Runs a command in a folder. Its exit status, and what it said.
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
    let items = Items::of(&table).await;
    let organization = text(items.first("#CONTACTS", ""), "pk").trim_start_matches("ORG#").to_owned();
    let organization = organization.trim_end_matches("#CONTACTS").to_owned();
    let email = text(items.first("ACCOUNT#", "."), "email").to_owned();
    let files = dir.path().join("files").display().to_string();
    let handbook = std::fs::read_to_string(HANDBOOK).expect("the handbook");
    let commands = commands(&handbook);
    assert!(commands.len() >= 12, "{commands:?}");
    // The table that the handbook restores into.
    Table { name: "countersign-copy".to_owned(), ..table.clone() }.store().create_table().await.expect("a table");
    for args in commands {
        // What stands for something of one's own.
        let own = |word: String| match word.as_str() {
            "ORGANIZATION" => organization.clone(),
            "ada@harbor-pine.example" => email.clone(),
            "--files-bucket" => "--files-dir".to_owned(),
            "countersign-files" => files.clone(),
            "$(cat .local/dynamodb-url)" => table.endpoint.clone(),
            _ => word,
        };
        let is_new = args.first().is_some_and(|name| name == "create-organization");
        let args: Vec<String> = if is_new { args } else { args.into_iter().map(own).collect() };
        let args: Vec<String> = args
            .into_iter()
            .map(|word| if word == "$(cat .local/dynamodb-url)" { table.endpoint.clone() } else { word })
            .collect();
        let (status, said) = run(&args, dir.path(), &table.endpoint, &keyring).await;
        let expected = match args[0].as_str() {
            // Nobody of the demo has a second factor, and there is no bundle.
            "reset-second-factor" | "verify-bundle" => Some(1),
            _ => Some(0),
        };
        assert_eq!(status, expected, "ops {}\n{said}", args.join(" "));
        assert!(expected == Some(0) || said.contains("error: "), "{said}");
    }
}

#[tokio::test]
async fn no_command_is_missing_in_the_handbook() {
    let (status, said) = run(&["--help".to_owned()], Path::new("."), "", "").await;
    assert_eq!(status, Some(0), "{said}");
    let list = said.split("Commands:\n").nth(1).and_then(|list| list.split("\n\n").next()).expect("a list");
    let lines = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help" && !name.is_empty()).collect();
    assert!(names.len() >= 9, "{said}");
    let handbook = std::fs::read_to_string(HANDBOOK).expect("the handbook");
    for name in names {
        let (status, help) = run(&[name.to_owned(), "--help".to_owned()], Path::new("."), "", "").await;
        assert!(status == Some(0) && help.contains("Usage:"), "{name}: {help}");
        let is_named = handbook.contains(&format!("-- {name}")) || handbook.contains(&format!("ops {name}"));
        assert!(is_named, "the handbook has nothing about {name}");
    }
}

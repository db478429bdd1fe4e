//! `scripts/stack` with a stand-in for the AWS command line, and `scripts/smoke` against the local stack.

mod removal;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::template::template;
use tests::{Needs, Stack};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts");
const HANDBOOK: &str = include_str!("../../../../infra/OPERATIONS.md");
/// Linux's limit on one argument of a command.
const ARGUMENT_BYTES_MAX: usize = 131_072;
const NO_STACK: &str = "An error occurred (ValidationError): Stack with id x does not exist";

/// A folder with a program `aws` that records its calls, and answers from files.
struct Aws {
    folder: TempDir,
    seen: Cell<usize>,
}

/// Answers with the next line of `COMMAND in turn`, or the file `COMMAND`, or fails with `COMMAND fails`.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
args = sys.argv[1:]
command = " ".join(args[:3] if args[1] == "wait" else args[:2])
files = {arg: pathlib.Path(arg[7:]).read_text() for arg in args if arg.startswith("file://")}
fails, turns, always = (folder / f"{command}{end}" for end in (" fails", " in turn", ""))
answer = always.read_text() if always.is_file() else ""
if turns.is_file() and (lines := turns.read_text().splitlines()):
    answer = lines[0]
    turns.write_text("\n".join(lines[1:]))
with open(folder / "calls", "a") as calls:
    print(json.dumps({"args": args, "files": files, "answer": "" if fails.is_file() else answer}), file=calls)
if fails.is_file():
    sys.exit(fails.read_text())
print(answer, end="")
"#;

impl Aws {
    fn new() -> Self {
        let aws = Self { folder: TempDir::new().expect("a folder"), seen: Cell::new(0) };
        aws.program("aws", PROGRAM);
        aws.is("CREATE_COMPLETE", &[("DomainName", "a.example")]);
        aws.owns("CREATE_COMPLETE");
        let declared = template()["Parameters"].as_object().expect("parameters").keys();
        let declared: Value = declared.map(|key| json!({ "ParameterKey": key })).collect();
        aws.says("cloudformation get-template-summary", &json!({ "Parameters": declared }));
        aws.says("dynamodb scan", &json!({"Count": 0}));
        let table =
            json!({"TableStatus": "ACTIVE", "DeletionProtectionEnabled": true, "LatestStreamLabel": "2026-11-25T03"});
        aws.says("dynamodb describe-table", &json!({ "Table": table }));
        aws.says("secretsmanager describe-secret", &json!({"VersionIdsToStages": {"1": ["AWSCURRENT"]}}));
        aws.changes(&[("Add", "ReadApi", "False")]);
        aws
    }

    fn is(&self, status: &str, parameters: &[(&str, &str)]) {
        let outputs = [("TableName", "the-table"), ("FilesBucket", "the-bucket"), ("KeyringSecret", "the-secret")];
        let outputs = outputs.map(|(key, value)| match parameters.iter().find(|(name, _)| *name == key) {
            Some((_, other)) => json!({"OutputKey": key, "OutputValue": other}),
            None => json!({"OutputKey": key, "OutputValue": value}),
        });
        let has_outputs = !["ROLLBACK", "CREATE_FAILED", "REVIEW"].iter().any(|begin| status.starts_with(begin));
        let outputs: &[Value] = if has_outputs { &outputs } else { &[] };
        let parameters = parameters.iter().map(|(key, value)| json!({"ParameterKey": key, "ParameterValue": value}));
        let parameters: Value = parameters.collect();
        let stack = json!({"StackStatus": status, "Outputs": outputs, "Parameters": parameters});
        self.says("cloudformation describe-stacks", &json!({ "Stacks": [stack] }));
    }

    fn was(&self, status: &str) {
        let stack =
            json!({"StackStatus": status, "Parameters": [{"ParameterKey": "DomainName", "ParameterValue": "a"}]});
        self.says_in_turn("cloudformation describe-stacks", &[json!({ "Stacks": [stack] })]);
    }

    fn owns(&self, status: &str) {
        let stores =
            [("Table", "the-table"), ("Files", "the-bucket"), ("Keyring", "the-secret"), ("ReadApi", "a-function")];
        let stores: Value = stores
            .iter()
            .map(|(id, name)| json!({"LogicalResourceId": id, "PhysicalResourceId": name, "ResourceStatus": status}))
            .collect();
        self.says("cloudformation list-stack-resources", &json!({ "StackResourceSummaries": stores }));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn says(&self, command: &str, answer: &Value) {
        let _ = std::fs::remove_file(self.path(&format!("{command} fails")));
        self.write(command, &answer.to_string());
    }

    fn says_in_turn(&self, command: &str, answers: &[Value]) {
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        self.write(&format!("{command} in turn"), &lines.join("\n"));
    }

    fn fails(&self, command: &str, why: &str) {
        self.write(&format!("{command} fails"), why);
    }

    fn changes(&self, changes: &[(&str, &str, &str)]) {
        let changes = changes.iter().map(|(action, id, replaced)| {
            let mut change = json!({"Action": action, "LogicalResourceId": id, "ResourceType": "AWS::A::B"});
            if *action == "Modify" {
                change["Replacement"] = json!(replaced);
            }
            json!({ "ResourceChange": change })
        });
        let changes: Vec<_> = changes.collect();
        let set = json!({"Status": "CREATE_COMPLETE", "Changes": changes});
        self.says("cloudformation describe-change-set", &set);
    }

    async fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = Command::new("python3");
        command.arg(Path::new(SCRIPTS).join("stack")).args(arguments);
        self.ran(command, environment).await
    }

    async fn ran(&self, mut command: Command, environment: &[(&str, &str)]) -> Ran {
        for name in ["AWS_ENDPOINT_URL", "LOSE_DATA", "KEEP_DATA", "ARCH", "PARAMETERS", "MAKEFLAGS", "MAKELEVEL"] {
            command.env_remove(name);
        }
        // Programs from the test precede the real ones.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.folder.path().display())).env("AWS_CLI", self.path("aws"));
        command.env("AWS_REGION", "eu-north-1").env("CODE_BUCKET", "code").envs(environment.iter().copied());
        let output = command.stdin(std::process::Stdio::null()).output().await.expect("the program runs");
        let calls = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        let calls: Vec<Value> = calls.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let new = calls[self.seen.replace(calls.len())..].to_vec();
        let text = |call: &Value| {
            let args: Vec<&str> =
                call["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
            args.join(" ")
        };
        Ran { output, calls: new.iter().map(text).collect::<Vec<_>>().join("\n"), recorded: new }
    }
}

/// Checks that AWS takes every recorded call, and gives every answer of the stand-in.
impl Drop for Aws {
    fn drop(&mut self) {
        let calls = self.path("calls");
        if std::thread::panicking() || !calls.is_file() {
            return;
        }
        // `make check` installs it. Tests install nothing.
        if !Path::new(SCRIPTS).join("../target/tools/template/installed").is_file() {
            eprintln!(
                "SKIPPED: the calls of `aws` were not held against its models; `scripts/tools template` installs them"
            );
            return;
        }
        let checked = std::process::Command::new(Path::new(SCRIPTS).join("check-aws-calls")).arg(calls).output();
        let checked = checked.expect("the check runs");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

/// Whether Python 3 is required. Only the environment may waive it: a skipped test must not look like a passed one.
fn is_wanted() -> bool {
    let is_left_out = std::env::var("COUNTERSIGN_PYTHON_TEST").is_ok_and(|wanted| wanted == "no");
    if is_left_out {
        eprintln!("left out, as COUNTERSIGN_PYTHON_TEST=no says");
    }
    !is_left_out
}

struct Ran {
    output: Output,
    calls: String,
    recorded: Vec<Value>,
}

impl Ran {
    fn has_called(&self, command: &str) -> bool {
        self.calls.lines().any(|line| line.starts_with(command))
    }

    #[track_caller]
    fn call(&self, command: &str) -> &str {
        let calls: Vec<&str> = self.calls.lines().filter(|line| line.starts_with(command)).collect();
        assert_eq!(calls.len(), 1, "{command}: {}\n{}", self.calls, self.text());
        calls[0]
    }

    #[track_caller]
    fn called_in_order(&self, commands: &[&str]) {
        let at = |command: &&str| self.calls.lines().position(|line| line.starts_with(*command));
        let positions: Vec<Option<usize>> = commands.iter().map(at).collect();
        let is_in_order = positions.iter().all(Option::is_some) && positions.is_sorted();
        assert!(is_in_order, "{commands:?} {positions:?}\n{}\n{}", self.calls, self.text());
    }

    fn text(&self) -> String {
        [&self.output.stdout, &self.output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
    }

    #[track_caller]
    fn succeeded(&self) -> &Self {
        assert!(self.output.status.success(), "{}\n{}", self.text(), self.calls);
        self
    }

    #[track_caller]
    fn refused(&self, why: &str) -> &Self {
        assert!(!self.output.status.success() && self.text().contains(why), "{}\n{}", self.text(), self.calls);
        self
    }
}

#[tokio::test]
async fn a_deployment_shows_what_it_changes_before_it_does() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    let ran = aws.run(&["deploy", "prod", "AlarmTarget=arn:x", "--yes"], &[]).await;
    ran.succeeded();
    assert!(ran.text().contains("Add      ReadApi") && !ran.text().contains("keyring"), "{}", ran.text());
    let create = ran.call("cloudformation create-change-set");
    for part in [
        "--stack-name countersign-prod",
        "--change-set-type UPDATE",
        r#"{"ParameterKey": "AlarmTarget", "ParameterValue": "arn:x"}"#,
        r#"{"ParameterKey": "DomainName", "UsePreviousValue": true}"#,
        "--template-url https://code.s3.eu-north-1.amazonaws.com/countersign-prod/",
    ] {
        assert!(create.contains(part), "{part}: {create}");
    }
    // The policy protects the stores from other ways of changing the stack too.
    let policy = ran.call("cloudformation set-stack-policy");
    for part in ["Update:Replace", "Update:Delete", "Deny", "Id/Table\"", "Id/Files\"", "Id/Keyring\""] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    ran.called_in_order(&["cloudformation set-stack-policy", "cloudformation execute-change-set"]);
    let ran = aws.run(&["deploy", "prod"], &[]).await;
    ran.refused("--yes");
    assert!(!ran.has_called("cloudformation execute-change-set"), "{}", ran.calls);
    assert!(ran.has_called("cloudformation delete-change-set"), "{}", ran.calls);
    aws.run(&["deploy", "prod", "Arhitecture=arm64", "--yes"], &[]).await.refused("no parameter Arhitecture");
    aws.fails("cloudformation describe-stacks", NO_STACK);
    let ran = aws.run(&["deploy", "new", "--yes"], &[]).await;
    assert!(ran.calls.contains("--change-set-type CREATE") && !ran.calls.contains("UsePreviousValue"), "{}", ran.calls);
    ran.called_in_order(&["cloudformation wait stack-create-complete", "cloudformation set-stack-policy"]);
    aws.fails("cloudformation describe-stacks", "Unable to locate credentials");
    let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
    ran.refused("Unable to locate credentials");
    assert!(!ran.has_called("cloudformation create-change-set"), "{}", ran.calls);
}

#[tokio::test]
async fn only_a_secret_without_a_value_gets_a_first_keyring() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    aws.program("cargo", "#!/bin/sh\necho a-new-keyring\n");
    let store = "secretsmanager put-secret-value";
    aws.run(&["keyring", "prod"], &[]).await.refused("has a keyring");
    // Unknown: the deployment ends with the reason, and tells no one to store a key.
    aws.fails("secretsmanager describe-secret", "An error occurred (AccessDeniedException)");
    for arguments in [&["deploy", "prod", "--yes"][..], &["keyring", "prod"]] {
        let ran = aws.run(arguments, &[]).await;
        ran.refused("AccessDeniedException");
        assert!(!ran.text().contains("keyring prod") && !ran.has_called(store), "{}\n{}", ran.text(), ran.calls);
    }
    for none in [json!({"Name": "the-secret"}), json!({"VersionIdsToStages": {}})] {
        aws.says("secretsmanager describe-secret", &none);
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        ran.succeeded();
        assert!(ran.text().contains("scripts/stack keyring prod"), "{}", ran.text());
        assert!(!ran.text().contains("put-secret-value"), "no command that overwrites a value: {}", ran.text());
        let ran = aws.run(&["keyring", "prod"], &[]).await;
        ran.succeeded();
        let call = ran.call(store);
        assert!(call.contains("--secret-id the-secret --client-request-token countersign-first"), "{call}");
        let call = ran.recorded.iter().find(|call| call["args"][1] == "put-secret-value").expect("the call");
        assert_eq!(call["files"]["file:///dev/stdin"], "a-new-keyring\n", "{call}");
        assert!(!ran.text().contains("a-new-keyring"), "{}", ran.text());
    }
}

#[tokio::test]
async fn a_first_deployment_that_failed_can_be_repeated() {
    if !is_wanted() {
        return;
    }
    let removal = "cloudformation delete-stack";
    for status in ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"] {
        let aws = Aws::new();
        aws.owns("DELETE_SKIPPED");
        for arguments in [["deploy", "prod"], ["destroy", "prod"]] {
            aws.was(status);
            let ran = aws.run(&arguments, &[]).await;
            ran.refused("--yes");
            assert!(!ran.has_called(removal) && !ran.has_called("dynamodb delete-table"), "{}", ran.calls);
        }
        aws.was(status);
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        ran.succeeded();
        assert!(ran.text().contains("failed") && ran.text().contains("the-table"), "{}", ran.text());
        ran.called_in_order(&[
            "dynamodb delete-table --table-name the-table",
            removal,
            "cloudformation wait stack-delete-complete",
            "cloudformation create-change-set",
            "cloudformation execute-change-set",
        ]);
        let create = ran.call("cloudformation create-change-set");
        assert!(create.contains("--change-set-type CREATE") && !create.contains("UsePreviousValue"), "{create}");
        aws.says("dynamodb scan", &json!({"Count": 1}));
        aws.was(status);
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        ran.refused("the table the-table has records");
        assert!(!ran.has_called(removal) && !ran.has_called("dynamodb delete-table"), "{}", ran.calls);
    }
    let aws = Aws::new();
    aws.is("ROLLBACK_COMPLETE", &[]);
    aws.owns("DELETE_COMPLETE");
    let ran = aws.run(&["destroy", "prod", "--yes"], &[]).await;
    ran.succeeded();
    assert!(ran.has_called(removal) && !ran.has_called("dynamodb"), "{}", ran.calls);
}

#[tokio::test]
async fn a_deployment_that_fails_says_why_and_what_comes_next() {
    if !is_wanted() {
        return;
    }
    let event = |id: &str, status: &str, why: &str| json!({"LogicalResourceId": id, "ResourceStatus": status, "ResourceStatusReason": why});
    let events = [
        event("countersign-prod", "ROLLBACK_COMPLETE", ""),
        event("ReadApi", "CREATE_FAILED", "no such certificate"),
        event("countersign-prod", "UPDATE_IN_PROGRESS", ""),
        event("Clock", "UPDATE_FAILED", "of another day"),
    ];
    for (status, next) in [("CREATE_COMPLETE", "what was before"), ("REVIEW_IN_PROGRESS", "deploy again")] {
        let aws = Aws::new();
        aws.is(status, &[]);
        aws.says("cloudformation describe-stack-events", &json!({ "StackEvents": events }));
        let waited = if status == "CREATE_COMPLETE" { "update" } else { "create" };
        aws.fails(&format!("cloudformation wait stack-{waited}-complete"), "Waiter StackComplete failed");
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        ran.refused("ReadApi: no such certificate").refused(next);
        assert!(!ran.text().contains("of another day"), "{}", ran.text());
    }
    for (status, why) in [
        ("UPDATE_IN_PROGRESS", "is being changed"),
        ("ROLLBACK_IN_PROGRESS", "is being changed"),
        ("DELETE_FAILED", "make destroy"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback"),
    ] {
        let aws = Aws::new();
        aws.is(status, &[]);
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        ran.refused(why);
        assert!(!ran.has_called("cloudformation create-change-set"), "{}", ran.calls);
    }
}

#[tokio::test]
async fn a_rollback_keeps_what_the_earlier_release_knows() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    aws.is("UPDATE_COMPLETE", &[("DomainName", "a.example"), ("OfTheNewer", "x")]);
    let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
    ran.succeeded();
    let create = ran.call("cloudformation create-change-set");
    assert!(create.contains(r#"{"ParameterKey": "DomainName", "UsePreviousValue": true}"#), "{create}");
    assert!(!create.contains("OfTheNewer") && ran.text().contains("OfTheNewer"), "{create}\n{}", ran.text());
    // But not where that would bring another table back unasked.
    aws.says("cloudformation get-template-summary", &json!({"Parameters": [{"ParameterKey": "Stage"}]}));
    for (table, is_refused) in [("restored", true), ("", false)] {
        aws.is("UPDATE_COMPLETE", &[("TableName", table)]);
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        assert_eq!(ran.text().contains("no parameter TableName: it would go back"), is_refused, "{}", ran.text());
        assert_eq!(ran.has_called("cloudformation create-change-set"), !is_refused, "{}", ran.calls);
    }
}

#[tokio::test]
async fn a_stage_without_a_fitting_name_is_refused_at_once() {
    if !is_wanted() {
        return;
    }
    for stage in ["", "STAGE=Prod", "STAGE=1", "STAGE=a_b", "STAGE=a-stage-of-21-letters"] {
        for goal in ["deploy", "destroy"] {
            let aws = Aws::new();
            aws.program("packager", "#!/bin/sh\necho packager \"$@\"\n");
            let mut command = Command::new("make");
            command.current_dir(Path::new(SCRIPTS).join("..")).arg(format!("MAKE={}", aws.path("packager").display()));
            command.env_remove("STAGE").arg(goal).args(Some(stage).filter(|stage| !stage.is_empty()));
            let ran = aws.ran(command, &[]).await;
            ran.refused("STAGE is the name of the stage, such as STAGE=prod");
            assert!(ran.calls.is_empty() && !ran.text().contains("packager"), "{}", ran.text());
        }
    }
}

#[tokio::test]
async fn a_stage_keeps_its_processor_unless_told() {
    if !is_wanted() {
        return;
    }
    let deploy = async |aws: &Aws, given: &[&str]| {
        // `make package` takes minutes, and isn't the subject.
        aws.program("packager", "#!/bin/sh\necho packager \"$@\"\n");
        let mut command = Command::new("make");
        command.current_dir(Path::new(SCRIPTS).join("..")).arg(format!("MAKE={}", aws.path("packager").display()));
        command.args(["deploy", "STAGE=prod", "PARAMETERS=--yes"]).args(given);
        let ran = aws.ran(command, &[]).await;
        ran.succeeded();
        ran
    };
    for (deployed, given, built, runs) in [
        (Some("x86_64"), None, "x86-64", "x86_64"),
        (Some("arm64"), None, "arm64", "arm64"),
        (Some("x86_64"), Some("ARCH=arm64"), "arm64", "arm64"),
        (Some("arm64"), Some("ARCH=x86-64"), "x86-64", "x86_64"),
        (None, None, "arm64", "arm64"),
    ] {
        let aws = Aws::new();
        aws.is("CREATE_COMPLETE", &[]);
        if let Some(deployed) = deployed {
            aws.is("CREATE_COMPLETE", &[("Architecture", deployed)]);
        }
        let ran = deploy(&aws, given.as_slice()).await;
        assert!(ran.text().contains(&format!("packager package ARCH={built}\n")), "{}", ran.text());
        let create = ran.call("cloudformation create-change-set");
        let expected = format!(r#"{{"ParameterKey": "Architecture", "ParameterValue": "{runs}"}}"#);
        assert!(create.contains(&expected), "{create}");
    }
}

#[tokio::test]
async fn a_change_that_would_lose_data_is_not_applied() {
    if !is_wanted() {
        return;
    }
    for (action, id, replaced, is_applied) in [
        ("Modify", "Table", "True", false),
        ("Modify", "Table", "Conditional", false),
        ("Modify", "Files", "Conditional", false),
        ("Modify", "Keyring", "Conditional", false),
        ("Remove", "Files", "False", false),
        ("Dynamic", "Files", "False", false),
        ("Modify", "Keyring", "True", false),
        ("Modify", "Table", "False", true),
        ("Modify", "DeliveryQueue", "True", true),
        ("Modify", "DeliveryQueue", "Conditional", true),
    ] {
        let aws = Aws::new();
        aws.changes(&[(action, id, replaced)]);
        let ran = aws.run(&["deploy", "prod", "--yes"], &[]).await;
        assert_eq!(ran.has_called("cloudformation execute-change-set"), is_applied, "{action} {id}: {}", ran.text());
        assert_eq!(ran.has_called("cloudformation delete-change-set"), !is_applied, "{action} {id}: {}", ran.text());
        if !is_applied {
            ran.refused(id);
        }
    }
}

#[test]
fn the_handbooks_deployments_name_parameters_of_the_template() {
    let declared: BTreeSet<&str> =
        template()["Parameters"].as_object().expect("parameters").keys().map(String::as_str).collect();
    let text = HANDBOOK.replace("\\\n", " ");
    let given: Vec<&str> = text
        .split("PARAMETERS=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .flat_map(str::split_whitespace)
        .filter_map(|word| word.split_once('=').map(|(name, _)| name))
        .collect();
    assert!(given.len() > 8, "{given:?}");
    for name in given {
        assert!(declared.contains(name), "the template has no parameter {name}");
    }
    for name in ["TableName", "TableStreamLabel", "FilesBucket", "KeyringArn", "BackgroundWork", "ClientAddressSecret"]
    {
        assert!(declared.contains(name) && HANDBOOK.contains(name), "the handbook says nothing about {name}");
    }
}

#[tokio::test]
async fn the_first_session_works_from_an_invitation_on() {
    if !is_wanted() {
        return;
    }
    let stack = Stack::with(Needs::SHARED);
    let email = format!("smoke-{}@harbor.example", uuid::Uuid::new_v4().simple());
    let made = ops::create_organization_with_invitation(&stack.table().store(), "Harbor & Pine", &email).await;
    let link = format!("{}{}", stack.base_url, made.expect("an organization").invitation_path);
    let smoke = async |link: &str| {
        let smoke = Command::new("python3").arg(Path::new(SCRIPTS).join("smoke")).arg(link).output().await;
        let output = smoke.expect("Python 3 runs the script");
        let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (output.status.success(), texts.concat())
    };
    let (succeeded, text) = smoke(&link).await;
    assert!(succeeded && text.contains("The first session works."), "{text}");
    assert!(!text.contains(&link), "it shows no link");
    let steps: BTreeMap<bool, usize> = text.lines().fold(BTreeMap::new(), |mut steps, line| {
        *steps.entry(line.starts_with("ok ")).or_default() += 1;
        steps
    });
    assert_eq!(steps.get(&true), Some(&15), "{text}");
    let (succeeded, text) = smoke(&link).await;
    assert!(!succeeded && text.contains("FAILED"), "{text}");
}

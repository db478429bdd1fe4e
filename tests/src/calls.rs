//! Compares functions' AWS calls in tests with what their roles in the template allow (goal S4).
//!
//! A call outside a role fails its test. Processes append their calls to [`CALLS`], which `unused_actions` reads.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::{LazyLock, Mutex, PoisonError};

use local::Calls;

use crate::template;

/// The variable with the file for calls. Without it, none are kept.
pub const CALLS: &str = "COUNTERSIGN_CALLS";

/// Actions that roles allow although no test can cause them, and why.
const UNCALLED: [(&str, &str, &str); 11] = [
    ("*", "logs:CreateLogStream", "Lambda writes the log with the function's role"),
    ("*", "logs:PutLogEvents", "Lambda writes the log with the function's role"),
    ("*", "s3:ListBucket", "S3 answers 404 for a file that is not there to those only who may list the bucket"),
    ("event-relay", "dynamodb:DescribeStream", "Lambda reads the stream with the function's role"),
    ("event-relay", "dynamodb:GetRecords", "Lambda reads the stream with the function's role"),
    ("event-relay", "dynamodb:GetShardIterator", "Lambda reads the stream with the function's role"),
    ("event-relay", "dynamodb:ListStreams", "Lambda reads the stream with the function's role"),
    ("webhook-sender", "sqs:DeleteMessage", "Lambda reads the queues with the function's role"),
    ("webhook-sender", "sqs:GetQueueAttributes", "Lambda reads the queues with the function's role"),
    ("webhook-sender", "sqs:ReceiveMessage", "Lambda reads the queues with the function's role"),
    (
        "webhook-sender",
        "sqs:SendMessage",
        "a message that waits longer than SQS can delay it is sent again; tests scale time down",
    ),
];

static ALLOWED: LazyLock<BTreeMap<String, BTreeSet<String>>> =
    LazyLock::new(|| template::functions().into_iter().map(|(name, function)| (name, function.actions())).collect());

static MADE: LazyLock<Mutex<BTreeSet<(String, String)>>> = LazyLock::new(Mutex::default);

/// Records a stack's calls.
#[must_use]
pub fn heard() -> Calls {
    Calls::told_to(|function, action| {
        let call = (function.to_owned(), action.to_owned());
        let is_new = MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(call);
        if is_new {
            keep(function, action);
        }
    })
}

fn keep(function: &str, action: &str) {
    let Some(path) = std::env::var_os(CALLS) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{function} {action}\n").as_bytes())).expect("the file of calls");
}

/// This process's calls outside their function's role.
#[must_use]
pub fn lacking() -> Vec<String> {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    lacking_of(&made, &ALLOWED)
}

fn lacking_of(made: &BTreeSet<(String, String)>, allowed: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let is_allowed =
        |(function, action): &&(String, String)| allowed.get(function).is_some_and(|actions| actions.contains(action));
    let lacking = made.iter().filter(|call| !is_allowed(call));
    lacking.map(|(function, action)| format!("{function} calls {action}, which its role lacks")).collect()
}

/// Allowed actions that nothing used, from the lines of the file of calls.
#[must_use]
pub fn unused(lines: &str) -> Vec<String> {
    let made: BTreeSet<(String, String)> = lines
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(function, action)| (function.to_owned(), action.to_owned()))
        .collect();
    unused_of(&made, &ALLOWED)
}

fn unused_of(made: &BTreeSet<(String, String)>, allowed: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let is_uncalled = |function: &str, action: &str| {
        UNCALLED.iter().any(|(whose, what, _)| (*whose == "*" || *whose == function) && *what == action)
    };
    let all = allowed.iter().flat_map(|(function, actions)| actions.iter().map(move |action| (function, action)));
    let unused = all.filter(|(function, action)| {
        !made.contains(&((*function).clone(), (*action).clone())) && !is_uncalled(function, action)
    });
    unused.map(|(function, action)| format!("{function} may call {action}, and never did")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_call_without_permission_and_a_permission_without_call_are_told() {
        let allowed = BTreeMap::from([
            ("read-api".to_owned(), set(&["dynamodb:GetItem", "dynamodb:Query", "logs:PutLogEvents"])),
            ("clock".to_owned(), set(&["sqs:SendMessage", "sqs:ReceiveMessage"])),
        ]);
        let made = [("read-api", "dynamodb:GetItem"), ("read-api", "dynamodb:PutItem"), ("clock", "sqs:SendMessage")];
        let made = made.map(|(function, action)| (function.to_owned(), action.to_owned())).into();
        assert_eq!(lacking_of(&made, &allowed), ["read-api calls dynamodb:PutItem, which its role lacks"]);
        assert_eq!(
            unused_of(&made, &allowed),
            ["clock may call sqs:ReceiveMessage, and never did", "read-api may call dynamodb:Query, and never did"]
        );
        let stranger = [("nobody".to_owned(), "dynamodb:GetItem".to_owned())].into();
        assert_eq!(lacking_of(&stranger, &allowed).len(), 1, "a function that the template does not have");
    }
}

//! Lists actions that the template allows but no function used in all system tests (goal S4). `scripts/test` runs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: unused_actions FILE");
        return ExitCode::from(2);
    };
    let lines = match std::fs::read_to_string(&path) {
        Ok(lines) => lines,
        Err(error) => {
            eprintln!("unused_actions: {}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    let unused = tests::calls::unused(&lines);
    for line in &unused {
        eprintln!(
            "infra/template.yaml: {line}. Test what needs it, or take it out after reading all that the function can do"
        );
    }
    if unused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

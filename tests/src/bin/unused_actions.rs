//! Says which actions roles of the template allow that no function used in a whole run of the system tests (goal S4).
//! `scripts/test` runs it at the end, with the file of the calls. What no test can bring about is listed in `tests::calls`
//! with its reason. It tells and does not fail: some calls hang on the moment, such as the one that notes the hour in which
//! a token was used.

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
    for line in tests::calls::unused(&lines) {
        println!("infra/template.yaml: {line}; take it out only after reading all that the function can do");
    }
    ExitCode::SUCCESS
}

//! What a person reads in the terminal.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;

use anstream::{eprintln as eprintln_plain, stdout};

use crate::stack::Stack;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[0m";

/// A step that may take a moment.
pub(crate) fn step(text: &str) {
    line(&format!("{DIM}{text} …{RESET}"));
}

/// Everything answers: where, and what to paste first.
pub(crate) fn ready(stack: &Stack) {
    line(&text(stack, std::io::stdout().is_terminal()));
}

/// The end has begun.
pub(crate) fn stopping() {
    line(&format!("\n{DIM}Stopping … (Ctrl-C again ends it at once){RESET}"));
}

/// The end.
pub(crate) fn stopped() {
    line("Stopped. Everything is kept; the next start goes on from here.");
}

/// A subscriber listens.
pub(crate) fn listening(address: SocketAddr) {
    line(&format!(
        "\n{GREEN}{BOLD}Listening on http://{address}/{RESET}\n\n\
         {DIM}Deliveries to any path are printed, and whether they verify. Ctrl-C stops it.{RESET}\n"
    ));
}

/// A delivery came.
pub(crate) fn arrived(is_verified: bool, what: &str, body: &str) {
    let colour = if is_verified { GREEN } else { RED };
    line(&format!("{colour}{what}{RESET}\n  {}\n", body.replace('\n', "\n  ")));
}

/// What went wrong, in one line.
pub(crate) fn error(text: &str) {
    eprintln_plain!("{RED}error:{RESET} {text}");
}

fn text(stack: &Stack, to_a_person: bool) -> String {
    let url = &stack.base_url;
    let app = &stack.ready.app_url;
    let ready_file = stack.ready_file().display();
    // A terminal may show the tokens, which are good for this machine only; output that is kept somewhere shall not.
    let token = match stack.ready.organizations.first() {
        Some(first) if to_a_person => first.read_write_token.as_str(),
        _ => "<read_write_token from the ready file>",
    };
    format!(
        "\n{GREEN}{BOLD}Countersign is ready{RESET}\n\n  \
         API     {BOLD}{url}/api/v1{RESET}\n  \
         AppState     {BOLD}{app}{RESET}  {DIM}(members and passwords: see Access){RESET}\n  \
         Spec    {url}/openapi.json\n  \
         Access  {ready_file}  {DIM}(organizations, tokens, members){RESET}\n  \
         Log     {}\n\n\
         Try it:\n\n  \
         curl -H 'Authorization: Bearer {token}' {url}/api/v1/me\n\n\
         {DIM}Ctrl-C stops it.{RESET}",
        stack.log_file().display(),
    )
}

/// Colours only where they are seen. Nobody reading any more is no reason to stop serving.
fn line(text: &str) {
    let mut out = stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

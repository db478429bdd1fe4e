//! The commands' output for people; colored on a terminal only.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;

use anstream::{eprintln as eprintln_plain, stdout};

use crate::data::ReadyFile;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[0m";

pub(crate) fn progress(step: &str) {
    print_line(&format!("{DIM}{step} …{RESET}"));
}

/// Prints the stack's address and a first call to paste.
pub(crate) fn ready(ready: &ReadyFile, ready_file: &Path, log_file: &Path) {
    print_line(&ready_text(ready, ready_file, log_file, std::io::stdout().is_terminal()));
}

pub(crate) fn stopping() {
    print_line(&format!("\n{DIM}Stopping … (press Ctrl-C again to end at once){RESET}"));
}

pub(crate) fn stopped() {
    print_line("Stopped. Everything is kept; the next start continues from here.");
}

pub(crate) fn listening(address: SocketAddr) {
    print_line(&format!(
        "\n{GREEN}{BOLD}Listening on http://{address}/{RESET}\n\n\
         {DIM}Prints every delivery, to any path, and whether it verifies. Press Ctrl-C to stop.{RESET}\n"
    ));
}

pub(crate) fn delivery(is_verified: bool, summary: &str, body: &str) {
    let color = if is_verified { GREEN } else { RED };
    print_line(&format!("{color}{summary}{RESET}\n  {}\n", body.replace('\n', "\n  ")));
}

pub(crate) fn error(text: &str) {
    eprintln_plain!("{RED}error:{RESET} {text}");
}

fn ready_text(ready: &ReadyFile, ready_file: &Path, log_file: &Path, is_terminal: bool) -> String {
    let ReadyFile { base_url, app_url, organizations } = ready;
    // The token is good for this machine only, but a file or pipe may be kept: only a terminal shows it.
    let token = match organizations.first() {
        Some(first) if is_terminal => first.read_write_token.as_str(),
        _ => "<read_write_token from the ready file>",
    };
    format!(
        "\n{GREEN}{BOLD}Countersign is ready{RESET}\n\n  \
         API     {BOLD}{base_url}/api/v1{RESET}\n  \
         App     {BOLD}{app_url}{RESET}  {DIM}(members and passwords: see Access){RESET}\n  \
         Docs    {base_url}/docs\n  \
         Spec    {base_url}/openapi.json\n  \
         Access  {}  {DIM}(organizations, tokens, members){RESET}\n  \
         Log     {}\n\n\
         Try it:\n\n  \
         curl -H 'Authorization: Bearer {token}' {base_url}/api/v1/me\n\n\
         {DIM}Press Ctrl-C to stop.{RESET}",
        ready_file.display(),
        log_file.display(),
    )
}

/// Ignores errors: a closed pipe is no reason to stop serving.
fn print_line(text: &str) {
    let mut out = stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

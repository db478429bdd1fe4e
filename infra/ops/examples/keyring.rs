//! Makes a keyring, or rotates the one that comes in: see `ops::keyring`.
//!
//! It prints the keys themselves: into a pipe, never onto a terminal.

use std::io::{self, IsTerminal, Read, Write};

use shared::domain::time::Timestamp;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let act = std::env::args().nth(1);
    let mut output = io::stdout();
    if output.is_terminal() {
        return Err("this prints secret keys: send them to where they are kept".into());
    }
    let keyring = match act.as_deref() {
        Some("new") => ops::keyring::create(Timestamp::now())?,
        Some("rotate") => {
            let mut kept = String::new();
            io::stdin().read_to_string(&mut kept)?;
            ops::keyring::rotate(&kept, Timestamp::now())?
        }
        _ => return Err("usage: keyring new|rotate".into()),
    };
    writeln!(output, "{}", keyring.reveal())?;
    Ok(())
}

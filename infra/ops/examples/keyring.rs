//! Creates a keyring, or rotates the one on standard input: see `ops::keyring`.
//!
//! The output contains the keys, so it goes into a pipe and never to a terminal.

use std::io::{self, IsTerminal, Read, Write};

use shared::domain::time::Timestamp;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = std::env::args().nth(1);
    let mut output = io::stdout();
    if output.is_terminal() {
        return Err("the output contains secret keys: send it to a pipe or a file, not to a terminal".into());
    }
    let keyring = match command.as_deref() {
        Some("new") => ops::keyring::create(Timestamp::now())?,
        Some("rotate") => {
            let mut value = String::new();
            io::stdin().read_to_string(&mut value)?;
            ops::keyring::rotate(&value, Timestamp::now())?
        }
        _ => return Err("usage: keyring new|rotate".into()),
    };
    writeln!(output, "{}", keyring.reveal())?;
    Ok(())
}

//! The processor time that this process has taken.

use std::fs;

/// The kernel counts in hundredths of a second, whatever the machine.
const TICKS_PER_S: f64 = 100.0;

/// In seconds, its time in the kernel included. None where the kernel doesn't say.
pub fn taken_s() -> Option<f64> {
    let line = fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name, in parentheses, may have spaces. The times are the 14th and 15th fields.
    let (_, fields) = line.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_S)
}

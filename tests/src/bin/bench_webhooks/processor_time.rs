//! The processor time that this process has taken, and one of its threads.

use std::fs;
use std::path::Path;

/// The kernel counts in hundredths of a second, whatever the machine.
const TICKS_PER_S: f64 = 100.0;

/// In seconds, its time in the kernel included. None where the kernel doesn't say.
pub fn taken_s() -> Option<f64> {
    Some(read(Path::new("/proc/self/stat"))?.1)
}

/// The same of the threads with a name.
pub fn taken_by_s(name: &str) -> Option<f64> {
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    let of_threads = threads.filter_map(|thread| read(&thread.path().join("stat")));
    Some(of_threads.filter(|(of, _)| of == name).map(|(_, seconds)| seconds).sum())
}

/// A name, and the seconds that it took.
fn read(file: &Path) -> Option<(String, f64)> {
    let line = fs::read_to_string(file).ok()?;
    // The name, in parentheses, may have spaces. The times are the 14th and 15th fields.
    let (before, fields) = line.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut times = fields.split_whitespace().skip(11);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    Some((name.to_owned(), (ticks()? + ticks()?) / TICKS_PER_S))
}

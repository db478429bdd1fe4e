//! The processor time that this process has taken, and the store's part of it.

use std::fs;

/// The kernel counts in hundredths of a second, whatever the machine.
const TICKS_PER_S: f64 = 100.0;
/// The thread on which the local stack's store runs.
const EMULATOR: &str = "store";

/// Seconds since this process began. Zeros where the kernel doesn't say.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessorTime {
    pub all_s: f64,
    pub emulator_s: f64,
}

impl ProcessorTime {
    pub fn now() -> Self {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let lines = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        let mut time = Self::default();
        for line in lines {
            let Some((name, taken_s)) = parsed(&line) else { continue };
            time.all_s += taken_s;
            if name == EMULATOR {
                time.emulator_s += taken_s;
            }
        }
        time
    }
}

/// A thread's name, in parentheses, and the time that it took itself and in the kernel: the 14th and 15th fields.
fn parsed(line: &str) -> Option<(&str, f64)> {
    let (begin, fields) = line.rsplit_once(')')?;
    let (_, name) = begin.split_once('(')?;
    let mut times = fields.split_whitespace().skip(11);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    Some((name, (ticks()? + ticks()?) / TICKS_PER_S))
}

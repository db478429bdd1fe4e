//! BAI2 records: lines that begin with a code, and continuations. Without line ends, all lines have one length.

use crate::limits;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;

const CODES: [&str; 7] = ["01", "02", "03", "16", "49", "98", "99"];
const CONTINUED: &str = "88";

/// Index of the line length in a file header, counting the code.
const LENGTH_AT: usize = 6;
/// Line length, in characters, of a file without line ends that doesn't state it.
const DEFAULT_LENGTH: usize = 80;

#[derive(Debug)]
pub(super) struct Record<'a> {
    pub code: &'static str,
    pub line: usize,
    /// Its lines, at least one, without code and final slash.
    lines: Vec<&'a str>,
}

impl<'a> Record<'a> {
    pub fn fields(&self) -> Fields<'a, '_> {
        Fields { rest: None, lines: self.lines.iter() }
    }

    pub fn refused(&self, field: &'static str, problem: Problem) -> Refusal {
        Refusal::Field { line: self.line, field, problem }
    }
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let fixed = fixed_length(text);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match fixed {
            Some(length) => rest.char_indices().nth(length).map(|(at, _)| at),
            None => rest.find('\n').map(|at| at + 1),
        };
        let (line, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// The line length of a file without line ends: the one at which its second line begins correctly.
fn fixed_length(text: &str) -> Option<usize> {
    let text = text.trim_end();
    if !text.starts_with("01,") || text.contains('\n') {
        return None;
    }
    let said = text.split(',').nth(LENGTH_AT).and_then(|length| length.trim().parse().ok());
    let fits = |length: &usize| {
        let second = text.char_indices().nth(*length).and_then(|(at, _)| text.get(at..));
        second.is_some_and(|second| second.starts_with("02,") || second.starts_with("88,"))
    };
    said.into_iter().chain([DEFAULT_LENGTH]).find(fits)
}

pub(super) fn records(text: &str) -> Result<Vec<Record<'_>>, Refusal> {
    let mut records: Vec<Record<'_>> = Vec::new();
    for (number, line) in (1..).zip(lines(text)) {
        if number > limits::LINES_MAX {
            return Err(Refusal::TOO_MANY_LINES);
        }
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let (code, rest) = coded(line).unwrap_or(("", line));
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let known = CODES.into_iter().find(|known| *known == code);
        match (known, records.last_mut()) {
            (Some(code), _) => records.push(Record { code, line: number, lines: vec![rest] }),
            // A transaction's text may continue without a code.
            (None, Some(last)) if code == CONTINUED || code.is_empty() && last.code == "16" => last.lines.push(rest),
            (None, _) => {
                let expected = "a record of BAI2 such as 16,195,125050,Z,BANKREF,OWNREF,TEXT/";
                let problem = Problem::Malformed { value: quoted(line), expected };
                return Err(Refusal::Field { line: number, field: "The line", problem });
            }
        }
    }
    Ok(records)
}

fn coded(line: &str) -> Option<(&str, &str)> {
    let (code, rest) = line.split_at_checked(2)?;
    let rest = rest.strip_prefix(',').or_else(|| (rest == "/").then_some(rest))?;
    code.bytes().all(|byte| byte.is_ascii_digit()).then_some((code, rest))
}

#[derive(Debug)]
pub(super) struct Fields<'a, 'r> {
    /// The unread part of the current line; `None` once its last field is taken.
    rest: Option<&'a str>,
    lines: std::slice::Iter<'r, &'a str>,
}

impl<'a> Fields<'a, '_> {
    pub fn next_of_line(&mut self) -> Option<&'a str> {
        let (field, rest) = match self.rest?.split_once(',') {
            Some((field, rest)) => (field, Some(rest)),
            None => (self.rest?, None),
        };
        self.rest = rest;
        Some(field.trim())
    }

    pub fn text(self) -> String {
        let rest = self.rest.into_iter().chain(self.lines.copied());
        rest.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl<'a> Iterator for Fields<'a, '_> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_none() {
            self.rest = Some(self.lines.next()?);
        }
        self.next_of_line()
    }
}

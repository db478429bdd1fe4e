//! Splits MT940 and MT942 into messages and fields.

use crate::limits;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::text::quoted;

const FIELDS: [&str; 19] = [
    "13", "13D", "20", "21", "25", "25P", "28", "28C", "34F", "60F", "60M", "61", "62F", "62M", "64", "65", "86",
    "90C", "90D",
];
const HEADER_LINES_MAX: usize = 10;

#[derive(Debug)]
pub(super) struct Message<'a> {
    pub line: usize,
    pub fields: Vec<Field<'a>>,
}

#[derive(Debug)]
pub(super) struct Field<'a> {
    pub tag: &'a str,
    pub line: usize,
    pub lines: Vec<&'a str>,
}

impl Field<'_> {
    pub fn value(&self) -> &str {
        self.lines.first().map_or("", |line| line.trim())
    }
}

pub(crate) fn is_mt(text: &str) -> bool {
    text.trim_start().starts_with("{1:")
        || text.lines().take(HEADER_LINES_MAX + 1).any(|line| matches!(tagged(line), Some(("20", _))))
}

pub(super) fn messages(text: &str) -> Result<Vec<Message<'_>>, Refusal> {
    let mut messages: Vec<Message<'_>> = Vec::new();
    let (mut is_inside, mut headers) = (false, 0);
    for (number, line) in (1..).zip(text.lines()) {
        if number > limits::LINES_MAX {
            return Err(Refusal::TOO_MANY_LINES);
        }
        // The next message's headers end this one too.
        is_inside &= !line.starts_with("{1:");
        let after = after_end(line).filter(|_| is_inside);
        if let Some(after) = after {
            is_inside = false;
            headers = 0;
            if !begins(after) {
                continue;
            }
        }
        let line = after.unwrap_or(line);
        let line = if is_inside { line } else { in_block(line) };
        match (tagged(line), is_inside) {
            (Some(("20", value)), _) => {
                if messages.len() == limits::STATEMENTS_MAX {
                    return Err(Refusal::TOO_MANY_STATEMENTS);
                }
                is_inside = true;
                let field = Field { tag: "20", line: number, lines: vec![value] };
                messages.push(Message { line: number, fields: vec![field] });
            }
            (Some((tag, value)), true) => {
                if !FIELDS.contains(&tag) {
                    return Err(Refusal::OtherMessage { found: format!("a SWIFT message with the field :{tag}:") });
                }
                let Some(message) = messages.last_mut() else { continue };
                message.fields.push(Field { tag, line: number, lines: vec![value] });
            }
            (Some(_), false) => return Err(missing_start(number)),
            (None, true) => {
                if let Some(field) = messages.last_mut().and_then(|message| message.fields.last_mut()) {
                    field.lines.push(line);
                }
            }
            (None, false) => {
                headers += usize::from(!line.trim().is_empty());
                if headers > HEADER_LINES_MAX {
                    let expected = "the beginning of a statement (:20:)";
                    let problem = Problem::Malformed { value: quoted(line), expected };
                    return Err(Refusal::Field { line: number, field: "The line", problem });
                }
            }
        }
    }
    if messages.is_empty() { Err(Refusal::NoStatement) } else { Ok(messages) }
}

/// The text after the end of a message, if the message ends on this line: the next may begin there.
fn after_end(line: &str) -> Option<&str> {
    let after = line.strip_prefix('-')?;
    let ends = after.trim().is_empty() || after.starts_with('}') || after.starts_with("{1:") || begins(after);
    ends.then_some(after)
}

fn begins(line: &str) -> bool {
    matches!(tagged(in_block(line)), Some(("20", _)))
}

/// The text after block headers: the first field may be there.
fn in_block(line: &str) -> &str {
    line.rsplit_once("{4:").map_or(line, |(_, rest)| rest)
}

fn missing_start(line: usize) -> Refusal {
    Refusal::Field { line, field: ":20:", problem: Problem::Missing }
}

fn tagged(line: &str) -> Option<(&str, &str)> {
    let (tag, value) = line.strip_prefix(':')?.split_once(':')?;
    let mut bytes = tag.bytes();
    let is_tag = bytes.next()?.is_ascii_digit()
        && bytes.next()?.is_ascii_digit()
        && bytes.next().is_none_or(|letter| letter.is_ascii_uppercase())
        && bytes.next().is_none();
    is_tag.then_some((tag, value))
}

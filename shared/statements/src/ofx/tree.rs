//! Parses OFX, in SGML (whose values need no end tag) or XML, into a tree of the elements that statements need.
//!
//! - Decision: one parser for both: XML files have stray ampersands, SGML files some end tags; aggregates end in both.
//! - Decision: a value, never blank, belongs to its enclosing aggregate. Unknown tags are dropped with their values.

use crate::limits;
use crate::problem::Problem;
use crate::refusal::{Refusal, XmlProblem};
use crate::text::quoted;
use crate::xml::Element;

/// Aggregates that are read, or that contain values with names in [`VALUES`], sorted.
const AGGREGATES: &[&str] = &[
    "AVAILBAL",
    "BAL",
    "BALLIST",
    "BANKACCTFROM",
    "BANKACCTTO",
    "BANKMSGSRSV1",
    "BANKTRANLIST",
    "BANKTRANLISTP",
    "CCACCTFROM",
    "CCACCTTO",
    "CCSTMTRS",
    "CCSTMTTRNRS",
    "CREDITCARDMSGSRSV1",
    "CURRENCY",
    "FI",
    "IMAGEDATA",
    "INVSTMTMSGSRSV1",
    "INVSTMTRS",
    "INVSTMTTRNRS",
    "LEDGERBAL",
    "OFX",
    "ORIGCURRENCY",
    "PAYEE",
    "SIGNONMSGSRSV1",
    "SONRS",
    "STATUS",
    "STMTRS",
    "STMTTRN",
    "STMTTRNP",
    "STMTTRNRS",
];
const VALUES: &[&str] = &[
    "ACCTID",
    "BALAMT",
    "BANKID",
    "CHECKNUM",
    "CORRECTFITID",
    "CURDEF",
    "CURSYM",
    "DTASOF",
    "DTAVAIL",
    "DTPOSTED",
    "DTTRAN",
    "EXTDNAME",
    "FITID",
    "MEMO",
    "NAME",
    "REFNUM",
    "SRVRTID",
    "TRNAMT",
    "TRNTYPE",
];
/// Delimiters of a literal, in which nothing is a tag.
const LITERAL: (&str, &str) = ("<![CDATA[", "]]>");
const COMMENT: (&str, &str) = ("<!--", "-->");
/// Searches this many bytes after `&` for the `;`. The longest number has 10.
const LETTER_NAME_BYTES_MAX: usize = 12;

pub(super) fn start(text: &str) -> Option<usize> {
    let end = text.char_indices().nth(limits::OFX_HEADER_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    text.get(..end)?.find("<OFX>")
}

pub(super) fn parse(text: &str, start: usize) -> Result<Element, Refusal> {
    let mut parser = Parser { line: 1, elements: 0, open: Vec::new() };
    parser.count_lines(text.get(..start).unwrap_or_default());
    let mut rest = text.get(start..).unwrap_or_default();
    while let Some(tag) = Tag::first(rest) {
        match tag {
            Tag::Other { length } => {
                parser.pass(&mut rest, length);
                parser.pass_to_tag(&mut rest);
            }
            Tag::Named { name, is_end: true, length } => {
                if let Some(root) = parser.end(name)? {
                    return Ok(root);
                }
                parser.pass(&mut rest, length);
                // Text after an end tag isn't a value.
                parser.pass_to_tag(&mut rest);
            }
            Tag::Named { name, is_end: false, length } => {
                let line = parser.line;
                parser.pass(&mut rest, length);
                let value = parser.value(&mut rest);
                parser.start(name, line, &value)?;
            }
        }
    }
    let line = parser.open.last().map_or(1, |open| open.line);
    Err(Refusal::CutOff { line, missing: "end (</OFX>)" })
}

enum Tag<'a> {
    Named {
        name: &'a str,
        is_end: bool,
        length: usize,
    },
    /// A comment, literal or instruction.
    Other {
        length: usize,
    },
}

impl<'a> Tag<'a> {
    fn first(text: &'a str) -> Option<Self> {
        if let Some((_, end)) = [COMMENT, LITERAL].into_iter().find(|(begin, _)| text.starts_with(begin)) {
            return text.find(end).map(|at| Self::Other { length: at + end.len() });
        }
        let length = text.find('>')? + 1;
        let inner = text.get(..length)?.strip_prefix('<')?.strip_suffix('>')?;
        if inner.starts_with(['!', '?']) {
            return Some(Self::Other { length });
        }
        let (name, is_end) = inner.strip_prefix('/').map_or((inner, false), |name| (name, true));
        // An XML element may be empty: no value.
        Some(Self::Named { name: name.trim_end_matches('/').trim(), is_end, length })
    }
}

/// Where the next tag begins, or the text ends. A `<` before anything else is part of a value.
fn tag_in(text: &str) -> usize {
    let begins = |(at, _): &(usize, &str)| {
        let next = text.as_bytes().get(at + 1);
        next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'))
    };
    text.match_indices('<').find(begins).map_or(text.len(), |(at, _)| at)
}

struct Parser {
    line: usize,
    elements: usize,
    open: Vec<Element>,
}

impl Parser {
    fn count_lines(&mut self, passed: &str) {
        self.line += passed.matches('\n').count();
    }

    fn pass(&mut self, rest: &mut &str, length: usize) {
        let (passed, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        self.count_lines(passed);
        *rest = left;
    }

    fn pass_to_tag(&mut self, rest: &mut &str) {
        self.pass(rest, tag_in(rest));
    }

    /// The value after a start tag, up to the next tag. An unclosed literal takes the rest: the file is cut off there.
    fn value(&mut self, rest: &mut &str) -> String {
        let (begin, end) = LITERAL;
        let mut value = String::new();
        loop {
            let length = tag_in(rest);
            value.push_str(&unescaped(rest.get(..length).unwrap_or_default()));
            self.pass(rest, length);
            if let Some(literal) = rest.strip_prefix(begin) {
                let length = literal.find(end).unwrap_or(literal.len());
                value.push_str(literal.get(..length).unwrap_or_default());
                self.pass(rest, begin.len() + length + end.len());
            } else if let Some(Tag::Other { length }) = Tag::first(rest) {
                self.pass(rest, length);
            } else {
                return value;
            }
        }
    }

    fn start(&mut self, name: &str, line: usize, value: &str) -> Result<(), Refusal> {
        self.elements += 1;
        if self.elements > limits::XML_ELEMENTS_MAX {
            return Err(Refusal::Xml { line, problem: XmlProblem::TooManyElements });
        }
        let is_blank = value.trim().is_empty();
        let known = |names: &'static [&'static str]| names.binary_search(&name).ok().and_then(|at| names.get(at));
        let (name, is_aggregate) = match (known(AGGREGATES), known(VALUES)) {
            (Some(name), _) => (*name, true),
            (None, Some(name)) if !is_blank => (*name, false),
            _ => return Ok(()),
        };
        let text = if is_aggregate { String::new() } else { value.to_owned() };
        let element = Element { name, line, currency: None, text, children: Vec::new() };
        if is_aggregate {
            if self.open.len() == limits::XML_DEPTH_MAX {
                return Err(Refusal::Xml { line, problem: XmlProblem::TooDeep });
            }
            self.open.push(element);
        } else if let Some(parent) = self.open.last_mut() {
            parent.children.push(element);
        }
        Ok(())
    }

    /// Closes an aggregate and returns it if it is the root. A value's end tag closes nothing.
    fn end(&mut self, name: &str) -> Result<Option<Element>, Refusal> {
        if AGGREGATES.binary_search(&name).is_err() {
            return Ok(None);
        }
        match self.open.pop() {
            Some(closed) if closed.name == name => match self.open.last_mut() {
                Some(parent) => {
                    parent.children.push(closed);
                    Ok(None)
                }
                None => Ok(Some(closed)),
            },
            other => {
                let field = other.map_or("The aggregate", |open| open.name);
                let expected = "closed before another one";
                Err(Refusal::Field {
                    line: self.line,
                    field,
                    problem: Problem::Malformed { value: quoted(name), expected },
                })
            }
        }
    }
}

/// Resolves escapes. A stray ampersand stays.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        result.push_str(before);
        let end = after.bytes().take(LETTER_NAME_BYTES_MAX).position(|byte| byte == b';');
        let name = end.and_then(|end| after.get(..end));
        if let Some((letter, length)) = name.and_then(|name| Some((letter(name)?, name.len() + 1))) {
            result.push(letter);
            rest = after.get(length..).unwrap_or_default();
        } else {
            result.push('&');
            rest = after;
        }
    }
    result + rest
}

fn letter(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(AGGREGATES.is_sorted() && VALUES.is_sorted());
    }

    #[test]
    fn escaped_characters_are_themselves_and_ampersands_stay() {
        for (text, expected) in [
            ("A &amp; B &lt;C&gt; &#65;&#x42;&nbsp;D", "A & B <C> AB D"),
            ("AT&T; R&D & more &copy; &", "AT&T; R&D & more &copy; &"),
            ("&#xd800; &#99999999999;", "&#xd800; &#99999999999;"),
        ] {
            assert_eq!(unescaped(text), expected);
        }
    }
}

//! The tokens of a PDF file, in one pass over arbitrary bytes.

use std::borrow::Cow;

/// A token. Comments and white space between tokens are skipped.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    DictStart,
    DictEnd,
    ArrayStart,
    ArrayEnd,
    /// A name without its `/`, with codes such as `#46` decoded.
    Name(Cow<'a, [u8]>),
    Word(&'a [u8]),
    Text,
}

#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(file: &'a [u8]) -> Self {
        Self { file, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.file.get(self.at..).unwrap_or_default()
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.file.len());
    }

    fn take_while(&mut self, is_part: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Skips a string whose opening parenthesis is taken. Parentheses nest, and `\` escapes the next byte.
    fn skip_text(&mut self) {
        let mut depth = 1_usize;
        while let Some(byte) = self.file.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.take_while(is_white);
            let (first, second) = (*self.file.get(self.at)?, self.file.get(self.at + 1));
            let (token, length) = match (first, second) {
                (b'<', Some(b'<')) => (Token::DictStart, 2),
                (b'>', Some(b'>')) => (Token::DictEnd, 2),
                (b'[', _) => (Token::ArrayStart, 1),
                (b']', _) => (Token::ArrayEnd, 1),
                (b'<', _) => {
                    self.take_while(|byte| byte != b'>');
                    (Token::Text, 1)
                }
                (b'(', _) => {
                    self.at += 1;
                    self.skip_text();
                    (Token::Text, 0)
                }
                (b'/', _) => {
                    self.at += 1;
                    (Token::Name(unescaped(self.take_while(is_regular))), 0)
                }
                (b'%', _) => {
                    self.take_while(|byte| !matches!(byte, b'\r' | b'\n'));
                    continue;
                }
                (first, _) if is_regular(first) => (Token::Word(self.take_while(is_regular)), 0),
                _ => {
                    self.at += 1;
                    continue;
                }
            };
            self.skip(length);
            return Some(token);
        }
    }
}

pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

fn is_regular(byte: u8) -> bool {
    !is_white(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn unescaped(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.contains(&b'#') {
        return Cow::Borrowed(name);
    }
    let digit = |at: usize| name.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut plain = Vec::with_capacity(name.len());
    let mut at = 0;
    while let Some(byte) = name.get(at) {
        let code = (*byte == b'#').then(|| digit(at + 1).zip(digit(at + 2))).flatten();
        let code = code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        plain.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Token<'_> {
        Token::Name(Cow::Borrowed(text.as_bytes()))
    }

    #[test]
    fn tokens_are_told_apart() {
        let text = b"%PDF-1.7 <<\r9 0 obj<</#46ilter[/Fl#61te]/T(a \\) (b) /Not)/H<41>>>stream";
        let expected = vec![
            Token::Word(b"9"),
            Token::Word(b"0"),
            Token::Word(b"obj"),
            Token::DictStart,
            name("Filter"),
            Token::ArrayStart,
            name("Flate"),
            Token::ArrayEnd,
            name("T"),
            Token::Text,
            name("H"),
            Token::Text,
            Token::DictEnd,
            Token::Word(b"stream"),
        ];
        assert_eq!(Tokens::new(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn whatever_the_bytes_are_they_end() {
        for bytes in [&b"("[..], b"(\\", b"<", b"/", b"/#", b"#4", b"%", b">", b")}{", b"<<(", b"\xff\0\xfe"] {
            assert!(Tokens::new(bytes).count() <= 2, "{bytes:?}");
        }
        assert_eq!(Tokens::new(b"/#4 /#zz /a#").collect::<Vec<_>>(), [name("#4"), name("#zz"), name("a#")]);
    }
}

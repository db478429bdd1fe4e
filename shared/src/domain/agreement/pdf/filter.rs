//! The checks before any reader opens a PDF: one pass over the file, in linear time and memory.
//!
//! They save time but don't protect, because objects can hide inside streams. So the readers run in a separate process
//! (`platform::pdf_reader`).
//!
//! Decision: object streams and tables of objects must be uncompressed or compressed once by `/FlateDecode`, and state
//! their length as a number, as all programs write them. A length inside another object stream could be chained as deep
//! as a file is long; a second filter hides the unpacked size.

use super::NotADocument;
use super::tokens::{Token, Tokens, is_white};
use super::unpacking::{self, Packing};
use crate::limits::{DOCUMENT_OBJECTS_MAX, DOCUMENT_STREAMS_MAX, DOCUMENT_UNPACKED_BYTES_MAX};

/// Refuses a file that is not a whole PDF by its two ends, is encrypted, or would overload a reader.
pub fn pass(file: &[u8]) -> Result<(), NotADocument> {
    // Readers look for both marks within this many bytes of the ends.
    const ENDS: usize = 1024;
    if file.is_empty() {
        return Err(NotADocument::Empty);
    }
    if !contains(&file[..file.len().min(ENDS)], b"%PDF-") {
        return Err(NotADocument::NotAPdf);
    }
    if !contains(&file[file.len().saturating_sub(ENDS)..], b"%%EOF") {
        return Err(NotADocument::Broken);
    }
    pass_inside(file, DOCUMENT_UNPACKED_BYTES_MAX)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn pass_inside(file: &[u8], unpacked_max: usize) -> Result<(), NotADocument> {
    let mut tokens = Tokens::new(file);
    let (mut objects, mut streams, mut room) = (0_usize, 0_usize, unpacked_max);
    let (mut is_trailer, mut head) = (false, None::<Head>);
    while let Some(token) = tokens.next() {
        let (after_trailer, before) = (std::mem::take(&mut is_trailer), head.take());
        match token {
            Token::DictStart => {
                let found = Head::read(&mut tokens);
                if found.is_encrypted && (after_trailer || found.kind == Kind::Table) {
                    return Err(NotADocument::Encrypted);
                }
                objects = objects.saturating_add(found.objects);
                head = Some(found);
            }
            Token::Word(b"trailer") => is_trailer = true,
            Token::Word(b"stream") => {
                if let Some(head) = before {
                    streams += 1;
                    let content = content(&mut tokens, head.length);
                    room -= head.unpacked(content, room)?;
                }
            }
            Token::Word(word) if word.ends_with(b"obj") && word != b"endobj" => objects = objects.saturating_add(1),
            _ => {}
        }
        if objects > DOCUMENT_OBJECTS_MAX || streams > DOCUMENT_STREAMS_MAX {
            return Err(NotADocument::TooMuchInside);
        }
    }
    Ok(())
}

/// Skips and returns a stream's content: up to its stated length if it ends there, otherwise up to its end mark.
fn content<'a>(tokens: &mut Tokens<'a>, length: Option<usize>) -> &'a [u8] {
    const END: &[u8] = b"endstream";
    let rest = tokens.rest();
    let start = rest.iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let rest = &rest[start..];
    let ends = |length: &usize| {
        let behind = rest.get(*length..).unwrap_or_default();
        let white = behind.iter().take_while(|byte| is_white(**byte)).count();
        behind[white..].starts_with(END)
    };
    let length = length.filter(ends).or_else(|| rest.windows(END.len()).position(|window| window == END));
    let length = length.unwrap_or(rest.len());
    tokens.skip(start + length);
    &rest[..length]
}

#[derive(Debug, PartialEq, Eq, Default)]
struct Head {
    kind: Kind,
    length: Option<usize>,
    packings: Vec<Packing>,
    /// Whether it is compressed other than by one `/FlateDecode`, or may be.
    is_packed_otherwise: bool,
    objects: usize,
    is_encrypted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Other,
    Picture,
    ObjectStream,
    Table,
}

#[derive(Debug, Default)]
struct Value {
    names: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    is_nested: bool,
    is_there: bool,
}

impl Value {
    fn name(&self) -> Option<&[u8]> {
        self.names.first().map(Vec::as_slice)
    }

    fn number(&self) -> Option<usize> {
        let [word] = self.words.as_slice() else { return None };
        std::str::from_utf8(word).ok()?.parse().ok()
    }

    fn is_null(&self) -> bool {
        self.names.is_empty() && !self.is_nested && (self.words.is_empty() || self.words == [b"null"])
    }
}

impl Head {
    /// Reads a dictionary after its start. Nested content is skipped, except names in a list.
    fn read(tokens: &mut Tokens<'_>) -> Self {
        let (mut read, mut key, mut value) = (Parts::default(), None::<Vec<u8>>, Value::default());
        let mut depth = 1_usize;
        for token in tokens.by_ref() {
            let is_value = key.is_some() && !value.is_there;
            match token {
                Token::Name(name) if depth == 1 && !is_value => {
                    let before = key.replace(name.into_owned()).unwrap_or_default();
                    read.take(&before, std::mem::take(&mut value));
                    continue;
                }
                Token::Name(name) if depth == 1 => value.names.push(name.into_owned()),
                Token::DictStart | Token::ArrayStart => {
                    value.is_nested |= token == Token::DictStart || depth > 1;
                    depth += 1;
                }
                Token::DictEnd | Token::ArrayEnd => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                // More names than these are no use.
                Token::Name(name) if depth == 2 && !value.is_nested && value.names.len() < 8 => {
                    value.names.push(name.into_owned());
                }
                Token::Word(word) if depth <= 2 && value.words.len() < 3 => value.words.push(word.to_vec()),
                _ => {}
            }
            value.is_there = true;
        }
        read.take(&key.unwrap_or_default(), value);
        read.into_head()
    }

    /// The bytes the stream unpacks to, 0 for pictures: readers of text and objects don't unpack them.
    fn unpacked(&self, content: &[u8], room: usize) -> Result<usize, NotADocument> {
        match self.kind {
            Kind::Picture => return Ok(0),
            Kind::ObjectStream | Kind::Table if self.length.is_none() || self.is_packed_otherwise => {
                return Err(NotADocument::Unusual);
            }
            _ => {}
        }
        unpacking::size(content, &self.packings, room).ok_or(NotADocument::TooMuchInside)
    }
}

/// Of repeated keys, readers take the last.
#[derive(Debug, Default)]
struct Parts {
    of_type: Option<Value>,
    subtype: Option<Value>,
    length: Option<Value>,
    filter: Option<Value>,
    /// The short form, which readers prefer.
    short_filter: Option<Value>,
    objects: Option<Value>,
    encrypt: Option<Value>,
}

impl Parts {
    fn take(&mut self, key: &[u8], value: Value) {
        let part = match key {
            b"Type" => &mut self.of_type,
            b"Subtype" => &mut self.subtype,
            b"Length" => &mut self.length,
            b"Filter" => &mut self.filter,
            b"F" => &mut self.short_filter,
            b"N" => &mut self.objects,
            b"Encrypt" => &mut self.encrypt,
            _ => return,
        };
        *part = Some(value);
    }

    fn into_head(self) -> Head {
        let name = |value: &Option<Value>| value.as_ref().and_then(Value::name).map(<[u8]>::to_vec);
        let kind = match (name(&self.of_type).as_deref(), name(&self.subtype).as_deref()) {
            (Some(b"ObjStm"), _) => Kind::ObjectStream,
            (Some(b"XRef"), _) => Kind::Table,
            (_, Some(b"Image")) => Kind::Picture,
            _ => Kind::Other,
        };
        let filter = self.short_filter.filter(|value| !value.names.is_empty()).or(self.filter).unwrap_or_default();
        let is_flate = filter.names.len() == 1 && filter.name() == Some(b"FlateDecode");
        Head {
            kind,
            length: self.length.and_then(|value| value.number()),
            // Readers skip unknown filters.
            packings: filter.names.iter().filter_map(|name| Packing::named(name)).collect(),
            is_packed_otherwise: !(filter.is_null() || is_flate && filter.words.is_empty() && !filter.is_nested),
            objects: match kind {
                Kind::ObjectStream => self.objects.and_then(|value| value.number()).unwrap_or(0),
                _ => 0,
            },
            is_encrypted: self.encrypt.is_some_and(|value| !value.is_null()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn head(text: &str) -> Head {
        let mut tokens = Tokens::new(text.as_bytes());
        assert_eq!(tokens.next(), Some(Token::DictStart));
        Head::read(&mut tokens)
    }

    fn stream(keys: &str, content: impl AsRef<[u8]>) -> Vec<u8> {
        let content = content.as_ref();
        let head = format!("1 0 obj<<{keys}/Length {}>>stream\n", content.len());
        [head.as_bytes(), content, b"\nendstream\nendobj\n"].concat()
    }

    fn packed(bytes: usize) -> Vec<u8> {
        miniz_oxide::deflate::compress_to_vec_zlib(&vec![b' '; bytes], 6)
    }

    const ROOM: usize = 1024 * 1024;
    const BOMB: usize = ROOM + 1;

    fn passes(file: &[u8]) -> Result<(), NotADocument> {
        pass_inside(file, ROOM)
    }

    #[test]
    fn a_head_is_read() {
        assert_eq!(head("<</Length 7>>"), Head { length: Some(7), ..Head::default() });
        let of_objects =
            "<</DecodeParms<</Columns 4/Filter/LZWDecode>>/Type/#4fbjStm/N 3/First 4/Length 9/Filter[/#46lateDecode]>>";
        let expected = Head {
            kind: Kind::ObjectStream,
            length: Some(9),
            packings: vec![Packing::Flate],
            objects: 3,
            ..Head::default()
        };
        assert_eq!(head(of_objects), expected);
        assert_eq!(
            head("<</Subtype/Image/W[/Image 1]/Length 8 0 R>>"),
            Head { kind: Kind::Picture, ..Head::default() }
        );
        let two = head("<</Filter[/A85/Fl]/Length 1/Length 2>>");
        assert_eq!(
            (two.packings, two.length, two.is_packed_otherwise),
            (vec![Packing::Base85, Packing::Flate], Some(2), true)
        );
        for elsewhere in
            ["<</Filter 9 0 R>>", "<</Filter[9 0 R]>>", "<</Filter/LZWDecode>>", "<</F/AHx/Filter/FlateDecode>>"]
        {
            assert!(head(elsewhere).is_packed_otherwise, "{elsewhere}");
        }
        assert!(!head("<</Filter null/Length 1>>").is_packed_otherwise);
        assert_eq!(head("<</A[]/B()/C<</D/E>>/Length 4>>").length, Some(4));
        assert!(head("<</Encrypt 5 0 R>>").is_encrypted && head("<</Encrypt<</V 1>>>>").is_encrypted);
        assert!(!head("<</Encrypt null>>").is_encrypted && !head("<</Info<</Encrypt 5 0 R>>>>").is_encrypted);
    }

    #[test]
    fn only_a_trailer_names_the_encryption() {
        for file in ["trailer\n<</Size 1/Encrypt 5 0 R>>", "trailer<</#45ncrypt<</V 4>>>>"] {
            assert_eq!(passes(file.as_bytes()), Err(NotADocument::Encrypted), "{file}");
        }
        assert_eq!(passes(&stream("/Type/XRef/Encrypt 5 0 R", "")), Err(NotADocument::Encrypted));
        for mentions in
            ["trailer<</Info(trailer << /Encrypt 5 0 R >>)>>", "<</Encrypt 5 0 R>>", "% trailer<</Encrypt 5 0 R>>"]
        {
            assert_eq!(passes(mentions.as_bytes()), Ok(()), "{mentions}");
        }
        assert_eq!(passes(&stream("", "(trailer) trailer << /Encrypt 5 0 R >>")), Ok(()), "in the text of a page");
    }

    #[test]
    fn streams_of_objects_are_packed_as_all_programs_pack_them() {
        for of_objects in [
            "/Type/ObjStm/N 1",
            "/Type /XRef",
            "/#54ype/Obj#53tm",
            "/Type/ObjStm/Subtype/Image",
            "/Subtype /Image/Type/XRef",
        ] {
            assert_eq!(passes(&stream(of_objects, "1 0 7")), Ok(()), "{of_objects}");
            let flate = format!("{of_objects}/Filter/#46lateDecode");
            assert_eq!(passes(&stream(&flate, packed(1000))), Ok(()), "{flate}");
            assert_eq!(passes(&stream(&flate, packed(BOMB))), Err(NotADocument::TooMuchInside), "{flate}");
            for filter in [
                "/ASCIIHexDecode",
                "[/FlateDecode/FlateDecode]",
                "[/A85/FlateDecode]",
                "/RunLengthDecode",
                "/LZWDecode",
                "9 0 R",
            ] {
                let other = format!("{of_objects}/Filter {filter}");
                assert_eq!(passes(&stream(&other, "1 0 7")), Err(NotADocument::Unusual), "{other}");
            }
            let elsewhere = format!("1 0 obj<<{of_objects}/Length 2 0 R>>stream\n1 0 7\nendstream");
            assert_eq!(passes(elsewhere.as_bytes()), Err(NotADocument::Unusual), "{elsewhere}");
        }
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused_whatever_packs_it() {
        let hex = crate::crypto::hex(&packed(BOMB));
        assert_eq!(passes(&stream("/Filter[/AHx/Fl]", hex)), Err(NotADocument::TooMuchInside));
        assert_eq!(passes(&stream("/Filter[/Fl/Fl]", "")), Err(NotADocument::TooMuchInside));
        let runs = [0x81, b' '].repeat(BOMB / 128 + 1);
        assert_eq!(passes(&stream("/Filter/RunLengthDecode", &runs)), Err(NotADocument::TooMuchInside));
        // Its kind is what it states itself, not what it mentions.
        let mentions = stream("/Filter/FlateDecode/Kind[/Image]/Image/Image", packed(BOMB));
        assert_eq!(passes(&mentions), Err(NotADocument::TooMuchInside));
        let picture = stream("/Subtype/Image/Filter/FlateDecode", packed(BOMB));
        assert_eq!(passes(&picture), Ok(()), "pictures are left packed");
    }

    #[test]
    fn there_are_only_so_many_objects_and_streams() {
        let objects = |count: usize| "1 0 obj 7 endobj ".repeat(count).into_bytes();
        assert_eq!(passes(&objects(DOCUMENT_OBJECTS_MAX)), Ok(()));
        assert_eq!(passes(&objects(DOCUMENT_OBJECTS_MAX + 1)), Err(NotADocument::TooMuchInside));
        let many = format!("/Type/ObjStm/N {DOCUMENT_OBJECTS_MAX}");
        assert_eq!(passes(&stream(&many, "")), Err(NotADocument::TooMuchInside), "with the one that it is");
        let streams = |count: usize| "<</Length 0>>stream\nendstream ".repeat(count).into_bytes();
        assert_eq!(passes(&streams(DOCUMENT_STREAMS_MAX)), Ok(()));
        assert_eq!(passes(&streams(DOCUMENT_STREAMS_MAX + 1)), Err(NotADocument::TooMuchInside));
    }

    #[test]
    fn no_bytes_take_long() {
        let parts = [
            "stream",
            "<<>>stream\n",
            "<</Length 9>>stream",
            "endstream",
            "<<",
            "[",
            "(",
            "(\\",
            "<",
            "/#4",
            "trailer<<",
            "obj ",
            ">>stream",
        ];
        for part in parts {
            let file = part.repeat(2 * 1024 * 1024 / part.len());
            let started = Instant::now();
            let _ = passes(file.as_bytes());
            // Unoptimized on a busy machine; milliseconds on Lambda.
            assert!(started.elapsed() < Duration::from_secs(10), "{part}: {:?}", started.elapsed());
        }
    }
}

//! Decodes UTF-8, UTF-16, ISO-8859-1 and Windows-1252.
//!
//! Decision: text without a declared encoding is UTF-8 if valid, else Windows-1252, which includes ISO-8859-1; XML is
//! UTF-8, as its standard says. A byte order mark overrides a declaration, which re-encoding leaves.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::limits;
use crate::refusal::{NotText, Refusal};
use crate::text::quoted;

/// Control characters that frame a message in transit (SWIFT: header, text, transmission) or end a file (DOS).
const FRAMES: [char; 5] = ['\u{1}', '\u{2}', '\u{3}', '\u{4}', '\u{1a}'];

/// The frames that end something; zeros may fill the block after them.
const ENDS: [char; 3] = ['\u{3}', '\u{4}', '\u{1a}'];

/// An XML declaration ends within this many bytes.
const DECLARATION_BYTES_MAX: usize = 256;

/// Decodes to text with `\n` line ends and no control characters but tabs; drops framing at line ends.
pub(crate) fn decode(bytes: &[u8]) -> Result<String, Refusal> {
    if bytes.len() > limits::FILE_BYTES_MAX {
        return Err(Refusal::TooLarge);
    }
    for (magic, kind) in [
        (b"%PDF-".as_slice(), NotText::Pdf),
        (b"PK\x03\x04", NotText::Zip),
        (b"\xd0\xcf\x11\xe0", NotText::Spreadsheet),
    ] {
        if bytes.starts_with(magic) {
            return Err(Refusal::NotText(kind));
        }
    }
    let (encoding, rest, is_declared) = encoding_of(bytes)?;
    let decoded = match encoding.decode_without_bom_handling_and_without_replacement(rest) {
        Some(decoded) => decoded,
        None if is_declared => {
            return Err(Refusal::BrokenEncoding { name: encoding.name(), line: first_broken_line(encoding, rest) });
        }
        None => WINDOWS_1252.decode_without_bom_handling(rest).0,
    };
    let text =
        if decoded.contains('\r') { decoded.replace("\r\n", "\n").replace('\r', "\n") } else { decoded.into_owned() };
    let text = if text.contains('\0') { unfilled(&text) } else { text };
    let text = if text.contains(FRAMES) { unframed(&text) } else { text };
    if let Some(at) = text.find(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t')) {
        return Err(Refusal::NotText(NotText::Binary { line: line_at(&text, at) }));
    }
    if text.trim().is_empty() { Err(Refusal::Empty) } else { Ok(text) }
}

/// Drops the zeros that fill a block after its end, and no others.
fn unfilled(text: &str) -> String {
    let mut is_after_end = false;
    let is_kept = |letter: &char| {
        if !matches!(letter, '\0' | ' ' | '\n') {
            is_after_end = ENDS.contains(letter);
        }
        *letter != '\0' || !is_after_end
    };
    text.chars().filter(is_kept).collect()
}

fn unframed(text: &str) -> String {
    let unframed = |line: &str| between_messages(line.trim_end_matches(' ').trim_matches(FRAMES));
    text.split('\n').map(unframed).collect::<Vec<_>>().join("\n")
}

/// Splits a line where one message ends and the next begins, possibly after blanks that fill a block.
fn between_messages(line: &str) -> String {
    let mut parts = line.split('\u{3}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| match part.trim_start_matches(' ').strip_prefix('\u{1}') {
        Some(next) => line + next,
        None => line + "\u{3}" + part,
    })
}

pub(crate) fn line_at(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Returns the encoding, the bytes after a byte order mark, and whether the file declares the encoding.
fn encoding_of(bytes: &[u8]) -> Result<(&'static Encoding, &[u8], bool), Refusal> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return Ok((encoding, bytes.get(length..).unwrap_or_default(), true));
    }
    if bytes.starts_with(b"<\0?\0") {
        return Ok((UTF_16LE, bytes, true));
    }
    if bytes.starts_with(b"\0<\0?") {
        return Ok((UTF_16BE, bytes, true));
    }
    let is_xml = bytes.trim_ascii_start().starts_with(b"<");
    match declared(bytes).as_deref() {
        None => Ok((UTF_8, bytes, is_xml)),
        Some("utf-8" | "utf8" | "us-ascii" | "ascii") => Ok((UTF_8, bytes, true)),
        Some("iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252") => {
            Ok((WINDOWS_1252, bytes, true))
        }
        Some(other) => Err(Refusal::Encoding { name: quoted(other) }),
    }
}

fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..bytes.len().min(DECLARATION_BYTES_MAX))?;
    let start: String = start.iter().map(|byte| char::from(*byte)).collect();
    let (declaration, _) = start.strip_prefix("<?xml")?.split_once("?>")?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (name, _) = value.get(1..)?.split_once(quote)?;
    Some(name.trim().to_ascii_lowercase())
}

fn first_broken_line(encoding: &'static Encoding, bytes: &[u8]) -> usize {
    let (decoded, _) = encoding.decode_without_bom_handling(bytes);
    let at = decoded.find('\u{fffd}').unwrap_or(decoded.len());
    line_at(&decoded, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "<?xml version=\"1.0\" encoding=\"ENCODING\"?>\n<a>Größe €</a>";

    fn utf_16(text: &str, with: fn(u16) -> [u8; 2], mark: bool) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        mark.into_iter().chain(text.encode_utf16()).flat_map(with).collect()
    }

    #[test]
    fn encodings_are_read_by_mark_and_by_declaration() {
        let declaring = |name: &str| XML.replace("ENCODING", name);
        let expected = |name: &str| Ok(declaring(name));
        assert_eq!(decode(declaring("UTF-8").as_bytes()), expected("UTF-8"));
        assert_eq!(decode(&[b"\xef\xbb\xbf", declaring("UTF-8").as_bytes()].concat()), expected("UTF-8"));
        for name in ["ISO-8859-1", "windows-1252"] {
            assert_eq!(decode(&WINDOWS_1252.encode(&declaring(name)).0), expected(name));
        }
        for mark in [true, false] {
            assert_eq!(decode(&utf_16(&declaring("UTF-16"), u16::to_le_bytes, mark)), expected("UTF-16"));
            assert_eq!(decode(&utf_16(&declaring("UTF-16"), u16::to_be_bytes, mark)), expected("UTF-16"));
        }
    }

    #[test]
    fn text_without_declaration_is_utf_8_or_windows_1252() {
        assert_eq!(decode("Größe;€".as_bytes()), Ok("Größe;€".to_owned()));
        assert_eq!(decode(b"Gr\xf6\xdfe;\x80"), Ok("Größe;€".to_owned()));
        assert_eq!(decode(b"a\r\nb\rc\n"), Ok("a\nb\nc\n".to_owned()));
    }

    #[test]
    fn what_frames_a_message_is_no_part_of_it() {
        assert_eq!(decode(b"\x01\r\n:20:A\r\n-\x03\r\n"), Ok("\n:20:A\n-\n".to_owned()));
        assert_eq!(decode(b"\x01{4:\r\n-}\x03  \x01{1:\r\n-}\x03  "), Ok("{4:\n-}{1:\n-}".to_owned()));
        assert_eq!(decode(b":20:A\x03B"), Err(Refusal::NotText(NotText::Binary { line: 1 })));
        assert_eq!(decode(b"a,b\r\n\x1a"), Ok("a,b\n".to_owned()));
        for (filled, expected) in [
            (b"-\x03\0\0\0\0".as_slice(), "-"),
            (b"-\x03\r\n\0\0", "-\n"),
            (b"-\r\n\x1a\0\0", "-\n"),
            (b"-\x03\0 \0\x01{1:", "-{1:"),
            (b"-\x03\r\n\0\0\x01{1:", "-\n{1:"),
        ] {
            assert_eq!(decode(filled).as_deref(), Ok(expected));
        }
        assert_eq!(decode(b"-\x03\0a\0"), Err(Refusal::NotText(NotText::Binary { line: 1 })));
        assert_eq!(decode(b"a\x01b"), Err(Refusal::NotText(NotText::Binary { line: 1 })));
    }

    #[test]
    fn other_encodings_are_refused_by_name() {
        for name in ["ISO-8859-15", "Shift_JIS", "EBCDIC-CP-US", "UTF-7", "UTF-16", ""] {
            let refusal = decode(XML.replace("ENCODING", name).as_bytes()).unwrap_err();
            assert!(matches!(refusal, Refusal::Encoding { .. }), "{name}: {refusal}");
        }
    }

    #[test]
    fn a_wrong_declaration_is_named_with_its_line() {
        let latin = WINDOWS_1252.encode(&XML.replace("ENCODING", "utf-8")).0.into_owned();
        assert_eq!(decode(&latin), Err(Refusal::BrokenEncoding { name: "UTF-8", line: 2 }));
        assert_eq!(decode(b"<a>\xf6</a>"), Err(Refusal::BrokenEncoding { name: "UTF-8", line: 1 }));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(decode(b""), Err(Refusal::Empty));
        assert_eq!(decode(b"\xef\xbb\xbf \n"), Err(Refusal::Empty));
        assert_eq!(decode(b"%PDF-1.7"), Err(Refusal::NotText(NotText::Pdf)));
        assert_eq!(decode(b"a\nb\0"), Err(Refusal::NotText(NotText::Binary { line: 2 })));
        assert_eq!(decode(b"a;\x81"), Err(Refusal::NotText(NotText::Binary { line: 1 })));
        assert_eq!(decode(&vec![b'a'; limits::FILE_BYTES_MAX + 1]), Err(Refusal::TooLarge));
    }
}

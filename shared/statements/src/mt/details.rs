//! `:86:`, details of an entry: numbered subfields (`166?00…?20…`), code words (`/EREF/…/REMI/…`), or free text.

use crate::collect::Collector;
use crate::model::{Entry, ReferenceKind};
use crate::problem::Problem;

const SEPARATORS: [char; 4] = ['?', '<', '~', '^'];
/// Characters of a subfield. A full one continues in the next, often within a word.
const SUBFIELD_CHARS: usize = 27;
/// Characters of a line. A full one continues in the next.
const LINE_CHARS: usize = 65;
/// German banks' codes for returned payments: credit transfers (059, 159) and direct debits (108, 109).
const RETURNS: [&str; 4] = ["059", "108", "109", "159"];

/// Words that begin a part of the purpose in subfields.
const MARKS: [&str; 14] = [
    "EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "COAM+", "OAMT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+", "RREF+",
    "PURP+",
];
/// Words between slashes that begin a part.
const CODES: [&str; 27] = [
    "TRTP", "TRCD", "IBAN", "BIC", "NAME", "REMI", "EREF", "PREF", "CREF", "CSID", "MARF", "RTRN", "PURP", "ORDP",
    "BENM", "CNTP", "ISDT", "BUSP", "UDTR", "UCRD", "SVCL", "NRTX", "ADDR", "OCMT", "EXCH", "CHGS", "UETR",
];

pub(super) fn read(entry: &mut Entry, lines: &[&str], collector: &Collector) -> Result<(), Problem> {
    let first = lines.first().copied().unwrap_or_default();
    if let Some((code, separator)) = numbered(first) {
        entry.is_reversal |= RETURNS.contains(&code);
        return read_numbered(entry, &lines.concat(), separator, collector);
    }
    let text = joined(lines.iter().copied(), LINE_CHARS);
    let parts = parts_behind_codes(&text);
    if parts.is_empty() {
        collector.text(entry, &lines.join(" "));
        return Ok(());
    }
    read_coded(entry, &parts, collector)
}

fn numbered(line: &str) -> Option<(&str, char)> {
    let (code, rest) = line.split_at_checked(3)?;
    let separator = rest.chars().next().filter(|letter| SEPARATORS.contains(letter))?;
    let number = rest.get(1..3)?;
    (code.bytes().chain(number.bytes()).all(|byte| byte.is_ascii_digit())).then_some((code, separator))
}

fn read_numbered(entry: &mut Entry, text: &str, separator: char, collector: &Collector) -> Result<(), Problem> {
    let (mut purpose, mut names, mut title) = (Vec::new(), Vec::new(), "");
    for subfield in text.split(separator).skip(1) {
        let Some((number, value)) = subfield.split_at_checked(2) else { continue };
        match number {
            "00" => title = value,
            "20" | "21" | "22" | "23" | "24" | "25" | "26" | "27" | "28" | "29" | "60" | "61" | "62" | "63" => {
                purpose.push(value);
            }
            "32" | "33" => names.push(value),
            // Bank, account and keys.
            _ => {}
        }
    }
    let purpose = joined(purpose.into_iter(), SUBFIELD_CHARS);
    let mut words = Vec::new();
    for (mark, value) in parts_behind_marks(&purpose) {
        match mark {
            "EREF+" => collector.reference(entry, ReferenceKind::EndToEndId, value)?,
            "KREF+" => collector.reference(entry, ReferenceKind::CustomerReference, value)?,
            "MREF+" => collector.reference(entry, ReferenceKind::MandateId, value)?,
            "RREF+" => collector.reference(entry, ReferenceKind::Other, value)?,
            "" | "SVWZ+" => words.push(value),
            _ => {}
        }
    }
    collector.text(entry, &words.join(" "));
    collector.text(entry, title);
    collector.counterparty(entry, &joined(names.into_iter(), SUBFIELD_CHARS));
    Ok(())
}

fn read_coded(entry: &mut Entry, parts: &[(&str, &str)], collector: &Collector) -> Result<(), Problem> {
    for (code, value) in parts {
        let value = value.trim().trim_matches('/');
        match *code {
            "EREF" => collector.reference(entry, ReferenceKind::EndToEndId, value)?,
            "UETR" => collector.reference(entry, ReferenceKind::Uetr, value)?,
            "PREF" => collector.reference(entry, ReferenceKind::PaymentInformationId, value)?,
            "CREF" => collector.reference(entry, ReferenceKind::CustomerReference, value)?,
            "MARF" => collector.reference(entry, ReferenceKind::MandateId, value)?,
            "RTRN" => entry.is_reversal = true,
            "NAME" | "ORDP" | "BENM" => collector.counterparty(entry, value),
            // Account, bank, name and city.
            "CNTP" => collector.counterparty(entry, value.split('/').nth(2).unwrap_or_default()),
            "REMI" => {
                if let Some(structured) = value.strip_prefix("STRD/") {
                    let reference = structured.rsplit('/').next().unwrap_or_default();
                    collector.reference(entry, ReferenceKind::CreditorReference, reference)?;
                }
                let text = value.strip_prefix("USTD//").or_else(|| value.strip_prefix("STRD/")).unwrap_or(value);
                collector.text(entry, text);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Joins pieces of a text that was cut at a width: after a full piece without a blank, unless the next begins a part.
fn joined<'a>(pieces: impl Iterator<Item = &'a str>, width: usize) -> String {
    let mut text = String::new();
    let mut is_full = true;
    for piece in pieces {
        let begins_part = MARKS.iter().any(|mark| piece.starts_with(mark));
        if !text.is_empty() && (!is_full || begins_part) {
            text.push(' ');
        }
        text.push_str(piece);
        is_full = piece.chars().count() == width;
    }
    text
}

/// Splits a purpose into parts, each with its mark; the part before the first mark has none.
fn parts_behind_marks(text: &str) -> Vec<(&str, &str)> {
    let mut starts: Vec<(usize, &str)> = Vec::new();
    for (at, _) in text.char_indices() {
        let begins_word = text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(' '));
        let rest = text.get(at..).unwrap_or_default();
        if begins_word && let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            starts.push((at, mark));
        }
    }
    cut(text, &starts)
}

fn parts_behind_codes(text: &str) -> Vec<(&str, &str)> {
    let mut starts: Vec<(usize, &str)> = Vec::new();
    for (at, _) in text.match_indices('/') {
        let Some((word, _)) = text.get(at + 1..).and_then(|rest| rest.split_once('/')) else { break };
        if CODES.contains(&word) {
            starts.push((at, word));
        }
    }
    if starts.first().is_some_and(|(at, _)| *at == 0) { cut(text, &starts) } else { Vec::new() }
}

fn cut<'a>(text: &'a str, starts: &[(usize, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let before = starts.first().map_or(text, |(at, _)| text.get(..*at).unwrap_or_default()).trim();
    let mut parts: Vec<(&str, &str)> = Vec::new();
    if !before.is_empty() {
        parts.push(("", before));
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    for ((at, mark), end) in starts.iter().zip(ends) {
        let slashes = if text.get(*at..).is_some_and(|rest| rest.starts_with('/')) { 2 } else { 0 };
        parts.push((mark, text.get(at + mark.len() + slashes..end).unwrap_or_default().trim()));
    }
    parts
}

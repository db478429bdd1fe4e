//! Writes a minimal one-page PDF for the demo's documents: one font, no compression.

use std::fmt::Write as _;

pub(crate) fn page(title: &str, lines: &[&str]) -> Vec<u8> {
    let mut text = format!("BT /F1 16 Tf 56 780 Td ({}) Tj /F1 11 Tf 0 -16 Td ", escaped(title));
    for line in lines {
        let _ = write!(text, "0 -16 Td ({}) Tj ", escaped(line));
    }
    text.push_str("ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>"
            .to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len()),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let at = file.len();
    let _ = write!(file, "{table}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n", objects.len() + 1);
    file.into_bytes()
}

/// Escapes text for a PDF string in plain ASCII. Characters outside the font's encoding become question marks.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, char| {
        let _ = match char {
            '(' | ')' | '\\' => write!(escaped, "\\{char}"),
            ' '..='~' => write!(escaped, "{char}"),
            '\u{a0}'..='\u{ff}' => write!(escaped, "\\{:03o}", u32::from(char)),
            _ => write!(escaped, "?"),
        };
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cross_reference_table_has_the_offset_of_every_object() {
        let file = String::from_utf8(page("SAFE (Weiß)", &["One \\ two", "", "three – 四"])).unwrap();
        assert!(file.is_ascii() && file.starts_with("%PDF-1.") && file.ends_with("%%EOF\n"), "{file}");
        assert!(file.contains(r"(SAFE \(Wei\337\)) Tj") && file.contains(r"(One \\ two) Tj"));
        assert!(file.contains("(three ? ?) Tj"), "{file}");
        let (_, start) = file.rsplit_once("startxref\n").unwrap();
        let table = &file[start.lines().next().unwrap().parse::<usize>().unwrap()..];
        assert!(table.starts_with("xref\n0 6\n"));
        for (n, line) in table.lines().skip(3).take(5).enumerate() {
            let at: usize = line[..10].parse().unwrap();
            assert!(file[at..].starts_with(&format!("{} 0 obj\n", n + 1)), "{line}");
            assert_eq!(line.len() + 1, 20, "an entry has twenty bytes");
        }
        let (_, stream) = file.split_once("/Length ").unwrap();
        let (length, stream) = stream.split_once(" >>\nstream\n").unwrap();
        let length: usize = length.parse().unwrap();
        assert!(stream[length..].starts_with("\nendstream"));
    }
}

//! Writes CSV files (RFC 4180) that are safe to open in a spreadsheet.
//!
//! - Decision: no crate `csv`: of a file's fields it quotes all, or those that RFC 4180 says, but ones with `;` or a tab
//!   must be quoted too.
//! - Decision: a file begins with a byte order mark: without one, spreadsheets may show `ZoÃ«` for `Zoë`.
//! - Decision: formulas are neutralized wherever a spreadsheet may begin a cell, also after separators in quotes.

const BYTE_ORDER_MARK: char = '\u{feff}';
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// A spreadsheet may end a cell at these, whatever this file means by them.
const SEPARATORS: [char; 4] = [';', '\t', '\r', '\n'];

/// A file, built record by record.
#[derive(Debug, Default)]
pub struct Csv(String);

impl Csv {
    /// An empty file.
    #[must_use]
    pub fn new() -> Self {
        Self(BYTE_ORDER_MARK.into())
    }

    /// Adds a record.
    pub fn push<'a>(&mut self, fields: impl IntoIterator<Item = &'a str>) {
        for (at, field) in fields.into_iter().enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            self.push_field(field);
        }
        self.0.push_str("\r\n");
    }

    fn push_field(&mut self, field: &str) {
        let is_quoted = field.contains([',', '"', '\r', '\n', ';', '\t']);
        if is_quoted {
            self.0.push('"');
        }
        let (mut begins_cell, mut is_inner) = (true, false);
        for letter in field.chars() {
            if begins_cell && FORMULA.contains(&letter) {
                // Spreadsheets run this as a formula; the apostrophe makes it text.
                self.0.push('\'');
            }
            let separates = SEPARATORS.contains(&letter);
            is_inner |= separates;
            begins_cell = separates || begins_cell && (letter.is_whitespace() || is_inner && letter == '"');
            if letter == '"' {
                self.0.push('"');
            }
            self.0.push(letter);
        }
        if is_quoted {
            self.0.push('"');
        }
    }

    /// Its bytes so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// The file.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Takes what was added since the last part, to send a file in parts.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_no_field_is_a_formula() {
        let mut csv = Csv::new();
        csv.push(["plain", "", "a, b", "say \"hi\"", "two\r\nlines", "Zoë"]);
        csv.push(["=1+1", "+49", "-1", "@SUM(A1)", "=\"a\",b", "a=b"]);
        csv.push(["＝1+1", "＠SUM(A1)"]);
        csv.push(["a;=1+1", "a; \"=1+1\"", "a\t@b", "a\r\n-1", " =1", "1-1; a=b"]);
        let expected = "\u{feff}plain,,\"a, b\",\"say \"\"hi\"\"\",\"two\r\nlines\",Zoë\r\n\
                        '=1+1,'+49,'-1,'@SUM(A1),\"'=\"\"a\"\",b\",a=b\r\n'＝1+1,'＠SUM(A1)\r\n\
                        \"a;'=1+1\",\"a; \"\"'=1+1\"\"\",\"a\t'@b\",\"a\r\n'-1\", '=1,\"1-1; a=b\"\r\n";
        assert_eq!(csv.size(), expected.len());
        assert_eq!(csv.into_string(), expected);
    }
}

//! Files of comma-separated values (RFC 4180), safe to open in a spreadsheet.

/// A file that is built record by record.
#[derive(Debug, Default)]
pub(crate) struct Csv(String);

impl Csv {
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
        // A spreadsheet runs what begins like this as a formula. The apostrophe makes it text.
        let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
        let is_quoted = field.contains([',', '"', '\r', '\n']);
        if is_quoted {
            self.0.push('"');
        }
        if is_formula {
            self.0.push('\'');
        }
        self.0.push_str(&field.replace('"', "\"\""));
        if is_quoted {
            self.0.push('"');
        }
    }

    /// Its length in bytes so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The file.
    pub fn into_string(self) -> String {
        self.0
    }

    /// What was added since the last part of a file that is sent part by part.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_no_field_is_a_formula() {
        let mut csv = Csv::default();
        csv.push(["plain", "", "a, b", "say \"hi\"", "two\r\nlines", "Zoë"]);
        csv.push(["=1+1", "+49", "-1", "@SUM(A1)", "=\"a\",b", "a=b"]);
        csv.push(["＝1+1", "＠SUM(A1)"]);
        let expected = "plain,,\"a, b\",\"say \"\"hi\"\"\",\"two\r\nlines\",Zoë\r\n\
                        '=1+1,'+49,'-1,'@SUM(A1),\"'=\"\"a\"\",b\",a=b\r\n'＝1+1,'＠SUM(A1)\r\n";
        assert_eq!(csv.len(), expected.len());
        assert_eq!(csv.into_string(), expected);
    }
}

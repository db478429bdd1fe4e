//! Reads the rows of a file by the names of its columns.

use std::collections::HashMap;

use shared::domain::contact::ExternalReference;
use shared::domain::funding::sensitive;

/// A column of a kind of file.
pub(crate) trait ImportColumn: Copy + Ord + 'static {
    /// The column that every file has.
    const NEEDED: Self;

    fn imported() -> impl Iterator<Item = Self>;
    fn name(self) -> &'static str;
    fn named(name: &str) -> Option<Self>;
}

/// A name of a column as it is compared: spaces, hyphens and underscores are equal.
pub(crate) fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// What a row makes, or all its problems.
#[derive(Debug)]
pub(super) struct Row<N> {
    pub number: usize,
    pub new: Result<N, Vec<String>>,
    /// Also of a row with problems.
    pub reference: Option<ExternalReference>,
    /// Whether this import added it.
    pub is_there: bool,
}

impl<N> Row<N> {
    pub fn add_problem(&mut self, problem: String) {
        match &mut self.new {
            Ok(_) => self.new = Err(vec![problem]),
            Err(problems) => problems.push(problem),
        }
    }
}

/// All problems, with their row numbers. Rows already added have none, whatever has changed since.
pub(super) fn problems<N>(rows: &[Row<N>]) -> Vec<(usize, String)> {
    let of_row = |row: &Row<N>| {
        let found = row.new.as_ref().err().cloned().unwrap_or_default();
        found.into_iter().map(|problem| (row.number, problem)).collect::<Vec<_>>()
    };
    rows.iter().filter(|row| !row.is_there).flat_map(of_row).collect()
}

/// The references of a file's rows, each with the first row that has it.
#[derive(Debug)]
pub(super) struct References<'a> {
    /// Their column, as the file calls it.
    column: &'a str,
    rows: HashMap<String, usize>,
}

impl<'a> References<'a> {
    pub fn of(column: &'a str) -> Self {
        Self { column, rows: HashMap::new() }
    }

    /// A row's reference. Adds a problem if an earlier row has it.
    pub fn read(&mut self, cell: &str, number: usize, problems: &mut Vec<String>) -> Option<ExternalReference> {
        let reference = ExternalReference::parse(cell).ok()?;
        if let Some(first) = self.rows.insert(reference.as_str().to_owned(), number) {
            problems.push(format!("The {} is that of row {first} too.", self.column));
        }
        Some(reference)
    }
}

/// Why a file has no rows to look at.
#[derive(Debug)]
pub(super) struct NotRead {
    /// What is wrong, to be read after “The file”.
    pub message: String,
    pub is_sensitive: bool,
}

impl From<String> for NotRead {
    fn from(message: String) -> Self {
        Self { message, is_sensitive: false }
    }
}

impl From<&str> for NotRead {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// The rows of a file, each with its number, below the columns that the first row names.
#[derive(Debug)]
pub(super) struct Sheet<C> {
    /// None for one without a name.
    pub columns: Vec<Option<C>>,
    /// The names of the columns, as the file has them.
    pub names: Vec<String>,
    pub rows: Vec<(usize, Vec<String>)>,
}

impl<C: ImportColumn> Sheet<C> {
    /// Reads a file of at most so many rows. `too_many` says why there are no more.
    pub fn read(file: &[u8], most: usize, too_many: &str) -> Result<Self, NotRead> {
        let rows = statements::rows(file, most + 2).map_err(|refusal| refusal.to_string())?;
        let mut rows = rows.into_iter();
        let Some((_, header)) = rows.next() else { return Err("is empty".into()) };
        let rows: Vec<_> = rows.collect();
        // Without column names, any cell may contain an account number.
        let mut cells = rows.iter().flat_map(|(_, cells)| cells).chain(&header);
        let columns = columns(&header).map_err(|message| {
            let is_sensitive = cells.any(|cell| sensitive::check(cell).is_err());
            NotRead { message, is_sensitive }
        })?;
        if rows.is_empty() {
            return Err("has no rows below the names of the columns".into());
        }
        if rows.len() > most {
            return Err(format!("has more than {most} rows, {too_many}").into());
        }
        Ok(Self { columns, names: header, rows })
    }
}

fn columns<C: ImportColumn>(header: &[String]) -> Result<Vec<Option<C>>, String> {
    let columns: Vec<Option<C>> = header.iter().map(|name| C::named(name)).collect();
    let named = header.iter().zip(&columns).filter(|(name, _)| !name.is_empty());
    let unknown: Vec<String> =
        named.filter(|(_, column)| column.is_none()).map(|(name, _)| format!("“{name}”")).collect();
    let known = || C::imported().map(C::name).collect::<Vec<_>>().join(", ");
    if !unknown.is_empty() {
        let which = if unknown.len() == 1 { "a column that is" } else { "columns that are" };
        let is_shown = header.iter().all(|name| sensitive::check(name).is_ok());
        let named = if is_shown { format!(": {}", unknown.join(", ")) } else { String::new() };
        return Err(format!(
            "has {which} not known{named}. The first row names the columns; known ones are {}",
            known()
        ));
    }
    if !columns.contains(&Some(C::NEEDED)) {
        let needed = C::NEEDED.name();
        return Err(format!(
            "has no column named {needed}. The first row names the columns; known ones are {}",
            known()
        ));
    }
    let mut seen = columns.iter().flatten().collect::<Vec<_>>();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("has two columns of the same name".to_owned());
    }
    Ok(columns)
}

/// The cell of a column, empty if there is none.
pub(super) fn cell<'a, C: ImportColumn>(columns: &[Option<C>], cells: &'a [String], column: C) -> &'a str {
    let at = columns.iter().position(|known| *known == Some(column));
    at.and_then(|at| cells.get(at)).map_or("", |cell| without_apostrophe(cell))
}

/// The name of a column in its file, or the usual one if the file has no such column.
pub(super) fn called<'a, C: ImportColumn>(columns: &[Option<C>], names: &'a [String], column: C) -> &'a str {
    let at = columns.iter().position(|known| *known == Some(column));
    at.and_then(|at| names.get(at)).map_or(column.name(), |name| name.trim())
}

/// A cell without the apostrophe that keeps spreadsheets from running our own files' cells.
fn without_apostrophe(cell: &str) -> &str {
    let is_formula = |rest: &&str| rest.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    cell.strip_prefix('\'').filter(is_formula).unwrap_or(cell)
}

/// The problem of a row with values below no name.
pub(super) fn unnamed<C>(columns: &[Option<C>], cells: &[String]) -> Option<String> {
    let is_unnamed = |at: &usize| columns.get(*at).is_none_or(Option::is_none);
    let mut unnamed = (0..cells.len()).filter(|at| is_unnamed(at) && !cells[*at].is_empty());
    let (first, more) = (unnamed.next()?, unnamed.count());
    let column = format!("{} ({})", first + 1, letters(first));
    Some(match more {
        0 => format!("Column {column} has a value here but no name in the first row."),
        1 => format!("Column {column} and 1 more have values here but no names in the first row."),
        more => format!("Column {column} and {more} more have values here but no names in the first row."),
    })
}

/// A column as spreadsheets call it.
fn letters(at: usize) -> String {
    let last = char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at % 26]);
    if at < 26 { last.to_string() } else { format!("{}{last}", letters(at / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_below_no_name_is_told_by_its_column() {
        let told = |named: &[bool], cells: &[&str]| {
            let columns: Vec<_> = named.iter().map(|is_named| is_named.then_some(())).collect();
            unnamed(&columns, &cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(told(&[true, false], &["a", "", "", ""]), None);
        let one = "Column 2 (B) has a value here but no name in the first row.";
        assert_eq!(told(&[true, false, true], &["a", "b", "c"]).as_deref(), Some(one), "within the header");
        let two = "Column 3 (C) and 1 more have values here but no names in the first row.";
        assert_eq!(told(&[true, true], &["a", "b", "c", "", "e"]).as_deref(), Some(two), "beside the header");
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letters), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}

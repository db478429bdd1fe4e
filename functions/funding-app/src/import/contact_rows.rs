//! Parses the rows of a file of contacts by the API's rules: each is a new contact or its problems.

use std::collections::{HashMap, HashSet};

use pages::labels::contact_kind_label;
use serde_json::{Map, Value as Json};
use shared::domain::contact::{ContactKind, ListedContact, NameAndEmail, NewContact};
use shared::domain::ids::ContactId;
use shared::error::Error;
use shared::limits;
use shared::service::contact_import::{self, Traits};
use shared::service::scope::Scope;
use shared::wire::input;
use shared::wire::page::Shelf;
use uuid::Uuid;

use super::columns::{ImportColumn, NotRead, References, Row, Sheet, called, cell, plain, unnamed};
use super::row_id;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Name,
    Kind,
    Email,
    Reference,
}

impl Column {
    fn other_names(self) -> &'static [&'static str] {
        match self {
            Self::Name => &["name", "full_name", "contact", "company"],
            Self::Kind => &["type"],
            Self::Email => &["e_mail", "email_address", "mail"],
            Self::Reference => &["reference", "your_reference"],
        }
    }
}

impl ImportColumn for Column {
    const NEEDED: Self = Self::Name;

    fn imported() -> impl Iterator<Item = Self> {
        [Self::Name, Self::Kind, Self::Email, Self::Reference].into_iter()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Name => "display_name",
            Self::Kind => "kind",
            Self::Email => "email",
            Self::Reference => "external_reference",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let name = plain(name);
        Self::imported().find(|column| column.name() == name || column.other_names().contains(&name.as_str()))
    }
}

/// Who has the name and email address of a row, in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twin {
    /// An earlier row.
    Row(usize),
    /// An existing contact.
    Contact(ContactId),
    /// An existing contact with the row's reference too, so no other one can be added.
    Itself(ContactId),
}

#[derive(Debug)]
pub(super) struct NewRow {
    pub new: NewContact,
    pub twin: Option<Twin>,
}

#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub rows: Vec<Row<NewRow>>,
    /// The file's name of the column of references.
    reference_column: String,
}

/// Whose rows one press adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    WithoutTwins,
    All,
}

impl Parsed {
    /// Adds what only the records say: which rows are there, which have twins, and whose reference is taken.
    pub async fn checked(mut self, scope: &Scope, import: Option<Uuid>) -> Result<Self, Error> {
        let ids: Vec<Option<ContactId>> =
            (0..self.rows.len()).map(|at| import.map(|import| row_id(import, at))).collect();
        let known = contact_import::known(scope, &self.traits(ids.iter().copied().flatten().collect())).await?;
        let (own, others): (Vec<_>, Vec<_>) = known.into_iter().partition(|contact| ids.contains(&Some(contact.id)));
        let own: HashSet<ContactId> = own.into_iter().map(|contact| contact.id).collect();
        let holders: HashMap<&str, &ListedContact> = others
            .iter()
            .filter_map(|contact| Some((contact.external_reference.as_ref()?.as_str(), contact)))
            .collect();
        let mut people = HashMap::new();
        for other in &others {
            // What was merged is told of only if nothing else is a twin.
            let known = people.entry(other.name_and_email()).or_insert(other);
            if known.shelf() == Shelf::Merged {
                *known = other;
            }
        }
        for (row, id) in self.rows.iter_mut().zip(ids) {
            row.is_there = id.is_some_and(|id| own.contains(&id));
            let holder = row.reference.as_ref().and_then(|reference| holders.get(reference.as_str()).copied());
            let Ok(NewRow { new, twin }) = &mut row.new else {
                row.refuse_reference_of(&self.reference_column, holder);
                continue;
            };
            let same = people.get(&new.name_and_email()).map(|contact| Twin::Contact(contact.id));
            *twin = same.or(*twin);
            match holder {
                Some(holder) if holder.name_and_email() == new.name_and_email() => {
                    *twin = Some(Twin::Itself(holder.id));
                }
                holder => row.refuse_reference_of(&self.reference_column, holder),
            }
        }
        Ok(self)
    }

    fn traits(&self, ids: HashSet<ContactId>) -> Traits<'_> {
        let new = self.rows.iter().filter_map(|row| row.new.as_ref().ok());
        Traits {
            ids,
            references: self.rows.iter().filter_map(|row| row.reference.as_ref()).collect(),
            people: new.map(|row| row.new.name_and_email()).collect(),
        }
    }

    /// What is left to add.
    pub fn left(&self, import: Uuid, wanted: Wanted) -> impl Iterator<Item = (ContactId, NewContact)> {
        let rows = self.not_there().filter(move |(_, row)| row.is_wanted(wanted));
        rows.map(move |(at, row)| (row_id(import, at), row.new.clone()))
    }

    /// What one press leaves out.
    pub fn left_out(&self, wanted: Wanted) -> LeftOut {
        let left_out = self.not_there().filter(|(_, row)| !row.is_wanted(wanted));
        let (repeated, existing): (Vec<_>, Vec<_>) =
            left_out.partition(|(_, row)| matches!(row.twin, Some(Twin::Row(_))));
        LeftOut { existing: existing.len(), repeated: repeated.len() }
    }

    fn not_there(&self) -> impl Iterator<Item = (usize, &NewRow)> {
        let rows = self.rows.iter().enumerate().filter(|(_, row)| !row.is_there);
        rows.filter_map(|(at, row)| Some((at, row.new.as_ref().ok()?)))
    }
}

impl NewRow {
    fn is_wanted(&self, wanted: Wanted) -> bool {
        match self.twin {
            None => true,
            Some(Twin::Row(_) | Twin::Contact(_)) => wanted == Wanted::All,
            Some(Twin::Itself(_)) => false,
        }
    }
}

/// How many rows are left out, for each reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// A contact with the row's name and email address exists.
    pub existing: usize,
    /// An earlier row has them.
    pub repeated: usize,
}

impl LeftOut {
    /// Why, to be read after “3 rows are left out: ”.
    fn why(self) -> String {
        match (self.existing, self.repeated) {
            (1, 0) => "a contact with its name and email address exists already".to_owned(),
            (_, 0) => "contacts with their names and email addresses exist already".to_owned(),
            (0, 1) => "it repeats the name and email address of an earlier row".to_owned(),
            (0, _) => "they repeat the names and email addresses of earlier rows".to_owned(),
            (existing, repeated) => {
                let exist = if existing == 1 { "is a contact that exists" } else { "are contacts that exist" };
                let repeat = if repeated == 1 { "repeats an earlier row" } else { "repeat earlier rows" };
                format!("{existing} {exist} already, and {repeated} {repeat}")
            }
        }
    }

    /// A sentence with a verb for one row and for several, empty if there are none.
    pub fn sentence(self, verbs: [&str; 2]) -> String {
        match self.existing + self.repeated {
            0 => String::new(),
            1 => format!("1 row {} left out: {}.", verbs[0], self.why()),
            rows => format!("{rows} rows {} left out: {}.", verbs[1], self.why()),
        }
    }
}

impl Row<NewRow> {
    fn refuse_reference_of(&mut self, column: &str, holder: Option<&ListedContact>) {
        if let Some(holder) = holder {
            let name = holder.display_name.as_str();
            self.add_problem(format!("The {column} is that of the contact “{name}”."));
        }
    }
}

pub(super) fn parse(file: &[u8]) -> Result<Parsed, NotRead> {
    let most = limits::CONTACTS_IMPORTED_MAX;
    let Sheet { columns, names, rows } = Sheet::<Column>::read(file, most, "the most that one import adds. Split it")?;
    let called = |column| called(&columns, &names, column);
    let reference_column = called(Column::Reference);
    let mut parsed = Parsed { rows: Vec::new(), reference_column: reference_column.to_owned() };
    let mut references = References::of(reference_column);
    let mut people: HashMap<NameAndEmail, usize> = HashMap::new();
    for (number, cells) in rows {
        let cell = |column| cell(&columns, &cells, column);
        let mut problems: Vec<String> = unnamed(&columns, &cells).into_iter().collect();
        let new = read(cell, called, &mut problems);
        let reference = references.read(cell(Column::Reference), number, &mut problems);
        let new = match new {
            Some(new) if problems.is_empty() => {
                let first = *people.entry(new.name_and_email()).or_insert(number);
                Ok(NewRow { new, twin: (first != number).then_some(Twin::Row(first)) })
            }
            _ => Err(problems),
        };
        parsed.rows.push(Row { number, new, reference, is_there: false });
    }
    Ok(parsed)
}

/// Reads all cells, whatever is wrong with one.
fn read<'a, 'b>(
    cell: impl Fn(Column) -> &'a str,
    called: impl Fn(Column) -> &'b str,
    problems: &mut Vec<String>,
) -> Option<NewContact> {
    let kind = cell(Column::Kind);
    let wanted = kind.to_lowercase();
    let fits = |kind: &ContactKind| kind.as_str() == wanted || contact_kind_label(*kind).to_lowercase() == wanted;
    let found = ContactKind::ALL.into_iter().find(fits);
    if found.is_none() && !kind.is_empty() {
        problems.push(format!("The {} “{kind}” is none of: {}.", called(Column::Kind), kinds()));
    }
    let mut body = Map::new();
    for column in [Column::Name, Column::Email, Column::Reference] {
        if !cell(column).is_empty() {
            body.insert(column.name().to_owned(), cell(column).into());
        }
    }
    body.insert(Column::Kind.name().to_owned(), found.unwrap_or(ContactKind::Person).as_str().into());
    match input::read::<NewContact>(Json::Object(body)) {
        Ok(new) => Some(new),
        Err(errors) => {
            let column_of =
                |field: &str| Column::named(field).map_or_else(|| field.to_owned(), |column| called(column).to_owned());
            let errors = errors.into_list().into_iter();
            problems.extend(errors.map(|error| format!("The {} {}.", column_of(&error.field), error.message)));
            None
        }
    }
}

/// The kinds, as files name them.
pub(super) fn kinds() -> String {
    ContactKind::ALL.map(ContactKind::as_str).join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::columns::problems;
    use super::*;

    #[test]
    fn a_row_tells_all_its_problems_at_once() {
        let file = "Name,TYPE,Email address,Your reference,\n\
                    Ada,Person,ada@okafor.example,crm-1,\n\
                    ,ship,nowhere,crm-1,,more\n\
                    Ada,,ada@okafor.example,crm-2,\n";
        let parsed = parse(file.as_bytes()).unwrap();
        let told = problems(&parsed.rows);
        assert!(told.iter().all(|(row, _)| *row == 3) && told.len() == 5, "{told:?}");
        let twins = parsed.rows.iter().map(|row| row.new.as_ref().ok().and_then(|row| row.twin));
        assert!(twins.eq([None, None, Some(Twin::Row(2))]));
    }

    #[test]
    fn problems_name_the_columns_as_the_file_does() {
        let told = |file: &str| problems(&parse(file.as_bytes()).unwrap().rows).into_iter().map(|(_, said)| said);
        let file = "Full name,Email address,type,your reference\n,nowhere,ship,a\nAda,,,a\n";
        let said: Vec<_> = told(file).collect();
        assert!(said.contains(&"The Full name is required.".to_owned()), "{said:?}");
        assert!(said.iter().any(|said| said.starts_with("The Email address must look like")), "{said:?}");
        assert!(said.iter().any(|said| said.starts_with("The type “ship” is none of: person")), "{said:?}");
        assert!(said.contains(&"The your reference is that of row 2 too.".to_owned()), "{said:?}");
        assert!(told("name,type\n,person\n").eq(["The name is required."]));
    }

    #[test]
    fn rows_that_are_left_out_say_why() {
        let told = |existing, repeated| LeftOut { existing, repeated }.sentence(["was", "were"]);
        assert_eq!(told(0, 0), "");
        assert_eq!(told(1, 0), "1 row was left out: a contact with its name and email address exists already.");
        assert_eq!(told(0, 2), "2 rows were left out: they repeat the names and email addresses of earlier rows.");
        assert_eq!(
            told(2, 1),
            "3 rows were left out: 2 are contacts that exist already, and 1 repeats an earlier row."
        );
    }

    #[test]
    fn a_file_names_its_columns() {
        for (file, message) in [
            ("", "is empty"),
            ("name\n", "has no rows"),
            ("email\na@b.example\n", "has no column named display_name"),
            ("name,shoe size\nAda,5\n", "has a column that is not known: “shoe size”"),
            ("name,full name\nAda,Ada\n", "has two columns of the same name"),
        ] {
            let NotRead { message: told, .. } = parse(file.as_bytes()).unwrap_err();
            assert!(told.starts_with(message), "{told}");
        }
    }
}

//! Parses the rows of an import file by the API's rules: each is a new item or its problems.
//!
//! Decision: a row may have everything known about an item: kind, verb, owners and facts, parsed as in its form.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};
use shared::domain::actor::Actor;
use shared::domain::contact::Contact;
use shared::domain::funding::input::{FundingItemChanges, NewFundingItem};
use shared::domain::funding::{AssetKind, Fact, FundingItem, Place, Verb, sensitive};
use shared::domain::ids::{FundingItemId, TrustId};
use shared::domain::time::Timestamp;
use shared::domain::trust::Trust;
use shared::error::Error;
use shared::limits;
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::service::scope::Scope;
use shared::text::funding_words as words;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input;
use shared::wire::text::Folded;
use uuid::Uuid;

use super::columns::{ImportColumn, NotRead, References, Row, Sheet, called, cell, unnamed};
use super::row_id;
use crate::facts::{NO_CURRENCY, Wrong, typed_value};
use crate::one_of;
use crate::sheet::{Column, OWNERS_SEPARATOR};

/// What has the label, kind and trust of a row, in any letter case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twin {
    /// An earlier row.
    Row(usize),
    /// An item of the workspace.
    Item(FundingItemId),
}

type Traits = (Option<TrustId>, AssetKind, Folded);

fn traits(item: &FundingItem) -> Traits {
    (item.trust_id(), item.asset_kind(), Folded::new(item.label().as_str()))
}

#[derive(Debug)]
pub(super) struct NewRow {
    pub new: NewFundingItem,
    pub item: FundingItem,
    pub twin: Option<Twin>,
}

#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub rows: Vec<Row<NewRow>>,
    pub is_sensitive: bool,
    pub left_out: Vec<&'static str>,
    /// The file's name of the column of references.
    reference_column: String,
}

impl Parsed {
    /// Adds what only the records say: twins, references of other items, and lack of room.
    pub async fn checked(
        mut self,
        scope: &Scope,
        review: &WorkspaceFundingReview,
        import: Option<Uuid>,
    ) -> Result<Self, Error> {
        let references = self.rows.iter().filter_map(|row| row.reference.as_ref());
        let taken = funding_review::taken_references(scope, references).await?;
        let own = import.map(|import| there(review, &self, import)).unwrap_or_default();
        let left = self.rows.len() - own.iter().filter(|is_there| **is_there).count();
        let most = usize::from(limits::WORKSPACE_FUNDING_ITEMS_MAX);
        let room = most.saturating_sub(review.schedule.items.len());
        let rows = 0..self.rows.len();
        let made: HashSet<FundingItemId> =
            import.iter().flat_map(|import| rows.clone().map(|at| row_id(*import, at))).collect();
        let others = review.schedule.items.iter().filter(|item| !made.contains(&item.id()));
        let others: HashMap<Traits, FundingItemId> = others.map(|item| (traits(item), item.id())).collect();
        for (at, row) in self.rows.iter_mut().enumerate() {
            row.is_there = own.get(at).copied().unwrap_or_default();
            if let Ok(NewRow { item, twin, .. }) = &mut row.new {
                *twin = others.get(&traits(item)).copied().map(Twin::Item).or(*twin);
            }
            let id: Option<FundingItemId> = import.map(|import| row_id(import, at));
            let holder = row.reference.as_ref().and_then(|reference| taken.get(reference.as_str()));
            if holder.is_some() && holder.copied() != id {
                row.add_problem(format!("The {} is that of another item.", self.reference_column));
            }
        }
        if left > room
            && let Some(last) = self.rows.iter_mut().rfind(|row| !row.is_there)
        {
            last.add_problem(format!("The workspace has room for {room} more items, of {most} in all."));
        }
        Ok(self)
    }
}

pub(super) fn parse(file: &[u8], review: &WorkspaceFundingReview, now: Timestamp) -> Result<Parsed, NotRead> {
    let most = usize::from(limits::WORKSPACE_FUNDING_ITEMS_MAX);
    let Sheet { columns, names, rows } = Sheet::<Column>::read(file, most, "as many items as a workspace may have")?;
    let told = |column: &Option<Column>| if let Some(Column::Told(name)) = column { Some(*name) } else { None };
    let reference_column = called(&columns, &names, Column::Reference);
    let mut parsed = Parsed {
        left_out: columns.iter().filter_map(told).collect(),
        reference_column: reference_column.to_owned(),
        ..Parsed::default()
    };
    let mut references = References::of(reference_column);
    let mut seen: HashMap<Traits, usize> = HashMap::new();
    for (number, cells) in rows {
        let problems = unnamed(&columns, &cells).into_iter().collect();
        let mut row = RowReader { review, columns: &columns, names: &names, cells: &cells, now, problems };
        parsed.is_sensitive |= row.is_sensitive();
        let new = row.read();
        let reference = references.read(row.cell(Column::Reference), number, &mut row.problems);
        let problems = row.problems;
        let mut new = new.filter(|_| problems.is_empty()).ok_or(problems);
        if let Ok(NewRow { item, twin, .. }) = &mut new {
            let first = *seen.entry(traits(item)).or_insert(number);
            *twin = (first != number).then_some(Twin::Row(first));
        }
        parsed.rows.push(Row { number, new, reference, is_there: false });
    }
    Ok(parsed)
}

const STAND_IN: &str = "Item";

struct RowReader<'a> {
    review: &'a WorkspaceFundingReview,
    columns: &'a [Option<Column>],
    names: &'a [String],
    cells: &'a [String],
    now: Timestamp,
    problems: Vec<String>,
}

impl<'a> RowReader<'a> {
    fn cell(&self, column: Column) -> &'a str {
        cell(self.columns, self.cells, column)
    }

    fn called(&self, column: Column) -> &'a str {
        called(self.columns, self.names, column)
    }

    fn is_sensitive(&self) -> bool {
        let columns = self.columns.iter().copied().chain(std::iter::repeat(None));
        let is_sensitive = |(column, cell): (Option<Column>, &String)| match column {
            Some(Column::Fact(fact)) => {
                let read = fact.read(shared::domain::funding::facts::Given::Text(cell.clone()));
                read.is_err_and(|(code, _)| code == FieldCode::SensitiveValue)
            }
            Some(Column::Told(_)) => false,
            _ => sensitive::check(cell).is_err(),
        };
        columns.zip(self.cells).any(is_sensitive)
    }

    fn is_none_of(&mut self, column: Column, known: &str) {
        let cell = self.cell(column);
        let quoted = if sensitive::check(cell).is_ok() { format!(" “{cell}”") } else { String::new() };
        self.problems.push(format!("The {}{quoted} is none of: {known}.", self.called(column)));
    }

    /// Reads all cells, whatever is wrong with one.
    fn read(&mut self) -> Option<NewRow> {
        let kind = self.kind();
        let trust = self.trust();
        let sorted = self.sorted(kind);
        let mut body = Map::new();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                body.insert(name.to_owned(), Json::from(value));
            }
        };
        put("workspace_id", &self.review.workspace.id().to_string());
        put("label", self.cell(Column::Label));
        put("external_reference", self.cell(Column::Reference));
        put("asset_kind", kind.unwrap_or_default().as_str());
        put("trust_id", &trust.map(|trust| trust.id.to_string()).unwrap_or_default());
        let new = input::read::<NewFundingItem>(body.clone().into());
        let read = self.or_problems(new);
        let is_read = read.is_some();
        // What is beside an unreadable label or reference is checked as of another item.
        let new = read.or_else(|| {
            body.remove("external_reference");
            body.insert("label".to_owned(), STAND_IN.into());
            input::read(body.into()).ok()
        })?;
        let new = NewFundingItem { sorted: sorted.map(Box::new), ..new };
        // What fits an unknown kind is unknown too.
        kind?;
        let item = FundingItem::add(FundingItemId::new(), Place::new(1)?, new.clone(), Actor::system(), self.now);
        let item = self.or_problems(item)?.into_item();
        is_read.then_some(NewRow { new, item, twin: None })
    }

    fn or_problems<T>(&mut self, read: Result<T, FieldErrors>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(errors) => {
                let problem = |error: shared::wire::fields::FieldError| match error.code {
                    FieldCode::VerbNotAllowed => self.verb_not_possible(),
                    _ => format!("The {} {}.", self.column_of(&error.field), error.message),
                };
                let problems: Vec<String> = errors.into_list().into_iter().map(problem).collect();
                self.problems.extend(problems);
                None
            }
        }
    }

    fn verb_not_possible(&self) -> String {
        let kind = self.cell(Column::AssetKind).to_lowercase();
        let kind = AssetKind::ALL.into_iter().find(|one| is_kind(*one, &kind)).unwrap_or_default();
        let fitting: Vec<&str> = kind.verbs().map(Verb::as_str).collect();
        let (column, verb) = (self.called(Column::Verb), self.cell(Column::Verb));
        format!("The {column} {verb} isn’t possible for {kind}. Use {}.", one_of(&fitting))
    }

    fn column_of<'b>(&self, field: &'b str) -> &'b str
    where
        'a: 'b,
    {
        match field.strip_prefix("detail.").and_then(Fact::parse) {
            Some(fact) => self.called(Column::Fact(fact)),
            None if field == "detail" => "facts together",
            None => Column::named(field).map_or(field, |column| self.called(column)),
        }
    }

    /// What else is known: verb, owners and facts. None if nothing is.
    fn sorted(&mut self, kind: Option<AssetKind>) -> Option<FundingItemChanges> {
        let mut body = Map::new();
        if let Some(verb) = self.verb(kind) {
            body.insert("verb".to_owned(), verb.as_str().into());
        }
        let owners = self.owners();
        if !owners.is_empty() {
            body.insert("owner_contact_ids".to_owned(), owners.into());
        }
        let facts = self.facts(kind);
        if !facts.is_empty() {
            body.insert("detail".to_owned(), facts.into());
        }
        if body.is_empty() {
            return None;
        }
        let read = input::read::<FundingItemChanges>(body.into());
        self.or_problems(read)
    }

    fn facts(&mut self, kind: Option<AssetKind>) -> Map<String, Json> {
        let mut detail = Map::new();
        let currency = self.cell(Column::Fact(Fact::Currency));
        for fact in Fact::ALL {
            let cell = self.cell(Column::Fact(fact));
            if cell.is_empty() {
                continue;
            }
            let name = self.called(Column::Fact(fact));
            if let Some(kind) = kind.filter(|kind| !kind.facts().contains(&fact)) {
                let names: Vec<&str> = kind.facts().iter().map(|fact| fact.name_in_files()).collect();
                self.problems.push(format!("The {name} is no fact of the kind {kind}; known: {}.", names.join(", ")));
                continue;
            }
            match typed_value(fact, cell, currency) {
                Ok(value) => drop(detail.insert(fact.to_string(), value)),
                Err(Wrong::NoCurrency) => {
                    self.problems.push(format!("The {} {NO_CURRENCY}.", self.called(Column::Fact(Fact::Currency))));
                }
                Err(Wrong::Value(_, message)) => self.problems.push(format!("The {name} {message}.")),
            }
        }
        detail
    }

    fn kind(&mut self) -> Option<AssetKind> {
        let text = self.cell(Column::AssetKind).to_lowercase();
        if text.is_empty() {
            return Some(AssetKind::Other);
        }
        let found = AssetKind::ALL.into_iter().find(|kind| is_kind(*kind, &text));
        if found.is_none() {
            let known: Vec<&str> = AssetKind::ALL.iter().map(|kind| kind.as_str()).collect();
            self.is_none_of(Column::AssetKind, &known.join(", "));
        }
        found
    }

    fn verb(&mut self, kind: Option<AssetKind>) -> Option<Verb> {
        let text = self.cell(Column::Verb).to_lowercase();
        if text.is_empty() {
            return None;
        }
        let fits = |verb: &Verb| verb.as_str() == text || words::verb(*verb).to_lowercase() == text;
        let found = Verb::ALL.into_iter().find(fits);
        if found.is_none() {
            let fits = |verb: &Verb| kind.is_none_or(|kind| kind.verbs().any(|one| one == *verb));
            let known: Vec<&str> = Verb::ALL.into_iter().filter(fits).map(Verb::as_str).collect();
            self.is_none_of(Column::Verb, &known.join(", "));
        }
        found
    }

    fn trust(&mut self) -> Option<&'a Trust> {
        let text = self.cell(Column::Trust);
        if text.is_empty() {
            return None;
        }
        let wanted = Folded::new(text);
        let fits = |trust: &&Trust| trust.id.to_string() == text || trust.search_text() == wanted;
        let mut found = self.review.schedule.trusts.iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(trust), None) => return Some(trust),
            (Some(_), Some(_)) => {
                self.problems.push(format!("Several trusts are named “{text}”: use the id of one."));
            }
            (None, _) if sensitive::check(text).is_err() => {
                self.problems.push("No trust of this workspace has this name.".to_owned());
            }
            (None, _) => self.problems.push(format!("No trust of this workspace is named “{text}”.")),
        }
        None
    }

    /// The owners' ids: people of the workspace and its trusts, by name or id.
    fn owners(&mut self) -> Vec<String> {
        let text = self.cell(Column::Owners);
        // A name may contain the separator.
        if let Ok(Some(one)) = person(&self.review.people, text) {
            return vec![one.id.to_string()];
        }
        let names = text.split(OWNERS_SEPARATOR.trim()).map(str::trim).filter(|name| !name.is_empty());
        let mut owners = Vec::new();
        for name in names {
            match person(&self.review.people, name) {
                Ok(Some(one)) => owners.push(one.id.to_string()),
                Ok(None) if sensitive::check(name).is_err() => {
                    self.problems.push("No one in this workspace has the name of an owner.".to_owned());
                }
                Ok(None) => self.problems.push(format!("No one in this workspace is named “{name}”.")),
                Err(Several) => self.problems.push(format!("Several people are named “{name}”: use the id of one.")),
            }
        }
        owners
    }
}

fn is_kind(kind: AssetKind, text: &str) -> bool {
    kind.as_str() == text || words::asset_kind(kind).to_lowercase() == text
}

struct Several;

fn person<'a>(people: &'a [Contact], text: &str) -> Result<Option<&'a Contact>, Several> {
    if text.is_empty() {
        return Ok(None);
    }
    let wanted = Folded::new(text);
    let fits = |one: &&Contact| one.id.to_string() == text || Folded::new(one.display_name.as_str()) == wanted;
    let mut found = people.iter().filter(fits);
    match (found.next(), found.next()) {
        (found, None) => Ok(found),
        (_, Some(_)) => Err(Several),
    }
}

fn there(review: &WorkspaceFundingReview, parsed: &Parsed, import: Uuid) -> Vec<bool> {
    let known: HashSet<FundingItemId> = review.schedule.items.iter().map(FundingItem::id).collect();
    (0..parsed.rows.len()).map(|at| known.contains(&row_id(import, at))).collect()
}

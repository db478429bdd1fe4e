//! A table's items, for operators' tests to inspect and damage directly.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use shared::store::Item;
use tests::stack::Table;

pub type Keys = (String, String);

#[derive(Clone)]
pub struct Items(pub BTreeMap<Keys, Item>);

#[derive(Clone)]
pub enum Edit {
    Put(Item),
    Delete(Keys),
}

pub fn text<'a>(item: &'a Item, name: &str) -> &'a str {
    item.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
}

pub fn keys_of(item: &Item) -> Keys {
    (text(item, "pk").to_owned(), text(item, "sk").to_owned())
}

pub fn with(item: &Item, name: &str, value: AttributeValue) -> Item {
    let mut item = item.clone();
    item.insert(name.to_owned(), value);
    item
}

pub fn string(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub fn moved(item: &Item, partition: &str, sort: &str) -> Item {
    with(&with(item, "pk", string(partition)), "sk", string(sort))
}

pub fn bare(partition: &str, sort: &str) -> Item {
    moved(&Item::new(), partition, sort)
}

pub fn deleted(item: &Item) -> Vec<Edit> {
    vec![Edit::Delete(keys_of(item))]
}

pub fn put(item: Item) -> Vec<Edit> {
    vec![Edit::Put(item)]
}

impl Items {
    pub async fn of(table: &Table) -> Self {
        let pages = table.client().scan().table_name(&table.name).consistent_read(true).into_paginator().items().send();
        let items = pages.collect::<Result<Vec<_>, _>>().await.expect("the table answers a scan");
        Self(items.into_iter().map(|item| (keys_of(&item), item)).collect())
    }

    pub fn at(&self, partition: &str, sort: &str) -> &Item {
        let found = self.0.get(&(partition.to_owned(), sort.to_owned()));
        found.unwrap_or_else(|| panic!("no item {partition} {sort}"))
    }

    /// Items whose partition key contains `part` (or ends with it, unless it ends in `#`), with this sort prefix.
    pub fn all<'a>(&'a self, part: &'a str, sort: &'a str) -> impl Iterator<Item = &'a Item> {
        let is_in = move |keys: &Keys| if part.ends_with('#') { keys.0.contains(part) } else { keys.0.ends_with(part) };
        let fits = move |keys: &Keys| is_in(keys) && keys.1.starts_with(sort);
        self.0.iter().filter(move |(keys, _)| fits(keys)).map(|(_, item)| item)
    }

    pub fn first<'a>(&'a self, part: &'a str, sort: &'a str) -> &'a Item {
        self.all(part, sort).next().unwrap_or_else(|| panic!("no item {part} {sort}"))
    }

    pub fn find<'a>(&'a self, part: &'a str, sort: &'a str, fits: impl Fn(&Item) -> bool) -> &'a Item {
        self.all(part, sort).find(|item| fits(item)).unwrap_or_else(|| panic!("no such item {part} {sort}"))
    }

    pub async fn restore(&self, table: &Table, keys: impl IntoIterator<Item = Keys>) {
        let edits = keys.into_iter().map(|keys| match self.0.get(&keys) {
            Some(item) => Edit::Put(item.clone()),
            None => Edit::Delete(keys),
        });
        edit(table, edits).await;
    }

    pub fn changes(&self, other: &Self) -> Vec<Keys> {
        let keys = self.0.keys().chain(other.0.keys());
        let mut changed: Vec<Keys> = keys.filter(|keys| self.0.get(*keys) != other.0.get(*keys)).cloned().collect();
        changed.dedup();
        changed
    }
}

pub fn keys_of_edit(edit: &Edit) -> Keys {
    match edit {
        Edit::Put(item) => keys_of(item),
        Edit::Delete(keys) => keys.clone(),
    }
}

pub async fn edit(table: &Table, edits: impl IntoIterator<Item = Edit>) {
    let client = table.client();
    for edit in edits {
        match edit {
            Edit::Put(item) => {
                client.put_item().table_name(&table.name).set_item(Some(item)).send().await.expect("a put");
            }
            Edit::Delete((partition, sort)) => {
                let key = bare(&partition, &sort);
                client.delete_item().table_name(&table.name).set_key(Some(key)).send().await.expect("a delete");
            }
        }
    }
}

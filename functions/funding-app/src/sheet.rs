//! The columns of CSV files of funding items: exports have all of them, imports read those that define an item.

use shared::domain::funding::{AssetKind, Fact};
use shared::text::funding_words as words;

use crate::import::columns::{ImportColumn, plain};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Label,
    AssetKind,
    Verb,
    Trust,
    Owners,
    Reference,
    Fact(Fact),
    /// Only in exports; imports ignore it.
    Told(&'static str),
}

/// The separator of an item's owners, since names contain commas.
pub(super) const OWNERS_SEPARATOR: &str = "; ";

const TOLD: [&str; 16] = [
    "phase",
    "status",
    "done",
    "waiting_on",
    "missing_facts",
    "next_step",
    "claimed_at",
    "claim_recorded_by",
    "proof_source",
    "proof_dated",
    "proof_state",
    "proof_accepted_at",
    "close_reason",
    "agreement_id",
    "id",
    "app_url",
];

const OWN: [Column; 6] =
    [Column::Label, Column::AssetKind, Column::Verb, Column::Trust, Column::Owners, Column::Reference];

impl Column {
    pub fn all() -> impl Iterator<Item = Self> {
        Self::imported().chain(TOLD.map(Self::Told))
    }

    fn other_names(self) -> &'static [&'static str] {
        match self {
            Self::Label => &["name", "asset", "item"],
            Self::AssetKind => &["kind", "type"],
            Self::Verb => &["what_is_to_be_done", "action"],
            Self::Trust => &["trust_id", "formal_name"],
            Self::Owners => &["owner"],
            Self::Reference => &["reference", "your_reference"],
            Self::Fact(_) | Self::Told(_) => &[],
        }
    }
}

impl ImportColumn for Column {
    const NEEDED: Self = Self::Label;

    fn imported() -> impl Iterator<Item = Self> {
        OWN.into_iter().chain(Fact::ALL.map(Self::Fact))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::AssetKind => "asset_kind",
            Self::Verb => "verb",
            Self::Trust => "trust",
            Self::Owners => "owners",
            Self::Reference => "external_reference",
            Self::Fact(fact) => fact.name_in_files(),
            Self::Told(name) => name,
        }
    }

    fn named(name: &str) -> Option<Self> {
        let name = plain(name);
        let fits = |column: &Self| {
            let is_label = matches!(column, Self::Fact(fact) if plain(fact.label()) == name);
            column.name() == name || column.other_names().contains(&name.as_str()) || is_label
        };
        Self::all().find(fits)
    }
}

/// The facts of a kind, for people who prepare a file: the columns that each verb needs.
pub(super) struct KindHelp {
    pub kind: &'static str,
    pub name: &'static str,
    pub verbs: Vec<VerbHelp>,
}

pub(super) struct VerbHelp {
    pub verb: &'static str,
    pub name: &'static str,
    pub facts: Vec<&'static str>,
}

/// The whole table by kind. Leaving out fits every kind and is explained once.
pub(super) fn help() -> Vec<KindHelp> {
    let of = |kind: AssetKind| {
        let verbs = kind.verbs().filter(|verb| *verb != shared::domain::funding::Verb::LeaveOut);
        let verb = |verb| VerbHelp {
            verb: shared::domain::funding::Verb::as_str(verb),
            name: words::verb(verb),
            facts: kind.facts_for(verb).unwrap_or_default().iter().map(|fact| fact.name_in_files()).collect(),
        };
        KindHelp { kind: kind.as_str(), name: words::asset_kind(kind), verbs: verbs.map(verb).collect() }
    };
    AssetKind::ALL.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_column_is_found_by_its_names_and_by_no_other_ones() {
        let mut names = BTreeSet::new();
        for column in Column::all() {
            assert_eq!(Column::named(column.name()), Some(column));
            assert!(names.insert(column.name()), "{column:?}");
            for other in column.other_names() {
                assert_eq!(Column::named(other), Some(column));
                assert!(names.insert(other), "{other}");
            }
        }
        for (name, column) in [
            (" Asset Kind ", Some(Column::AssetKind)),
            ("Last 4 of the account number", Some(Column::Fact(Fact::AccountLast4))),
            ("ACCOUNT-LAST4", Some(Column::Fact(Fact::AccountLast4))),
            ("amount", Some(Column::Fact(Fact::AmountMinor))),
            ("amount_minor", None),
            ("", None),
            ("value", None),
        ] {
            assert_eq!(Column::named(name), column, "{name}");
        }
    }

    #[test]
    fn the_help_has_every_fact_but_the_reason_to_leave_an_asset_out() {
        let told: BTreeSet<&str> = help().into_iter().flat_map(|kind| kind.verbs).flat_map(|verb| verb.facts).collect();
        let all: BTreeSet<&str> =
            Fact::ALL.iter().filter(|fact| **fact != Fact::Reason).map(|fact| fact.name_in_files()).collect();
        assert_eq!(told, all);
    }
}

//! The table of funding (contract, section 2, "Funding item"); `docs/trust-funding.md` has it as a reference.

use std::collections::BTreeSet;

use super::facts::{AssetKind, Detail, Fact, FactValue, Verb};

/// Who keeps the record of an asset: the addressee of documents, whose confirmation proves the transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// Named by a fact, with their function.
    Named(Fact, &'static str),
    /// The recorder of deeds of the county.
    Recorder,
    /// The titling agency of the state.
    TitlingAgency,
    /// An office that no fact names.
    Office(&'static str),
    /// Nobody: the trustees hold the asset.
    Trustees,
}

type Row = (Verb, &'static [Fact], Keeper);

/// What leaving an asset out needs: no trust and no owner. Fits every kind.
pub(super) const LEAVE_OUT: &[Fact] = &[Fact::Reason];

const REAL_ESTATE: &[Fact] = &[Fact::Address, Fact::County, Fact::State, Fact::LegalDescription, Fact::CurrentVesting];
const VEHICLE: &[Fact] = &[Fact::MakeModelYear, Fact::Vin, Fact::State];
const POLICY_BENEFICIARY: &[Fact] = &[Fact::Carrier, Fact::PolicyLast4, Fact::Designation, Fact::SharePercent];
const INSTITUTION: Keeper = Keeper::Named(Fact::Institution, "");
const CARRIER: Keeper = Keeper::Named(Fact::Carrier, "");
const PLATFORM: Keeper = Keeper::Named(Fact::Platform, "");
const POLICY: &[Row] = &[
    (Verb::ChangeBeneficiary, POLICY_BENEFICIARY, CARRIER),
    (Verb::Assign, &[Fact::Carrier, Fact::PolicyLast4], CARRIER),
];
const DIGITAL_ASSET: &[Fact] = &[Fact::Platform, Fact::Description];
const DESCRIPTION: &[Fact] = &[Fact::Description];
const OTHER: Keeper = Keeper::Office("the institution or office that keeps the record of the asset");

/// The table of the contract, section 2.
const TABLE: &[(AssetKind, &[Row])] = &[
    (
        AssetKind::RealEstate,
        &[(Verb::Deed, REAL_ESTATE, Keeper::Recorder), (Verb::ChangeBeneficiary, REAL_ESTATE, Keeper::Recorder)],
    ),
    (
        AssetKind::BankAccount,
        &[
            (
                Verb::Retitle,
                &[Fact::Institution, Fact::AccountType, Fact::AccountLast4, Fact::CurrentTitle],
                INSTITUTION,
            ),
            (Verb::ChangeBeneficiary, &[Fact::Institution, Fact::AccountLast4], INSTITUTION),
            (Verb::Transfer, &[Fact::Institution, Fact::AccountLast4, Fact::AmountMinor, Fact::Currency], INSTITUTION),
        ],
    ),
    (
        AssetKind::BrokerageAccount,
        &[
            (Verb::Retitle, &[Fact::Institution, Fact::AccountLast4, Fact::Registration], INSTITUTION),
            (
                Verb::Transfer,
                &[Fact::Institution, Fact::AccountLast4, Fact::Registration, Fact::ReceivingInstitution],
                INSTITUTION,
            ),
            (Verb::ChangeBeneficiary, &[Fact::Institution, Fact::AccountLast4], INSTITUTION),
        ],
    ),
    (
        AssetKind::RetirementAccount,
        &[(
            Verb::ChangeBeneficiary,
            &[Fact::Institution, Fact::AccountLast4, Fact::PlanType, Fact::Designation, Fact::SharePercent],
            Keeper::Named(Fact::Institution, ", custodian of the plan"),
        )],
    ),
    (AssetKind::LifeInsurance, POLICY),
    (AssetKind::Annuity, POLICY),
    (
        AssetKind::BusinessInterest,
        &[(
            Verb::Assign,
            &[Fact::EntityName, Fact::EntityType, Fact::Interest, Fact::ConsentRequired],
            Keeper::Named(Fact::EntityName, " or its transfer agent"),
        )],
    ),
    (
        AssetKind::Vehicle,
        &[(Verb::Retitle, VEHICLE, Keeper::TitlingAgency), (Verb::ChangeBeneficiary, VEHICLE, Keeper::TitlingAgency)],
    ),
    (AssetKind::PersonalProperty, &[(Verb::Assign, DESCRIPTION, Keeper::Trustees)]),
    (AssetKind::DigitalAsset, &[(Verb::Transfer, DIGITAL_ASSET, PLATFORM), (Verb::Assign, DIGITAL_ASSET, PLATFORM)]),
    (
        AssetKind::PromissoryNote,
        &[(
            Verb::Assign,
            &[Fact::DebtorName, Fact::PrincipalMinor, Fact::Currency, Fact::Secured],
            Keeper::Named(Fact::DebtorName, ""),
        )],
    ),
    (
        AssetKind::IntellectualProperty,
        &[(
            Verb::Assign,
            &[Fact::IpType, Fact::RegistrationNumber],
            Keeper::Office("the office where the right is registered"),
        )],
    ),
    (
        AssetKind::Other,
        &[
            (Verb::Deed, DESCRIPTION, OTHER),
            (Verb::Retitle, DESCRIPTION, OTHER),
            (Verb::ChangeBeneficiary, DESCRIPTION, OTHER),
            (Verb::Transfer, DESCRIPTION, OTHER),
            (Verb::Assign, DESCRIPTION, OTHER),
        ],
    ),
];

impl AssetKind {
    fn rows(self) -> impl Iterator<Item = Row> {
        TABLE.iter().filter(move |(kind, _)| *kind == self).flat_map(|(_, rows)| rows.iter().copied())
    }

    /// The fitting verbs in table order; [`Verb::LeaveOut`] last.
    pub fn verbs(self) -> impl Iterator<Item = Verb> {
        self.rows().map(|(verb, ..)| verb).chain([Verb::LeaveOut])
    }

    /// The facts that a verb needs, in table order. None if it doesn't fit the kind.
    #[must_use]
    pub fn facts_for(self, verb: Verb) -> Option<&'static [Fact]> {
        if verb == Verb::LeaveOut {
            return Some(LEAVE_OUT);
        }
        self.rows().find(|(known, ..)| *known == verb).map(|(_, facts, _)| facts)
    }

    /// All facts that the kind may have, for any verb.
    #[must_use]
    pub fn facts(self) -> BTreeSet<Fact> {
        self.rows().flat_map(|(_, facts, _)| facts).chain(LEAVE_OUT).copied().collect()
    }

    /// The record keeper, if the verb fits and leads to a document.
    #[must_use]
    pub fn keeper(self, verb: Verb) -> Option<Keeper> {
        self.rows().find(|(known, ..)| *known == verb).map(|(.., keeper)| keeper)
    }
}

impl Keeper {
    /// The keeper in words, given an asset's facts. None for [`Keeper::Trustees`], who are named elsewhere.
    #[must_use]
    pub fn in_words(self, detail: &Detail) -> Option<String> {
        self.described(|fact| detail.get(fact).map_or_else(|| "…".to_owned(), FactValue::display))
    }

    fn described(self, fact: impl Fn(Fact) -> String) -> Option<String> {
        Some(match self {
            Self::Named(name, behind) => format!("{}{behind}", fact(name)),
            Self::Recorder => format!("the recorder of deeds of {}, {}", fact(Fact::County), fact(Fact::State)),
            Self::TitlingAgency => format!("the titling agency of {}", fact(Fact::State)),
            Self::Office(office) => office.to_owned(),
            Self::Trustees => return None,
        })
    }
}

fn reference() -> String {
    let code = |name: &str| format!("`{name}`");
    let listed = |facts: &[Fact]| facts.iter().map(|fact| code(fact.as_str())).collect::<Vec<_>>().join(", ");
    let row = |kind: AssetKind, (verb, facts, keeper): Row| {
        let keeper = keeper.described(|fact| code(fact.as_str())).unwrap_or_else(|| "the trustees".to_owned());
        format!("| `{kind}` | `{verb}` | {} | {keeper} |\n", listed(facts))
    };
    let rows = AssetKind::ALL.into_iter().flat_map(|kind| kind.rows().map(move |found| row(kind, found)));
    let head =
        "| `asset_kind` | `verb` | Facts that it needs in `detail` | Who keeps the record |\n|---|---|---|---|\n";
    let rows: String = rows.collect();
    format!("{head}{rows}| every kind | `leave_out` | {} | |\n", listed(LEAVE_OUT))
}

const MARKS: [&str; 2] = ["<!-- Begin of the table, which `make generate` writes -->\n", "<!-- End of the table -->\n"];

/// Replaces the table between a page's marks. None if it has no marks.
#[must_use]
pub fn with_reference(page: &str) -> Option<String> {
    let (before, rest) = page.split_once(MARKS[0])?;
    let (_, behind) = rest.split_once(MARKS[1])?;
    Some([before, MARKS[0], &reference(), MARKS[1], behind].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_table_as_it_is() {
        let page = include_str!("../../../../docs/trust-funding.md");
        assert_eq!(with_reference(page).as_deref(), Some(page), "`make generate` writes it");
        assert_eq!(with_reference("no marks"), None);
        let rows = AssetKind::ALL.into_iter().map(|kind| kind.rows().count()).sum::<usize>();
        assert_eq!(reference().lines().count(), rows + 3, "the head, and what fits every kind");
    }

    #[test]
    fn whoever_keeps_a_record_is_named_by_facts_that_the_verb_needs() {
        for (kind, rows) in TABLE {
            for (verb, facts, keeper) in *rows {
                let named = keeper.described(|fact| {
                    assert!(facts.contains(&fact), "{kind} {verb}: {fact}");
                    String::new()
                });
                assert_eq!(named.is_none(), *keeper == Keeper::Trustees);
            }
        }
    }
}

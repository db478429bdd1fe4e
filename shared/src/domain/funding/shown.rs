use super::facts::{Detail, Fact, FactType, FactValue};
use crate::domain::money;

impl Fact {
    /// Its name in forms, documents and sentences.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Address => "Address",
            Self::County => "County",
            Self::State => "State",
            Self::LegalDescription => "Legal description",
            Self::CurrentVesting => "Current vesting",
            Self::Institution => "Institution",
            Self::AccountType => "Type of account",
            Self::AccountLast4 => "Last 4 of the account number",
            Self::CurrentTitle => "Current title",
            Self::AmountMinor => "Amount",
            Self::Currency => "Currency",
            Self::Registration => "Registration",
            Self::ReceivingInstitution => "Receiving institution",
            Self::PlanType => "Type of plan",
            Self::Designation => "Designation",
            Self::SharePercent => "Share",
            Self::Carrier => "Carrier",
            Self::PolicyLast4 => "Last 4 of the policy number",
            Self::EntityName => "Name of the entity",
            Self::EntityType => "Type of entity",
            Self::Interest => "Interest",
            Self::ConsentRequired => "Consent required",
            Self::MakeModelYear => "Make, model and year",
            Self::Vin => "VIN",
            Self::Description => "Description",
            Self::Platform => "Platform",
            Self::DebtorName => "Name of the debtor",
            Self::PrincipalMinor => "Principal",
            Self::Secured => "Secured",
            Self::IpType => "Type of right",
            Self::RegistrationNumber => "Registration number",
            Self::Reason => "Reason",
        }
    }

    /// Its name in files, where amounts are written as people write them: the API's name without the unit.
    #[must_use]
    pub fn name_in_files(self) -> &'static str {
        let name = self.as_str();
        if self.fact_type() == FactType::Amount { name.strip_suffix("_minor").unwrap_or(name) } else { name }
    }
}

impl Detail {
    /// The currency of its amount, if it has both.
    #[must_use]
    pub fn currency_of_amount(&self) -> Option<&str> {
        let has_amount = self.facts().keys().any(|fact| fact.fact_type() == FactType::Amount);
        match self.get(Fact::Currency).filter(|_| has_amount) {
            Some(FactValue::Text(code)) => Some(code),
            _ => None,
        }
    }

    /// The names and values of the wanted facts, for display. An amount includes its currency.
    pub fn for_people<'a>(
        &'a self,
        wanted: impl IntoIterator<Item = Fact> + 'a,
    ) -> impl Iterator<Item = (&'static str, String)> + 'a {
        let currency = self.currency_of_amount();
        let shown = wanted.into_iter().filter(move |fact| *fact != Fact::Currency || currency.is_none());
        shown.filter_map(move |fact| Some((fact.label(), in_words(fact, self.get(fact)?, currency))))
    }
}

fn in_words(fact: Fact, value: &FactValue, currency: Option<&str>) -> String {
    match (fact.fact_type(), value, currency) {
        (FactType::Amount, FactValue::Number(number), Some(currency)) => match number.as_i64() {
            Some(minor) => money::in_app(minor, currency),
            None => value.display(),
        },
        (FactType::Amount, _, None) => format!("{} in minor units of a currency that is not known", value.display()),
        (FactType::Percent, FactValue::Number(_), _) => format!("{}%", value.display()),
        _ => value.display(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(detail: serde_json::Value) -> Vec<(&'static str, String)> {
        let detail: Detail = serde_json::from_value(detail).unwrap();
        detail.for_people(Fact::ALL).collect()
    }

    #[test]
    fn amounts_come_with_their_currency_and_shares_with_their_sign() {
        let all = json!({
            "institution": "First", "amount_minor": 125_000, "currency": "USD", "share_percent": 33.25, "secured": false,
        });
        let expected = [("Institution", "First"), ("Amount", "$1,250.00 USD"), ("Share", "33.25%"), ("Secured", "No")];
        assert_eq!(shown(all), expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(
            shown(json!({"principal_minor": 5_000, "currency": "JPY"})),
            [("Principal", "¥5,000 JPY".to_owned())]
        );
        assert_eq!(shown(json!({"currency": "USD"})), [("Currency", "USD".to_owned())]);
        assert_eq!(
            shown(json!({"amount_minor": 7})),
            [("Amount", "7 in minor units of a currency that is not known".to_owned())]
        );
        assert_eq!(shown(json!({"share_percent": 50.0})), [("Share", "50%".to_owned())]);
    }

    #[test]
    fn no_two_facts_have_the_same_name() {
        for name in [Fact::label, Fact::name_in_files] {
            let names: std::collections::BTreeSet<&str> = Fact::ALL.iter().map(|fact| name(*fact)).collect();
            assert_eq!(names.len(), Fact::ALL.len());
        }
        assert!(Fact::ALL.iter().all(|fact| !fact.label().contains("minor")));
    }
}

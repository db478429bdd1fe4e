//! Kinds of assets, verbs and facts. [`table`](super::table) says which kind has which.

use std::collections::BTreeMap;

use deserr::{Deserr, IntoValue, Map, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::{Number, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::sensitive;
use crate::domain::money::Currency;
use crate::limits;
use crate::wire::enums::text_enum;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text;

text_enum! {
    /// What kind of asset it is. It decides which verbs fit and which facts `detail` may have.
    #[derive(Default)]
    pub enum AssetKind {
        /// Land or a building.
        RealEstate = "real_estate",
        /// An account at a bank.
        BankAccount = "bank_account",
        /// An account with securities.
        BrokerageAccount = "brokerage_account",
        /// An account for retirement, such as an IRA.
        RetirementAccount = "retirement_account",
        /// A life insurance policy.
        LifeInsurance = "life_insurance",
        /// An annuity.
        Annuity = "annuity",
        /// A share of a business.
        BusinessInterest = "business_interest",
        /// A vehicle with a title.
        Vehicle = "vehicle",
        /// Things: art, furniture, jewelry.
        PersonalProperty = "personal_property",
        /// Coins, tokens and accounts on platforms. Never put keys in its facts.
        DigitalAsset = "digital_asset",
        /// A promissory note that is owed to the owner.
        PromissoryNote = "promissory_note",
        /// A patent, a trademark, a copyright.
        IntellectualProperty = "intellectual_property",
        /// Anything else.
        #[default]
        Other = "other",
    }
}

text_enum! {
    /// What is to be done with an asset. Which ones fit depends on its kind.
    pub enum Verb {
        /// A deed transfers it.
        Deed = "deed",
        /// Its title is changed to the trust.
        Retitle = "retitle",
        /// The trust becomes its beneficiary.
        ChangeBeneficiary = "change_beneficiary",
        /// Its balance is transferred.
        Transfer = "transfer",
        /// It is assigned to the trust.
        Assign = "assign",
        /// It stays out of the trust on purpose.
        LeaveOut = "leave_out",
    }
}

text_enum! {
    /// A fact about an asset.
    pub enum Fact {
        /// The postal address.
        Address = "address",
        /// The county.
        County = "county",
        /// The state.
        State = "state",
        /// The legal description of the land.
        LegalDescription = "legal_description",
        /// How title is held now.
        CurrentVesting = "current_vesting",
        /// The institution.
        Institution = "institution",
        /// The type of the account.
        AccountType = "account_type",
        /// The last 4 characters of the account's number, never more.
        AccountLast4 = "account_last4",
        /// The title that the account has now.
        CurrentTitle = "current_title",
        /// The amount, in minor units of the currency.
        AmountMinor = "amount_minor",
        /// The currency (ISO 4217).
        Currency = "currency",
        /// How the account is registered now.
        Registration = "registration",
        /// The institution that receives it.
        ReceivingInstitution = "receiving_institution",
        /// The type of the plan.
        PlanType = "plan_type",
        /// Primary or contingent beneficiary, in the institution's own words.
        Designation = "designation",
        /// The share, in percent.
        SharePercent = "share_percent",
        /// The insurance company.
        Carrier = "carrier",
        /// The last 4 characters of the policy's number, never more.
        PolicyLast4 = "policy_last4",
        /// The name of the entity.
        EntityName = "entity_name",
        /// The type of the entity.
        EntityType = "entity_type",
        /// The share or units that are held.
        Interest = "interest",
        /// Whether others have to consent.
        ConsentRequired = "consent_required",
        /// The make, the model and the year.
        MakeModelYear = "make_model_year",
        /// The vehicle identification number.
        Vin = "vin",
        /// A description.
        Description = "description",
        /// The platform.
        Platform = "platform",
        /// The name of who owes it.
        DebtorName = "debtor_name",
        /// What is owed, in minor units of the currency.
        PrincipalMinor = "principal_minor",
        /// Whether it is secured.
        Secured = "secured",
        /// The type of the right.
        IpType = "ip_type",
        /// The number of the registration.
        RegistrationNumber = "registration_number",
        /// Why it stays out of the trust.
        Reason = "reason",
    }
}

/// The form of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactType {
    /// A line of up to 200 characters.
    Line,
    /// A line with a registered identifier, which may be a long number.
    Identifier,
    /// Text, possibly multi-line.
    Lines,
    /// Exactly 4 letters or digits.
    Last4,
    /// Minor units of a currency: an integer above 0.
    Amount,
    /// A currency of ISO 4217.
    Currency,
    /// A number above 0, up to 100.
    Percent,
    /// `true` or `false`.
    Flag,
}

impl Fact {
    /// Its form.
    #[must_use]
    pub fn fact_type(self) -> FactType {
        match self {
            Self::Address
            | Self::LegalDescription
            | Self::CurrentVesting
            | Self::Designation
            | Self::Interest
            | Self::Description
            | Self::Reason => FactType::Lines,
            Self::County
            | Self::State
            | Self::Institution
            | Self::AccountType
            | Self::CurrentTitle
            | Self::Registration
            | Self::ReceivingInstitution
            | Self::PlanType
            | Self::Carrier
            | Self::EntityName
            | Self::EntityType
            | Self::MakeModelYear
            | Self::Platform
            | Self::DebtorName
            | Self::IpType => FactType::Line,
            Self::Vin | Self::RegistrationNumber => FactType::Identifier,
            Self::AccountLast4 | Self::PolicyLast4 => FactType::Last4,
            Self::AmountMinor | Self::PrincipalMinor => FactType::Amount,
            Self::Currency => FactType::Currency,
            Self::SharePercent => FactType::Percent,
            Self::ConsentRequired | Self::Secured => FactType::Flag,
        }
    }

    /// Parses a value of the fact. The error `sensitive_value` takes precedence over errors of form.
    pub fn read(self, value: Given) -> Result<FactValue, (FieldCode, String)> {
        let refused = |code, message: &str| Err((code, message.to_owned()));
        match (self.fact_type(), value) {
            (FactType::Line, Given::Text(text)) => {
                sensitive::check(&text)?;
                text::check_line(&text, limits::NAME_CHARS_MAX).map(FactValue::Text)
            }
            (FactType::Identifier, Given::Text(text)) => {
                sensitive::check_identifier(&text)?;
                text::check_line(&text, limits::NAME_CHARS_MAX).map(FactValue::Text)
            }
            (FactType::Lines, Given::Text(text)) => {
                sensitive::check(&text)?;
                text::check_lines(&text, limits::FACTS_BYTES_MAX).map(FactValue::Text)
            }
            (FactType::Last4, Given::Text(text)) => last4(text.trim()),
            (FactType::Currency, Given::Text(text)) => match Currency::parse(&text) {
                Some(currency) => Ok(FactValue::Text(currency.code().to_owned())),
                None => refused(FieldCode::InvalidValue, "must be a currency of ISO 4217, such as USD"),
            },
            (FactType::Amount, Given::Number(number)) => {
                let Some(number) = integer(number) else {
                    return refused(FieldCode::InvalidType, "must be an integer");
                };
                match number.as_i64() {
                    Some(1..) => Ok(FactValue::Number(number)),
                    _ => refused(FieldCode::OutOfRange, "must be from 1 to 2^63-1"),
                }
            }
            (FactType::Percent, Given::Number(number)) => {
                let percent = number.as_f64().filter(|percent| *percent > 0.0 && *percent <= 100.0);
                match percent {
                    Some(_) => Ok(FactValue::Number(number)),
                    None => refused(FieldCode::OutOfRange, "must be above 0 and at most 100"),
                }
            }
            (FactType::Flag, Given::Flag(flag)) => Ok(FactValue::Flag(flag)),
            (FactType::Line | FactType::Identifier | FactType::Lines | FactType::Last4 | FactType::Currency, _) => {
                refused(FieldCode::InvalidType, "must be a text")
            }
            (FactType::Amount | FactType::Percent, _) => refused(FieldCode::InvalidType, "must be a number"),
            (FactType::Flag, _) => refused(FieldCode::InvalidType, "must be true or false"),
        }
    }

    fn about(self) -> String {
        let about = Self::ALL.iter().position(|fact| *fact == self).and_then(|at| {
            let RefOr::T(Schema::Object(all)) = <Self as PartialSchema>::schema() else { return None };
            all.extensions?.get("x-enum-descriptions")?.get(at)?.as_str().map(str::to_owned)
        });
        let needed_by = |kind: &AssetKind| {
            let needs = |verb: &Verb| kind.facts_for(*verb).is_some_and(|facts| facts.contains(&self));
            let verbs: Vec<&str> = kind.verbs().filter(needs).map(Verb::as_str).collect();
            (!verbs.is_empty()).then(|| format!("`{kind}` ({})", verbs.join(", ")))
        };
        let needed: Vec<String> = AssetKind::ALL.iter().filter_map(needed_by).collect();
        let needed = if self == Self::Reason { "every kind (leave_out)".to_owned() } else { needed.join(", ") };
        format!("{} Needed by {needed}.", about.unwrap_or_default())
    }

    fn example(self) -> serde_json::Value {
        match self {
            Self::Address => json!("12 Harbor Street, Portland, ME 04101"),
            Self::County => json!("Cumberland"),
            Self::State => json!("Maine"),
            Self::LegalDescription => json!("Lot 14, Harbor View, Plan Book 7, page 31"),
            Self::CurrentVesting => json!("Ruth Ellery, a single person"),
            Self::Institution => json!("First National"),
            Self::AccountType => json!("Checking"),
            Self::AccountLast4 => json!("4411"),
            Self::CurrentTitle => json!("Ruth Ellery"),
            Self::AmountMinor => json!(12_500_000),
            Self::Currency => json!("USD"),
            Self::Registration => json!("Ruth Ellery, individual"),
            Self::ReceivingInstitution => json!("Harbor Trust Company"),
            Self::PlanType => json!("Traditional IRA"),
            Self::Designation => json!("Primary"),
            Self::SharePercent => json!(50),
            Self::Carrier => json!("Mutual of Portland"),
            Self::PolicyLast4 => json!("20B7"),
            Self::EntityName => json!("Ellery Boats, LLC"),
            Self::EntityType => json!("LLC"),
            Self::Interest => json!("40 of 100 units"),
            Self::ConsentRequired => json!(true),
            Self::MakeModelYear => json!("Volvo V60, 2023"),
            Self::Vin => json!("YV1LZ68UDP1234567"),
            Self::Description => json!("Oil on canvas, 1911"),
            Self::Platform => json!("Harbor Exchange"),
            Self::DebtorName => json!("Leo Ames"),
            Self::PrincipalMinor => json!(4_000_000),
            Self::Secured => json!(false),
            Self::IpType => json!("Trademark"),
            Self::RegistrationNumber => json!("5,123,456"),
            Self::Reason => json!("It passes by beneficiary designation."),
        }
    }

    fn schema(self) -> ObjectBuilder {
        let schema = ObjectBuilder::new().description(Some(self.about())).examples([self.example()]);
        match self.fact_type() {
            FactType::Line | FactType::Identifier => schema
                .schema_type(Type::String)
                .min_length(Some(1))
                .pattern(Some(text::line_pattern(limits::NAME_CHARS_MAX))),
            FactType::Lines => {
                schema.schema_type(Type::String).min_length(Some(1)).pattern(Some(text::lines_pattern(None)))
            }
            FactType::Last4 => schema.schema_type(Type::String).pattern(Some("^[0-9A-Za-z]{4}$")),
            FactType::Amount => schema.schema_type(Type::Integer).minimum(Some(1)),
            FactType::Currency => schema.schema_type(Type::String).pattern(Some("^[A-Z]{3}$")),
            FactType::Percent => schema.schema_type(Type::Number).exclusive_minimum(Some(0)).maximum(Some(100)),
            FactType::Flag => schema.schema_type(Type::Boolean),
        }
    }
}

/// Checks the last 4 characters of a number. More would give the number away.
fn last4(text: &str) -> Result<FactValue, (FieldCode, String)> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits > 4 {
        return Err((
            FieldCode::SensitiveValue,
            "must be the last 4 characters only, never the whole number".to_owned(),
        ));
    }
    if text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(FactValue::Text(text.to_owned()));
    }
    Err((FieldCode::InvalidFormat, "must be exactly 4 letters or digits".to_owned()))
}

/// A value as sent or typed, before it is parsed as a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A text.
    Text(String),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Flag(bool),
    /// A list or object, which no fact is.
    Nested,
}

/// The valid value of a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FactValue {
    /// A text.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(Number),
}

impl FactValue {
    /// The value for display.
    #[must_use]
    pub fn display(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => if *flag { "Yes" } else { "No" }.to_owned(),
            // Omits the `.0` of an integer sent with a point.
            Self::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(float) => float.to_string(),
                None => number.to_string(),
            },
        }
    }
}

/// The facts of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Detail(BTreeMap<Fact, FactValue>);

impl Detail {
    /// The facts, in declaration order.
    #[must_use]
    pub fn facts(&self) -> &BTreeMap<Fact, FactValue> {
        &self.0
    }

    /// The value of a fact.
    #[must_use]
    pub fn get(&self, fact: Fact) -> Option<&FactValue> {
        self.0.get(&fact)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its size in bytes of JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(usize::MAX, |bytes| bytes.len())
    }

    /// The facts after a change, without those of other kinds; `too_long` beyond [`limits::FACTS_BYTES_MAX`].
    pub(super) fn changed(&self, kind: AssetKind, changes: &DetailChanges) -> Result<Self, FieldErrors> {
        let known = kind.facts();
        let mut errors = FieldErrors::default();
        let mut next = self.clone();
        next.0.retain(|fact, _| known.contains(fact));
        for (fact, value) in &changes.0 {
            match value {
                // Removing an absent fact changes nothing, whatever the kind.
                None => drop(next.0.remove(fact)),
                Some(value) if known.contains(fact) => drop(next.0.insert(*fact, value.clone())),
                Some(_) => {
                    let names: Vec<&str> = known.iter().map(|fact| fact.as_str()).collect();
                    let message = format!("is no fact of the kind {kind}; known: {}", names.join(", "));
                    errors.extend(FieldErrors::one(format!("detail.{fact}"), FieldCode::UnknownField, message));
                }
            }
        }
        if next.bytes() > limits::FACTS_BYTES_MAX {
            errors.extend(too_long());
        }
        if errors.is_empty() { Ok(next) } else { Err(errors) }
    }
}

fn too_long() -> FieldErrors {
    let message = format!("must have at most {} bytes of JSON in all", limits::FACTS_BYTES_MAX);
    FieldErrors::one("detail", FieldCode::TooLong, message)
}

/// Changes of facts: each is set, or removed with `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetailChanges(BTreeMap<Fact, Option<FactValue>>);

impl DetailChanges {
    /// Changes from individually parsed facts.
    pub fn of(changes: impl IntoIterator<Item = (Fact, Option<FactValue>)>) -> Self {
        Self(changes.into_iter().collect())
    }

    /// The changes.
    #[must_use]
    pub fn changes(&self) -> &BTreeMap<Fact, Option<FactValue>> {
        &self.0
    }
}

/// A number as an integer, which `103.0` is too (JSON Schema, section 4.2.3). Floats beyond 2^53 may have been rounded.
fn integer(number: Number) -> Option<Number> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(number);
    }
    let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT_MAX)?;
    format!("{whole:.0}").parse::<i64>().ok().map(Number::from)
}

impl Deserr<FieldErrors> for DetailChanges {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let map = match value {
            Value::Map(map) => map,
            Value::Null => return Err(FieldErrors::at(location, FieldCode::Required, "is required")),
            _ => return Err(FieldErrors::at(location, FieldCode::InvalidType, "must be an object of facts")),
        };
        let (mut changes, mut errors) = (BTreeMap::new(), FieldErrors::default());
        for (name, value) in map.into_iter() {
            let at = location.push_key(&name);
            let Some(fact) = Fact::parse(&name) else {
                errors.add_at(at, FieldCode::UnknownField, "is no fact of any kind of asset");
                continue;
            };
            let given = match value.into_value() {
                Value::Null => {
                    changes.insert(fact, None);
                    continue;
                }
                Value::String(text) => Given::Text(text),
                Value::Boolean(flag) => Given::Flag(flag),
                Value::Integer(number) => Given::Number(number.into()),
                Value::NegativeInteger(number) => Given::Number(number.into()),
                Value::Float(number) => Number::from_f64(number).map_or(Given::Nested, Given::Number),
                Value::Sequence(_) | Value::Map(_) => Given::Nested,
            };
            match fact.read(given) {
                Ok(value) => drop(changes.insert(fact, Some(value))),
                Err((code, message)) => errors.add_at(at, code, &message),
            }
        }
        let set = changes.iter().filter_map(|(fact, value)| Some((*fact, value.clone()?))).collect();
        if Detail(set).bytes() > limits::FACTS_BYTES_MAX {
            errors.extend(too_long());
        }
        if errors.is_empty() { Ok(Self(changes)) } else { Err(errors) }
    }
}

const ABOUT_DETAIL: &str = "Facts about the asset, by their names. Which ones it may have depends on `asset_kind`, and which \
ones it needs on `verb`. All of them together have at most 4 KiB as JSON. What looks like a full account number, a card \
number, a social security number or a key is refused with `sensitive_value`.";

impl PartialSchema for Detail {
    fn schema() -> RefOr<Schema> {
        let object = ObjectBuilder::new()
            .description(Some(ABOUT_DETAIL))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .examples([json!({"institution": "First National", "account_last4": "4411"})]);
        Fact::ALL.iter().fold(object, |object, fact| object.property(fact.as_str(), fact.schema())).into()
    }
}

impl ToSchema for Detail {
    fn name() -> std::borrow::Cow<'static, str> {
        "FundingDetail".into()
    }
}

impl PartialSchema for DetailChanges {
    fn schema() -> RefOr<Schema> {
        let object = ObjectBuilder::new()
            .description(Some(format!("{ABOUT_DETAIL} Facts that are left out stay; `null` removes one.")))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .examples([json!({"institution": "First National", "account_last4": "4411", "amount_minor": null})]);
        let nullable = |fact: &Fact| {
            let none = ObjectBuilder::new().schema_type(Type::Null);
            OneOfBuilder::new().item(none).item(fact.schema()).description(Some(fact.about()))
        };
        Fact::ALL.iter().fold(object, |object, fact| object.property(fact.as_str(), nullable(fact))).into()
    }
}

impl ToSchema for DetailChanges {
    fn name() -> std::borrow::Cow<'static, str> {
        "FundingDetailChanges".into()
    }
}

//! The form that sorts an item: kind, verb, owners and facts, named as in the API. The table determines the facts.

use pages::chosen::{self, NAMED, NamedFields};
use pages::fields::Fields;
use pages::form;
use pages::form::Field;
use serde_json::{Map, Value as Json};
use shared::domain::contact::{ContactKind, NewContact};
use shared::domain::funding::facts::Given;
use shared::domain::funding::input::FundingItemChanges;
use shared::domain::funding::{AssetKind, Fact, FactType, FactValue, FundingItem, Verb, sensitive};
use shared::domain::money::{self, Currency};
use shared::limits;
use shared::service::funding_items::NAMED_OWNER;
use shared::service::funding_review::ItemReview;
use shared::text::funding_words as words;
use shared::web::Form;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::input;

use crate::{Choice, kinds, people_choices, trust_choices, verbs};

form! {
    /// What an item is: kind, action, owners and facts.
    pub(crate) FACTS_FORM: FactsForm {
        label: Field::line("label", "Label", 200),
        kind: Field::choice("asset_kind", "Kind"),
        verb: Field::choice("verb", "Action"),
        trust: Field::choice("trust_id", "Trust"),
        owners: Field::choice("owner.", "Owners"),
        owner_name: NAMED.name,
        owner_kind: NAMED.kind,
        owner_email: NAMED.email,
        facts: Field::choice("detail.", "Facts"),
    }
}

/// The prefix of fact fields, as in the API's paths.
const FACTS: &str = "detail.";
const OWNER: &str = "owner.";

/// The field with the kind whose losses the page has announced.
pub(super) const DROPS: &str = "drops";
/// The field with the verb chosen before the kind was changed.
const VERB_BEFORE: &str = "verb_before";

pub(super) struct Dropped {
    pub kind: AssetKind,
    verb: Option<Verb>,
    facts: Vec<Fact>,
}

impl Dropped {
    /// What a form would drop, both recorded and typed. None if nothing.
    pub fn of(form: &Form, item: &FundingItem) -> Option<Self> {
        Self::by(|name| form.get(name), item)
    }

    fn by<'a>(typed: impl Fn(&str) -> &'a str, item: &FundingItem) -> Option<Self> {
        let kind = AssetKind::parse(typed(FACTS_FORM.kind.name)).filter(|kind| *kind != item.asset_kind())?;
        let verbs = [Verb::parse(typed(FACTS_FORM.verb.name)), item.verb()].into_iter().flatten();
        let verb = verbs.into_iter().find(|verb| kind.facts_for(*verb).is_none());
        let known = kind.facts();
        let is_there = |fact: &Fact| !typed(&field_of(*fact)).trim().is_empty() || item.detail().get(*fact).is_some();
        let facts = Fact::ALL.into_iter().filter(|fact| !known.contains(fact) && is_there(fact));
        let facts: Vec<Fact> = facts.collect();
        (verb.is_some() || !facts.is_empty()).then_some(Self { kind, verb, facts })
    }

    /// Whether the page has announced what this kind drops.
    pub fn is_confirmed(&self, form: &Form) -> bool {
        form.get(DROPS) == self.kind.as_str()
    }

    pub fn told(&self) -> String {
        let verb = self.verb.map(|verb| format!("the action “{}”", words::verb(verb)));
        let facts = self.facts.iter().map(|fact| format!("“{}”", fact.label()));
        let all: Vec<String> = verb.into_iter().chain(facts).collect();
        let kind = words::asset_kind(self.kind);
        format!("The kind “{kind}” has no place for: {}. Press Save facts again to drop this.", all.join(", "))
    }
}

pub(super) struct SortForm {
    pub version: u64,
    pub kinds: Vec<Choice>,
    pub verbs: Vec<Choice>,
    pub trusts: Vec<Choice>,
    pub people: Vec<Choice>,
    /// An owner who isn't one of the people.
    pub new_owner: NamedFields,
    pub contact_kinds: Vec<pages::fields::Choice>,
    /// The names of contacts to suggest.
    pub known: Vec<String>,
    /// The facts needed by the chosen verb, or all of the kind before one is chosen.
    pub needed: Vec<FactField>,
    pub others: Vec<FactField>,
    pub fields: Fields,
    pub about: String,
    pub drops: Option<(String, String)>,
    /// Values typed for another kind, sent along in case the kind is changed back.
    pub kept: Vec<(String, String)>,
}

/// The answers to a fact that holds or doesn't.
pub(super) static FLAG: &[FlagChoice] =
    &[FlagChoice { value: "true", text: "Yes" }, FlagChoice { value: "false", text: "No" }];

pub(super) struct FlagChoice {
    pub value: &'static str,
    pub text: &'static str,
}

pub(super) struct FactField {
    name: String,
    fact: Fact,
}

impl FactField {
    fn of(fact: Fact) -> Self {
        Self { name: field_of(fact), fact }
    }

    pub fn is_flag(&self) -> bool {
        self.fact.fact_type() == FactType::Flag
    }

    pub fn field(&self) -> Field<'_> {
        const LINE: Field<'_> = Field::line("", "", limits::NAME_CHARS_MAX);
        let field = match self.fact.fact_type() {
            FactType::Line => LINE,
            FactType::Identifier => LINE.hint("The whole number. It may be long."),
            FactType::Lines => Field::lines("", "", limits::FACTS_BYTES_MAX, 2),
            FactType::Last4 => Field::line("", "", 20).hint("Exactly 4 letters or digits, never the whole number."),
            FactType::Amount => Field::line("", "", 60).hint("For example 250,000.00, in the currency below."),
            FactType::Currency => Field::line("", "", 3).hint("Three letters, such as USD."),
            FactType::Percent => Field::line("", "", 20).hint("In percent, for example 50 or 33.3."),
            FactType::Flag => Field::choice("", ""),
        };
        field.named(&self.name).labeled(self.fact.label())
    }
}

fn field_of(fact: Fact) -> String {
    format!("{FACTS}{fact}")
}

impl SortForm {
    pub fn new(review: &ItemReview, known: Vec<String>, typed: Option<Fields>) -> Self {
        let ItemReview { item, version, trusts, people, .. } = review;
        let new_owner = NamedFields::new(NAMED_OWNER);
        let fields = typed.unwrap_or_else(|| values_of(item)).over(new_owner.usually(ContactKind::Person));
        let fields = fields.within("sort");
        let kind = AssetKind::parse(fields.value(FACTS_FORM.kind)).unwrap_or(item.asset_kind());
        let needed = Verb::parse(fields.value(FACTS_FORM.verb)).and_then(|verb| kind.facts_for(verb));
        let about = match needed {
            Some([]) | None => "Choose the action first: it decides which facts are needed.".to_owned(),
            Some(_) => "These facts are needed.".to_owned(),
        };
        let drops = Dropped::by(|name| fields.value(name), item);
        let drops = drops.filter(|dropped| fields.value(DROPS) == dropped.kind.as_str());
        let drops = drops.map(|dropped| (dropped.kind.to_string(), dropped.told()));
        let all = kind.facts();
        let kept = kept(&fields, kind);
        let (needed, others): (Vec<Fact>, Vec<Fact>) = match needed {
            Some(needed) => (needed.to_vec(), all.into_iter().filter(|fact| !needed.contains(fact)).collect()),
            None => (all.into_iter().collect(), Vec::new()),
        };
        Self {
            version: *version,
            kinds: kinds(),
            verbs: verbs(kind.verbs()),
            trusts: trust_choices(trusts),
            people: people_choices(people),
            new_owner,
            contact_kinds: chosen::kinds(),
            known,
            needed: needed.into_iter().map(FactField::of).collect(),
            others: others.into_iter().map(FactField::of).collect(),
            fields,
            about,
            drops,
            kept,
        }
    }

    pub fn is_owner(&self, id: &str) -> bool {
        self.fields.is_checked(format!("{OWNER}{id}"))
    }

    pub fn other_is_wrong(&self) -> bool {
        self.others.iter().any(|fact| self.fields.error(&fact.name).is_some())
    }

    pub fn owners_error(&self) -> Option<&str> {
        let at = |at: usize| self.fields.error(format!("owner_contact_ids[{at}]"));
        self.fields.error("owner_contact_ids").or_else(|| (0..limits::FUNDING_CONTACTS_MAX).find_map(at))
    }
}

/// Typed values that the kind lacks, except those no page may show.
fn kept(fields: &Fields, kind: AssetKind) -> Vec<(String, String)> {
    let known = kind.facts();
    let facts = Fact::ALL.into_iter().filter(|fact| !known.contains(fact)).filter_map(|fact| {
        let typed = fields.value(field_of(fact));
        let is_shown = match fact.read(Given::Text(typed.to_owned())) {
            Err((FieldCode::SensitiveValue, _)) => false,
            _ => sensitive::check(typed).is_ok(),
        };
        (!typed.is_empty() && is_shown).then(|| (field_of(fact), typed.to_owned()))
    });
    let verb = Some(fields.value(FACTS_FORM.verb))
        .filter(|verb| Verb::parse(verb).is_some_and(|verb| kind.facts_for(verb).is_none()));
    let verb = verb.unwrap_or(fields.value(VERB_BEFORE));
    let verb = Verb::parse(verb).map(|verb| (VERB_BEFORE.to_owned(), verb.to_string()));
    facts.chain(verb).collect()
}

fn verb_of<'a>(form: &'a Form, kind: AssetKind, item: &FundingItem) -> &'a str {
    let before = form.get(VERB_BEFORE);
    let is_back = kind == item.asset_kind() && form.get(FACTS_FORM.verb).is_empty();
    let fits = Verb::parse(before).is_some_and(|verb| kind.facts_for(verb).is_some());
    if is_back && fits { before } else { form.get(FACTS_FORM.verb) }
}

fn values_of(item: &FundingItem) -> Fields {
    let fact = |(fact, value): (&Fact, &FactValue)| (field_of(*fact), as_typed(item, *fact, value));
    let own = [
        (FACTS_FORM.label.name.to_owned(), item.label().as_str().to_owned()),
        (FACTS_FORM.kind.name.to_owned(), item.asset_kind().to_string()),
        (FACTS_FORM.verb.name.to_owned(), item.verb().map(|verb| verb.to_string()).unwrap_or_default()),
        (FACTS_FORM.trust.name.to_owned(), item.trust_id().map(|id| id.to_string()).unwrap_or_default()),
    ];
    let owners = item.owner_contact_ids().iter().map(|id| (format!("{OWNER}{id}"), "on".to_owned()));
    Fields::of(own.into_iter().chain(owners).chain(item.detail().facts().iter().map(fact)))
}

pub(super) fn read(form: &Form, item: &FundingItem) -> Result<FundingItemChanges, FieldErrors> {
    let kind = AssetKind::parse(form.get(FACTS_FORM.kind)).unwrap_or(item.asset_kind());
    let mut errors = FieldErrors::default();
    let mut detail = Map::new();
    // Facts of the previous kind, still in the form, are dropped with it.
    for fact in kind.facts().into_iter().filter(|fact| form.has(field_of(*fact))) {
        match read_fact(form, item, fact) {
            Ok(value) => drop(detail.insert(fact.to_string(), value)),
            Err(found) => errors.extend(found),
        }
    }
    let or_null = |name: &str| match form.get(name).trim() {
        "" => Json::Null,
        text => Json::from(text),
    };
    let owners: Vec<Json> = form.checked(OWNER).map(Json::from).collect();
    let mut body = Map::new();
    body.insert(FACTS_FORM.label.name.to_owned(), form.get(FACTS_FORM.label).into());
    body.insert(FACTS_FORM.kind.name.to_owned(), form.get(FACTS_FORM.kind).into());
    // A verb that the new kind lacks is dropped with its facts.
    let verb = verb_of(form, kind, item).trim();
    let is_dropped = kind != item.asset_kind() && Verb::parse(verb).is_some_and(|verb| kind.facts_for(verb).is_none());
    body.insert(FACTS_FORM.verb.name.to_owned(), if verb.is_empty() || is_dropped { Json::Null } else { verb.into() });
    body.insert(FACTS_FORM.trust.name.to_owned(), or_null(FACTS_FORM.trust.name));
    body.insert("owner_contact_ids".to_owned(), owners.into());
    body.insert("detail".to_owned(), detail.into());
    match input::read::<FundingItemChanges>(Json::Object(body)) {
        Ok(changes) if errors.is_empty() => Ok(changes),
        Ok(_) => Err(errors),
        Err(found) => {
            errors.extend(found);
            Err(errors)
        }
    }
}

/// The owner whom a form names besides those it chooses.
pub(super) fn read_owner(form: &Form) -> Result<Option<NewContact>, FieldErrors> {
    chosen::is_named(form, NAMED_OWNER).then(|| chosen::read_named(form, NAMED_OWNER)).transpose()
}

/// A fact's value as typed: amounts in people's notation, in the neighboring currency. A caller may have sent an amount
/// without a currency; it is shown in minor units, so that nobody reads it as a hundred times as much.
pub(super) fn as_typed(item: &FundingItem, fact: Fact, value: &FactValue) -> String {
    match (fact.fact_type(), value, item.detail().currency_of_amount()) {
        (FactType::Amount, FactValue::Number(number), Some(code)) => {
            number.as_i64().map_or_else(|| value.display(), |minor| money::in_form(minor, code))
        }
        (FactType::Amount, ..) => format!("{} minor units", value.display()),
        (_, FactValue::Flag(flag), _) => flag.to_string(),
        _ => value.display(),
    }
}

/// The API value of a fact's field. A blank field removes the fact.
fn read_fact(form: &Form, item: &FundingItem, fact: Fact) -> Result<Json, FieldErrors> {
    let text = form.get(field_of(fact));
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    // An unchanged amount in minor units stays as it is, whatever currency is typed.
    if let (FactType::Amount, None, Some(value)) =
        (fact.fact_type(), item.detail().currency_of_amount(), item.detail().get(fact))
        && let FactValue::Number(minor) = value
        && text.trim() == as_typed(item, fact, value)
    {
        return Ok(Json::from(minor.clone()));
    }
    let known = item.detail().get(Fact::Currency).map(FactValue::display).unwrap_or_default();
    let typed = form.get(field_of(Fact::Currency)).trim();
    let code = if typed.is_empty() { known.as_str() } else { typed };
    typed_value(fact, text, code).map_err(|wrong| match wrong {
        Wrong::NoCurrency => FieldErrors::one(field_of(Fact::Currency), FieldCode::Required, NO_CURRENCY),
        Wrong::Value(code, message) => FieldErrors::one(field_of(fact), code, message),
    })
}

pub(super) const NO_CURRENCY: &str = "must be a currency of ISO 4217, such as USD, before an amount can be read";

pub(super) enum Wrong {
    NoCurrency,
    Value(FieldCode, String),
}

/// The API value of typed text, with an amount in the typed currency.
pub(super) fn typed_value(fact: Fact, text: &str, currency: &str) -> Result<Json, Wrong> {
    let trimmed = text.trim();
    let wrong = |message: &str| Wrong::Value(FieldCode::InvalidFormat, message.to_owned());
    match fact.fact_type() {
        FactType::Amount => {
            let currency = Currency::parse(&currency.trim().to_uppercase()).ok_or(Wrong::NoCurrency)?;
            let minor = money::read_minor(text, currency.code());
            minor.map(Json::from).map_err(|error| Wrong::Value(error.code(), error.message(currency.code())))
        }
        FactType::Percent => {
            let number = trimmed.trim_end_matches('%').trim().parse::<serde_json::Number>();
            number.map(Json::from).map_err(|_| wrong("must be a number"))
        }
        FactType::Flag => match trimmed.to_lowercase().as_str() {
            "true" | "yes" | "y" => Ok(Json::from(true)),
            "false" | "no" | "n" => Ok(Json::from(false)),
            _ => Err(wrong("must be yes or no")),
        },
        FactType::Currency => Ok(Json::from(trimmed.to_uppercase())),
        FactType::Line | FactType::Identifier | FactType::Lines | FactType::Last4 => Ok(Json::from(text)),
    }
}

//! Typed answers: drafts, which may be incomplete or wrong, and their parsing when sent.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::bank_details::{self, BankDetails};
use super::{AnswerFile, Given, OpenAnswer, PostalAddress};
use crate::domain::agreement::Label;
use crate::domain::agreement::gate::{FieldType, InformationField};
use crate::domain::bank_account::numbers::ending;
use crate::domain::date_order::DateOrder;
use crate::domain::day::Day;
use crate::domain::ids::FieldId;
use crate::domain::typed_values;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::text::{check_line, check_lines};

const PREFIX: &str = "answer.";
/// The parts of a postal address in a form, and whether each is required.
pub const ADDRESS_PARTS: [(&str, bool); 6] =
    [("line1", true), ("line2", false), ("city", true), ("region", false), ("postal_code", false), ("country", true)];
/// The values of a yes/no answer.
pub const YES_NO: [(&str, &str); 2] = [("yes", "Yes"), ("no", "No")];
/// The part of an input name that removes a draft's file or bank details.
pub const REMOVE: &str = "remove";

/// The name of a question's input, or the prefix of its inputs' names.
#[must_use]
pub fn input_name(field: FieldId) -> String {
    format!("{PREFIX}{field}")
}

/// The name of a part of a question's inputs.
#[must_use]
pub fn part_name(field: FieldId, part: impl fmt::Display) -> String {
    format!("{PREFIX}{field}.{part}")
}

/// Whether an input of this name holds an answer or part of one.
#[must_use]
pub fn is_answer(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Whether an input is never shown again: the number or code of bank details.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let part = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.')).map(|(_, part)| part);
    part.is_some_and(|part| bank_details::SECRET_PARTS.contains(&part))
}

/// Typed answers by input name, and their files.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedAnswers {
    texts: BTreeMap<String, String>,
    files: BTreeMap<FieldId, AnswerFile>,
}

impl fmt::Debug for TypedAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedAnswers(…)")
    }
}

fn names(field: &InformationField) -> Vec<String> {
    match field.field_type {
        FieldType::Address => ADDRESS_PARTS.iter().map(|(part, _)| part_name(field.id, part)).collect(),
        FieldType::BankDetails => bank_details::PARTS.iter().map(|part| part_name(field.id, part)).collect(),
        FieldType::MultiChoice => (0..field.options.len()).map(|option| part_name(field.id, option)).collect(),
        FieldType::File => Vec::new(),
        FieldType::Text
        | FieldType::LongText
        | FieldType::Number
        | FieldType::Date
        | FieldType::Boolean
        | FieldType::Choice => vec![input_name(field.id)],
    }
}

impl TypedAnswers {
    /// The answers of a submitted form. Files and secret bank details stay as saved unless the form changes them.
    #[must_use]
    pub fn submitted<'a>(
        fields: &[InformationField],
        value: impl Fn(&str) -> &'a str,
        mut files: BTreeMap<FieldId, AnswerFile>,
        saved: &Self,
    ) -> Self {
        let mut texts = BTreeMap::new();
        for field in fields {
            let is_removed = !value(&part_name(field.id, REMOVE)).is_empty();
            for name in names(field) {
                let typed = value(&name).trim();
                if !typed.is_empty() {
                    texts.insert(name, typed.to_owned());
                } else if is_secret(&name)
                    && !is_removed
                    && let Some(kept) = saved.texts.get(&name)
                {
                    texts.insert(name, kept.clone());
                }
            }
            if field.field_type != FieldType::File {
                files.remove(&field.id);
            } else if let Some(kept) = saved.files.get(&field.id).filter(|_| !is_removed) {
                files.entry(field.id).or_insert_with(|| kept.clone());
            }
        }
        Self { texts, files }
    }

    /// The names and values that pages may show.
    pub fn shown(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.texts.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        texts.filter(|(name, _)| !is_secret(name))
    }

    /// The last characters of the account number typed for a question.
    #[must_use]
    pub fn ending(&self, field: FieldId) -> Option<String> {
        self.texts.get(&part_name(field, "number")).map(|number| ending(number))
    }

    /// The file for a question.
    #[must_use]
    pub fn file(&self, field: FieldId) -> Option<&AnswerFile> {
        self.files.get(&field)
    }

    /// The number of questions with an answer that can be read.
    #[must_use]
    pub fn answered(&self, fields: &[InformationField], dates: DateOrder) -> usize {
        fields.iter().filter(|field| matches!(self.read_one(field, dates), Ok(Some(_)))).count()
    }

    /// The answers in clear, for sealing.
    #[must_use]
    pub fn reveal(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Reads what [`TypedAnswers::reveal`] wrote.
    #[must_use]
    pub fn opened(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Parses all answers, with dates in the organization's order. Errors, by input name, complete a sentence beginning with `Your answer` or the part's name.
    pub fn read(&self, fields: &[InformationField], dates: DateOrder) -> Result<BTreeMap<FieldId, Given>, FieldErrors> {
        let (mut given, mut wrong) = (BTreeMap::new(), FieldErrors::default());
        for field in fields {
            match self.read_one(field, dates) {
                Ok(Some(answer)) => {
                    given.insert(field.id, answer);
                }
                Ok(None) if field.required => {
                    wrong.extend(FieldErrors::one(first_input(field), FieldCode::Required, "is missing"));
                }
                Ok(None) => {}
                Err(errors) => wrong.extend(errors),
            }
        }
        if wrong.is_empty() { Ok(given) } else { Err(wrong) }
    }

    fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    fn read_one(&self, field: &InformationField, dates: DateOrder) -> Result<Option<Given>, FieldErrors> {
        let name = input_name(field.id);
        let text = self.text(&name);
        let wrong = |code, message: String| Err(FieldErrors::one(name.as_str(), code, message));
        let refused = |message: &str| wrong(FieldCode::InvalidValue, message.to_owned());
        let answer = match field.field_type {
            FieldType::File => self.files.get(&field.id).cloned().map(OpenAnswer::File),
            FieldType::Address => self.read_address(field.id)?.map(OpenAnswer::Address),
            FieldType::BankDetails => return self.read_bank_details(field.id),
            FieldType::MultiChoice => {
                let chosen = field.options.iter().enumerate();
                let chosen = chosen.filter(|(at, _)| self.texts.contains_key(&part_name(field.id, at)));
                let chosen: Vec<String> = chosen.map(|(_, option)| option.clone()).collect();
                (!chosen.is_empty()).then_some(OpenAnswer::MultiChoice(chosen))
            }
            _ if text.is_empty() => None,
            FieldType::Text => match check_line(text, limits::ANSWER_LINE_CHARS_MAX) {
                Ok(text) => Some(OpenAnswer::Text(text)),
                Err((code, message)) => return wrong(code, message),
            },
            FieldType::LongText => match check_lines(text, limits::NOTE_CHARS_MAX) {
                Ok(text) => Some(OpenAnswer::Text(text)),
                Err((code, message)) => return wrong(code, message),
            },
            FieldType::Number => match typed_values::read_number(text) {
                Some(number) => Some(OpenAnswer::Number(number)),
                None => return refused(typed_values::NOT_A_NUMBER),
            },
            FieldType::Date => match Day::read(text, dates) {
                Ok(day) => Some(OpenAnswer::Date(day)),
                Err(error) => return wrong(FieldCode::InvalidFormat, error.to_string()),
            },
            FieldType::Boolean => match text {
                "yes" => Some(OpenAnswer::Boolean(true)),
                "no" => Some(OpenAnswer::Boolean(false)),
                _ => return refused("must be yes or no"),
            },
            FieldType::Choice => match field.options.iter().find(|option| *option == text) {
                Some(option) => Some(OpenAnswer::Choice(option.clone())),
                None => return refused("must be one of the options"),
            },
        };
        Ok(answer.map(Given::Open))
    }

    fn read_address(&self, field: FieldId) -> Result<Option<PostalAddress>, FieldErrors> {
        if ADDRESS_PARTS.iter().all(|(part, _)| self.text(&part_name(field, part)).is_empty()) {
            return Ok(None);
        }
        let mut wrong = FieldErrors::default();
        let mut given: BTreeMap<&str, Label> = BTreeMap::new();
        for (part, is_needed) in ADDRESS_PARTS {
            let name = part_name(field, part);
            match self.text(&name) {
                "" if is_needed => wrong.extend(FieldErrors::one(name, FieldCode::Required, "is missing")),
                "" => {}
                text => match Label::parse(text) {
                    Ok(line) => {
                        given.insert(part, line);
                    }
                    Err((code, message)) => wrong.extend(FieldErrors::one(name, code, message)),
                },
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut take = |part: &str| given.remove(part);
        let (Some(line1), Some(city), Some(country)) = (take("line1"), take("city"), take("country")) else {
            return Ok(None);
        };
        let (line2, region, postal_code) = (take("line2"), take("region"), take("postal_code"));
        Ok(Some(PostalAddress { line1, line2, city, region, postal_code, country }))
    }

    fn read_bank_details(&self, field: FieldId) -> Result<Option<Given>, FieldErrors> {
        let typed = |part: &str| self.text(&part_name(field, part)).to_owned();
        if bank_details::PARTS.iter().all(|part| typed(part).is_empty()) {
            return Ok(None);
        }
        let named = |errors: FieldErrors| {
            let mut all = FieldErrors::default();
            for error in errors.into_list() {
                all.extend(FieldErrors::one(part_name(field, error.field), error.code, error.message));
            }
            all
        };
        BankDetails::read(typed).map(|details| Some(Given::BankDetails(details))).map_err(named)
    }
}

fn first_input(field: &InformationField) -> String {
    match field.field_type {
        // Their choices are one group, which shows the error.
        FieldType::MultiChoice | FieldType::File => input_name(field.id),
        _ => names(field).into_iter().next().unwrap_or_else(|| input_name(field.id)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::agreement::DocumentContent;
    use crate::domain::file_type::FileType;

    fn question(field_type: FieldType, required: bool) -> InformationField {
        let options = match field_type {
            FieldType::Choice | FieldType::MultiChoice => vec!["Red".to_owned(), "Green".to_owned()],
            _ => Vec::new(),
        };
        InformationField { id: FieldId::new(), label: Label::parse("Why?").unwrap(), field_type, required, options }
    }

    fn typed(fields: &[InformationField], texts: &[(String, &str)], saved: &TypedAnswers) -> TypedAnswers {
        let value = |name: &str| texts.iter().find(|(known, _)| known == name).map_or("", |(_, value)| *value);
        TypedAnswers::submitted(fields, value, BTreeMap::new(), saved)
    }

    fn read(field_type: FieldType, text: &str) -> Result<Option<OpenAnswer>, String> {
        let field = question(field_type, false);
        let answers = typed(std::slice::from_ref(&field), &[(input_name(field.id), text)], &TypedAnswers::default());
        match answers.read(std::slice::from_ref(&field), DateOrder::DayFirst) {
            Ok(mut given) => Ok(given.remove(&field.id).map(|given| match given {
                Given::Open(answer) => answer,
                Given::BankDetails(_) => panic!("bank details"),
            })),
            Err(errors) => Err(errors.into_list().remove(0).message),
        }
    }

    #[test]
    fn each_kind_of_question_reads_what_people_type() {
        let text = |text: &str| Ok(Some(OpenAnswer::Text(text.to_owned())));
        assert_eq!(read(FieldType::Text, " Ada "), text("Ada"));
        assert_eq!(read(FieldType::LongText, "a\r\nb"), text("a\nb"));
        assert_eq!(read(FieldType::Number, "-1,250.50"), Ok(Some(OpenAnswer::Number("-1250.50".to_owned()))));
        let day = Day::parse("2026-12-31").unwrap();
        assert_eq!(read(FieldType::Date, "Dec 31, 2026"), Ok(Some(OpenAnswer::Date(day))));
        assert_eq!(read(FieldType::Boolean, "no"), Ok(Some(OpenAnswer::Boolean(false))));
        assert_eq!(read(FieldType::Choice, "Green"), Ok(Some(OpenAnswer::Choice("Green".to_owned()))));
        for (field_type, text) in [
            (FieldType::Text, "a\u{202e}b"),
            (FieldType::Text, "a\nb"),
            (FieldType::LongText, "a\u{0}b"),
            (FieldType::LongText, "I do \u{202e}ton\u{202c} agree"),
            (FieldType::Number, "many"),
            (FieldType::Date, "soon"),
            (FieldType::Date, "Dec 31, 2026 5pm"),
            (FieldType::Boolean, "maybe"),
            (FieldType::Choice, "Blue"),
        ] {
            assert!(read(field_type, text).is_err(), "{text}");
            assert_eq!(read(field_type, "  "), Ok(None), "nothing is no answer");
        }
    }

    #[test]
    fn what_is_missing_is_named_and_optional_questions_may_have_no_answer() {
        let all = [
            FieldType::Text,
            FieldType::LongText,
            FieldType::Number,
            FieldType::Date,
            FieldType::Boolean,
            FieldType::Choice,
            FieldType::MultiChoice,
            FieldType::File,
            FieldType::Address,
            FieldType::BankDetails,
        ];
        let nothing = TypedAnswers::default();
        let needed = all.map(|field_type| question(field_type, true));
        let errors = nothing.read(&needed, DateOrder::DayFirst).unwrap_err().into_list();
        assert_eq!(errors.len(), all.len());
        for (field, error) in needed.iter().zip(&errors) {
            assert!(error.field.starts_with(&input_name(field.id)), "{error:?}");
        }
        assert_eq!(
            nothing.read(&all.map(|field_type| question(field_type, false)), DateOrder::DayFirst),
            Ok(BTreeMap::new())
        );
    }

    #[test]
    fn an_address_is_given_whole_or_not_at_all() {
        let fields = [question(FieldType::Address, false)];
        let part = |part: &str| part_name(fields[0].id, part);
        let street = [(part("line1"), "1 Main St"), (part("region"), "NY")];
        let errors = typed(&fields, &street, &TypedAnswers::default())
            .read(&fields, DateOrder::DayFirst)
            .unwrap_err()
            .into_list();
        let wrong: Vec<_> = errors.into_iter().map(|error| error.field).collect();
        assert_eq!(wrong, [part("city"), part("country")]);
        let whole = [street.as_slice(), &[(part("city"), "Albany"), (part("country"), "USA")]].concat();
        let given = typed(&fields, &whole, &TypedAnswers::default()).read(&fields, DateOrder::DayFirst).unwrap();
        let Some(Given::Open(OpenAnswer::Address(address))) = given.get(&fields[0].id) else { panic!("{given:?}") };
        assert_eq!(address.lines(), ["1 Main St", "Albany, NY", "USA"]);
    }

    #[test]
    fn an_account_number_is_kept_until_it_is_replaced_or_removed_and_never_shown() {
        let fields = [question(FieldType::BankDetails, true)];
        let part = |part: &str| part_name(fields[0].id, part);
        let first = [(part("holder"), "Ada"), (part("bank"), "First"), (part("number"), "DE89370400440532013000")];
        let saved = typed(&fields, &first, &TypedAnswers::default());
        assert!(saved.shown().all(|(_, value)| !value.contains("0440")) && saved.shown().count() == 2);
        assert_eq!(saved.ending(fields[0].id).as_deref(), Some("3000"));
        let kept = typed(&fields, &first[..2], &saved);
        assert_eq!(kept, saved);
        let replaced = typed(&fields, &[&first[..2], &[(part("number"), "GB82WEST12345698765432")]].concat(), &saved);
        assert_eq!(replaced.ending(fields[0].id).as_deref(), Some("5432"));
        let removed = typed(&fields, &[&first[..2], &[(part(REMOVE), "on")]].concat(), &saved);
        assert_eq!((removed.ending(fields[0].id), removed.read(&fields, DateOrder::DayFirst).is_err()), (None, true));
        assert_eq!(TypedAnswers::opened(&saved.reveal()), Some(saved));
    }

    #[test]
    fn a_file_is_kept_until_it_is_replaced_or_removed() {
        let fields = [question(FieldType::File, true), question(FieldType::Text, false)];
        let file = |name: &str| AnswerFile {
            name: Label::parse(name).unwrap(),
            content: DocumentContent { sha256: "0".repeat(64), size_bytes: 9 },
            file_type: FileType::Pdf,
        };
        let with = |file: AnswerFile, saved: &TypedAnswers| {
            TypedAnswers::submitted(&fields, |_| "", [(fields[0].id, file)].into(), saved)
        };
        let saved = with(file("a.pdf"), &TypedAnswers::default());
        assert_eq!(typed(&fields, &[], &saved), saved);
        assert_eq!(with(file("b.pdf"), &saved).file(fields[0].id), Some(&file("b.pdf")));
        let removed = typed(&fields, &[(part_name(fields[0].id, REMOVE), "on")], &saved);
        assert_eq!((removed.file(fields[0].id), removed.answered(&fields, DateOrder::DayFirst)), (None, 0));
        assert_eq!(saved.answered(&fields, DateOrder::DayFirst), 1);
    }

    #[test]
    fn what_cannot_be_read_does_not_count_as_answered() {
        let fields = [question(FieldType::Date, true), question(FieldType::Address, false)];
        let answered = |day, line| {
            let texts = [(input_name(fields[0].id), day), (part_name(fields[1].id, "line1"), line)];
            typed(&fields, &texts, &TypedAnswers::default()).answered(&fields, DateOrder::DayFirst)
        };
        assert_eq!((answered("soon", "1 Main St"), answered("14 Mar 2019", "")), (0, 1));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reading_fail_otherwise_than_with_a_named_error(text in "\\PC{0,40}", which in 0..6_usize) {
            let kinds = [FieldType::Text, FieldType::LongText, FieldType::Number, FieldType::Date, FieldType::Boolean, FieldType::Choice];
            if let Ok(Some(OpenAnswer::Number(number))) = read(kinds[which], &text) {
                prop_assert_eq!(typed_values::read_number(&number), Some(number));
            }
        }
    }
}

//! Participants' answers, as several pages show them.

use shared::domain::agreement::gate::InformationField;
use shared::domain::ids::FieldId;
use shared::domain::information::{Answer, AnswerFile, OpenAnswer, Submission};
use shared::text::reader::Shown as _;

use crate::agreement_summary::size;

/// An answer.
pub struct AnswerRow {
    /// The question.
    pub question: String,
    /// Empty if there is none.
    pub lines: Vec<String>,
    /// The URL of the file.
    pub file: Option<String>,
    /// Whether it differs from the previous revision's answer.
    pub is_changed: bool,
}

/// A submission's answers, in the order of the questions. `bank_details` returns the lines of opened ones.
pub fn answer_rows(
    questions: &[InformationField],
    submission: &Submission,
    bank_details: impl Fn(FieldId) -> Option<Vec<String>>,
    file: impl Fn(FieldId) -> Option<String>,
) -> Vec<AnswerRow> {
    let row = |question: &InformationField| {
        let answer = submission.answers.get(&question.id);
        let is_file = matches!(answer, Some(Answer::Open(OpenAnswer::File(_))));
        AnswerRow {
            question: question.label.as_str().to_owned(),
            lines: match answer {
                None => Vec::new(),
                Some(Answer::BankDetails { ending, .. }) => {
                    bank_details(question.id).unwrap_or_else(|| vec![format!("Account ending in {ending}")])
                }
                Some(Answer::Open(answer)) => lines(answer),
            },
            file: if is_file { file(question.id) } else { None },
            is_changed: submission.changed.contains(&question.id),
        }
    };
    questions.iter().map(row).collect()
}

fn lines(answer: &OpenAnswer) -> Vec<String> {
    match answer {
        OpenAnswer::Text(text) => text.lines().map(str::to_owned).collect(),
        OpenAnswer::Number(text) | OpenAnswer::Choice(text) => vec![text.clone()],
        OpenAnswer::Date(day) => vec![day.shown()],
        OpenAnswer::Boolean(answer) => vec![if *answer { "Yes" } else { "No" }.to_owned()],
        OpenAnswer::MultiChoice(chosen) => chosen.clone(),
        OpenAnswer::File(AnswerFile { name, content, .. }) => {
            vec![format!("{}, {}", name.as_str(), size(content.size_bytes))]
        }
        OpenAnswer::Address(address) => address.lines(),
    }
}

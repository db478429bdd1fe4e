//! Letters with title, paragraphs, facts and signature lines: reproducible, PDF/A-2a, PDF/UA-1, in any script.

use super::output::{self, About};
use super::sheet::{ACCENT, Cell, INK, LEFT, Look, MUTED, RIGHT, RULE, Role, Sheet};
use super::text::{Faces, Style};
use super::{Date, Fonts, Unwritable};

const BODY: Look = Look::new(Style::Text, 10.5, INK);
const LABEL: Look = Look::new(Style::Text, 9.5, MUTED);
const VALUE: Look = Look::new(Style::Text, 10.0, INK);
const KICKER: Look = Look::new(Style::Strong, 9.0, ACCENT);
const TITLE: Look = Look::new(Style::Strong, 21.0, INK);
const LABEL_WIDTH: f32 = 156.0;
const PADDING: f32 = 4.0;
const SIGNATURE_HEIGHT: f32 = 44.0;

/// A letter. Texts can be of any length, in any script.
#[derive(Debug, Clone, Default)]
pub struct Letter {
    /// Identifies the letter, on each page.
    pub id: String,
    /// The author, above the title.
    pub organization: String,
    /// The title.
    pub title: String,
    /// The subject, on each page.
    pub about: String,
    /// The date of the file.
    pub date: Date,
    /// The text, in order.
    pub parts: Vec<Part>,
}

/// A part of a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A paragraph.
    Paragraph(String),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// A signature line for each name.
    Signatures(Vec<String>),
}

/// Writes letters, reading their fonts once.
pub fn write_all(letters: &[Letter], fonts: &Fonts) -> Result<Vec<Vec<u8>>, Unwritable> {
    let faces = Faces::load(fonts)?;
    letters.iter().map(|letter| write(letter, &faces)).collect()
}

fn write(letter: &Letter, faces: &Faces<'_>) -> Result<Vec<u8>, Unwritable> {
    let mut sheet = Sheet::new(faces);
    sheet.rule(ACCENT, 2.5);
    sheet.space(16.0);
    sheet.text(Role::Paragraph, &letter.organization, KICKER);
    sheet.space(4.0);
    sheet.heading(1, &letter.title, TITLE, 0.0);
    for part in &letter.parts {
        sheet.space(14.0);
        match part {
            Part::Paragraph(text) => {
                for line in text.lines() {
                    sheet.text(Role::Paragraph, line, BODY);
                }
            }
            Part::Facts(rows) => put_facts(&mut sheet, rows),
            Part::Signatures(names) => names.iter().for_each(|name| put_signature(&mut sheet, name)),
        }
    }
    let about = About {
        title: &format!("{}: {}", letter.title, letter.about),
        date: letter.date,
        id: &letter.id,
        name: &letter.about,
        reference: &letter.id,
    };
    output::pdf(&about, sheet.finish(), faces)
}

fn put_facts(sheet: &mut Sheet<'_>, facts: &[(String, String)]) {
    let table = sheet.node(Role::Table, 0);
    sheet.rule(RULE, 0.5);
    let cell = |role, x, width, text: &str, look| Cell { role, x, width, text: text.to_owned(), look };
    for (name, value) in facts {
        // A row holds one line of text, so a longer value takes several rows.
        for (at, line) in value.lines().enumerate() {
            let name = if at == 0 { name.as_str() } else { "" };
            let cells = [
                cell(Role::RowHead, LEFT, LABEL_WIDTH, name, LABEL),
                cell(Role::Cell, LEFT + LABEL_WIDTH + 12.0, RIGHT - LEFT - LABEL_WIDTH - 12.0, line, VALUE),
            ];
            sheet.row(table, &cells, PADDING, None);
        }
        sheet.rule(RULE, 0.5);
    }
}

fn put_signature(sheet: &mut Sheet<'_>, name: &str) {
    sheet.need(SIGNATURE_HEIGHT + LABEL.height());
    sheet.space(SIGNATURE_HEIGHT);
    sheet.rule(INK, 0.6);
    sheet.space(3.0);
    sheet.text(Role::Paragraph, name, LABEL);
}

#[cfg(test)]
#[cfg(all(feature = "fonts", feature = "pages"))]
mod tests {
    use super::*;
    use crate::fonts;
    use crate::pages::Pages;

    fn letter(names: &[&str]) -> Letter {
        Letter {
            id: "01957f0a-2c1e-7c3a-9a52-6f0d3b1e77aa".to_owned(),
            organization: "Ellery Law".to_owned(),
            title: "Assignment".to_owned(),
            about: names.join(", "),
            date: Date { year: 2026, month: 3, day: 14, ..Date::default() },
            parts: vec![
                Part::Paragraph(format!("{} assigns the asset.\nA second line.", names.join(" and "))),
                Part::Facts(vec![
                    ("Asset".to_owned(), "A long description. ".repeat(40)),
                    ("Legal description".to_owned(), "Lot 7\nBlock 3\n\nPine Hills".to_owned()),
                ]),
                Part::Signatures(names.iter().map(|name| (*name).to_owned()).collect()),
            ],
        }
    }

    #[test]
    fn letters_are_written_in_any_script_and_the_same_letter_is_the_same_file() {
        let names = ["נועה כהן", "أحمد الخطيب", "Ada Okafor", "田中 花子", "\u{202e}evil"];
        let letters = [letter(&names), letter(&names[..1])];
        let files = write_all(&letters, &fonts::all()).unwrap();
        assert_eq!(files, write_all(&letters, &fonts::all()).unwrap());
        assert_ne!(files[0], files[1]);
        for file in files {
            assert!(file.starts_with(b"%PDF-1.7"));
            let pages = Pages::open(file).unwrap();
            assert!(pages.count() >= 1 && pages.render(0, 600).unwrap().starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn many_signatures_take_more_pages() {
        let names: Vec<String> = (0..40).map(|n| format!("Signer {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let file = write_all(&[letter(&names)], &fonts::alphabets()).unwrap().remove(0);
        assert!(Pages::open(file).unwrap().count() > 2);
    }
}

//! Text with code in it, as in the API document.

use askama::Template;
use askama::filters::HtmlSafe;

/// Paragraphs of text and code.
#[derive(Debug, Template)]
#[template(path = "prose.html")]
pub struct Prose {
    paragraphs: Vec<Vec<Span>>,
}

// Its template escapes its content.
impl HtmlSafe for Prose {}

#[derive(Debug)]
struct Span {
    text: String,
    is_code: bool,
}

impl Prose {
    /// Parses text with empty lines between paragraphs and backticks around code.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let spans = |paragraph: &str| {
            let parts = paragraph.split('`').enumerate();
            let spans = parts.map(|(at, text)| Span { text: text.to_owned(), is_code: at % 2 == 1 });
            spans.filter(|span| !span.text.is_empty()).collect()
        };
        Self { paragraphs: text.split("\n\n").map(spans).collect() }
    }

    /// Adds paragraphs.
    pub fn add(&mut self, text: &str) {
        self.paragraphs.extend(Self::new(text).paragraphs);
    }
}

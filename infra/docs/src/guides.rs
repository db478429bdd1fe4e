//! The guides: the parts of `docs/` for people who use the API over the network.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

#[derive(Debug)]
pub struct Guide {
    pub id: String,
    /// Its title.
    pub title: String,
    pub html: String,
}

struct Source {
    file: &'static str,
    text: &'static str,
    /// Sections to leave out: they need this repository, or address its maintainers.
    without: &'static [&'static str],
}

const SOURCES: [Source; 4] = [
    Source { file: "idempotency.md", text: include_str!("../../../docs/idempotency.md"), without: &[] },
    Source {
        file: "webhooks.md",
        text: include_str!("../../../docs/webhooks.md"),
        without: &["A first delivery", "Code to copy"],
    },
    Source { file: "claims-and-proofs.md", text: include_str!("../../../docs/claims-and-proofs.md"), without: &[] },
    Source { file: "agents.md", text: include_str!("../../../docs/agents.md"), without: &["A session", "Decisions"] },
];

pub(crate) fn all() -> Vec<Guide> {
    SOURCES.iter().map(Source::read).collect()
}

fn id_of(file: &str) -> Option<String> {
    let source = SOURCES.iter().find(|source| source.file == file)?;
    Some(format!("guide-{}", source.file.trim_end_matches(".md")))
}

impl Source {
    fn read(&self) -> Guide {
        let id = id_of(self.file).unwrap_or_default();
        let (mut title, mut kept) = (String::new(), Vec::new());
        let mut events = Parser::new_ext(self.text, Options::ENABLE_TABLES);
        let mut is_left_out = false;
        while let Some(event) = events.next() {
            if let Event::Start(Tag::Heading { level, .. }) = event {
                let inside: Vec<Event<'_>> =
                    events.by_ref().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_)))).collect();
                let text = text_of(&inside);
                if level == HeadingLevel::H1 {
                    title = text;
                    continue;
                }
                if level == HeadingLevel::H2 {
                    is_left_out = self.without.contains(&text.as_str());
                }
                if !is_left_out {
                    // A guide's headings are two levels deeper on the page.
                    let level = level as usize + 2;
                    kept.push(raw(format!("<h{level} id=\"{id}-{}\">", slug(&text))));
                    kept.extend(inside);
                    kept.push(raw(format!("</h{level}>\n")));
                }
            } else if !is_left_out {
                kept.push(event);
            }
        }
        let mut text = String::new();
        html::push_html(&mut text, with_links(kept, &id).into_iter());
        Guide { id, title, html: text }
    }
}

/// Rewrites links to lead somewhere on the page, and code blocks to the page's markup.
fn with_links<'a>(events: Vec<Event<'a>>, id: &str) -> Vec<Event<'a>> {
    let mut open = Vec::new();
    let mut kept = Vec::new();
    for event in events {
        kept.extend(match event {
            Event::Start(Tag::Link { link_type, dest_url, title, id: name }) => {
                let target = target(&dest_url, id);
                open.push(target.is_some());
                target.map(|to| Event::Start(Tag::Link { link_type, dest_url: CowStr::from(to), title, id: name }))
            }
            Event::End(TagEnd::Link) => open.pop().filter(|is_kept| *is_kept).map(|_| event),
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = if let CodeBlockKind::Fenced(language) = &kind { language.as_ref() } else { "" };
                Some(raw(format!("<pre class=\"code\"><code class=\"language-{language}\">")))
            }
            Event::End(TagEnd::CodeBlock) => Some(raw("</code></pre>\n".to_owned())),
            other => Some(other),
        });
    }
    kept
}

/// The target of a link on the page: another host, a section or another guide. The page lacks the repository's files.
fn target(link: &str, id: &str) -> Option<String> {
    if link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, section) = link.split_once('#').unwrap_or((link, ""));
    let guide = if file.is_empty() { id.to_owned() } else { id_of(file)? };
    Some(if section.is_empty() { format!("#{guide}") } else { format!("#{guide}-{section}") })
}

fn text_of(events: &[Event<'_>]) -> String {
    let text = |event: &Event<'_>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

/// The anchor of a heading, as Git hosts make it.
fn slug(text: &str) -> String {
    let kept = text
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -".contains(*letter))
        .collect::<String>();
    kept.replace(' ', "-")
}

fn raw(html: String) -> Event<'static> {
    Event::Html(CowStr::from(html))
}

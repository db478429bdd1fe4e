//! Writes pages as a PDF.
//!
//! Decision: a right-to-left line stores its characters from left to right, those of a glyph too; the structure, for
//! screen readers, has the text in reading order. Poppler and Chromium, which search and copy, reverse such lines one
//! character at a time (and would reverse an `ActualText` in the content too). Copying loses joiners, which have no
//! glyph.

use std::collections::HashMap;
use std::num::NonZeroU16;

use krilla::color::rgb;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::geom::{Path, PathBuilder, Point, Rect};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, LineCap, LineJoin, Stroke};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, SpanTag, TableHeaderScope, Tag, TagGroup, TagKind, TagTree,
};
use krilla::{Document, SerializeSettings};

use super::copies::{Copies, Part};
use super::sheet::{Color, Entry, INK, Item, LEFT, Look, MUTED, Mark, Node, PAGE, RIGHT, RULE, Role, Written};
use super::text::{Faces, Line, Style, plain};
use super::{Date, Unwritable};

const LANGUAGE: &str = "en-US";
const PRODUCER: &str = "Countersign";
const FOOTER: Look = Look::new(Style::Text, 8.0, MUTED);
const FOOTER_ID: Look = Look::new(Style::Mono, 7.0, MUTED);
const FOOTER_Y: f32 = PAGE.1 - 54.0;
const NUMBER_WIDTH: f32 = 110.0;
/// In points.
const PEN: f32 = 1.3;

pub(super) struct About<'a> {
    pub(super) title: &'a str,
    pub(super) date: Date,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) reference: &'a str,
}

pub(super) fn pdf(about: &About<'_>, written: Written, faces: &Faces<'_>) -> Result<Vec<u8>, Unwritable> {
    let mut document = Document::new_with(settings()?);
    document.set_metadata(
        Metadata::new()
            .title(plain(about.title))
            .language(LANGUAGE.to_owned())
            .producer(PRODUCER.to_owned())
            .creator(PRODUCER.to_owned())
            .creation_date(date(about.date))
            .document_id(plain(about.id)),
    );
    let mut shown: HashMap<usize, Vec<Content>> = HashMap::new();
    let mut letters = Letters { faces, copies: Copies::default() };
    let count = written.pages.len();
    for (n, items) in written.pages.into_iter().enumerate() {
        let page = PageSettings::from_wh(PAGE.0, PAGE.1).ok_or_else(|| Unwritable::Pdf("no such page".to_owned()))?;
        let mut page = document.start_page_with(page);
        let mut surface = page.surface();
        for item in items {
            if let Some((node, content)) = draw(&mut surface, &mut letters, item) {
                shown.entry(node).or_default().push(content);
            }
        }
        footer(&mut surface, &mut letters, about, &format!("Page {} of {count}", n + 1));
        surface.finish();
        page.finish();
    }
    document.set_tag_tree(tree(&written.nodes, shown));
    document.set_outline(outline(&written.contents));
    document.finish().map_err(|error| Unwritable::Pdf(format!("{error:?}")))
}

fn settings() -> Result<SerializeSettings, Unwritable> {
    let configuration = ConfigurationBuilder::new()
        .with_archival_validator(Archival::A2_A)
        .with_accessibility_validator(Accessibility::UA1)
        .finish()
        .map_err(|error| Unwritable::Pdf(format!("{error:?}")))?;
    Ok(SerializeSettings { configuration, ..SerializeSettings::default() })
}

fn date(Date { year, month, day, hour, minute, second }: Date) -> DateTime {
    let day = DateTime::new(year).month(month).day(day);
    day.hour(hour).minute(minute).second(second).utc_offset_hour(0).utc_offset_minute(0)
}

struct Content {
    identifier: Identifier,
    /// The text in reading order, if different.
    read: Option<String>,
}

fn draw(surface: &mut Surface<'_>, letters: &mut Letters<'_>, item: Item) -> Option<(usize, Content)> {
    let read = match &item.mark {
        Mark::Text { line, .. } => line.read.clone(),
        _ => None,
    };
    let tag = match (item.node, &item.mark) {
        (None, _) => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Other)),
        (_, Mark::Text { .. }) => ContentTag::Span(SpanTag::empty()),
        _ => ContentTag::Other,
    };
    let identifier = surface.start_tagged(tag);
    match item.mark {
        Mark::Text { x, y, line, look } => letters.draw(surface, (x, y), &line, look),
        Mark::Fill(place, color) => {
            paint(surface, color);
            shape(surface, rectangle(place));
        }
        Mark::Frame(place, color) => {
            pen(surface, color, 0.8);
            shape(surface, rectangle(place));
        }
        Mark::Pen(strokes) => {
            pen(surface, INK, PEN);
            for stroke in &strokes {
                shape(surface, line(stroke));
            }
        }
    }
    surface.end_tagged();
    item.node.map(|node| (node, Content { identifier, read }))
}

struct Letters<'a> {
    faces: &'a Faces<'a>,
    copies: Copies,
}

impl Letters<'_> {
    fn draw(&mut self, surface: &mut Surface<'_>, at: (f32, f32), line: &Line, look: Look) {
        let (x, y) = at;
        for run in &line.runs {
            paint(surface, if run.code { MUTED } else { look.color });
            let (start, drawn) = (x + run.x, self.faces.drawn(run));
            let mut pen = start;
            for Part { font, glyphs } in self.copies.parts(self.faces, run, &drawn) {
                surface.draw_glyphs(Point::from_xy(pen, y), &glyphs, font, &drawn.text, look.size, false);
                pen += glyphs.iter().map(|glyph| glyph.x_advance * look.size).sum::<f32>();
            }
            let (start, font) = (Point::from_xy(start, y), self.faces.font(run));
            surface.draw_glyphs(start, &drawn.dots, font, &drawn.text, look.size, true);
        }
    }
}

fn footer(surface: &mut Surface<'_>, letters: &mut Letters<'_>, about: &About<'_>, number: &str) {
    surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Footer)));
    paint(surface, RULE);
    shape(surface, rectangle([LEFT, FOOTER_Y, RIGHT - LEFT, 0.5]));
    let room = RIGHT - LEFT - NUMBER_WIDTH;
    let mut put = |text: &str, look: Look, y: f32, right: bool| {
        let line = letters.faces.single_line(text, look.style, look.size, room);
        let x = if right { RIGHT - line.width } else { LEFT };
        letters.draw(surface, (x, y), &line, look);
    };
    put(about.name, FOOTER, FOOTER_Y + 13.0, false);
    put(about.reference, FOOTER_ID, FOOTER_Y + 24.0, false);
    put(number, FOOTER, FOOTER_Y + 13.0, true);
    surface.end_tagged();
}

fn paint(surface: &mut Surface<'_>, [red, green, blue]: Color) {
    let paint = rgb::Color::new(red, green, blue).into();
    surface.set_stroke(None);
    surface.set_fill(Some(Fill { paint, opacity: NormalizedF32::ONE, rule: FillRule::NonZero }));
}

fn pen(surface: &mut Surface<'_>, [red, green, blue]: Color, width: f32) {
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke {
        paint: rgb::Color::new(red, green, blue).into(),
        width,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    }));
}

fn shape(surface: &mut Surface<'_>, path: Option<Path>) {
    if let Some(path) = path {
        surface.draw_path(&path);
    }
}

fn rectangle([x, y, width, height]: [f32; 4]) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.push_rect(Rect::from_xywh(x, y, width, height)?);
    path.finish()
}

/// A pen stroke; a single point becomes a dot.
fn line(points: &[(f32, f32)]) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(first.0, first.1);
    for (x, y) in rest {
        path.line_to(*x, *y);
    }
    if rest.iter().all(|point| point == first) {
        path.line_to(first.0 + 0.1, first.1);
    }
    path.finish()
}

fn tree(nodes: &[Node], mut shown: HashMap<usize, Vec<Content>>) -> TagTree {
    let mut groups: Vec<TagGroup> = nodes.iter().map(|node| TagGroup::new(tag(&node.role))).collect();
    // Children follow their parents, so going backward, each node is complete when reached.
    let mut children: Vec<Vec<TagGroup>> = nodes.iter().map(|_| Vec::new()).collect();
    for (n, node) in nodes.iter().enumerate().skip(1).rev() {
        let Some(mut group) = groups.pop() else { break };
        for Content { identifier, read } in shown.remove(&n).unwrap_or_default() {
            match read {
                Some(read) => {
                    let mut line = TagGroup::new(Tag::Span.with_actual_text(Some(read)));
                    line.push(identifier);
                    group.push(line);
                }
                None => group.push(identifier),
            }
        }
        for child in children[n].drain(..).rev() {
            group.push(child);
        }
        children[node.parent].push(group);
    }
    let mut tree = TagTree::new().with_lang(Some(LANGUAGE.to_owned()));
    for child in children[0].drain(..).rev() {
        tree.push(child);
    }
    tree
}

fn tag(role: &Role) -> TagKind {
    match role {
        Role::Root => Tag::Div.into(),
        Role::Heading(level, text) => {
            Tag::Hn(NonZeroU16::new(*level).unwrap_or(NonZeroU16::MIN), Some(plain(text))).into()
        }
        Role::Paragraph => Tag::P.into(),
        Role::Table => Tag::Table.into(),
        Role::Row => Tag::TR.into(),
        Role::ColumnHead => Tag::TH(TableHeaderScope::Column).into(),
        Role::RowHead => Tag::TH(TableHeaderScope::Row).into(),
        Role::Cell => Tag::TD.into(),
        Role::Figure(alt) => Tag::Figure(Some(plain(alt))).into(),
    }
}

fn outline(contents: &[Entry]) -> Outline {
    let mut outline = Outline::new();
    let mut rest = contents;
    while let Some((node, left)) = chapter(rest) {
        outline.push_child(node);
        rest = left;
    }
    outline
}

fn chapter(contents: &[Entry]) -> Option<(OutlineNode, &[Entry])> {
    let (first, mut rest) = contents.split_first()?;
    let at = XyzDestination::new(first.page, Point::from_xy(LEFT, first.y));
    let mut node = OutlineNode::new(plain(&first.text), at);
    while rest.first().is_some_and(|next| next.level > first.level) {
        let Some((child, left)) = chapter(rest) else { break };
        node.push_child(child);
        rest = left;
    }
    Some((node, rest))
}

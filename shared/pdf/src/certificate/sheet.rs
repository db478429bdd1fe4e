//! Lays out pages from top to bottom and records the structure for screen readers.

use super::text::{Faces, Line, Style};

/// US Letter, in points.
pub(super) const PAGE: (f32, f32) = (612.0, 792.0);
/// The margins: where text begins and ends.
pub(super) const LEFT: f32 = 60.0;
pub(super) const RIGHT: f32 = PAGE.0 - 60.0;
const TOP: f32 = 60.0;
const BOTTOM: f32 = PAGE.1 - 78.0;
/// From line to line, relative to the font size.
const LEADING: f32 = 1.4;
/// From the top of a line to its baseline, relative to the font size.
const ASCENT: f32 = 1.05;

pub(super) type Color = [u8; 3];
pub(super) const INK: Color = [27, 31, 36];
/// Labels, and code points.
pub(super) const MUTED: Color = [96, 104, 114];
/// Lines between rows.
pub(super) const RULE: Color = [214, 219, 225];
pub(super) const ACCENT: Color = [31, 58, 95];

#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) style: Style,
    pub(super) size: f32,
    pub(super) color: Color,
}

impl Look {
    pub(super) const fn new(style: Style, size: f32, color: Color) -> Self {
        Self { style, size, color }
    }

    pub(super) fn height(self) -> f32 {
        self.size * LEADING
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    Root,
    Heading(u16, String),
    Paragraph,
    Table,
    Row,
    ColumnHead,
    RowHead,
    Cell,
    /// A picture, with its alternative text.
    Figure(String),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) role: Role,
    pub(super) parent: usize,
}

/// A drawn item and its node in the structure: none if it only decorates.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) node: Option<usize>,
    pub(super) mark: Mark,
}

#[derive(Debug)]
pub(super) enum Mark {
    Text { x: f32, y: f32, line: Line, look: Look },
    Fill([f32; 4], Color),
    Frame([f32; 4], Color),
    Pen(Vec<Vec<(f32, f32)>>),
}

/// A heading in the table of contents: level, text, page, and height on the page.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) level: u16,
    pub(super) text: String,
    pub(super) page: usize,
    pub(super) y: f32,
}

#[derive(Debug)]
pub(super) struct Written {
    pub(super) pages: Vec<Vec<Item>>,
    pub(super) nodes: Vec<Node>,
    pub(super) contents: Vec<Entry>,
}

pub(super) struct Cell {
    pub(super) role: Role,
    pub(super) x: f32,
    pub(super) width: f32,
    pub(super) text: String,
    pub(super) look: Look,
}

pub(super) struct Sheet<'a> {
    faces: &'a Faces<'a>,
    written: Written,
    y: f32,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(faces: &'a Faces<'a>) -> Self {
        let root = Node { role: Role::Root, parent: 0 };
        Self { faces, written: Written { pages: vec![Vec::new()], nodes: vec![root], contents: Vec::new() }, y: TOP }
    }

    pub(super) fn finish(self) -> Written {
        self.written
    }

    pub(super) fn space(&mut self, height: f32) {
        if self.y > TOP {
            self.y += height;
        }
    }

    /// Starts a new page if less than this height remains.
    pub(super) fn need(&mut self, height: f32) {
        if self.y + height > BOTTOM && self.y > TOP {
            self.written.pages.push(Vec::new());
            self.y = TOP;
        }
    }

    pub(super) fn node(&mut self, role: Role, parent: usize) -> usize {
        self.written.nodes.push(Node { role, parent });
        self.written.nodes.len() - 1
    }

    fn put(&mut self, node: Option<usize>, mark: Mark) {
        if let Some(page) = self.written.pages.last_mut() {
            page.push(Item { node, mark });
        }
    }

    pub(super) fn rule(&mut self, color: Color, thickness: f32) {
        self.put(None, Mark::Fill([LEFT, self.y, RIGHT - LEFT, thickness], color));
        self.y += thickness;
    }

    pub(super) fn text(&mut self, role: Role, text: &str, look: Look) {
        let lines = self.faces.lines(text, look.style, look.size, RIGHT - LEFT);
        let node = self.node(role, 0);
        for line in lines {
            self.need(look.height());
            self.put(Some(node), Mark::Text { x: LEFT, y: self.y + look.size * ASCENT, line, look });
            self.y += look.height();
        }
    }

    pub(super) fn heading(&mut self, level: u16, text: &str, look: Look, with: f32) {
        self.need(look.height() + with);
        let page = self.written.pages.len() - 1;
        self.written.contents.push(Entry { level, text: text.to_owned(), page, y: self.y });
        self.text(Role::Heading(level, text.to_owned()), text, look);
    }

    /// A table row, kept on one page if it fits. On a new page, `again` runs first.
    pub(super) fn row(&mut self, table: usize, cells: &[Cell], padding: f32, again: Option<&dyn Fn(&mut Self)>) {
        let lines: Vec<Vec<Line>> = cells
            .iter()
            .map(|cell| self.faces.lines(&cell.text, cell.look.style, cell.look.size, cell.width))
            .collect();
        let height = cells.iter().map(|cell| cell.look.height()).fold(0.0, f32::max);
        let size = cells.iter().map(|cell| cell.look.size).fold(0.0, f32::max);
        let count = lines.iter().map(Vec::len).max().unwrap_or_default();
        #[allow(clippy::cast_precision_loss, reason = "a row has far less than 2²⁴ lines")]
        let whole = count as f32 * height + 2.0 * padding;
        if whole < BOTTOM - TOP - 60.0 {
            self.next_page_for(whole, again);
        }
        let row = self.node(Role::Row, table);
        let nodes: Vec<usize> = cells.iter().map(|cell| self.node(cell.role.clone(), row)).collect();
        let mut lines: Vec<_> = lines.into_iter().map(Vec::into_iter).collect();
        self.y += padding;
        for _ in 0..count {
            self.next_page_for(height, again);
            for ((cell, lines), node) in cells.iter().zip(&mut lines).zip(&nodes) {
                if let Some(line) = lines.next() {
                    let mark = Mark::Text { x: cell.x, y: self.y + size * ASCENT, line, look: cell.look };
                    self.put(Some(*node), mark);
                }
            }
            self.y += height;
        }
        self.y += padding;
    }

    fn next_page_for(&mut self, height: f32, again: Option<&dyn Fn(&mut Self)>) {
        let pages = self.written.pages.len();
        self.need(height);
        if let (true, Some(again)) = (self.written.pages.len() > pages, again) {
            again(self);
        }
    }

    pub(super) fn repeat(&mut self, cells: &[Cell], padding: f32) {
        let height = cells.iter().map(|cell| cell.look.height()).fold(0.0, f32::max);
        self.y += padding;
        for cell in cells {
            let line = self.faces.single_line(&cell.text, cell.look.style, cell.look.size, cell.width);
            self.put(None, Mark::Text { x: cell.x, y: self.y + cell.look.size * ASCENT, line, look: cell.look });
        }
        self.y += height + padding;
    }

    pub(super) fn boxed(&mut self, [x, width, height]: [f32; 3], alt: &str, within: Boxed<'_>) {
        let frame = [x, self.y, width, height];
        self.put(None, Mark::Frame(frame, RULE));
        match within {
            Boxed::Strokes(strokes, (across, down)) => {
                let node = self.node(Role::Figure(alt.to_owned()), 0);
                let place = |value: f32, of: f32, room: f32| {
                    let value = if value.is_finite() { value.clamp(0.0, of) } else { 0.0 };
                    4.0 + value / of * (room - 8.0)
                };
                let top = self.y;
                let point =
                    |(right, below): &(f32, f32)| (x + place(*right, across, width), top + place(*below, down, height));
                let strokes = strokes.iter().map(|stroke| stroke.iter().map(point).collect()).collect();
                self.put(Some(node), Mark::Pen(strokes));
            }
            Boxed::Text(text, look) => {
                let node = self.node(Role::Paragraph, 0);
                let line = self.faces.single_line(text, look.style, look.size, width - 20.0);
                let y = self.y + height / 2.0 + look.size * 0.36;
                self.put(Some(node), Mark::Text { x: x + 10.0, y, line, look });
            }
        }
        self.y += height;
    }
}

#[derive(Clone, Copy)]
pub(super) enum Boxed<'a> {
    Strokes(&'a [Vec<(f32, f32)>], (f32, f32)),
    Text(&'a str, Look),
}

//! Estimates the effort of drawing a page, to refuse one that asks for too much.
//!
//! A page of a few hundred bytes can paint the same form 2⁵⁰ times, split a line into billions of dashes or cover the
//! page a million times. `hayro` doesn't stop, and a thread can't be stopped from outside. So a device that only counts
//! draws the page first, in units of about equal time. Dense text takes 0.1 million units, a detailed map a million, so
//! an estimate within a small factor is good enough.
//!
//! Reading the page without drawing isn't counted, so time is limited too.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use hayro::hayro_interpret::font::{Glyph, GlyphRun};
use hayro::hayro_interpret::pattern::{Pattern, TilingPattern};
use hayro::hayro_interpret::{
    BlendMode, CacheKey as _, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, Paint, SoftMask, StrokeProps, interpret_page,
};
use hayro::hayro_syntax::object::{Dict, Name, Object, Stream};
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape as _};

/// The most units of a page: some seconds in a function.
const UNITS_MAX: f64 = 20_000_000.0;
/// The most time for the estimate. Drawing then reads the same again.
const TIME_MAX: Duration = Duration::from_secs(3);
/// Pixels filled per unit: `vello_cpu` keeps a command for every 256 × 4.
const UNIT_FILLED: f64 = 1024.0;
/// Outline pixels drawn per unit.
const UNIT_OUTLINE: f64 = 4.0;
/// Pixels decoded, shaded or masked per unit.
const UNIT_PIXELS: f64 = 4.0;
/// A step that draws nothing itself, such as entering a form or glyph.
const STEP: f64 = 16.0;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Content {
    /// Has images or gradients, whose shades should all be kept.
    pub(super) shades: bool,
}

/// Estimates a page at this size. Unwinds the thread if the page asks for too much: `hayro` has no other way out.
pub(super) fn of(page: &Page<'_>, width_px: u16, height_px: u16, slowest: f64) -> Content {
    let area = Rect::new(0.0, 0.0, f64::from(width_px), f64::from(height_px));
    let mut meter = Meter {
        started: Instant::now(),
        left: UNITS_MAX,
        times: 1.0,
        slowest,
        area,
        masks: HashSet::new(),
        content: Content::default(),
    };
    let (at, cache) = (super::transform(page, width_px, height_px), InterpreterCache::new());
    let mut context = Context::new(at, area, &cache, page.xref(), InterpreterSettings::default());
    interpret_page(page, &mut context, &mut meter);
    meter.content
}

struct Meter {
    started: Instant,
    left: f64,
    /// How often the current content is drawn, for the cell of a pattern.
    times: f64,
    /// The time of the page's slowest function, relative to a pixel.
    slowest: f64,
    area: Rect,
    /// The masks so far, each cached.
    masks: HashSet<u128>,
    content: Content,
}

impl Meter {
    fn take(&mut self, units: f64) {
        self.left -= units * self.times;
        // NaN counts as too much.
        if self.left.is_nan() || self.left < 0.0 || self.started.elapsed() > TIME_MAX {
            resume_unwind(Box::new("a page that asks for too much"));
        }
    }

    fn covered(&self, bounds: Rect) -> f64 {
        let covered = bounds.intersect(self.area);
        covered.width() * covered.height()
    }

    fn outline(&mut self, path: &BezPath, at: Affine) {
        let across = self.area.width() + self.area.height();
        let units = lines(path, at).map(|line| 1.0 + line.min(across) / UNIT_OUTLINE + line.sqrt() / UNIT_OUTLINE);
        self.take(units.sum());
    }

    fn fill(&mut self, path: &BezPath, at: Affine) {
        self.outline(path, at);
        self.take(self.covered(at.transform_rect_bbox(path.control_box())) / UNIT_FILLED);
    }

    fn stroke(&mut self, path: &BezPath, at: Affine, stroke: &StrokeProps) {
        self.outline(path, at);
        self.outline(path, at);
        let bounds = path.control_box().inflate(f64::from(stroke.line_width), f64::from(stroke.line_width));
        self.take(self.covered(at.transform_rect_bbox(bounds)) / UNIT_FILLED);
        if !stroke.dash_array.is_empty() {
            let length: f64 = lines(path, Affine::IDENTITY).sum();
            self.take(STEP * length / mean_dash(&stroke.dash_array));
        }
    }

    fn drawn(&mut self, path: &BezPath, at: Affine, mode: &DrawMode) {
        match mode {
            DrawMode::Fill(_) => self.fill(path, at),
            DrawMode::Stroke(stroke) => self.stroke(path, at, stroke),
            DrawMode::FillAndStroke(_, stroke) => {
                self.fill(path, at);
                self.stroke(path, at, stroke);
            }
            DrawMode::Invisible => {}
        }
    }
}

impl Meter {
    fn paint<'a>(&mut self, paint: &Paint<'a>, bounds: Rect)
    where
        Self: Device<'a>,
    {
        self.take(self.slowest / UNIT_PIXELS);
        let Paint::Pattern(pattern) = paint else { return };
        match pattern.as_ref() {
            Pattern::Shading(_) => {
                self.content.shades = true;
                self.take(self.covered(bounds) * (1.0 + self.slowest) / UNIT_PIXELS);
            }
            Pattern::Tiling(tiling) => self.tiles(tiling),
        }
    }

    /// `hayro` draws a pattern's cell into its own picture, as often as its copies overlap.
    fn tiles<'a>(&mut self, tiling: &TilingPattern<'a>)
    where
        Self: Device<'a>,
    {
        let page = tiling.matrix.inverse().transform_rect_bbox(self.area);
        let [a, b, c, d, ..] = tiling.matrix.as_coeffs();
        let step = (f64::from(tiling.x_step.abs()), f64::from(tiling.y_step.abs()));
        let pixels = step.0.min(page.width()) * a.hypot(b) * step.1.min(page.height()) * c.hypot(d);
        let copies = (tiling.bbox.width() / step.0 + 2.0) * (tiling.bbox.height() / step.1 + 2.0);
        self.take(pixels / UNIT_PIXELS + copies * STEP);
        let times = self.times;
        self.times *= copies;
        tiling.interpret(self, tiling.matrix, false);
        self.times = times;
    }

    fn mask<'a>(&mut self, mask: Option<&SoftMask<'a>>)
    where
        Self: Device<'a>,
    {
        let Some(mask) = mask else { return };
        if self.masks.insert(mask.cache_key()) {
            self.content.shades = true;
            self.take(self.covered(self.area) / UNIT_PIXELS);
            mask.interpret(self);
        }
    }
}

impl<'a> Device<'a> for Meter {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.mask(props.soft_mask.as_ref());
        self.paint(&props.paint, props.transform.transform_rect_bbox(path.control_box()));
        self.drawn(path, props.transform, mode);
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.take(STEP);
        self.fill(&clip.path, Affine::IDENTITY);
    }

    fn push_transparency_group(&mut self, _: f32, mask: Option<SoftMask<'a>>, _: BlendMode) {
        self.take(STEP + self.covered(self.area) / UNIT_FILLED);
        self.mask(mask.as_ref());
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        if matches!(mode, DrawMode::Invisible) {
            return;
        }
        self.mask(props.soft_mask.as_ref());
        self.paint(&props.paint, self.area);
        for glyph in run.glyphs() {
            self.take(STEP);
            match &**glyph {
                Glyph::Outline(_) => {
                    // A glyph fills about its em square, 1,000 units wide.
                    let square = Rect::new(0.0, 0.0, 1000.0, 1000.0).to_path(1.0);
                    self.drawn(&square, props.transform * glyph.transform(), mode);
                }
                Glyph::Type3(drawing) => drawing.interpret(self, props.transform, glyph.transform(), &props.paint),
            }
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.content.shades = true;
        self.mask(props.soft_mask.as_ref());
        let (pixels, stream) = (
            f64::from(image.width()) * f64::from(image.height()),
            match &image {
                Image::Raster(image) => image.stream(),
                Image::Stencil(image) => image.stream(),
            },
        );
        let each = if is_plain(stream.dict()) { 1.0 } else { 1.0 + self.slowest };
        self.take(STEP + (pixels * each + masked(stream)) / UNIT_PIXELS);
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

fn is_plain(image: &Dict<'_>) -> bool {
    let plain = |name: &Name<'_>| {
        let name = name.as_ref();
        name.starts_with(b"Device") || name.starts_with(b"Cal") || matches!(name, b"ICCBased" | b"Lab")
    };
    match image.get::<Object<'_>>(b"ColorSpace") {
        None => true,
        Some(Object::Name(name)) => plain(&name),
        Some(Object::Array(space)) => {
            space.iter::<Object<'_>>().next().and_then(Object::into_name).is_some_and(|name| plain(&name))
        }
        Some(_) => false,
    }
}

fn masked(image: &Stream<'_>) -> f64 {
    let dict: &Dict<'_> = image.dict();
    let mask = dict.get::<Stream<'_>>(b"SMask").or_else(|| dict.get::<Stream<'_>>(b"Mask"));
    let side = |mask: &Stream<'_>, key: &[u8]| mask.dict().get::<u32>(key).map_or(0.0, f64::from);
    mask.map_or(0.0, |mask| side(&mask, b"Width") * side(&mask, b"Height"))
}

/// The mean length of a dash. Negative dashes, which nobody writes, count as 0: `kurbo` could take forever.
fn mean_dash(dashes: &[f32]) -> f64 {
    if dashes.iter().any(|dash| *dash < 0.0) {
        return 0.0;
    }
    let count = u32::try_from(dashes.len()).unwrap_or(u32::MAX);
    dashes.iter().copied().map(f64::from).sum::<f64>() / f64::from(count)
}

fn lines(path: &BezPath, at: Affine) -> impl Iterator<Item = f64> {
    let mut from = Point::ZERO;
    path.elements().iter().map(move |element| {
        let points: &[Point] = match element {
            PathEl::MoveTo(to) => {
                from = at * *to;
                &[]
            }
            PathEl::LineTo(to) => &[*to],
            PathEl::QuadTo(by, to) => &[*by, *to],
            PathEl::CurveTo(by, near, to) => &[*by, *near, *to],
            PathEl::ClosePath => &[],
        };
        points.iter().fold(0.0, |length, point| {
            let (start, end) = (from, at * *point);
            from = end;
            length + start.distance(end)
        })
    })
}

//! Pages of a PDF as images, for signers on phones, whose browsers show no PDF inside a page.
//!
//! PDFs come from strangers, and a small one can ask for any amount of memory and work. So a page is measured before it
//! is drawn (`streams`, `effort`), and whatever the libraries below make of it happens in a thread of its own, which
//! has a stack for the deepest nesting they follow and whose panic is nothing more than a page that can't be drawn.
//!
//! Decision: the fonts and character maps of `hayro` are embedded. PDFs needn't carry the 14 standard fonts, nor the
//! maps of Chinese, Japanese and Korean ones, and a page without its text is not the document. They cost 0.6 MB, zipped.

mod effort;
mod picture;
mod streams;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;
use std::thread;

use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::Affine;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::vello_cpu::{Pixmap, RasterizerSettings, RenderContext, Resources, TargetInit};
use hayro::{RenderCache, RenderSettings};

/// The widths that a page is drawn at, in pixels.
pub const WIDTHS_PX: RangeInclusive<u16> = 400..=1600;
/// The pixels of a drawn page: A4 at the largest width has 3.6 million. A longer page shrinks.
const PIXELS_MAX: f64 = 4_000_000.0;
/// The height of a drawn page, in pixels: what is longer shrinks too.
const HEIGHT_MAX: f64 = 16_000.0;
/// The bytes of a drawn page, which pass through a function: Lambda's bodies end at 6 MB, encoded. What is larger, such as
/// noise, shrinks as well.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// The stack for reading and drawing. `hayro` follows arrays 512 levels deep and forms 50.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Why a file can't be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a PDF with pages that can be opened")]
pub struct Unreadable;

/// The pages of a PDF.
pub struct Pages {
    pdf: Pdf,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").field("count", &self.count()).finish_non_exhaustive()
    }
}

impl Pages {
    /// Opens a PDF that needs no password.
    ///
    /// # Errors
    /// [`Unreadable`], also if it has no pages.
    pub fn open(file: impl Into<Vec<u8>>) -> Result<Self, Unreadable> {
        let file = file.into();
        let pdf = apart(move || Pdf::new(file).ok()).ok_or(Unreadable)?;
        if pdf.pages().is_empty() { Err(Unreadable) } else { Ok(Self { pdf }) }
    }

    /// The number of pages: at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pdf.pages().len()
    }

    /// The width and height of a page as it is shown, in points. The first page is 0; there is none after the last, and
    /// none for a page whose size is beyond all numbers.
    #[must_use]
    pub fn size(&self, n: usize) -> Option<(f32, f32)> {
        let (width, height) = self.pdf.pages().get(n)?.render_dimensions();
        (width.is_finite() && height.is_finite()).then_some((width, height))
    }

    /// Draws a page on white, as a PNG, or as a JPEG where that takes less, of this width: at least and at most [`WIDTHS_PX`], and less for a page that is so
    /// long that it would have too many pixels. There is no picture of a page that can't be drawn or asks for too much.
    #[must_use]
    pub fn render(&self, n: usize, width_px: u16) -> Option<Vec<u8>> {
        let size = self.size(n)?;
        apart(|| {
            let page = self.pdf.pages().get(n)?;
            let slowest = streams::slowest(page)?;
            let mut width_px = width_px.clamp(*WIDTHS_PX.start(), *WIDTHS_PX.end());
            loop {
                let (width, height) = pixels(size, width_px);
                let content = effort::of(page, (width, height), slowest);
                let picture = picture::of(&draw(page, width, height), content)?;
                if picture.len() <= BYTES_MAX {
                    return Some(picture);
                }
                width_px -= width_px / 4;
            }
        })
    }
}

/// Does something in a thread of its own. There is no result of what panics.
fn apart<T: Send>(work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("page".to_owned()).stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, work).ok()?.join().ok()?
    })
}

/// How many pixels a page of this size is wide and high.
fn pixels((width, height): (f32, f32), width_px: u16) -> (u16, u16) {
    let (width, height) = (f64::from(width), f64::from(height));
    let scale = (f64::from(width_px) / width).min(HEIGHT_MAX / height).min((PIXELS_MAX / (width * height)).sqrt());
    let in_pixels = |points: f64| whole((points * scale).round().max(1.0));
    (in_pixels(width), in_pixels(height))
}

/// Points to pixels, for a picture of the whole page.
fn transform(page: &Page<'_>, width_px: u16, height_px: u16) -> Affine {
    let (width, height) = page.render_dimensions();
    let scale =
        Affine::scale_non_uniform(f64::from(width_px) / f64::from(width), f64::from(height_px) / f64::from(height));
    scale * Affine::new(page.initial_transform(true).as_coeffs())
}

fn draw(page: &Page<'_>, width: u16, height: u16) -> Pixmap {
    let mut scene = RenderContext::new(width, height);
    let settings = InterpreterSettings::default();
    let at = transform(page, width, height);
    hayro::render_into(page, &RenderCache::new(), &settings, &RenderSettings::default(), &mut scene, at);
    scene.flush();
    let mut pixmap = Pixmap::new(width, height);
    let paper = RasterizerSettings { target_init: TargetInit::Clear(WHITE), ..Default::default() };
    scene.render_with(&mut pixmap, &mut Resources::default(), paper);
    pixmap
}

/// A number of pixels: what is out of range is the nearest in it.
fn whole(pixels: f64) -> u16 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
    let whole = pixels as u16;
    whole
}

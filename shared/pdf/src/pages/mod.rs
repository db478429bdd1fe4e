//! Renders PDF pages as images, for signers on phones, whose browsers show no PDF inside a page.
//!
//! PDFs come from strangers, and a small one can ask for any amount of memory and work. So a page is measured before
//! drawing (`streams`, `effort`), and the libraries run in a thread whose stack fits the deepest nesting they follow,
//! and whose panic only means that the page can't be drawn.
//!
//! Decision: `hayro`'s fonts and character maps are embedded (0.6 MB zipped). PDFs needn't carry the 14 standard fonts
//! or the Chinese, Japanese and Korean maps, and a page without its text isn't the document.

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

/// The allowed widths of a drawn page, in pixels.
pub const WIDTHS_PX: RangeInclusive<u16> = 400..=1600;
/// The most pixels of a drawn page; longer pages shrink. A4 at the largest width has 3.6 million.
const PIXELS_MAX: f64 = 4_000_000.0;
/// The most pixels in height; longer pages shrink.
const HEIGHT_MAX: f64 = 16_000.0;
/// The most bytes of a drawn page; larger ones, such as noise, shrink. Lambda limits bodies to 6 MB, encoded.
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
    /// Opens a PDF that needs no password and has pages.
    pub fn open(file: impl Into<Vec<u8>>) -> Result<Self, Unreadable> {
        let file = file.into();
        let pdf = apart(move || Pdf::new(file).ok()).ok_or(Unreadable)?;
        if pdf.pages().is_empty() { Err(Unreadable) } else { Ok(Self { pdf }) }
    }

    /// The number of pages, at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pdf.pages().len()
    }

    /// The displayed width and height of page `n`, from 0, in points. None if it doesn't exist or overflows.
    #[must_use]
    pub fn size(&self, n: usize) -> Option<(f32, f32)> {
        let (width, height) = self.pdf.pages().get(n)?.render_dimensions();
        (width.is_finite() && height.is_finite()).then_some((width, height))
    }

    /// Draws page `n` on white, as the smaller of PNG and JPEG, `width_px` wide within [`WIDTHS_PX`], or narrower if
    /// the page is too long. None for a page that can't be drawn or asks for too much.
    #[must_use]
    pub fn render(&self, n: usize, width_px: u16) -> Option<Vec<u8>> {
        let size = self.size(n)?;
        apart(|| {
            let page = self.pdf.pages().get(n)?;
            let slowest = streams::slowest(page)?;
            let mut width_px = width_px.clamp(*WIDTHS_PX.start(), *WIDTHS_PX.end());
            loop {
                let (width, height) = pixels(size.0, size.1, width_px);
                let content = effort::of(page, width, height, slowest);
                let picture = picture::of(&draw(page, width, height), content)?;
                if picture.len() <= BYTES_MAX {
                    return Some(picture);
                }
                width_px -= width_px / 4;
            }
        })
    }
}

/// Runs work in its own thread. None if it panics.
fn apart<T: Send>(work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("page".to_owned()).stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, work).ok()?.join().ok()?
    })
}

fn pixels(width: f32, height: f32, width_px: u16) -> (u16, u16) {
    let (width, height) = (f64::from(width), f64::from(height));
    let scale = (f64::from(width_px) / width).min(HEIGHT_MAX / height).min((PIXELS_MAX / (width * height)).sqrt());
    let in_pixels = |points: f64| whole((points * scale).round().max(1.0));
    (in_pixels(width), in_pixels(height))
}

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

fn whole(pixels: f64) -> u16 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
    let whole = pixels as u16;
    whole
}

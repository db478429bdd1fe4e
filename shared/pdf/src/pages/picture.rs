//! Encodes a drawn page as small as its colors allow, since signers load pages over phone networks.
//!
//! Decision: a page is a PNG, which keeps text exact, or a JPEG if it has images or gradients and its PNG is large. A
//! color scan of letter paper at 150 dots per inch took 3.4 MB as a PNG and takes 0.66 MB as a JPEG.

use std::collections::{BTreeMap, HashMap};

use hayro::vello_cpu::Pixmap;
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use png::{BitDepth, ColorType, DeflateCompression, Encoder, Filter};

use super::effort::Content;

/// Level 9 takes three times as long to save a tenth.
const LEVEL: u8 = 6;
/// The largest PNG of a page with images, in bytes. A page of text with a logo or small picture stays below.
const PNG_BYTES_MAX: usize = 256 * 1024;
const QUALITY: u8 = 85;
/// The most colors of a palette, and of one that packs two pixels into a byte.
const PALETTE_MAX: usize = 256;
const PALETTE_SMALL: usize = 16;
/// A color on at least one pixel in this many is the document's own, not the edge of a letter.
const OWN_COLOR: usize = 200;

type Pixel = [u8; 4];
struct Palette {
    /// The place of each color.
    places: HashMap<Pixel, u8>,
    colors: Vec<Pixel>,
}

/// Encodes as PNG or JPEG. Without images and gradients, keeps the document's own colors but coarsens letters' edges.
pub(super) fn of(page: &Pixmap, content: Content) -> Option<Vec<u8>> {
    let pixels = page.data_as_u8_slice().as_chunks().0;
    let png = png(page, pixels, content)?;
    if !content.shades || png.len() <= PNG_BYTES_MAX {
        return Some(png);
    }
    let jpeg = jpeg(page, pixels)?;
    Some(if jpeg.len() < png.len() { jpeg } else { png })
}

fn png(page: &Pixmap, pixels: &[Pixel], content: Content) -> Option<Vec<u8>> {
    let coded = match palette(pixels, content) {
        Some(palette) => indexed(pixels, page.width().into(), &palette),
        None if pixels.iter().copied().all(is_gray) => gray(pixels),
        None => full(pixels),
    };
    encode(page, coded)
}

fn jpeg(page: &Pixmap, pixels: &[Pixel]) -> Option<Vec<u8>> {
    let (coded, color) = if pixels.iter().copied().all(is_gray) {
        (gray(pixels), ExtendedColorType::L8)
    } else {
        (full(pixels), ExtendedColorType::Rgb8)
    };
    let mut file = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
    encoder.encode(&coded.data, page.width().into(), page.height().into(), color).ok()?;
    Some(file)
}

fn is_gray([red, green, blue, _]: Pixel) -> bool {
    red == green && green == blue
}

fn palette(pixels: &[Pixel], content: Content) -> Option<Palette> {
    let mut counts: HashMap<Pixel, usize> = HashMap::new();
    for run in pixels.chunk_by(|a, b| a == b) {
        *counts.entry(run[0]).or_default() += run.len();
        if content.shades && counts.len() > PALETTE_MAX {
            return None;
        }
    }
    let own = pixels.len() / OWN_COLOR;
    let kept = |pixel: &Pixel, count| if content.shades || count > own { *pixel } else { pixel.map(coarse) };
    let mut colors: BTreeMap<Pixel, u8> = counts.iter().map(|(pixel, count)| (kept(pixel, *count), 0)).collect();
    if colors.len() > PALETTE_MAX {
        return None;
    }
    for (index, (_, place)) in (0..=u8::MAX).zip(&mut colors) {
        *place = index;
    }
    let places = counts.iter().map(|(pixel, count)| (*pixel, colors[&kept(pixel, *count)])).collect();
    Some(Palette { places, colors: colors.into_keys().collect() })
}

/// Rounds to one of sixteen steps, including black and white.
fn coarse(channel: u8) -> u8 {
    const STEP: u8 = 255 / 15;
    (channel.saturating_add(STEP / 2)) / STEP * STEP
}

struct Coded {
    color: ColorType,
    depth: BitDepth,
    palette: Vec<u8>,
    data: Vec<u8>,
    /// Makes neighbors alike, which helps with shades.
    filter: Filter,
}

fn indexed(pixels: &[Pixel], width: usize, palette: &Palette) -> Coded {
    let mut at: Vec<u8> = Vec::with_capacity(pixels.len());
    for run in pixels.chunk_by(|a, b| a == b) {
        at.resize(at.len() + run.len(), palette.places[&run[0]]);
    }
    let (depth, data) = if palette.colors.len() > PALETTE_SMALL {
        (BitDepth::Eight, at)
    } else {
        let pair = |pair: &[u8]| pair[0] << 4 | pair.get(1).copied().unwrap_or_default();
        (BitDepth::Four, at.chunks(width.max(1)).flat_map(|row| row.chunks(2).map(pair)).collect())
    };
    let palette = palette.colors.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
    Coded { color: ColorType::Indexed, depth, palette, data, filter: Filter::NoFilter }
}

fn gray(pixels: &[Pixel]) -> Coded {
    let data = pixels.iter().map(|[shade, ..]| *shade).collect();
    Coded { color: ColorType::Grayscale, depth: BitDepth::Eight, palette: Vec::new(), data, filter: Filter::Adaptive }
}

fn full(pixels: &[Pixel]) -> Coded {
    let data = pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
    Coded { color: ColorType::Rgb, depth: BitDepth::Eight, palette: Vec::new(), data, filter: Filter::Adaptive }
}

fn encode(page: &Pixmap, coded: Coded) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, page.width().into(), page.height().into());
    encoder.set_color(coded.color);
    encoder.set_depth(coded.depth);
    encoder.set_filter(coded.filter);
    encoder.set_deflate_compression(DeflateCompression::Level(LEVEL));
    if coded.color == ColorType::Indexed {
        encoder.set_palette(coded.palette);
    }
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&coded.data).ok()?;
    writer.finish().ok()?;
    Some(file)
}

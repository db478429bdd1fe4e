//! Measures how much a page's compressed parts unpack to (4 MB can hold 4 GB, and `hayro` unpacks them whole), and how
//! slow its functions are: programs that may run for each pixel.

use std::collections::HashSet;
use std::io::{self, Read as _};

use flate2::read::{DeflateDecoder, ZlibDecoder};
use hayro::hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, Stream};
use hayro::hayro_syntax::page::Page;

/// The most bytes a page may unpack to. A color scan takes 26 MB, at the finest resolution 105 MB.
const UNPACKED_MAX: u64 = 128 * 1024 * 1024;
const OBJECTS_MAX: usize = 200_000;
/// The highest compression ratio of any filter.
const RATIO_MAX: u64 = 2048;

/// Program bytes that run in the time of a pixel.
const PROGRAM_BYTES: f64 = 6.0;

/// The time of the page's slowest function, relative to drawing a pixel. None if the page unpacks to too much.
pub(super) fn slowest(page: &Page<'_>) -> Option<f64> {
    let (mut seen, mut left, mut slowest) = (HashSet::new(), UNPACKED_MAX, 0_f64);
    let mut rest = vec![Object::Dict(page.raw().clone())];
    // Inherited by the page.
    let resources = page.resources();
    let inherited = [
        &resources.ext_g_states,
        &resources.fonts,
        &resources.x_objects,
        &resources.patterns,
        &resources.color_spaces,
        &resources.shadings,
    ];
    rest.extend(inherited.map(|dict| Object::Dict(dict.clone())));
    while let Some(object) = rest.pop() {
        if let Object::Stream(stream) = &object {
            let size = unpacked(stream, left);
            left = left.checked_sub(size)?;
            slowest = slowest.max(function(stream.dict(), size));
        }
        for part in parts(object) {
            let object = match part {
                MaybeRef::Ref(at) if seen.insert(at) => page.xref().get::<Object<'_>>(at.into()),
                MaybeRef::Ref(_) => None,
                MaybeRef::NotRef(object) => Some(object),
            };
            rest.extend(object.filter(|object| !is_page(object)));
        }
        if seen.len() > OBJECTS_MAX || rest.len() > OBJECTS_MAX {
            return None;
        }
    }
    Some(slowest)
}

/// The time of a function: a program's length, or for a table the number of corners around a point.
fn function(dict: &Dict<'_>, size: u64) -> f64 {
    let inputs = || dict.get::<Array<'_>>(b"Domain").map_or(0, |domain| domain.raw_iter().take(64).count() / 2);
    match dict.get::<u8>(b"FunctionType") {
        Some(0) => 2_f64.powi(i32::try_from(inputs()).unwrap_or(i32::MAX)),
        Some(4) => f64::from(u32::try_from(size).unwrap_or(u32::MAX)) / PROGRAM_BYTES,
        _ => 0.0,
    }
}

fn parts(object: Object<'_>) -> Vec<MaybeRef<Object<'_>>> {
    match object {
        Object::Dict(dict) => entries(&dict),
        Object::Stream(stream) => entries(stream.dict()),
        Object::Array(array) => array.raw_iter().collect(),
        _ => Vec::new(),
    }
}

fn entries<'a>(dict: &Dict<'a>) -> Vec<MaybeRef<Object<'a>>> {
    dict.entries().map(|(_, part)| part).collect()
}

/// Whether an object is a page or page list: a link's target isn't part of the page.
fn is_page(object: &Object<'_>) -> bool {
    let Object::Dict(dict) = object else { return false };
    dict.get::<Name<'_>>(b"Type").is_some_and(|name| matches!(name.as_ref(), b"Page" | b"Pages" | b"Catalog"))
}

/// The bytes a stream unpacks to, counted to just over `max`.
fn unpacked(stream: &Stream<'_>, max: u64) -> u64 {
    // `hayro_syntax` exports no name for the type; its debug text serves.
    let filters: Vec<String> = stream.filters().iter().map(|filter| format!("{filter:?}")).collect();
    let grow = filters.iter().filter(|name| matches!(name.as_str(), "FlateDecode" | "LzwDecode" | "RunLengthDecode"));
    let packed = stream.raw_data();
    let size = u64::try_from(packed.len()).unwrap_or(u64::MAX);
    match (filters.first().map(String::as_str), grow.count()) {
        (_, 0) => size,
        (Some("FlateDecode"), 1) => inflated(&packed, max),
        (_, 1) => size.saturating_mul(RATIO_MAX),
        // Programs don't compress twice.
        _ => u64::MAX,
    }
}

/// Inflates as `hayro` does, which also accepts data without a header.
fn inflated(packed: &[u8], max: u64) -> u64 {
    let mut whole = ZlibDecoder::new(packed);
    if let Ok(size) = io::copy(&mut whole.by_ref().take(max + 1), &mut io::sink()) {
        return size;
    }
    let mut headless = DeflateDecoder::new(packed);
    match io::copy(&mut headless.by_ref().take(max + 1), &mut io::sink()) {
        Ok(size) => size,
        Err(_) => whole.total_out().max(headless.total_out()),
    }
}

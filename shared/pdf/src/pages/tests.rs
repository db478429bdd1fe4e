use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use image::codecs::jpeg::JpegDecoder;
use image::{ColorType, ImageDecoder as _};

use super::*;

fn is_jpeg(picture: &[u8]) -> bool {
    picture.starts_with(b"\xff\xd8\xff")
}

/// Objects are numbered from 1. The first is the catalog.
fn pdf(objects: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        file.extend(format!("{} 0 obj\n", n + 1).bytes());
        file.extend(object.as_ref());
        file.extend(b"\nendobj\n");
    }
    let (at, size) = (file.len(), objects.len() + 1);
    file.extend(format!("{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n").bytes());
    file
}

fn stream(keys: &str, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let head = format!("<< {keys} /Length {} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// One page with these keys and this content. Further objects begin with number 5.
fn page(keys: &str, content: &str, further: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R {keys} >>").into_bytes(),
        stream("", content),
    ];
    objects.extend_from_slice(further);
    pdf(&objects)
}

const LETTER: &str = "/MediaBox [0 0 612 792]";

fn read(png: &[u8]) -> (u32, u32, Vec<[u8; 3]>) {
    if is_jpeg(png) {
        let decoder = JpegDecoder::new(std::io::Cursor::new(png)).unwrap();
        let ((width, height), color) = (decoder.dimensions(), decoder.color_type());
        let mut data = vec![0; usize::try_from(decoder.total_bytes()).unwrap()];
        decoder.read_image(&mut data).unwrap();
        let pixels = match color {
            ColorType::L8 => data.iter().map(|shade| [*shade; 3]).collect(),
            _ => data.as_chunks().0.to_vec(),
        };
        return (width, height, pixels);
    }
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    let pixels = match info.color_type {
        png::ColorType::Grayscale => data.iter().map(|shade| [*shade; 3]).collect(),
        _ => data.as_chunks().0.to_vec(),
    };
    (info.width, info.height, pixels)
}

fn share(pixels: &[[u8; 3]], of: impl Fn([u8; 3]) -> bool) -> f64 {
    f64::from(u32::try_from(pixels.iter().filter(|pixel| of(**pixel)).count()).unwrap())
        / f64::from(u32::try_from(pixels.len()).unwrap())
}

fn is_dark(pixel: [u8; 3]) -> bool {
    pixel.iter().all(|channel| *channel < 128)
}

fn rendered(file: Vec<u8>, width: u16) -> Option<Vec<u8>> {
    let started = Instant::now();
    let png = Pages::open(file).unwrap().render(0, width);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    png
}

#[test]
fn text_without_an_embedded_font_is_readable() {
    let keys = format!("{LETTER} /Resources << /Font << /F 5 0 R /T 6 0 R >> >>");
    let text = "BT /F 40 Tf 72 700 Td (Agreement) Tj /T 40 Tf 0 -60 Td (between) Tj ET";
    let font = |name| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} >>").into_bytes();
    let file = page(&keys, text, &[font("Helvetica"), font("Times-Roman")]);
    let pages = Pages::open(file).unwrap();
    assert_eq!((pages.count(), pages.size(0)), (1, Some((612.0, 792.0))));
    let png = pages.render(0, 612).unwrap();
    assert!(png.len() < 4000, "{} bytes", png.len());
    let (width, height, pixels) = read(&png);
    assert_eq!((width, height), (612, 792));
    let line = |top: usize| &pixels[top * 612..(top + 60) * 612];
    assert!(share(line(55), is_dark) > 0.03 && share(line(115), is_dark) > 0.02);
    assert!(line(300).iter().all(|pixel| *pixel == [255; 3]), "paper is white");
}

#[test]
fn a_turned_or_cropped_page_has_the_size_it_is_shown_in() {
    let size = |keys: &str| Pages::open(page(keys, "0 0 50 50 re f", &[])).unwrap().size(0);
    assert_eq!(size("/MediaBox [0 0 612 792] /Rotate 90"), Some((792.0, 612.0)));
    assert_eq!(size("/MediaBox [0 0 612 792] /CropBox [100 100 300 200]"), Some((200.0, 100.0)));
    let turned = rendered(page("/MediaBox [0 0 600 800] /Rotate 90", "0 0 100 100 re f", &[]), 800).unwrap();
    let (width, height, pixels) = read(&turned);
    assert_eq!((width, height), (800, 600));
    assert_eq!((pixels[0], pixels[799]), ([0; 3], [255; 3]), "turned to the right: the lower left is the upper left");
}

#[test]
fn colors_of_the_document_are_kept_and_shades_of_images_too() {
    let tint = rendered(page(LETTER, "0.96 0.97 0.98 rg 0 0 612 792 re f 0.1 0.3 0.56 rg 9 9 99 99 re f", &[]), 612);
    let (.., pixels) = read(&tint.unwrap());
    assert_eq!(pixels[0], [245, 247, 250]);
    assert!(share(&pixels, |pixel| pixel == [26, 77, 143]) > 0.0);
    let image = stream(
        "/Type /XObject /Subtype /Image /Width 256 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8",
        (0..=255).collect::<Vec<u8>>(),
    );
    let keys = format!("{LETTER} /Resources << /XObject << /I 5 0 R >> >>");
    let (.., pixels) = read(&rendered(page(&keys, "612 0 0 792 0 0 cm /I Do", &[image]), 612).unwrap());
    let mut shades: Vec<u8> = pixels.iter().map(|pixel| pixel[0]).collect();
    shades.sort_unstable();
    shades.dedup();
    assert!(shades.len() > 200, "{} shades", shades.len());
}

#[test]
fn a_picture_has_no_more_pixels_than_it_may() {
    let drawn = |keys: &str, width| {
        let (width, height, _) = read(&rendered(page(keys, "0 0 50 50 re f", &[]), width).unwrap());
        assert!(f64::from(width) * f64::from(height) <= PIXELS_MAX * 1.01, "{keys}: {width} × {height}");
        (width, height)
    };
    assert_eq!(drawn(LETTER, 0).0, 400);
    assert_eq!(drawn(LETTER, 900), (900, 1165));
    assert_eq!(drawn(LETTER, u16::MAX), (1600, 2071));
    assert_eq!(drawn("/MediaBox [0 0 612 14400]", 1600), (412, 9701));
    assert_eq!(drawn("/MediaBox [0 0 1 14400]", 1600), (1, 16000));
    assert_eq!(drawn("/MediaBox [0 0 14400 1]", 1600), (1600, 1));
    assert_eq!(drawn("/MediaBox [612 792 0 0]", 612), (612, 792), "corners in another order");
    assert_eq!(drawn("/MediaBox [-306 -396 306 396]", 612), (612, 792));
    assert_eq!(drawn("/MediaBox [0 0 0 0]", 595), (595, 842), "without an area: A4");
    assert_eq!(drawn("/MediaBox [0 0 1000000000 1000000000]", 1600), (1600, 1600));
    drawn("/MediaBox [0 0 612 792] /CropBox [900 900 1000 1000]", 400);
    drawn("/MediaBox [(a) /b]", 400);
    let beyond = format!("/MediaBox [0 0 1{zeros} 1{zeros}]", zeros = "0".repeat(60));
    let pages = Pages::open(page(&beyond, "", &[])).unwrap();
    assert_eq!((pages.size(0), pages.render(0, 400)), (None, None));
}

fn noise() -> impl Iterator<Item = u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
}

fn page_of_image([width, height]: [usize; 2], color: &str, pixels: &[u8]) -> Vec<u8> {
    let keys = format!(
        "/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /{color} /BitsPerComponent 8"
    );
    let resources = format!("{LETTER} /Resources << /XObject << /I 5 0 R >> >>");
    page(&resources, "612 0 0 792 0 0 cm /I Do", &[stream(&keys, pixels)])
}

#[test]
fn noise_shrinks_until_it_can_be_sent() {
    let pixels: Vec<u8> = noise().take(1600 * 2071 * 3).collect();
    let picture = rendered(page_of_image([1600, 2071], "DeviceRGB", &pixels), 1600).unwrap();
    assert!(picture.len() <= BYTES_MAX && picture.len() > BYTES_MAX / 4, "{} bytes", picture.len());
}

const SCAN: [usize; 2] = [1275, 1650];

/// A scan: grainy paper, lighter in the middle, with lines of letter-like strokes in this ink.
fn scan(ink: [u8; 3]) -> Vec<u8> {
    let mut noise = noise();
    let [width, height] = SCAN;
    let mut pixels = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            let is_text = (120..width - 120).contains(&x) && (120..height - 120).contains(&y) && y % 33 < 18;
            let is_ink = is_text && (x * 7 / 5 + (y / 33) * 13) % 11 < 3 && (x / 9 + y / 33) % 7 != 0;
            let shadow = u8::try_from((x.abs_diff(width / 2) + y.abs_diff(height / 2)) / 80).unwrap();
            let base = if is_ink { ink } else { [248, 246, 240].map(|channel: u8| channel - shadow) };
            pixels.extend(base.map(|channel| channel.saturating_add(noise.next().unwrap_or_default() % 10)));
        }
    }
    pixels
}

#[test]
fn a_scan_is_a_jpeg_of_a_fraction_of_its_png() {
    let pixels = scan([38, 44, 90]);
    let picture = rendered(page_of_image(SCAN, "DeviceRGB", &pixels), 1275).unwrap();
    assert!(is_jpeg(&picture));
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 1275, 1650);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_filter(png::Filter::Adaptive);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    assert!(picture.len() < 1_000_000 && picture.len() * 4 < png.len(), "{} and {} bytes", picture.len(), png.len());
    let (width, height, drawn) = read(&picture);
    assert_eq!((width, height), (1275, 1650));
    let near = |(drawn, source): (&[u8; 3], &[u8; 3])| {
        drawn.iter().zip(source).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>()
    };
    let differences: u64 = drawn.iter().zip(pixels.as_chunks().0).map(near).sum();
    let mean = differences / u64::try_from(pixels.len()).unwrap();
    assert!(mean < 8, "letters are as they were, and the grain of the paper nearly: {mean}");
    assert!((share(&drawn, is_dark) - share(pixels.as_chunks().0, is_dark)).abs() < 0.01);
}

#[test]
fn a_gray_scan_is_a_gray_jpeg() {
    let pixels: Vec<u8> = scan([40; 3]).as_chunks().0.iter().map(|[shade, _, _]: &[u8; 3]| *shade).collect();
    let picture = rendered(page_of_image(SCAN, "DeviceGray", &pixels), 1275).unwrap();
    assert!(is_jpeg(&picture) && picture.len() < 700_000, "{} bytes", picture.len());
    let (.., drawn) = read(&picture);
    assert!(drawn.iter().all(|[red, green, blue]| red == green && green == blue));
}

#[test]
fn a_page_of_text_with_a_small_picture_stays_a_png() {
    let pixels: Vec<u8> = noise().take(120 * 120 * 3).collect();
    let keys = "/Type /XObject /Subtype /Image /Width 120 /Height 120 /ColorSpace /DeviceRGB /BitsPerComponent 8";
    let resources = format!("{LETTER} /Resources << /XObject << /I 5 0 R >> >>");
    let text = "q 60 0 0 60 40 700 cm /I Do Q 0.1 0.3 0.56 rg 40 600 200 20 re f";
    let picture = rendered(page(&resources, text, &[stream(keys, &pixels)]), 1200).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let (.., drawn) = read(&picture);
    assert!(share(&drawn, |pixel| pixel == [26, 77, 143]) > 0.0, "its own colors are exact");
}

#[test]
fn what_is_no_pdf_with_pages_is_not_opened() {
    let whole = page(LETTER, "0 0 50 50 re f", &[]);
    for file in [&b""[..], b"%PDF-1.7", b"<!doctype html>", b"%PDF-1.7\n1 0 obj\n<<\n%%EOF"] {
        assert!(Pages::open(file).is_err());
    }
    let without = pdf(&["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"]);
    assert!(Pages::open(without).is_err());
    let pages = Pages::open(whole.clone()).unwrap();
    assert_eq!((pages.size(1), pages.render(1, 400), pages.render(usize::MAX, 400)), (None, None, None));
    // However truncated or changed, no file may abort the process.
    for at in 0..whole.len() {
        let _ = Pages::open(&whole[..at]).map(|pages| pages.render(0, 400));
        let mut changed = whole.clone();
        changed[at] ^= 0x15;
        let _ = Pages::open(changed).map(|pages| pages.render(0, 400));
    }
}

#[test]
fn nesting_ends_no_process() {
    let keys = "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Group << /S /Transparency >>";
    let form = |n: usize, content: &str| stream(&format!("{keys} /Resources << /XObject << /F {n} 0 R >> >>"), content);
    let resources = format!("{LETTER} /Resources << /XObject << /F 5 0 R >> >>");
    let itself = form(5, "/F Do /F Do 0 0 9 9 re f");
    assert!(rendered(page(&resources, "/F Do", &[itself]), 400).is_some());
    let forms = |content: &str| (0..200).map(|n| form(n + 6, content)).collect::<Vec<_>>();
    assert!(rendered(page(&resources, "/F Do", &forms("/F Do 0 0 9 9 re f")), 400).is_some());
    assert!(rendered(page(&resources, "/F Do", &forms("/F Do /F Do")), 400).is_none(), "2⁵⁰ times");
    let brackets = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let _ = Pages::open(page(&format!("{LETTER} /Deep {brackets}"), "", &[])).map(|pages| pages.render(0, 400));
    assert!(rendered(page(LETTER, &format!("{brackets} 0 d"), &[]), 400).is_some());
    assert!(rendered(page(LETTER, &"q ".repeat(500_000), &[]), 400).is_some());
    assert!(rendered(page(LETTER, &"0 0 9 9 re W n ".repeat(50_000), &[]), 400).is_some());
}

#[test]
fn a_page_that_asks_for_too_much_is_not_drawn() {
    let covered = "0.5 g 0 0 612 792 re f ".repeat(40_000);
    assert_eq!(rendered(page(LETTER, &covered, &[]), 1600), None);
    for dashes in ["[0.0001] 0 d", "[0 0] 0 d", "[-1] 0 d"] {
        let file = page(LETTER, &format!("{dashes} 0 0 m 100000 100000 l S"), &[]);
        assert_eq!(rendered(file, 1600), None, "{dashes}");
    }
    let keys = format!("{LETTER} /Resources << /Pattern << /P 5 0 R >> >>");
    let cell = |step| {
        let keys = "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 600 600] /Resources << >>";
        stream(&format!("{keys} /XStep {step} /YStep {step}"), "0 0 5 5 re f")
    };
    let filled = "/Pattern cs /P scn 0 0 612 792 re f";
    assert!(rendered(page(&keys, filled, &[cell("60")]), 800).is_some());
    assert!(rendered(page(&keys, filled, &[cell("0.01")]), 800).is_none());
    let image = |side: u32| {
        let keys = "/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8";
        stream(&format!("{keys} /Width {side} /Height {side}"), "abc")
    };
    let keys = format!("{LETTER} /Resources << /XObject << /I 5 0 R >> >>");
    assert!(rendered(page(&keys, "9 0 0 9 0 0 cm /I Do", &[image(100)]), 400).is_some());
    assert!(rendered(page(&keys, "9 0 0 9 0 0 cm /I Do", &[image(60_000)]), 400).is_none());
}

#[test]
fn a_program_that_would_run_for_each_pixel_is_short() {
    let filled = |program: &str| {
        let keys = format!("{LETTER} /Resources << /Shading << /S 5 0 R >> >>");
        let shading = "<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 612 0 792] /Function 6 0 R >>";
        let function = "/FunctionType 4 /Domain [0 612 0 792] /Range [0 1 0 1 0 1]";
        rendered(page(&keys, "/S sh", &[shading.as_bytes().to_vec(), stream(function, program)]), 800)
    };
    assert!(filled("{ 792 div exch 612 div dup }").is_some());
    assert!(filled(&format!("{{ {} dup }}", "dup sin cos mul ".repeat(5_000))).is_none());
}

#[test]
fn a_page_that_unpacks_to_more_than_fits_is_not_drawn() {
    let packed = |bytes: usize| {
        let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..bytes / 1024 {
            writer.write_all(&[b' '; 1024]).unwrap();
        }
        writer.finish().unwrap()
    };
    let file = |keys: &str, bytes| {
        let content = stream(keys, packed(bytes));
        let mut objects = vec![
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents [4 0 R 5 0 R] >>".to_vec(),
        ];
        objects.extend([content.clone(), content]);
        pdf(&objects)
    };
    assert!(rendered(file("/Filter /FlateDecode", 1 << 20), 400).is_some());
    assert!(rendered(file("/Filter /FlateDecode", 200 << 20), 400).is_none(), "two are too much");
    assert!(rendered(file("/Filter [/FlateDecode /FlateDecode]", 1 << 10), 400).is_none(), "packed twice");
    assert!(rendered(file("/Filter [/ASCIIHexDecode /Fl]", 200 << 20), 400).is_none());
}

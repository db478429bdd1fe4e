//! Pictures: uploaded ones, of which only the type is detected, and those in PDFs, which are drawn.

use std::time::Instant;

use crate::pdfs::{page, stream};
use crate::{Run, TIME_MAX, deadline};
use bytes::Bytes;
use shared::domain::file_type::FileType;
use shared::platform::pdf_reader::{PdfReader, Picture};

const WORDS: [&str; 6] = ["IDAT", "IEND", "PLTE", "JFIF", "jp2c", "ihdr"];
/// Decoders of pictures, with the rest of their dictionary.
const FILTERS: [&str; 6] = [
    "/Filter /DCTDecode",
    "/Filter /JPXDecode",
    "/Filter /JBIG2Decode",
    "/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 16 >>",
    "/Filter /LZWDecode",
    "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors 3 /Columns 2 >>",
];

fn jpeg() -> Vec<u8> {
    let quantization = [&[0xff, 0xdb, 0, 67, 0][..], &[16; 64]].concat();
    let frame = [0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0];
    // One code each, of length 1: a difference of no bits, and the end of the block.
    let table = |class: u8| [&[0xff, 0xc4, 0, 20, class, 1][..], &[0; 15], &[0]].concat();
    let scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f, 0xff, 0xd9];
    [&[0xff, 0xd8][..], &quantization, &frame, &table(0), &table(0x10), &scan].concat()
}

fn samples() -> Vec<Vec<u8>> {
    let codestream = [
        &[0xff, 0x4f, 0xff, 0x51, 0, 41, 0, 0, 0, 0, 0, 8, 0, 0, 0, 8][..],
        &[0; 8],
        &[0, 0, 0, 8, 0, 0, 0, 8],
        &[0; 8],
        &[0, 1, 7, 1, 1, 0xff, 0x52, 0, 12, 0, 0, 0, 1, 0, 0, 4, 4, 0, 1],
        &[0xff, 0x5c, 0, 4, 0x40, 0x40, 0xff, 0x90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0x93, 0, 0xff, 0xd9],
    ]
    .concat();
    let segments = vec![0, 0, 0, 0, 0x30, 0, 1, 0, 0, 0, 19, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\0\0\0\0\0\0\0\0IEND\xaeB`\x82".to_vec();
    vec![jpeg(), codestream, segments, png, vec![0x26, 0xa1, 0xff, 0, 0x55, 0x80, 0x10, 0x01]]
}

#[tokio::test]
async fn pictures_are_drawn_or_left_out() {
    let reader = PdfReader::of(env!("CARGO_BIN_EXE_fuzz").into());
    let samples = samples();
    assert_eq!(FileType::of(&samples[0]), Some(FileType::Jpeg));
    let mut run = Run::new("images");
    while let Some(image) = run.next(&samples, &WORDS) {
        run.within_limits(|| FileType::of(&image));
        let filter = FILTERS[image.iter().map(|byte| usize::from(*byte)).sum::<usize>() % FILTERS.len()];
        let keys = format!("/Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8 {filter}");
        let file = Bytes::from(page("99 0 0 99 0 0 cm /I Do", "/XObject << /I 5 0 R >>", &[stream(&keys, &image)]));
        let started = Instant::now();
        let drawn = reader.picture(file, Picture { page: 0, width_px: 400 }, deadline()).await.expect("a process");
        assert!(started.elapsed() < TIME_MAX, "{run}: {:?}", started.elapsed());
        if drawn.is_err() {
            println!("{run} is not drawn");
        }
    }
}

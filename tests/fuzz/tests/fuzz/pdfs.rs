//! PDFs, read as the service does: the first look in this process, the rest in a separate one.

use std::fmt::Write as _;

use bytes::Bytes;
use shared::domain::agreement::pdf::NotADocument;
use shared::platform::pdf_reader::{NotDrawn, PdfReader, Picture};

use crate::{Run, Taken, deadline};

const WORDS: [&str; 40] = [
    "/Length",
    "/Filter",
    "/FlateDecode",
    "/#46lateDecode",
    "/LZWDecode",
    "/RunLengthDecode",
    "/ASCII85Decode",
    "/Type/ObjStm",
    "/Type/XRef",
    "/Subtype/Image",
    "<<",
    ">>",
    "[",
    "]",
    "stream\n",
    "endstream",
    "endobj",
    "1 0 R",
    "3 0 R",
    "5 0 R",
    "/Kids",
    "/Parent",
    "/Prev 9",
    "/XRefStm 9",
    "7 0 obj",
    "xref",
    "trailer",
    "startxref",
    "/Encrypt 5 0 R",
    "(",
    ")",
    "/Resources",
    "/F Do",
    "q",
    "Q",
    "/P scn",
    "/DecodeParms<</Predictor 12/Columns 99999999>>",
    "/W[1 4 2]",
    "/Index[0 99999999]",
    "/N 99999999",
];

/// A PDF of objects numbered from 1, and of an object stream's content, if any.
pub(crate) fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        file.extend(format!("{} 0 obj\n", n + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (at, size) = (file.len(), objects.len() + 1);
    file.extend(format!("{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n").bytes());
    file
}

pub(crate) fn stream(keys: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< {keys} /Length {} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

pub(crate) fn page(content: &str, resources: &str, further: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << {resources} >> >>")
            .into_bytes(),
        stream("", content.as_bytes()),
    ];
    objects.extend_from_slice(further);
    pdf(&objects)
}

fn samples() -> Vec<Vec<u8>> {
    let text = "BT /T 12 Tf 9 99 Td (Agreement) Tj [(be) -20 (tween)] TJ ET q 0.5 g 9 9 99 99 re f Q /F Do";
    let form =
        stream("/Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources << >>", b"0 0 m 99 99 l 9 0 9 9 0 9 c S");
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec();
    let letter =
        b"<< /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 65 /LastChar 65 /Widths [9] \
        /Encoding << /Differences [65 /a] >> /CharProcs << /a 5 0 R >> >>"
            .to_vec();
    let shading = b"<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 99 0 99] /Function 6 0 R >>".to_vec();
    let function = stream("/FunctionType 4 /Domain [0 99 0 99] /Range [0 1 0 1 0 1]", b"{ 99 div exch 99 div dup }");
    let pattern = stream(
        "/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>",
        b"0 0 5 5 re f",
    );
    let objects = "1 0 2 34 <</Type/Catalog/Pages 2 0 R      >><</Type/Pages/Kids[3 0 R]/Count 1>>";
    let in_stream = stream("/Type /ObjStm /N 2 /First 9", objects.as_bytes());
    vec![
        page(text, "/Font << /T 6 0 R >> /XObject << /F 5 0 R >>", &[form, font]),
        page("BT /T 9 Tf (A) Tj ET", "/Font << /T 6 0 R >>", &[stream("", b"9 0 0 0 9 9 d1 0 0 9 9 re f"), letter]),
        page("/S sh", "/Shading << /S 5 0 R >>", &[shading, function]),
        page("/Pattern cs /P scn 0 0 200 200 re f [3 1] 0 d 0 0 m 99 99 l S", "/Pattern << /P 5 0 R >>", &[pattern]),
        page("BI /W 2 /H 2 /BPC 8 /CS /G ID abcd EI", "", &[in_stream]),
    ]
}

#[tokio::test]
async fn pdfs_are_read_or_refused() {
    let reader = PdfReader::of(env!("CARGO_BIN_EXE_fuzz").into());
    let samples = samples();
    let drawn = Picture { page: 0, width_px: 400 };
    for sound in &samples {
        assert_eq!(reader.check(sound.clone().into(), deadline()).await.expect("a process"), Ok(1));
        assert!(reader.picture(sound.clone().into(), drawn, deadline()).await.expect("a process").is_ok());
    }
    let mut run = Run::new("PDFs");
    let mut ended = 0;
    while let Some(file) = run.next(&samples, &WORDS) {
        let (file, before) = (Bytes::from(file), Taken::so_far());
        let checked = reader.check(file.clone(), deadline()).await.expect("a process");
        run.check(before);
        let before = Taken::so_far();
        let is_like_itself = reader.have_same_pages([file.clone(), file.clone()], deadline()).await.expect("a process");
        assert!(is_like_itself == Ok(true) || checked.is_err(), "{run}: a file that opens has its own pages");
        run.check(before);
        if checked.is_ok() {
            let before = Taken::so_far();
            let picture = reader.picture(file, drawn, deadline()).await.expect("a process");
            ended += u32::from(picture == Err(NotDrawn::TooDemanding));
            run.check(before);
        }
        if checked == Err(NotADocument::TooDemanding) {
            println!("{run} ends its reader");
        }
    }
    println!("one process took {} bytes at most", Taken::so_far().memory);
    println!("{ended} pages were not drawn");
}

//! Which files may be documents of an agreement: PDFs that everyone can open.
//!
//! [`pass`] only looks at bytes and may run anywhere. [`check`], [`page_sizes`] and [`pages_digest`] run in a separate
//! process, since a small file can make a reader recurse, compute or allocate without end.

mod actions;
mod appearance;
mod drawings;
mod encoding;
mod filter;
mod fonts;
mod known_fonts;
mod layers;
mod tokens;
mod unpacking;

use hayro_syntax::{LoadPdfError, Pdf};
use serde::{Deserialize, Serialize};

pub use drawings::pages_digest;
pub use filter::pass;

/// Why a file can't be a document. Displays as the end of "The file …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotADocument {
    /// Empty.
    #[error("is empty. Choose a PDF.")]
    Empty,
    /// Of another type.
    #[error("is not a PDF. Save it as a PDF, then upload that.")]
    NotAPdf,
    /// It is encrypted, with or without a password.
    #[error("is encrypted. Save it without a password or restrictions, then upload that.")]
    Encrypted,
    /// Truncated or otherwise broken.
    #[error("is a broken PDF that can’t be opened. Save it again, then upload that.")]
    Broken,
    /// More objects, streams or unpacked bytes than [`limits`](crate::limits) allow.
    #[error("unpacks to more than most readers can hold. Print it to a new PDF, then upload that.")]
    TooMuchInside,
    /// Its objects are packed in a way that hardly any program uses.
    #[error("is built in a way that few PDF readers can open. Print it to a new PDF, then upload that.")]
    Unusual,
    /// A form of a kind that most programs don't show.
    #[error("is an XFA form, which most programs can’t show. Print it to a new PDF, then upload that.")]
    XfaForm,
    /// Programs show its fields differently.
    #[error("has form fields that programs show differently. Print it to a new PDF, then upload that.")]
    FormDiffers,
    /// Programs draw its notes differently.
    #[error("has notes or stamps that programs draw differently. Print it to a new PDF, then upload that.")]
    NotesDiffer,
    /// Programs show its layers differently.
    #[error("has layers that programs show differently. Print it to a new PDF, then upload that.")]
    LayersDiffer,
    /// It can change what it shows once open.
    #[error("has scripts or actions that change what it shows. Print it to a new PDF, then upload that.")]
    Acts,
    /// Its text is in fonts that programs replace.
    #[error(
        "uses fonts that are not embedded in it, so its text can look different or be missing. Print it to a new PDF, then upload that."
    )]
    FontsMissing,
    /// Opening it took too much time or memory.
    #[error("takes too long or too much memory to open. Print it to a new PDF, then upload that.")]
    TooDemanding,
    /// It waited too long for other files to be opened.
    #[error("couldn’t be opened, because others are being opened. Try again in a moment.")]
    NotItsTurn,
    /// It has no pages.
    #[error("has no pages.")]
    NoPages,
}

/// The number of pages of a [passed](pass) PDF that everyone can open: whole, unencrypted, shown alike by all programs.
/// Even without a password, encryption keeps signers from printing or saving.
pub fn check(file: Vec<u8>) -> Result<usize, NotADocument> {
    let pdf = Pdf::new(file).map_err(|error| match error {
        LoadPdfError::Decryption(_) => NotADocument::Encrypted,
        LoadPdfError::Invalid => NotADocument::Broken,
    })?;
    if pdf.pages().is_empty() {
        return Err(NotADocument::NoPages);
    }
    appearance::check(&pdf)?;
    layers::check(&pdf)?;
    actions::check(&pdf)?;
    fonts::check(&pdf)?;
    Ok(pdf.pages().len())
}

/// Each page's displayed width and height, in points. Empty if the file can’t be opened.
#[must_use]
pub fn page_sizes(file: Vec<u8>) -> Vec<(f32, f32)> {
    let Ok(pdf) = Pdf::new(file) else { return Vec::new() };
    // Non-finite sizes count as letter paper.
    let in_bounds = |(width, height): (f32, f32)| {
        if width.is_finite() && height.is_finite() { (width, height) } else { (612.0, 792.0) }
    };
    pdf.pages().iter().map(|page| in_bounds(page.render_dimensions())).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn check(file: &[u8]) -> Result<usize, NotADocument> {
        pass(file)?;
        super::check(file.to_vec())
    }

    fn pdf(trailer: &str) -> Vec<u8> {
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
        ];
        let mut file = "%PDF-1.4\n".to_owned();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (n, object) in objects.iter().enumerate() {
            let _ = writeln!(table, "{:010} 00000 n ", file.len());
            let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
        }
        let at = file.len();
        let _ = write!(file, "{table}trailer\n<< /Size 4 /Root 1 0 R {trailer}>>\nstartxref\n{at}\n%%EOF\n");
        file.into_bytes()
    }

    #[test]
    fn a_whole_pdf_is_one() {
        assert_eq!(check(&pdf("")), Ok(1));
        let mut after_a_byte_order_mark = b"\xef\xbb\xbf\n".to_vec();
        after_a_byte_order_mark.extend(pdf(""));
        assert_eq!(check(&after_a_byte_order_mark), Ok(1), "readers repair shifted offsets");
    }

    #[test]
    fn what_not_everyone_can_open_is_refused_with_the_reason() {
        let whole = pdf("");
        assert_eq!(check(b""), Err(NotADocument::Empty));
        assert_eq!(check(b"<!doctype html><p>%%EOF"), Err(NotADocument::NotAPdf));
        assert_eq!(check(b"PK\x03\x04 a Word document"), Err(NotADocument::NotAPdf));
        assert_eq!(check(&whole[..whole.len() / 2]), Err(NotADocument::Broken), "cut off");
        assert_eq!(check(b"%PDF-1.7\nnothing\n%%EOF\n"), Err(NotADocument::Broken));
        for key in ["/Encrypt 9 0 R ", "/Encrypt<</Filter/Standard>>"] {
            assert_eq!(check(&pdf(key)), Err(NotADocument::Encrypted), "{key}");
        }
        assert_eq!(check(&pdf("/EncryptMetadata false ")), Ok(1));
        let text = String::from_utf8(whole).unwrap();
        let without_pages = text.replace("[3 0 R] /Count 1", "[     ] /Count 0");
        assert!(matches!(check(without_pages.as_bytes()), Err(NotADocument::NoPages | NotADocument::Broken)));
    }
}

#[cfg(test)]
mod alike_tests {
    use super::*;

    fn page(catalog: &str, keys: &str, content: &str, further: &[&str]) -> Vec<u8> {
        let mut objects = vec![
            format!("<< /Type /Catalog /Pages 2 0 R {catalog} >>"),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R {keys} >>"),
            stream("", content),
        ];
        objects.extend(further.iter().map(|object| (*object).to_owned()));
        file(&objects)
    }

    fn file(objects: &[String]) -> Vec<u8> {
        let bodies = objects.iter().zip(1..).map(|(object, n)| format!("{n} 0 obj\n{object}\nendobj\n"));
        let bodies: String = bodies.collect();
        // Without a table: readers find the objects themselves.
        format!("%PDF-1.4\n{bodies}trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n").into_bytes()
    }

    fn stream(keys: &str, content: &str) -> String {
        format!("<< {keys} /Length {} >>\nstream\n{content}\nendstream", content.len())
    }

    const TRUE_TYPE: &str = "00010000 0001000000000000 676C7966 00000000 0000001C 00000000>";

    fn form(content: &str) -> String {
        let keys = "/Type /XObject /Subtype /Form /BBox [0 0 99 20]";
        stream(&format!("{keys} /Resources << /Font << /H << /Subtype /Type1 /BaseFont /Helvetica >> >> >>"), content)
    }

    fn with_note(note: &str, drawing: &str) -> Result<usize, NotADocument> {
        let note = format!("<< /Type /Annot /Rect [9 9 99 29] {note} >>");
        let field = "/AcroForm << /Fields [5 0 R] >>";
        check(page(field, "/Annots [5 0 R]", "", &[&note, &form(drawing)]))
    }

    #[test]
    fn forms_that_programs_redraw_are_refused() {
        let blank =
            |form: &str, notes: &str, note: &str| check(page(&format!("/AcroForm << {form} >>"), notes, "", &[note]));
        let field = "<< /Subtype /Widget /FT /Tx /Rect [9 9 99 29] >>";
        assert_eq!(blank("/Fields []", "", ""), Ok(1));
        assert_eq!(blank("/Fields [] /NeedAppearances true", "", ""), Ok(1), "nothing to redraw");
        assert_eq!(
            blank("/Fields [5 0 R] /NeedAppearances true", "/Annots [5 0 R]", field),
            Err(NotADocument::FormDiffers)
        );
        assert_eq!(blank("/Fields [5 0 R]", "/Annots [5 0 R]", field), Ok(1), "an empty field");
        for xfa in ["/XFA 5 0 R", "/XFA [(template) 5 0 R]"] {
            assert_eq!(blank(xfa, "", &stream("", "<xdp/>")), Err(NotADocument::XfaForm), "{xfa}");
        }
        assert_eq!(blank("/XFA null", "", ""), Ok(1));
    }

    #[test]
    fn a_field_shows_its_value() {
        let text = |value: &str, drawing: &str| {
            with_note(&format!("/Subtype /Widget /FT /Tx /V {value} /AP << /N 6 0 R >>"), drawing)
        };
        let drawn = "BT /H 9 Tf (USD ) Tj 0 -9 Td [(9,) -30 (999)] TJ ET";
        assert_eq!(text("(USD 9,999)", drawn), Ok(1));
        assert_eq!(text("<FEFF00550053004400200039002C003900390039>", drawn), Ok(1));
        for stale in ["(USD 1,000)", "(USD 9,999.00)", "(USD 9,99)", "()", "(usd 9,999)"] {
            assert_eq!(text(stale, drawn), Err(NotADocument::FormDiffers), "{stale}");
        }
        for unread in ["BT (USD 9,999) Tj ET", "q /H 9 Tf Q (USD 9,999) Tj", "/H 9 Tf 3 Tr (USD 9,999) Tj"] {
            assert_eq!(text("(USD 9,999)", unread), Err(NotADocument::FormDiffers), "{unread}");
        }
        assert_eq!(
            text("(A)", "BT /Elsewhere 9 Tf (A) Tj ET"),
            Err(NotADocument::FormDiffers),
            "no font that is known"
        );
        for undrawn in [
            "/FT /Tx /V (9)",
            "/FT /Tx /MK << /BG [1] >>",
            "/FT /Ch /V (9)",
            "/FT /Btn /V /Yes",
            "/FT /Tx /Parent << /V (9) >>",
            "/FT /Ch /Opt [(9) (1)]",
            "/FT /Ch /Parent << /Opt [(9)] >>",
            "/FT /Ch /Opt [(9) (1)] /I [0]",
            "/FT /Ch /I [0]",
            "/FT /Sig /MK << /BG [0] >>",
            "/FT /Tx /F 2.0",
            "/FT /Tx /F -1",
        ] {
            assert_eq!(
                with_note(&format!("/Subtype /Widget {undrawn}"), ""),
                Err(NotADocument::FormDiffers),
                "{undrawn}"
            );
        }
        for nothing in [
            "/FT /Sig",
            "/FT /Tx",
            "/FT /Tx /V ()",
            "/FT /Btn",
            "/FT /Tx /F 2 /V (9)",
            "/FT /Tx /V null",
            "/FT /Ch",
            "/FT /Ch /Opt []",
        ] {
            assert_eq!(with_note(&format!("/Subtype /Widget {nothing}"), ""), Ok(1), "{nothing}");
        }
    }

    #[test]
    fn a_field_shows_its_value_in_all_scripts() {
        let text = |font: &str, value: &str, drawn: &str| {
            let fonts = format!("/Resources << /Font << /F << {font} >> >> >>");
            let note = format!("<< /Rect [9 9 99 29] /Subtype /Widget /FT /Tx /V {value} /AP << /N 6 0 R >> >>");
            let keys = format!("/Subtype /Form /BBox [0 0 99 20] {fonts}");
            let drawing = stream(&keys, &format!("BT /F 9 Tf {drawn} Tj ET"));
            let field = "/AcroForm << /Fields [5 0 R] >>";
            check(page(field, "/Annots [5 0 R]", "", &[&note, &drawing, &stream("", "%!PS-AdobeFont-1.0: A")]))
        };
        let own = "/Subtype /Type1 /BaseFont /Helvetica";
        let windows = &format!("{own} /Encoding /WinAnsiEncoding");
        let embedded = "/Subtype /Type1 /BaseFont /A /FontDescriptor << /FontFile 7 0 R >>";
        let encoding = "/Encoding << /Differences [24 /breve 39 /quotesingle 160 /Euro 200 /uni20AC] >>";
        let named = &format!("{embedded} {encoding}");
        let (pounds, euros) = ("<FEFF00A30039>", "<FEFF20AC0039>");
        for (font, value, drawn) in [
            (own, "(\\2439)", "(\\243 9)"),
            (own, pounds, "(\\2439)"),
            (windows, euros, "(\\200 9)"),
            (windows, "(\\240 9)", "(\\2009)"),
            (windows, "(Z\\374rich)", "(Z\\374rich)"),
            (windows, "<EFBBBF5AC3BC72696368>", "(Z\\374\\240rich)"),
            (named, euros, "(\\2409)"),
            (named, euros, "(\\3109)"),
        ] {
            assert_eq!(text(font, value, drawn), Ok(1), "{font} {value} {drawn}");
        }
        let symbols = "/Subtype /Type1 /BaseFont /ZapfDingbats";
        for (font, value, drawn) in [
            (own, euros, "(\\243 9)"),
            (own, "(\\240 9)", "(9)"),
            (own, "(Z\\374rich)", "(Z\\374rich)"),
            (windows, euros, "(\\2409)"),
            (windows, "<FEFF04300039>", "(\\3409)"),
            (named, "(9)", "(\\2409)"),
            (named, "(9)", "(\\0309)"),
            (embedded, pounds, "(\\2439)"),
            (symbols, "(9)", "(9)"),
            (own, "<FEFFD8000039>", "(\\3419)"),
            (own, "<FEFFFFFD0039>", "(\\3749)"),
        ] {
            assert_eq!(text(font, value, drawn), Err(NotADocument::FormDiffers), "{font} {value} {drawn}");
        }
        assert_eq!(text(embedded, "(9)", "(9)"), Ok(1), "letters of ASCII are those that they are elsewhere");
    }

    #[test]
    fn a_choice_and_a_button_show_theirs() {
        let choice = |keys: &str, drawing: &str| {
            with_note(&format!("/Subtype /Widget /FT /Ch {keys} /AP << /N 6 0 R >>"), drawing)
        };
        let options = "/Opt [[(1) (One)] [(2) (Two)]]";
        let two = "BT /H 9 Tf (Two) Tj ET";
        assert_eq!(choice(&format!("/Ff 131072 /V (2) {options}"), two), Ok(1));
        assert_eq!(choice(&format!("/Ff 131072 /V (1) {options}"), two), Err(NotADocument::FormDiffers));
        let both = "BT /H 9 Tf (One) Tj (Two) Tj ET";
        assert_eq!(choice(&format!("/V [(1) (2)] {options}"), both), Ok(1), "a list shows all");
        assert_eq!(choice(&format!("/V (3) {options}"), both), Err(NotADocument::FormDiffers));
        let states = "/AP << /N << /Yes 6 0 R >> >>";
        let button = |keys: &str| with_note(&format!("/Subtype /Widget /FT /Btn {states} {keys}"), "0 0 9 9 re f");
        for alike in ["/V /Yes /AS /Yes", "/V /Off /AS /Off", "/AS /Off", "", "/V /Other /AS /Off"] {
            assert_eq!(button(alike), Ok(1), "{alike}");
        }
        for stale in ["/V /Yes /AS /Off", "/V /Yes", "/V /Off /AS /Yes", "/AS /Yes"] {
            assert_eq!(button(stale), Err(NotADocument::FormDiffers), "{stale}");
        }
    }

    #[test]
    fn a_note_without_a_drawing_is_refused() {
        for note in [
            "/Subtype /FreeText /Contents (Ten)",
            "/Subtype /Text",
            "/Subtype /Stamp /AP << /N << /On 6 0 R >> >>",
            "/Subtype /Link /Border [0 0 60]",
            "/Subtype /Link /BS << /W 60 >>",
            "/Subtype /Stamp /F 2.0 /AP << /N 6 0 R >>",
            "/Subtype /Stamp /F -1 /AP << /N 6 0 R >>",
            "/Subtype /Stamp /F 4294967298 /AP << /N 6 0 R >>",
            "/Subtype /Stamp /F (2) /AP << /N 6 0 R >>",
        ] {
            assert_eq!(with_note(note, ""), Err(NotADocument::NotesDiffer), "{note}");
        }
        for note in [
            "/Subtype /Link",
            "/Subtype /Link /Border [0 0 1]",
            "/Subtype /Link /BS << /W 1 >>",
            "/Subtype /Link /AP << /N 6 0 R >> /Border [0 0 9]",
            "/Subtype /Popup",
            "/Subtype /Text /F 2",
            "/Subtype /Stamp /AP << /N 6 0 R >>",
        ] {
            assert_eq!(with_note(note, "0 0 9 9 re f"), Ok(1), "{note}");
        }
    }

    #[test]
    fn a_note_behind_what_is_none_is_refused() {
        let stamp = "<< /Subtype /Stamp /Rect [9 9 99 29] /AP << /N 6 0 R >> >>";
        let notes = |list: &str| check(page("", &format!("/Annots [{list}]"), "", &[stamp, &form("0 0 9 9 re f")]));
        assert_eq!(notes("5 0 R null"), Ok(1));
        for hides in ["null 5 0 R", "77 0 R 5 0 R", "7 5 0 R"] {
            assert_eq!(notes(hides), Err(NotADocument::NotesDiffer), "{hides}");
        }
    }

    #[test]
    fn text_is_in_fonts_that_everyone_has() {
        let text = |font: &str, content: &str, further: &[&str]| {
            let file =
                page("", &format!("/Resources << /Font << /F {font} >> /XObject << /X 5 0 R >> >>"), content, further);
            check(file)
        };
        let drawn = "BT /F 9 Tf (9) Tj ET";
        let arial = "<< /Subtype /TrueType /BaseFont /Arial >>";
        let japanese =
            "<< /Subtype /Type0 /BaseFont /H /DescendantFonts [<< /Subtype /CIDFontType0 /BaseFont /H >>] >>";
        let embedded = "<< /Subtype /TrueType /BaseFont /Arial /FontDescriptor << /FontFile2 5 0 R >> >>";
        let file = stream("/Filter /ASCIIHexDecode", TRUE_TYPE);
        assert_eq!(text("<< /Subtype /Type1 /BaseFont /Times-Roman >>", drawn, &[]), Ok(1));
        assert_eq!(text(embedded, drawn, &[&file]), Ok(1));
        for missing in [arial, japanese, "<< /Subtype /Type1 >>"] {
            assert_eq!(text(missing, drawn, &[]), Err(NotADocument::FontsMissing), "{missing}");
            for unseen in ["BT /F 9 Tf ET", "BT 3 Tr /F 9 Tf (9) Tj ET", "/F 9 Tf [() -9] TJ () Tj"] {
                assert_eq!(text(missing, unseen, &[]), Ok(1), "{missing} {unseen}");
            }
        }
        let times = "<< /Subtype /Type1 /BaseFont /Times-Roman >>";
        for without in [
            "BT (9) Tj ET",
            "BT /G 9 Tf (9) Tj ET",
            "q BT /F 9 Tf ET Q BT (9) Tj ET",
            "/F 9 Tf Q (9) Tj",
            "3.0 Tr /G 9 Tf (9) Tj",
        ] {
            assert_eq!(text(times, without, &[]), Err(NotADocument::FontsMissing), "{without}");
        }
        for unread in ["", "garbage"] {
            assert_eq!(text(embedded, drawn, &[&stream("", unread)]), Err(NotADocument::FontsMissing), "{unread}");
        }
        let named = |glyphs: &str| {
            let encoding = format!("/Encoding << /Differences [57 {glyphs}] >>");
            text(&format!("<< /Subtype /Type1 /BaseFont /Helvetica {encoding} >>"), drawn, &[])
        };
        assert_eq!(named("/Euro /A"), Ok(1));
        for other in ["/afii10017", "/Euro /uni4E00"] {
            assert_eq!(named(other), Err(NotADocument::FontsMissing), "{other}");
        }
        assert_eq!(text(arial, "q 3 Tr Q BT /F 9 Tf [(9)] TJ ET", &[]), Err(NotADocument::FontsMissing));
        let inside = stream("/Subtype /Form /BBox [0 0 9 9]", drawn);
        assert_eq!(text(arial, "/X Do", &[&inside]), Err(NotADocument::FontsMissing), "in a drawing on the page");
        let itself = stream("/Subtype /Form /BBox [0 0 9 9]", "/X Do");
        assert_eq!(text(arial, "/X Do", &[&itself]), Ok(1));
        let drawings = "<< /Subtype /Type3 /CharProcs << /a 5 0 R >> /Resources << /Font << /F << /Subtype /TrueType /BaseFont /Arial >> >> >> >>";
        assert_eq!(text(drawings, drawn, &[&stream("", "0 0 9 9 re f")]), Ok(1));
        assert_eq!(text(drawings, drawn, &[&stream("", drawn)]), Err(NotADocument::FontsMissing));
    }

    #[test]
    fn a_font_is_found_wherever_it_is_chosen() {
        const ARIAL: &str = "<< /Subtype /TrueType /BaseFont /Arial >>";
        const TIMES: &str = "<< /Subtype /Type1 /BaseFont /Times-Roman >>";
        let (drawn, shown) = ("BT /F 9 Tf (9) Tj ET", "BT (9) Tj ET");
        let form =
            |resources: &str, content: &str| stream(&format!("/Subtype /Form /BBox [0 0 9 9] {resources}"), content);
        let text = |keys: &str, content: &str, further: &[&str]| {
            let fonts = format!("/Font << /F {ARIAL} /T {TIMES} >>");
            check(page("", &format!("/Resources << {fonts} {keys} >>"), content, further))
        };
        let x = "/XObject << /X 5 0 R >>";
        for inside in [form("/Resources << >>", shown), form("", shown)] {
            assert_eq!(text(x, "/T 9 Tf /X Do", &[&inside]), Ok(1), "the font around");
            assert_eq!(text(x, "3 Tr /F 9 Tf /X Do", &[&inside]), Ok(1));
            for missing in ["/F 9 Tf /X Do", "/X Do", "/T 9 Tf /X Do /F 9 Tf /X Do", "/F 9 Tf /Y /X Do"] {
                assert_eq!(text(x, missing, &[&inside]), Err(NotADocument::FontsMissing), "{missing}");
            }
        }
        for (content, checked) in [
            ("/F /T 9 Tf (9) Tj", Ok(1)),
            ("/T /F 9 Tf (9) Tj", Err(NotADocument::FontsMissing)),
            ("/F 9 Tf /T (9) Tf (9) Tj", Err(NotADocument::FontsMissing)),
        ] {
            assert_eq!(text("", content, &[]), checked, "{content}");
        }
        let letters = "/Font << /L << /Subtype /Type3 /CharProcs << /a 5 0 R >> >> /F";
        let letters = format!("/Resources << {letters} {ARIAL} >> >>");
        let checked = check(page("", &letters, "/L 9 Tf (a) Tj", &[&stream("", drawn)]));
        assert_eq!(checked, Err(NotADocument::FontsMissing), "in a letter");
        let mask = "/ExtGState << /G << /SMask << /S /Luminosity /G 5 0 R >> >> >>";
        assert_eq!(text(mask, "/G gs 0 0 9 9 re f", &[&form("", drawn)]), Err(NotADocument::FontsMissing), "in a mask");
        assert_eq!(text(mask, "/G gs 0 0 9 9 re f", &[&form("", "0 0 9 9 re f")]), Ok(1));
    }

    #[test]
    fn a_drawing_is_looked_at_on_each_page() {
        let page_of = |font: &str| {
            let fonts = format!("/Font << /F << /Subtype /Type1 /BaseFont /{font} >> >>");
            let named = format!("/Resources << {fonts} /XObject << /X 6 0 R >> >>");
            format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R {named} >>")
        };
        let both = |one: &str, other: &str| {
            let objects = [
                "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
                "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>".to_owned(),
                page_of(one),
                page_of(other),
                stream("", "/X Do"),
                stream("/Subtype /Form /BBox [0 0 9 9]", "BT /F 9 Tf (9) Tj ET"),
            ];
            check(file(&objects))
        };
        assert_eq!(both("Helvetica", "Courier"), Ok(2));
        assert_eq!(both("Helvetica", "Arial"), Err(NotADocument::FontsMissing));
    }

    #[test]
    fn hidden_layers_are_refused() {
        let group = |chosen: &str, usage: &str| {
            let catalog = format!("/OCProperties << /OCGs [5 0 R] /D << {chosen} >> >>");
            let layer = format!("<< /Type /OCG /Name (Layer) /Usage << {usage} >> >>");
            let named = "/Resources << /Properties << /L 5 0 R >> >>";
            check(page(&catalog, named, "/OC /L BDC 0 0 9 9 re f EMC", &[&layer]))
        };
        let usual = "/Print << /PrintState /ON >> /View << /ViewState /ON >>";
        let by_purpose = |purpose: &str| format!("/AS [<< /Event /View /Category [/View /{purpose}] /OCGs [5 0 R] >>]");
        for shown in ["", "/OFF []", "/BaseState /ON /ON [5 0 R]", &by_purpose("Print")] {
            assert_eq!(group(shown, usual), Ok(1), "{shown}");
        }
        for hidden in ["/OFF [5 0 R]", "/BaseState /OFF", &by_purpose("Zoom")] {
            assert_eq!(group(hidden, usual), Err(NotADocument::LayersDiffer), "{hidden}");
        }
        for differs in ["/View << /ViewState /OFF >>", "/Print << /PrintState /OFF >>"] {
            assert_eq!(group("", differs), Err(NotADocument::LayersDiffer), "{differs}");
        }
        let several = |rule: &str| {
            let layer = format!("<< /Type /OCMD /OCGs [6 0 R] {rule} >>");
            let drawing = stream("/Subtype /Form /BBox [0 0 9 9] /OC 5 0 R", "");
            let further = [&layer, "<< /Type /OCG /Name (Layer) >>", &drawing];
            let named = "/Resources << /Properties << /L 5 0 R >> /XObject << /X 7 0 R >> >>";
            ["/OC /L BDC EMC", "/X Do"].map(|content| check(page("", named, content, &further)))
        };
        for shown in ["", "/P /AllOn"] {
            assert_eq!(several(shown), [Ok(1); 2], "{shown}");
        }
        for computed in ["/P /AllOff", "/VE [/Not 6 0 R]"] {
            assert_eq!(several(computed), [Err(NotADocument::LayersDiffer); 2], "{computed}");
        }
        let of_layer = |note: &str| with_note(&format!("{note} /OC << /Type /OCG >>"), "0 0 9 9 re f");
        assert_eq!(of_layer("/Subtype /Stamp /AP << /N 6 0 R >>"), Err(NotADocument::LayersDiffer));
        assert_eq!(of_layer("/Subtype /Link"), Ok(1));
    }

    #[test]
    fn what_changes_once_it_is_open_is_refused() {
        let script = "<< /S /JavaScript /JS (this.getField\\('Price'\\).value = '1') >>";
        let opening = |action: &str| check(page(&format!("/OpenAction {action}"), "", "", &[]));
        for action in
            [script, "<< /Type /Action /S /SetOCGState >>", "<< /S /GoTo /Next [<< /S /Hide /T (Price) >>] >>"]
        {
            assert_eq!(opening(action), Err(NotADocument::Acts), "{action}");
        }
        for (catalog, keys) in [
            ("/Names << /JavaScript << /Names [(A) 5 0 R] >> >>", ""),
            ("", "/AA << /O 5 0 R >>"),
            ("", "/Annots [<< /Subtype /Link /Rect [9 9 99 29] /A 5 0 R >>]"),
        ] {
            assert_eq!(check(page(catalog, keys, "", &[script])), Err(NotADocument::Acts), "{catalog}{keys}");
        }
        for harmless in ["<< /S /GoTo /D [3 0 R /Fit] >>", "<< /S /URI /URI (a) >>", "[3 0 R /Fit]"] {
            assert_eq!(opening(harmless), Ok(1), "{harmless}");
        }
        assert_eq!(check(page("", "", "", &["<< /Type /StructElem /S /Hide >>"])), Ok(1), "a heading of that name");
    }
}

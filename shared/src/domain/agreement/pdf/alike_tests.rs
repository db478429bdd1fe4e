//! What programs show differently is refused.

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

/// A font that programs can read.
fn sound() -> Vec<u8> {
    include_bytes!("../../../../pdf/fonts/mono.ttf").to_vec()
}

fn font_file(font: &[u8]) -> String {
    stream("/Filter /ASCIIHexDecode", &format!("{}>", crate::crypto::hex(font)))
}

fn form(content: &str) -> String {
    let keys = "/Type /XObject /Subtype /Form /BBox [0 0 99 20]";
    stream(&format!("{keys} /Resources << /Font << /H << /Subtype /Type1 /BaseFont /Helvetica >> >> >>"), content)
}

fn with_note(note: &str, drawing: &str) -> Result<usize, NotADocument> {
    let print = if note.contains("/F ") { "" } else { "/F 4" };
    let note = format!("<< /Type /Annot /Rect [9 9 99 29] {print} {note} >>");
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
    assert_eq!(text("(A)", "BT /Elsewhere 9 Tf (A) Tj ET"), Err(NotADocument::FormDiffers), "no font that is known");
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
        assert_eq!(with_note(&format!("/Subtype /Widget {undrawn}"), ""), Err(NotADocument::FormDiffers), "{undrawn}");
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
        let note = format!("<< /Rect [9 9 99 29] /F 4 /Subtype /Widget /FT /Tx /V {value} /AP << /N 6 0 R >> >>");
        let keys = format!("/Subtype /Form /BBox [0 0 99 20] {fonts}");
        let drawing = stream(&keys, &format!("BT /F 9 Tf {drawn} Tj ET"));
        let field = "/AcroForm << /Fields [5 0 R] >>";
        check(page(field, "/Annots [5 0 R]", "", &[&note, &drawing, &font_file(&sound())]))
    };
    let own = "/Subtype /Type1 /BaseFont /Helvetica";
    let windows = &format!("{own} /Encoding /WinAnsiEncoding");
    let embedded = "/Subtype /Type1 /BaseFont /A /FontDescriptor << /FontFile3 7 0 R >>";
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
    let choice =
        |keys: &str, drawing: &str| with_note(&format!("/Subtype /Widget /FT /Ch {keys} /AP << /N 6 0 R >>"), drawing);
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
    let stamp = "<< /Subtype /Stamp /F 4 /Rect [9 9 99 29] /AP << /N 6 0 R >> >>";
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
    let japanese = "<< /Subtype /Type0 /BaseFont /H /DescendantFonts [<< /Subtype /CIDFontType0 /BaseFont /H >>] >>";
    let embedded = "<< /Subtype /TrueType /BaseFont /Arial /FontDescriptor << /FontFile2 5 0 R >> >>";
    let file = font_file(&sound());
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
fn an_embedded_font_can_be_read() {
    let text = |descriptor: &str, kind: &str, file: &[u8]| {
        let font = format!("<< /Subtype /{kind} /BaseFont /A /FontDescriptor << /{descriptor} 5 0 R >> >>");
        let fonts = format!("/Resources << /Font << /F {font} >> >>");
        check(page("", &fonts, "BT /F 9 Tf (A) Tj ET", &[&font_file(file)]))
    };
    let sound = sound();
    assert_eq!(text("FontFile2", "TrueType", &sound), Ok(1));
    assert_eq!(text("FontFile3", "Type1", &sound), Ok(1));
    assert_eq!(text("FontFile", "Type1", &type_1("/A")), Ok(1));
    let without = |table: &[u8; 4]| {
        let at = sound.windows(4).position(|name| name == table).unwrap();
        [&sound[..at], b"none", &sound[at + 4..]].concat()
    };
    let at_most = |bytes: usize| sound[..bytes].to_vec();
    for (descriptor, kind, file) in [
        ("FontFile2", "TrueType", Vec::new()),
        ("FontFile2", "TrueType", b"garbage".to_vec()),
        ("FontFile2", "TrueType", at_most(400)),
        ("FontFile2", "TrueType", without(b"maxp")),
        ("FontFile2", "TrueType", without(b"loca")),
        ("FontFile2", "TrueType", without(b"head")),
        ("FontFile", "Type1", b"%!PS-AdobeFont-1.0: A".to_vec()),
        ("FontFile", "Type1", b"%!PS another program".to_vec()),
        ("FontFile3", "Type1", b"\x01\x00\x04\x01\x00\x01\x01\x01\x02A".to_vec()),
    ] {
        let head = String::from_utf8_lossy(&file[..file.len().min(24)]);
        assert_eq!(text(descriptor, kind, &file), Err(NotADocument::FontsUnreadable), "{descriptor} {head}");
    }
}

/// A Type 1 font of one letter, as programs for typesetting embed them.
fn type_1(letter: &str) -> Vec<u8> {
    let encrypted = |text: &[u8], mut key: u16| -> Vec<u8> {
        let encrypt = |byte: &u8| {
            let cipher = byte ^ key.to_be_bytes()[0];
            key = u16::from(cipher).wrapping_add(key).wrapping_mul(52845).wrapping_add(22719);
            cipher
        };
        text.iter().map(encrypt).collect()
    };
    // Four bytes of nothing, a width of 0, and the end.
    let drawing = encrypted(&[0, 0, 0, 0, 139, 139, 13, 14], 4330);
    let names = [".notdef", letter.trim_start_matches('/')];
    let mut private = b"0000dup /Private 8 dict dup begin /RD {string currentfile exch readstring pop} def \
        /lenIV 4 def /Subrs 0 array def 2 index /CharStrings 2 dict dup begin\n"
        .to_vec();
    for name in names {
        private.extend(format!("/{name} {} RD ", drawing.len()).bytes());
        private.extend(&drawing);
        private.extend(b" ND\n");
    }
    private
        .extend(b"end end readonly put noaccess put dup /FontName get exch definefont pop mark currentfile closefile");
    let head = format!(
        "%!PS-AdobeFont-1.0: A\n11 dict begin /FontName /A def /FontMatrix [0.001 0 0 0.001 0 0] readonly def \
         /Encoding 256 array 0 1 255 {{1 index exch /.notdef put}} for dup 65 {letter} put readonly def \
         /FontBBox {{0 0 9 9}} readonly def currentdict end\ncurrentfile eexec\n"
    );
    [head.into_bytes(), encrypted(&private, 55665), vec![b'0'; 512], b"\ncleartomark".to_vec()].concat()
}

#[test]
fn a_font_is_found_wherever_it_is_chosen() {
    const ARIAL: &str = "<< /Subtype /TrueType /BaseFont /Arial >>";
    const TIMES: &str = "<< /Subtype /Type1 /BaseFont /Times-Roman >>";
    let (drawn, shown) = ("BT /F 9 Tf (9) Tj ET", "BT (9) Tj ET");
    let form = |resources: &str, content: &str| stream(&format!("/Subtype /Form /BBox [0 0 9 9] {resources}"), content);
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
fn rich_text_says_what_the_field_shows() {
    let text = |keys: &str| {
        let keys = format!("/Subtype /Widget /FT /Tx /Ff 33554432 {keys} /AP << /N 6 0 R >>");
        with_note(&keys, "BT /H 9 Tf (USD 9) Tj ET")
    };
    let rich = |text: &str| format!("/RV (<?xml version=\"1.0\"?><body><p>{text}</p></body>)");
    for alike in ["", "/RV null", &rich("USD 9"), &rich("USD <b>9</b>"), &rich("USD&#32;9")] {
        assert_eq!(text(&format!("/V (USD 9) {alike}")), Ok(1), "{alike}");
    }
    for other in ["/RV 7", "/RV ()", &rich("USD 1"), &rich("USD 9<!-- 0 -->"), "/Parent << /RV (USD 1) >>"] {
        assert_eq!(text(&format!("/V (USD 9) {other}")), Err(NotADocument::FormDiffers), "{other}");
    }
    let alone = with_note(&format!("/Subtype /Widget /FT /Tx {}", rich("9")), "");
    assert_eq!(alone, Err(NotADocument::FormDiffers), "without a value and a drawing");
}

#[test]
fn what_is_printed_is_what_is_shown() {
    let stamp =
        |flags: u32, drawing: &str| with_note(&format!("/Subtype /Stamp /F {flags} /AP << /N 6 0 R >>"), drawing);
    let (invisible, hidden, print, no_view, toggle) = (1, 2, 4, 32, 256);
    // "Invisible" is only about types of notes that a program doesn't know.
    for alike in [print, print | 128, invisible | print, hidden, hidden | print, no_view, no_view | hidden | print] {
        assert_eq!(stamp(alike, "0 0 9 9 re f"), Ok(1), "{alike}");
    }
    for differs in [0, 128, no_view | print, toggle | print, toggle | no_view] {
        for drawing in ["0 0 9 9 re f", "/X Do", "BT /H 9 Tf (9) Tj ET", "BI /W 1 /H 1 /BPC 8 /CS /G ID a EI"] {
            assert_eq!(stamp(differs, drawing), Err(NotADocument::PrintDiffers), "{differs} {drawing}");
        }
        for empty in ["", "/Tx BMC EMC", "q BT /H 9 Tf () Tj ET Q"] {
            assert_eq!(stamp(differs, empty), Ok(1), "{differs} {empty}");
        }
    }
    let undrawn = |flags: u32| with_note(&format!("/Subtype /Widget /FT /Tx /V (9) /F {flags}"), "");
    assert_eq!(undrawn(no_view | print), Err(NotADocument::FormDiffers), "a program may draw it on paper");
    assert_eq!((undrawn(no_view), undrawn(hidden | print)), (Ok(1), Ok(1)));
    assert_eq!(with_note("/Subtype /Link /F 0", ""), Ok(1));
}

#[test]
fn films_and_models_are_refused() {
    for kind in ["3D", "Movie", "RichMedia", "Screen"] {
        let playing = with_note(&format!("/Subtype /{kind} /AP << /N 6 0 R >>"), "0 0 9 9 re f");
        assert_eq!(playing, Err(NotADocument::NotesDiffer), "{kind}");
    }
}

#[test]
fn what_changes_once_it_is_open_is_refused() {
    let script = "<< /S /JavaScript /JS (this.getField\\('Price'\\).value = '1') >>";
    let opening = |action: &str| check(page(&format!("/OpenAction {action}"), "", "", &[]));
    for action in [script, "<< /Type /Action /S /SetOCGState >>", "<< /S /GoTo /Next [<< /S /Hide /T (Price) >>] >>"] {
        assert_eq!(opening(action), Err(NotADocument::Acts), "{action}");
    }
    for (catalog, keys) in [
        ("/Names << /JavaScript << /Names [(A) 5 0 R] >> >>", ""),
        ("", "/AA << /O 5 0 R >>"),
        ("", "/Annots [<< /Subtype /Link /Rect [9 9 99 29] /A 5 0 R >>]"),
        ("", "/Annots [<< /Subtype /Link /Rect [9 9 99 29] /AA << /E 5 0 R >> >>]"),
        ("/AcroForm << /Fields [<< /FT /Tx /AA << /C 5 0 R >> >>] >>", ""),
        ("/AA << /WP << /S /URI /URI (a) /Next 5 0 R >> >>", ""),
    ] {
        assert_eq!(check(page(catalog, keys, "", &[script])), Err(NotADocument::Acts), "{catalog}{keys}");
    }
    for disguised in [script.replace("/S ", "/Type /StructElem /S "), script.replace("/S ", "/Type /Other /S ")] {
        assert_eq!(opening(&disguised), Err(NotADocument::Acts), "{disguised}");
    }
    assert_eq!(opening("<< /S /#4aavaScript /JS (1) >>"), Err(NotADocument::Acts));
    for harmless in ["<< /S /GoTo /D [3 0 R /Fit] >>", "<< /S /URI /URI (a) >>", "[3 0 R /Fit]"] {
        assert_eq!(opening(harmless), Ok(1), "{harmless}");
    }
    assert_eq!(check(page("", "", "", &["<< /Type /StructElem /S /Hide >>"])), Ok(1), "a heading of that name");
}

//! Names in every script that certificates have fonts for.

use super::*;
use crate::{fonts, reading};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shaping {
    /// One glyph per character.
    Plain,
    /// Characters need other glyphs or another order.
    Shaped,
}

use Shaping::{Plain, Shaped};

/// A name in each script, and whether its letters join, stack or reorder.
const NAMES: [(&str, &str, Shaping); 43] = [
    ("Latin", "Łukasz Żółć", Plain),
    ("Vietnamese", "Nguyễn Thị Ánh", Plain),
    ("Azerbaijani", "Əliyev Gülnarə", Plain),
    ("Hausa", "Ɓala Ɗanjuma ɓɗƙ", Plain),
    ("Greek", "Δημήτρης Παπαδόπουλος", Plain),
    ("Cyrillic", "Жанна Щербакова Ѓорѓи Ђорђе Ўткір Ҷамшед", Plain),
    ("Hebrew", "דנה לוי", Plain),
    ("Arabic", "محمد عبد الله", Shaped),
    ("Persian", "می\u{200c}خواهم", Shaped),
    ("Devanagari", "राजेश क्षत्रिय", Shaped),
    ("Bengali", "শ্রীমতী রবীন্দ্রনাথ", Shaped),
    ("Gurmukhi", "ਹਰਪ੍ਰੀਤ ਸਿੰਘ", Shaped),
    ("Gujarati", "શ્રીમતી મિત્રા", Shaped),
    ("Odia", "ଶ୍ରୀ କ୍ଷୀରୋଦ", Shaped),
    ("Tamil", "க்ஷேமா கோபாலன்", Shaped),
    ("Telugu", "శ్రీనివాస్ రెడ్డి", Shaped),
    ("Kannada", "ಶ್ರೀಮತಿ ಕೃಷ್ಣ", Shaped),
    ("Malayalam", "ശ്രീധരൻ ക്കോ", Shaped),
    ("Sinhala", "ශ්\u{200d}රී ලංකා", Shaped),
    ("Thai", "น้ำทิพย์ ใจดี", Shaped),
    ("Lao", "ສົມຊາຍ ນ້ຳ", Shaped),
    ("Tibetan", "བསྟན་འཛིན་རྒྱ་མཚོ", Shaped),
    ("Myanmar", "ကြည်ဖြူ မင်္ဂလာ", Shaped),
    ("Georgian", "გიორგი ბერიძე ᲒᲘᲝᲠᲒᲘ", Plain),
    ("Ethiopic", "አበበ ቢቂላ", Plain),
    ("Khmer", "សុខ ស្រីមុំ", Shaped),
    ("Armenian", "Արամ Խաչատրյան", Plain),
    ("Thaana", "މުޙައްމަދު", Plain),
    ("Tifinagh", "ⵎⴰⵙⵉⵏⵉⵙⵙⴰ", Plain),
    ("Syllabics", "ᓄᓇᕗᑦ ᐃᓄᒃ", Plain),
    ("Cherokee", "ᏍᏏᏉᏯ", Plain),
    ("N’Ko", "ߒߞߏ ߡߊ߬ߡߊ", Shaped),
    ("Ol Chiki", "ᱥᱟᱱᱛᱟᱲ", Plain),
    ("Meetei Mayek", "ꯃꯩꯇꯩ", Plain),
    ("Adlam", "𞤀𞤣𞤢𞤤𞤢𞤥", Shaped),
    ("Simplified", "王昊天 张镕基", Plain),
    ("Traditional", "陳大文 游錫堃", Plain),
    ("rare Chinese", "喆頔翀旻玥祎㛃䶮", Plain),
    ("rarest Chinese", "𬭊𬀩𫖯", Plain),
    ("Japanese", "佐藤 由美子 髙橋 槇 かな カナ", Plain),
    ("Korean", "김민준 설믜 뷁", Plain),
    ("Bopomofo", "ㄅㄆㄇ", Plain),
    ("full width", "ＡＢＣ１２３", Plain),
];

#[test]
fn every_script_has_glyphs_and_is_shaped() {
    let fonts = fonts::all();
    let faces = text::Faces::load(&fonts).unwrap();
    for (script, name, shaping) in NAMES {
        for style in [text::Style::Text, text::Style::Strong, text::Style::Mono] {
            let line = faces.single_line(name, style, 10.0, 10_000.0);
            assert!(line.runs.iter().all(|run| !run.code), "{script} has characters without a font: {name}");
            let glyphs = line.runs.iter().flat_map(|run| faces.glyphs(run));
            let shaped: Vec<u32> = glyphs.map(|glyph| glyph.glyph_id.to_u32()).collect();
            assert!(!shaped.contains(&0) && line.width > 0.0, "{script}: {name}");
            let alone: Vec<u32> = line.runs.iter().flat_map(|run| faces.unshaped(run)).collect();
            let mut reversed = alone.clone();
            reversed.reverse();
            let differs = shaped != alone && shaped != reversed;
            assert!(differs || shaping == Plain, "{script} is not shaped: {shaped:?}");
        }
    }
}

#[test]
fn names_in_every_script_can_be_searched_and_copied() {
    let mut certificate = certificate(0);
    certificate.acts = NAMES
        .map(|(script, name, _)| Act { at: script.to_owned(), actor: name.to_owned(), what: String::new() })
        .into();
    let file = written(&certificate);
    drawn("all_scripts", &file);
    let text = reading::text(&file).unwrap();
    for (script, name, _) in NAMES {
        for word in copied(name).split(' ') {
            assert!(text.contains(word), "{script}: {word} in {text}");
        }
    }
    assert!(!text.contains(char::REPLACEMENT_CHARACTER), "{text}");
    let read: String = text.split_whitespace().collect();
    for fact in ["CERTIFICATE OF COMPLETION", "Northwind Trading LLC", "Signed by Anna Lindqvist"] {
        assert!(read.contains(&fact.replace(' ', "")), "{fact}");
    }
}

/// A name as copied: right-to-left joiners are only in the structure.
fn copied(name: &str) -> String {
    name.replace('\u{200c}', "")
}

/// Names with their vowel signs.
const VOCALIZED: [&str; 6] = ["מֹשֶׁה כֹּהֵן", "שָׂרָה לֵוִי", "יִשְׂרָאֵל בֶּן־צִיּוֹן", "مُحَمَّد بْن عَبْدِ اللّٰه", "فَاطِمَةُ الزَّهْرَاء", "لَيْلَى الأَمِير"];

/// Most readers search with Poppler's engine, tested where installed.
#[test]
fn names_that_run_to_the_left_are_given_back_by_pdftotext() {
    let mut certificate = certificate(0);
    let to_left: Vec<&str> = ["Hebrew", "Arabic", "Persian"]
        .into_iter()
        .filter_map(|wanted| NAMES.iter().find(|(script, ..)| *script == wanted).map(|(_, name, _)| *name))
        .chain(["לאה בן־דוד", "Anna Levy אנה לוי", "سلام الأمير", "خالد بن يوسف الشيخ"])
        .chain(["جعفر ثابت ذو الفقار", "غياث ظافر ضياء", "پژمان گلچین", "ڈاکٹر ٹیپو"])
        .chain(VOCALIZED)
        .collect();
    let act = |name: &&str| Act { at: "now".to_owned(), actor: (*name).to_owned(), what: String::new() };
    certificate.acts = to_left.iter().map(act).collect();
    let file = written(&certificate);
    drawn("to_left", &file);
    let pdf = hayro::hayro_syntax::Pdf::new(file.clone()).unwrap();
    for page in pdf.pages().iter() {
        let content = String::from_utf8_lossy(page.page_stream().unwrap());
        assert!(!content.contains("ActualText"), "Chromium leaves such a text out");
    }
    let path = std::env::temp_dir().join(format!("countersign-{}.pdf", std::process::id()));
    std::fs::write(&path, file).unwrap();
    let read = std::process::Command::new("pdftotext").arg(&path).arg("-").output();
    std::fs::remove_file(&path).unwrap();
    let Ok(read) = read else {
        assert!(std::env::var_os("COUNTERSIGN_REQUIRE_TOOLS").is_none(), "pdftotext is not installed");
        println!("not tried: pdftotext is not installed");
        return;
    };
    let text = String::from_utf8(read.stdout).unwrap();
    for name in to_left {
        for word in copied(name).split(' ') {
            assert!(text.contains(word), "{word} of {name} in {text}");
        }
    }
}

#[test]
fn no_character_is_left_out() {
    let every = |range: std::ops::RangeInclusive<u32>| range.filter_map(char::from_u32);
    let fonts = fonts::all();
    let faces = text::Faces::load(&fonts).unwrap();
    let mut missing = 0;
    // Every character of the scripts with fonts, and a sample of the rest.
    let some = every(0x20..=0x2FFF).chain(every(0x3000..=0x2_FFFF).step_by(23)).chain(every(0xE_0000..=0xE_01FF));
    for c in some {
        let (text, runs) = (c.to_string(), faces.single_line(&c.to_string(), text::Style::Text, 10.0, 10_000.0).runs);
        let shown: String = runs.iter().map(|run| run.text.as_str()).collect();
        if runs.iter().any(|run| run.code) {
            missing += 1;
            assert_eq!(shown, format!("[U+{:04X}]", u32::from(c)));
        } else {
            assert_eq!(shown, text);
        }
        let glyphs: Vec<u32> =
            runs.iter().flat_map(|run| faces.glyphs(run)).map(|glyph| glyph.glyph_id.to_u32()).collect();
        assert!(!glyphs.is_empty() && !glyphs.contains(&0), "[U+{:04X}]: {glyphs:?}", u32::from(c));
    }
    assert!(missing > 2_000, "{missing}");
    let main = every(0x4E00..=0x9FA5).filter(|c| !faces.is_shown(*c)).count();
    let syllables = every(0xAC00..=0xD7A3).filter(|c| !faces.is_shown(*c)).count();
    assert_eq!((main, syllables), (0, 0), "Chinese characters of the main block, and Korean syllables");
}

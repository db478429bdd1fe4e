//! Decodes the bytes of a PDF's texts: text strings, and what simple fonts draw (ISO 32000-1, 7.9.2 and annex D).
//!
//! Decision: an undecodable character is [`UNKNOWN`], which equals nothing. A font can give any code any shape: its
//! statements about codes are trusted; otherwise an ASCII letter stands for itself.

use hayro_syntax::object::{Array, Dict, Name, Object};

use super::known_fonts::{is_embedded, is_standard};

pub(super) const UNKNOWN: char = char::REPLACEMENT_CHARACTER;

const HIGH: u8 = 0x80;
const WIN_ANSI: &str = "\
    €�‚ƒ„…†‡ˆ‰Š‹Œ�Ž��‘’“”•–—˜™š›œ�žŸ\
    \u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß\
    àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
/// Programs differ where Apple changed its encoding later.
const MAC_ROMAN: &str = "\
    ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü\
    †°¢£§•¶ß®©™´¨�ÆØ�±��¥µ�����ªº�æø\
    ¿¡¬�ƒ��«»…\u{a0}ÀÃÕŒœ–—“”‘’÷�ÿŸ⁄�‹›ﬁﬂ\
    ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ�ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";
const STANDARD: &str = "\
    ��������������������������������\
    �¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ�–†‡·�¶•‚„”»…‰�¿\
    �`´ˆ˜¯˘˙¨�˚¸�˝˛ˇ—���������������\
    �Æ�ª����ŁØŒº�����æ���ı��łøœß����";
const PDF_DOC: &str = "\
    •†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž�\
    €¡¢£¤¥¦§¨©ª«¬�®¯°±²³´µ¶·¸¹º»¼½¾¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß\
    àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
const PDF_DOC_LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];

/// Glyph names beyond ASCII that fonts use in `Differences`, each with its character.
const GLYPHS: &str = "\
    Aacute Á aacute á Acircumflex Â acircumflex â acute ´ Adieresis Ä adieresis ä AE Æ ae æ Agrave À agrave à \
    Aring Å aring å Atilde Ã atilde ã breve ˘ brokenbar ¦ bullet • caron ˇ Ccedilla Ç ccedilla ç cedilla ¸ \
    cent ¢ circumflex ˆ copyright © currency ¤ dagger † daggerdbl ‡ degree ° dieresis ¨ divide ÷ dotaccent ˙ \
    dotlessi ı Eacute É eacute é Ecircumflex Ê ecircumflex ê Edieresis Ë edieresis ë Egrave È egrave è \
    ellipsis … emdash — endash – Eth Ð eth ð Euro € exclamdown ¡ fi ﬁ fl ﬂ florin ƒ fraction ⁄ germandbls ß \
    guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › hungarumlaut ˝ Iacute Í iacute í \
    Icircumflex Î icircumflex î Idieresis Ï idieresis ï Igrave Ì igrave ì logicalnot ¬ Lslash Ł lslash ł \
    macron ¯ minus − mu µ multiply × Ntilde Ñ ntilde ñ Oacute Ó oacute ó Ocircumflex Ô ocircumflex ô Odieresis Ö \
    odieresis ö OE Œ oe œ ogonek ˛ Ograve Ò ograve ò onehalf ½ onequarter ¼ onesuperior ¹ ordfeminine ª \
    ordmasculine º Oslash Ø oslash ø Otilde Õ otilde õ paragraph ¶ periodcentered · perthousand ‰ plusminus ± \
    questiondown ¿ quotedblbase „ quotedblleft “ quotedblright ” quoteleft ‘ quoteright ’ quotesinglbase ‚ \
    registered ® ring ˚ Scaron Š scaron š section § sterling £ Thorn Þ thorn þ threequarters ¾ threesuperior ³ \
    tilde ˜ trademark ™ twosuperior ² Uacute Ú uacute ú Ucircumflex Û ucircumflex û Udieresis Ü udieresis ü \
    Ugrave Ù ugrave ù Yacute Ý yacute ý Ydieresis Ÿ ydieresis ÿ yen ¥ Zcaron Ž zcaron ž";

const ASCII_GLYPHS: &str = "\
    space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen \
    period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at \
    bracketleft backslash bracketright asciicircum underscore grave braceleft bar braceright asciitilde";
const BLANK_GLYPHS: &str = ".notdef nbspace nonbreakingspace";
/// The names of the signs in Symbol that text fonts lack (ISO 32000-1, D.5).
const SYMBOL_GLYPHS: &str = "\
    universal existential suchthat asteriskmath congruent Alpha Beta Chi Delta Epsilon Phi Gamma Eta Iota theta1 Kappa Lambda \
    Mu Nu Omicron Pi Theta Rho Sigma Tau Upsilon sigma1 Omega Xi Psi Zeta therefore perpendicular radicalex alpha beta chi \
    delta epsilon phi gamma eta iota phi1 kappa lambda nu omicron pi theta rho sigma tau upsilon omega1 omega xi psi zeta \
    similar Upsilon1 minute lessequal infinity club diamond heart spade arrowboth arrowleft arrowup arrowright arrowdown \
    second greaterequal proportional partialdiff notequal equivalence approxequal arrowvertex arrowhorizex carriagereturn \
    aleph Ifraktur Rfraktur weierstrass circlemultiply circleplus emptyset intersection union propersuperset reflexsuperset \
    notsubset propersubset reflexsubset element notelement angle gradient registerserif copyrightserif trademarkserif product \
    radical dotmath logicaland logicalor arrowdblboth arrowdblleft arrowdblup arrowdblright arrowdbldown lozenge angleleft \
    registersans copyrightsans trademarksans summation parenlefttp parenleftex parenleftbt bracketlefttp bracketleftex \
    bracketleftbt bracelefttp braceleftmid braceleftbt braceex angleright integral integraltp integralex integralbt \
    parenrighttp parenrightex parenrightbt bracketrighttp bracketrightex bracketrightbt bracerighttp bracerightmid \
    bracerightbt apple";

/// Decodes a text string: UTF-16 or UTF-8 with its mark, else one byte per character.
pub(super) fn of_string(text: &[u8]) -> String {
    if let Some(units) = text.strip_prefix(b"\xfe\xff") {
        let units: Vec<u16> = units.as_chunks().0.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
        return String::from_utf16_lossy(&units);
    }
    match text.strip_prefix(b"\xef\xbb\xbf") {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => text.iter().map(|byte| of_pdf_doc(*byte)).collect(),
    }
}

fn of_pdf_doc(byte: u8) -> char {
    match byte {
        0x18..=0x1f => PDF_DOC_LOW[usize::from(byte - 0x18)],
        0x7f => UNKNOWN,
        ..HIGH => byte.into(),
        _ => high(PDF_DOC, byte),
    }
}

fn high(encoding: &str, code: u8) -> char {
    encoding.chars().nth(usize::from(code - HIGH)).unwrap_or(UNKNOWN)
}

pub(super) struct Encoding([char; 256]);

impl Encoding {
    pub(super) fn of(font: &Dict<'_>) -> Option<Self> {
        let is_simple = name(font, b"Subtype").is_some_and(|subtype| !matches!(&*subtype, b"Type0" | b"Type3"));
        if !is_simple || is_of_pictures(font) {
            return None;
        }
        let given = font.get::<Object<'_>>(b"Encoding");
        let (base, differences) = match given {
            Some(Object::Name(base)) => (Some(base), Array::default()),
            Some(Object::Dict(encoding)) => {
                (name(&encoding, b"BaseEncoding"), encoding.get(b"Differences").unwrap_or_default())
            }
            _ => (None, Array::default()),
        };
        let base = match base.as_deref() {
            Some(b"WinAnsiEncoding") => Some(WIN_ANSI),
            Some(b"MacRomanEncoding") => Some(MAC_ROMAN),
            Some(b"PDFDocEncoding") => Some(PDF_DOC),
            Some(b"StandardEncoding") => Some(STANDARD),
            Some(_) => return None,
            // An embedded font may have an encoding of its own.
            None => (!is_embedded(font) && is_standard(font)).then_some(STANDARD),
        };
        let mut codes = [UNKNOWN; 256];
        for (code, stands_for) in (0_u8..=u8::MAX).zip(&mut codes) {
            *stands_for = match (code, base) {
                (b'\t' | b'\n' | b'\r' | b' '..=b'~', _) => code.into(),
                (HIGH.., Some(base)) => high(base, code),
                _ => UNKNOWN,
            };
        }
        apply(&mut codes, &differences).then_some(Self(codes))
    }

    pub(super) fn read(&self, drawn: &[u8]) -> impl Iterator<Item = char> {
        drawn.iter().map(|code| self.0[usize::from(*code)])
    }
}

/// Applies an encoding's differences. False if they move ASCII letters or can't be read.
fn apply(codes: &mut [char; 256], differences: &Array<'_>) -> bool {
    let mut code = 0_usize;
    for part in differences.iter::<Object<'_>>() {
        match part {
            Object::Number(next) => code = usize::try_from(next.as_i64()).unwrap_or(usize::MAX),
            Object::Name(glyph) => {
                // Quotation marks that every program moves.
                let is_usual = matches!((code, &*glyph), (39, b"quotesingle") | (96, b"grave"));
                if (32..127).contains(&code) && !is_usual {
                    return false;
                }
                if let Some(stands_for) = codes.get_mut(code).filter(|_| !is_usual) {
                    *stands_for = of_glyph(&glyph);
                }
                code = code.saturating_add(1);
            }
            _ => return false,
        }
    }
    true
}

/// The character of a glyph name: one of [`GLYPHS`], or a number as in `uni20AC`.
fn of_glyph(glyph: &[u8]) -> char {
    let Ok(glyph) = std::str::from_utf8(glyph) else { return UNKNOWN };
    let number = || {
        let digits = glyph.strip_prefix("uni").filter(|digits| digits.len() == 4)?;
        u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
    };
    of_known_glyph(glyph).or_else(number).unwrap_or(UNKNOWN)
}

fn of_known_glyph(glyph: &str) -> Option<char> {
    let mut known = GLYPHS.split(' ').zip(GLYPHS.split(' ').skip(1)).step_by(2);
    known.find(|(name, _)| *name == glyph).and_then(|(_, character)| character.chars().next())
}

/// Whether a standard font uses only letters that every program finds: by name, not by number as in `uni20AC`.
pub(super) fn has_usual_letters(font: &Dict<'_>) -> bool {
    let encoding = font.get::<Dict<'_>>(b"Encoding").unwrap_or_default();
    let differences = encoding.get::<Array<'_>>(b"Differences").unwrap_or_default();
    let base = name(font, b"BaseFont");
    differences.iter::<Object<'_>>().filter_map(Object::into_name).all(|glyph| {
        std::str::from_utf8(&glyph).is_ok_and(|glyph| is_usual(base.as_deref().unwrap_or_default(), glyph))
    })
}

fn is_usual(font: &[u8], glyph: &str) -> bool {
    let is_in = |names: &str| names.split(' ').any(|name| name == glyph);
    let is_letter = || matches!(glyph.as_bytes(), [letter] if letter.is_ascii_alphabetic());
    let is_sign = || match font {
        b"Symbol" => is_in(SYMBOL_GLYPHS),
        b"ZapfDingbats" => glyph.strip_prefix('a').is_some_and(|number| number.parse::<u8>().is_ok()),
        _ => false,
    };
    is_letter() || is_in(ASCII_GLYPHS) || is_in(BLANK_GLYPHS) || of_known_glyph(glyph).is_some() || is_sign()
}

fn is_of_pictures(font: &Dict<'_>) -> bool {
    name(font, b"BaseFont").is_some_and(|name| name.ends_with(b"Symbol") || name.ends_with(b"ZapfDingbats"))
}

fn name<'a>(dict: &Dict<'a>, key: &[u8]) -> Option<Name<'a>> {
    dict.get(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_has_its_characters() {
        for (encoding, code, stands_for) in [
            (WIN_ANSI, 0x80, '€'),
            (WIN_ANSI, 0xa3, '£'),
            (WIN_ANSI, 0xff, 'ÿ'),
            (WIN_ANSI, 0x81, UNKNOWN),
            (MAC_ROMAN, 0x80, 'Ä'),
            (MAC_ROMAN, 0xa3, '£'),
            (MAC_ROMAN, 0xdb, UNKNOWN),
            (STANDARD, 0xa3, '£'),
            (STANDARD, 0xfb, 'ß'),
            (STANDARD, 0xfc, UNKNOWN),
            (PDF_DOC, 0xa0, '€'),
            (PDF_DOC, 0xa3, '£'),
            (PDF_DOC, 0xad, UNKNOWN),
        ] {
            assert_eq!(high(encoding, code), stands_for, "{code:x}");
        }
        for encoding in [WIN_ANSI, MAC_ROMAN, STANDARD, PDF_DOC] {
            assert_eq!(encoding.chars().count(), 128);
        }
        assert!(GLYPHS.split(' ').count().is_multiple_of(2));
        for (glyph, stands_for) in [("Euro", '€'), ("zcaron", 'ž'), ("uni20AC", '€'), ("a97", UNKNOWN)] {
            assert_eq!(of_glyph(glyph.as_bytes()), stands_for, "{glyph}");
        }
    }

    #[test]
    fn strings_are_utf_16_utf_8_or_bytes() {
        for text in [&b"\xfe\xff\x20\xac\x00 \x009"[..], b"\xef\xbb\xbf\xe2\x82\xac 9", b"\xa0 9"] {
            assert_eq!(of_string(text), "€ 9");
        }
        assert_eq!(of_string(b"\x1f\x7f"), "˜\u{fffd}");
    }

    #[test]
    fn a_standard_font_has_the_standard_letters() {
        let (text, signs, dingbats) = (&b"Helvetica"[..], &b"Symbol"[..], &b"ZapfDingbats"[..]);
        for (font, glyph) in [
            (text, "A"),
            (text, "quotesingle"),
            (text, "zero"),
            (text, "Euro"),
            (text, "zcaron"),
            (text, ".notdef"),
            (signs, "lambda"),
            (signs, "mu"),
            (dingbats, "a20"),
        ] {
            assert!(is_usual(font, glyph), "{glyph}");
        }
        for (font, glyph) in [
            (text, "afii10017"),
            (text, "uni4E00"),
            (text, "uni0041"),
            (text, "sfthyphen"),
            (text, "lambda"),
            (text, "a20"),
            (text, "g7"),
            (text, "1"),
            (text, ""),
            (signs, "afii10017"),
            (dingbats, "apple"),
        ] {
            assert!(!is_usual(font, glyph), "{glyph}");
        }
    }
}

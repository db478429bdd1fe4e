use super::*;
use crate::pages::Pages;

mod large;
mod scripts;

fn signer(name: &str, signature: Signature) -> Signer {
    Signer {
        name: name.to_owned(),
        email: "signer@example.com".to_owned(),
        signed_at: "March 4, 2026, 5:12:09 PM UTC".to_owned(),
        method: if matches!(signature, Signature::Typed(_)) { "Typed name" } else { "Drawn signature" }.to_owned(),
        intent: "I have read this document and sign it electronically. I intend my signature to be as binding as one \
                 on paper."
            .to_owned(),
        consent: Some(Consent {
            version: "Electronic records and signatures, version 3".to_owned(),
            sha256: "5f".repeat(32),
            given_at: "March 4, 2026, 5:09:41 PM UTC".to_owned(),
        }),
        shown_sha256: "9c1a".repeat(16),
        address: "203.0.113.24".to_owned(),
        browser: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                  Version/18.3 Mobile/15E148 Safari/604.1"
            .to_owned(),
        signature: Some(signature),
    }
}

fn strokes() -> Signature {
    let at = |n: u16| {
        let t = f32::from(n) / 20.0;
        (80.0 + t * 78.0, 200.0 - (t * 2.3).sin() * 110.0 * (1.0 - t / 14.0))
    };
    Signature::Drawn(vec![(0..200).map(at).collect(), vec![(150.0, 330.0), (820.0, 300.0)], vec![(860.0, 320.0)]])
}

fn certificate(events: usize) -> Certificate {
    let event = |n: usize| Event {
        at: format!("March 4, 2026, 5:{:02}:{:02} PM UTC", n / 60 % 60, n % 60),
        name: ["agreement.activated", "document.viewed", "document.signed", "agreement.completed"][n % 4].to_owned(),
        id: format!("01957f0a-2c1e-7c3a-9a52-{n:012x}"),
    };
    let act =
        |at: &str, actor: &str, what: &str| Act { at: at.to_owned(), actor: actor.to_owned(), what: what.to_owned() };
    Certificate {
        id: "01957f0a-2c1e-7c3a-9a52-6f0d3b1e77aa".to_owned(),
        agreement: "Master Services Agreement, Northwind and Lindqvist".to_owned(),
        organization: "Northwind Trading LLC".to_owned(),
        reference: "01957ef1-b0d4-7d11-8f43-0a86d20c9b15".to_owned(),
        completed_at: "March 4, 2026, 5:12:10 PM UTC".to_owned(),
        date: Date { year: 2026, month: 3, day: 4, hour: 17, minute: 12, second: 10 },
        statement: "This certificate lists who signed the documents of this agreement, how and when, as Northwind \
                    Trading LLC recorded it in Countersign. A document is the one that was signed if its SHA-256 is \
                    the one shown here."
            .to_owned(),
        documents: vec![
            Document {
                name: "Master Services Agreement (execution version).pdf".to_owned(),
                sha256: "3b0c44298fc1c149afbf4c8996fb9242".repeat(2),
                pages: Some(14),
                signers: vec![
                    signer("Anna Lindqvist", strokes()),
                    signer("Bob Marsh", Signature::Typed("Bob Marsh".to_owned())),
                ],
            },
            Document {
                name: "Schedule A: Statement of Work.pdf".to_owned(),
                sha256: "e7d1".repeat(16),
                pages: Some(3),
                signers: vec![Signer {
                    method: "Signed on paper, recorded by Carla Diaz".to_owned(),
                    signature: None,
                    consent: None,
                    ..signer("Anna Lindqvist", strokes())
                }],
            },
        ],
        promises: vec![Promise {
            name: "Quarterly report".to_owned(),
            parties: "Bob Marsh to Anna Lindqvist".to_owned(),
            due: "every quarter from 31 Mar 2026 until 31 Dec 2027".to_owned(),
        }],
        acts: vec![
            act("March 3, 2026, 9:14:00 AM UTC", "Carla Diaz", "Approved the agreement"),
            act("March 4, 2026, 11:30:52 AM UTC", "Bob Marsh", "Uploaded “Certificate of insurance.pdf”"),
            act(
                "March 4, 2026, 11:32:07 AM UTC",
                "Bob Marsh",
                "Answered “Registered address”: 12 Harbour Street, Dublin",
            ),
        ],
        events: (0..events).map(event).collect(),
    }
}

fn written(certificate: &Certificate) -> Vec<u8> {
    write(certificate, &crate::fonts::all()).unwrap()
}

/// Renders a certificate's pages. `PAPER_LOOK=folder cargo test` keeps the pictures.
fn drawn(name: &str, file: &[u8]) -> Vec<Vec<u8>> {
    let pages = Pages::open(file).unwrap();
    let drawn: Vec<Vec<u8>> = (0..pages.count()).map(|n| pages.render(n, 1000).unwrap()).collect();
    if let Ok(folder) = std::env::var("PAPER_LOOK") {
        std::fs::write(format!("{folder}/{name}.pdf"), file).unwrap();
        for (n, png) in drawn.iter().enumerate() {
            std::fs::write(format!("{folder}/{name}-{n}.png"), png).unwrap();
        }
    }
    drawn
}

#[test]
fn the_same_certificate_is_the_same_file() {
    let file = written(&certificate(60));
    assert!(file == written(&certificate(60)));
    assert!(file != written(&certificate(61)));
    let pages = drawn("certificate", &file);
    assert_eq!(Pages::open(file).unwrap().size(0), Some((612.0, 792.0)));
    assert!(pages.iter().all(|png| (5_000..200_000).contains(&png.len())), "each has text on it");
}

#[test]
fn it_has_as_many_pages_as_it_takes() {
    let count = |events| Pages::open(written(&certificate(events))).unwrap().count();
    let (few, many) = (count(0), count(500));
    assert!(few < count(60) && many > 500 / 40, "{few}, {many}");
    let nothing = written(&Certificate::default());
    assert_eq!(Pages::open(nothing).unwrap().count(), 1);
}

#[test]
fn long_texts_are_wrapped_and_continue_on_further_pages() {
    let mut long = certificate(3);
    long.agreement = "Very".repeat(200);
    long.documents[0].name = "a_very_long_file_name-without.spaces/".repeat(30);
    long.documents[0].signers[0].name = "شركة ".repeat(80);
    long.documents[0].signers[1].intent = "I agree. ".repeat(2_000);
    long.events[1].name = "w".repeat(9_000);
    assert!(drawn("long", &written(&long)).len() > 10);
}

#[test]
fn names_in_any_script_are_written() {
    let mut scripts = certificate(0);
    scripts.agreement =
        "Договор / Συμφωνία / 服务协议 / サービス契約 / 서비스 계약 / הסכם שירותים / اتفاقية خدمات / सेवा समझौता / \
                         ข้อตกลงบริการ"
            .to_owned();
    let names = [
        "אנה לוי (Anna Levy)",
        "محمد عبد الله 123",
        "می‌خواهم",
        "राजेश क्षत्रिय",
        "สมชาย ใจดี",
        "王昊天",
        "佐藤 由美子",
        "김민준",
        "陳大文",
        "Nguyễn Thị Ánh",
        "Łukasz Żółć",
        "Δημήτρης",
        "Ann 😀 \u{202E}fdp.exe",
        "tab\there\u{0}",
        "a\u{200D}b",
        "\u{301}",
        "\u{FFFF}\u{E000}\u{10FFFF}",
        " ",
        "\r\n\u{2029}",
    ];
    let act = |name: &&str| Act {
        at: "March 3, 2026".to_owned(),
        actor: (*name).to_owned(),
        what: format!("Signed as “{name}” for the company"),
    };
    scripts.acts = names.iter().map(act).collect();
    for signer in &mut scripts.documents[0].signers {
        signer.name = names.concat();
        signer.signature = Some(Signature::Typed(names.concat()));
    }
    drawn("scripts", &written(&scripts));
}

fn shown(text: &str, style: text::Style, width: f32) -> Vec<Vec<String>> {
    let fonts = crate::fonts::all();
    let faces = text::Faces::load(&fonts).unwrap();
    let lines = faces.lines(text, style, 10.0, width);
    lines.into_iter().map(|line| line.runs.into_iter().map(|run| run.text).collect()).collect()
}

#[test]
fn what_has_no_shape_is_shown_as_its_code_point() {
    let one = |text: &str| shown(text, text::Style::Strong, 1_000.0).concat().concat();
    assert_eq!(one("Ann 😀"), "Ann [U+1F600]");
    assert_eq!(one("a\u{202E}b\u{200B}\u{FEFF}"), "a[U+202E]b[U+200B][U+FEFF]");
    assert_eq!(one("a\tb\0\u{85}\u{2028}"), "a[U+0009]b[U+0000][U+0085][U+2028]");
    assert_eq!(one("a\u{200D}b می\u{200C}خواهم").matches("U+").count(), 1, "a joiner only joins letters that join");
    assert_eq!(one("\u{E000}\u{10FFFF}\u{FE0F}"), "[U+E000][U+10FFFF][U+FE0F]");
    assert_eq!(one("é e\u{301}"), "é e\u{301}");
}

#[test]
fn text_to_the_left_is_in_visual_order() {
    assert_eq!(shown("Anna אנה לוי!", text::Style::Text, 1_000.0), [["Anna ", "לוי", " ", "אנה", "!"]]);
    assert_eq!(shown("אנה Levy", text::Style::Text, 1_000.0), [["Levy", " ", "אנה"]]);
}

#[test]
fn lines_break_where_they_may() {
    let lines = |text: &str, width| -> Vec<String> {
        shown(text, text::Style::Text, width).into_iter().map(|line| line.concat()).collect()
    };
    assert_eq!(lines("Master Services Agreement", 60.0), ["Master ", "Services ", "Agreement"]);
    assert_eq!(lines("服务协议服务协议。", 41.0), ["服务协议", "服务协", "议。"]);
    assert_eq!(lines("someone@example.com", 64.0), ["someone@", "example.com"]);
    assert!(lines(&"5f".repeat(32), 100.0).len() > 2);
    assert_eq!(lines("", 10.0), [""]);
    assert_eq!(lines("Wide", 0.1), ["W", "i", "d", "e"]);
}

#[test]
fn strokes_stay_in_their_box() {
    let mut wild = certificate(0);
    let points = vec![(f32::NAN, 1e30), (-1e30, f32::INFINITY), (500.0, 200.0)];
    wild.documents[0].signers[0].signature = Some(Signature::Drawn(vec![points, Vec::new(), vec![(3.0, 3.0)]]));
    drawn("wild", &written(&wild));
}

#[test]
fn fonts_that_cannot_be_used_are_refused() {
    let with = |text: Vec<Cow<'static, [u8]>>| write(&certificate(0), &Fonts { text, ..Fonts::default() });
    assert_eq!(with(Vec::new()), Err(Unwritable::Fonts));
    assert_eq!(with(vec![Cow::Borrowed(b"no font")]), Err(Unwritable::Fonts));
    assert_eq!(with(vec![crate::fonts::THAI.into()]), Err(Unwritable::Fonts), "code points need Latin");
    assert!(with(vec![crate::fonts::TEXT.to_vec().into()]).is_ok());
}

//! Lays out the content of a certificate.

use super::sheet::{ACCENT, Boxed, Cell, INK, LEFT, Look, MUTED, RIGHT, RULE, Role, Sheet};
use super::text::Style;
use super::{Act, Certificate, Document, Event, Promise, Signature, Signer};

const BODY: Look = Look::new(Style::Text, 9.5, INK);
const ROW: Look = Look::new(Style::Text, 8.5, INK);
const HEAD: Look = Look::new(Style::Strong, 8.5, ACCENT);
const LABEL: Look = Look::new(Style::Text, 9.0, MUTED);
const CODE: Look = Look::new(Style::Mono, 8.0, INK);
const KICKER: Look = Look::new(Style::Strong, 9.0, ACCENT);
const TITLE: Look = Look::new(Style::Strong, 21.0, INK);
const SECTION: Look = Look::new(Style::Strong, 13.0, ACCENT);
const DOCUMENT: Look = Look::new(Style::Strong, 13.0, INK);
const SIGNER: Look = Look::new(Style::Strong, 10.0, INK);
const TYPED: Look = Look::new(Style::Text, 18.0, INK);
const LABEL_WIDTH: f32 = 126.0;
/// The signature box. Inside its margins it has the proportions of [`DRAWN`], the space that strokes are drawn in.
const BOX: (f32, f32) = (168.0, 72.0);
const DRAWN: (f32, f32) = (1000.0, 400.0);
const PADDING: f32 = 3.5;
/// Three-column tables: where each column begins, and its width.
const ACTS: [(f32, f32); 3] = [(LEFT, 138.0), (LEFT + 150.0, 132.0), (LEFT + 294.0, RIGHT - LEFT - 294.0)];
const EVENTS: [(f32, f32); 3] = [(LEFT, 138.0), (LEFT + 150.0, 150.0), (LEFT + 312.0, RIGHT - LEFT - 312.0)];

pub(super) fn put(certificate: &Certificate, sheet: &mut Sheet<'_>) {
    sheet.rule(ACCENT, 2.5);
    sheet.space(16.0);
    sheet.text(Role::Paragraph, "CERTIFICATE OF COMPLETION", KICKER);
    sheet.space(4.0);
    sheet.heading(1, &certificate.agreement, TITLE, 0.0);
    sheet.space(6.0);
    if !certificate.statement.is_empty() {
        sheet.text(Role::Paragraph, &certificate.statement, BODY);
    }
    sheet.space(12.0);
    facts(
        sheet,
        &certificate.agreement,
        &[
            ("Organization", &certificate.organization, BODY),
            ("Completed", &certificate.completed_at, BODY),
            ("Agreement reference", &certificate.reference, CODE),
            ("Certificate ID", &certificate.id, CODE),
            ("Documents", &certificate.documents.len().to_string(), BODY),
        ],
    );
    for (n, document) in certificate.documents.iter().enumerate() {
        let of = format!("DOCUMENT {} OF {}", n + 1, certificate.documents.len());
        put_document(sheet, &of, document);
    }
    put_promises(sheet, &certificate.promises);
    put_acts(sheet, &certificate.acts);
    put_events(sheet, &certificate.events);
}

fn section(sheet: &mut Sheet<'_>, title: &str) {
    sheet.space(26.0);
    sheet.heading(2, title, SECTION, 90.0);
    sheet.space(4.0);
}

fn put_document(sheet: &mut Sheet<'_>, of: &str, document: &Document) {
    sheet.space(30.0);
    sheet.need(150.0);
    sheet.text(Role::Paragraph, of, KICKER);
    sheet.space(2.0);
    sheet.heading(2, &document.name, DOCUMENT, 0.0);
    sheet.space(4.0);
    facts(
        sheet,
        &document.name,
        &[
            ("SHA-256", &document.sha256, CODE),
            ("Pages", &document.pages.map(|pages| pages.to_string()).unwrap_or_default(), BODY),
            ("Signatures", &document.signers.len().to_string(), BODY),
        ],
    );
    for signer in &document.signers {
        put_signer(sheet, signer);
    }
}

fn put_signer(sheet: &mut Sheet<'_>, signer: &Signer) {
    sheet.space(16.0);
    let title = format!("Signed by {}", signer.name);
    sheet.heading(3, &title, SIGNER, BOX.1 + 60.0);
    sheet.space(5.0);
    match &signer.signature {
        Some(Signature::Drawn(strokes)) => {
            let alt = format!("Drawn signature of {}", signer.name);
            sheet.boxed([LEFT, BOX.0, BOX.1], &alt, Boxed::Strokes(strokes, DRAWN));
            sheet.space(5.0);
        }
        Some(Signature::Typed(name)) => {
            sheet.boxed([LEFT, BOX.0, BOX.1], "", Boxed::Text(name, TYPED));
            sheet.space(5.0);
        }
        None => {}
    }
    let typed = if let Some(Signature::Typed(name)) = &signer.signature { name } else { "" };
    let consent = signer.consent.clone().unwrap_or_default();
    facts(
        sheet,
        &title,
        &[
            ("Email", &signer.email, BODY),
            ("Signed", &signer.signed_at, BODY),
            ("Method", &signer.method, BODY),
            // In full here, since the signature box shows only one line.
            ("Name typed", typed, BODY),
            ("Statement", &signer.intent, BODY),
            ("Document shown, SHA-256", &signer.shown_sha256, CODE),
            ("Consent given", &consent.given_at, BODY),
            ("Consent text", &consent.version, BODY),
            ("Consent text, SHA-256", &consent.sha256, CODE),
            ("IP address", &signer.address, BODY),
            ("Browser", &signer.browser, BODY),
        ],
    );
}

/// Rows of labels and values, skipping empty values. A continued table repeats what it is about.
fn facts(sheet: &mut Sheet<'_>, about: &str, facts: &[(&str, &str, Look)]) {
    let table = sheet.node(Role::Table, 0);
    let about = cell(Role::Paragraph, LEFT, RIGHT - LEFT, &format!("{about} (continued)"), LABEL);
    let again = |sheet: &mut Sheet<'_>| {
        sheet.repeat(std::slice::from_ref(&about), PADDING);
        sheet.rule(RULE, 0.5);
    };
    for (label, value, look) in facts.iter().filter(|(_, value, _)| !value.is_empty()) {
        let at = LEFT + LABEL_WIDTH;
        let cells = [
            cell(Role::RowHead, LEFT, LABEL_WIDTH - 8.0, label, LABEL),
            cell(Role::Cell, at, RIGHT - at, value, *look),
        ];
        sheet.row(table, &cells, PADDING, Some(&again));
        sheet.rule(RULE, 0.5);
    }
}

fn cell(role: Role, x: f32, width: f32, text: &str, look: Look) -> Cell {
    Cell { role, x, width, text: text.to_owned(), look }
}

fn put_promises(sheet: &mut Sheet<'_>, promises: &[Promise]) {
    if promises.is_empty() {
        return;
    }
    section(sheet, "Promises");
    let rows = promises.iter().map(|promise| [(&*promise.name, ROW), (&*promise.parties, ROW), (&*promise.due, ROW)]);
    table(sheet, EVENTS, ["Promise", "Who owes it to whom", "Due"], rows);
}

fn put_acts(sheet: &mut Sheet<'_>, acts: &[Act]) {
    if acts.is_empty() {
        return;
    }
    section(sheet, "Approvals and other actions");
    let rows = acts.iter().map(|act| [(&*act.at, ROW), (&*act.actor, ROW), (&*act.what, ROW)]);
    table(sheet, ACTS, ["Time", "Person", "Action"], rows);
}

fn put_events(sheet: &mut Sheet<'_>, events: &[Event]) {
    if events.is_empty() {
        return;
    }
    section(sheet, "Event log");
    let rows = events.iter().map(|event| [(&*event.at, ROW), (&*event.name, ROW), (&*event.id, CODE)]);
    table(sheet, EVENTS, ["Time", "Event", "Event ID"], rows);
}

fn table<'a>(
    sheet: &mut Sheet<'_>,
    columns: [(f32, f32); 3],
    heads: [&str; 3],
    rows: impl Iterator<Item = [(&'a str, Look); 3]>,
) {
    let cells = |texts: [(&str, Look); 3], role: Role| {
        let texts = columns.into_iter().zip(texts);
        texts.map(|(place, (text, look))| cell(role.clone(), place.0, place.1, text, look)).collect::<Vec<_>>()
    };
    let head = cells(heads.map(|head| (head, HEAD)), Role::ColumnHead);
    let again = |sheet: &mut Sheet<'_>| {
        sheet.repeat(&head, PADDING);
        sheet.rule(ACCENT, 0.8);
    };
    let table = sheet.node(Role::Table, 0);
    sheet.row(table, &head, PADDING, None);
    sheet.rule(ACCENT, 0.8);
    for row in rows {
        sheet.row(table, &cells(row, Role::Cell), PADDING, Some(&again));
        sheet.rule(RULE, 0.5);
    }
}

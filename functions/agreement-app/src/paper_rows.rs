//! Paper signatures on their participant's page.

use std::collections::BTreeSet;

use pages::agreement_summary::size;
use pages::labels::{Badge, DisplayTime, actor_label};
use pages::layout::Link;
use pages::second_members::{one_self, why_alone, why_one_self};
use pages::urls::{access_url, agreement_url};
use shared::domain::agreement::{Agreement, Document};
use shared::domain::ids::{AgreementId, DocumentId, PaperSignatureId, ParticipantId, SignatureBlockId};
use shared::domain::member::{Counting, Member, NotDecided, obstacle};
use shared::domain::paper_signature::{PaperSignature, PaperState, Scan};
use shared::domain::time_zone::TimeZone;
use shared::service::participants::ParticipantRecord;
use shared::text::reader::Shown as _;

pub(crate) fn paper_url(agreement: AgreementId, participant: ParticipantId, document: DocumentId) -> String {
    format!("{}/participants/{participant}/paper/{document}", agreement_url(agreement))
}

pub(crate) fn links_to_record(agreement: &Agreement, participant: ParticipantId) -> Vec<Link> {
    let waits = |document: &&Document| {
        let blocks = agreement.blocks_to_sign(document, participant);
        let is_recorded = agreement.papers_to_confirm().any(|(_, paper)| !paper.block_ids.is_disjoint(&blocks));
        !blocks.is_empty() && !is_recorded
    };
    let link = |document: &Document| Link {
        url: paper_url(agreement.id(), participant, document.id),
        text: document.name.as_str().to_owned(),
    };
    agreement.documents.iter().filter(waits).map(link).collect()
}

pub(crate) struct PaperRow {
    pub id: PaperSignatureId,
    pub document: String,
    pub badge: Badge,
    pub signed_on: String,
    pub scan: String,
    pub facts: Vec<(&'static str, String)>,
    pub recorded_by: String,
    pub recorded_at: DisplayTime,
    pub outcome: Option<(String, DisplayTime)>,
    pub reason: Option<String>,
    pub wait: Option<Wait>,
}

pub(crate) struct Wait {
    pub line: String,
    pub can_confirm: bool,
    pub can_reject: bool,
    pub path: String,
}

impl PaperRow {
    pub fn new(record: &ParticipantRecord, paper: &PaperSignature, member: &Member, zone: &TimeZone) -> Self {
        let agreement = &record.agreement;
        let path = format!("{}/papers/{}", access_url(agreement.id(), paper.participant_id), paper.id);
        let obstacle = obstacle(agreement, paper);
        let (badge, outcome, reason) = match &paper.state {
            PaperState::Pending if obstacle.is_none() => (Badge { text: "To confirm", class: "blue" }, None, None),
            PaperState::Pending => (Badge { text: "Not counted", class: "quiet" }, None, None),
            PaperState::CountedAlone { at } => {
                (SIGNED, Some(("Counted without a second member, as there was none".to_owned(), *at)), None)
            }
            PaperState::Confirmed { by, at } => {
                (SIGNED, Some((format!("Confirmed by {}", actor_label(by)), *at)), None)
            }
            PaperState::Rejected { by, at, reason } => {
                let outcome = (format!("Rejected by {}", actor_label(by)), *at);
                (Badge { text: "Rejected", class: "red" }, Some(outcome), Some(reason.as_str().to_owned()))
            }
        };
        Self {
            id: paper.id,
            document: paper.document.as_str().to_owned(),
            badge,
            signed_on: paper.signed_on.shown(),
            scan: format!("{path}/scan"),
            facts: facts(agreement, paper),
            recorded_by: actor_label(&paper.recorded_by),
            recorded_at: paper.recorded_at.into(),
            outcome: outcome.map(|(text, at)| (text, at.into())),
            reason,
            wait: paper.is_pending().then(|| wait(record, paper, member, obstacle, zone, path)),
        }
    }
}

const SIGNED: Badge = Badge { text: "Signed on paper", class: "green" };

fn wait(
    ParticipantRecord { agreement, contact, seconds, .. }: &ParticipantRecord,
    paper: &PaperSignature,
    member: &Member,
    obstacle: Option<NotDecided>,
    zone: &TimeZone,
    path: String,
) -> Wait {
    let (name, document) = (contact.display_name.as_str(), paper.document.as_str());
    let first = paper.recorded_by.member();
    let counting = seconds.counting(member.id(), first);
    let is_own = counting == Counting::Confirmed && first == Some(member.id());
    let line = if let Some(obstacle) = obstacle.or(is_own.then_some(NotDecided::Own)) {
        why_not(obstacle)
    } else if let (Counting::OneSelf, Some(first)) = (counting, first) {
        why_one_self(seconds, member.id(), first, zone)
    } else {
        let is_alone = counting == Counting::Alone;
        let alone = if is_alone { format!("{} confirm it. ", why_alone(seconds)) } else { String::new() };
        let completes = agreement.is_completed_with_paper(paper.id);
        let completes = if completes { " This completes the agreement." } else { "" };
        format!(
            "{alone}Compare the scan with the document. Confirming signs “{document}” for {name}.{completes} This can’t be undone."
        )
    };
    let can_reject = !matches!(obstacle, Some(NotDecided::NotActive(_)));
    Wait { line, can_confirm: obstacle.is_none() && !is_own && counting != Counting::OneSelf, can_reject, path }
}

pub(crate) fn why_not(refused: NotDecided) -> String {
    let line = match refused {
        NotDecided::NotActive(_) => "The agreement ended before it was confirmed, so it doesn’t count.",
        NotDecided::Own => "You recorded it, so another member has to confirm it.",
        NotDecided::OneSelf => return one_self("recorded it"),
        NotDecided::Decided => "It was confirmed or rejected before.",
        NotDecided::SignedOnScreen => "The document was signed on screen meanwhile, so it doesn’t count.",
        NotDecided::Declined => "A participant has declined. Reopen the condition, then confirm it.",
        NotDecided::Replaced => "The document is another one now, so it doesn’t count.",
        NotDecided::NotAsked => "The agreement no longer asks for this signature, so it doesn’t count.",
    };
    line.to_owned()
}

fn facts(agreement: &Agreement, paper: &PaperSignature) -> Vec<(&'static str, String)> {
    let places = agreement.document(paper.document_id).map(|document| labels(document, &paper.block_ids));
    let Scan { file_name, content, has_pages_of_document, .. } = &paper.scan;
    let mut facts = vec![
        ("Signed by", paper.signed_by()),
        ("Document", paper.document.as_str().to_owned()),
        ("SHA-256 of the document", paper.sha256.clone()),
        ("Signed places", places.unwrap_or_default().join(", ")),
        ("How it came", paper.how_it_came.as_str().to_owned()),
        ("Scan", format!("{}, {}", file_name.as_str(), size(content.size_bytes))),
        ("SHA-256 of the scan", content.sha256.clone()),
    ];
    facts.extend(has_pages_of_document.then(|| {
        let recorder = actor_label(&paper.recorded_by);
        (
            "Compare with care",
            format!("Its pages are those of the unsigned document. {recorder} says that it is signed"),
        )
    }));
    facts.extend(paper.note.as_ref().map(|note| ("Note", note.as_str().to_owned())));
    facts
}

pub(crate) fn labels(document: &Document, blocks: &BTreeSet<SignatureBlockId>) -> Vec<String> {
    let wanted = document.blocks.iter().filter(|block| blocks.contains(&block.id));
    wanted.map(|block| block.label.as_str().to_owned()).collect()
}

//! A workspace's printed schedule by phase. Separate, labeled rows tell claims from proof without color.

use pages::labels::{actor_label, names};
use pdf::certificate::letter::{Letter, Part};
use shared::domain::day::Day;
use shared::domain::funding::proof::ProofState;
use shared::domain::funding::{FundingItem, Phase};
use shared::service::funding_review::WorkspaceFundingReview;
use shared::text::{self, funding_words as words};

use crate::letters;

pub(super) fn schedule(review: &WorkspaceFundingReview, organization: &str, day: Day) -> Letter {
    let summary = review.schedule.summary;
    let counted = format!(
        "{} of {} items done as of {}: {} funded on accepted proof, {} closed as unfunded. {} only claimed, which is not counted as done. {} on hold.",
        summary.done,
        summary.total,
        day.for_people(),
        summary.funded,
        summary.unfunded,
        summary.claimed,
        summary.parked,
    );
    let mut parts = vec![Part::Paragraph(counted)];
    for phase in Phase::ALL {
        let items: Vec<&FundingItem> = review.schedule.items.iter().filter(|item| item.phase() == phase).collect();
        if items.is_empty() {
            continue;
        }
        parts.push(Part::Paragraph(phase_heading(phase, items.len())));
        parts.push(Part::Facts(items.iter().flat_map(|item| rows(review, item)).collect()));
    }
    Letter {
        id: review.workspace.id().to_string(),
        organization: organization.to_owned(),
        title: "Funding schedule".to_owned(),
        about: review.workspace.name.as_str().to_owned(),
        date: letters::date(day),
        parts,
    }
}

fn rows(review: &WorkspaceFundingReview, item: &FundingItem) -> Vec<(String, String)> {
    let verb = item.verb().map_or("Not decided", words::verb);
    let mut about = vec![format!("{}, {}. {}", words::asset_kind(item.asset_kind()), verb, words::state(item))];
    let owners = names(item.owner_contact_ids(), &review.people);
    if !owners.is_empty() {
        about.push(format!("Owner: {owners}"));
    }
    about.extend(review.trust(item.trust_id()).map(|trust| format!("Trust: {}", trust.formal_name.as_str())));
    about.push(text::next_step_of_item(item));
    let mut rows = vec![(item.label().as_str().to_owned(), about.join("\n"))];
    if let Some(claim) = item.claim() {
        let said = format!(
            "The owner says it is done. This is no proof. Recorded by {}, {}.",
            actor_label(&claim.by),
            claim.claimed_at.for_people()
        );
        rows.push(("Claim".to_owned(), said));
    }
    let proofs = item.proofs().iter().filter_map(|proof| {
        let what = format!("{} dated {}", words::source(proof.source()), proof.dated().for_people());
        let state = match proof.state() {
            ProofState::Undecided if item.is_closed() => return None,
            ProofState::Undecided => "to be reviewed, not accepted yet".to_owned(),
            ProofState::Accepted { at, by } => format!("accepted by {}, {}", actor_label(by), at.for_people()),
            ProofState::Rejected { .. } | ProofState::SetAside { .. } => return None,
        };
        Some(("Proof".to_owned(), format!("{what}: {state}.")))
    });
    rows.extend(proofs);
    rows
}

fn phase_heading(phase: Phase, count: usize) -> String {
    format!("{} ({count})", words::phase(phase))
}

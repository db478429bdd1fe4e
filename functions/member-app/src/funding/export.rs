//! The schedule of a workspace as a CSV file. What is claimed and what is proven have columns of their own.

use shared::domain::funding::FundingItem;
use shared::domain::funding::proof::{Proof, ProofState};
use shared::domain::ids::WorkspaceId;
use shared::domain::sentences;
use shared::error::Error;
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::web::Request;

use super::{item_url, names};
use crate::Handler;
use crate::csv::Csv;
use crate::labels::actor_label;
use crate::response::PageResponse;

/// The first record of a file.
const HEAD: [&str; 22] = [
    "label",
    "asset_kind",
    "verb",
    "trust",
    "owners",
    "phase",
    "status",
    "done",
    "waiting_on",
    "missing_facts",
    "next_step",
    "claimed_at",
    "claim_recorded_by",
    "proof_source",
    "proof_dated",
    "proof_state",
    "proof_accepted_at",
    "close_reason",
    "external_reference",
    "agreement_id",
    "id",
    "app_url",
];

/// Exports all items of the workspace.
pub(crate) struct Export;

impl Handler for Export {
    fn operation(_: &Request) -> &'static str {
        "export_funding_schedule"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (id, signed_in): (WorkspaceId, _) = (request.path_id("id")?, request.signed_in()?);
        let review = funding_review::of_workspace(signed_in.scope(), id).await?;
        let base = request.app().base_url.to_string();
        let mut csv = Csv::default();
        csv.push(HEAD);
        for item in &review.schedule.items {
            let fields = record(&review, item, &base);
            csv.push(fields.iter().map(String::as_str));
        }
        let day = signed_in.organization().time_zone.day_of(request.now());
        let name = format!("funding-{day}.csv");
        let file = csv.into_string().into_bytes().into();
        Ok(PageResponse::file(file, "text/csv; charset=utf-8", "attachment", &name).showing([id.uuid()]))
    }
}

fn record(review: &WorkspaceFundingReview, item: &FundingItem, base: &str) -> [String; 22] {
    // The accepted proof, or else the newest one that still waits: what was rejected proves nothing.
    let accepted = item.proofs().iter().find(|proof| matches!(proof.state(), ProofState::Accepted { .. }));
    let proof = accepted.or_else(|| item.proofs().iter().rev().find(|proof| proof.is_undecided()));
    let accepted_at = match proof.map(Proof::state) {
        Some(ProofState::Accepted { at, .. }) => at.to_string(),
        _ => String::new(),
    };
    let proof_state = proof.map_or("", |proof| if proof.is_undecided() { "to_review" } else { "accepted" });
    let text = |value: Option<String>| value.unwrap_or_default();
    let trust = review.trust(item.trust_id()).map(|trust| trust.formal_name.as_str().to_owned());
    [
        item.label().as_str().to_owned(),
        item.asset_kind().to_string(),
        text(item.verb().map(|verb| verb.to_string())),
        text(trust),
        names(item.owner_contact_ids(), &review.people),
        item.phase().to_string(),
        item.funding_status().to_string(),
        item.is_closed().to_string(),
        text(item.hold().map(|hold| hold.waiting_on.to_string())),
        item.missing_facts().join(" "),
        sentences::next_step_of_item(item),
        text(item.claim().map(|claim| claim.claimed_at.to_string())),
        text(item.claim().map(|claim| actor_label(&claim.by))),
        text(proof.map(|proof| proof.source().to_string())),
        text(proof.map(|proof| proof.dated().to_string())),
        proof_state.to_owned(),
        accepted_at,
        text(item.close_reason().map(|reason| reason.to_string())),
        text(item.external_reference().map(|reference| reference.as_str().to_owned())),
        text(item.agreement_id().map(|id| id.to_string())),
        item.id().to_string(),
        format!("{base}{}", item_url(item.id())),
    ]
}

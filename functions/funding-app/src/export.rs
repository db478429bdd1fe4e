//! The CSV export of a workspace's schedule, with separate columns for claims and proof.

use pages::csv::Csv;
use pages::labels::{actor_label, names_in};
use pages::response::PageResponse;
use pages::urls::item_url;
use shared::domain::contact::ExternalReference;
use shared::domain::funding::FundingItem;
use shared::domain::funding::proof::{Proof, ProofState};
use shared::domain::ids::WorkspaceId;
use shared::error::Error;
use shared::service::funding_review::{self, WorkspaceFundingReview};
use shared::text;
use shared::web::Request;
use shared::wire::input::Empty;

use crate::facts::as_typed;
use crate::import::columns::ImportColumn;
use crate::sheet::{Column, OWNERS_SEPARATOR};

pub(crate) async fn export(request: &mut Request) -> Result<PageResponse, Error> {
    let (id, signed_in): (WorkspaceId, _) = (request.path_id("id")?, request.signed_in()?);
    // Exports all items, so a URL with filters is refused.
    let Empty {} = request.read_query()?;
    let review = funding_review::of_workspace(signed_in.scope(), id).await?;
    let base = request.app().base_url.to_string();
    let mut csv = Csv::new();
    csv.push(Column::all().map(Column::name));
    for item in &review.schedule.items {
        let fields: Vec<String> = Column::all().map(|column| field(column, &review, item, &base)).collect();
        csv.push(fields.iter().map(String::as_str));
    }
    let day = signed_in.organization().time_zone.day_of(request.now());
    let name = format!("funding-{day}.csv");
    let file = csv.into_string().into_bytes().into();
    Ok(PageResponse::file(file, "text/csv; charset=utf-8", "attachment", &name).showing([id.uuid()]))
}

fn field(column: Column, review: &WorkspaceFundingReview, item: &FundingItem, base: &str) -> String {
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    match column {
        Column::Label => item.label().as_str().to_owned(),
        Column::AssetKind => item.asset_kind().to_string(),
        Column::Verb => text(item.verb().map(shared::domain::funding::Verb::as_str)),
        Column::Trust => text(review.trust(item.trust_id()).map(|trust| trust.formal_name.as_str())),
        Column::Owners => names_in(item.owner_contact_ids(), &review.people, OWNERS_SEPARATOR),
        Column::Reference => text(item.external_reference().map(ExternalReference::as_str)),
        Column::Fact(fact) => item.detail().get(fact).map(|value| as_typed(item, fact, value)).unwrap_or_default(),
        Column::Told(name) => told(name, item, base).unwrap_or_default(),
    }
}

/// Values that only exports have: the item's URL, claim and proof.
fn told(name: &str, item: &FundingItem, base: &str) -> Option<String> {
    // The accepted proof, or else the newest undecided one: rejected proof proves nothing.
    let accepted = item.proofs().iter().find(|proof| matches!(proof.state(), ProofState::Accepted { .. }));
    let waits = |proof: &&Proof| proof.is_undecided() && !item.is_closed();
    let proof = accepted.or_else(|| item.proofs().iter().rev().find(waits));
    match name {
        "phase" => Some(item.phase().to_string()),
        "status" => Some(item.funding_status().to_string()),
        "done" => Some(item.is_closed().to_string()),
        "waiting_on" => Some(item.hold()?.waiting_on.to_string()),
        "missing_facts" => Some(item.missing_facts().join(" ")),
        "next_step" => Some(text::next_step_of_item(item)),
        "claimed_at" => Some(item.claim()?.claimed_at.to_string()),
        "claim_recorded_by" => Some(actor_label(&item.claim()?.by)),
        "proof_source" => Some(proof?.source().to_string()),
        "proof_dated" => Some(proof?.dated().to_string()),
        "proof_state" => Some(if proof?.is_undecided() { "to_review" } else { "accepted" }.to_owned()),
        "proof_accepted_at" => match proof?.state() {
            ProofState::Accepted { at, .. } => Some(at.to_string()),
            _ => None,
        },
        "close_reason" => Some(item.close_reason()?.to_string()),
        "agreement_id" => Some(item.agreement_id()?.to_string()),
        "id" => Some(item.id().to_string()),
        "app_url" => Some(format!("{base}{}", item_url(item.id()))),
        _ => None,
    }
}

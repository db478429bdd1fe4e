//! The demo's trust, with items in every phase: the integration lists, sorts and papers them; two members publish,
//! record the owner's claims, and accept the receiving side's confirmations.

use serde_json::{Value, json};
use shared::domain::day::Day;
use shared::domain::funding::CloseReason;
use shared::domain::funding::proof::{NewProof, ProofSource};
use shared::domain::ids::{FundingItemId, ProofId};
use shared::domain::movement::safe_text::SafeNote;
use shared::error::Error;
use shared::service::funding_items::{self, FundingAct};

use crate::error::in_one_line;
use crate::seed::demo::api_client::ApiClient;
use crate::seed::demo::context::{ContactIds, Demo};
use crate::seed::demo::participants::done;

pub(crate) const WORKSPACE: &str = "Ellery family trust funding";
/// The trust's settlor, trustee and owner of every asset.
const FAMILY: &str = "CRM-1007";

struct NewItem {
    label: &'static str,
    kind: &'static str,
    /// Empty for an item that is not sorted yet.
    verb: &'static str,
    facts: Value,
}

/// Lists the trust's items and takes each to its phase.
pub(crate) async fn create(
    demo: &Demo<'_>,
    api: &ApiClient<'_>,
    workspace_id: &str,
    contact_ids: &ContactIds,
) -> Result<(), String> {
    let family = contact_ids.get(FAMILY).ok_or("the demo has no family")?;
    let trust = json!({
        "workspace_id": workspace_id,
        "formal_name": "The Ellery Family Trust, dated March 14, 2026",
        "settlor_contact_ids": [family],
        "trustee_contact_ids": [family],
        "external_reference": "trust-ellery",
    });
    let trust_id = api.create("/api/v1/trusts", &trust).await?;
    let list = Listing { api, workspace_id, trust_id: &trust_id, family };
    list.add(unsorted("Coin collection")).await?;
    let place = json!({"county": "Albany", "state": "New York"});
    let house = NewItem { label: "Rental house on Pine Street", kind: "real_estate", verb: "deed", facts: place };
    list.add(house).await?;
    let ready = list.add(vehicle("1967 wooden sloop", "Herreshoff H-28, 1967")).await?;
    park(api, &ready, "counsel").await?;
    list.add(account("Savings at Harbor Bank", "2290")).await?;
    let papered = list.add(account("Checking at First National", "4411")).await?;
    api.create("/api/v1/funding-items/paper", &json!({"item_ids": [papered]})).await?;
    let published = [
        list.add(account("Money market at First National", "8802")).await?,
        list.add(vehicle("Delivery van", "Ford Transit, 2021")).await?,
        list.add(account("Brokerage sweep", "1175")).await?,
    ];
    let name = "Funding of the Ellery Family Trust, first part";
    let paper = json!({"item_ids": published, "name": name});
    let agreement_id = api.create("/api/v1/funding-items/paper", &paper).await?;
    demo.publish(api, &agreement_id, "Counsel has read the documents.", "Ready to sign.").await?;
    let sold = list.add(unsorted("Piano")).await?;
    act_on(demo, &published, &sold).await.map_err(|error| in_one_line(&error))
}

/// Members' acts on the published agreement's items, and on a sold one.
async fn act_on(demo: &Demo<'_>, published: &[String; 3], sold: &str) -> Result<(), Error> {
    let note = |text: &str| SafeNote::parse(text).map_err(|(_, why)| Error::Internal(why));
    let [waiting, claimed, funded] = published;
    act(demo, claimed, FundingAct::RecordClaim(Some(note("They say the title was changed last week.")?))).await?;
    let proof = |source, text| {
        Ok::<_, Error>(NewProof {
            id: ProofId::new(),
            source,
            dated: Day::parse("2026-03-20").ok_or_else(Error::not_found)?,
            file: None,
            note: Some(note(text)?),
        })
    };
    let read_out = proof(ProofSource::NewStatement, "First National read out the new title on the phone.")?;
    act(demo, waiting, FundingAct::FileProof(read_out)).await?;
    let proof = proof(ProofSource::InstitutionConfirmation, "First National confirmed the new title by letter.")?;
    let id = proof.id;
    act(demo, funded, FundingAct::FileProof(proof)).await?;
    act(demo, funded, FundingAct::AcceptProof(id)).await?;
    act(demo, sold, FundingAct::CloseUnfunded(CloseReason::Sold, None)).await
}

async fn act(demo: &Demo<'_>, item: &str, act: FundingAct) -> Result<(), Error> {
    let id: FundingItemId = item.parse().map_err(|_| Error::not_found())?;
    let member = demo.organization.members.first().ok_or_else(Error::not_found)?;
    let operation = match act {
        FundingAct::CloseUnfunded(..) => "close_funding_item",
        FundingAct::RecordClaim(_) => "record_funding_claim",
        FundingAct::WithdrawClaim(_) => "withdraw_funding_claim",
        FundingAct::FileProof(_) => "file_funding_proof",
        FundingAct::AcceptProof(_) => "accept_funding_proof",
        FundingAct::RejectProof(..) => "reject_funding_proof",
        FundingAct::Reopen => "reopen_funding_item",
    };
    let call = demo.call(member, operation).await?.about(&[id.uuid()]);
    let plan = funding_items::act(call.scope(), call.member(), id, act).await?;
    done(call.commit(plan).await?)
}

async fn park(api: &ApiClient<'_>, item: &str, waiting_on: &str) -> Result<(), String> {
    let path = format!("/api/v1/funding-items/{item}/park");
    api.send("POST", &path, &json!({ "waiting_on": waiting_on })).await.map(|_| ())
}

fn unsorted(label: &'static str) -> NewItem {
    NewItem { label, kind: "personal_property", verb: "", facts: json!({}) }
}

fn account(label: &'static str, last4: &str) -> NewItem {
    let facts = json!({
        "institution": "First National", "account_type": "Checking", "account_last4": last4,
        "current_title": "The Ellery Household",
    });
    NewItem { label, kind: "bank_account", verb: "retitle", facts }
}

fn vehicle(label: &'static str, model: &str) -> NewItem {
    let facts = json!({"make_model_year": model, "vin": "1FTBW2CM5MKA00001", "state": "New York"});
    NewItem { label, kind: "vehicle", verb: "retitle", facts }
}

struct Listing<'a> {
    api: &'a ApiClient<'a>,
    workspace_id: &'a str,
    trust_id: &'a str,
    family: &'a str,
}

impl Listing<'_> {
    /// Adds an item, sorts it unless it has no verb yet, and returns its id.
    async fn add(&self, item: NewItem) -> Result<String, String> {
        let NewItem { label, kind, verb, facts } = item;
        let new =
            json!({"workspace_id": self.workspace_id, "trust_id": self.trust_id, "label": label, "asset_kind": kind});
        let id = self.api.create("/api/v1/funding-items", &new).await?;
        if !verb.is_empty() {
            let sorted = json!({"verb": verb, "owner_contact_ids": [self.family], "detail": facts});
            self.api.send("PATCH", &format!("/api/v1/funding-items/{id}"), &sorted).await?;
        }
        Ok(id)
    }
}

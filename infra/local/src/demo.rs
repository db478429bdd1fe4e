//! The deal that `--seed demo` adds: made through the API itself, in process and with a real token, so that it is
//! checked, audited and stored like anything else. What the API leaves to people, setting up drafts, is done by the same
//! rules as theirs, and on record as the service's own act.

use std::collections::{BTreeSet, HashMap};

use axum::Router;
use axum::body::Body;
use files::Files;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use shared::domain::agreement::gate::{Countdown, FieldType, GateRule, InformationField};
use shared::domain::agreement::{
    Agreement, ConversionTiming, DocumentContent, Label, ParticipantRole, SafeTerms, StageAction,
};
use shared::domain::ids::{AgreementId, DocumentId, FieldId, OrgId, ParticipantId, SignatureBlockId};
use shared::domain::time::Timestamp;
use shared::domain::time_scale::TimeScale;
use shared::error::Error;
use shared::service::agreements;
use shared::service::system::SystemContext;
use shared::store::Store;
use shared::wire::fields::FieldErrors;
use tower::ServiceExt;

use crate::browser::Browser;
use crate::credentials::OrganizationCredentials;
use crate::error::in_one_line;
use crate::pdf;

/// The people and entities of the deal: name, kind, e-mail, and the firm's own number for them.
const CONTACTS: &[(&str, &str, Option<&str>, &str)] = &[
    ("Northwind Robotics, Inc.", "corporation", Some("legal@northwind.example"), "CRM-1001"),
    ("Priya Raman", "person", Some("priya@northwind.example"), "CRM-1002"),
    ("Tomás Álvarez", "person", Some("tomas@northwind.example"), "CRM-1003"),
    ("Juniper Seed Fund II, LP", "partnership", Some("deals@juniper.example"), "CRM-1004"),
    ("Hana Weiß", "person", Some("hana.weiss@juniper.example"), "CRM-1005"),
    ("Cobalt Angels LLC", "llc", Some("hello@cobalt.example"), "CRM-1006"),
    ("The Ellery Household", "household", Some("ellery@mail.example"), "CRM-1007"),
    ("Ellery Family Trust", "trust", None, "CRM-1008"),
    ("Riverside Makers Foundation", "nonprofit", Some("grants@riverside.example"), "CRM-1009"),
];

/// The deals: name, and the numbers of those who take part.
const WORKSPACES: &[(&str, &[&str])] = &[
    ("Northwind Robotics: seed round", &["CRM-1001", "CRM-1002", "CRM-1003", "CRM-1004", "CRM-1005", "CRM-1006"]),
    ("Ellery family trust funding", &["CRM-1007", "CRM-1008"]),
];

/// Who takes part in a SAFE of the seed round: the company that issues it, and who signs for it.
const ISSUER: (&str, &[&str]) = ("CRM-1001", &["issuer"]);
const ISSUERS_SIGNER: (&str, &[&str]) = ("CRM-1002", &["signer"]);

/// What the documents say: enough to look like some.
const SAFE: &[&str] = &[
    "Simple agreement for future equity",
    "",
    "The investor pays the investment amount to the company. In exchange the company gives the investor",
    "the right to shares of its capital stock, on the terms that are part of this agreement.",
    "",
    "This is a sample. It is no legal document.",
];
const ENGAGEMENT: &[&str] = &[
    "Engagement letter",
    "",
    "We advise the household on funding its family trust, and report to both spouses.",
    "",
    "This is a sample. It is no legal document.",
];

/// The agreements of the deals: workspace, name, kind, those who take part and as what, and how they are set up.
const AGREEMENTS: &[NewDraft] = &[
    NewDraft {
        workspace: 0,
        name: "SAFE: Juniper Seed Fund II",
        kind: "safe",
        participants: &[ISSUER, ISSUERS_SIGNER, ("CRM-1004", &["investor"]), ("CRM-1005", &["signer"])],
        text: Some(SAFE),
        set_up: |draft, file, now| safe(draft, 75_000_000, file, now),
        proposal: Some("Terms as agreed on Tuesday's call; legal has read them."),
        decision: None,
    },
    NewDraft {
        workspace: 0,
        name: "SAFE: Cobalt Angels",
        kind: "safe",
        participants: &[ISSUER, ISSUERS_SIGNER, ("CRM-1006", &["signer", "investor"])],
        text: Some(SAFE),
        set_up: |draft, file, now| safe(draft, 25_000_000, file, now),
        proposal: None,
        decision: None,
    },
    NewDraft {
        workspace: 0,
        name: "Advisory agreement: Tomás Álvarez",
        kind: "general",
        participants: &[("CRM-1003", &["signer", "contributor"])],
        text: None,
        set_up: advisory,
        proposal: None,
        decision: None,
    },
    NewDraft {
        workspace: 1,
        name: "Engagement letter: Ellery household",
        kind: "general",
        participants: &[("CRM-1007", &["signer", "approver"]), ("CRM-1008", &["observer"])],
        text: Some(ENGAGEMENT),
        set_up: engagement,
        proposal: Some("Our standard letter."),
        decision: Some("Checked against the conflict list."),
    },
    NewDraft {
        workspace: 1,
        name: "Notice of fees: Ellery household",
        kind: "general",
        participants: &[("CRM-1007", &["observer"])],
        text: None,
        set_up: notice,
        proposal: Some("The new fees, with two weeks' notice."),
        decision: Some("Nobody has objected."),
    },
];

/// Sets up a draft, with the file of its document.
type SetUp = fn(&Agreement, Option<DocumentContent>, Timestamp) -> Result<Agreement, FieldErrors>;

struct NewDraft {
    /// Its place in [`WORKSPACES`].
    workspace: usize,
    name: &'static str,
    kind: &'static str,
    participants: &'static [(&'static str, &'static [&'static str])],
    /// The lines of its document, where that has a file.
    text: Option<&'static [&'static str]>,
    set_up: SetUp,
    /// The note of the proposal to publish it, where there is one.
    proposal: Option<&'static str>,
    /// The note of the member who confirmed that, where somebody has.
    decision: Option<&'static str>,
}

/// Adds the deals to an organization; `all` answers the API and the app.
pub(crate) async fn add(
    all: &Router,
    store: &Store,
    files: &Files,
    organization: &OrganizationCredentials,
) -> Result<(), String> {
    let (api, token) = (all, organization.read_write_token.value());
    let mut ids = HashMap::new();
    for &(display_name, kind, email, reference) in CONTACTS {
        let contact = json!({
            "display_name": display_name, "kind": kind, "email": email, "external_reference": reference,
        });
        ids.insert(reference, id(&post(api, token, "/api/v1/contacts", &contact).await?)?);
    }
    let mut workspaces = Vec::new();
    for &(name, people) in WORKSPACES {
        let workspace = id(&post(api, token, "/api/v1/workspaces", &json!({ "name": name })).await?)?;
        for reference in people {
            let path = format!("/api/v1/workspaces/{workspace}/contacts");
            post(api, token, &path, &json!({ "contact_id": ids.get(reference) })).await?;
        }
        workspaces.push(workspace);
    }
    for new in AGREEMENTS {
        let body = json!({"workspace_id": workspaces.get(new.workspace), "name": new.name, "kind": new.kind});
        let agreement = id(&post(api, token, "/api/v1/agreements", &body).await?)?;
        for (reference, roles) in new.participants {
            let path = format!("/api/v1/agreements/{agreement}/participants");
            post(api, token, &path, &json!({"contact_id": ids.get(reference), "roles": roles})).await?;
        }
        let draft = agreement.parse().map_err(|error| in_one_line(&error))?;
        let file = match new.text {
            // The file first: what names it comes after it.
            Some(lines) => Some(
                files.put(organization.id, pdf::page(new.name, lines)).await.map_err(|error| in_one_line(&error))?,
            ),
            None => None,
        };
        set_up(store, organization.id, draft, new.set_up, file).await.map_err(|error| in_one_line(&error))?;
        if let Some(note) = new.proposal {
            let body = json!({"action": "publish_agreement", "agreement_id": agreement, "note": note});
            let proposal = id(&post(api, token, "/api/v1/proposals", &body).await?)?;
            if let (Some(note), Some(member)) = (new.decision, organization.members.first()) {
                let mut browser = Browser::sign_in(all, member).await?;
                browser.confirm(&proposal, note).await?;
                browser.sign_out().await?;
            }
        }
    }
    Ok(())
}

/// Changes a draft as a member does in the app.
async fn set_up(
    store: &Store,
    org: OrgId,
    id: AgreementId,
    change: SetUp,
    file: Option<DocumentContent>,
) -> Result<(), Error> {
    let system = SystemContext::begin(store, org, "set_up_demo", TimeScale::default());
    system.run(1, || agreements::edit(&system, id, |draft, now| change(draft, file.clone(), now))).await.map(|_| ())
}

/// A SAFE that is complete: the issuer approves the terms, both sides sign, the investor answers a question, and a day later it is done.
fn safe(
    draft: &Agreement,
    investment_amount_minor: i64,
    file: Option<DocumentContent>,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    const SIXTY_DAYS_S: i64 = 60 * 24 * 3600;
    let terms = SafeTerms {
        investment_amount_minor: Some(investment_amount_minor),
        currency: Some("USD".to_owned()),
        valuation_cap_minor: Some(800_000_000),
        discount_rate: Some("0.20".to_owned()),
        mfn: false,
        pro_rata: true,
        conversion_timing: Some(ConversionTiming::PostMoney),
        governing_law: Some("Delaware".to_owned()),
    };
    let draft = draft.set_terms(terms, now)?.set_expiry(Some(now.plus_seconds(SIXTY_DAYS_S)), now)?;
    let (draft, document) = draft.add_document(label("SAFE")?, file, now)?;
    let (draft, block_ids) = sign(draft, document, now)?;
    let (draft, terms) = draft.add_stage(label("Terms")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = who(&draft, ParticipantRole::Issuer);
    let (draft, _) = draft.add_gate(terms, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::SignatureBlocks { block_ids }, now)?;
    let fields = vec![InformationField {
        id: FieldId::new(),
        label: label("Are you an accredited investor?")?,
        field_type: FieldType::Boolean,
        required: true,
        options: Vec::new(),
    }];
    let participant_ids = who(&draft, ParticipantRole::Investor);
    let (draft, closing) =
        draft.add_stage(label("Closing")?, BTreeSet::from([StageAction::ProjectObligations]), now)?;
    let (draft, _) = draft.add_gate(closing, GateRule::InformationRequest { participant_ids, fields }, now)?;
    let until = Some(Countdown::AfterHours(24));
    Ok(draft.add_gate(closing, GateRule::Countdown { until }, now)?.0)
}

/// An agreement that somebody has begun to set up: its document has no file, and its last step no conditions.
fn advisory(draft: &Agreement, file: Option<DocumentContent>, now: Timestamp) -> Result<Agreement, FieldErrors> {
    let (draft, document) = draft.add_document(label("Advisory agreement")?, file, now)?;
    let (draft, _) = sign(draft, document, now)?;
    let (draft, scope) = draft.add_stage(label("Scope")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = who(&draft, ParticipantRole::Signer);
    let (draft, _) = draft.add_gate(scope, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::DocumentSigned { document_id: Some(document) }, now)?;
    Ok(draft.add_stage(label("Onboarding")?, BTreeSet::new(), now)?.0)
}

/// An agreement that runs: the household approves, then signs.
fn engagement(draft: &Agreement, file: Option<DocumentContent>, now: Timestamp) -> Result<Agreement, FieldErrors> {
    let (draft, document) = draft.add_document(label("Engagement letter")?, file, now)?;
    let (draft, _) = sign(draft, document, now)?;
    let (draft, approval) = draft.add_stage(label("Approval")?, BTreeSet::from([StageAction::OpenSigning]), now)?;
    let participant_ids = who(&draft, ParticipantRole::Approver);
    let (draft, _) = draft.add_gate(approval, GateRule::ParticipantApproval { participant_ids }, now)?;
    let (draft, signing) = draft.add_stage(label("Signing")?, BTreeSet::new(), now)?;
    Ok(draft.add_gate(signing, GateRule::DocumentSigned { document_id: Some(document) }, now)?.0)
}

/// An agreement that waits for nobody: the time to object is over, and two weeks later the notice takes effect.
fn notice(draft: &Agreement, _: Option<DocumentContent>, now: Timestamp) -> Result<Agreement, FieldErrors> {
    let (draft, objections) = draft.add_stage(label("Objections")?, BTreeSet::new(), now)?;
    let until = Some(Countdown::At(now));
    let (draft, _) = draft.add_gate(objections, GateRule::Countdown { until }, now)?;
    let (draft, notice) = draft.add_stage(label("Notice period")?, BTreeSet::new(), now)?;
    let until = Some(Countdown::AfterHours(14 * 24));
    Ok(draft.add_gate(notice, GateRule::Countdown { until }, now)?.0)
}

/// A block in the document for everybody who signs.
fn sign(
    mut draft: Agreement,
    document: DocumentId,
    now: Timestamp,
) -> Result<(Agreement, BTreeSet<SignatureBlockId>), FieldErrors> {
    let mut blocks = BTreeSet::new();
    for signer in who(&draft, ParticipantRole::Signer) {
        let (signed, block) = draft.add_signature_block(document, signer, label("Signature")?, now)?;
        blocks.insert(block);
        draft = signed;
    }
    Ok((draft, blocks))
}

fn who(draft: &Agreement, role: ParticipantRole) -> BTreeSet<ParticipantId> {
    let with_role = draft.participants.iter().filter(|participant| participant.roles.contains(&role));
    with_role.map(|participant| participant.id).collect()
}

fn label(text: &str) -> Result<Label, FieldErrors> {
    Label::parse(text).map_err(|(code, message)| FieldErrors::one("label", code, message))
}

async fn post(api: &Router, token: &str, path: &str, body: &Value) -> Result<Value, String> {
    let request = Request::post(path)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .map_err(|error| in_one_line(&error))?;
    let response = match api.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    let bytes = response.into_body().collect().await.map_err(|error| in_one_line(&error))?.to_bytes();
    if status != StatusCode::CREATED {
        return Err(format!("POST {path} answered {status}: {}", String::from_utf8_lossy(&bytes)));
    }
    serde_json::from_slice(&bytes).map_err(|error| in_one_line(&error))
}

fn id(record: &Value) -> Result<String, String> {
    record["id"].as_str().map(str::to_owned).ok_or_else(|| format!("a record without an id: {record}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_part_is_a_contact() {
        let known = |reference: &str| CONTACTS.iter().any(|contact| contact.3 == reference);
        for (workspace, people) in WORKSPACES {
            assert!(people.iter().all(|reference| known(reference)), "{workspace}");
        }
        for new in AGREEMENTS {
            assert!(new.participants.iter().all(|(reference, _)| known(reference)), "{}", new.name);
        }
    }
}

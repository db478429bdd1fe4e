//! The kinds of damage that `ops verify` finds.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use shared::store::Item;
use shared::store::inspect::Problem;
use uuid::Uuid;

use super::items::{Edit, Items, bare, deleted, keys_of, moved, put, string, text, with};

pub struct Damage {
    pub name: &'static str,
    pub problem: Problem,
    pub is_repairable: bool,
    pub edits: fn(&Items) -> Vec<Edit>,
}

const fn repaired(name: &'static str, problem: Problem, edits: fn(&Items) -> Vec<Edit>) -> Damage {
    Damage { name, problem, is_repairable: true, edits }
}

const fn found(name: &'static str, problem: Problem, edits: fn(&Items) -> Vec<Edit>) -> Damage {
    Damage { name, problem, is_repairable: false, edits }
}

pub const DAMAGES: &[Damage] = &[
    repaired("a contact without a row", Problem::NoRow, |items| deleted(items.first("#CONTACTS", ""))),
    repaired("an agreement without a row", Problem::NoRow, |items| deleted(items.first("#AGREEMENTS", ""))),
    repaired("a proposal without a row", Problem::NoRow, |items| deleted(items.first("#PROPOSALS", ""))),
    repaired("a workspace whose row has another text", Problem::WrongRow, |items| {
        put(with(items.find("#WORKSPACES", "", |item| item.contains_key("s")), "s", string("another")))
    }),
    repaired("a movement whose packed row has another byte", Problem::WrongRow, |items| {
        let row = items.first("#MOVEMENTS", "");
        let mut packed = row["z"].as_b().expect("packed values").as_ref().to_vec();
        *packed.last_mut().expect("a byte") ^= 1;
        put(with(row, "z", AttributeValue::B(Blob::new(packed))))
    }),
    repaired("an obligation whose row has no packed values", Problem::WrongRow, |items| {
        let mut row = items.first("#OBLIGATIONS", "").clone();
        row.remove("z");
        put(row)
    }),
    repaired("a row without a record", Problem::RowWithoutRecord, |items| {
        let row = items.first("#CONTACTS", "");
        put(with(row, "sk", string(&Uuid::now_v7().to_string())))
    }),
    repaired("a later row in a part of a spread list, with another text", Problem::WrongRow, |items| {
        let row = items.first("#CONTACTS", "");
        let (partition, id) = keys_of(row);
        let part = id.parse::<Uuid>().expect("an id").as_bytes()[15] % 8;
        let later = with(row, "v", AttributeValue::N("99".to_owned()));
        put(moved(&with(&later, "s", string("another")), &format!("{partition}#{part}"), &id))
    }),
    repaired("a person without a pointer to the workspace", Problem::NoPointer, |items| {
        deleted(items.first("#WORKSPACESOF#", ""))
    }),
    repaired("a pointer to a workspace that does not have the person", Problem::PointerWithoutRecord, |items| {
        let (partition, _) = keys_of(items.first("#WORKSPACESOF#", ""));
        put(bare(&partition, &Uuid::now_v7().to_string()))
    }),
    repaired("a workspace that says that it has one more person", Problem::WrongCount, |items| {
        let workspace = items.first("#WORKSPACE#", ".");
        let more = workspace["people_count"].as_n().expect("a number").parse::<u64>().expect("a number") + 1;
        put(with(workspace, "people_count", AttributeValue::N(more.to_string())))
    }),
    repaired("an agreement without the row of its documents", Problem::NoRow, |items| {
        deleted(items.first("#AGREEMENTDOCUMENTS", ""))
    }),
    repaired("a row of the documents of an agreement without any", Problem::RowWithoutRecord, |items| {
        let is_empty = |item: &Item| item.get("documents").is_some_and(|all| all.as_l().is_ok_and(Vec::is_empty));
        let agreement = items.find("#AGREEMENT#", ".", is_empty);
        let (partition, row) = (text(agreement, "pk"), items.first("#AGREEMENTDOCUMENTS", ""));
        put(with(row, "sk", string(partition.rsplit('#').next().expect("an id"))))
    }),
    repaired("a reference that leads to nobody", Problem::PointerWithoutRecord, |items| {
        let partition = format!("{}#CONTACTREF#lost", organization(items));
        put(with(&bare(&partition, "."), "contact_id", string(&Uuid::now_v7().to_string())))
    }),
    repaired("a funding item without its pointer", Problem::NoPointer, |items| {
        deleted(items.first("#FUNDINGITEM#", "."))
    }),
    repaired("a pointer to no funding item", Problem::PointerWithoutRecord, |items| {
        let partition = format!("{}#FUNDINGITEM#{}", organization(items), Uuid::now_v7());
        let sort = keys_of(items.first("#FUNDINGITEMS", "")).1;
        put(with(&bare(&partition, "."), "at", string(&sort)))
    }),
    repaired("a funding item with proof to review without its row", Problem::NoPointer, |items| {
        deleted(items.first("#FUNDINGTOREVIEW", ""))
    }),
    repaired("a row of proof to review of an item without any", Problem::PointerWithoutRecord, |items| {
        let partition = format!("{}#FUNDINGTOREVIEW", organization(items));
        let sort = keys_of(items.first("#FUNDINGITEMS", "")).1;
        let row = with(&bare(&partition, &Uuid::now_v7().to_string()), "at", string(&sort));
        put(row)
    }),
    repaired("a funding item that filters find in another phase", Problem::WrongRow, |items| {
        put(with(items.first("#FUNDINGITEMS", ""), "ph", string("done")))
    }),
    repaired("a funding item without its reference", Problem::NoPointer, |items| {
        deleted(items.first("#FUNDINGITEMREF#", "."))
    }),
    repaired("a trust without its pointer", Problem::NoPointer, |items| deleted(items.first("#TRUST#", "."))),
    repaired("a trust without the text that is searched", Problem::WrongRow, |items| {
        put(with(items.first("#TRUSTS", ""), "s", string("another")))
    }),
    repaired("a token that nobody could revoke", Problem::NoPointer, |items| deleted(items.first("#TOKENS", ""))),
    repaired("a proposal that is not on the due index", Problem::NoDueEntry, |items| {
        deleted(items.first("DUE#", "PROPOSAL#"))
    }),
    repaired("an agreement that is not on the due index", Problem::NoDueEntry, |items| {
        deleted(items.first("DUE#", "AGREEMENT#"))
    }),
    repaired("a delivery that is not on the due index", Problem::NoDueEntry, |items| {
        deleted(items.first("DUE#", "DELIVERY#"))
    }),
    repaired("an event that an endpoint did not get", Problem::NoDelivery, |items| {
        let delivery = items.find("#DELIVERIES#", "", |delivery| text(delivery, "state") == "delivered");
        // Backdates the endpoint's last change, beyond the duration of a call.
        let endpoint = text(delivery, "endpoint_id");
        let endpoint = items.find("#ENDPOINTS", endpoint, |item| text(item, "sk") == endpoint);
        let long_ago = string("2026-01-01T00:00:00.000Z");
        let endpoint = with(&with(endpoint, "created_at", long_ago.clone()), "updated_at", long_ago);
        vec![Edit::Put(endpoint), Edit::Delete(keys_of(delivery))]
    }),
    repaired("a due entry of a proposal that does not expire then", Problem::DueWithoutReason, |items| {
        let entry = items.first("DUE#", "PROPOSAL#");
        let sort = text(entry, "sk").replacen("PROPOSAL#00", "PROPOSAL#09", 1);
        put(with(entry, "sk", string(&sort)))
    }),
    repaired("a due entry of an agreement that is gone", Problem::DueWithoutReason, |items| {
        let sort = format!("AGREEMENT#{:015}#{}#{}", 9_000_000_000_000_i64, id(items), Uuid::now_v7());
        put(bare("DUE#3", &sort))
    }),
    repaired("a pending proposal without its claim", Problem::NoClaim, |items| deleted(items.first("#PENDING#", "."))),
    repaired("a claim of a proposal that was decided", Problem::ClaimWithoutProposal, |items| {
        let is_decided = |item: &Item| !item["decision"].as_m().is_ok_and(|of| of["state"] == string("pending"));
        let proposal = items.find("#PROPOSAL#", ".", is_decided);
        let (agreement, action) = (text(proposal, "agreement_id"), text(proposal, "action"));
        let partition = format!("{}#PENDING#{agreement}#{action}", organization(items));
        let claim = with(&bare(&partition, "."), "proposal_id", string(text(proposal, "id")));
        put(with(&claim, "until", AttributeValue::N("9000000000000".to_owned())))
    }),
    repaired("an undelivered delivery without its row", Problem::NoRow, |items| {
        deleted(items.first("#UNDELIVERED#", ""))
    }),
    repaired("a row of a delivery that arrived", Problem::RowWithoutRecord, |items| {
        let delivery = items.find("#DELIVERIES#", "", |delivery| text(delivery, "state") == "delivered");
        let partition = text(delivery, "pk").replace("DELIVERIES", "UNDELIVERED");
        put(with(&bare(&partition, text(delivery, "sk")), "state", string("waiting")))
    }),
    repaired("an endpoint that is not in the set", Problem::NoPointer, |items| {
        deleted(items.first("#ENDPOINTIDS", "."))
    }),
    repaired("a set with an endpoint that is gone", Problem::PointerWithoutRecord, |items| {
        let set = items.first("#ENDPOINTIDS", ".");
        let mut ids = set["ids"].as_ss().expect("ids").clone();
        ids.push(Uuid::now_v7().to_string());
        put(with(set, "ids", AttributeValue::Ss(ids)))
    }),
    repaired("evidence without its unique item", Problem::NoPointer, |items| {
        deleted(items.first("#EVIDENCEKEY#", "."))
    }),
    repaired("a unique item of no evidence", Problem::PointerWithoutRecord, |items| {
        let partition = format!("{}#EVIDENCEKEY#lost", organization(items));
        put(moved(items.first("#EVIDENCEKEY#", "."), &partition, "."))
    }),
    repaired("a payment that did not end with its agreement", Problem::NotEnded, |items| {
        let has_open = |item: &Item| {
            let movements = item.get("facts").and_then(|facts| facts.as_m().ok()?.get("movements")?.as_m().ok());
            movements.is_some_and(|all| all.values().any(|state| *state == string("authorized")))
                && item["life"].as_m().is_ok_and(|life| life["state"] == string("active"))
        };
        let agreement = items.find("#AGREEMENT#", ".", has_open);
        let mut life = agreement["life"].as_m().expect("a life").clone();
        life.insert("state".to_owned(), string("cancelled"));
        life.insert("cancelled_at".to_owned(), string("2099-01-01T00:00:00.000Z"));
        // Its payments are cancelled in it at once.
        let mut facts = agreement["facts"].as_m().expect("facts").clone();
        let mut all = movements(agreement).expect("movements").clone();
        for state in all.values_mut() {
            if ["draft", "authorized", "instructions_ready"].map(string).contains(state) {
                *state = string("cancelled");
            }
        }
        facts.insert("movements".to_owned(), AttributeValue::M(all));
        let ended = with(agreement, "life", AttributeValue::M(life));
        let mut edits = put(with(&ended, "facts", AttributeValue::M(facts)));
        let id = text(agreement, "id");
        let row = items.at(&format!("{}#AGREEMENTS", organization(items)), id);
        // Cancelling removes the agreement's own entry from the due index, and changes its row.
        edits.extend(items.all("DUE#", "AGREEMENT#").filter(|entry| text(entry, "sk").ends_with(id)).flat_map(deleted));
        edits.extend(deleted(row));
        edits
    }),
    repaired("a token that works although its organization is suspended", Problem::Disagreement, |items| {
        let organization = items.at(&format!("{}#ORGANIZATION", organization(items)), ".");
        let since = string("2026-11-01T00:00:00.000Z");
        let mut edits = put(with(organization, "suspended_at", since.clone()));
        // All of its tokens but the first, and none of its endpoints, have the copy.
        let tokens = items.all("TOKEN#", ".").filter(|token| text(token, "organization_id") == id(items));
        edits.extend(tokens.skip(1).map(|token| Edit::Put(with(token, "suspended_at", since.clone()))));
        edits
    }),
    found("an agreement and a payment that disagree", Problem::Disagreement, |items| {
        let has_some = |item: &Item| movements(item).is_some_and(|all| !all.is_empty());
        let agreement = items.find("#AGREEMENT#", ".", has_some);
        let mut facts = agreement["facts"].as_m().expect("facts").clone();
        let mut all = movements(agreement).expect("movements").clone();
        for state in all.values_mut() {
            *state = string("exception");
        }
        facts.insert("movements".to_owned(), AttributeValue::M(all));
        put(with(agreement, "facts", AttributeValue::M(facts)))
    }),
    found("an agreement in a state that nothing leads to", Problem::Inconsistent, |items| {
        let agreement = items
            .find("#AGREEMENT#", ".", |item| item["life"].as_m().is_ok_and(|life| life["state"] == string("active")));
        let mut stages = agreement["stages"].as_l().expect("stages").clone();
        if let Some(AttributeValue::M(stage)) = stages.first_mut() {
            stage.insert("state".to_owned(), string("upcoming"));
        }
        put(with(agreement, "stages", AttributeValue::L(stages)))
    }),
    found("a workspace that is gone", Problem::BrokenReference, |items| deleted(items.first("#WORKSPACE#", "."))),
    found("a snapshot that is gone", Problem::BrokenReference, |items| deleted(items.first("#PROPOSED#", "."))),
    found("a template that is gone", Problem::BrokenReference, |items| {
        deleted(items.find("#TEMPLATES", "", |item| item.contains_key("steps")))
    }),
    found("a template that no list names", Problem::NoOwner, |items| {
        put(with(items.first("#TEMPLATES", "."), "templates", AttributeValue::L(Vec::new())))
    }),
    found("an act of an agreement that is gone", Problem::NoOwner, |items| {
        let act = items.first("#AGREEMENT#", "ACT#");
        let partition = format!("{}#AGREEMENT#{}", organization(items), Uuid::now_v7());
        put(with(act, "pk", string(&partition)))
    }),
    found("a change that is not in the audit log", Problem::NoAuditRow, |items| {
        let act = items.first("#AGREEMENT#", "ACT#");
        let newest_first: Uuid = text(act, "sk").trim_start_matches("ACT#").parse().expect("an id");
        let call = Uuid::from_u128(!newest_first.as_u128());
        let partition = text(act, "pk").split("#AGREEMENT#").next().expect("an organization");
        deleted(items.at(&format!("{partition}#AUDIT#1"), &call.to_string()))
    }),
    found("an account that does not name its member", Problem::Disagreement, |items| {
        put(with(items.first("ACCOUNT#", "."), "memberships", AttributeValue::L(Vec::new())))
    }),
    found("a record that can't be read", Problem::Unreadable, |items| {
        let mut contact = items.first("#CONTACT#", ".").clone();
        contact.remove("display_name");
        put(contact)
    }),
    found("a record in the place of another", Problem::Misplaced, |items| {
        let partition = format!("{}#CONTACT#{}", organization(items), Uuid::now_v7());
        put(with(items.first("#CONTACT#", "."), "pk", string(&partition)))
    }),
    found("an item that nothing writes", Problem::UnknownItem, |items| {
        put(bare(&format!("{}#CONTACT", organization(items)), "."))
    }),
    found("an item of no organization", Problem::NoOrganization, |_| {
        put(bare(&format!("ORG#{}#COUNTER#WORKSPACES", Uuid::now_v7()), "."))
    }),
];

fn organization(items: &Items) -> String {
    let partition = text(items.first("#CONTACTS", ""), "pk");
    partition.trim_end_matches("#CONTACTS").to_owned()
}

fn id(items: &Items) -> String {
    organization(items).trim_start_matches("ORG#").to_owned()
}

fn movements(agreement: &Item) -> Option<&std::collections::HashMap<String, AttributeValue>> {
    agreement.get("facts")?.as_m().ok()?.get("movements")?.as_m().ok()
}

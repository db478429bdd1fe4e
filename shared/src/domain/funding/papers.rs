//! The agreement that papers items: documents from templates, participants, steps.
//!
//! The templates are plain text with fields in double braces, one per verb. Each says that counsel must review it.
//!
//! - Decision: the second step is an information request to the first trustee, with a file per asset. Nothing is
//!   papered without a trustee, because nobody could receive the assets. An upload condition would clear unread;
//!   answers clear theirs once a member has accepted them. This funds no item: that takes proof for the item itself.
//! - Decision: one condition names all signatures: a step has at most 20 conditions, an agreement up to 25 items.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Verb;
use super::item::FundingItem;
use super::names::name_of;
use crate::domain::actor::Actor;
use crate::domain::agreement::gate::{FieldType, GateRule, InformationField};
use crate::domain::agreement::{
    Agreement, AgreementKind, AgreementName, DocumentContent, Label, NewAgreement, NewParticipant, ParticipantRole,
    Roles,
};
use crate::domain::contact::Contact;
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, ContactId, FieldId, FundingItemId, ParticipantId};
use crate::domain::time::Timestamp;
use crate::domain::trust::Trust;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};
use crate::wire::input::OrDefault;

/// A document to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    /// The item it is for.
    pub item_id: FundingItemId,
    /// Its title, from the verb.
    pub title: String,
    /// The asset.
    pub asset: String,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(String),
    /// Named facts.
    Facts(Vec<(String, String)>),
    /// The signers.
    Signatures(Vec<String>),
}

/// The trust and people named in documents.
#[derive(Debug, Clone, Copy)]
pub struct Parties<'a> {
    /// The trust.
    pub trust: &'a Trust,
    /// The contacts of its trustees and settlors, and of the items' owners.
    pub contacts: &'a [Contact],
}

impl Parties<'_> {
    fn name(&self, id: ContactId) -> &str {
        name_of(self.contacts, id)
    }

    fn names(&self, ids: &[ContactId]) -> String {
        let names: Vec<&str> = ids.iter().map(|id| self.name(*id)).collect();
        match names.as_slice() {
            [] => "…".to_owned(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }
}

fn template(verb: Verb) -> Option<&'static str> {
    Some(match verb {
        Verb::Deed => include_str!("templates/deed.txt"),
        Verb::Retitle => include_str!("templates/retitle.txt"),
        Verb::ChangeBeneficiary => include_str!("templates/change_beneficiary.txt"),
        Verb::Transfer => include_str!("templates/transfer.txt"),
        Verb::Assign => include_str!("templates/assignment.txt"),
        Verb::LeaveOut => return None,
    })
}

/// The title of a verb's document, for previews. None if the verb has none.
#[must_use]
pub fn title(verb: Verb) -> Option<&'static str> {
    template(verb).and_then(|text| text.lines().next())
}

/// The document of an item. None if its verb has none.
#[must_use]
pub fn paper(item: &FundingItem, parties: Parties<'_>, day: Day) -> Option<Paper> {
    let verb = item.verb()?;
    let text = template(verb)?;
    let (title, rest) = text.split_once('\n')?;
    let fields = Fields::of(item, verb, parties, day);
    let blocks = rest.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).map(|block| match block {
        "[facts]" => Block::Facts(facts(item)),
        "[signatures]" => {
            let signers = signers(item, parties.trust);
            Block::Signatures(signers.into_iter().map(|id| parties.name(id).to_owned()).collect())
        }
        paragraph => Block::Paragraph(fields.fill(paragraph)),
    });
    let (item_id, asset) = (item.id(), item.label().as_str().to_owned());
    Some(Paper { item_id, title: title.to_owned(), asset, blocks: blocks.collect() })
}

struct Fields(Vec<(&'static str, String)>);

impl Fields {
    fn of(item: &FundingItem, verb: Verb, parties: Parties<'_>, day: Day) -> Self {
        let (owners, trustees) = (item.owner_contact_ids(), parties.trust.trustee_contact_ids.as_slice());
        let word = |people: &[ContactId], one: &'static str, several: &'static str| {
            if people.len() <= 1 { one } else { several }.to_owned()
        };
        let keeper = item.asset_kind().keeper(verb).and_then(|keeper| keeper.in_words(item.detail()));
        let trustee = word(trustees, "trustee", "trustees");
        // Without a record keeper, the trustees hold it.
        let (further, confirms) = if let Some(keeper) = &keeper {
            (format!("{keeper} or the law requires"), format!("{keeper} has confirmed"))
        } else {
            let confirm = word(trustees, "has confirmed", "have confirmed");
            ("the law requires".to_owned(), format!("the {trustee} {confirm}"))
        };
        Self(vec![
            ("owners", parties.names(owners)),
            ("asks", word(owners, "asks", "ask")),
            ("assigns", word(owners, "assigns", "assign")),
            ("assignor", word(owners, "assignor", "assignors")),
            ("grantor", word(owners, "grantor", "grantors")),
            ("Grantor", word(owners, "Grantor", "Grantors")),
            ("grantee", word(trustees, "grantee", "grantees")),
            ("Grantee", word(trustees, "Grantee", "Grantees")),
            ("as_trustee", word(trustees, "as trustee", "as trustees")),
            ("trustees", parties.names(trustees)),
            ("trustee", trustee),
            ("trust", parties.trust.formal_name.as_str().to_owned()),
            ("keeper", keeper.unwrap_or_else(|| "…".to_owned())),
            ("further", further),
            ("confirms", confirms),
            ("date", day.for_people()),
        ])
    }

    /// Fills the fields of a text, once: names may contain braces. A value's final point also ends the sentence.
    fn fill(&self, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            let Some((name, after)) = after.split_once("}}") else {
                rest = after;
                break;
            };
            let value = self.0.iter().find(|(known, _)| *known == name).map_or("…", |(_, value)| value.as_str());
            filled.push_str(value);
            rest = if value.ends_with('.') { after.strip_prefix('.').unwrap_or(after) } else { after };
        }
        filled.push_str(rest);
        filled
    }
}

fn facts(item: &FundingItem) -> Vec<(String, String)> {
    let needed = item.verb().and_then(|verb| item.asset_kind().facts_for(verb)).unwrap_or_default();
    let asset = ("Asset", item.label().as_str().to_owned());
    let facts = std::iter::once(asset).chain(item.detail().for_people(needed.iter().copied()));
    facts.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn signers(item: &FundingItem, trust: &Trust) -> Vec<ContactId> {
    let mut signers = item.owner_contact_ids().to_vec();
    signers.extend(trust.trustee_contact_ids.iter().filter(|id| !item.owner_contact_ids().contains(id)));
    signers
}

/// The contacts named in the agreement for some items.
#[must_use]
pub fn named_contacts<'a>(trust: &Trust, items: impl IntoIterator<Item = &'a FundingItem>) -> BTreeSet<ContactId> {
    let owners = items.into_iter().flat_map(|item| item.owner_contact_ids().iter().copied());
    trust.trustee_contact_ids.iter().chain(&trust.settlor_contact_ids).copied().chain(owners).collect()
}

/// The default name of the agreement for some items.
#[must_use]
pub fn default_name(trust: &Trust) -> Option<AgreementName> {
    let name = format!("Funding of {}", trust.formal_name.as_str());
    let cut: String = name.chars().take(limits::AGREEMENT_NAME_CHARS_MAX).collect();
    AgreementName::parse(&cut).ok()
}

/// Drafts the agreement that papers items: a document per item, its signers, and two steps. Errors at `item_ids`:
/// `missing_facts` without a trustee, `limit_reached` beyond the limit of participants or signatures.
pub fn draft(
    id: AgreementId,
    name: AgreementName,
    trust: &Trust,
    papered: &[(&FundingItem, DocumentContent)],
    created_by: Actor,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    if trust.trustee_contact_ids.is_empty() {
        let message = "are of a trust without trustees, so nobody would receive them; name its trustees first";
        return Err(FieldErrors::one("item_ids", FieldCode::MissingFacts, message));
    }
    drafted(id, name, trust, papered, created_by, now).map_err(|found| {
        let mut errors = FieldErrors::default();
        for error in found.into_list() {
            let message = format!("are too much for one agreement; paper fewer at a time ({})", error.message);
            errors.extend(FieldErrors::one("item_ids", error.code, message));
        }
        errors
    })
}

fn drafted(
    id: AgreementId,
    name: AgreementName,
    trust: &Trust,
    papered: &[(&FundingItem, DocumentContent)],
    created_by: Actor,
    now: Timestamp,
) -> Result<Agreement, FieldErrors> {
    let kind = OrDefault(AgreementKind::General);
    let new = NewAgreement { workspace_id: trust.workspace_id, name, kind };
    let draft = Agreement::draft(new, created_by, now).with_id(id);
    let (mut draft, participants) = with_participants(draft, trust, papered, now)?;
    let mut blocks = BTreeSet::new();
    for (item, content) in papered {
        let title = item.verb().and_then(title).unwrap_or("Document");
        let name = cut(&format!("{title}: {}", item.label().as_str()))?;
        let (with_document, document) = draft.add_document(name, Some(content.clone()), now)?;
        draft = with_document;
        for contact in signers(item, trust) {
            let Some(participant) = participants.get(&contact) else { continue };
            let is_owner = item.owner_contact_ids().contains(&contact);
            let label = cut(if is_owner { "Owner" } else { "Trustee" })?;
            let (with_block, block) = draft.add_signature_block(document, *participant, label, now)?;
            draft = with_block;
            blocks.insert(block);
        }
    }
    let (draft, signing) = draft.add_stage(cut("Signing")?, BTreeSet::new(), now)?;
    let (draft, _) = draft.add_gate(signing, GateRule::SignatureBlocks { block_ids: blocks }, now)?;
    let (draft, proof) = draft.add_stage(cut("Confirmation")?, BTreeSet::new(), now)?;
    let asked = trust.trustee_contact_ids.first().and_then(|id| participants.get(id));
    let rule = GateRule::InformationRequest {
        participant_ids: asked.into_iter().copied().collect(),
        fields: papered.iter().map(|(item, _)| question(item)).collect::<Result<_, _>>()?,
    };
    let (mut draft, _) = draft.add_gate(proof, rule, now)?;
    draft.funding_item_ids = papered.iter().map(|(item, _)| item.id()).collect();
    Ok(draft)
}

fn with_participants(
    mut draft: Agreement,
    trust: &Trust,
    papered: &[(&FundingItem, DocumentContent)],
    now: Timestamp,
) -> Result<(Agreement, BTreeMap<ContactId, ParticipantId>), FieldErrors> {
    use ParticipantRole::{Contributor, Observer, Signer, Trustee};
    let owners = papered.iter().flat_map(|(item, _)| item.owner_contact_ids());
    let trustees = trust.trustee_contact_ids.iter().map(|id| (*id, [Trustee, Signer].as_slice()));
    let owners = owners.map(|id| (*id, [Signer, Contributor].as_slice()));
    let settlors = trust.settlor_contact_ids.iter().map(|id| (*id, [Observer].as_slice()));
    let mut participants = BTreeMap::new();
    for (contact_id, roles) in trustees.chain(owners).chain(settlors) {
        let roles = Roles(roles.iter().copied().collect());
        let added = draft.add_participant(NewParticipant { contact_id, roles }, now);
        let added = added.map_err(|reason| reason.at("item_ids"))?;
        participants.insert(contact_id, added.participant.id);
        draft = added.agreement;
    }
    Ok((draft, participants))
}

fn question(item: &FundingItem) -> Result<InformationField, FieldErrors> {
    let asked = match item.verb() {
        Some(Verb::Deed) => "Recorded deed",
        _ => "Confirmation from the receiving side",
    };
    Ok(InformationField {
        // Identifies the answer as this item's confirmation.
        id: FieldId::from(item.id().uuid()),
        label: cut(&format!("{asked}: {}", item.label().as_str()))?,
        field_type: FieldType::File,
        required: true,
        options: Vec::new(),
    })
}

fn cut(text: &str) -> Result<Label, FieldErrors> {
    let cut: String = text.chars().take(limits::NAME_CHARS_MAX).collect();
    Label::parse(&cut).map_err(|(code, message): (FieldCode, String)| FieldErrors::one("label", code, message))
}

#[cfg(test)]
mod tests;

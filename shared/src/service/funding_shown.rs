//! What a page showed of a funding item, or of the agreement that would paper some, when a member decided on it.
//!
//! Decision: names are compared just before the act: who is renamed after that might as well be renamed later.

use serde::Serialize;

use crate::domain::agreement::Agreement;
use crate::domain::contact::Contact;
use crate::domain::day::Day;
use crate::domain::funding::proof::ProofState;
use crate::domain::funding::{FundingItem, Phase};
use crate::domain::ids::ContactId;
use crate::domain::member::funding::ItemPart;
use crate::domain::trust::Trust;
use crate::domain::workspace::Workspace;
use crate::service::shown::{Shown, ShownPart, digest};

impl ShownPart for ItemPart {
    const ALL: &'static [Self] = &Self::ALL;
}

pub(super) fn of_item(
    item: &FundingItem,
    agreement: Option<&Agreement>,
    workspace: &Workspace,
    trust: Option<&Trust>,
    people: &[Contact],
) -> Shown<ItemPart> {
    Shown::of(|part| match part {
        ItemPart::Facts => digest(&facts(item)),
        ItemPart::Hold => digest(&item.hold()),
        ItemPart::Claim => digest(&(item.claim(), item.withdrawn_claims())),
        ItemPart::Proof => digest(&proofs(item)),
        ItemPart::Status => digest(&status(item)),
        ItemPart::Agreement => digest(
            &agreement.map(|agreement| (agreement.id(), agreement.name.as_str(), agreement.lifecycle().as_str())),
        ),
        ItemPart::Names => {
            let owners = named(item.owner_contact_ids(), people);
            digest(&(workspace.name.as_str(), trust.map(|trust| trust.formal_name.as_str()), owners))
        }
    })
}

/// A part of a preview of an agreement that would paper items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperingPart {
    /// The items with their facts.
    Items,
    /// The trust, with its settlors and trustees.
    Trust,
    /// The names of people and of the workspace.
    Names,
    /// The day of the documents.
    Day,
}

impl ShownPart for PaperingPart {
    const ALL: &'static [Self] = &[Self::Items, Self::Trust, Self::Names, Self::Day];
}

pub(super) fn of_papering<'a>(
    items: impl Iterator<Item = &'a FundingItem>,
    workspace: &Workspace,
    trust: &Trust,
    people: &[Contact],
    day: Day,
) -> Shown<PaperingPart> {
    let items: Vec<&FundingItem> = items.collect();
    let owners = items.iter().flat_map(|item| item.owner_contact_ids());
    let takes_part = trust.settlor_contact_ids.iter().chain(&trust.trustee_contact_ids).chain(owners);
    let takes_part: Vec<ContactId> = takes_part.copied().collect();
    Shown::of(|part| match part {
        PaperingPart::Items => digest(&items.iter().map(|item| (item.id(), facts(item))).collect::<Vec<_>>()),
        PaperingPart::Trust => {
            digest(&(trust.id, trust.formal_name.as_str(), &trust.settlor_contact_ids, &trust.trustee_contact_ids))
        }
        PaperingPart::Names => digest(&(workspace.name.as_str(), named(&takes_part, people))),
        PaperingPart::Day => digest(&day),
    })
}

fn facts(item: &FundingItem) -> impl Serialize {
    (
        (item.label(), item.asset_kind(), item.external_reference(), item.verb()),
        (item.trust_id(), item.owner_contact_ids().to_vec(), item.detail()),
    )
}

/// What was filed and decided, without times, which change at each read until an agreement's end is written.
fn proofs(item: &FundingItem) -> impl Serialize {
    let state = |state: &ProofState| match state {
        ProofState::Undecided => "undecided",
        ProofState::Accepted { .. } => "accepted",
        ProofState::Rejected { .. } => "rejected",
        ProofState::SetAside { .. } => "set_aside",
    };
    item.proofs().iter().map(|proof| (proof.id(), state(proof.state()))).collect::<Vec<_>>()
}

/// How it stands, without the claim, which is a part of its own.
fn status(item: &FundingItem) -> impl Serialize {
    let phase = match item.phase() {
        Phase::Unsorted | Phase::Gathering | Phase::Ready => "open",
        Phase::InProgress | Phase::Claimed => Phase::InProgress.as_str(),
        closed_or_papered => closed_or_papered.as_str(),
    };
    (phase, item.funding_status().as_str(), item.close_reason(), item.agreement_id())
}

fn named<'a>(ids: &[ContactId], people: &'a [Contact]) -> Vec<(ContactId, Option<&'a str>)> {
    let name = |id: &ContactId| people.iter().find(|contact| contact.id == *id);
    ids.iter().map(|id| (*id, name(id).map(|contact| contact.display_name.as_str()))).collect()
}

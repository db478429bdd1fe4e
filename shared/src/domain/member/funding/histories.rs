//! Random histories of items and their agreements, checked against a model.

mod claims;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::domain::actor::Actor;
use crate::domain::agreement::DocumentContent;
use crate::domain::agreement::fixtures::{completed, published};
use crate::domain::day::Day;
use crate::domain::event::EventType;
use crate::domain::funding::fixtures::{contacts, everything, item, noon, ready_item, trust};
use crate::domain::funding::input::{FundingItemChanges, Nullable, Parking};
use crate::domain::funding::item::Papering;
use crate::domain::funding::names::NamesDigest;
use crate::domain::funding::papers;
use crate::domain::funding::proof::{Proof, ProofSource, ProofState};
use crate::domain::funding::summary::FundingSummary;
use crate::domain::funding::{AssetKind, Fact, FundingStatus, Phase, Verb, WaitingOn};
use crate::domain::obligation::fixtures::member;
use crate::domain::time::Timestamp;
use crate::domain::trust::Trust;
use crate::wire::fields::FieldCode;
use crate::wire::input::{NullablePatch, read};

#[derive(Debug, Clone, Copy)]
enum Try {
    SortWhole(usize),
    SortVerb(usize),
    Unsort,
    Park(Option<WaitingOn>),
    Paper,
    Publish,
    Cancel,
    Complete,
    Claim,
    Withdraw,
    File,
    Accept,
    Reject,
    Close,
    Reopen,
}

const VERBS: [Verb; 3] = [Verb::Assign, Verb::Retitle, Verb::LeaveOut];

fn tries() -> impl Strategy<Value = Try> {
    prop_oneof![
        5 => (0..VERBS.len()).prop_map(Try::SortWhole),
        2 => (0..VERBS.len()).prop_map(Try::SortVerb),
        1 => Just(Try::Unsort),
        2 => proptest::sample::select(vec![None, Some(WaitingOn::Institution), Some(WaitingOn::Counsel)]).prop_map(Try::Park),
        6 => Just(Try::Paper),
        6 => Just(Try::Publish),
        2 => Just(Try::Cancel),
        3 => Just(Try::Complete),
        4 => Just(Try::Claim),
        3 => Just(Try::Withdraw),
        5 => Just(Try::File),
        5 => Just(Try::Accept),
        2 => Just(Try::Reject),
        2 => Just(Try::Close),
        2 => Just(Try::Reopen),
    ]
}

/// Independent of the domain's code, to check it.
#[derive(Debug, Clone, Default)]
struct Model {
    verb: Option<Verb>,
    is_whole: bool,
    has_reason: bool,
    is_assigned: bool,
    hold: Option<WaitingOn>,
    at: At,
    undecided: usize,
    filed: usize,
    withdrawn: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum At {
    #[default]
    Open,
    Papered,
    InProgress,
    Claimed,
    Funded,
    Unfunded,
}

impl Model {
    fn phase(&self) -> Phase {
        match self.at {
            At::Open => match self.verb {
                None => Phase::Unsorted,
                Some(Verb::LeaveOut) if self.has_reason => Phase::Ready,
                Some(Verb::LeaveOut) => Phase::Gathering,
                Some(_) if self.is_whole => Phase::Ready,
                Some(_) => Phase::Gathering,
            },
            At::Papered => Phase::Papered,
            At::InProgress => Phase::InProgress,
            At::Claimed => Phase::Claimed,
            At::Funded | At::Unfunded => Phase::Done,
        }
    }

    fn takes_proof(&self) -> bool {
        matches!(self.at, At::InProgress | At::Claimed) && self.undecided < 20 && self.filed < 100
    }

    fn is_closed(&self) -> bool {
        matches!(self.at, At::Funded | At::Unfunded)
    }

    /// Sets the verb; a whole sorting also assigns the item and states what the verb needs.
    fn sort(&mut self, verb: Verb, is_whole: bool) -> Vec<EventType> {
        let sorts = self.verb != Some(verb) || (is_whole && !self.is_assigned);
        self.verb = Some(verb);
        if is_whole {
            self.is_assigned = true;
            if verb == Verb::LeaveOut {
                self.has_reason = true;
            } else {
                self.is_whole = true;
            }
        }
        sorts.then_some(EventType::FundingItemSorted).into_iter().collect()
    }

    fn next(&mut self, what: Try, agreement: Option<Lifecycle>) -> Option<Vec<EventType>> {
        let runs = matches!(agreement, Some(Lifecycle::Active | Lifecycle::Completed));
        match what {
            Try::SortWhole(_) | Try::SortVerb(_) | Try::Unsort if self.at != At::Open => return None,
            Try::SortWhole(n) => return Some(self.sort(VERBS[n], true)),
            Try::SortVerb(n) => return Some(self.sort(VERBS[n], false)),
            Try::Unsort => self.verb = None,
            Try::Park(_) if self.is_closed() => return None,
            Try::Park(waiting_on) => {
                let parks = self.hold != waiting_on;
                self.hold = waiting_on;
                return Some(parks.then_some(EventType::FundingItemParked).into_iter().collect());
            }
            Try::Paper => {
                let can = self.phase() == Phase::Ready && self.verb != Some(Verb::LeaveOut) && self.hold.is_none();
                if !can {
                    return None;
                }
                self.at = At::Papered;
                return Some(vec![EventType::FundingItemPapered]);
            }
            Try::Publish if self.at == At::Papered && agreement == Some(Lifecycle::Draft) => self.at = At::InProgress,
            Try::Cancel if matches!(agreement, Some(Lifecycle::Draft | Lifecycle::Active)) && !self.is_closed() => {
                (self.at, self.undecided) = (At::Open, 0);
                return Some(vec![EventType::FundingItemReopened]);
            }
            // Changes no item: what isn't proven keeps waiting.
            Try::Complete if agreement == Some(Lifecycle::Active) => {}
            Try::Claim if self.at == At::InProgress && runs && self.withdrawn < 10 => self.at = At::Claimed,
            Try::Withdraw if self.at == At::Claimed && runs => {
                (self.at, self.withdrawn) = (At::InProgress, self.withdrawn + 1);
            }
            Try::File if runs && self.takes_proof() => {
                (self.undecided, self.filed) = (self.undecided + 1, self.filed + 1);
            }
            Try::Accept if matches!(self.at, At::InProgress | At::Claimed) && runs && self.undecided > 0 => {
                (self.at, self.hold, self.undecided) = (At::Funded, None, self.undecided - 1);
                return Some(vec![EventType::FundingItemClosed]);
            }
            Try::Reject if matches!(self.at, At::InProgress | At::Claimed) && self.undecided > 0 => self.undecided -= 1,
            Try::Close if self.at == At::Open || (!self.is_closed() && agreement == Some(Lifecycle::Completed)) => {
                (self.at, self.hold, self.undecided) = (At::Unfunded, None, 0);
                return Some(vec![EventType::FundingItemClosed]);
            }
            Try::Reopen if self.is_closed() => {
                let is_live = matches!(agreement, Some(Lifecycle::Draft | Lifecycle::Active));
                if self.at == At::Funded && is_live {
                    return None;
                }
                (self.at, self.undecided) = (At::Open, 0);
                return Some(vec![EventType::FundingItemReopened]);
            }
            _ => return None,
        }
        Some(Vec::new())
    }
}

struct World {
    trust: Trust,
    items: Vec<FundingItem>,
    agreements: BTreeMap<AgreementId, Agreement>,
    now: Timestamp,
}

impl World {
    fn new(count: usize) -> Self {
        let trust = trust();
        let items = (0..count).map(|_| item(&trust, AssetKind::Other)).collect();
        Self { trust, items, agreements: BTreeMap::new(), now: noon() }
    }

    fn agreement_of(&self, n: usize) -> Option<&Agreement> {
        self.items[n].agreement_id().and_then(|id| self.agreements.get(&id))
    }

    fn attempt(&mut self, n: usize, what: Try) -> Option<Vec<EventType>> {
        self.now = self.now.plus_seconds(1);
        let (by, moment) = (member("Maren"), Moment::test(self.now));
        let before = self.items[n].clone();
        let agreement = self.agreement_of(n).cloned();
        let context = FundingContext { agreement: agreement.as_ref(), moment };
        let undecided = before.proofs().iter().find(|proof| proof.is_undecided()).map(Proof::id);
        let done = match what {
            Try::SortWhole(verb) => {
                return self
                    .changed(n, before.sort(everything(&self.trust, AssetKind::Other, VERBS[verb]), self.now).ok());
            }
            Try::SortVerb(verb) => {
                let changes =
                    FundingItemChanges { verb: NullablePatch::Set(VERBS[verb]), ..FundingItemChanges::default() };
                return self.changed(n, before.sort(changes, self.now).ok());
            }
            Try::Unsort => {
                let changes = FundingItemChanges { verb: NullablePatch::Clear, ..FundingItemChanges::default() };
                return self.changed(n, before.sort(changes, self.now).ok());
            }
            Try::Park(waiting_on) => {
                let parking = Parking { waiting_on: Nullable(waiting_on), note: None };
                return self.changed(n, before.park(parking, Actor::system(), self.now).ok());
            }
            Try::Paper => {
                let id = AgreementId::new();
                let trustees = &self.trust.trustee_contact_ids;
                let names = NamesDigest::of(before.owner_contact_ids(), trustees, &contacts(&self.trust));
                let papering = Papering { agreement_id: id, papered_at: self.now, trust_version: 1, names };
                let change = before.paper(papering).ok()?;
                let stored = DocumentContent { sha256: "0".repeat(64), size_bytes: 9 };
                let name = papers::default_name(&self.trust).unwrap();
                let draft = papers::draft(id, name, &self.trust, &[(&before, stored)], Actor::system(), self.now);
                self.agreements.insert(id, draft.unwrap());
                return self.changed(n, Some(change));
            }
            Try::Publish => {
                let draft = agreement.filter(|agreement| agreement.lifecycle() == Lifecycle::Draft)?;
                let active = published(&draft);
                let started = before.started_with(&active, moment)?;
                self.agreements.insert(active.id(), active);
                self.items[n] = FundingItem::clone(&started);
                return Some(Vec::new());
            }
            Try::Cancel => {
                let live = agreement
                    .filter(|agreement| matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active))?;
                let cancelled = live.cancelled(self.now);
                let reopened = before.reopened_with(&cancelled, moment)?;
                self.agreements.insert(cancelled.id(), cancelled);
                let event = reopened.event().event_type();
                self.items[n] = reopened.into_item();
                return Some(vec![event]);
            }
            Try::Complete => return self.complete(&agreement?),
            Try::Claim => record_claim(&by, &before, context, None),
            Try::Withdraw => withdraw_claim(&by, &before, context, SafeNote::parse("It is another account").unwrap()),
            Try::File => file_proof(&by, &before, context, proof()),
            Try::Accept => accept_proof(&by, &before, context, undecided?),
            Try::Reject => reject_proof(&by, &before, moment, undecided?, SafeNote::parse("It is unreadable").unwrap()),
            Try::Close => close_unfunded(&by, &before, context, CloseReason::Sold, None),
            Try::Reopen => reopen_item(&by, &before, context),
        };
        let FundingChange { item, events } = done.ok()?;
        self.items[n] = item.into_inner();
        Some(events.iter().map(EventKind::event_type).collect())
    }

    fn complete(&mut self, agreement: &Agreement) -> Option<Vec<EventType>> {
        let completed = (agreement.lifecycle() == Lifecycle::Active).then(|| completed(agreement, self.now))?;
        assert!(self.items.iter().all(|item| item.reopened_with(&completed, Moment::test(self.now)).is_none()));
        self.agreements.insert(completed.id(), completed);
        Some(Vec::new())
    }

    fn changed(&mut self, n: usize, change: Option<crate::domain::funding::ItemChange>) -> Option<Vec<EventType>> {
        let change = change?;
        let events = change.events().iter().map(EventKind::event_type).collect();
        self.items[n] = change.into_item();
        Some(events)
    }
}

fn proof() -> NewProof {
    let source = ProofSource::InstitutionConfirmation;
    let note = Some(SafeNote::parse("The bank confirmed the new title by letter").unwrap());
    NewProof { id: ProofId::new(), source, dated: Day::parse("2026-03-14").unwrap(), file: None, note }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn histories_are_as_the_model_says(tries in proptest::collection::vec((0..3_usize, tries()), 1..60)) {
        let mut world = World::new(3);
        let mut models = vec![Model::default(); 3];
        for (n, what) in tries {
            let before = (world.items.clone(), FundingSummary::of(&world.items));
            let agreement = world.agreement_of(n).map(Agreement::lifecycle);
            let expected = models[n].next(what, agreement);
            let found = world.attempt(n, what);
            prop_assert_eq!(&found, &expected, "{:?} of {:?}", what, &before.0[n]);
            if found.is_none() {
                prop_assert_eq!(&world.items, &before.0);
            }
            for (item, model) in world.items.iter().zip(&models) {
                prop_assert_eq!(item.phase(), model.phase());
                prop_assert_eq!(item.hold().map(|hold| hold.waiting_on), model.hold);
                prop_assert!(item.phase() == Phase::Gathering || item.phase() == Phase::Unsorted || item.missing_facts().is_empty());
                if item.funding_status() == FundingStatus::Funded {
                    let accepted = item.proofs().iter().filter(|proof| matches!(proof.state(), ProofState::Accepted { .. }));
                    prop_assert_eq!(accepted.count(), 1);
                }
            }
            let summary = FundingSummary::of(&world.items);
            let closed = models.iter().filter(|model| model.is_closed()).count();
            prop_assert_eq!(usize::try_from(summary.done).unwrap(), closed);
            prop_assert_eq!(summary.done, summary.funded + summary.unfunded);
            let open = summary.unsorted + summary.gathering + summary.ready + summary.papered + summary.in_progress + summary.claimed;
            prop_assert_eq!(open + summary.done, summary.total);
            if matches!(what, Try::Claim | Try::File | Try::Publish | Try::Paper) {
                prop_assert_eq!(summary.done, before.1.done, "no claim moves it");
            }
        }
    }

    #[test]
    fn an_item_survives_its_encoding(tries in proptest::collection::vec(tries(), 1..30)) {
        let mut world = World::new(1);
        for what in tries {
            let _ = world.attempt(0, what);
        }
        let stored = serde_json::to_string(&world.items[0]).unwrap();
        prop_assert_eq!(&serde_json::from_str::<FundingItem>(&stored).unwrap(), &world.items[0]);
    }
}

#[test]
fn the_table_is_that_of_the_contract() {
    let rows: Vec<String> = AssetKind::ALL
        .iter()
        .flat_map(|kind| kind.verbs().map(move |verb| (kind, verb)))
        .filter(|(_, verb)| *verb != Verb::LeaveOut)
        .map(|(kind, verb)| {
            let facts: Vec<&str> = kind.facts_for(verb).unwrap().iter().map(|fact| fact.as_str()).collect();
            format!("{kind} {verb}: {}", facts.join(", "))
        })
        .collect();
    let expected = [
        "real_estate deed: address, county, state, legal_description, current_vesting",
        "real_estate change_beneficiary: address, county, state, legal_description, current_vesting",
        "bank_account retitle: institution, account_type, account_last4, current_title",
        "bank_account change_beneficiary: institution, account_last4",
        "bank_account transfer: institution, account_last4, amount_minor, currency",
        "brokerage_account retitle: institution, account_last4, registration",
        "brokerage_account transfer: institution, account_last4, registration, receiving_institution",
        "brokerage_account change_beneficiary: institution, account_last4",
        "retirement_account change_beneficiary: institution, account_last4, plan_type, designation, share_percent",
        "life_insurance change_beneficiary: carrier, policy_last4, designation, share_percent",
        "life_insurance assign: carrier, policy_last4",
        "annuity change_beneficiary: carrier, policy_last4, designation, share_percent",
        "annuity assign: carrier, policy_last4",
        "business_interest assign: entity_name, entity_type, interest, consent_required",
        "vehicle retitle: make_model_year, vin, state",
        "vehicle change_beneficiary: make_model_year, vin, state",
        "personal_property assign: description",
        "digital_asset transfer: platform, description",
        "digital_asset assign: platform, description",
        "promissory_note assign: debtor_name, principal_minor, currency, secured",
        "intellectual_property assign: ip_type, registration_number",
        "other deed: description",
        "other retitle: description",
        "other change_beneficiary: description",
        "other transfer: description",
        "other assign: description",
    ];
    assert_eq!(rows, expected);
    assert!(AssetKind::ALL.iter().all(|kind| kind.facts_for(Verb::LeaveOut) == Some(&[Fact::Reason][..])));
}

#[test]
fn every_verb_of_every_kind_becomes_ready_with_its_facts() {
    let trust = trust();
    for kind in AssetKind::ALL {
        for verb in kind.verbs() {
            let item = item(&trust, kind);
            let sorted = item.sort(everything(&trust, kind, verb), noon()).unwrap();
            assert_eq!(sorted.phase(), Phase::Ready, "{kind} {verb}");
        }
        let unfit = Verb::ALL.into_iter().find(|verb| kind.facts_for(*verb).is_none());
        let Some(verb) = unfit else { continue };
        let changes = FundingItemChanges { verb: NullablePatch::Set(verb), ..FundingItemChanges::default() };
        let refused = item(&trust, kind).sort(changes, noon()).unwrap_err().into_list();
        assert_eq!((refused[0].field.as_str(), refused[0].code), ("verb", FieldCode::VerbNotAllowed), "{kind} {verb}");
    }
}

fn sorted(item: &FundingItem, changes: serde_json::Value) -> Result<FundingItem, Vec<(String, FieldCode)>> {
    let codes = |errors: crate::wire::fields::FieldErrors| {
        errors.into_list().into_iter().map(|error| (error.field, error.code)).collect::<Vec<_>>()
    };
    let changes = read::<FundingItemChanges>(changes).map_err(codes)?;
    item.sort(changes, noon()).map(crate::domain::funding::ItemChange::into_item).map_err(codes)
}

#[test]
fn facts_are_merged_removed_and_refused_where_they_do_not_belong() {
    let trust = trust();
    let account = item(&trust, AssetKind::BankAccount);
    let first =
        json!({"detail": {"institution": " First National ", "account_last4": "4411", "amount_minor": 125_000}});
    let account = sorted(&account, first).unwrap();
    assert_eq!(
        json!(account.detail()),
        json!({"institution": "First National", "account_last4": "4411", "amount_minor": 125_000})
    );
    let account = sorted(&account, json!({"detail": {"amount_minor": null, "currency": "USD"}})).unwrap();
    assert_eq!(
        json!(account.detail()),
        json!({"institution": "First National", "account_last4": "4411", "currency": "USD"})
    );
    for (detail, field, code) in [
        (json!({"vin": "1HGCM82633A004352"}), "detail.vin", FieldCode::UnknownField),
        (json!({"colour": "red"}), "detail.colour", FieldCode::UnknownField),
        (json!({"institution": {"name": "x"}}), "detail.institution", FieldCode::InvalidType),
        (json!({"institution": ["x"]}), "detail.institution", FieldCode::InvalidType),
        (json!({"institution": 7}), "detail.institution", FieldCode::InvalidType),
        (json!({"institution": " "}), "detail.institution", FieldCode::TooShort),
        (json!({"account_last4": "000123456789"}), "detail.account_last4", FieldCode::SensitiveValue),
        (json!({"account_last4": "12345"}), "detail.account_last4", FieldCode::SensitiveValue),
        (json!({"account_last4": "44"}), "detail.account_last4", FieldCode::InvalidFormat),
        (json!({"current_title": "Ada, card 4111 1111 1111 1111"}), "detail.current_title", FieldCode::SensitiveValue),
        (json!({"amount_minor": 0}), "detail.amount_minor", FieldCode::OutOfRange),
        (json!({"amount_minor": 1.5}), "detail.amount_minor", FieldCode::InvalidType),
        (json!({"amount_minor": "5"}), "detail.amount_minor", FieldCode::InvalidType),
        (json!({"currency": "usd"}), "detail.currency", FieldCode::InvalidValue),
    ] {
        assert_eq!(sorted(&account, json!({"detail": detail})), Err(vec![(field.to_owned(), code)]), "{detail}");
    }
    let other = item(&trust, AssetKind::Other);
    let room = 4096 - r#"{"description":""}"#.len();
    assert!(sorted(&other, json!({"detail": {"description": "x".repeat(room)}})).is_ok());
    let too_long = Err(vec![("detail".to_owned(), FieldCode::TooLong)]);
    assert_eq!(sorted(&other, json!({"detail": {"description": "x".repeat(room + 1)}})), too_long);
    let almost = sorted(&other, json!({"detail": {"description": "x".repeat(room)}})).unwrap();
    assert_eq!(sorted(&almost, json!({"detail": {"reason": "y"}})), too_long, "together");
}

#[test]
fn another_kind_keeps_the_facts_that_it_has() {
    let trust = trust();
    let account = item(&trust, AssetKind::BankAccount);
    let account =
        sorted(&account, json!({"verb": "transfer", "detail": {"institution": "First", "currency": "USD"}})).unwrap();
    let refused = sorted(&account, json!({"asset_kind": "annuity"}));
    assert_eq!(refused, Err(vec![("asset_kind".to_owned(), FieldCode::VerbNotAllowed)]));
    let broker = sorted(&account, json!({"asset_kind": "brokerage_account"})).unwrap();
    assert_eq!(json!(broker.detail()), json!({"institution": "First"}));
}

#[test]
fn sorting_twice_is_told_once_and_changes_nothing() {
    let trust = trust();
    let first =
        item(&trust, AssetKind::Other).sort(everything(&trust, AssetKind::Other, Verb::Assign), noon()).unwrap();
    assert_eq!(first.events().len(), 1);
    let again = first.sort(everything(&trust, AssetKind::Other, Verb::Assign), noon().plus_seconds(60)).unwrap();
    assert!(again.events().is_empty() && *again == *first);
    let cleared = first.sort(read(json!({"verb": null})).unwrap(), noon()).unwrap();
    assert!(cleared.events().is_empty() && cleared.phase() == Phase::Unsorted, "no verb is set, so no event");
}

#[test]
fn a_form_or_a_claim_of_another_agreement_changes_nothing() {
    let (trust, by) = (trust(), member("Maren"));
    let moment = Moment::test(noon());
    let without = FundingContext { agreement: None, moment };
    let item = ready_item(&trust, Verb::Assign);
    assert_eq!(record_claim(&by, &item, without, None), Err(NotDone::NotInProgress));
    assert_eq!(accept_proof(&by, &item, without, ProofId::new()), Err(NotDone::NotInProgress));
    assert_eq!(reopen_item(&by, &item, without), Err(NotDone::NotClosed));
    let mut world = World::new(1);
    world.items = vec![item];
    assert!(world.attempt(0, Try::Paper).is_some());
    let id = world.items[0].agreement_id().unwrap();
    let close = |world: &World| {
        let context = FundingContext { agreement: world.agreements.get(&id), moment };
        close_unfunded(&by, &world.items[0], context, CloseReason::Sold, None)
    };
    assert_eq!(close(&world), Err(NotDone::Papered(id)));
    let unread = close_unfunded(&by, &world.items[0], without, CloseReason::Sold, None);
    assert_eq!(unread, Err(NotDone::Papered(id)), "nobody knows how its agreement stands");
    assert!(world.attempt(0, Try::Publish).is_some() && world.attempt(0, Try::File).is_some());
    let none = NewProof { note: None, ..proof() };
    let agreement = world.agreements[&id].clone();
    let context = FundingContext { agreement: Some(&agreement), moment };
    assert_eq!(file_proof(&by, &world.items[0], context, none), Err(NotDone::NothingToSee));
    assert!(world.attempt(0, Try::Accept).is_some());
    assert_eq!(reopen_item(&by, &world.items[0], context), Err(NotDone::AgreementLive(id)));
    let people = contacts(&trust);
    assert_eq!(people.len(), 2);
}

fn in_each_state() -> Vec<(&'static str, World)> {
    use Try::{Accept, Claim, Close, File, Paper, Publish};
    let steps: [(&str, &[Try]); 6] = [
        ("open", &[]),
        ("papered", &[Paper]),
        ("in progress", &[Paper, Publish, File]),
        ("claimed", &[Paper, Publish, File, Claim]),
        ("funded", &[Paper, Publish, File, File, Accept]),
        ("unfunded", &[Close]),
    ];
    let world = |steps: &[Try]| {
        let mut world = World::new(1);
        assert!(world.attempt(0, Try::SortWhole(0)).is_some());
        assert!(steps.iter().all(|step| world.attempt(0, *step).is_some()));
        world
    };
    steps.into_iter().map(|(name, steps)| (name, world(steps))).collect()
}

/// Contract, section 3, "Funding item": the acts that each state takes. All others change nothing.
#[test]
fn each_state_takes_the_acts_of_the_contract_and_no_other() {
    let acts = [
        ("sort", Try::SortVerb(1)),
        ("park", Try::Park(Some(WaitingOn::Counsel))),
        ("paper", Try::Paper),
        ("publish", Try::Publish),
        ("claim", Try::Claim),
        ("file", Try::File),
        ("accept", Try::Accept),
        ("reject", Try::Reject),
        ("close", Try::Close),
        ("reopen", Try::Reopen),
    ];
    let taken = |mut world: World| {
        let before = world.items.clone();
        let done = acts.iter().filter(|(_, act)| {
            let is_done = world.attempt(0, *act).is_some();
            assert!(is_done || world.items == before);
            world.items.clone_from(&before);
            is_done
        });
        done.map(|(name, _)| *name).collect::<Vec<_>>()
    };
    for (state, world) in in_each_state() {
        let expected: &[&str] = match state {
            "open" => &["sort", "park", "paper", "close"],
            "papered" => &["park", "publish"],
            "in progress" => &["park", "claim", "file", "accept", "reject"],
            "claimed" => &["park", "file", "accept", "reject"],
            "funded" => &[],
            _ => &["reopen"],
        };
        let mut over = World { agreements: world.agreements.clone(), items: world.items.clone(), ..World::new(1) };
        assert_eq!(taken(world), expected, "{state}");
        // Its agreement is completed: nothing cancellable moves the asset anymore.
        if over.attempt(0, Try::Complete).is_some() {
            let expected: Vec<&str> = match state {
                "funded" => vec!["reopen"],
                _ => expected.iter().copied().chain(["close"]).collect(),
            };
            assert_eq!(taken(over), expected, "{state}, agreement completed");
        }
    }
}

#[test]
fn what_is_filed_for_a_closed_item_is_neither_accepted_nor_rejected() {
    let by = member("Maren");
    for (state, world) in in_each_state().into_iter().filter(|(state, _)| matches!(*state, "funded" | "unfunded")) {
        let (item, moment) = (&world.items[0], Moment::test(noon()));
        let agreement = world.agreement_of(0).cloned();
        let context = FundingContext { agreement: agreement.as_ref(), moment };
        for proof in item.proofs() {
            let reason = SafeNote::parse("It is unreadable").unwrap();
            let expected = if proof.is_undecided() { NotDone::Closed } else { NotDone::DecidedAlready };
            assert_eq!(reject_proof(&by, item, moment, proof.id(), reason), Err(expected), "{state}");
            assert_eq!(accept_proof(&by, item, context, proof.id()), Err(expected), "{state}");
        }
        assert_eq!(file_proof(&by, item, context, self::proof()), Err(NotDone::Closed), "{state}");
        assert_eq!(record_claim(&by, item, context, None), Err(NotDone::Closed), "{state}");
    }
}

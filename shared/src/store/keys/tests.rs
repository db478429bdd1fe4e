use std::collections::BTreeSet;

use uuid::Uuid;

use super::*;
use crate::crypto::SecretHash;
use crate::domain::actor::Actor;
use crate::store::keys;
use crate::store::record_kind::Place as ItemPlace;

pub(in crate::store) fn written(org: OrgId) -> Vec<(Kind, Key)> {
    [of_accounts(), of_organization(org), of_agreements(org), of_payments(org), of_funding(org)].concat()
}

fn id() -> Uuid {
    Uuid::now_v7()
}

fn email() -> Email {
    Email::parse("Ada@Okafor.example").unwrap()
}

fn reference() -> ExternalReference {
    ExternalReference::parse("a#b # c").unwrap()
}

fn of_accounts() -> Vec<(Kind, Key)> {
    let secret: SecretHash = crate::crypto::CookieSecret::new().unwrap().hash();
    let token = crate::crypto::TokenHash::of(&crate::crypto::new_token().unwrap()).unwrap();
    let (email, now) = (email(), Timestamp::now());
    vec![
        (Kind::Token, keys::token_by_hash(token)),
        (Kind::Account, keys::account(&email)),
        (Kind::SecondFactor, keys::second_factor(&email)),
        (Kind::Session, keys::session(secret)),
        (Kind::SessionPointer, keys::session_of_account(&email, id().into())),
        (Kind::ParticipantSession, keys::participant_session(secret)),
        (Kind::InvitationPointer, keys::invitation_by_hash(secret)),
        (Kind::PasswordLink, keys::password_link(secret)),
        (Kind::KnownDevice, keys::known_device(secret, "ada@okafor.example", 3)),
        (Kind::FormCopy, keys::form_copy(id())),
        (Kind::FailedLogins, keys::failed_logins("address", "127.0.0.1")),
        (Kind::Trail, keys::trail(now, 3, id().into())),
    ]
}

fn of_organization(org: OrgId) -> Vec<(Kind, Key)> {
    let (email, reference, now) = (email(), reference(), Timestamp::now());
    let (endpoint, event) = (id().into(), id().into());
    vec![
        (Kind::Due, keys::due(now, Due::Event, org, id())),
        (Kind::Due, keys::due_delivery(now, org, endpoint, event)),
        (Kind::Due, keys::due_unique(now, Due::Endpoint, org, id())),
        (Kind::Organization, keys::organization(org)),
        (Kind::Member, keys::member(org, id().into())),
        (Kind::FormerMember, keys::former_member(org, id().into())),
        (Kind::MemberTie, keys::member_tie(org, id().into(), id().into(), TieKind::PasswordReset)),
        (Kind::Departure, keys::departure(org, id().into())),
        (Kind::Invitation, keys::invitation(org, &email)),
        (Kind::TokenPointer, keys::token(org, id().into())),
        (Kind::Audit, keys::audit(org, id().into())),
        (Kind::FirstResponse, keys::idempotency(org, "a key # with all")),
        (Kind::WorkspaceCounter, keys::workspace_counter(org)),
        (Kind::FundingPlaceCounter, keys::funding_place_counter(org, id().into())),
        (Kind::Event, keys::event(org, event)),
        (Kind::EndpointIds, keys::endpoint_ids(org)),
        (Kind::Endpoint, keys::endpoint(org, endpoint)),
        (Kind::EndpointHealth, keys::endpoint_health(org, endpoint)),
        (Kind::EndpointReplay, keys::endpoint_replay(org, endpoint)),
        (Kind::Quarantined, keys::quarantined_delivery(org, endpoint, event)),
        (Kind::Delivery, keys::delivery(org, endpoint, event)),
        (Kind::Undelivered, keys::undelivered_row(org, endpoint, event)),
        (Kind::Contact, keys::contact(org, id().into())),
        (Kind::ContactReference, keys::contact_reference(org, &reference)),
        (Kind::Workspace, keys::workspace(org, id().into())),
        (Kind::PersonPointer, keys::person_pointer(org, id().into(), id().into())),
        (Kind::Person, keys::person(org, id().into(), id().into())),
    ]
}

fn of_agreements(org: OrgId) -> Vec<(Kind, Key)> {
    let part = Part { organization_id: org, agreement_id: id().into(), participant_id: id().into() };
    let agreement = part.agreement_id;
    vec![
        (Kind::Agreement, keys::agreement(org, agreement)),
        (Kind::Act, keys::act(org, agreement, id().into())),
        (Kind::Verification, keys::verification(org, agreement, id().into())),
        (Kind::PaperSignature, keys::paper_signature(part, id().into())),
        (Kind::Access, keys::access(part)),
        (Kind::LinkCode, keys::link_code(part)),
        (Kind::Receipt, keys::receipt(part, id().into())),
        (Kind::FileReview, keys::file_review(part, id().into(), id().into())),
        (Kind::AnswerDraft, keys::answer_draft(part, id().into())),
        (Kind::Submission, keys::submission(part, id().into(), 3)),
        (Kind::OwnTemplates, keys::own_templates(org)),
        (Kind::Outline, keys::outline(org, id().into())),
        (Kind::Proposal, keys::proposal(org, id().into())),
        (Kind::ProposalSnapshot, keys::proposed(org, id().into())),
        (Kind::ProposalClaim, keys::pending(org, agreement, ProposalAction::PublishAgreement)),
        (Kind::Obligation, keys::obligation(org, id().into())),
        (Kind::OlderOccurrence, keys::older_occurrence(org, id().into(), 51)),
    ]
}

fn of_payments(org: OrgId) -> Vec<(Kind, Key)> {
    let movement = id().into();
    let evidence_key = serde_json::from_value(serde_json::json!("reference:QX7")).unwrap();
    let evidence = serde_json::from_value(serde_json::json!({
        "id": id(), "movement_id": id(), "source": "recipient_confirmation", "value_day": "2026-03-16",
        "money": {"amount_minor": 7, "currency": "USD"}, "filed_by": Actor::system(), "filed_at": Timestamp::now(),
        "state": {"state": "filed"},
    }))
    .unwrap();
    vec![
        (Kind::Movement, keys::movement(org, movement)),
        (Kind::Evidence, keys::evidence(org, movement, id().into())),
        (Kind::Instructions, keys::instructions(org, movement, 3)),
        (Kind::EvidenceKey, keys::evidence_key(org, &evidence_key)),
        (Kind::ArrivalByAmount, keys::arrival(org, &evidence)),
        (Kind::ArrivalByReference, keys::arrival_with(org, &evidence_key, &evidence)),
        (Kind::Statement, keys::statement(org, id().into())),
        (Kind::FiledEntry, keys::filed_entry(org, id().into(), 3)),
        (Kind::StatementFile, keys::statement_file(org, &"5f".repeat(32))),
        (Kind::StoredFile, keys::stored_file(org, &"5f".repeat(32))),
        (Kind::StatementColumns, keys::statement_columns(org, "header")),
    ]
}

const NOW: i64 = 1_790_000_000_000;

fn of_funding(org: OrgId) -> Vec<(Kind, Key)> {
    let (place, reference) = (Place::new(7).unwrap(), reference());
    vec![
        (Kind::FundingItem, keys::funding_item(org, id().into(), place)),
        (Kind::FundingItemPointer, keys::funding_item_pointer(org, id().into())),
        (Kind::FundingItemReference, keys::funding_item_reference(org, &reference)),
        (Kind::FundingItemToReview, keys::funding_item_to_review(org, id().into())),
        (Kind::Trust, keys::trust(org, id().into(), id().into())),
        (Kind::TrustPointer, keys::trust_pointer(org, id().into())),
        (Kind::TrustReference, keys::trust_reference(org, &reference)),
        (Kind::Row, keys::row(org, Rows::Contacts, id())),
        (Kind::SpreadRow, keys::with_sort(keys::spread_rows(org, Rows::Contacts, 7), &id().to_string())),
        (Kind::RowsAreSpread, keys::rows_are_spread(org, Rows::Contacts)),
        (Kind::RowsWritten, keys::with_sort(keys::log(org, Rows::Contacts), &keys::log_entry(NOW, id()))),
        (
            Kind::SpreadRowsWritten,
            keys::with_sort(keys::spread_log(org, Rows::Contacts, 7), &keys::log_entry(NOW, id())),
        ),
        (Kind::LogIsSpread, keys::log_is_spread(org, Rows::Contacts)),
        (Kind::RowsStored, keys::stored_rows(org, Rows::Contacts)),
    ]
}

#[test]
fn every_key_is_read_as_what_it_was_written_for() {
    let org = OrgId::new();
    let written = written(org);
    for (kind, key) in &written {
        let place = ItemPlace::of(key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(place.kind, *kind, "{key}");
        assert!(place.org.is_none_or(|found| found == org), "{key}");
        assert_eq!(place.org.is_some(), key.to_string().contains(&org.to_string()), "{key}");
    }
    let kinds: BTreeSet<Kind> = written.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, BTreeSet::from(Kind::ALL), "a key of each kind");
    for rows in Rows::ALL {
        assert_eq!(ItemPlace::of(&keys::row(org, rows, Uuid::now_v7())).and_then(|place| place.rows), Some(rows));
    }
}

/// So a reader finds it whatever it reads from.
#[test]
fn the_marks_of_a_spread_list_come_before_all_rows_and_behind_all_entries_of_the_log() {
    let (org, rows) = (OrgId::new(), Rows::Contacts);
    let first = keys::row(org, rows, Uuid::nil());
    let mark = keys::rows_are_spread(org, rows);
    assert!(mark.partition() == first.partition() && mark.sort() < first.sort());
    let mark = keys::log_is_spread(org, rows);
    assert_eq!(mark.partition(), keys::log(org, rows));
    assert!(*mark.sort() > *keys::log_entry(999_999_999_999_999, Uuid::max()));
}

#[test]
fn a_key_that_nothing_writes_is_none() {
    let (org, id) = (OrgId::new(), Uuid::now_v7());
    for (partition, sort) in [
        ("CONTACT".to_owned(), "."),
        ("TOKEN#".to_owned(), "."),
        (format!("ORG#{org}"), "."),
        (format!("ORG#{org}#CONTACT"), "."),
        (format!("ORG#{org}#CONTACT#{id}"), "else"),
        (format!("ORG#{org}#CONTACT#{}", id.simple()), "."),
        (format!("ORG#{org}#CONTACT#{id}#more"), "."),
        (format!("ORG#{org}#CONTACTS"), "else"),
        (format!("ORG#{org}#AGREEMENT#{id}"), "ACT#1"),
        (format!("ORG#{org}#MOVEMENT#{id}"), "ACT#1"),
        (format!("ORG#somewhere#CONTACT#{id}"), "."),
        ("DUE#3".to_owned(), "EVENT#000000000000001#a#b"),
        ("DUE#3".to_owned(), &format!("WORKSPACE#000000000000001#{org}#{id}")),
    ] {
        assert_eq!(ItemPlace::of(&Key::from_parts(&partition, sort)), None, "{partition} {sort}");
    }
}

//! Tells from its key what an item is. Only this module reads keys back; [`super::keys`] writes them.

use uuid::Uuid;

use super::due::DueEntry;
use super::keys::{self, Key, Rows};
use crate::domain::ids::OrgId;
use crate::wire::enums::text_enum;

text_enum! {
    /// The kinds of items. The text names the kind to operators.
    pub enum RecordKind {
        /// A token, under its hash.
        Token = "token",
        /// A person's account.
        Account = "account",
        /// The second factor of an account.
        SecondFactor = "second factor",
        /// A member's session, under its hash.
        Session = "session",
        /// The pointer from an account to one of its sessions.
        SessionPointer = "pointer to a session",
        /// A participant's session, under its hash.
        ParticipantSession = "session of a participant",
        /// The pointer from the hash of an invitation's secret to its address.
        InvitationPointer = "pointer to an invitation",
        /// A link to set a new password.
        PasswordLink = "password link",
        /// A device that has signed in before.
        KnownDevice = "known device",
        /// The copy of a form that was used.
        FormCopy = "used copy of a form",
        /// A count of failed logins.
        FailedLogins = "count of failed logins",
        /// A row of the service-level trail.
        Trail = "row of the service trail",
        /// An entry of the due index.
        Due = "due entry",
        /// An organization.
        Organization = "organization",
        /// A member.
        Member = "member",
        /// The name of a removed member.
        FormerMember = "name of a removed member",
        /// What ties a member to another.
        MemberTie = "tie between members",
        /// That a member left.
        Departure = "departure of a member",
        /// An invitation.
        Invitation = "invitation",
        /// The pointer from a token's id to its hash.
        TokenPointer = "pointer to a token",
        /// An audit row.
        Audit = "audit row",
        /// The first response to an idempotency key.
        FirstResponse = "response to an idempotency key",
        /// A counter.
        Counter = "counter",
        /// An event.
        Event = "event",
        /// The set of an organization's endpoints.
        EndpointIds = "set of endpoints",
        /// An endpoint.
        Endpoint = "endpoint",
        /// The health of an endpoint.
        EndpointHealth = "health of an endpoint",
        /// A requested replay.
        EndpointReplay = "replay of an endpoint",
        /// A delivery in quarantine.
        Quarantined = "quarantined delivery",
        /// A delivery.
        Delivery = "delivery",
        /// The row of an undelivered delivery.
        Undelivered = "row of an undelivered delivery",
        /// A contact.
        Contact = "contact",
        /// The contact of an external reference.
        ContactReference = "reference of a contact",
        /// A workspace.
        Workspace = "workspace",
        /// One of the people of a workspace.
        Person = "person of a workspace",
        /// An agreement.
        Agreement = "agreement",
        /// A call that changed an agreement.
        Act = "act of an agreement",
        /// A recorded verification of a participant's identity.
        Verification = "verification",
        /// A recorded signature on paper.
        PaperSignature = "signature on paper",
        /// How a participant gets to their pages.
        Access = "access of a participant",
        /// The code of a participant's link.
        LinkCode = "code of a link",
        /// What a participant did.
        Receipt = "receipt",
        /// The draft of a participant's answers.
        AnswerDraft = "draft of answers",
        /// Answers that a participant sent.
        Submission = "submission",
        /// A movement.
        Movement = "movement",
        /// Evidence of a movement.
        Evidence = "evidence",
        /// Sealed instructions of a movement.
        Instructions = "instructions",
        /// The movement for which a document counts.
        EvidenceKey = "unique item of evidence",
        /// Evidence that was accepted, by its amount or a reference, and its day.
        Arrival = "accepted arrival",
        /// A bank statement.
        Statement = "statement",
        /// An entry of a statement that is filed.
        FiledEntry = "filed entry of a statement",
        /// The statement with a file.
        StatementFile = "unique item of a statement's file",
        /// Who uploaded a file, and whether a record names it.
        StoredFile = "stored file",
        /// Which column is which in files with a header.
        StatementColumns = "columns of statements",
        /// A proposal.
        Proposal = "proposal",
        /// The snapshot of what was proposed.
        ProposalSnapshot = "snapshot of a proposal",
        /// The claim of the one pending proposal.
        ProposalClaim = "claim of a pending proposal",
        /// An obligation.
        Obligation = "obligation",
        /// A confirmed occurrence that left its obligation's record.
        OlderOccurrence = "older occurrence of an obligation",
        /// A funding item.
        FundingItem = "funding item",
        /// The pointer from a funding item's id to its place.
        FundingItemPointer = "pointer to a funding item",
        /// The funding item of an external reference.
        FundingItemReference = "reference of a funding item",
        /// The row of a funding item with proof that waits for a decision.
        FundingItemToReview = "row of a funding item with proof to review",
        /// A trust.
        Trust = "trust",
        /// The pointer from a trust's id to its workspace.
        TrustPointer = "pointer to a trust",
        /// The trust of an external reference.
        TrustReference = "reference of a trust",
        /// A row of a list.
        Row = "row of a list",
    }
}

/// What a key says of its item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What the item is.
    pub kind: RecordKind,
    /// None for items that are found without an organization.
    pub org: Option<OrgId>,
    /// The list, of a row.
    pub rows: Option<Rows>,
    /// The ids in the key behind the organization's, in their order.
    pub ids: Vec<Uuid>,
}

impl Place {
    /// Reads a key. None if nothing in this release of the service writes such a key.
    #[must_use]
    pub fn of(key: &Key) -> Option<Self> {
        let Some(of_organization) = key.partition().strip_prefix("ORG#") else { return without_organization(key) };
        let (org, partition) = of_organization.split_once('#')?;
        let (name, tail) = split(partition);
        let (kind, rows) = kind_in_organization(name, tail, key.sort())?;
        Some(Self { kind, rows, ids: ids_of(tail).chain(ids_of(key.sort())).collect(), org: Some(org.parse().ok()?) })
    }

    /// The first id of the key: that of the record, or of the record beside which it is.
    #[must_use]
    pub fn first_id(&self) -> Option<Uuid> {
        self.ids.first().copied()
    }
}

fn split(text: &str) -> (&str, &str) {
    text.split_once('#').unwrap_or((text, ""))
}

fn ids_of(text: &str) -> impl Iterator<Item = Uuid> {
    text.split('#').filter_map(|part| part.parse().ok())
}

fn without_organization(key: &Key) -> Option<Place> {
    use RecordKind as Kind;
    let (name, tail) = split(key.partition());
    let kind = match name {
        "SESSIONS" | "TRAIL" => {
            is_form("i", key.sort()).then_some(if name == "TRAIL" { Kind::Trail } else { Kind::SessionPointer })?
        }
        "DUE" => {
            let org = DueEntry::of(key.clone())?.org;
            return Some(Place { kind: Kind::Due, org: Some(org), rows: None, ids: Vec::new() });
        }
        _ if !key.is_alone() || tail.is_empty() => return None,
        "TOKEN" => Kind::Token,
        "ACCOUNT" => Kind::Account,
        "SECONDFACTOR" => Kind::SecondFactor,
        "SESSION" => Kind::Session,
        "PARTICIPANTSESSION" => Kind::ParticipantSession,
        "INVITATION" => Kind::InvitationPointer,
        "PASSWORDLINK" => Kind::PasswordLink,
        "BROWSER" => Kind::KnownDevice,
        "FORMCOPY" => Kind::FormCopy,
        "GUESSES" => Kind::FailedLogins,
        _ => return None,
    };
    Some(Place { kind, org: None, rows: None, ids: ids_of(key.sort()).collect() })
}

/// What an item of an organization is, by its partition's name, the rest of the partition key, and its sort key.
fn kind_in_organization(name: &str, tail: &str, sort: &str) -> Option<(RecordKind, Option<Rows>)> {
    use RecordKind as Kind;
    if let Some(rows) = Rows::parse(name) {
        return (tail.is_empty() && is_form("i", sort)).then_some((Kind::Row, Some(rows)));
    }
    let alone = |kind, form| (keys::is_alone(sort) && is_form(form, tail)).then_some(kind);
    let sorted = |kind, form| (tail.is_empty() && is_form(form, sort)).then_some(kind);
    let kind = match name {
        "ORGANIZATION" => alone(Kind::Organization, ""),
        "ENDPOINTIDS" => alone(Kind::EndpointIds, ""),
        "EVENT" => alone(Kind::Event, "i"),
        "PROPOSAL" => alone(Kind::Proposal, "i"),
        "PROPOSED" => alone(Kind::ProposalSnapshot, "i"),
        "PENDING" => alone(Kind::ProposalClaim, "i#t"),
        "OBLIGATION" => alone(Kind::Obligation, "i").or_else(|| beside(tail, sort, beside_obligation)),
        "CONTACT" => alone(Kind::Contact, "i"),
        "WORKSPACE" => alone(Kind::Workspace, "i").or_else(|| beside(tail, sort, beside_workspace)),
        "FUNDINGITEM" => alone(Kind::FundingItemPointer, "i"),
        "TRUST" => alone(Kind::TrustPointer, "i"),
        "KEY" => alone(Kind::FirstResponse, "*"),
        "CONTACTREF" => alone(Kind::ContactReference, "*"),
        "FUNDINGITEMREF" => alone(Kind::FundingItemReference, "*"),
        "TRUSTREF" => alone(Kind::TrustReference, "*"),
        "EVIDENCEKEY" => alone(Kind::EvidenceKey, "t"),
        "ARRIVALS" => (is_form("t#n", tail) && is_form("t#i", sort)).then_some(Kind::Arrival),
        "ARRIVALREFERENCES" => (is_form("t", tail) && is_form("t#i", sort)).then_some(Kind::Arrival),
        "STATEMENTFILE" => alone(Kind::StatementFile, "t"),
        "STOREDFILE" => alone(Kind::StoredFile, "t"),
        "STATEMENTCOLUMNS" => alone(Kind::StatementColumns, "*"),
        "COUNTER" => alone(Kind::Counter, "t").or_else(|| alone(Kind::Counter, "t#i")),
        "MEMBERS" => sorted(Kind::Member, "i"),
        "FORMERMEMBERS" => sorted(Kind::FormerMember, "i"),
        "MEMBERTIES" => sorted(Kind::MemberTie, "i#i#t").or_else(|| sorted(Kind::Departure, "i")),
        "INVITATIONS" => sorted(Kind::Invitation, "*"),
        "TOKENS" => sorted(Kind::TokenPointer, "i"),
        "FUNDINGTOREVIEW" => sorted(Kind::FundingItemToReview, "i"),
        "FUNDINGITEMS" => sorted(Kind::FundingItem, "i#n"),
        "TRUSTS" => sorted(Kind::Trust, "i#i"),
        "ENDPOINTS" => sorted(Kind::Endpoint, "i").or_else(|| beside_endpoint(tail, sort)),
        "AUDIT" => (tail == "1" && is_form("i", sort)).then_some(Kind::Audit),
        "DELIVERIES" => (is_form("i", tail) && is_form("i", sort)).then_some(Kind::Delivery),
        "UNDELIVERED" => (is_form("i", tail) && is_form("i", sort)).then_some(Kind::Undelivered),
        "AGREEMENT" => alone(Kind::Agreement, "i").or_else(|| beside(tail, sort, beside_agreement)),
        "MOVEMENT" => alone(Kind::Movement, "i").or_else(|| beside(tail, sort, beside_movement)),
        "STATEMENT" => alone(Kind::Statement, "i").or_else(|| beside(tail, sort, beside_statement)),
        _ => None,
    };
    kind.map(|kind| (kind, None))
}

fn beside(tail: &str, sort: &str, kind: fn(&str) -> Option<(RecordKind, &'static str)>) -> Option<RecordKind> {
    let (name, behind) = split(sort);
    let (kind, form) = kind(name)?;
    (is_form("i", tail) && is_form(form, behind)).then_some(kind)
}

fn beside_endpoint(tail: &str, sort: &str) -> Option<RecordKind> {
    let (id, behind) = sort.split_at_checked(sort.find('#')?)?;
    let is_of_endpoint = tail.is_empty() && is_form("i", id);
    let kind = match behind {
        keys::HEALTH => RecordKind::EndpointHealth,
        keys::REPLAY => RecordKind::EndpointReplay,
        behind => is_form("i", behind.strip_prefix(keys::QUARANTINED)?).then_some(RecordKind::Quarantined)?,
    };
    is_of_endpoint.then_some(kind)
}

fn beside_agreement(name: &str) -> Option<(RecordKind, &'static str)> {
    Some(match name {
        "ACT" => (RecordKind::Act, "i"),
        "VERIFICATION" => (RecordKind::Verification, "i"),
        "PAPERSIGNATURE" => (RecordKind::PaperSignature, "i#i"),
        "ACCESS" => (RecordKind::Access, "i"),
        "LINKCODE" => (RecordKind::LinkCode, "i"),
        "RECEIPT" => (RecordKind::Receipt, "i#i"),
        "ANSWERDRAFT" => (RecordKind::AnswerDraft, "i#i"),
        "SUBMISSION" => (RecordKind::Submission, "i#i#n"),
        _ => return None,
    })
}

fn beside_workspace(name: &str) -> Option<(RecordKind, &'static str)> {
    (name == "PERSON").then_some((RecordKind::Person, "i"))
}

fn beside_movement(name: &str) -> Option<(RecordKind, &'static str)> {
    Some(match name {
        "EVIDENCE" => (RecordKind::Evidence, "i"),
        "INSTRUCTIONS" => (RecordKind::Instructions, "n"),
        _ => return None,
    })
}

fn beside_obligation(name: &str) -> Option<(RecordKind, &'static str)> {
    (name == "OCCURRENCE").then_some((RecordKind::OlderOccurrence, "n"))
}

fn beside_statement(name: &str) -> Option<(RecordKind, &'static str)> {
    (name == "FILED").then_some((RecordKind::FiledEntry, "n"))
}

/// Whether a text has a form: `i` an id, `n` a number, `t` a text without `#`, separated by `#`; or `*`, any text.
fn is_form(form: &str, text: &str) -> bool {
    match form {
        "*" => !text.is_empty(),
        "" => text.is_empty(),
        _ => {
            let (forms, parts) = (form.split('#'), text.split('#'));
            forms.clone().count() == parts.clone().count() && forms.zip(parts).all(|(form, part)| is_part(form, part))
        }
    }
}

fn is_part(form: &str, part: &str) -> bool {
    match form {
        // An id has one spelling: another would be another key.
        "i" => part.parse::<Uuid>().is_ok_and(|id| id.to_string() == part),
        "n" => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
        _ => !part.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::crypto::SecretHash;
    use crate::domain::actor::Actor;
    use crate::domain::contact::{Email, ExternalReference};
    use crate::domain::funding::Place as FundingPlace;
    use crate::domain::member::second::TieKind;
    use crate::domain::participant::session::Part;
    use crate::domain::proposal::ProposalAction;
    use crate::domain::time::Timestamp;
    use crate::store::keys::Due;
    use RecordKind as Kind;

    fn written(org: OrgId) -> Vec<(Kind, Key)> {
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
            (Kind::Counter, keys::workspace_counter(org)),
            (Kind::Counter, keys::funding_place_counter(org, id().into())),
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
            (Kind::AnswerDraft, keys::answer_draft(part, id().into())),
            (Kind::Submission, keys::submission(part, id().into(), 3)),
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
            (Kind::Arrival, keys::arrival(org, &evidence)),
            (Kind::Arrival, keys::arrival_with(org, &evidence_key, &evidence)),
            (Kind::Statement, keys::statement(org, id().into())),
            (Kind::FiledEntry, keys::filed_entry(org, id().into(), 3)),
            (Kind::StatementFile, keys::statement_file(org, &"5f".repeat(32))),
            (Kind::StoredFile, keys::stored_file(org, &"5f".repeat(32))),
            (Kind::StatementColumns, keys::statement_columns(org, "header")),
        ]
    }

    fn of_funding(org: OrgId) -> Vec<(Kind, Key)> {
        let (place, reference) = (FundingPlace::new(7).unwrap(), reference());
        vec![
            (Kind::FundingItem, keys::funding_item(org, id().into(), place)),
            (Kind::FundingItemPointer, keys::funding_item_pointer(org, id().into())),
            (Kind::FundingItemReference, keys::funding_item_reference(org, &reference)),
            (Kind::FundingItemToReview, keys::funding_item_to_review(org, id().into())),
            (Kind::Trust, keys::trust(org, id().into(), id().into())),
            (Kind::TrustPointer, keys::trust_pointer(org, id().into())),
            (Kind::TrustReference, keys::trust_reference(org, &reference)),
            (Kind::Row, keys::row(org, Rows::Contacts, id())),
        ]
    }

    #[test]
    fn every_key_is_read_as_what_it_was_written_for() {
        let org = OrgId::new();
        let written = written(org);
        for (kind, key) in &written {
            let place = Place::of(key).unwrap_or_else(|| panic!("{key}"));
            assert_eq!(place.kind, *kind, "{key}");
            assert!(place.org.is_none_or(|found| found == org), "{key}");
            assert_eq!(place.org.is_some(), key.to_string().contains(&org.to_string()), "{key}");
        }
        let kinds: BTreeSet<Kind> = written.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, BTreeSet::from(Kind::ALL), "a key of each kind");
        for rows in Rows::ALL {
            assert_eq!(Place::of(&keys::row(org, rows, Uuid::now_v7())).and_then(|place| place.rows), Some(rows));
        }
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
            (format!("ORG#{org}#CONTACTS"), "."),
            (format!("ORG#{org}#AGREEMENT#{id}"), "ACT#1"),
            (format!("ORG#{org}#MOVEMENT#{id}"), "ACT#1"),
            (format!("ORG#somewhere#CONTACT#{id}"), "."),
            ("DUE#3".to_owned(), "WORKSPACE#000000000000001#a#b"),
        ] {
            assert_eq!(Place::of(&Key::from_parts(&partition, sort)), None, "{partition} {sort}");
        }
    }
}

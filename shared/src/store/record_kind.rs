//! Declares each kind of item once: its key, whether it is exported, what of it is sealed, its list, and what it refers to.

use std::fmt::{Display, Write};

use uuid::Uuid;

use super::key::Key;
use crate::domain::ids::OrgId;
use crate::wire::enums::text_enum;

text_enum! {
    /// The kinds of list rows. Each has a partition of compact rows per organization, sorted by id, named by this text.
    pub enum Rows {
        /// Rows of contacts.
        Contacts = "CONTACTS",
        /// Rows of workspaces.
        Workspaces = "WORKSPACES",
        /// Rows of agreements.
        Agreements = "AGREEMENTS",
        /// The names of each agreement's documents, which only the search looks through.
        AgreementDocuments = "AGREEMENTDOCUMENTS",
        /// Rows of proposals.
        Proposals = "PROPOSALS",
        /// Rows of movements.
        Movements = "MOVEMENTS",
        /// Rows of obligations.
        Obligations = "OBLIGATIONS",
        /// Rows of bank statements.
        Statements = "STATEMENTS",
        /// Funding items, which are their own rows.
        FundingItems = "FUNDINGITEMS",
        /// Trusts, which are their own rows.
        Trusts = "TRUSTS",
    }
}

text_enum! {
    /// The kinds of due entries. The text begins the sort keys of a kind.
    pub enum Due {
        /// An event that is to be relayed.
        Event = "EVENT",
        /// A proposal that expires.
        Proposal = "PROPOSAL",
        /// An agreement whose countdown or term ends.
        Agreement = "AGREEMENT",
        /// A delivery that is to be attempted.
        Delivery = "DELIVERY",
        /// An endpoint whose deliveries are to be updated after a change of the endpoint.
        Endpoint = "ENDPOINT",
        /// An agreement that was cancelled or has expired, with records that are still to end with it.
        Ending = "ENDING",
        /// A workspace whose people are to be counted after a change.
        People = "PEOPLE",
        /// Files that a call uploaded, each to be removed if nothing names it.
        Upload = "UPLOAD",
    }
}

/// The part of the inspection that knows what a kind refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chapter {
    /// Nothing but its organization, or without one, as people's accounts are.
    Alone,
    OfOrganization,
    Records,
    Agreements,
    BesideAgreements,
    Funding,
    Deliveries,
    Due,
}

/// What is declared of a kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared {
    /// The forms of the partition key and the sort key: names, and for what differs `o` an organization, `i` an id, `n` a
    /// number, `t` a text without `#`, `r` a list, `d` a kind of due entry, `+` ids, and `*` all that follows.
    partition: &'static str,
    sort: &'static str,
    /// Whether an organization's export has it: neither if it is secret, nor if it derives from other records.
    pub is_exported: bool,
    /// The attributes that a key of the keyring seals. No export has them.
    pub sealed: &'static [&'static str],
    /// Other attributes that no export has.
    pub secret: &'static [&'static str],
    /// The list, if it has a row with its id in one. Only such records change their layout by steps.
    pub rows: Option<Rows>,
    /// The list of which the records themselves are the rows.
    pub own_rows: Option<OwnRows>,
    pub refers: Chapter,
}

/// A list of records that have no rows beside them.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnRows {
    pub rows: Rows,
    /// What lists read of a record besides its id, version and sort key.
    pub attributes: &'static [&'static str],
}

const fn at(partition: &'static str, sort: &'static str) -> Declared {
    let (sealed, secret, refers) = (&[], &[], Chapter::Alone);
    Declared { partition, sort, is_exported: false, sealed, secret, rows: None, own_rows: None, refers }
}

impl Declared {
    const fn exported(self) -> Self {
        Self { is_exported: true, ..self }
    }

    const fn sealed(self, attributes: &'static [&'static str]) -> Self {
        Self { sealed: attributes, ..self }
    }

    const fn without(self, attributes: &'static [&'static str]) -> Self {
        Self { secret: attributes, ..self }
    }

    const fn listed(self, rows: Rows) -> Self {
        Self { rows: Some(rows), ..self }
    }

    const fn own_rows(self, rows: Rows, attributes: &'static [&'static str]) -> Self {
        Self { own_rows: Some(OwnRows { rows, attributes }), ..self }
    }

    const fn refers(self, chapter: Chapter) -> Self {
        Self { refers: chapter, ..self }
    }
}

macro_rules! records {
    ($($(#[$doc:meta])* $kind:ident = $name:literal: $declared:expr;)+) => {
        text_enum! {
            /// The kinds of items. The text names the kind to operators.
            pub enum RecordKind {
                $($(#[$doc])* $kind = $name,)+
            }
        }

        impl RecordKind {
            pub(super) const fn declared(self) -> Declared {
                match self {
                    $(Self::$kind => $declared,)+
                }
            }
        }
    };
}

records! {
    /// A token, under its hash.
    Token = "token": at("TOKEN#*", ".").exported();
    /// A person's account.
    Account = "account": at("ACCOUNT#*", ".");
    /// The second factor of an account.
    SecondFactor = "second factor": at("SECONDFACTOR#*", ".").sealed(&["secret"]);
    /// A member's session, under its hash.
    Session = "session": at("SESSION#*", ".");
    /// The pointer from an account to one of its sessions.
    SessionPointer = "pointer to a session": at("SESSIONS#*", "i");
    /// A participant's session, under its hash.
    ParticipantSession = "session of a participant": at("PARTICIPANTSESSION#*", ".");
    /// The pointer from the hash of an invitation's secret to its address.
    InvitationPointer = "pointer to an invitation": at("INVITATION#*", ".");
    /// A link to set a new password.
    PasswordLink = "password link": at("PASSWORDLINK#*", ".");
    /// A device that has signed in before.
    KnownDevice = "known device": at("BROWSER#t#n", ".");
    /// The copy of a form that was used.
    FormCopy = "used copy of a form": at("FORMCOPY#i", ".");
    /// A count of failed logins.
    FailedLogins = "count of failed logins": at("GUESSES#t", ".");
    /// A row of the service-level trail.
    Trail = "row of the service trail": at("TRAIL#t#n", "i");
    /// An entry of the due index.
    Due = "due entry": at("DUE#n", "d#n#o#+").refers(Chapter::Due);
    /// An organization.
    Organization = "organization": at("ORG#o#ORGANIZATION", ".").exported().refers(Chapter::OfOrganization);
    /// A member.
    Member = "member": at("ORG#o#MEMBERS", "i").exported().refers(Chapter::OfOrganization);
    /// The name of a removed member.
    FormerMember = "name of a removed member": at("ORG#o#FORMERMEMBERS", "i").exported();
    /// What ties a member to another.
    MemberTie = "tie between members": at("ORG#o#MEMBERTIES", "i#i#t").exported();
    /// That a member left.
    Departure = "departure of a member": at("ORG#o#MEMBERTIES", "i").exported();
    /// An invitation.
    Invitation = "invitation":
        at("ORG#o#INVITATIONS", "*").exported().without(&["secret_hash"]).refers(Chapter::OfOrganization);
    /// The pointer from a token's id to its hash.
    TokenPointer = "pointer to a token": at("ORG#o#TOKENS", "i").refers(Chapter::OfOrganization);
    /// An audit row.
    Audit = "audit row": at("ORG#o#AUDIT#n", "i").exported();
    /// The first response to an idempotency key.
    FirstResponse = "response to an idempotency key": at("ORG#o#KEY#*", ".");
    /// The counter of workspaces.
    WorkspaceCounter = "counter of workspaces": at("ORG#o#COUNTER#WORKSPACES", ".");
    /// The counter of places of funding items in a workspace.
    FundingPlaceCounter = "counter of places of funding items": at("ORG#o#COUNTER#FUNDINGITEMS#i", ".");
    /// An event.
    Event = "event": at("ORG#o#EVENT#i", ".").exported().refers(Chapter::Deliveries);
    /// The set of an organization's endpoints.
    EndpointIds = "set of endpoints": at("ORG#o#ENDPOINTIDS", ".").refers(Chapter::Deliveries);
    /// An endpoint.
    Endpoint = "endpoint":
        at("ORG#o#ENDPOINTS", "i").exported().sealed(&["secret", "previous_secrets"]).refers(Chapter::Deliveries);
    /// The health of an endpoint.
    EndpointHealth = "health of an endpoint": at("ORG#o#ENDPOINTS", "i#HEALTH").exported();
    /// A requested replay.
    EndpointReplay = "replay of an endpoint": at("ORG#o#ENDPOINTS", "i#REPLAY").refers(Chapter::Deliveries);
    /// A delivery in quarantine.
    Quarantined = "quarantined delivery": at("ORG#o#QUARANTINE", "i#i").refers(Chapter::Deliveries);
    /// A delivery.
    Delivery = "delivery": at("ORG#o#DELIVERIES#i", "i").exported().refers(Chapter::Deliveries);
    /// The row of an undelivered delivery.
    Undelivered = "row of an undelivered delivery": at("ORG#o#UNDELIVERED#i", "i").refers(Chapter::Deliveries);
    /// A contact.
    Contact = "contact": at("ORG#o#CONTACT#i", ".").exported().listed(Rows::Contacts).refers(Chapter::Records);
    /// The contact of an external reference.
    ContactReference = "reference of a contact": at("ORG#o#CONTACTREF#*", ".").refers(Chapter::Records);
    /// A workspace.
    Workspace = "workspace": at("ORG#o#WORKSPACE#i", ".").exported().listed(Rows::Workspaces).refers(Chapter::Records);
    /// One of the people of a workspace.
    Person = "person of a workspace": at("ORG#o#WORKSPACE#i", "PERSON#i").exported().refers(Chapter::Records);
    /// The pointer from a person to one of their workspaces.
    PersonPointer = "pointer from a person to a workspace": at("ORG#o#WORKSPACESOF#i", "i").refers(Chapter::Records);
    /// An agreement.
    Agreement = "agreement":
        at("ORG#o#AGREEMENT#i", ".").exported().listed(Rows::Agreements).refers(Chapter::Agreements);
    /// A call that changed an agreement.
    Act = "act of an agreement": at("ORG#o#AGREEMENT#i", "ACT#i").exported().refers(Chapter::BesideAgreements);
    /// A recorded verification of a participant's identity.
    Verification = "verification":
        at("ORG#o#AGREEMENT#i", "VERIFICATION#i").exported().refers(Chapter::BesideAgreements);
    /// A recorded signature on paper.
    PaperSignature = "signature on paper":
        at("ORG#o#AGREEMENT#i", "PAPERSIGNATURE#i#i").exported().refers(Chapter::BesideAgreements);
    /// How a participant gets to their pages.
    Access = "access of a participant":
        at("ORG#o#AGREEMENT#i", "ACCESS#i").exported().refers(Chapter::BesideAgreements);
    /// The code of a participant's link.
    LinkCode = "code of a link": at("ORG#o#AGREEMENT#i", "LINKCODE#i").refers(Chapter::BesideAgreements);
    /// What a participant did.
    Receipt = "receipt": at("ORG#o#AGREEMENT#i", "RECEIPT#i#i").exported().refers(Chapter::BesideAgreements);
    /// A member's review of files that a participant uploaded.
    FileReview = "review of files":
        at("ORG#o#AGREEMENT#i", "FILEREVIEW#i#i#i").exported().refers(Chapter::BesideAgreements);
    /// The draft of a participant's answers.
    AnswerDraft = "draft of answers":
        at("ORG#o#AGREEMENT#i", "ANSWERDRAFT#i#i").sealed(&["sealed"]).refers(Chapter::BesideAgreements);
    /// Answers that a participant sent.
    Submission = "submission":
        at("ORG#o#AGREEMENT#i", "SUBMISSION#i#i#n").exported().sealed(&["resealed"]).refers(Chapter::BesideAgreements);
    /// The list of an organization's own templates, with their names.
    OwnTemplates = "list of templates": at("ORG#o#TEMPLATES", ".").exported().refers(Chapter::OfOrganization);
    /// What a template says.
    Outline = "template": at("ORG#o#TEMPLATES", "i").exported().refers(Chapter::OfOrganization);
    /// A movement.
    Movement = "movement": at("ORG#o#MOVEMENT#i", ".").exported().listed(Rows::Movements).refers(Chapter::Agreements);
    /// Evidence of a movement.
    Evidence = "evidence": at("ORG#o#MOVEMENT#i", "EVIDENCE#i").exported().refers(Chapter::BesideAgreements);
    /// Sealed instructions of a movement.
    Instructions = "instructions":
        at("ORG#o#MOVEMENT#i", "INSTRUCTIONS#n").exported().sealed(&["sealed"]).refers(Chapter::BesideAgreements);
    /// The movement for which a document counts.
    EvidenceKey = "unique item of evidence": at("ORG#o#EVIDENCEKEY#t", ".").refers(Chapter::Agreements);
    /// Evidence that was accepted, by its amount and day.
    ArrivalByAmount = "accepted arrival by amount": at("ORG#o#ARRIVALS#t#n", "t#i").refers(Chapter::BesideAgreements);
    /// Evidence that was accepted, by a reference and its day.
    ArrivalByReference = "accepted arrival by reference":
        at("ORG#o#ARRIVALREFERENCES#t", "t#i").refers(Chapter::BesideAgreements);
    /// A bank statement.
    Statement = "statement": at("ORG#o#STATEMENT#i", ".").exported().listed(Rows::Statements).refers(Chapter::Records);
    /// An entry of a statement that is filed.
    FiledEntry = "filed entry of a statement":
        at("ORG#o#STATEMENT#i", "FILED#n").exported().refers(Chapter::BesideAgreements);
    /// The statement with a file.
    StatementFile = "unique item of a statement's file": at("ORG#o#STATEMENTFILE#t", ".").refers(Chapter::Records);
    /// Who uploaded a file, and whether a record names it.
    StoredFile = "stored file": at("ORG#o#STOREDFILE#t", ".");
    /// Which column is which in files with a header.
    StatementColumns = "columns of statements": at("ORG#o#STATEMENTCOLUMNS#*", ".").exported();
    /// A proposal.
    Proposal = "proposal": at("ORG#o#PROPOSAL#i", ".").exported().listed(Rows::Proposals).refers(Chapter::Records);
    /// The snapshot of what was proposed.
    ProposalSnapshot = "snapshot of a proposal": at("ORG#o#PROPOSED#i", ".").exported().refers(Chapter::Records);
    /// The claim of the one pending proposal.
    ProposalClaim = "claim of a pending proposal": at("ORG#o#PENDING#i#t", ".").refers(Chapter::Records);
    /// An obligation.
    Obligation = "obligation":
        at("ORG#o#OBLIGATION#i", ".").exported().listed(Rows::Obligations).refers(Chapter::Records);
    /// A confirmed occurrence that left its obligation's record.
    OlderOccurrence = "older occurrence of an obligation":
        at("ORG#o#OBLIGATION#i", "OCCURRENCE#n").exported().refers(Chapter::BesideAgreements);
    /// A funding item.
    FundingItem = "funding item":
        at("ORG#o#FUNDINGITEMS", "i#n").exported().own_rows(Rows::FundingItems, &["s", "ph", "tr"]).refers(Chapter::Funding);
    /// The pointer from a funding item's id to its place.
    FundingItemPointer = "pointer to a funding item": at("ORG#o#FUNDINGITEM#i", ".").refers(Chapter::Funding);
    /// The funding item of an external reference.
    FundingItemReference = "reference of a funding item": at("ORG#o#FUNDINGITEMREF#*", ".").refers(Chapter::Funding);
    /// The row of a funding item with proof that waits for a decision.
    FundingItemToReview = "row of a funding item with proof to review":
        at("ORG#o#FUNDINGTOREVIEW", "i").refers(Chapter::Funding);
    /// A trust.
    Trust = "trust":
        at("ORG#o#TRUSTS", "i#i").exported().own_rows(Rows::Trusts, &["s"]).refers(Chapter::Funding);
    /// The pointer from a trust's id to its workspace.
    TrustPointer = "pointer to a trust": at("ORG#o#TRUST#i", ".").refers(Chapter::Funding);
    /// The trust of an external reference.
    TrustReference = "reference of a trust": at("ORG#o#TRUSTREF#*", ".").refers(Chapter::Funding);
    /// A row of a list.
    Row = "row of a list": at("ORG#o#r", "i").refers(Chapter::Records);
    /// A row of a list that is spread.
    SpreadRow = "row of a spread list": at("ORG#o#r#n", "i").refers(Chapter::Records);
    /// That a list is spread, before its first row.
    RowsAreSpread = "mark of a spread list": at("ORG#o#r", ".");
    /// An entry in the log of a list: the rows that a transaction wrote, by the moment of its attempt.
    RowsWritten = "entry in the log of a list": at("ORG#o#r#LOG", "n#i");
    /// An entry in the log of a list that is spread.
    SpreadRowsWritten = "entry in the log of a spread list": at("ORG#o#r#LOG#n", "n#i");
    /// That a list is spread, behind the last entry of its log.
    LogIsSpread = "mark of a spread log": at("ORG#o#r#LOG", "SPREAD");
    /// The pointer to the newest file with all rows of a list.
    RowsStored = "pointer to the stored rows of a list": at("ORG#o#r#STORED", ".");
}

impl Rows {
    /// What lists read of the records, if they are their own rows.
    pub(super) fn own(self) -> Option<OwnRows> {
        RecordKind::ALL.into_iter().filter_map(|kind| kind.declared().own_rows).find(|own| own.rows == self)
    }
}

impl RecordKind {
    /// The key of an item, from what differs in the forms of its kind, in their order.
    pub(super) fn key(self, parts: &[&dyn Display]) -> Key {
        let Declared { partition, sort, .. } = self.declared();
        let mut parts = parts.iter().copied();
        Key::new(filled(partition, &mut parts), filled(sort, &mut parts))
    }

    pub(super) fn partition(self, parts: &[&dyn Display]) -> String {
        filled(self.declared().partition, &mut parts.iter().copied())
    }

    /// How the sort keys of items begin that have these parts.
    pub(super) fn prefix(self, parts: &[&dyn Display]) -> String {
        filled(self.declared().sort, &mut parts.iter().copied())
    }

    /// The kind of a record that has a row with its id in a list. None for other items.
    pub(super) fn of_listed(key: &Key) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.declared().rows.is_some() && kind.is_of(key))
    }

    /// The kind of a record that is its own row, and its organization. None for other items.
    pub(super) fn of_own_row(key: &Key) -> Option<(OwnRows, OrgId)> {
        let places = Self::ALL.into_iter().filter_map(|kind| Some((kind.declared().own_rows?, kind)));
        let mut found = places.filter_map(|(rows, kind)| Some((rows, kind.place(key)?.org?)));
        found.next()
    }

    /// Whether a key is that of an item of this kind.
    pub(super) fn is_of(self, key: &Key) -> bool {
        self.place(key).is_some()
    }

    fn place(self, key: &Key) -> Option<Place> {
        let Declared { partition, sort, .. } = self.declared();
        let mut place = Place { kind: self, org: None, rows: None, ids: Vec::new() };
        (place.reads(partition, key.partition()) && place.reads(sort, key.sort())).then_some(place)
    }
}

/// A form with its parts, up to the first that is not given.
fn filled<'a>(form: &str, parts: &mut impl Iterator<Item = &'a dyn Display>) -> String {
    let mut text = String::new();
    for (at, segment) in form.split('#').enumerate() {
        if at > 0 {
            text.push('#');
        }
        if !is_part(segment) {
            text.push_str(segment);
        } else if let Some(part) = parts.next() {
            // Writing to a string does not fail.
            let _ = write!(text, "{part}");
        } else {
            break;
        }
    }
    text
}

fn is_part(segment: &str) -> bool {
    matches!(segment, "o" | "i" | "n" | "t" | "r" | "d" | "+" | "*")
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
        RecordKind::ALL.into_iter().find_map(|kind| kind.place(key))
    }

    /// The first id of the key: that of the record, or of the record beside which it is.
    #[must_use]
    pub fn first_id(&self) -> Option<Uuid> {
        self.ids.first().copied()
    }

    fn reads(&mut self, form: &str, text: &str) -> bool {
        let mut rest = Some(text);
        for segment in form.split('#') {
            let Some(left) = rest else { return false };
            match segment {
                "*" => return !left.is_empty(),
                "+" => return left.split('#').all(|id| id_of(id).is_some()),
                _ => {}
            }
            let (part, behind) = left.split_once('#').map_or((left, None), |(part, behind)| (part, Some(behind)));
            if !self.reads_part(segment, part) {
                return false;
            }
            rest = behind;
        }
        rest.is_none()
    }

    fn reads_part(&mut self, segment: &str, part: &str) -> bool {
        match segment {
            "o" => {
                self.org = part.parse().ok();
                self.org.is_some()
            }
            "i" => {
                let id = id_of(part);
                self.ids.extend(id);
                id.is_some()
            }
            "n" => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
            "t" => !part.is_empty(),
            "d" => Due::parse(part).is_some(),
            "r" => {
                self.rows = Rows::parse(part);
                self.rows.is_some()
            }
            name => name == part,
        }
    }
}

/// An id has one spelling: another would be another key.
fn id_of(part: &str) -> Option<Uuid> {
    part.parse::<Uuid>().ok().filter(|id| id.to_string() == part)
}

//! Writes the records with the store's own builders, and knows what their lists must return.

use std::time::Instant;

use shared::domain::contact::{Contact, ContactKind, DisplayName, Email};
use shared::domain::ids::ContactId;
use shared::domain::time::Timestamp;
use shared::domain::workspace::{NewWorkspace, PeopledWorkspace, Workspace, WorkspaceName, WorkspaceNumber};
use shared::store::{contacts, workspaces};
use tests::Org;

pub const PAGE: usize = 50;

/// Contacts built at a time: the largest list is never whole in memory.
const PORTION: usize = 1000;

/// Two-letter needles that occur in no other text of the seed. `scripts/postgresql` seeds and asks for the same.
const IN_ONE_PERCENT: &str = "qu";
const IN_THIRTY_PERCENT: &str = "wo";
const IN_NONE: &str = "zx";

const FIRST_NAMES: [&str; 10] =
    ["Ada", "Benedikt", "Clara", "Daniel", "Elena", "Frederik", "Greta", "Henrik", "Ingrid", "Johannes"];
const OTHER_LAST_NAMES: [&str; 7] = ["Okafor", "Lindberg", "Moreau", "Santos", "Keller", "Tanaka", "Rossi"];

/// One contact in a hundred is `Quist`, thirty are `Wolff`.
fn last_name(place: usize) -> &'static str {
    match place % 100 {
        0 => "Quist",
        1..=30 => "Wolff",
        _ => OTHER_LAST_NAMES[place % OTHER_LAST_NAMES.len()],
    }
}

fn contact(place: usize) -> Contact {
    let (first, last) = (FIRST_NAMES[place / 100 % FIRST_NAMES.len()], last_name(place));
    let now = Timestamp::now();
    Contact {
        id: ContactId::new(),
        display_name: DisplayName::parse(&format!("{first} {last}")).expect("a name"),
        kind: ContactKind::Person,
        email: Some(Email::parse(&format!("{first}.{last}.{place}@mail.example").to_lowercase()).expect("an address")),
        external_reference: None,
        created_at: now,
        updated_at: now,
        identity_version: 0,
        former: Vec::new(),
        merged_into: None,
        merged: Vec::new(),
        archived_at: None,
    }
}

pub struct Contacts {
    pub ids: Vec<ContactId>,
    pub seconds: f64,
}

impl Contacts {
    pub async fn seed(org: &Org, count: usize) -> Self {
        let system = org.system();
        let started = Instant::now();
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count {
            let portion: Vec<Contact> = (ids.len()..count).take(PORTION).map(contact).collect();
            let changes = portion.iter().map(|contact| contacts::create(system.call(), contact).expect("items"));
            org.load(changes).await;
            ids.extend(portion.iter().map(|contact| contact.id));
        }
        Self { ids, seconds: started.elapsed().as_secs_f64() }
    }

    pub fn page(&self, case: &ListCase) -> Expected {
        let matching = |place: usize| match case.needle {
            None => true,
            Some(IN_ONE_PERCENT) => last_name(place) == "Quist",
            Some(IN_THIRTY_PERCENT) => last_name(place) == "Wolff",
            Some(_) => false,
        };
        let found: Vec<ContactId> =
            self.ids.iter().enumerate().filter(|(place, _)| matching(*place)).map(|(_, id)| *id).collect();
        let ids = found.iter().skip(case.offset).take(PAGE).map(ContactId::to_string).collect();
        Expected { total: found.len(), ids }
    }
}

pub struct Expected {
    pub total: usize,
    pub ids: Vec<String>,
}

pub const FIRST_PAGE: &str = "first page";
pub const LAST_PAGE: &str = "last page";
pub const FEW_HITS: &str = "needle, 1 % hits";
pub const NO_HITS: &str = "needle, no hits";

pub struct ListCase {
    pub name: &'static str,
    pub offset: usize,
    pub needle: Option<&'static str>,
}

pub fn list_cases(length: usize) -> [ListCase; 5] {
    let needle = |name, needle| ListCase { name, offset: 0, needle: Some(needle) };
    [
        ListCase { name: FIRST_PAGE, offset: 0, needle: None },
        ListCase { name: LAST_PAGE, offset: length - PAGE, needle: None },
        needle(FEW_HITS, IN_ONE_PERCENT),
        needle("needle, 30 % hits", IN_THIRTY_PERCENT),
        needle(NO_HITS, IN_NONE),
    ]
}

pub async fn workspaces(org: &Org, people: &Contacts) {
    let now = Timestamp::now();
    let system = org.system();
    let changes = people.ids.iter().zip(1..).flat_map(|(person, number)| {
        let name = WorkspaceName::parse(&format!("Harbor Street {number}")).expect("a name");
        let workspace = Workspace::create(NewWorkspace { name }, WorkspaceNumber(number), now);
        let workspace = PeopledWorkspace::new(workspace, [*person].into());
        workspaces::create(system.call(), &workspace).expect("items")
    });
    org.load(changes).await;
}

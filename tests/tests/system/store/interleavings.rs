//! Random interleavings over the real store, against a model: one organization's contacts are created, changed and
//! archived, and its payments added and removed, through several instances at once, while the table loses answers,
//! refuses and delays, and writers are killed. Lists are read from each instance, and from new ones.
//!
//! A list has each record as it was when the last write before the list was acknowledged, or as a later write has made
//! it. A write that was not acknowledged may count from any moment on, but no list takes back what another has shown.
//!
//! A failure prints its seed: `COUNTERSIGN_TEST_SEED=n` repeats it, except for who wins at the same moment.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use shared::domain::agreement::Agreement;
use shared::domain::ids::MovementId;
use shared::domain::time_scale::TimeScale;
use shared::service::payments;
use shared::service::system::SystemContext;
use tests::app::{Browser, Person};
use tests::stack::Table;
use tests::{Client, Fault, Faults, Needs, Org, Rule, Stack};

const CONTACTS: &str = "/api/v1/contacts";
const MOVEMENTS: &str = "/api/v1/movements";
/// Rows from which on they are stored here.
const ROWS_MIN: usize = 8;
const NEVER: usize = usize::MAX;
/// How long one seed's writers write, and for how many records at least.
const WRITING: Duration = Duration::from_secs(1);
const CONTACTS_MIN: usize = 8;
const PAYMENTS_MIN: usize = 4;
const WRITERS: usize = 5;
/// The page of the app has so many contacts at most.
const CONTACTS_MAX: usize = 45;
/// In the second, lists are spread.
const SEEDS: [u64; 2] = [1, 2];

/// What lists show of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    name: String,
    is_archived: bool,
}

/// A record as each write leaves it, and before the first: not there.
#[derive(Debug)]
struct Record {
    states: Vec<Option<Shown>>,
    /// The newest that was acknowledged or listed.
    settled: usize,
}

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    All,
    /// What a search for this finds.
    Found(&'static str),
    NotArchived,
}

impl View {
    fn has(self, shown: &Shown) -> bool {
        match self {
            Self::All => true,
            Self::Found(needle) => shown.name.contains(needle),
            Self::NotArchived => !shown.is_archived,
        }
    }
}

/// The records of a kind. Names begin with a record's number: `n7w3red` is the seventh's after its third write.
#[derive(Debug, Default)]
struct Records(RefCell<Vec<Record>>);

/// A write that has begun.
#[derive(Debug, Clone, Copy)]
struct Write {
    record: usize,
    state: usize,
}

impl Records {
    fn new_record(&self) -> usize {
        let mut records = self.0.borrow_mut();
        records.push(Record { states: vec![None], settled: 0 });
        records.len() - 1
    }

    fn count(&self) -> usize {
        self.0.borrow().len()
    }

    fn next_name(&self, record: usize, rng: &mut Rng) -> String {
        let color = if rng.bool() { "red" } else { "blue" };
        format!("n{record}w{}{color}", self.0.borrow()[record].states.len())
    }

    fn newest(&self, record: usize) -> Option<Shown> {
        self.0.borrow()[record].states.last().cloned().flatten()
    }

    fn begin(&self, record: usize, after: Option<Shown>) -> Write {
        let states = &mut self.0.borrow_mut()[record].states;
        states.push(after);
        Write { record, state: states.len() - 1 }
    }

    fn acknowledged(&self, Write { record, state }: Write) {
        let settled = &mut self.0.borrow_mut()[record].settled;
        *settled = state.max(*settled);
    }

    /// What a list that begins now may not be behind.
    fn settled(&self) -> Vec<usize> {
        self.0.borrow().iter().map(|record| record.settled).collect()
    }

    /// Compares a list that has ended.
    fn check(&self, settled: &[usize], view: View, names: &[String], total: Option<u64>) -> Result<(), String> {
        let mut listed: BTreeMap<usize, &String> = BTreeMap::new();
        for name in names {
            let record = number_of(name).ok_or_else(|| format!("{name} is no name"))?;
            if let Some(other) = listed.insert(record, name) {
                return Err(format!("{other} and {name} are one record"));
            }
        }
        let (mut records, mut going) = (self.0.borrow_mut(), 0);
        for (number, record) in records.iter_mut().enumerate() {
            let (name, from) = (listed.remove(&number), settled.get(number).copied().unwrap_or_default());
            let possible = &record.states[from..];
            let fits = |state: &Option<Shown>| state.as_ref().filter(|it| view.has(it)).map(|it| &it.name) == name;
            let Some(found) = possible.iter().position(fits) else {
                return Err(format!("{view:?} has {name:?} of record {number}, which may be any of {possible:?}"));
            };
            record.settled = record.settled.max(from + found);
            going += u64::from(possible.len() > 1 && possible.iter().any(Option::is_none));
        }
        // A payment that is removed while a list is read may count and be missing.
        let shown = names.len() as u64;
        if !listed.is_empty() || total.is_some_and(|total| total < shown || shown + going < total) {
            return Err(format!("{view:?} has {names:?} of {total:?} in total; unknown are {listed:?}"));
        }
        Ok(())
    }
}

fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix('n')?.split_once('w')?.0.parse().ok()
}

/// The names in a page of the app, each once.
fn names_in(html: &str) -> Vec<String> {
    let words = html.split(|c: char| !c.is_ascii_alphanumeric());
    let mut names: Vec<String> = words
        .filter(|word| number_of(word).is_some() && (word.ends_with("red") || word.ends_with("blue")))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

struct Instance {
    client: Client,
    browser: Browser,
    stack: Arc<Stack>,
}

struct Interleaving {
    // Instances are dropped before their proxy, and that before its table.
    instances: Vec<Instance>,
    through: Table,
    faults: Faults,
    org: Org,
    session: String,
    drafts: Vec<Agreement>,
    contacts: Records,
    payments: Records,
    until: Instant,
}

/// A record that one writer alone writes.
enum Owned {
    Contact { record: usize, path: String },
    Payment { record: usize, draft: usize, id: MovementId },
}

impl Interleaving {
    async fn of(quiet: &Arc<Stack>, seed: u64) -> Self {
        let org = Org::on(quiet.clone()).await;
        let faults = Faults::before(&quiet.table().endpoint);
        let through = Table { endpoint: faults.url().to_owned(), name: quiet.table().name.clone() };
        let person: Person = org.member("Maren Holt").await;
        let session = Browser::of(&org, &person).await.cookie("session").expect("a session");
        let drafts = join_all((0..3).map(|_| org.ready_draft("Lease", |_| ()))).await;
        let (contacts, payments) = (Records::default(), Records::default());
        let until = Instant::now();
        let mut all = Self { instances: Vec::new(), through, faults, org, session, drafts, contacts, payments, until };
        // In one process, whichever function answers next stores what another has listed. Those that write may not: so
        // only lists are asked of instances that store rows.
        for rows_min in [NEVER, NEVER, ROWS_MIN] {
            let instance = all.instance(rows_min).await;
            all.instances.push(instance);
        }
        all.inject(&mut Rng::with_seed(seed));
        all.until = Instant::now() + WRITING;
        all
    }

    async fn instance(&self, rows_min: usize) -> Instance {
        let (first, table) = (self.org.stack().clone(), self.through.clone());
        let started = tokio::task::spawn_blocking(move || first.instance_on(&table, rows_min)).await;
        let stack = started.expect("an instance starts");
        let browser = Browser::new(&stack.base_url);
        browser.set_cookie("session", &self.session);
        Instance { client: self.org.at(&stack), browser, stack }
    }

    fn inject(&self, rng: &mut Rng) {
        let on = |target| Rule::on(target).containing(self.org.id);
        // In half of the runs both lists are spread early on, in the others never.
        if rng.bool() {
            for list in ["CONTACTS", "MOVEMENTS"] {
                let log = format!("ORG#{}#{list}#LOG\"", self.org.id);
                self.faults.inject(Rule::on("TransactWriteItems").containing(log).times(1), Fault::HotPartition);
            }
        }
        let mut late = |at_most: u64| Fault::Delay(Duration::from_millis(rng.u64(20..at_most)));
        let delays =
            [("TransactWriteItems", 5, late(150)), ("TransactWriteItems", 7, late(400)), ("Query", 4, late(60))];
        for (target, every, delay) in delays {
            self.faults.inject(on(target).every(every), delay);
        }
        for (target, every, fault) in [
            ("TransactWriteItems", 6, Fault::LostResponse),
            ("TransactWriteItems", 9, Fault::LateCommit),
            ("TransactWriteItems", 8, Fault::Conflict),
            ("TransactWriteItems", 13, Fault::ThroughputExceeded),
            ("Query", 5, Fault::Partial),
            ("Query", 17, Fault::ThroughputExceeded),
            ("GetItem", 23, Fault::ServerError),
        ] {
            self.faults.inject(on(target).every(every + rng.usize(..3)), fault);
        }
    }

    fn is_over(&self) -> bool {
        self.until <= Instant::now() && self.contacts.count() >= CONTACTS_MIN && self.payments.count() >= PAYMENTS_MIN
    }

    /// One that may write.
    fn any(&self, rng: &mut Rng) -> &Instance {
        &self.instances[rng.usize(..2)]
    }

    /// One record after another, until the time is over. Of a write that failed no one knows when it takes effect: its
    /// record is left alone from then on.
    async fn write(&self, mut rng: Rng) {
        let mut own: Vec<Owned> = Vec::new();
        while !self.is_over() {
            let rng = &mut rng;
            if own.len() < 3 || rng.u8(..4) == 0 {
                own.extend(Box::pin(self.create(rng)).await);
                continue;
            }
            let written = own.swap_remove(rng.usize(..own.len()));
            own.extend(match written {
                Owned::Contact { record, path } => self.change(rng, record, path).await,
                Owned::Payment { record, draft, id } => Box::pin(self.remove(rng, record, draft, id)).await,
            });
        }
    }

    async fn create(&self, rng: &mut Rng) -> Option<Owned> {
        let is_payment = rng.u8(..3) == 0 || self.contacts.count() >= CONTACTS_MAX;
        let records = if is_payment { &self.payments } else { &self.contacts };
        let record = records.new_record();
        let name = records.next_name(record, rng);
        let write = records.begin(record, Some(Shown { name: name.clone(), is_archived: false }));
        if is_payment {
            let (draft, id) = (rng.usize(..self.drafts.len()), MovementId::new());
            let terms = tests::payments::terms(&self.drafts[draft], &name, "R-1");
            let system = self.system();
            let add = system.run(5, || payments::add(&system, self.drafts[draft].id(), id, terms.clone()));
            matches!(Box::pin(killed_or(rng, add)).await?, Ok(Ok(()))).then(|| records.acknowledged(write))?;
            return Some(Owned::Payment { record, draft, id });
        }
        let create = self.any(rng).client.post(CONTACTS, &json!({"display_name": name, "kind": "person"}));
        let answer = killed_or(rng, create.try_send()).await?.ok().filter(|answer| answer.status == 201)?;
        records.acknowledged(write);
        Some(Owned::Contact { record, path: format!("contacts/{}", answer.id(201)) })
    }

    async fn change(&self, rng: &mut Rng, record: usize, path: String) -> Option<Owned> {
        let before = self.contacts.newest(record).expect("no contact is removed");
        let Instance { client, browser, .. } = self.any(rng);
        let is_written: Pin<Box<dyn Future<Output = bool>>>;
        let write;
        if rng.u8(..4) == 0 && !before.is_archived {
            let page = format!("/app/{path}");
            let form = Some(browser.get(&page).await).filter(|form| form.status == 200)?;
            let token = form.hidden("form_token");
            write = self.contacts.begin(record, Some(Shown { is_archived: true, ..before }));
            let act = format!("{page}/archive");
            is_written = Box::pin(async move { browser.post(&act, &[("form_token", &token)]).await.status == 303 });
        } else {
            let name = self.contacts.next_name(record, rng);
            write = self.contacts.begin(record, Some(Shown { name: name.clone(), ..before }));
            let renamed = client.patch(format!("/api/v1/{path}"), &json!({"display_name": name}));
            is_written = Box::pin(async { renamed.try_send().await.is_ok_and(|answer| answer.status == 200) });
        }
        killed_or(rng, is_written).await?.then(|| self.contacts.acknowledged(write))?;
        Some(Owned::Contact { record, path })
    }

    async fn remove(&self, rng: &mut Rng, record: usize, draft: usize, id: MovementId) -> Option<Owned> {
        let (write, system) = (self.payments.begin(record, None), self.system());
        let remove = system.run(5, || payments::remove(&system, self.drafts[draft].id(), id));
        matches!(Box::pin(killed_or(rng, remove)).await?, Ok(Ok(()))).then(|| self.payments.acknowledged(write))?;
        None
    }

    /// A call by a process of its own.
    fn system(&self) -> SystemContext {
        SystemContext::begin(&self.through.store(), self.org.id, "fixture", TimeScale::default())
    }

    async fn read(&self, mut rng: Rng, instance: &Instance) -> Result<usize, String> {
        let mut read = 0;
        while !self.is_over() {
            read += usize::from(self.list(instance, rng.u8(..5)).await?);
        }
        Ok(read)
    }

    async fn read_anew(&self, mut rng: Rng) -> Result<usize, String> {
        let mut read = 0;
        while !self.is_over() {
            let cold = self.instance(if rng.bool() { NEVER } else { ROWS_MIN }).await;
            let (contacts, payments) = join(self.list(&cold, 0), self.list(&cold, 3)).await;
            read += usize::from(contacts?) + usize::from(payments?);
            let Instance { stack, .. } = cold;
            tokio::task::spawn_blocking(move || drop(stack)).await.expect("an instance stops");
        }
        Ok(read)
    }

    /// Whether a list was answered.
    async fn list(&self, instance: &Instance, which: u8) -> Result<bool, String> {
        let (records, view) = match which {
            0 => (&self.contacts, View::All),
            1 => (&self.contacts, View::Found("red")),
            2 => (&self.contacts, View::NotArchived),
            3 => (&self.payments, View::All),
            _ => (&self.payments, View::Found("blue")),
        };
        let settled = records.settled();
        if view == View::NotArchived {
            let page = instance.browser.get("/app/contacts").await;
            let is_told = page.status == 200;
            return if is_told {
                records.check(&settled, view, &names_in(&page.body), None).map(|()| true)
            } else {
                Ok(false)
            };
        }
        let (path, name) = if which < 3 { (CONTACTS, "display_name") } else { (MOVEMENTS, "purpose") };
        let list = instance.client.get(path).query("limit", 200);
        let list = if let View::Found(needle) = view { list.query("search", needle) } else { list };
        let answer = list.send().await;
        if answer.status != 200 {
            return Ok(false);
        }
        let page = answer.json();
        let rows: &[Value] = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = rows.iter().map(|row| row[name].as_str().unwrap_or_default().to_owned());
        // The parties of the drafts are contacts too, and no writer's.
        let (names, others): (Vec<_>, Vec<_>) = texts.partition(|name| number_of(name).is_some());
        let total = page["pagination"]["total"].as_u64().map(|total| total - others.len() as u64);
        records.check(&settled, view, &names, total).map(|()| true)
    }

    async fn is_as_the_model(&self, rng: &mut Rng) -> Result<(), String> {
        let readers =
            self.instances.iter().flat_map(|instance| [instance; 2]).map(|instance| self.read(rng.fork(), instance));
        let readers: Vec<_> = readers.collect();
        let writers: Vec<_> = (0..WRITERS).map(|_| self.write(rng.fork())).collect();
        let new = self.read_anew(rng.fork());
        let (warm, (cold, _)) = join(join_all(readers), join(new, join_all(writers))).await;
        let (warm, cold) = (warm.into_iter().sum::<Result<usize, String>>()?, cold?);
        self.faults.end_all();
        let new = [self.instance(NEVER).await, self.instance(ROWS_MIN).await];
        for instance in self.instances.iter().chain(&new) {
            for which in 0..5 {
                assert!(self.list(instance, which).await?, "the faults are over");
            }
        }
        eprintln!(
            "{} contacts, {} payments, {warm} warm lists, {cold} cold ones",
            self.contacts.count(),
            self.payments.count()
        );
        Ok(())
    }
}

/// None if the call is given up on its way.
async fn killed_or<T>(rng: &mut Rng, call: impl Future<Output = T>) -> Option<T> {
    if rng.u8(..8) > 0 {
        return Some(call.await);
    }
    tokio::time::timeout(Duration::from_millis(rng.u64(..40)), call).await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_as_the_model_whoever_writes_and_reads_meanwhile() {
    let repeated = std::env::var("COUNTERSIGN_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = repeated.map_or_else(|| [&SEEDS[..], &[fastrand::u64(..)]].concat(), |seed| vec![seed]);
    let quiet = Stack::with(Needs::OWN.without_background());
    for seed in seeds {
        eprintln!("COUNTERSIGN_TEST_SEED={seed}");
        let interleaving = Interleaving::of(&quiet, seed).await;
        let outcome = interleaving.is_as_the_model(&mut Rng::with_seed(seed)).await;
        outcome.unwrap_or_else(|why| panic!("COUNTERSIGN_TEST_SEED={seed}: {why}"));
    }
}

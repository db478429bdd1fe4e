//! Finds all pages of the app by following links from Home, and measures each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::app::{Browser, Page, unescaped};
use crate::attending::hidden;
use crate::log;
use crate::obligations;
use crate::org::Org;
use crate::payments::terms;
use crate::pdf::pdf;
use crate::subscriber::Subscriber;

/// Most waits of a page for the store, including session and audit row (goal P8).
pub const WAITS_MAX: u64 = 5;
/// Most bytes of a page, without stylesheet, script and fonts (goal P8).
pub const BYTES_MAX: usize = 60 * 1024;
/// More visits to a page that waited too often.
const MORE_VISITS_MAX: usize = 9;
/// Visits per kind of page: with hundreds of records, pages are alike.
const VISITS_OF_ONE_KIND: usize = 6;

/// A visit to a page.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The operation in the log.
    pub operation: String,
    /// Its path.
    pub path: String,
    /// The page's size.
    pub bytes: usize,
    /// Waits for the store.
    pub waits: u64,
    /// Calls of the store.
    pub round_trips: u64,
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// Its forms that change something.
    pub forms: Vec<Form>,
}

/// A posted form, as sent when nothing is typed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form {
    /// Its target.
    pub action: String,
    /// Its fields except the CSRF token, with the pressed button.
    pub fields: Vec<(String, String)>,
    /// Names of text fields.
    pub texts: BTreeSet<String>,
    /// The values of each list and box, ticked or not.
    pub choices: BTreeMap<String, Vec<String>>,
}

impl Form {
    /// Sends it with a browser's own CSRF token.
    pub async fn send(&self, browser: &Browser, form_token: &str) -> Page {
        let mut fields = vec![("form_token", form_token)];
        fields.extend(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        browser.post(&self.action, &fields).await
    }

    /// The form with this text in all text fields.
    #[must_use]
    pub fn typed(&self, text: &str) -> Self {
        let mut form = self.clone();
        for (_, value) in form.fields.iter_mut().filter(|(name, _)| self.texts.contains(name)) {
            text.clone_into(value);
        }
        form
    }

    /// The form with `record` chosen in each list that has it, every box ticked, and each of these fields sent twice.
    #[must_use]
    pub fn choosing_only(&self, record: &str) -> Self {
        let mut form = self.clone();
        for (name, values) in &self.choices {
            let is_offered = values.iter().any(|value| value == record);
            let chosen =
                if is_offered { Some(record) } else { values.iter().map(String::as_str).find(|one| !one.is_empty()) };
            form.fields.retain(|(field, _)| field != name);
            let chosen = chosen.map(|value| (name.clone(), value.to_owned()));
            form.fields.extend(std::iter::repeat_n(chosen, 2).flatten());
        }
        form
    }

    /// The ids that may be chosen.
    #[must_use]
    pub fn records(&self) -> BTreeSet<&str> {
        let values = self.choices.values().flatten().map(String::as_str);
        values.filter(|text| uuid::Uuid::try_parse(text).is_ok()).collect()
    }

    /// All ids in the form.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let texts = self.action.split('/').chain(self.fields.iter().map(|(_, value)| value.as_str()));
        texts.filter(|text| uuid::Uuid::try_parse(text).is_ok())
    }
}

fn forms(page: &Page) -> Vec<Form> {
    let mut forms = Vec::new();
    for rest in page.body.split("<form ").skip(1) {
        let (head, rest) = rest.split_once('>').unwrap_or_default();
        let inside = rest.split("</form>").next().unwrap_or_default();
        let (Some("post"), Some(action)) = (attribute(head, "method").as_deref(), attribute(head, "action")) else {
            continue;
        };
        let mut fields = Vec::new();
        let (mut buttons, mut texts) = (Vec::new(), BTreeSet::new());
        let (mut choices, mut list) = (BTreeMap::<String, Vec<String>>::new(), None);
        let mut select = None;
        for element in inside.split('<').skip(1).filter_map(|element| element.split('>').next()) {
            let (tag, attributes) = element.split_once(' ').unwrap_or((element, ""));
            let name = attribute(attributes, "name").filter(|name| name != "form_token" && name != "copy");
            let value = attribute(attributes, "value").unwrap_or_default();
            let kind = attribute(attributes, "type").unwrap_or_default();
            let is_choice = ["checkbox", "radio"].contains(&kind.as_str());
            let is_text = tag == "textarea" || tag == "input" && kind == "text";
            texts.extend(name.clone().filter(|_| is_text));
            if tag == "select" {
                list.clone_from(&name);
            }
            let offered = if tag == "option" { list.clone() } else { name.clone().filter(|_| is_choice) };
            if let Some(name) = offered {
                choices.entry(name).or_default().push(value.clone());
            }
            match (tag, name) {
                ("input", Some(name)) if !is_choice || attributes.contains(" checked") => fields.push((name, value)),
                ("textarea", Some(name)) => fields.push((name, String::new())),
                ("select", name) => select = name,
                ("option", _) if !value.is_empty() => fields.extend(select.take().map(|name| (name, value))),
                ("button", name) => buttons.push(name.map(|name| (name, value))),
                _ => {}
            }
        }
        forms.extend(buttons.into_iter().map(|button| Form {
            action: action.clone(),
            fields: fields.iter().cloned().chain(button).collect(),
            texts: texts.clone(),
            choices: choices.clone(),
        }));
    }
    forms
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
    Some(unescaped(rest.split('"').next()?))
}

/// Opens a page that `from` links to.
pub async fn visit(org: &Org, browser: &Browser, path: &str, from: &str) -> (Page, Visit) {
    let mut found = visit_once(org, browser, path, from).await;
    // On a busy machine, a read may end before a parallel one begins, which counts as another wait: try again.
    for _ in 0..MORE_VISITS_MAX {
        if found.1.waits > WAITS_MAX {
            found = visit_once(org, browser, path, from).await;
        }
    }
    found
}

/// The waits of a page for the store, whatever its status: the fewest of some visits, as [`visit`] counts them.
pub async fn waits(org: &Org, browser: &Browser, path: &str) -> u64 {
    let mut fewest = u64::MAX;
    for _ in 0..=MORE_VISITS_MAX {
        let page = browser.get(path).await;
        let id = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).expect("a request id");
        let line = log::line(org.stack().log_file(), id).await;
        fewest = fewest.min(line["waits"].as_u64().unwrap_or_else(|| panic!("waits: {line}")));
        if fewest <= WAITS_MAX {
            break;
        }
    }
    fewest
}

/// Opens a page once. On a busy machine it may count a wait too many: see [`visit`].
pub async fn visit_once(org: &Org, browser: &Browser, path: &str, from: &str) -> (Page, Visit) {
    let page = browser.get(path).await;
    assert!(page.status < 400, "{path}, linked from {from}: {}", page.status);
    let repeated = repeated_ids(&page);
    assert!(repeated.is_empty(), "ids that stand twice on {path}: {repeated:?}");
    let id = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).expect("a request id").to_owned();
    let line = log::line(org.stack().log_file(), &id).await;
    let count = |name: &str| line[name].as_u64().unwrap_or_else(|| panic!("{name}: {line}"));
    let units = |name: &str| line[name].as_f64().unwrap_or_else(|| panic!("{name}: {line}"));
    let visit = Visit {
        operation: line["operation"].as_str().expect("an operation").to_owned(),
        path: path.to_owned(),
        bytes: page.body.len(),
        waits: count("waits"),
        round_trips: count("round_trips"),
        read_units: units("read_units"),
        write_units: units("write_units"),
        forms: forms(&page),
    };
    (page, visit)
}

/// The ids of elements that a page has more than once: links and labels would find the first one.
fn repeated_ids(page: &Page) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let ids = page.body.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    ids.filter(|id| !seen.insert(*id)).collect()
}

/// Opens all pages reachable from Home, except documents' files.
pub async fn crawl(org: &Org, browser: &Browser) -> Vec<Visit> {
    crawl_from(org, browser, "/app").await
}

/// The same from another page, such as a participant's.
pub async fn crawl_from(org: &Org, browser: &Browser, start: &str) -> Vec<Visit> {
    let mut queue = vec![(start.to_owned(), "the start".to_owned())];
    let mut known: BTreeSet<String> = BTreeSet::from([start.to_owned()]);
    let mut visits: BTreeMap<String, usize> = BTreeMap::new();
    let mut visited = Vec::new();
    while let Some((path, from)) = queue.pop() {
        let (page, visit) = visit(org, browser, &path, &from).await;
        visited.push(visit);
        for link in links(&page) {
            let visits = visits.entry(kind(&link)).or_default();
            if *visits < VISITS_OF_ONE_KIND && known.insert(link.clone()) {
                *visits += 1;
                queue.push((link, path.clone()));
            }
        }
    }
    visited
}

fn kind(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    path.split('/')
        .map(|part| if uuid::Uuid::try_parse(part).is_ok() { "*" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

fn links(page: &Page) -> Vec<String> {
    let targets = page.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_page = |target: &&str| *target == "/app" || target.starts_with("/app/") || target.starts_with("/app?");
    let assets =
        ["/app/fonts/", "/app/style.css", "/app/app.js", "/app/audit/export", "/app/money/export", "/app/evidence/"];
    // Fixtures have no files; the uploaded one is visited separately.
    let is_file =
        |target: &str| ["/view", "/download", "/export", "/schedule.pdf"].iter().any(|ending| target.ends_with(ending));
    targets
        .filter(is_page)
        .filter(|target| !is_file(target) && !assets.iter().any(|asset| target.starts_with(asset)))
        .map(|target| target.split('#').next().unwrap_or_default().replace("&#38;", "&").replace("&amp;", "&"))
        .collect()
}

/// An organization with content on every page, and a subscriber with a signed-in admin.
#[derive(Debug)]
pub struct Furnished {
    /// The subscriber.
    pub subscriber: Subscriber,
    /// The path of a document's file.
    pub document: String,
}

/// Furnishes an organization: an agreement of each state, proposals, a document and a delivery.
pub async fn furnish(org: &Org) -> Furnished {
    let subscriber = org.subscriber().await;
    let document = deals(org, &subscriber.admin).await;
    let sent = subscriber.press("test", &[]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    Furnished { subscriber, document }
}

impl Browser {
    /// Keeps an agreement as a template, with the suggested roles, and gives the template's path.
    pub async fn keep_template(&self, agreement: &str, name: &str) -> String {
        let path = format!("{agreement}/template");
        let form = self.get(&path).await;
        let mut fields =
            vec![("form_token".to_owned(), form.hidden("form_token")), ("name".to_owned(), name.to_owned())];
        fields.extend(form.body.split("name=\"label.").skip(1).filter_map(|rest| {
            let (participant, rest) = rest.split_once('"')?;
            Some((format!("label.{participant}"), rest.split("value=\"").nth(1)?.split('"').next()?.to_owned()))
        }));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let kept = self.post(&path, &fields).await;
        assert_eq!(kept.status, 303, "{}", kept.body);
        kept.location().to_owned()
    }
}

async fn deals(org: &Org, browser: &Browser) -> String {
    let token = browser.get("/app").await.hidden("form_token");
    let workspace = org.workspace("Harbor refit").await["id"].as_str().expect("an id").to_owned();
    let mut fields = vec![("form_token", token.clone()), ("workspace", workspace.clone())];
    fields.extend([("template", "safe".to_owned()), ("name", "Refit contract".to_owned())]);
    for (party, name) in [("party.issuer", "Ada"), ("party.investor", "Ben")] {
        let contact = org.person(name).await["id"].as_str().expect("an id").to_owned();
        let path = format!("/api/v1/workspaces/{workspace}/contacts");
        org.post(&path, &json!({"contact_id": contact})).send().await.ok(201);
        fields.push((party, contact));
    }
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let begun = browser.post("/app/agreements/new", &fields).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let draft: Value = org.get(begun.location().replace("/app/", "/api/v1/")).send().await.ok(200);
    let document = draft["documents"][0]["id"].as_str().expect("an id");
    let path = format!("{}/documents/{document}", begun.location());
    let seen = browser.get(&path).await.hidden("seen");
    let filed = browser
        .upload(
            &path,
            &[("form_token", &token), ("seen", &seen), ("name", "SAFE")],
            ("file", "safe.pdf", &pdf("one", "")),
        )
        .await;
    assert_eq!(filed.status, 303, "{}", filed.body);

    let agreement = begun.location().to_owned();
    let party = |n: usize| draft["participants"][n]["id"].as_str().expect("an id").to_owned();
    let (one, two) = (party(0), party(1));
    let payment = [("purpose", "Deposit"), ("amount", "5,000"), ("currency", "USD"), ("payer", &one), ("payee", &two)];
    let (promisor, promisee) = (format!("promisor.{one}"), format!("promisee.{two}"));
    let promise = [("kind", "standing"), ("name", "Insurance"), ("days", "90"), (&promisor, "on"), (&promisee, "on")];
    for (at, fields) in [("payments", &payment), ("promises", &promise)] {
        let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        let added = browser.post(&format!("{agreement}/{at}"), &fields).await;
        assert_eq!(added.status, 303, "{}", added.body);
    }
    browser.keep_template(&agreement, "Refit").await;
    let (harbor, people) = (org.workspace("Pine").await, [org.person("Cleo").await, org.person("Dan").await]);
    let in_days = vec![obligations::on(&[-1]), obligations::triggered(&[7]), obligations::standing(30)];
    obligations::in_force(org, &harbor, [&people[0], &people[1]], in_days, obligations::days_ago(3)).await;

    let ready = org.ready_draft("Seed round", |_| ()).await;
    org.propose("publish_agreement", &ready).await;
    let declined = org.propose("publish_agreement", &org.ready_draft("Bridge round", |_| ()).await).await;
    browser.decide(&format!("/app/proposals/{}", declined["id"].as_str().expect("an id")), "decline", "").await;
    let published = org.ready_draft("Series A", |_| ()).await;
    let payment = org.payment(published.id(), terms(&published, "Closing payment", "INV-117")).await;
    let proposal = org.propose("publish_agreement", &published).await;
    browser.decide(&format!("/app/proposals/{}", proposal["id"].as_str().expect("an id")), "confirm", "").await;
    org.propose("cancel_agreement", &published).await;
    let members = [org.member("Ann Ray").await, org.member("Bo Lind").await];
    org.open_movement([&members[0], &members[1]], payment).await;
    prove(browser, &format!("/app/money/movements/{payment}")).await;
    let estate = org.estate("Pine").await;
    org.funding_item(&estate.workspace, "Sailing boat").await;
    org.paper(&[&org.ready_item(&estate, "Grand piano").await]).await;
    path
}

async fn prove(browser: &Browser, movement: &str) {
    let page = browser.get(movement).await;
    let action = format!("{movement}/evidence");
    let own = hidden(&page, &action);
    let typed = [
        ("source", "recipient_confirmation"),
        ("amount", "250,000.00"),
        ("currency", "USD"),
        ("value_date", "16/3/2026"),
        ("bank_reference", "TRN 7741"),
    ];
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let filed = browser.post(&action, &own.chain(typed).collect::<Vec<_>>()).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
}

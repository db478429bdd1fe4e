//! Payments over members' forms: claim apart from proof, every act and refusal, account numbers nowhere.

mod accounts;
mod blind_entry;
mod bundle;
mod canaries;
mod ending;
mod evidence;
mod histories;
mod home;
mod instructions;
mod late;
mod own_accounts;
mod record;
mod references;
mod statement_acts;
mod statements;
mod uneven;
mod unmatched;
mod whole;

use serde_json::Value;
use shared::domain::agreement::Agreement;
use shared::domain::agreement::gate::GateRule;
use shared::domain::ids::MovementId;
use shared::domain::movement::terms::PaymentTerms;
use shared::domain::proposal::ProposalAction;
use tests::Org;
use tests::app::{Browser, Page, Person, unescaped};
use tests::attending::hidden;
use tests::drafts::Drafted;
use tests::payments::{READ_OUT, terms};
use tests::pdf::pdf;

struct Deal {
    org: Org,
    people: [Person; 2],
    maren: Browser,
    kim: Browser,
    agreement: Agreement,
    id: MovementId,
}

type Account<'a> = [(&'a str, &'a str); 5];

/// An account at a US bank. Its number appears only where it is typed.
const ABA: Account<'_> = [
    ("kind", "aba"),
    ("holder", "Northwind Robotics"),
    ("bank", "First Harbor Bank"),
    ("number", "000123456789"),
    ("code", "021000021"),
];
const IBAN: Account<'_> = [
    ("kind", "iban"),
    ("holder", "Northwind Robotics"),
    ("bank", "Testbank"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
    ("bic", ""),
];

const CLAIM: [(&str, &str); 3] =
    [("sent_on", "14/3/2026"), ("reference_type", "fedwire_imad"), ("reference", "20260314B1QGC08C000123")];

fn evidence<'a>(source: &'a str, amount: &'a str, reference: &'a str) -> [(&'a str, &'a str); 5] {
    [
        ("source", source),
        ("amount", amount),
        ("currency", "USD"),
        ("value_date", "16/3/2026"),
        ("bank_reference", reference),
    ]
}

/// A published agreement whose only step waits for a payment's authorization and arrival.
async fn publish(org: &Org, by: &Person, name: &str, purpose: &str) -> (Agreement, MovementId) {
    publish_with(org, by, name, |draft| terms(draft, purpose, "INV-117")).await
}

async fn publish_with(
    org: &Org,
    by: &Person,
    name: &str,
    terms: impl FnOnce(&Agreement) -> PaymentTerms,
) -> (Agreement, MovementId) {
    let authorized = |id| GateRule::MovementAuthorized { movement_id: Some(id) };
    let reconciled = |id| GateRule::MovementReconciled { movement_id: Some(id) };
    Box::pin(publish_until(org, by, name, terms, |id| vec![authorized(id), reconciled(id)])).await
}

/// With the conditions that complete it.
async fn publish_until(
    org: &Org,
    by: &Person,
    name: &str,
    terms: impl FnOnce(&Agreement) -> PaymentTerms,
    conditions: impl FnOnce(MovementId) -> Vec<GateRule>,
) -> (Agreement, MovementId) {
    let draft = org
        .ready_draft(name, |draft| {
            draft.documents.clear();
            draft.stages.truncate(1);
            draft.stages[0].actions.clear();
            draft.stages[0].gates.clear();
        })
        .await;
    let id = org.payment(draft.id(), terms(&draft)).await;
    let mut after = Drafted::of(org, &draft.id().to_string()).await.agreement;
    for rule in conditions(id) {
        (after, _) = after.add_gate(draft.stages[0].id, rule, after.updated_at).expect("a gate");
    }
    org.edit(&after).await;
    org.decide_at_once(by, draft.id(), ProposalAction::PublishAgreement).await;
    (after, id)
}

impl Deal {
    async fn new() -> Self {
        let org = Org::new().await;
        let people = [org.member("Maren Holt").await, org.member("Kim Sato").await];
        let (maren, kim) = (Browser::of(&org, &people[0]).await, Browser::of(&org, &people[1]).await);
        let (agreement, id) = publish(&org, &people[0], "Harbor purchase", "Closing payment").await;
        Self { org, people, maren, kim, agreement, id }
    }

    async fn ready() -> Self {
        Self::ready_on(&ABA).await
    }

    async fn ready_on(account: &[(&str, &str)]) -> Self {
        let deal = Self::new().await;
        deal.done(&deal.maren, "authorize", &[]).await;
        deal.enter(&deal.maren, account).await;
        deal.verify(&deal.kim, account).await;
        deal.done(&deal.kim, "instructions/release", &[]).await;
        deal
    }

    async fn claimed() -> Self {
        Self::claimed_on(&ABA).await
    }

    async fn with_statements() -> Self {
        Self::claimed_on(&IBAN).await
    }

    async fn claimed_on(account: &[(&str, &str)]) -> Self {
        let deal = Self::ready_on(account).await;
        deal.done(&deal.maren, "claim", &CLAIM).await;
        deal.done(&deal.maren, "ask-for-proof", &[]).await;
        deal
    }

    fn path(&self) -> String {
        path(self.id)
    }

    fn of_agreement(&self) -> String {
        format!("/app/agreements/{}", self.agreement.id())
    }

    async fn read(&self) -> Value {
        self.org.get(format!("/api/v1/movements/{}", self.id)).send().await.ok(200)
    }

    async fn state(&self) -> String {
        self.read().await["state"].as_str().expect("a state").to_owned()
    }

    async fn read_agreement(&self) -> Value {
        self.org.get(format!("/api/v1/agreements/{}", self.agreement.id())).send().await.ok(200)
    }

    async fn act(&self, by: &Browser, act: &str, typed: &[(&str, &str)]) -> Page {
        submit(by, &self.path(), &format!("{}/{act}", self.path()), typed).await
    }

    async fn done(&self, by: &Browser, act: &str, typed: &[(&str, &str)]) -> Page {
        self.follow(by, &self.act(by, act, typed).await).await
    }

    async fn follow(&self, by: &Browser, done: &Page) -> Page {
        assert_eq!((done.status, done.location()), (303, &*format!("{}#notice", self.path())), "{}", done.body);
        by.get(&self.path()).await
    }

    async fn try_to_enter(&self, by: &Browser, account: &[(&str, &str)]) -> Page {
        let at = format!("{}/instructions", self.path());
        submit(by, &at, &at, account).await
    }

    async fn enter(&self, by: &Browser, account: &[(&str, &str)]) -> Page {
        self.follow(by, &self.try_to_enter(by, account).await).await
    }

    /// The payee reads out an account, and the member types it.
    async fn try_to_verify(&self, by: &Browser, account: &[(&str, &str)]) -> Page {
        self.act(by, "instructions/verify", &read_out(account)).await
    }

    async fn verify(&self, by: &Browser, account: &[(&str, &str)]) -> Page {
        self.follow(by, &self.try_to_verify(by, account).await).await
    }

    async fn try_to_file(&self, by: &Browser, typed: &[(&str, &str)], name: &str, note: &str) -> Page {
        let action = format!("{}/evidence", self.path());
        let page = by.get(&self.path()).await;
        let own = hidden(&page, &action);
        let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let fields: Vec<(&str, &str)> = own.chain(typed.iter().copied()).collect();
        by.upload(&action, &fields, ("file", name, &pdf(note, ""))).await
    }

    async fn file(&self, by: &Browser, source: &str, amount: &str, note: &str) -> String {
        let typed = evidence(source, amount, note);
        let page = self.follow(by, &self.try_to_file(by, &typed, "advice.pdf", note).await).await;
        newest(&page, note)
    }

    async fn accept(&self, by: &Browser, evidence: &str) -> Page {
        let at = format!("{evidence}/accept");
        submit(by, &at, &at, &[]).await
    }
}

fn read_out<'a>(account: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let numbers = account.iter().filter_map(|(name, typed)| match *name {
        "iban" => Some(("number", *typed)),
        name if name.starts_with("number") || name == "code" => Some((name, *typed)),
        _ => None,
    });
    READ_OUT.into_iter().chain(numbers).collect()
}

fn path(id: MovementId) -> String {
    format!("/app/money/movements/{id}")
}

async fn submit(by: &Browser, page: &str, action: &str, typed: &[(&str, &str)]) -> Page {
    send(by, &by.get(page).await, action, typed).await
}

async fn send(by: &Browser, page: &Page, action: &str, typed: &[(&str, &str)]) -> Page {
    let own = hidden(page, action);
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    by.post(action, &own.chain(typed.iter().copied()).collect::<Vec<_>>()).await
}

fn newest(page: &Page, reference: &str) -> String {
    let (before, _) = page
        .body
        .split_once(&format!("<dd>{reference}</dd>"))
        .unwrap_or_else(|| panic!("no {reference} in {}", page.body));
    let (_, anchor) = before.rsplit_once("id=\"evidence-").expect("an anchor");
    let id = anchor.split('"').next().expect("an id");
    let (_, rest) = page.body.split_once("action=\"/app/money/movements/").expect("a form");
    format!("/app/money/movements/{}/evidence/{id}", rest.split('/').next().expect("an id"))
}

fn text(page: &Page) -> String {
    unescaped(&page.body)
}

fn assert_says(page: &Page, texts: &[&str]) {
    let body = text(page);
    for expected in texts {
        assert!(body.contains(expected), "{expected}: {body}");
    }
}

fn claim_column(page: &Page) -> String {
    let (_, rest) = page.body.split_once("class=\"track claim\"").expect("a claim");
    rest.split("class=\"track proof\"").next().unwrap_or_default().to_owned()
}

//! A list whose partitions the table throttles is spread over several, and says the same everywhere.

use std::sync::Arc;
use std::time::Duration;

use ops::verify::{Verification, verify};
use serde_json::{Value, json};
use shared::domain::agreement::Label;
use tests::app::Browser;
use tests::faults::Injection;
use tests::{Fault, Faults, Needs, Org, Rule, Stack};

const CONTACTS: &str = "/api/v1/contacts";
const NEVER: usize = usize::MAX;

struct Busy {
    org: Org,
    // Dropped before the proxy, and that before its table.
    quiet: Arc<Stack>,
    faults: Faults,
}

impl Busy {
    async fn new() -> Self {
        let quiet = Stack::with(Needs::OWN.without_background());
        let faults = Faults::before(&quiet.table().endpoint);
        let org = Org::on(quiet.through(&faults)).await;
        Self { org, quiet, faults }
    }

    fn writes(&self, partition: &str) -> Rule {
        let key = format!("ORG#{}#{partition}\"", self.org.id);
        Rule::on("TransactWriteItems").containing(key)
    }

    /// Has the table throttle the next write to a partition.
    fn throttled_once(&self, partition: &str) -> Injection {
        self.faults.inject(self.writes(partition).times(1), Fault::HotPartition)
    }

    /// Counts the writes to a partition.
    fn counted(&self, partition: &str) -> Injection {
        self.faults.inject(self.writes(partition), Fault::Delay(Duration::ZERO))
    }

    fn new_instance(&self) -> Arc<Stack> {
        self.quiet.instance_on(self.quiet.table(), NEVER)
    }

    async fn names_on(&self, instance: &Stack) -> Vec<String> {
        let listed = self.org.at(instance).get(CONTACTS).query("limit", 50).send().await.ok(200);
        let contacts = listed["data"].as_array().expect("a page");
        assert_eq!(listed["pagination"]["total"], contacts.len());
        contacts.iter().map(|contact| contact["display_name"].as_str().expect("a name").to_owned()).collect()
    }

    async fn is_intact(&self) {
        let mut found = Vec::new();
        let on = |finding: &_, _, _: &dyn Fn(&str)| found.push(format!("{finding}"));
        verify(&self.quiet.table().store(), Verification::default(), on).await.expect("the table answers");
        assert!(found.is_empty(), "{found:?}");
    }
}

fn path(contact: &Value) -> String {
    format!("{CONTACTS}/{}", contact["id"].as_str().expect("an id"))
}

#[tokio::test]
async fn whoever_is_throttled_spreads_a_list_and_all_others_list_it_whole() {
    let busy = Busy::new().await;
    let (warm, unaware) = (busy.new_instance(), busy.new_instance());
    let [ada, _] = [busy.org.contact("Ada").await, busy.org.contact("Ben").await];
    assert_eq!(busy.names_on(&warm).await, ["Ada", "Ben"]);
    assert_eq!(busy.names_on(&unaware).await, ["Ada", "Ben"]);

    let throttled = busy.throttled_once("CONTACTS#LOG");
    let [rows, log] = [busy.counted("CONTACTS"), busy.counted("CONTACTS#LOG")];
    let cleo = busy.org.contact("Cleo").await;
    assert_eq!(throttled.count(), 1);
    busy.org.patch(path(&ada), &json!({"display_name": "Ada Okafor"})).send().await.ok(200);
    assert_eq!([rows.count(), log.count()], [1, 0], "the marks only: that of the log is counted with the rows'");

    // It has listed before, and not yet since.
    busy.org.at(&unaware).patch(path(&cleo), &json!({"display_name": "Cleo Duarte"})).send().await.ok(200);
    let all = ["Ada Okafor", "Ben", "Cleo Duarte"];
    for (instance, who) in [
        (busy.org.stack(), "who spread it"),
        (&warm, "who knows it undivided"),
        (&unaware, "who still writes undivided"),
        (&busy.new_instance(), "who begins anew"),
    ] {
        assert_eq!(busy.names_on(instance).await, all, "{who}");
    }
    busy.org.at(&warm).patch(path(&cleo), &json!({"display_name": "Cleo"})).send().await.ok(200);
    for instance in [busy.org.stack(), &unaware, &busy.new_instance()] {
        assert_eq!(busy.names_on(instance).await, ["Ada Okafor", "Ben", "Cleo"]);
    }
    busy.is_intact().await;
}

#[tokio::test]
async fn no_list_is_spread_when_the_table_throttles_other_items_too() {
    let busy = Busy::new().await;
    busy.org.contact("Ada").await;
    let all = Rule::on("TransactWriteItems").containing(busy.org.id).times(1);
    let throttled = busy.faults.inject(all, Fault::HotPartition);
    let log = busy.counted("CONTACTS#LOG");
    busy.org.contact("Ben").await;
    busy.org.contact("Cleo").await;
    assert_eq!((throttled.count(), log.count()), (1, 2), "both are logged undivided");
}

/// Their records are their rows and stay where they are.
#[tokio::test]
async fn the_log_of_records_that_are_their_own_rows_is_spread_alone() {
    let busy = Busy::new().await;
    let workspace = busy.org.workspace("Harbor").await;
    busy.org.funding_item(&workspace, "House").await;
    let throttled = busy.throttled_once("FUNDINGITEMS#LOG");
    busy.org.funding_item(&workspace, "Boat").await;
    assert_eq!(throttled.count(), 1);
    let log = busy.counted("FUNDINGITEMS#LOG");
    busy.org.funding_item(&workspace, "Piano").await;
    assert_eq!(log.count(), 0);
    let cold = busy.new_instance();
    for instance in [busy.org.stack(), &cold] {
        let listed = busy.org.at(instance).get("/api/v1/funding-items").send().await.ok(200);
        assert_eq!(listed["pagination"]["total"], 3);
    }
    busy.is_intact().await;
}

#[tokio::test]
async fn a_list_whose_rows_are_throttled_is_spread_too() {
    let busy = Busy::new().await;
    busy.org.contact("Ada").await;
    let throttled = busy.throttled_once("CONTACTS");
    busy.org.contact("Ben").await;
    assert_eq!(throttled.count(), 1);
    let rows = busy.counted("CONTACTS");
    busy.org.contact("Cleo").await;
    assert_eq!(rows.count(), 0);
    assert_eq!(busy.names_on(&busy.new_instance()).await, ["Ada", "Ben", "Cleo"]);
    busy.is_intact().await;
}

/// Its row is in both places by then.
#[tokio::test]
async fn what_is_deleted_by_an_instance_that_does_not_know_of_it_stays_deleted() {
    let busy = Busy::new().await;
    let name = |text: &str| Label::parse(text).expect("a name");
    let draft = busy
        .org
        .ready_draft("Lease", |draft| {
            draft.documents[0].name = name("Quay schedule");
            draft.stages.iter_mut().for_each(|stage| stage.gates.clear());
        })
        .await;
    let document = format!("/app/agreements/{}/documents/{}", draft.id(), draft.documents[0].id);
    let browser = Browser::of(&busy.org, &busy.org.member("Maren Holt").await).await;
    let throttled = busy.throttled_once("AGREEMENTDOCUMENTS#LOG");
    let form = browser.get(&document).await;
    let (token, seen) = (form.hidden("form_token"), form.hidden("seen"));
    let fields = [("form_token", token.as_str()), ("seen", seen.as_str()), ("name", "Quay exhibit")];
    let renamed = browser.post(&document, &fields).await;
    assert_eq!((renamed.status, throttled.count()), (303, 1), "{}", renamed.body);
    let search = format!("/app/search?{}", tests::app::form(&[("q", "quay")]));
    assert!(browser.get(&search).await.says("Quay exhibit</a>"));

    let unaware = busy.new_instance();
    let other = Browser::new(&unaware.base_url);
    other.set_cookie("session", &browser.cookie("session").expect("a session"));
    let token = other.get("/app").await.hidden("form_token");
    let removed = other.post(&document, &[("form_token", &token), ("act", "remove")]).await;
    assert_eq!(removed.status, 303, "{}", removed.body);

    let new = busy.new_instance();
    let cold = Browser::new(&new.base_url);
    cold.set_cookie("session", &browser.cookie("session").expect("a session"));
    for browser in [browser, other, cold] {
        let found = browser.get(&search).await;
        assert!(found.says("Nothing matches"), "{}", found.body);
    }
    busy.is_intact().await;
}

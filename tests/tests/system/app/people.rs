//! A workspace's people: removable unless referred to, even just meanwhile; and where a contact takes part.

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::limits;
use tests::app::{Browser, Page};
use tests::shaky::Shaky;
use tests::{Org, Rule, drafts};

use crate::unknown_id;

struct Desk {
    org: Org,
    browser: Browser,
    workspace: Value,
    ada: Value,
}

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

impl Desk {
    async fn new() -> Self {
        let org = Org::new().await;
        let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
        let (workspace, ada) = (org.workspace("Harbor refit").await, org.person("Ada").await);
        let desk = Self { org, browser, workspace, ada };
        desk.join(&desk.ada).await;
        desk
    }

    async fn join(&self, contact: &Value) {
        let path = format!("/api/v1/workspaces/{}/contacts", id(&self.workspace));
        self.org.post(path, &json!({"contact_id": contact["id"]})).send().await.ok(201);
    }

    fn page(&self) -> String {
        format!("/app/workspaces/{}", id(&self.workspace))
    }

    fn removal(&self, contact: &Value) -> String {
        format!("{}/people/{}/remove", self.page(), id(contact))
    }

    async fn remove(&self, browser: &Browser, contact: &Value) -> Page {
        let token = browser.get("/app").await.hidden("form_token");
        browser.post(&self.removal(contact), &[("form_token", &token)]).await
    }

    async fn people(&self) -> Vec<String> {
        let workspace = self.org.get(format!("/api/v1/workspaces/{}", id(&self.workspace))).send().await.ok(200);
        let people = workspace["people"].as_array().expect("people").iter();
        people.map(|person| person["contact_id"].as_str().expect("an id").to_owned()).collect()
    }

    async fn draft(&self, name: &str) -> drafts::Drafted {
        drafts::write(&self.org, drafts::ready(&self.workspace, name, &self.ada)).await
    }

    async fn add(&self, draft: &Value, contact: &Value) {
        let path = format!("/api/v1/agreements/{}/participants", id(draft));
        let body = json!({"contact_id": contact["id"], "roles": ["signer"]});
        self.org.post(path, &body).send().await.ok(201);
    }

    async fn is_shown(&self, contact: &Value) -> bool {
        let of_workspace = self.browser.get(&self.page()).await;
        let of_contact = self.browser.get(&format!("/app/contacts/{}", id(contact))).await;
        let is_on_workspace = of_workspace.says(&format!("href=\"/app/contacts/{}\"", id(contact)));
        assert_eq!(of_contact.says(&format!("href=\"{}\"", self.page())), is_on_workspace, "{}", of_contact.body);
        is_on_workspace
    }
}

async fn audit_of(org: &Org, page: &Page) -> Value {
    let id = page.headers["x-request-id"].to_str().expect("an id");
    let rows = org.audit().await;
    rows.into_iter().find(|row| row["sk"] == id).unwrap_or_else(|| panic!("no audit row of {id}"))
}

#[tokio::test]
async fn whom_nothing_refers_to_is_removed_and_can_come_back() {
    let desk = Desk::new().await;
    let ben = desk.org.person("Ben").await;
    desk.join(&ben).await;
    let page = desk.browser.get(&desk.page()).await;
    assert!(page.says(&format!("action=\"{}\"", desk.removal(&desk.ada))) && page.says("aria-label=\"Remove Ada\""));
    let removed = desk.remove(&desk.browser, &desk.ada).await;
    assert_eq!((removed.status, removed.location()), (303, desk.page().as_str()), "{}", removed.body);
    let shown = desk.browser.get(&desk.page()).await;
    assert!(shown.says("Ada was removed") && shown.says("still among your contacts"), "{}", shown.body);
    assert!(!desk.is_shown(&desk.ada).await && desk.is_shown(&ben).await);
    assert_eq!(desk.people().await, [id(&ben)]);
    let row = audit_of(&desk.org, &removed).await;
    assert_eq!((&row["operation"], &row["code"]), (&json!("remove_person"), &json!("ok")));
    let log = desk.browser.get(&format!("/app/audit?object={}", id(&desk.ada))).await;
    assert!(log.says("Removed a contact from a workspace"), "{}", log.body);

    assert_eq!(desk.remove(&desk.browser, &desk.ada).await.status, 303);
    assert_eq!(desk.remove(&desk.browser, &ben).await.status, 303);
    assert!(desk.people().await.is_empty() && desk.browser.get(&desk.page()).await.says("No one yet."));
    desk.join(&desk.ada).await;
    assert!(desk.is_shown(&desk.ada).await);
    assert_eq!(desk.people().await, [id(&desk.ada)]);
    assert!(desk.org.events().await.is_empty());
}

#[tokio::test]
async fn a_new_contact_joins_in_one_press() {
    let desk = Desk::new().await;
    let path = format!("{}/people", desk.page());
    let send = async |fields: &[(&str, &str)]| {
        let token = desk.browser.get(&path).await.hidden("form_token");
        let own = [("form_token", token.as_str()), ("contact_id", "new")];
        desk.browser.post(&path, &own.into_iter().chain(fields.iter().copied()).collect::<Vec<_>>()).await
    };
    let found = desk.browser.get(&format!("{path}?search=Quai")).await;
    for offered in ["Nothing matches “Quai”", "Add a new contact", "value=\"Quai\"", ">Add new contact</button>"] {
        assert!(found.says(offered), "who was looked for: {offered}: {}", found.body);
    }
    let before = desk.org.state().await;
    let nameless = send(&[("display_name", " "), ("kind", "llc"), ("email", "lea@quai")]).await;
    assert_eq!(nameless.status, 422, "{}", nameless.body);
    for told in ["<title>Error: Add people", "The name is required.", "The email address must", "value=\"lea@quai\""] {
        assert!(nameless.says(told), "{told}: {}", nameless.body);
    }
    assert_eq!(desk.org.state().await, before);

    let quai = [("display_name", "Quai Holdings LLC"), ("kind", "llc"), ("email", "lea@quai.example")];
    let added = send(&quai).await;
    assert_eq!((added.status, added.location()), (303, path.as_str()), "{}", added.body);
    assert!(desk.browser.get(&path).await.says("Quai Holdings LLC was added"));
    let contact = desk.org.get("/api/v1/contacts").query("search", "quai").send().await.ok(200)["data"][0].clone();
    assert_eq!((&contact["kind"], &contact["email"]), (&json!("llc"), &json!("lea@quai.example")));
    assert!(desk.people().await.contains(&id(&contact).to_owned()) && desk.is_shown(&contact).await);
    let row = audit_of(&desk.org, &added).await;
    assert!(row["operation"] == "add_person" && row["objects"].to_string().contains(&id(&contact).replace('-', "")));

    let twin = send(&quai).await;
    assert_eq!(twin.status, 409, "{}", twin.body);
    for told in ["A contact with this name and email exists", "Choose Quai Holdings LLC", ">Add anyway</button>"] {
        assert!(twin.says(told), "{told}: {}", twin.body);
    }
    assert_eq!(desk.people().await.len(), 2);
    let anyway: Vec<_> = quai.into_iter().chain([("anyway", "yes")]).collect();
    assert_eq!(send(&anyway).await.status, 303, "someone else of the same name");
    assert_eq!(desk.people().await.len(), 3);
}

#[tokio::test]
async fn whom_an_agreement_refers_to_stays_and_the_agreement_is_named() {
    let desk = Desk::new().await;
    let refused = async |reason: &str| {
        let refused = desk.remove(&desk.browser, &desk.ada).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.says("Ada was not removed") && refused.says(reason), "{reason}: {}", refused.body);
        assert!(refused.says("<title>Error: Harbor refit · Countersign</title>"));
        assert_eq!(audit_of(&desk.org, &refused).await["code"], "conflict");
        assert_eq!(desk.people().await, [id(&desk.ada)]);
    };
    let draft = desk.draft("Lease <b>").await;
    let page = desk.browser.get(&desk.page()).await;
    assert!(!page.says("aria-label=\"Remove Ada\"") && page.says("Takes part"), "{}", page.body);
    let link = format!("the draft <a href=\"/app/agreements/{}\">“Lease &#60;b&#62;”</a>. Remove them", draft.id());
    refused(&link).await;

    let discard = async |draft: &drafts::Drafted| {
        let page = format!("/app/agreements/{}", draft.id());
        let shown = desk.browser.get(&page).await;
        let fields = [("form_token", shown.hidden("form_token")), ("version", shown.hidden("version"))];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        assert_eq!(desk.browser.post(&format!("{page}/discard"), &fields).await.status, 303);
    };
    discard(&draft).await;
    assert_eq!(desk.remove(&desk.browser, &desk.ada).await.status, 303);
    desk.join(&desk.ada).await;
    let published = desk.draft("Charter").await;
    let proposal = desk.org.propose("publish_agreement", &published.agreement).await;
    refused("the draft <a").await;
    assert_eq!(desk.browser.decide(&format!("/app/proposals/{}", id(&proposal)), "confirm", "").await.status, 303);
    refused("“Charter”</a>, which was published").await;
    let proposal = desk.org.propose("cancel_agreement", &published.agreement).await;
    assert_eq!(desk.browser.decide(&format!("/app/proposals/{}", id(&proposal)), "confirm", "").await.status, 303);
    assert!(desk.browser.get(&desk.page()).await.says("aria-label=\"Remove Ada\""));
    refused("“Charter”</a>, which was published").await;
}

#[tokio::test]
async fn whom_a_pending_proposal_refers_to_stays_until_it_is_decided() {
    let desk = Desk::new().await;
    let mut draft = desk.draft("Lease").await;
    let proposal = desk.org.propose("publish_agreement", &draft.agreement).await;
    draft
        .change(&desk.org, |draft| {
            draft.participants.clear();
            draft.stages.clear();
        })
        .await;
    let refused = desk.remove(&desk.browser, &desk.ada).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    let reason =
        format!("They took part in <a href=\"/app/agreements/{}\">“Lease”</a> when it was proposed.", draft.id());
    assert!(refused.says(&reason), "{}", refused.body);
    assert_eq!(desk.browser.decide(&format!("/app/proposals/{}", id(&proposal)), "decline", "").await.status, 303);
    assert_eq!(desk.remove(&desk.browser, &desk.ada).await.status, 303);
    assert!(desk.people().await.is_empty());
}

#[tokio::test]
async fn nobody_is_removed_from_or_by_another_organization() {
    let (desk, other) = (Desk::new().await, Desk::new().await);
    for path in [
        other.removal(&other.ada),
        desk.removal(&other.ada),
        other.removal(&desk.ada),
        desk.removal(&json!({"id": unknown_id()})),
        format!("{}/people/x/remove", desk.page()),
    ] {
        let token = desk.browser.get("/app").await.hidden("form_token");
        let refused = desk.browser.post(&path, &[("form_token", &token)]).await;
        assert_eq!(refused.status, 404, "{path}: {}", refused.body);
    }
    assert_eq!(desk.browser.post(&desk.removal(&desk.ada), &[("form_token", "x")]).await.status, 403);
    assert_eq!(desk.browser.get(&desk.removal(&desk.ada)).await.status, 405);
    for desk in [&desk, &other] {
        assert_eq!(desk.people().await, [id(&desk.ada)]);
    }
    let elsewhere = desk.org.person("Ben").await;
    assert_eq!(desk.remove(&desk.browser, &elsewhere).await.status, 303);
    assert_eq!(desk.people().await, [id(&desk.ada)]);
}

#[tokio::test]
async fn a_removal_that_an_agreement_overtakes_is_refused() {
    let desk = Desk::new().await;
    let draft = desk.org.empty_draft(&desk.workspace, "Lease").await;
    let shaky = Shaky::beside(&desk.org);
    let browser = shaky.browser_of(&desk.org.member("Ines Duarte").await).await;
    let person = format!("PERSON#{}", id(&desk.ada));
    let writes = Rule::on("TransactWriteItems").containing(person).containing("\"Delete\"");
    let removal = desk.remove(&browser, &desk.ada);
    let refused = shaky.meanwhile(writes, removal, desk.add(&draft, &desk.ada)).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.says("“Lease”"), "{}", refused.body);
    assert_eq!(desk.people().await, [id(&desk.ada)]);
}

#[tokio::test]
async fn who_takes_part_again_while_a_removal_overtakes_is_one_of_the_people() {
    let desk = Desk::new().await;
    let draft = desk.org.empty_draft(&desk.workspace, "Lease").await;
    let shaky = Shaky::beside(&desk.org);
    let browser = shaky.browser_of(&desk.org.member("Ines Duarte").await).await;
    let page = format!("/app/agreements/{}/participants", id(&draft));
    let token = browser.get(&page).await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("contact_id", id(&desk.ada)), ("role.signer", "on")];
    let writes = Rule::on("TransactWriteItems").containing(id(&draft));
    let removal = async { assert_eq!(desk.remove(&desk.browser, &desk.ada).await.status, 303) };
    let added = shaky.meanwhile(writes, browser.post(&page, &fields), removal).await;
    assert_eq!(added.status, 303, "{}", added.body);
    assert_eq!(desk.people().await, [id(&desk.ada)]);
    assert!(desk.is_shown(&desk.ada).await);
    assert_eq!(desk.remove(&desk.browser, &desk.ada).await.status, 409);

    let begin = "/app/agreements/new";
    let ben = desk.org.person("Ben").await;
    desk.join(&ben).await;
    let fields = [
        ("form_token", token.as_str()),
        ("workspace", id(&desk.workspace)),
        ("template", "two-party-signature"),
        ("name", "Charter"),
        ("party.first", id(&ben)),
        ("party.second", id(&desk.ada)),
    ];
    let writes = Rule::on("TransactWriteItems").containing("Charter");
    let removal = async { assert_eq!(desk.remove(&desk.browser, &ben).await.status, 303) };
    let charter = shaky.meanwhile(writes, browser.post(begin, &fields), removal).await;
    assert_eq!(charter.status, 303, "{}", charter.body);
    assert!(desk.is_shown(&ben).await);
}

#[tokio::test]
async fn participants_and_removals_at_once_leave_no_participant_who_is_not_one_of_the_people() {
    let desk = Desk::new().await;
    let drafts =
        join_all((0..6).map(async |n| desk.org.empty_draft(&desk.workspace, &format!("Draft {n}")).await)).await;
    let token = desk.browser.get("/app").await.hidden("form_token");
    let (form, removal) = ([("form_token", token.as_str())], desk.removal(&desk.ada));
    let removals = join_all((0..6).map(|_| desk.browser.post(&removal, &form)));
    let (removals, _) = tokio::join!(removals, join_all(drafts.iter().map(|draft| desk.add(draft, &desk.ada))));
    assert!(removals.iter().all(|page| [303, 409].contains(&page.status)));
    assert_eq!(desk.people().await, [id(&desk.ada)]);
    assert!(desk.is_shown(&desk.ada).await);
}

#[tokio::test]
async fn in_a_full_workspace_its_people_still_take_part() {
    let mut desk = Desk::new().await;
    let people: Vec<String> = (1..limits::WORKSPACE_PEOPLE_MAX).map(|_| unknown_id()).collect();
    let everyone = people.iter().map(String::as_str).chain([id(&desk.ada)]);
    desk.workspace = drafts::crowded(&desk.org, "Harbor refit", everyone).await;
    let draft = desk.org.empty_draft(&desk.workspace, "Lease").await;
    desk.add(&draft, &desk.ada).await;
    let ben = desk.org.person("Ben").await;
    let body = json!({"contact_id": ben["id"], "roles": ["signer"]});
    let path = format!("/api/v1/agreements/{}/participants", id(&draft));
    let refused = desk.org.post(path, &body).send().await;
    refused.refused_for(422, &[("contact_id", "limit_reached")]);
    assert_eq!(desk.people().await.len(), 1, "those who are contacts");
}

#[tokio::test]
async fn a_contacts_page_shows_where_they_take_part() {
    let desk = Desk::new().await;
    let path = format!("/app/contacts/{}", id(&desk.ada));
    let page = desk.browser.get(&path).await;
    assert!(page.says("Not a participant in any agreement yet.") && page.says("Harbor refit"), "{}", page.body);
    let stranger = desk.org.person("Ben").await;
    let strangers = format!("/app/contacts/{}", id(&stranger));
    assert!(desk.browser.get(&strangers).await.says("Not in any workspace yet."));

    let other = desk.org.workspace("Quay <script>alert(1)</script>").await;
    let lease = desk.org.empty_draft(&other, "Lease <script>alert(2)</script>").await;
    for roles in [json!(["investor"]), json!(["signer"])] {
        let body = json!({"contact_id": desk.ada["id"], "roles": roles});
        let added = desk.org.post(format!("/api/v1/agreements/{}/participants", id(&lease)), &body).send().await;
        assert!([200, 201].contains(&added.status), "{added}");
    }
    let ready = desk.draft("Charter").await;
    let page = desk.browser.get(&path).await;
    for shown in [
        "Lease &#60;script&#62;alert(2)",
        "Quay &#60;script&#62;alert(1)",
        "<td data-label=\"Roles\">Signer, Investor</td>",
        "<td data-label=\"Roles\">Approver</td>",
        "Draft, ready to publish",
        &format!("href=\"/app/agreements/{}\"", id(&lease)),
        &format!("href=\"/app/agreements/{}\"", ready.id()),
        &format!("href=\"/app/workspaces/{}\"", id(&other)),
        "WS-000002",
    ] {
        assert!(page.says(shown), "{shown}: {}", page.body);
    }
    assert!(page.has_only_own_script() && !page.says("Own contact"));
    assert!(!desk.browser.get(&strangers).await.says("Lease"));

    let admin = Browser::of(&desk.org, &desk.org.admin("Ines Duarte").await).await;
    let token = admin.get("/app").await.hidden("form_token");
    let own = [("form_token", token.as_str()), ("contact_id", id(&desk.ada))];
    assert_eq!(admin.post("/app/organization/contacts", &own).await.status, 303);
    let page = desk.browser.get(&path).await;
    assert!(page.says("Own contact") && page.says("Charter"), "{}", page.body);
    let fields = [("form_token", page.hidden("form_token")), ("version", page.hidden("version"))];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refused = desk.browser.post(&path, &fields).await;
    assert!(refused.status == 422 && refused.says("Charter"), "{}", refused.body);
}

#[tokio::test]
async fn where_a_contact_takes_part_has_pages() {
    let desk = Desk::new().await;
    let workspaces: Vec<Value> =
        join_all((0..51).map(async |n| desk.org.workspace(&format!("Matter {n}")).await)).await;
    for workspace in &workspaces {
        let path = format!("/api/v1/workspaces/{}/contacts", id(workspace));
        desk.org.post(path, &json!({"contact_id": desk.ada["id"]})).send().await.ok(201);
        drafts::write(&desk.org, drafts::ready(workspace, "Lease", &desk.ada)).await;
    }
    let path = format!("/app/contacts/{}", id(&desk.ada));
    let page = desk.browser.get(&path).await;
    assert!(page.says("1 to 50 of 51") && page.says("1 to 50 of 52"), "{}", page.body);
    let next = format!("{path}?agreements=50&#38;workspaces=0#agreements");
    assert!(page.says(&format!("href=\"{next}\"")), "{}", page.body);
    let page = desk.browser.get(&format!("{path}?agreements=50&workspaces=50")).await;
    assert!(page.says("51 to 51 of 51") && page.says("51 to 52 of 52"), "{}", page.body);
    let past = desk.browser.get(&format!("{path}?agreements=100")).await;
    assert_eq!((past.status, past.location()), (303, path.as_str()));
}

//! The organization's page: settings, own contacts, roles, and password links.

use serde_json::json;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person};
use tests::{Fault, Org, Rule, Shaky, rows};

use crate::unknown_id;

const PAGE: &str = "/app/organization";
const OWN_PASSWORD: &str = "correct horse battery";

struct Team {
    org: Org,
    ada: Person,
    ben: Person,
    admin: Browser,
}

impl Team {
    async fn new() -> Self {
        let org = Org::new().await;
        let (ada, ben) = (org.admin("Ada Okafor").await, org.member("Ben Ruiz").await);
        let admin = Browser::of(&org, &ada).await;
        Self { org, ada, ben, admin }
    }
}

async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    let all: Vec<(&str, &str)> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &all).await
}

async fn save_role(browser: &Browser, who: impl std::fmt::Display, role: &str) -> Page {
    send(browser, &format!("{PAGE}/members/{who}/role"), &[("role", role), ("own_password", OWN_PASSWORD)]).await
}

async fn create_link(browser: &Browser, who: impl std::fmt::Display) -> Page {
    send(browser, &format!("{PAGE}/members/{who}/password-link"), &[("own_password", OWN_PASSWORD)]).await
}

pub(super) fn link_on(org: &Org, page: &Page) -> Option<String> {
    let (_, rest) = page.body.split_once("<input id=\"link\" class=\"mono\" type=\"text\" readonly value=\"")?;
    let link = rest.split('"').next()?;
    Some(link.strip_prefix(org.base_url())?.to_owned())
}

pub(super) async fn send_signed_out(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get(path).await.hidden("form_token");
    let all: Vec<(&str, &str)> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &all).await
}

#[tokio::test]
async fn an_admin_saves_the_name_and_the_time_zone() {
    let Team { org, ben, admin, .. } = Team::new().await;
    let page = admin.get(PAGE).await;
    for text in [
        "<label for=\"name\">Organization name</label>",
        "<label for=\"time_zone\">Time zone</label>",
        "maxlength=\"60\" value=\"UTC\" aria-describedby=\"time_zone-hint\"",
        "<option>America/New_York</option>",
        ">Invite member</button>",
        "No own contacts yet",
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let saved = send(&admin, PAGE, &[("name", " Harbor & Pine "), ("time_zone", "new york")]).await;
    assert_eq!((saved.status, saved.location()), (303, PAGE), "{}", saved.body);
    let page = admin.get(PAGE).await;
    assert!(page.says("Organization saved") && page.says("value=\"Harbor &#38; Pine\""), "{}", page.body);
    assert!(page.says("value=\"America/New_York\""));
    let me = org.get("/api/v1/me").send().await.ok(200);
    assert_eq!(me["organization_name"], "Harbor & Pine", "{me}");
    // A zone that isn't offered is accepted, and survives saving again.
    assert_eq!(send(&admin, PAGE, &[("name", "Harbor"), ("time_zone", "US/Eastern")]).await.status, 303);
    assert!(admin.get(PAGE).await.says("value=\"US/Eastern\""));

    let member = Browser::of(&org, &ben).await;
    let page = member.get(PAGE).await;
    assert!(
        page.says("US/Eastern") && !page.says("Organization name</label>") && !page.says("Invite"),
        "{}",
        page.body
    );
    let refused = send(&member, PAGE, &[("name", "Mine"), ("time_zone", "UTC")]).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(admin.get(PAGE).await.says("value=\"Harbor\""));
}

#[tokio::test]
async fn settings_that_are_refused_keep_what_was_typed() {
    let Team { org: _org, admin, .. } = Team::new().await;
    for (name, zone, says) in [
        ("", "Europe/Berlin", "The name "),
        (&"x".repeat(201), "Europe/Berlin", "The name must have at most 200 characters."),
        (
            "Harbor",
            "Mars/Olympus",
            "The time zone must be a city that a time zone is named after, such as New York, or a zone such as America/New_York.",
        ),
        ("Harbor", "", "The time zone "),
        ("Har\u{202e}bor", "UTC", "The name must have no line separators"),
    ] {
        let page = send(&admin, PAGE, &[("name", name), ("time_zone", zone)]).await;
        assert!(
            page.status == 422 && page.says(says) && page.says("<title>Error: Organization"),
            "{name}: {}",
            page.body
        );
        assert!(page.says(&format!(
            "name=\"name\" type=\"text\" autocomplete=\"organization\" required maxlength=\"200\" value=\"{name}\""
        )));
    }
}

#[tokio::test]
async fn own_contacts_are_chosen_from_the_organizations_contacts() {
    let Team { org, admin, .. } = Team::new().await;
    let foreign = Org::new().await.contact("Foreign").await["id"].as_str().expect("an id").to_owned();
    let ours = org.contact("Harbor Holdings").await["id"].as_str().expect("an id").to_owned();
    org.contact("Somebody Else").await;
    let choose = admin.get(&format!("{PAGE}/contacts?search=harbor")).await;
    assert!(choose.says("Harbor Holdings") && !choose.says("Somebody Else"), "{}", choose.body);
    for _ in 0..2 {
        let added = send(&admin, &format!("{PAGE}/contacts?search=harbor&offset=0"), &[("contact_id", &ours)]).await;
        assert_eq!((added.status, added.location()), (303, "/app/organization/contacts?search=harbor&offset=0"));
    }
    assert!(admin.get(&format!("{PAGE}/contacts")).await.says("<span class=\"badge green\">Added</span>"));
    let page = admin.get(PAGE).await;
    assert_eq!(page.body.matches(&format!("/app/contacts/{ours}\"")).count(), 1, "{}", page.body);
    for id in [foreign.as_str(), &unknown_id()] {
        assert_eq!(send(&admin, &format!("{PAGE}/contacts"), &[("contact_id", id)]).await.status, 404, "{id}");
        assert_eq!(send(&admin, &format!("{PAGE}/contacts/{id}/remove"), &[]).await.status, 404, "{id}");
    }
    for _ in 0..2 {
        let removed = send(&admin, &format!("{PAGE}/contacts/{ours}/remove"), &[]).await;
        assert_eq!((removed.status, removed.location()), (303, PAGE));
    }
    assert!(admin.get(PAGE).await.says("No own contacts yet"));
    org.get(format!("/api/v1/contacts/{ours}")).send().await.ok(200);
}

#[tokio::test]
async fn a_new_own_contact_is_made_in_one_press() {
    let Team { org, ben, admin, .. } = Team::new().await;
    let path = format!("{PAGE}/contacts");
    let empty = admin.get(&path).await;
    assert!(empty.says("No contacts yet") && empty.says("Add the first one here."), "{}", empty.body);
    let ours = [("contact_id", "new"), ("display_name", "Harbor Holdings"), ("kind", "llc"), ("email", "")];
    let refused = send(&admin, &path, &[("contact_id", "new"), ("kind", "ship"), ("email", "")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("The name is required.") && refused.says("The kind must be"), "{}", refused.body);
    let member = Browser::of(&org, &ben).await;
    assert_eq!(send(&member, &path, &ours).await.status, 403);
    assert_eq!(org.total("/api/v1/contacts").await, 0);

    let added = send(&admin, &path, &ours).await;
    assert_eq!((added.status, added.location()), (303, path.as_str()), "{}", added.body);
    let shown = admin.get(&path).await;
    assert!(shown.says("Harbor Holdings was added") && shown.says("<span class=\"badge green\">Added</span>"));
    assert!(admin.get(PAGE).await.says("Harbor Holdings"));
    let twin = send(&admin, &path, &ours).await;
    assert!(twin.status == 409 && twin.says("Choose Harbor Holdings"), "{}", twin.body);
    assert_eq!(org.total("/api/v1/contacts").await, 1);
}

#[tokio::test]
async fn an_admin_changes_the_role_of_others_and_never_their_own() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let foreign = Org::new().await.member("Noor Vance").await;
    for typed in ["", "wrong horse battery"] {
        let path = format!("{PAGE}/members/{}/role", ben.id);
        let page = send(&admin, &path, &[("role", "admin"), ("own_password", typed)]).await;
        assert!(page.status == 422 && page.says("Your password is missing or incorrect"), "{typed}: {}", page.body);
    }
    let bens = Browser::of(&org, &ben).await;
    assert!(!bens.get(PAGE).await.says(">Invite member</button>"), "nothing was changed");
    let saved = save_role(&admin, ben.id, "admin").await;
    assert_eq!((saved.status, saved.location()), (303, PAGE), "{}", saved.body);
    assert!(admin.get(PAGE).await.says("Role saved"));
    assert!(bens.get(PAGE).await.says(">Invite member</button>"), "an admin at once");
    assert_eq!(save_role(&admin, ben.id, "admin").await.status, 303, "nothing changes");
    for (browser, who, role, status, says) in [
        (&admin, ada.id.to_string(), "member", 422, "You can’t change your own role"),
        (&admin, foreign.id.to_string(), "admin", 404, "There is no such member"),
        (&admin, unknown_id(), "admin", 404, "There is no such member"),
        (&admin, ben.id.to_string(), "owner", 422, "There is no such role"),
        (&admin, ben.id.to_string(), "", 422, "There is no such role"),
    ] {
        let page = save_role(browser, &who, role).await;
        assert!(page.status == status && page.says(says), "{who} {role}: {}", page.body);
    }
    assert_eq!(save_role(&bens, ada.id, "member").await.status, 303);
    assert_eq!(save_role(&admin, ben.id, "member").await.status, 403, "no admin any more");
    let audit = org.audit().await;
    let row = audit.iter().find(|row| row["operation"] == "change_role" && row["code"] == "ok").expect("an audit row");
    assert_eq!((&row["member_id"], rows::objects(row)), (&json!(ada.id.to_string()), vec![ben.id.to_string()]));
}

#[tokio::test]
async fn of_admins_who_make_each_other_members_at_once_one_stays() {
    const ADMINS: usize = 4;
    let org = Org::new().await;
    let mut admins = Vec::new();
    for n in 0..ADMINS {
        let person = org.admin(&format!("Admin {n}")).await;
        let browser = Browser::of(&org, &person).await;
        let token = browser.get(PAGE).await.hidden("form_token");
        admins.push((person, browser, token));
    }
    let changes = (0..ADMINS).map(|n| {
        let (next, (_, browser, token)) = (admins[(n + 1) % ADMINS].0.id, &admins[n]);
        let path = format!("{PAGE}/members/{next}/role");
        async move {
            browser
                .post(&path, &[("form_token", token.as_str()), ("role", "member"), ("own_password", OWN_PASSWORD)])
                .await
        }
    });
    let ended = futures_util::future::join_all(changes).await;
    let done = ended.iter().filter(|page| page.status == 303).count();
    let is_admin = |row: &&serde_json::Value| row["role"] == "admin" && row["pk"] == format!("ORG#{}#MEMBERS", org.id);
    let left = org.state().await.iter().filter(is_admin).count();
    assert!(left >= 1);
    assert_eq!(left, ADMINS - done, "{ended:?}");
    assert!(ended.iter().all(|page| [303, 403].contains(&page.status)), "{ended:?}");
}

#[tokio::test]
async fn a_password_link_sets_a_password_once_and_ends_all_sessions() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let bens = Browser::of(&org, &ben).await;
    let mut links = Vec::new();
    for _ in 0..2 {
        let made = create_link(&admin, ben.id).await;
        assert_eq!(
            (made.status, made.location()),
            (303, format!("{PAGE}?linked={}", ben.id).as_str()),
            "{}",
            made.body
        );
        let page = admin.get(made.location()).await;
        assert!(page.says("<label for=\"link\">Password link</label>"), "{}", page.body);
        links.push(link_on(&org, &page).expect("a link"));
    }
    assert!(link_on(&org, &admin.get(PAGE).await).is_none(), "elsewhere it is not shown");
    let link = links[0].as_str();
    let visitor = Browser::new(org.base_url());
    let page = visitor.get(link).await;
    assert!(page.status == 200 && page.says(&ben.email) && page.says("<label for=\"password\">New password</label>"));
    assert_eq!(page.headers["referrer-policy"], "strict-origin");
    for (password, says) in [
        ("short", "The password must have at least 12 characters."),
        ("password12345", "The password is one of the most common ones"),
        (ben.email.as_str(), "The password must have more than your email address"),
    ] {
        let refused = send_signed_out(&visitor, link, &[("password", password)]).await;
        assert!(refused.status == 422 && refused.says(says), "{password}: {}", refused.body);
        assert!(!refused.says(&format!("value=\"{password}\"")) || password == ben.email);
    }
    assert_eq!(visitor.post(link, &[("form_token", "x"), ("password", "tiger lamp orchid")]).await.status, 403);
    assert_eq!(bens.get("/app").await.status, 200);

    let set = send_signed_out(&visitor, link, &[("password", "tiger lamp orchid")]).await;
    assert_eq!((set.status, set.location()), (303, "/app/sign-in?password=saved"), "{}", set.body);
    assert!(visitor.get(set.location()).await.says("Password saved"));
    assert_eq!(bens.get("/app").await.status, 303, "the session has ended");
    assert_eq!(visitor.sign_in(&ben.email, &ben.password, "/app").await.status, 422);
    assert_eq!(visitor.sign_in(&ben.email, "tiger lamp orchid", "/app").await.status, 303);
    for link in &links {
        let gone = Browser::new(org.base_url()).get(link).await;
        assert!(gone.status == 404 && gone.says("This password link no longer works"), "{}", gone.body);
    }
    let audit = org.audit().await;
    let row = audit.iter().find(|row| row["operation"] == "set_password").expect("an audit row");
    assert_eq!((&row["member_id"], &row["code"]), (&json!(ben.id.to_string()), &json!("ok")));
    let made = audit.iter().find(|row| row["operation"] == "create_password_link").expect("an audit row");
    assert_eq!(made["member_id"], ada.id.to_string());
    let secret = link.rsplit('/').next().expect("a secret");
    assert!(!rows::all(org.stack().table()).await.iter().any(|row| row.to_string().contains(secret)));
    assert!(!std::fs::read_to_string(org.stack().log_file()).expect("the log").contains(secret));
}

#[tokio::test]
async fn no_admin_gets_a_password_link_that_takes_over_more_than_their_organization() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let foreign = Org::new().await.member("Noor Vance").await;
    let elsewhere = Org::new().await;
    let store = org.stack().table().store();
    let member = Browser::of(&org, &ben).await;
    let made = create_link(&admin, ben.id).await;
    let link = link_on(&org, &admin.get(made.location()).await).expect("a link");
    ops::add_membership(&store, elsewhere.id, "Ben", &ben.email, ops::Role::Member).await.expect("a member");
    assert_eq!(Browser::new(org.base_url()).get(&link).await.status, 404, "it ends with the second membership");
    for (who, status, says) in [
        (ada.id.to_string(), 422, "You can’t create a password link for yourself"),
        (ben.id.to_string(), 422, "They also belong to another organization"),
        (foreign.id.to_string(), 404, "There is no such member"),
        (unknown_id(), 404, "There is no such member"),
    ] {
        let page = create_link(&admin, &who).await;
        assert!(page.status == status && page.says(says), "{who}: {}", page.body);
    }
    assert_eq!(create_link(&member, ada.id).await.status, 403);
}

#[tokio::test]
async fn a_password_link_ends_with_its_time_its_member_and_its_admin() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let eve = org.admin("Eve Holt").await;
    let table = org.stack().table();
    let (visitor, eves) = (Browser::new(org.base_url()), Browser::of(&org, &eve).await);
    let new_link = async || {
        let made = create_link(&admin, ben.id).await;
        link_on(&org, &admin.get(made.location()).await).expect("a link")
    };
    let link = new_link().await;
    let of_ben = |row: &&serde_json::Value| row["replaces"].is_string() && row["member_id"] == ben.id.to_string();
    for row in rows::all(table).await.iter().filter(of_ben) {
        rows::set_text(table, row, "expires_at", &Timestamp::now().plus_seconds(-1).to_string()).await;
    }
    assert_eq!(visitor.get(&link).await.status, 404, "expired");
    let link = new_link().await;
    assert_eq!(visitor.get(&link).await.status, 200);
    rows::set_role(table, org.id, ada.id, "member").await;
    assert_eq!(visitor.get(&link).await.status, 404, "its admin is none any more");
    rows::set_role(table, org.id, ada.id, "admin").await;
    assert_eq!(visitor.get(&link).await.status, 200);
    let removed = send(&eves, &format!("{PAGE}/members"), &[("member", &ben.id.to_string())]).await;
    assert_eq!(removed.status, 303);
    assert_eq!(visitor.get(&link).await.status, 404, "its member is gone");
    for link in ["x", &"0".repeat(64)] {
        let page = visitor.get(&format!("/app/password-links/{link}")).await;
        assert!(page.status == 404 && page.says("This password link no longer works"), "{}", page.body);
    }
}

#[tokio::test]
async fn an_operator_makes_a_password_link_for_whoever_has_an_account() {
    let Team { org, ada, admin, .. } = Team::new().await;
    let elsewhere = Org::new().await;
    let store = org.stack().table().store();
    ops::add_membership(&store, elsewhere.id, "Ada", &ada.email, ops::Role::Member).await.expect("a member");
    let nobody = ops::create_password_link(&store, "nobody@members.example").await.expect_err("no account");
    assert_eq!(nobody.to_string(), "there is no account with this email address");
    let link = ops::create_password_link(&store, &ada.email.to_uppercase()).await.expect("a link");

    let visitor = Browser::new(org.base_url());
    assert!(visitor.get(&link).await.says(&ada.email));
    let set = send_signed_out(&visitor, &link, &[("password", "tiger lamp orchid")]).await;
    assert_eq!((set.status, set.location()), (303, "/app/sign-in?password=saved"), "{}", set.body);
    assert_eq!(admin.get("/app").await.status, 303, "the session has ended");
    assert_eq!(visitor.sign_in(&ada.email, "tiger lamp orchid", "/app").await.status, 303);
    assert_eq!(Browser::new(org.base_url()).get(&link).await.status, 404, "it works once");
    let rows = org.audit().await;
    let row = rows.iter().find(|row| row["operation"] == "create_password_link").expect("an audit row");
    assert!(row["status"] == "200" && row.get("member_id").is_none(), "the service's own act: {row}");
    assert!(visitor.get("/app/audit").await.says("Made a link to set a new password"));
}

#[tokio::test]
async fn a_password_whose_answer_was_lost_is_set() {
    let Team { org, ben, admin, .. } = Team::new().await;
    let made = create_link(&admin, ben.id).await;
    let link = link_on(&org, &admin.get(made.location()).await).expect("a link");
    let shaky = Shaky::beside(&org);
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("PASSWORDLINK#").times(1), Fault::LateCommit);
    let set = send_signed_out(&shaky.browser(), &link, &[("password", "tiger lamp orchid")]).await;
    assert_eq!((set.status, set.location()), (303, "/app/sign-in?password=saved"), "{}", set.body);
    let visitor = Browser::new(org.base_url());
    assert_eq!(visitor.sign_in(&ben.email, "tiger lamp orchid", "/app").await.status, 303);
}

#[tokio::test]
async fn the_address_that_the_list_of_members_had_leads_to_the_page() {
    let Team { org: _org, admin, .. } = Team::new().await;
    let page = admin.get("/app/members").await;
    assert_eq!((page.status, page.location()), (303, PAGE));
}

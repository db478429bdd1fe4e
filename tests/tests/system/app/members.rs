//! An organization's members, and an admin who removes one, over the page's forms.

use ops::{NewMember, Role};
use serde_json::{Value, json};
use shared::domain::ids::MemberId;
use tests::app::{Browser, Page, Person};
use tests::receiver::Receiver;
use tests::{Fault, Org, Rule, Shaky, rows, subscriber};

use crate::unknown_id;

const MEMBERS: &str = "/app/organization";
const REMOVE: &str = "/app/organization/members";
const OUTCOME: &str = "once-removed";

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

    async fn members(&self) -> Vec<String> {
        members_of(&self.org).await
    }
}

async fn members_of(org: &Org) -> Vec<String> {
    let of_org = format!("ORG#{}#MEMBERS", org.id);
    let rows = org.state().await.into_iter().filter(|row| row["pk"] == of_org.as_str());
    rows.map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

async fn remove(browser: &Browser, who: impl std::fmt::Display) -> Page {
    let token = browser.get(MEMBERS).await.hidden("form_token");
    let who = who.to_string();
    browser.post(REMOVE, &[("form_token", &token), ("member", &who)]).await
}

fn is_signed_out(page: &Page) -> bool {
    page.status == 303 && page.location().starts_with("/app/sign-in")
}

async fn audit_of(org: &Org, page: &Page) -> Value {
    let id = page.headers["x-request-id"].to_str().expect("an id");
    let rows = org.audit().await;
    rows.into_iter().find(|row| row["sk"] == id).unwrap_or_else(|| panic!("no audit row of {id}"))
}

#[tokio::test]
async fn every_member_sees_who_belongs_to_the_organization_and_an_admin_can_remove_the_others() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let stranger = Org::new().await.admin("Noor Vance").await;
    let member = Browser::of(&org, &ben).await;
    for (browser, buttons) in [(&admin, vec![&ben]), (&member, vec![])] {
        let page = browser.get(MEMBERS).await;
        assert_eq!(page.status, 200);
        let shown = [
            "<title>Organization · Countersign</title>",
            "<a href=\"/app/organization\" aria-current=\"page\">Organization</a>",
            org.name.as_str(),
            "Ada Okafor",
            ada.email.as_str(),
            ">Admin</span>",
            "Ben Ruiz",
            ben.email.as_str(),
            ">Member</span>",
            "<td data-label=\"Since\"><time datetime=\"20",
        ];
        for text in shown {
            assert!(page.says(text), "{text}: {}", page.body);
        }
        assert!(!page.says(&stranger.email));
        assert_eq!(page.body.matches(">You</span>").count(), 1);
        assert_eq!(page.body.matches("name=\"member\"").count(), buttons.len());
        for person in buttons {
            let button = format!("aria-label=\"Remove Ben Ruiz, {}\">Remove</button>", person.email);
            assert!(page.says(&button), "{button}: {}", page.body);
            assert_eq!(page.hidden("member"), person.id.to_string());
        }
        let row = audit_of(&org, &page).await;
        assert_eq!((&row["operation"], &row["status"]), (&json!("view_organization"), &json!("200")));
        assert_eq!(rows::objects(&row), [ada.id.to_string(), ben.id.to_string()]);
    }
    let you = admin.get(MEMBERS).await.body;
    assert!(
        you.contains("Ada Okafor <span class=\"badge green\">You</span>")
            && you.contains("<span class=\"badge blue\">Admin</span>"),
        "{you}"
    );
    for browser in [&admin, &member] {
        assert!(browser.get("/app").await.says("<a href=\"/app/organization\">Organization</a>"));
    }
    assert!(is_signed_out(&Browser::new(org.base_url()).get(MEMBERS).await));
}

#[tokio::test]
async fn a_removal_is_shown_once_and_on_record_as_the_admins() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let before = org.state().await;
    let done = remove(&admin, ben.id).await;
    assert_eq!((done.status, done.location()), (303, MEMBERS), "{}", done.body);
    let shown = admin.get(MEMBERS).await;
    assert!(shown.says("Ben Ruiz was removed") && !shown.says(&ben.email), "{}", shown.body);
    assert!(!admin.get(MEMBERS).await.says("Ben Ruiz"), "the outcome is shown once");

    let row = audit_of(&org, &done).await;
    assert_eq!(
        (&row["operation"], &row["status"], &row["code"]),
        (&json!("remove_member"), &json!("303"), &json!("ok"))
    );
    assert_eq!(row["member_id"], ada.id.to_string());
    assert_eq!(rows::objects(&row), [ben.id.to_string()]);
    assert_eq!(org.audit().await.iter().filter(|row| row["operation"] == "remove_member").count(), 1);
    let after = org.state().await;
    let gone: Vec<&Value> = before.iter().filter(|row| !after.contains(row)).collect();
    assert_eq!(gone.len(), 1, "nothing but the member's record has changed: {gone:?}");
    // Their name is kept for the log; and for a while that they left, for who counts as a second member.
    let new: Vec<&Value> = after.iter().filter(|row| !before.contains(row)).collect();
    assert_eq!(new.len(), 2, "{new:?}");
    assert!(new[0].to_string().contains("Ben Ruiz") && !new[0].to_string().contains(&ben.email), "{new:?}");
    assert_eq!(new[1]["member_id"], ben.id.to_string());
    assert!(new[1]["ttl"].is_string(), "{new:?}");
}

#[tokio::test]
async fn the_outcome_is_for_the_session_that_removed() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let done = remove(&admin, ben.id).await;
    assert_eq!(done.status, 303);
    let other = Browser::of(&org, &ada).await;
    other.set_cookie(OUTCOME, &admin.cookie(OUTCOME).expect("the outcome on its way"));
    assert!(!other.get(MEMBERS).await.says("Ben Ruiz"));
    assert!(admin.get(MEMBERS).await.says("Ben Ruiz was removed"));
}

#[tokio::test]
async fn the_outcome_does_not_take_the_place_of_a_secret_that_nobody_has_seen() {
    let Team { org: _org, ben, admin, .. } = Team::new().await;
    let receiver = Receiver::new().await;
    let added = subscriber::add(&admin, &receiver.url(), &[]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    assert_eq!(remove(&admin, ben.id).await.status, 303);
    assert!(admin.get(MEMBERS).await.says("Ben Ruiz was removed"));
    assert!(subscriber::secret_on(&admin.get(added.location()).await).is_some(), "the secret is shown");
    admin.expire_flashes();
    assert!(subscriber::secret_on(&admin.get(added.location()).await).is_none(), "for two minutes");
}

#[tokio::test]
async fn whoever_is_removed_is_signed_out_there_and_stays_signed_in_elsewhere() {
    let Team { org, ben, admin, .. } = Team::new().await;
    let elsewhere = Org::new().await;
    let store = org.stack().table().store();
    ops::add_membership(&store, elsewhere.id, "Ben", &ben.email, Role::Member).await.expect("a member");
    let (here, there) = (Browser::of(&org, &ben).await, Browser::of(&org, &ben).await);
    let switch =
        [("form_token", there.get("/app").await.hidden("form_token")), ("organization", elsewhere.id.to_string())];
    let switch: Vec<(&str, &str)> = switch.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(there.post("/app/account/organization", &switch).await.status, 303);
    let proposal = org.propose("publish_agreement", &org.ready_draft("Lease", |_| {}).await).await;
    let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    let opened = here.get(&review).await;

    assert_eq!(remove(&admin, ben.id).await.status, 303);
    let (token, version) = (opened.hidden("form_token"), opened.hidden("version"));
    let form = [("form_token", token.as_str()), ("version", &version), ("note", ""), ("decision", "confirm")];
    assert!(is_signed_out(&here.post(&review, &form).await));
    assert!(is_signed_out(&here.get("/app").await));
    let state = org.get(format!("/api/v1/proposals/{}", proposal["id"].as_str().expect("an id"))).send().await.ok(200);
    assert_eq!(state["state"], "pending");

    let page = there.get(MEMBERS).await;
    assert!(page.status == 200 && page.says(&elsewhere.name) && page.says(&ben.email), "{}", page.body);
    let again = Browser::of(&org, &ben).await;
    let account = again.get("/app/account").await;
    assert!(account.says(&elsewhere.name) && !account.says(&org.name), "{}", account.body);
}

#[tokio::test]
async fn a_removal_that_is_refused_shows_why_and_changes_nothing() {
    let Team { org, ada, ben, admin } = Team::new().await;
    let foreign = Org::new().await.member("Noor Vance").await;
    let gone = org.member("Gone").await;
    let member = Browser::of(&org, &ben).await;
    let token = admin.get(MEMBERS).await.hidden("form_token");
    let press = [("form_token", token.as_str()), ("member", &gone.id.to_string())];
    assert_eq!(admin.post(REMOVE, &press).await.status, 303);
    admin.get(MEMBERS).await;
    let before = org.state().await;
    let unknown = "There is no such member";
    let cases = [
        (&admin, ada.id.to_string(), 422, "invalid_request", "You can’t remove yourself"),
        (&admin, foreign.id.to_string(), 404, "not_found", unknown),
        (&admin, MemberId::new().to_string(), 404, "not_found", unknown),
        (&admin, gone.id.to_string(), 404, "not_found", unknown),
        (&admin, "Ben".to_owned(), 404, "not_found", unknown),
        (&admin, String::new(), 404, "not_found", unknown),
        (&member, ada.id.to_string(), 403, "forbidden", "Only admins remove members"),
        (&member, ben.id.to_string(), 403, "forbidden", "Only admins remove members"),
        (&member, foreign.id.to_string(), 403, "forbidden", "Only admins remove members"),
        (&member, "Ben".to_owned(), 403, "forbidden", "Only admins remove members"),
    ];
    let mut not_there = Vec::new();
    for (browser, who, status, code, says) in cases {
        let page = remove(browser, &who).await;
        assert_eq!(page.status, status, "{who}: {}", page.body);
        for text in [says, "Ada Okafor", "Ben Ruiz"] {
            assert!(page.says(text), "{who}, {text}: {}", page.body);
        }
        let row = audit_of(&org, &page).await;
        assert_eq!((&row["operation"], &row["code"]), (&json!("remove_member"), &json!(code)), "{who}");
        let asked: Vec<&str> = who.parse::<MemberId>().is_ok().then_some(who.as_str()).into_iter().collect();
        assert_eq!(rows::objects(&row), asked, "whom it was about");
        if status == 404 {
            let (id, token) = (page.headers["x-request-id"].to_str().unwrap(), page.hidden("form_token"));
            not_there.push(page.without_copies().replace(id, "").replace(&token, ""));
        }
    }
    assert!(not_there.iter().all(|body| *body == not_there[0]), "no hint at who is somewhere else");

    let replayed = admin.post(REMOVE, &press).await;
    assert!(replayed.status == 404 && replayed.says(unknown), "{}", replayed.body);
    let who = ben.id.to_string();
    let foreign_token = member.get(MEMBERS).await.hidden("form_token");
    for token in [None, Some(foreign_token.as_str()), Some("x")] {
        let form: Vec<(&str, &str)> =
            token.map(|token| ("form_token", token)).into_iter().chain([("member", who.as_str())]).collect();
        let page = admin.post(REMOVE, &form).await;
        assert!(page.status == 403 && page.says("This form is no longer valid"), "{}", page.body);
    }
    let elsewhere = [("origin", "https://evil.example")];
    let form = [("form_token", token.as_str()), ("member", who.as_str())];
    assert_eq!(admin.post_with(REMOVE, &form, &elsewhere).await.status, 403);
    assert!(is_signed_out(&Browser::new(org.base_url()).post(REMOVE, &form).await));
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn names_are_shown_as_what_they_are() {
    let org = Org::new().await;
    let admin = Browser::of(&org, &org.admin("<b>Ada</b> & \"Co\"").await).await;
    let ben = org.member("<script>alert('Ben')</script>\" onfocus=\"x").await;
    let shown = "&#60;script&#62;alert(&#39;Ben&#39;)&#60;/script&#62;&#34; onfocus=&#34;x";
    let page = admin.get(MEMBERS).await;
    assert!(page.says(shown) && page.says("&#60;b&#62;Ada&#60;/b&#62; &#38; &#34;Co&#34;"), "{}", page.body);
    assert!(page.says(&format!("aria-label=\"Remove {shown}, {}\"", ben.email)), "{}", page.body);
    assert_eq!(remove(&admin, ben.id).await.status, 303);
    let outcome = admin.get(MEMBERS).await;
    assert!(outcome.says(&format!("{shown} was removed")), "{}", outcome.body);
    for page in [page, outcome] {
        assert!(page.has_only_own_script() && !page.says("<b>Ada"), "{}", page.body);
    }
}

#[tokio::test]
async fn many_members_are_shown_page_by_page() {
    let team = Team::new().await;
    let store = team.org.stack().table().store();
    // All with one account: hashing a password for each takes long.
    let names = (0..49).map(|n| format!("Colleague {n}"));
    for name in names {
        ops::add_membership(&store, team.org.id, &name, &team.ben.email, Role::Member).await.expect("a member");
    }
    let first = team.admin.get(MEMBERS).await;
    assert!(first.says("1 to 50 of 51") && first.says("Ada Okafor") && !first.says("Colleague 48"), "{}", first.body);
    let last = team.admin.get(&format!("{MEMBERS}?offset=50")).await;
    assert!(last.says("51 to 51 of 51") && last.says("Colleague 48") && !last.says("Ben Ruiz"), "{}", last.body);
    let past = team.admin.get(&format!("{MEMBERS}?offset=51")).await;
    assert!(past.status == 200 && past.says("51 to 51 of 51") && past.says("Colleague 48"), "{}", past.body);

    let found = team.admin.get(&format!("{MEMBERS}?search=%20colleague%204")).await;
    assert!(found.says("Colleague 4<") && found.says("Colleague 48") && !found.says("Colleague 5"), "{}", found.body);
    assert!(found.says("action=\"/app/organization/members?search=colleague%204\""), "a removal leads back there");
    let none = team.admin.get(&format!("{MEMBERS}?search=zebra")).await;
    assert!(none.status == 200 && none.says("No member matches “zebra”"), "{}", none.body);
    assert_eq!(team.admin.get(&format!("{MEMBERS}?search=%07")).await.status, 422);

    // Acts on a page lead back there, or to the then last page.
    let (here, action) = (format!("{MEMBERS}?offset=50"), format!("{REMOVE}?offset=50"));
    assert_eq!(last.body.matches(&format!("<form method=\"post\" action=\"{action}\">")).count(), 1, "{}", last.body);
    let press = async |who: &str| {
        let token = last.hidden("form_token");
        team.admin.post(&action, &[("form_token", token.as_str()), ("member", who)]).await
    };
    let unknown = press(&unknown_id()).await;
    assert!(unknown.status == 404 && unknown.says("51 to 51 of 51"), "{}", unknown.body);
    let who = last.hidden("member");
    let done = press(&who).await;
    assert_eq!((done.status, done.location()), (303, here.as_str()), "{}", done.body);
    let shown = team.admin.get(done.location()).await;
    assert!(shown.says("Colleague 48 was removed") && shown.says("Colleague 47"), "{}", shown.body);
    let gone = press(&who).await;
    assert!(gone.status == 404 && gone.says("There is no such member") && gone.says("Colleague 47"), "{}", gone.body);
}

fn removing(who: MemberId) -> Rule {
    Rule::on("TransactWriteItems").containing("#MEMBERS").containing(who)
}

#[tokio::test]
async fn of_two_admins_who_remove_each_other_at_once_one_stays() {
    let team = Team::new().await;
    let eve = team.org.admin("Eve Holt").await;
    let evas = Browser::of(&team.org, &eve).await;
    let shaky = Shaky::beside(&team.org);
    let adas = shaky.browser_of(&team.ada).await;
    let evas_removal = async {
        let done = remove(&evas, team.ada.id).await;
        assert_eq!((done.status, done.location()), (303, MEMBERS), "{}", done.body);
    };
    let overtaken = shaky.meanwhile(removing(eve.id), remove(&adas, eve.id), evas_removal).await;
    assert!(is_signed_out(&overtaken), "{}", overtaken.body);
    assert_eq!(team.members().await, [team.ben.id.to_string(), eve.id.to_string()]);
    assert!(evas.get(MEMBERS).await.says("Ada Okafor was removed"));
}

#[tokio::test]
async fn however_many_admins_remove_each_other_at_once_one_stays() {
    const ADMINS: usize = 4;
    let org = Org::new().await;
    let mut admins = Vec::new();
    for n in 0..ADMINS {
        let person = org.admin(&format!("Admin {n}")).await;
        let browser = Browser::of(&org, &person).await;
        let token = browser.get(MEMBERS).await.hidden("form_token");
        admins.push((person, browser, token));
    }
    let removals = (0..ADMINS).map(|n| {
        let (next, (_, browser, token)) = (admins[(n + 1) % ADMINS].0.id.to_string(), &admins[n]);
        async move { browser.post(REMOVE, &[("form_token", token.as_str()), ("member", &next)]).await }
    });
    let ended = futures_util::future::join_all(removals).await;
    let done = ended.iter().filter(|page| page.status == 303 && page.location() == MEMBERS).count();
    let left = members_of(&org).await.len();
    assert!(left >= 1);
    assert_eq!(left, ADMINS - done, "{ended:?}");
    assert!(ended.iter().all(|page| is_signed_out(page) || page.location() == MEMBERS), "{ended:?}");
}

/// With an account or without: an account would change with the first removal.
#[tokio::test]
async fn two_who_remove_the_same_member_at_once_remove_them_once() {
    for has_account in [true, false] {
        let team = Team::new().await;
        if !has_account {
            rows::delete_account(team.org.stack().table(), &team.ben.email).await;
        }
        let eve = Browser::of(&team.org, &team.org.admin("Eve Holt").await).await;
        let shaky = Shaky::beside(&team.org);
        let adas = shaky.browser_of(&team.ada).await;
        let sooner = async { assert_eq!(remove(&eve, team.ben.id).await.status, 303) };
        let later = shaky.meanwhile(removing(team.ben.id), remove(&adas, team.ben.id), sooner).await;
        assert_eq!(later.status, 404, "{has_account}: {}", later.body);
        assert!(later.says("They may have been removed already"), "{}", later.body);
        let audit = team.org.audit().await;
        let codes = audit.iter().filter(|row| row["operation"] == "remove_member").map(|row| row["code"].clone());
        let mut codes: Vec<Value> = codes.collect();
        codes.sort_by_key(Value::to_string);
        assert_eq!(codes, ["not_found", "ok"]);
    }
}

#[tokio::test]
async fn whoever_is_removed_while_they_come_in_does_not_come_in() {
    let org = Org::new().await;
    let elsewhere = Org::new().await;
    org.admin("Ada Okafor").await;
    let ben = org.member("Ben Ruiz").await;
    let store = org.stack().table().store();
    let shaky = Shaky::beside(&org);
    let browser = shaky.browser_of(&ben).await;
    let entered = |org: &Org| Rule::on("TransactWriteItems").containing(format!("ORG#{}#AUDIT", org.id));

    let there = ops::add_membership(&store, elsewhere.id, "Ben", &ben.email, Role::Member).await.expect("a member");
    let page = browser.get("/app").await;
    let session = browser.cookie("session");
    let (token, to) = (page.hidden("form_token"), elsewhere.id.to_string());
    let form = [("form_token", token.as_str()), ("organization", &to)];
    let removal = async { ops::remove_member(&store, elsewhere.id, there).await.expect("a removal") };
    let switch = browser.post("/app/account/organization", &form);
    let refused = shaky.meanwhile(entered(&elsewhere), switch, removal).await;
    assert_eq!(refused.status, 404, "{}", refused.body);
    assert_eq!(browser.cookie("session"), session);
    assert_eq!(browser.get("/app").await.status, 200, "the session goes on");

    let browser = shaky.browser();
    let removal = async { ops::remove_member(&store, org.id, ben.id).await.expect("a removal") };
    let sign_in = browser.sign_in(&ben.email, &ben.password, "/app");
    let refused = shaky.meanwhile(entered(&org), sign_in, removal).await;
    assert!(refused.status == 422 && refused.says("Your account belongs to no organization"), "{}", refused.body);
    assert_eq!(browser.cookie("session"), None);
    for (org, operation, times) in [(&elsewhere, "switch_organization", 0), (&org, "sign_in", 1)] {
        let audit = org.audit().await;
        assert_eq!(audit.iter().filter(|row| row["operation"] == operation).count(), times, "{operation}: {audit:?}");
    }
}

#[tokio::test]
async fn a_removal_whose_answer_was_lost_is_done() {
    let team = Team::new().await;
    let shaky = Shaky::beside(&team.org);
    let adas = shaky.browser_of(&team.ada).await;
    shaky.faults.inject(removing(team.ben.id).times(1), Fault::LateCommit);
    let done = remove(&adas, team.ben.id).await;
    assert_eq!((done.status, done.location()), (303, MEMBERS), "{}", done.body);
    assert_eq!(team.members().await, [team.ada.id.to_string()]);
    let row = audit_of(&team.org, &done).await;
    assert_eq!((&row["operation"], &row["code"]), (&json!("remove_member"), &json!("ok")));
}

#[tokio::test]
async fn a_removal_takes_away_this_membership_only() {
    let team = Team::new().await;
    let (elsewhere, store) = (Org::new().await, team.org.stack().table().store());
    let shaky = Shaky::beside(&team.org);
    let adas = shaky.browser_of(&team.ada).await;
    let joining = async {
        ops::add_membership(&store, elsewhere.id, "Ben", &team.ben.email, Role::Member).await.expect("a member");
    };
    let done = shaky.meanwhile(removing(team.ben.id), remove(&adas, team.ben.id), joining).await;
    assert_eq!((done.status, done.location()), (303, MEMBERS), "{}", done.body);
    assert_eq!(team.members().await, [team.ada.id.to_string()]);
    let account = rows::account(team.org.stack().table(), &team.ben.email).await;
    let memberships = account["memberships"].as_array().expect("memberships");
    let organizations: Vec<&Value> = memberships.iter().map(|membership| &membership["organization_id"]).collect();
    assert_eq!(organizations, [&json!(elsewhere.id)]);
    let again = Browser::of(&team.org, &team.ben).await;
    assert!(again.get("/app/account").await.says(&elsewhere.name));
}

#[tokio::test]
async fn who_was_removed_can_be_let_in_again() {
    let team = Team::new().await;
    assert_eq!(remove(&team.admin, team.ben.id).await.status, 303);
    let store = team.org.stack().table().store();
    let new = NewMember { name: "Ben Ruiz", email: &team.ben.email, password: "another one", role: Role::Member };
    let taken = ops::create_member(&store, team.org.id, new).await.expect_err("the account stays");
    assert!(matches!(taken, ops::OpsError::EmailTaken), "{taken}");
    ops::add_membership(&store, team.org.id, "Ben Ruiz", &team.ben.email, Role::Admin).await.expect("a member");
    let back = Browser::of(&team.org, &team.ben).await;
    assert!(back.get(MEMBERS).await.says(">Remove</button>"));
    assert_eq!(remove(&team.admin, unknown_id()).await.status, 404);
}

#[tokio::test]
async fn a_removal_does_not_take_the_place_of_a_secret_that_was_not_seen_yet() {
    let Team { org, ben, admin, .. } = Team::new().await;
    let added = subscriber::add(&admin, &Receiver::new().await.url(), &[]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    assert_eq!(remove(&admin, ben.id).await.status, 303);
    assert!(admin.get(MEMBERS).await.says("Ben Ruiz was removed"));
    assert!(subscriber::secret_on(&admin.get(added.location()).await).is_some(), "the secret is still to be seen");

    let cleo = org.member("Cleo Park").await;
    assert_eq!(remove(&admin, cleo.id).await.status, 303);
    let added = subscriber::add(&admin, &Receiver::new().await.url(), &[]).await;
    assert!(subscriber::secret_on(&admin.get(added.location()).await).is_some());
    assert!(admin.get(MEMBERS).await.says("Cleo Park was removed"), "the removal is still to be seen");
}

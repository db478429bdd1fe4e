//! Invitations: an admin creates a link, and whoever has it becomes a member.

use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person};
use tests::{Fault, Org, Rule, Shaky, rows};

use super::organization::{link_on, send_signed_out};
use crate::unknown_id;

const PAGE: &str = "/app/organization";
const INVITATIONS: &str = "/app/organization/invitations";
const PASSWORD: &str = "tiger lamp orchid";
/// The password of the tests' admins and members.
const OWN_PASSWORD: &str = "correct horse battery";

async fn admin() -> (Org, Person, Browser) {
    let org = Org::new().await;
    let ada = org.admin("Ada Okafor").await;
    let browser = Browser::of(&org, &ada).await;
    (org, ada, browser)
}

fn new_address() -> String {
    format!("i-{}@members.example", uuid::Uuid::now_v7().simple())
}

async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    let own = [("form_token", token.as_str()), ("own_password", OWN_PASSWORD)];
    let own = own.into_iter().filter(|(name, _)| fields.iter().all(|(given, _)| given != name));
    browser.post(path, &own.chain(fields.iter().copied()).collect::<Vec<_>>()).await
}

async fn invite(org: &Org, browser: &Browser, email: &str, role: &str) -> String {
    let made = send(browser, INVITATIONS, &[("email", email), ("role", role)]).await;
    assert_eq!(made.status, 303, "{}", made.body);
    let page = browser.get(made.location()).await;
    assert!(page.says("<label for=\"link\">Invitation link</label>"), "{}", page.body);
    link_on(org, &page).expect("a link")
}

async fn accept(browser: &Browser, link: &str, name: &str, password: &str) -> Page {
    send_signed_out(browser, link, &[("name", name), ("password", password)]).await
}

async fn invitations_of(org: &Org) -> Vec<Value> {
    let of_org = format!("ORG#{}#INVITATIONS", org.id);
    org.state().await.into_iter().filter(|row| row["pk"] == of_org.as_str()).collect()
}

async fn members_of(org: &Org) -> Vec<Value> {
    let of_org = format!("ORG#{}#MEMBERS", org.id);
    org.state().await.into_iter().filter(|row| row["pk"] == of_org.as_str()).collect()
}

fn is_gone(page: &Page) -> bool {
    page.status == 404 && page.says("This invitation no longer works")
}

#[tokio::test]
async fn an_admin_confirms_with_their_password_what_lets_someone_in() {
    let (org, ada, browser) = admin().await;
    let ben = org.member("Ben Ruiz").await;
    let before = org.state().await;
    let acts = [
        (INVITATIONS.to_owned(), vec![("email", "cleo@members.example"), ("role", "admin")]),
        (format!("{PAGE}/members/{}/password-link", ben.id), vec![]),
        (format!("{PAGE}/members/{}/second-factor", ben.id), vec![]),
    ];
    for (path, fields) in &acts {
        for typed in ["", "wrong"] {
            let own = [("own_password", typed)];
            let page = send(&browser, path, &fields.iter().copied().chain(own).collect::<Vec<_>>()).await;
            assert_eq!(page.status, 422, "{path}: {}", page.body);
            let is_told = page.says("is required") || page.says("incorrect");
            assert!(page.title().starts_with("Error: ") && is_told && !page.says("value=\"wrong\""), "{}", page.body);
        }
    }
    let page = send(&browser, INVITATIONS, &[("email", "cleo"), ("role", "admin"), ("own_password", "")]).await;
    assert!(page.says("email-error") && page.says("Your password is required."), "all at once: {}", page.body);
    assert!(page.says("value=\"cleo\""), "what was typed is kept");
    assert_eq!(org.state().await, before, "nothing has changed");
    assert_eq!(ada.password, OWN_PASSWORD);
    let made = send(&browser, &acts[1].0, &[]).await;
    assert_eq!(made.status, 303, "{}", made.body);
}

#[tokio::test]
async fn an_invitation_that_is_repeated_says_what_it_replaces() {
    let (_org, _, browser) = admin().await;
    let email = new_address();
    let invite = async |role: &str| {
        let made = send(&browser, INVITATIONS, &[("email", &email), ("role", role)]).await;
        assert_eq!(made.status, 303, "{}", made.body);
        browser.get(made.location()).await
    };
    let first = invite("admin").await;
    assert!(!first.says("It replaces"), "{}", first.body);
    let again = invite("member").await;
    assert!(
        again.says("It replaces the invitation as Admin made on ") && again.says(" by Ada Okafor"),
        "{}",
        again.body
    );
    assert!(again.says("whose link no longer works"), "{}", again.body);
}

#[tokio::test]
async fn whoever_is_invited_becomes_a_member_with_a_new_account() {
    let (org, ada, admin) = admin().await;
    let email = new_address();
    let link = invite(&org, &admin, &email, "admin").await;
    assert!(link.starts_with("/app/invitations/"), "{link}");
    let page = admin.get(PAGE).await;
    for text in [
        "Pending invitations",
        email.as_str(),
        "<td data-label=\"Invited by\">Ada Okafor</td>",
        "<td data-label=\"Ends\"><time datetime=\"20",
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(link_on(&org, &page).is_none(), "the link is shown on the page after inviting only");

    let visitor = Browser::new(org.base_url());
    let page = visitor.get(&link).await;
    let shown = [
        org.name.as_str(),
        email.as_str(),
        "<label for=\"name\">Your name</label>",
        "<label for=\"password\">New password</label>",
        ">Accept invitation</button>",
        ">Admin</dd>",
    ];
    for text in shown {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert_eq!(
        (&page.headers["referrer-policy"], &page.headers["cache-control"]),
        (&"strict-origin".parse().unwrap(), &"no-store".parse().unwrap())
    );
    let joined = accept(&visitor, &link, " Cleo Park ", PASSWORD).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
    assert!(visitor.get("/app").await.says("Cleo Park"));
    assert!(visitor.get(PAGE).await.says(">Invite member</button>"), "with the role of the invitation");
    assert_eq!(Browser::new(org.base_url()).sign_in(&email, PASSWORD, "/app").await.status, 303);
    assert_eq!(invitations_of(&org).await, [] as [Value; 0]);

    let members = members_of(&org).await;
    let cleo = members.iter().find(|member| member["name"] == "Cleo Park").expect("a member");
    let audit = org.audit().await;
    let row = audit.iter().find(|row| row["operation"] == "accept_invitation").expect("an audit row");
    assert_eq!((&row["member_id"], &row["code"], &row["status"]), (&cleo["id"], &json!("ok"), &json!("303")));
    let row = audit.iter().find(|row| row["operation"] == "invite_member").expect("an audit row");
    assert_eq!(row["member_id"], ada.id.to_string());
    assert!(!audit.iter().any(|row| row.to_string().contains(&email)), "no address in an audit row");
    let secret = link.rsplit('/').next().expect("a secret");
    assert!(!rows::all(org.stack().table()).await.iter().any(|row| row.to_string().contains(secret)));
    let log = std::fs::read_to_string(org.stack().log_file()).expect("the log");
    assert!(!log.contains(secret) && !log.contains(&email) && !log.contains(PASSWORD));
}

#[tokio::test]
async fn what_is_typed_wrong_is_said_and_kept() {
    let (org, _, admin) = admin().await;
    let email = new_address();
    let link = invite(&org, &admin, &email, "member").await;
    let visitor = Browser::new(org.base_url());
    for (name, password, says) in [
        ("", PASSWORD, "The name must not be blank"),
        ("Cleo \u{202e}Park", PASSWORD, "The name must have no line separators"),
        ("Cleo Park", "", "The password must have at least 12 characters."),
        ("Cleo Park", "elevenchars", "The password must have at least 12 characters."),
        ("Cleo Park", "123456789012", "The password is one of the most common ones"),
        ("Cleo Park", email.as_str(), "The password must have more than your email address"),
        ("Cleo Park", org.name.as_str(), "The password must have more than your email address"),
    ] {
        let page = accept(&visitor, &link, name, password).await;
        assert!(page.status == 422 && page.says(says) && page.says("<title>Error: Join"), "{password}: {}", page.body);
        assert!(page.says(&format!("maxlength=\"200\" value=\"{name}\"")), "{name}: {}", page.body);
    }
    let forged = visitor.post(&link, &[("form_token", "x"), ("name", "Cleo Park"), ("password", PASSWORD)]).await;
    assert!(forged.status == 403 && forged.says("Please try again") && forged.says("Cleo Park"), "{}", forged.body);
    let elsewhere = [("origin", "https://evil.example")];
    let token = visitor.get(&link).await.hidden("form_token");
    let form = [("form_token", token.as_str()), ("name", "Cleo Park"), ("password", PASSWORD)];
    assert_eq!(visitor.post_with(&link, &form, &elsewhere).await.status, 403);
    assert_eq!(members_of(&org).await.len(), 1);
    assert_eq!(accept(&visitor, &link, "Cleo Park", PASSWORD).await.status, 303, "the link still works");
}

#[tokio::test]
async fn an_account_that_exists_keeps_its_password_and_joins_with_it() {
    let (org, _, admin) = admin().await;
    let elsewhere = Org::new().await;
    let person = elsewhere.member("Cleo Park").await;
    let link = invite(&org, &admin, &person.email.to_uppercase(), "member").await;
    let visitor = Browser::new(org.base_url());
    let page = visitor.get(&link).await;
    assert!(page.says("<label for=\"password\">Password</label>") && !page.says("New password"), "{}", page.body);
    assert!(!page.says("Cleo Park"), "the name that another organization knows is not told");
    let before = rows::account(org.stack().table(), &person.email).await;
    for password in [PASSWORD, ""] {
        let refused = accept(&visitor, &link, "Mallory", password).await;
        assert!(refused.status == 422 && refused.says("The password is not that of your account"), "{}", refused.body);
    }
    assert_eq!(rows::account(org.stack().table(), &person.email).await, before);
    let joined = send_signed_out(&visitor, &link, &[("password", &person.password)]).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
    let account = visitor.get("/app/account").await;
    assert!(account.says(&org.name) && account.says(&elsewhere.name) && account.says("Cleo Park"), "{}", account.body);
    let after = rows::account(org.stack().table(), &person.email).await;
    assert_eq!(
        (&after["password_hash"], after["memberships"].as_array().map(Vec::len)),
        (&before["password_hash"], Some(2))
    );
    assert!(is_gone(&Browser::new(org.base_url()).get(&link).await));
}

#[tokio::test]
async fn a_link_that_does_not_work_looks_the_same_whatever_the_reason() {
    let (org, _, admin) = admin().await;
    let (used, revoked, replaced, expired) = (new_address(), new_address(), new_address(), new_address());
    let used_link = invite(&org, &admin, &used, "member").await;
    assert_eq!(accept(&Browser::new(org.base_url()), &used_link, "Used", PASSWORD).await.status, 303);
    let revoked_link = invite(&org, &admin, &revoked, "member").await;
    let row = invitations_of(&org).await.into_iter().find(|row| row["email"] == revoked.as_str()).expect("a row");
    let path = format!("{INVITATIONS}/{}/revoke", row["id"].as_str().expect("an id"));
    let done = send(&admin, &path, &[]).await;
    assert_eq!((done.status, done.location()), (303, PAGE), "{}", done.body);
    assert!(admin.get(PAGE).await.says("Invitation revoked"));
    assert_eq!(send(&admin, &path, &[]).await.status, 404, "twice");
    let replaced_link = invite(&org, &admin, &replaced, "member").await;
    let newer_link = invite(&org, &admin, &replaced, "admin").await;
    let expired_link = invite(&org, &admin, &expired, "member").await;
    let row = invitations_of(&org).await.into_iter().find(|row| row["email"] == expired.as_str()).expect("a row");
    let past = Timestamp::now().plus_seconds(-1).to_string();
    rows::set_text(org.stack().table(), &row, "expires_at", &past).await;
    assert!(!admin.get(PAGE).await.says(&expired), "it is not pending any more");

    let mut pages = std::collections::BTreeSet::new();
    let made_up = format!("/app/invitations/{}", "0".repeat(64));
    for link in [&used_link, &revoked_link, &replaced_link, &expired_link, &made_up, "/app/invitations/x"] {
        let visitor = Browser::new(org.base_url());
        let page = visitor.get(link).await;
        assert!(is_gone(&page), "{link}: {}", page.body);
        assert_eq!(page.headers["referrer-policy"], "strict-origin");
        let id = page.headers["x-request-id"].to_str().expect("an id");
        pages.insert(page.body.replace(id, ""));
        let token = visitor.get("/app/sign-in").await.hidden("form_token");
        let form = [("form_token", token.as_str()), ("name", "Mallory"), ("password", "another orchid lamp")];
        let refused = visitor.post(link, &form).await;
        assert!(is_gone(&refused) || refused.status == 422, "{link}: {}", refused.body);
    }
    assert_eq!(pages.len(), 1, "{pages:#?}");
    assert_eq!(members_of(&org).await.len(), 2);
    assert_eq!(accept(&Browser::new(org.base_url()), &newer_link, "Newer", PASSWORD).await.status, 303);
    let link = invite(&org, &admin, &expired, "member").await;
    assert_eq!(Browser::new(org.base_url()).get(&link).await.status, 200);
}

#[tokio::test]
async fn accepting_twice_makes_one_member() {
    let (org, _, admin) = admin().await;
    for is_at_once in [false, true] {
        let email = new_address();
        let link = invite(&org, &admin, &email, "member").await;
        let before = members_of(&org).await.len();
        let visitor = Browser::new(org.base_url());
        let token = visitor.get(&link).await.hidden("form_token");
        let form = [("form_token", token.as_str()), ("name", "Cleo Park"), ("password", PASSWORD)];
        let press = || async {
            let browser = Browser::new(org.base_url());
            browser.set_cookie("form", &visitor.cookie("form").expect("the form's cookie"));
            let page = browser.post(&link, &form).await;
            (browser, page)
        };
        let pressed = if is_at_once {
            futures_util::future::join_all((0..4).map(|_| press())).await
        } else {
            vec![press().await, press().await]
        };
        for (browser, page) in pressed {
            assert_eq!((page.status, page.location()), (303, "/app?arrived=joined"), "{}", page.body);
            assert_eq!(browser.get("/app").await.status, 200, "each is signed in");
        }
        assert_eq!(members_of(&org).await.len(), before + 1);
        let account = rows::account(org.stack().table(), &email).await;
        assert_eq!(account["memberships"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn an_acceptance_whose_answer_was_lost_signs_in() {
    let (org, _, admin) = admin().await;
    let email = new_address();
    let link = invite(&org, &admin, &email, "member").await;
    let shaky = Shaky::beside(&org);
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("INVITATIONS").times(1), Fault::LateCommit);
    let browser = shaky.browser();
    let joined = accept(&browser, &link, "Cleo Park", PASSWORD).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
    assert_eq!(browser.get("/app").await.status, 200);
    assert_eq!(members_of(&org).await.len(), 2);
}

#[tokio::test]
async fn a_removed_member_has_no_session_no_invitation_and_no_organization() {
    let (org, _, admin) = admin().await;
    let ben = org.member("Ben Ruiz").await;
    let bens = Browser::of(&org, &ben).await;
    let store = org.stack().table().store();
    let person = Org::new().await.member("Cleo Park").await;
    let link = invite(&org, &admin, &person.email, "admin").await;
    let cleo = ops::add_membership(&store, org.id, "Cleo", &person.email, ops::Role::Member).await.expect("a member");
    assert!(is_gone(&Browser::new(org.base_url()).get(&link).await), "a member already");
    for who in [ben.id, cleo] {
        let removed = send(&admin, "/app/organization/members", &[("member", &who.to_string())]).await;
        assert_eq!(removed.status, 303, "{}", removed.body);
    }
    assert_eq!(invitations_of(&org).await, [] as [Value; 0], "the pending invitation went with the member");
    let page = Browser::new(org.base_url());
    assert!(is_gone(&page.get(&link).await));
    assert_eq!(bens.get("/app").await.status, 303, "signed out");
    let told = page.sign_in(&ben.email, &ben.password, "/app").await;
    assert!(told.status == 422 && told.says("Your account belongs to no organization"), "{}", told.body);
    let wrong = page.sign_in(&ben.email, "wrong", "/app").await;
    assert!(!wrong.says("belongs to no organization"), "only with the right password");

    let link = invite(&org, &admin, &ben.email, "member").await;
    let visitor = Browser::new(org.base_url());
    let form = visitor.get(&link).await;
    assert!(form.says("Your name</label>") && !form.says("New password"), "{}", form.body);
    assert_eq!(accept(&visitor, &link, "", &ben.password).await.status, 422);
    assert_eq!(accept(&visitor, &link, "Ben again", &ben.password).await.status, 303);
    assert!(visitor.get("/app").await.says("Ben again"));
}

#[tokio::test]
async fn nobody_is_invited_by_members_strangers_or_forms_that_are_wrong() {
    let (org, ada, admin) = admin().await;
    let ben = org.member("Ben Ruiz").await;
    let member = Browser::of(&org, &ben).await;
    let other = Org::new().await;
    let stranger = Browser::of(&other, &other.admin("Noor Vance").await).await;
    invite(&other, &stranger, &new_address(), "member").await;
    let foreign = invitations_of(&other).await[0]["id"].as_str().expect("an id").to_owned();
    let before = org.state().await;
    for (email, role, says) in [
        ("", "member", "The email address "),
        ("ada", "member", "The email address must look like name@example.com"),
        (ada.email.as_str(), "member", "The email address is a member’s already."),
        (&ben.email.to_uppercase(), "admin", "The email address is a member’s already."),
        ("new@members.example", "owner", "The role must be one of"),
    ] {
        let page = send(&admin, INVITATIONS, &[("email", email), ("role", role)]).await;
        assert!(page.status == 422 && page.says(says) && page.says("<title>Error: "), "{email}: {}", page.body);
        assert!(page.says(&format!("maxlength=\"254\" value=\"{email}\"")), "{email}: {}", page.body);
    }
    let refused = send(&member, INVITATIONS, &[("email", &new_address()), ("role", "admin")]).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    for id in [foreign.as_str(), &unknown_id(), "x"] {
        let page = send(&admin, &format!("{INVITATIONS}/{id}/revoke"), &[]).await;
        assert_eq!(page.status, 404, "{id}: {}", page.body);
        assert_eq!(send(&member, &format!("{INVITATIONS}/{id}/revoke"), &[]).await.status, 403, "{id}");
    }
    assert_eq!(org.state().await, before);
    assert_eq!(invitations_of(&other).await.len(), 1);
}

#[tokio::test]
async fn inviting_twice_leaves_the_link_that_is_shown() {
    let (org, _, admin) = admin().await;
    let email = new_address();
    let token = admin.get(PAGE).await.hidden("form_token");
    let form =
        [("form_token", token.as_str()), ("email", email.as_str()), ("role", "member"), ("own_password", OWN_PASSWORD)];
    let both = futures_util::future::join(admin.post(INVITATIONS, &form), admin.post(INVITATIONS, &form)).await;
    let rows = invitations_of(&org).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    let mut works = 0;
    for made in [both.0, both.1] {
        assert_eq!(made.status, 303, "{}", made.body);
        if let Some(link) = link_on(&org, &admin.get(made.location()).await) {
            works += usize::from(Browser::new(org.base_url()).get(&link).await.status == 200);
        }
    }
    assert_eq!(works, 1, "only the link of the invitation that is left is shown, and it works");
}

#[tokio::test]
async fn an_operator_creates_an_organization_and_invites_its_first_admin() {
    let org = Org::new().await;
    let store = org.stack().table().store();
    for (name, email) in [("", "ada@okafor.example"), ("Harbor", "ada")] {
        let refused = ops::create_organization_with_invitation(&store, name, email).await;
        assert!(matches!(refused, Err(ops::OpsError::Invalid { .. })), "{refused:?}");
    }
    let email = new_address();
    let created = ops::create_organization_with_invitation(&store, "Harbor & Pine", &email).await.expect("created");
    assert!(!format!("{created:?}").contains(&created.invitation_path));
    let visitor = Browser::new(org.base_url());
    assert!(visitor.get(&created.invitation_path).await.says("Join Harbor &#38; Pine"));
    let joined = accept(&visitor, &created.invitation_path, "Cleo Park", PASSWORD).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
    let page = visitor.get(PAGE).await;
    assert!(page.says("Harbor &#38; Pine") && page.says(">Invite member</button>"), "{}", page.body);
}

//! Admins' endpoints: accepted addresses, the limit on endpoints, and who may do what.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::Value;
use shared::domain::ids::EventId;
use tests::app::{Browser, Page};
use tests::receiver::Receiver;
use tests::subscriber::{DEVELOPERS, Subscriber, add};
use tests::{Fault, Needs, Org, Rule, Shaky, eventually, outbox, rows};

const REFUSED: [&str; 26] = [
    "",
    "hooks.example.com/countersign",
    "ftp://hooks.example.com/",
    "http://8.8.8.8/hook",
    "https://10.0.0.7/",
    "https://172.16.0.1/",
    "https://192.168.1.1./",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://0x0a000001/",
    "https://167772161/",
    "https://012.0.0.1/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::a00:1]/",
    "https://[2002:a00:1::]/",
    "https://user:pass@8.8.8.8/",
    "https://8.8.8.8/#part",
    "https://8.8.8.8:0/",
    "https://8.8.8.8:99999/",
    "https://hooks.internal/",
    "https://printer.local/",
    "https://intranet/",
    "https://127.0.0.1\\@8.8.8.8/",
];

fn said(page: &Page, url: &str) {
    assert_eq!(page.status, 422, "{url}");
    assert!(page.says("class=\"field-error\">The URL can’t be used: it must "), "{url}: {}", page.body);
    assert!(page.says(&format!("value=\"{url}\"")), "{url} is kept: {}", page.body);
}

#[tokio::test]
async fn an_address_that_is_not_public_is_refused_and_what_was_typed_is_kept() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let before = org.state().await;
    let long = format!("https://8.8.8.8/{}", "x".repeat(2000));
    for url in REFUSED.into_iter().chain([long.as_str()]) {
        for page in [
            add(&subscriber.admin, url, &["proposal.created"]).await,
            subscriber.edit(url, &["proposal.created"]).await,
        ] {
            said(&page, url);
            assert!(page.says("name=\"event:proposal.created\" value=\"on\" checked"), "{}", page.body);
            assert!(!page.says("name=\"event:proposal.declined\" value=\"on\" checked"), "{}", page.body);
        }
    }
    assert_eq!(org.state().await, before);
}

/// Unticking the last type doesn't ask for all.
#[tokio::test]
async fn all_events_or_selected_ones_are_chosen_and_never_guessed() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let subscriber = org.subscriber().await;
    let shown = subscriber.admin.get(DEVELOPERS).await;
    for text in ["id=\"events-all\" name=\"events\" value=\"all\"", "Including future types.", ">Selected events<"] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
    let url = subscriber.receiver.url();
    let before = org.state().await;
    for types in [&[][..], &["movement.dreamt_of"], &["webhook.test"]] {
        let names: Vec<String> = types.iter().map(|name| format!("event:{name}")).collect();
        for path in [DEVELOPERS.to_owned(), format!("{}/edit", subscriber.path())] {
            let token = subscriber.admin.get(&path).await.hidden("form_token");
            let mut fields = vec![("form_token", token.as_str()), ("url", &url), ("events", "selected")];
            fields.extend(names.iter().map(|name| (name.as_str(), "on")));
            let refused = subscriber.admin.post(&path, &fields).await;
            assert_eq!(refused.status, 422, "{path}");
            assert!(refused.title().starts_with("Error: "), "{}", refused.title());
            for text in
                ["Select at least one event", "value=\"selected\" checked autofocus", &format!("value=\"{url}\"")]
            {
                assert!(refused.says(text), "{text}: {}", refused.body);
            }
        }
    }
    assert_eq!(org.state().await, before);
    let both = subscriber.admin.get(DEVELOPERS).await.hidden("form_token");
    let both = [("form_token", both.as_str()), ("url", "https://10.0.0.7/"), ("events", "selected")];
    let both = subscriber.admin.post(DEVELOPERS, &both).await;
    assert!(both.says("The URL can’t be used") && both.says("Select at least one event"), "{}", both.body);

    assert_eq!(subscriber.edit(&url, &["proposal.created"]).await.status, 303);
    let page = subscriber.admin.get(&subscriber.path()).await;
    assert!(page.says("Changes saved") && page.says("<span>proposal.created</span>"), "{}", page.body);
    let edit = subscriber.admin.get(&format!("{}/edit", subscriber.path())).await;
    assert!(edit.says("id=\"events-selected\" name=\"events\" value=\"selected\" checked"), "{}", edit.body);
    let token = edit.hidden("form_token");
    let all = [("form_token", token.as_str()), ("url", &url), ("events", "all"), ("event:proposal.created", "on")];
    assert_eq!(subscriber.admin.post(&format!("{}/edit", subscriber.path()), &all).await.status, 303);
    assert!(subscriber.admin.get(&subscriber.path()).await.says("<span>All events</span>"));
}

/// An endpoint whose address was once fine: its name resolves elsewhere now, or the guard has become stricter.
#[tokio::test]
async fn an_address_is_judged_again_by_a_test_and_by_every_attempt() {
    let org = Org::with(Needs::OWN.time_scale(600)).await;
    let subscriber = org.subscriber().await;
    set_url(&org, &subscriber, "https://10.0.0.7/hook").await;
    let before = org.events().await.len();
    let page = subscriber.press("test", &[]).await;
    assert_eq!(page.status, 422);
    assert!(page.says("No test was sent") && page.says("must lead to a public host"), "{}", page.body);
    assert_eq!(org.events().await.len(), before);

    let events = [outbox::event()];
    outbox::emit(&org, &events).await;
    let waiting = subscriber.wait_until(&org, events[0].id, "attempted", |delivery| delivery.attempted > 0).await;
    let attempt = serde_json::to_value(&waiting.attempts[0]).unwrap();
    assert_eq!((&attempt["result"], &attempt["class"]), (&"failed".into(), &"address_refused".into()));
    assert!(attempt.get("dialled").is_none(), "{attempt}");
    assert!(subscriber.admin.get(&subscriber.delivery_path(events[0].id)).await.says("address_refused"));
}

async fn set_url(org: &Org, subscriber: &Subscriber, url: &str) {
    use aws_sdk_dynamodb::types::AttributeValue;
    let table = org.stack().table();
    let update = table.client().update_item().table_name(&table.name);
    let update = update
        .set_key(Some(shared::store::keys::endpoint(org.id, subscriber.id).into_item()))
        .update_expression("SET #url = :url")
        .condition_expression("attribute_exists(pk)")
        .expression_attribute_names("#url", "url")
        .expression_attribute_values(":url", AttributeValue::S(url.to_owned()));
    update.send().await.expect("the endpoint is there");
}

#[tokio::test]
async fn there_is_room_for_twenty() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    for _ in 0..20 {
        assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    let page = admin.get(DEVELOPERS).await;
    assert!(page.says("There is no room for another one") && !page.says("Add endpoint"), "{}", page.body);
    let path = page
        .body
        .split("href=\"")
        .find_map(|rest| rest.split('"').next().filter(|path| path.starts_with("/app/developers/endpoints/")));
    let path = path.expect("an endpoint's link").to_owned();
    let token = admin.get(&path).await.hidden("form_token");
    let full = admin.post(DEVELOPERS, &[("form_token", &token), ("url", &receiver.url())]).await;
    assert_eq!(full.status, 422);
    assert!(full.says("There is no room for another endpoint"), "{}", full.body);
    assert_eq!(admin.post(&path, &[("form_token", &token), ("act", "delete")]).await.status, 303);
    assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
}

/// An overtaken admin still sees what they typed, to enter it again when there is room.
#[tokio::test]
async fn what_was_typed_stays_when_somebody_else_takes_the_last_place() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    for _ in 0..19 {
        assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    let token = admin.get(DEVELOPERS).await.hidden("form_token");
    assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    let empty = admin.get(DEVELOPERS).await;
    assert!(!empty.says("Add endpoint") && empty.says("There is no room for another one"), "{}", empty.body);
    for (url, why) in [
        ("https://8.8.8.8/hooks?tenant=7", "There is no room for another endpoint"),
        ("https://10.20.30.40/hooks", "The URL can’t be used"),
    ] {
        let typed = [("form_token", token.as_str()), ("url", url), ("event:proposal.created", "on")];
        let full = admin.post(DEVELOPERS, &typed).await;
        assert_eq!(full.status, 422, "{}", full.body);
        let chosen = "name=\"event:proposal.created\" value=\"on\" checked";
        let shown = [why, &format!("value=\"{url}\""), chosen, "Add endpoint", "There is no room for another one"];
        for text in shown {
            assert!(full.says(text), "{text}: {}", full.body);
        }
        assert!(!full.says("name=\"event:proposal.expired\" value=\"on\" checked"), "{}", full.body);
    }
}

#[tokio::test]
async fn there_is_room_for_twenty_also_when_more_are_added_at_once() {
    const ADMINS: usize = 3;
    const EACH: usize = 9;
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let receiver = Receiver::new().await;
    let mut admins = Vec::new();
    for n in 0..ADMINS {
        let admin = Browser::of(&org, &org.admin(&format!("Admin {n}")).await).await;
        let token = admin.get(DEVELOPERS).await.hidden("form_token");
        admins.push((admin, token));
    }
    let url = receiver.url();
    let add_one = async |n: usize| {
        let (admin, token) = &admins[n % ADMINS];
        admin.post(DEVELOPERS, &[("form_token", token), ("url", &url)]).await
    };
    let is_refused = |page: &Page| page.status == 422 && page.says("There is no room for another endpoint");
    let ended = join_all((0..ADMINS * EACH).map(add_one)).await;
    let (added, rest): (Vec<&Page>, Vec<&Page>) = ended.iter().partition(|page| page.status == 303);
    assert_eq!(added.len(), 20);
    for page in rest {
        assert!(is_refused(page), "{}", page.body);
    }
    let gone = join_all(added.iter().take(3).map(async |page| {
        let (admin, token) = &admins[0];
        admin.post(page.location(), &[("form_token", token), ("act", "delete")]).await
    }))
    .await;
    assert!(gone.iter().all(|page| page.status == 303));
    let ended = join_all((0..6).map(add_one)).await;
    assert_eq!(ended.iter().filter(|page| page.status == 303).count(), 3);
    assert_eq!(ended.iter().filter(|page| is_refused(page)).count(), 3);
}

/// The twentieth is added, though the store seems to refuse it: it doesn't block itself.
#[tokio::test]
async fn the_last_endpoint_there_is_room_for_is_added_also_when_the_answer_is_lost() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let person = org.admin("Ines Duarte").await;
    let shaky = Shaky::beside(&org);
    let admin = shaky.browser_of(&person).await;
    let receiver = Receiver::new().await;
    for _ in 0..19 {
        assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 303);
    }
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("#ENDPOINTS").times(1), Fault::LateCommit);
    let added = add(&admin, &receiver.url(), &[]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    assert!(tests::subscriber::secret_on(&admin.get(added.location()).await).is_some(), "the secret is shown");
    assert_eq!(add(&admin, &receiver.url(), &[]).await.status, 422);
}

#[derive(Debug)]
struct Form {
    path: String,
    fields: Vec<(String, String)>,
}

fn form_of(path: &str, token: &str, fields: &[(&str, &str)]) -> Form {
    let all = std::iter::once(("form_token", token)).chain(fields.iter().copied());
    let fields = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Form { path: path.to_owned(), fields }
}

fn forms(subscriber: &Subscriber, event: EventId, token: &str) -> Vec<Form> {
    let edit = form_of(&format!("{}/edit", subscriber.path()), token, &[("url", "https://8.8.8.8/")]);
    let replay = form_of(&subscriber.delivery_path(event), token, &[]);
    let buttons = ["test", "pause", "resume", "rotate", "delete", "replay"];
    let press = |act: &str| form_of(&subscriber.path(), token, &[("act", act), ("since", "2026-01-01T00:00")]);
    [edit, replay].into_iter().chain(buttons.map(press)).collect()
}

async fn send(browser: &Browser, Form { path, fields }: &Form, headers: &[(&str, &str)]) -> Page {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post_with(path, &fields, headers).await
}

#[tokio::test]
async fn only_admins_of_the_organization_come_near() {
    let (org, other) = (Org::with(Needs::SHARED.with_stream()).await, Org::with(Needs::SHARED.with_stream()).await);
    let subscriber = org.subscriber().await;
    let event = subscriber.test().await;
    subscriber.wait_for(&org, event, "delivered").await;
    let edit = format!("{}/edit", subscriber.path());
    let delivery = subscriber.delivery_path(event);
    // An attempt's outcome is noted a moment after it.
    let noted = async || subscriber.admin.get(&subscriber.path()).await.says(">Working</span>").then_some(());
    eventually("the success is noted", noted).await;
    let before = org.state().await;

    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let token = member.get("/app").await.hidden("form_token");
    for path in [DEVELOPERS, &subscriber.path(), &edit, &delivery] {
        assert_eq!(member.get(path).await.status, 403, "{path}");
    }
    let add = form_of(DEVELOPERS, &token, &[("url", &subscriber.receiver.url())]);
    for post in forms(&subscriber, event, &token).iter().chain([&add]) {
        assert_eq!(send(&member, post, &[]).await.status, 403, "{post:?}");
    }

    let stranger = Browser::of(&other, &other.admin("Noor Haddad").await).await;
    let token = stranger.get("/app").await.hidden("form_token");
    for path in [&subscriber.path(), &edit, &delivery] {
        assert_eq!(stranger.get(path).await.status, 404, "{path}");
    }
    for post in &forms(&subscriber, event, &token) {
        assert_eq!(send(&stranger, post, &[]).await.status, 404, "{post:?}");
    }
    assert!(!stranger.get(DEVELOPERS).await.says(&subscriber.receiver.url()));

    let own = subscriber.admin.get(&subscriber.path()).await.hidden("form_token");
    for post in &forms(&subscriber, event, &token) {
        assert_eq!(send(&subscriber.admin, post, &[]).await.status, 403, "a token of another session: {post:?}");
    }
    for post in &forms(&subscriber, event, &own) {
        let cross = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")];
        assert_eq!(send(&subscriber.admin, post, &cross).await.status, 403, "from elsewhere: {post:?}");
    }

    let anybody = Browser::new(org.base_url());
    for post in &forms(&subscriber, event, &own) {
        let answer = send(&anybody, post, &[]).await;
        assert!(answer.status == 303 && answer.location().starts_with("/app/sign-in"), "{post:?}: {answer:?}");
    }
    let after: Vec<Value> = org.state().await;
    let without_members = |rows: Vec<Value>| {
        rows.into_iter().filter(|row| !row["pk"].as_str().unwrap().ends_with("#MEMBERS")).collect::<Vec<_>>()
    };
    assert_eq!(without_members(after), without_members(before));

    let person = org.admin("Ines Duarte").await;
    for path in [DEVELOPERS.to_owned(), subscriber.path(), edit, delivery] {
        let browser = Browser::new(org.base_url());
        let away = browser.get(&path).await;
        assert_eq!(away.status, 303);
        let next = away.location().strip_prefix("/app/sign-in?next=").expect("the form").to_owned();
        let back = browser.sign_in(&person.email, &person.password, &next).await;
        assert_eq!((back.status, back.location()), (303, path.as_str()));
        assert_eq!(browser.get(&path).await.status, 200);
    }
}

#[tokio::test]
async fn each_act_is_on_record_once_with_what_it_was_about() {
    let org = Org::with(Needs::SHARED.with_stream()).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let receiver = Receiver::new().await;
    let added = add(&admin, &receiver.url(), &[]).await;
    let id = added.location().rsplit('/').next().unwrap().to_owned();
    let secret = tests::subscriber::secret_on(&admin.get(added.location()).await).expect("the secret");
    let subscriber = Subscriber { admin, id: id.parse().unwrap(), secret, receiver };
    let tested = subscriber.press("test", &[]).await;
    let event = tested.location().rsplit('/').next().unwrap().to_owned();
    subscriber.receiver.wait_for(1).await;
    subscriber.wait_for(&org, event.parse().unwrap(), "delivered").await;
    let acts = [
        ("add_endpoint", added, vec![&id]),
        ("send_test_event", tested, vec![&id, &event]),
        ("edit_endpoint", subscriber.edit(&subscriber.receiver.url(), &["proposal.created"]).await, vec![&id]),
        ("replay_delivery", subscriber.replay(&event).await, vec![&id, &event]),
        ("pause_endpoint", subscriber.press("pause", &[]).await, vec![&id]),
        ("resume_endpoint", subscriber.press("resume", &[]).await, vec![&id]),
        ("rotate_secret", subscriber.press("rotate", &[("old", "keep")]).await, vec![&id]),
        ("replay_undelivered", subscriber.press("replay", &[("since", "2026-01-01T00:00")]).await, vec![&id]),
        ("delete_endpoint", subscriber.press("delete", &[]).await, vec![&id]),
    ];
    let audit = rows::audit(org.stack().table(), org.id).await;
    for (operation, page, objects) in acts {
        assert_eq!(page.status, 303, "{operation}: {}", page.body);
        let call = page.headers["x-request-id"].to_str().unwrap();
        let rows: Vec<&Value> = audit.iter().filter(|row| row["sk"] == call).collect();
        assert_eq!(rows.len(), 1, "{operation}");
        assert_eq!((&rows[0]["operation"], &rows[0]["code"]), (&operation.into(), &"ok".into()));
        let named: BTreeSet<String> = rows::objects(rows[0]).into_iter().collect();
        assert_eq!(named, objects.into_iter().cloned().collect(), "{operation}");
        assert_eq!(audit.iter().filter(|row| row["operation"] == operation).count(), 1, "{operation}");
    }
}

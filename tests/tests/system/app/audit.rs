//! The audit log: members see every call and act, filter them, page through them, and export them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::limits;
use tests::app::{Browser, Page};
use tests::attending::Live;
use tests::pages::{self, WAITS_MAX};
use tests::{Needs, Org, log};

use super::pages::AUDIT_BYTES_MAX;
use crate::unknown_id;

const AUDIT: &str = "/app/audit";
const CONTACTS: &str = "/api/v1/contacts";

async fn member() -> (Org, Browser) {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Ines Duarte").await).await;
    (org, browser)
}

fn details(page: &Page, title: &str) -> Vec<String> {
    let parts = page.body.split("<dt>").filter_map(|part| part.strip_prefix(title)?.strip_prefix("</dt><dd>"));
    parts.filter_map(|part| Some(part.split('<').next()?.to_owned())).collect()
}

fn operations(page: &Page) -> Vec<String> {
    details(page, "Operation")
}

fn request_ids(page: &Page) -> Vec<String> {
    details(page, "Request id")
}

fn link(page: &Page, text: &str) -> Option<String> {
    let before = page.body.split(&format!("\">{text}</a>")).next().filter(|before| before.len() < page.body.len())?;
    Some(before.rsplit("href=\"").next()?.replace("&#38;", "&"))
}

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

/// While a deployment's parameter grows: rows of before are in the one shard that there was.
#[tokio::test]
async fn the_rows_of_all_shards_are_one_log_in_the_order_of_time() {
    const BEFORE: usize = 4;
    const AFTER: usize = 70;
    let org = Org::with(Needs::OWN.without_background()).await;
    let person = org.member("Ines Duarte").await;
    let grown = org.stack().on_most_shards(1);
    let browser = Browser::new(&grown.base_url);
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    let mut calls = Vec::new();
    for n in 0..BEFORE + AFTER {
        let body = json!({"display_name": format!("Person {n}"), "kind": "person"});
        let call = if n < BEFORE { org.post(CONTACTS, &body) } else { org.at(&grown).post(CONTACTS, &body) };
        let answer = call.send().await;
        assert_eq!(answer.status, 201, "{answer}");
        calls.insert(0, answer.request_id());
    }
    let partitions: BTreeSet<u8> = calls.iter().map(|id| shard_of(id)).collect();
    assert!(partitions.len() > 8, "{partitions:?}");

    let mut page = browser.get(&format!("{AUDIT}?operation=create_contact")).await;
    let mut shown = request_ids(&page);
    assert_eq!(shown.len(), limits::AUDIT_PAGE_ROWS);
    page = browser.get(&link(&page, "Older").expect("a link")).await;
    shown.extend(request_ids(&page));
    assert_eq!(shown, calls);
}

fn shard_of(request_id: &str) -> u8 {
    request_id.parse::<shared::domain::ids::RequestId>().expect("an id").audit_shard()
}

#[tokio::test]
async fn every_call_and_act_is_shown_with_who_did_what_when_and_plain_views_are_not() {
    let (org, browser) = member().await;
    let ada = org.contact("Ada Okafor").await;
    let harbor = org.workspace("Harbor <b>Street</b>").await;
    org.post(format!("/api/v1/workspaces/{}/contacts", id(&harbor)), &json!({"contact_id": id(&ada)}))
        .send()
        .await
        .ok(201);
    let refused = org.read_only().post(CONTACTS, &json!({})).send().await;
    refused.refused(403);
    let token = browser.get("/app").await.hidden("form_token");
    browser.post(&format!("/app/workspaces/{}", id(&harbor)), &[("form_token", &token)]).await;
    assert_eq!(browser.get("/app/developers").await.status, 403);

    let page = browser.get(AUDIT).await;
    assert_eq!(page.status, 200);
    let expected = [
        "view_developers",
        "activate_workspace",
        "create_contact",
        "add_workspace_contact",
        "create_workspace",
        "create_contact",
        "sign_in",
    ];
    assert_eq!(operations(&page), expected, "newest first, without the views that succeeded");
    for text in [
        "Created a contact",
        "Integration (over the API)",
        "Reader (over the API)",
        "Ines Duarte",
        "Harbor &#60;b&#62;Street&#60;/b&#62;",
        &format!("href=\"/app/contacts/{}\"", id(&ada)),
        &format!("href=\"/app/workspaces/{}\"", id(&harbor)),
        ">Refused</span>",
        "403 forbidden",
        "201 ok",
        "aria-current=\"page\">Audit</a>",
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert_eq!(request_ids(&page)[2], refused.request_id(), "the id that support asks for");
    // Reading the log takes as few round trips as any page.
    let request_id = page.headers["x-request-id"].to_str().expect("an id").to_owned();
    let line = log::line(org.stack().log_file(), &request_id).await;
    assert!(line["round_trips"].as_u64().is_some_and(|trips| trips <= 5), "{line}");
}

#[tokio::test]
async fn the_log_is_filtered_by_actor_operation_object_outcome_and_days() {
    let (org, browser) = member().await;
    let ada = org.contact("Ada").await;
    let ben = org.contact("Ben").await;
    org.patch(format!("{CONTACTS}/{}", id(&ada)), &json!({"kind": "llc"})).send().await.ok(200);
    org.read_only().get(format!("{CONTACTS}/{}", id(&ben))).send().await.ok(200);
    org.get(format!("{CONTACTS}/{}", unknown_id())).send().await.refused(404);
    let shown = async |filter: String| {
        let page = browser.get(&format!("{AUDIT}?{filter}")).await;
        assert_eq!(page.status, 200, "{filter}");
        operations(&page)
    };
    let reader = org.read_only_token.id;
    assert_eq!(shown(format!("actor={reader}")).await, ["get_contact"]);
    assert_eq!(shown("operation=update_contact".to_owned()).await, ["update_contact"]);
    assert_eq!(shown(format!("object={}", id(&ada))).await, ["update_contact", "create_contact"]);
    assert_eq!(shown(format!("object={reader}")).await, ["get_contact"], "what a token did is about it");
    assert_eq!(shown("outcome=refused".to_owned()).await, ["get_contact"]);
    assert_eq!(shown(format!("object={}&operation=create_contact", id(&ben))).await, ["create_contact"]);
    assert_eq!(shown(format!("actor={}", unknown_id())).await, [""; 0]);
    assert_eq!(shown("operation=move_stage".to_owned()).await, [""; 0], "one that nobody called");
    assert_eq!(shown("from=2020-01-01&to=2020-01-07".to_owned()).await, [""; 0]);
    assert_eq!(shown("from=2020-01-01&actor=&operation=&object=&outcome=".to_owned()).await.len(), 6);
    let page = browser.get(&format!("{AUDIT}?actor={reader}&outcome=success")).await;
    assert!(page.says(&format!("<option value=\"{reader}\" selected>Reader")), "{}", page.body);
    assert!(page.says("<option value=\"success\" selected>"), "{}", page.body);
    let page = browser.get(&format!("{AUDIT}?object={}", id(&ada))).await;
    assert!(page.says("These are the rows about “Ada”.") && page.says("<title>Audit of Ada, "), "{}", page.body);
    let contact = browser.get(&format!("/app/contacts/{}", id(&ada))).await;
    assert_eq!(link(&contact, "Audit trail"), Some(format!("{AUDIT}?object={}", id(&ada))));
}

#[tokio::test]
async fn a_wrong_filter_is_refused_at_its_field_and_a_wrong_position_as_a_whole() {
    let (org, browser) = member().await;
    let other = Org::new().await;
    let theirs = other.contact("Theirs").await;
    let ada = org.contact("Ada").await;
    for (filter, error) in [
        ("from=yesterday", "from-error"),
        ("to=2026-02-30", "to-error"),
        ("from=2026-02-03&to=2026-02-02", "to-error"),
        ("object=nothing+has+this", "object-error"),
        ("object=a%01b", "object-error"),
        ("outcome=fine", "There is no such choice"),
        ("actor=x", "There is no such choice"),
        ("operation=%3Cscript%3E", "operation-error"),
        ("operation=nothing+that+is+logged", "operation-error"),
    ] {
        let page = browser.get(&format!("{AUDIT}?{filter}")).await;
        assert_eq!(page.status, 422, "{filter}");
        assert!(page.says(error) && page.says("<title>Error: Audit"), "{filter}: {}", page.body);
        assert!(operations(&page).is_empty() && page.has_only_own_script(), "{filter}");
        let export = browser.get(&format!("{AUDIT}/export?{filter}")).await;
        assert_eq!(export.status, 303, "{filter}");
        assert_eq!(browser.get(export.location()).await.status, 422, "{filter}");
    }
    let all = operations(&browser.get(AUDIT).await);
    let page = browser.get(&format!("{AUDIT}?before=")).await;
    assert!(page.status == 200 && operations(&page).ends_with(&all), "{}", page.body);
    let garbage = format!("{}'", unknown_id());
    for position in ["x", "%00", garbage.as_str()] {
        for page in [AUDIT.to_owned(), format!("{AUDIT}/export")] {
            let page = browser.get(&format!("{page}?before={position}")).await;
            assert!(page.status == 422 && operations(&page).is_empty(), "{position}: {}", page.body);
        }
    }
    let call = other.get(CONTACTS).send().await.request_id();
    for page in [
        browser.get(&format!("{AUDIT}?before={call}")).await,
        browser.get(&format!("{AUDIT}?object={}", id(&theirs))).await,
        browser.get(&format!("{AUDIT}?actor={}", other.token.id)).await,
    ] {
        assert_eq!(page.status, 200);
        assert!(!page.says("Theirs") && !request_ids(&page).contains(&call), "{}", page.body);
    }
    assert!(browser.get(AUDIT).await.says(&format!("/app/contacts/{}", id(&ada))));
    assert!(Browser::new(org.base_url()).get(AUDIT).await.location().starts_with("/app/sign-in"));
}

#[tokio::test]
async fn an_operation_is_found_by_its_id_or_a_word_of_it() {
    let (org, browser) = member().await;
    org.contact("Ada Okafor").await;
    org.get(CONTACTS).send().await.ok(200);
    let named = "Created a contact";
    let page = browser.get(AUDIT).await;
    assert!(page.says(&format!("<option value=\"{named}\">")), "the filter suggests what was logged: {}", page.body);
    for typed in ["create_contact", "created+A+contact"] {
        let page = browser.get(&format!("{AUDIT}?operation={typed}")).await;
        assert_eq!((page.status, operations(&page)), (200, vec!["create_contact".to_owned()]), "{typed}");
        assert!(page.says(&format!("value=\"{named}\"")), "{}", page.body);
        assert!(page.says("/export?") && page.says("operation=create_contact"), "{}", page.body);
    }
    // A word shows all that have it. Each can be chosen alone, and the other filters stay.
    let page = browser.get(&format!("{AUDIT}?operation=contact&outcome=success")).await;
    assert_eq!((page.status, operations(&page)), (200, vec!["list_contacts".to_owned(), "create_contact".to_owned()]));
    assert!(page.says(" operations have “contact”: show one") && page.says("value=\"contact\""), "{}", page.body);
    assert!(page.says(">Integration (over the API)</option>"), "its actors can be chosen: {}", page.body);
    assert!(page.body.len() <= AUDIT_BYTES_MAX && !page.says("create_contact</span>"), "{}", page.body);
    let chosen = link(&page, "Created a contact").expect("a link");
    assert!(chosen.contains("operation=Created%20a%20contact&outcome=success"), "{chosen}");
    assert_eq!(operations(&browser.get(&chosen).await), ["create_contact"]);
    let export = browser.get(&format!("{AUDIT}/export?operation=contact")).await;
    assert_eq!(export.status, 200, "{}", export.body);
    assert!(export.says("create_contact") && export.says("list_contacts"), "{}", export.body);
}

#[tokio::test]
async fn an_object_is_found_by_its_id_a_link_to_it_or_a_part_of_its_name() {
    let (org, browser) = member().await;
    let ada = org.contact("Ada Okafor").await;
    let ben = org.contact("Ben Okafor <b>").await;
    let of_ada = format!("{AUDIT}?object={}", id(&ada));
    for typed in [
        format!("%20{}%20", id(&ada)),
        format!("%2Fapp%2Fcontacts%2F{}", id(&ada)),
        format!("https%3A%2F%2Fdeals.example%2Fapp%2Fcontacts%2F{}%3Fa%3Db%23top", id(&ada)),
    ] {
        let page = browser.get(&format!("{AUDIT}?object={typed}")).await;
        assert_eq!(page.status, 200, "{typed}");
        assert_eq!(operations(&page), ["create_contact"], "{typed}: {}", page.body);
        assert!(page.says(&format!("value=\"{}\"", id(&ada))), "{}", page.body);
    }
    // A unique name leads to that object's log. The other filters and the days stay.
    let page = browser.get(&format!("{AUDIT}?object=aDA&outcome=success")).await;
    assert_eq!((page.status, page.location()), (303, format!("{of_ada}&outcome=success").as_str()));
    assert!(browser.get(&of_ada).await.says("These are the rows about “Ada Okafor”."));
    let page = browser.get(&format!("{AUDIT}?object=okafor")).await;
    assert_eq!((page.status, operations(&page).len()), (200, 0), "{}", page.body);
    assert!(page.says("<title>Choose an object: Audit") && page.says("Several names have “okafor”"), "{}", page.body);
    assert_eq!(link(&page, "Ada Okafor"), Some(of_ada));
    assert_eq!(link(&page, "Ben Okafor &#60;b&#62;"), Some(format!("{AUDIT}?object={}", id(&ben))));
    let export = browser.get(&format!("{AUDIT}/export?object=okafor")).await;
    assert!(browser.get(export.location()).await.says("Several names have “okafor”"), "{}", export.body);
    for n in 0..limits::SEARCH_ROWS_MAX {
        org.contact(&format!("Okafor {n}")).await;
    }
    assert!(browser.get(&format!("{AUDIT}?object=okafor")).await.says("And 2 more."));
    let theirs = Org::new().await;
    theirs.contact("Zebulon").await;
    let page = browser.get(&format!("{AUDIT}?object=zebulon")).await;
    assert_eq!(page.status, 422);
    assert!(page.says("Nothing has this in its name.") && page.says("value=\"zebulon\""), "{}", page.body);
    for page in [format!("{AUDIT}?object=okafor"), format!("{AUDIT}?object=zebulon")] {
        assert!(pages::waits(&org, &browser, &page).await <= WAITS_MAX, "{page}");
    }
}

#[tokio::test]
async fn days_and_times_are_those_of_the_organization_s_zone() {
    let org = Org::new().await;
    let admin = Browser::of(&org, &org.admin("Kim Sato").await).await;
    org.contact("Ada").await;
    // A zone where the date differs from UTC's now, and for the next hours.
    let now = Timestamp::now();
    let hour = now.unix_s().rem_euclid(24 * 3600) / 3600;
    let name = if hour >= 10 { "Pacific/Kiritimati" } else { "Pacific/Niue" };
    let token = admin.get("/app").await.hidden("form_token");
    let form = [("form_token", token.as_str()), ("name", "Harbor"), ("time_zone", name)];
    assert_eq!(admin.post("/app/organization", &form).await.status, 303);

    let zone = TimeZone::parse(name).expect("a zone");
    let (today, in_utc) = (zone.day_of(now).to_string(), now.day());
    assert_ne!(today, in_utc);
    let page = admin.get(AUDIT).await;
    let shown = zone.day_of(now).for_people();
    assert!(page.says(&format!("maxlength=\"60\" value=\"{shown}\" aria-describedby=\"to-hint\"")), "{}", page.body);
    assert!(page.says(&format!("Days and times are in {}", zone.called())), "{}", page.body);
    let day = zone.for_people(now).split(',').next().expect("a day").to_owned();
    let times = page.body.split("<time ").skip(1).map(|time| time.split("</time>").next().unwrap_or_default());
    let times: Vec<&str> = times.collect();
    assert_eq!(times.len(), operations(&page).len());
    // The title has the time in UTC.
    let is_of_zone = |time: &&str| time.contains(&format!("\">{day}, ")) && time.contains(" UTC\">");
    assert!(times.iter().all(is_of_zone), "{times:?}");

    let on = async |day: &str, page: &str| admin.get(&format!("{AUDIT}{page}?from={day}&to={day}")).await;
    assert!(operations(&on(&today, "").await).contains(&"create_contact".to_owned()));
    assert_eq!(operations(&on(&in_utc, "").await), [""; 0], "the day in UTC is another one");
    let export = on(&today, "/export").await;
    let created = export.body.lines().find(|line| line.contains(",create_contact,")).expect("a row");
    assert!(created.starts_with(&in_utc) && created.split(',').next().is_some_and(|at| at.ends_with('Z')), "{created}");
    assert_eq!(on(&in_utc, "/export").await.body.lines().count(), 1, "the head alone");
}

#[tokio::test]
async fn the_log_goes_on_where_a_page_ends_and_says_how_far_it_looked() {
    let (org, browser) = member().await;
    let first = org.contact("Ada").await;
    let calls = limits::AUDIT_PAGE_ROWS + 5;
    for _ in 0..calls {
        org.get("/api/v1/me").send().await.ok(200);
    }
    let page = browser.get(AUDIT).await;
    assert_eq!(operations(&page).len(), limits::AUDIT_PAGE_ROWS);
    assert!(!page.says("Looked back to"), "{}", page.body);
    let older = browser.get(&link(&page, "Older").expect("a link")).await;
    assert_eq!(operations(&older).len(), 5 + 2, "the rest, the contact and the sign-in");
    let all: BTreeSet<String> = request_ids(&page).into_iter().chain(request_ids(&older)).collect();
    assert_eq!(all.len(), calls + 2, "no row twice, and none left out");
    assert!(link(&older, "Older").is_none() && link(&older, "Newest").is_some(), "{}", older.body);
    let before = link(&older, "Week before").expect("a link");
    let before = browser.get(&before).await;
    assert!(before.status == 200 && before.says("No calls on these days"), "{}", before.body);

    // Views fill up the reading limit, so that the page stops before it is full.
    let views = usize::try_from(limits::AUDIT_ROWS_READ).expect("a count");
    for _ in 0..views {
        browser.get("/app/contacts").await;
    }
    let page = browser.get(AUDIT).await;
    assert!(page.says("Looked back to") && page.says("Nothing found yet"), "{}", page.body);
    let more = browser.get(&link(&page, "Continue").expect("a link")).await;
    assert_eq!(operations(&more).len(), limits::AUDIT_PAGE_ROWS, "{}", more.body);
    let of_contact = browser.get(&format!("{AUDIT}?operation=create_contact")).await;
    assert_eq!(operations(&of_contact), ["create_contact"]);
    assert!(of_contact.says(id(&first)));
}

#[tokio::test]
async fn the_log_is_exported_as_a_file_that_no_spreadsheet_runs() {
    let org = Org::new().await;
    let person = org.member("=HYPERLINK(\"http://x.example\")").await;
    let browser = Browser::of(&org, &person).await;
    let ada = org.contact("Ada, \"the first\"").await;
    org.read_only().post(CONTACTS, &json!({})).send().await.refused(403);
    let page = browser.get(&format!("{AUDIT}?outcome=success")).await;
    let export = browser.get(&link(&page, "Export CSV").expect("a link")).await;
    assert_eq!(export.status, 200);
    assert_eq!(export.headers["content-type"], "text/csv; charset=utf-8");
    let disposition = export.headers["content-disposition"].to_str().expect("a name");
    assert!(disposition.starts_with("attachment; filename=\"audit-2"), "{disposition}");
    assert!(disposition.contains(".csv\"; "), "{disposition}");
    let lines: Vec<&str> = export.body.split_terminator("\r\n").collect();
    let columns = "time,request_id,actor_type,actor_id,actor_name,operation,what,outcome,status,code,objects,via";
    assert_eq!(lines[0].strip_prefix('\u{feff}'), Some(columns), "a byte order mark, for spreadsheets");
    assert_eq!(lines.len(), 3, "{}", export.body);
    assert!(lines[1].contains(",token,") && lines[1].ends_with(&format!("201,ok,{},", id(&ada))), "{}", lines[1]);
    assert!(lines[2].contains(",\"'=HYPERLINK(\"\"http://x.example\"\")\",sign_in,"), "{}", lines[2]);
    assert!(operations(&browser.get(AUDIT).await).contains(&"export_audit".to_owned()), "an act");
}

#[tokio::test]
async fn participants_are_named_in_the_log_its_filter_and_its_file() {
    let live = Live::new(|draft| draft.stages.truncate(1)).await;
    let [ada, northwind] = live.ids();
    for who in [ada, northwind] {
        live.attend(who).await;
    }
    let page = live.member.get(&format!("{AUDIT}?operation=give_consent")).await;
    assert_eq!(operations(&page), ["give_consent", "give_consent"]);
    for (id, name) in [(ada, "Ada Okafor"), (northwind, "Northwind Robotics, Inc.")] {
        assert!(page.says(&format!("<option value=\"{id}\">{name}</option>")), "{}", page.body);
    }
    assert!(!page.says("A participant"), "{}", page.body);
    let of_ada = format!("{AUDIT}?actor={ada}");
    let page = live.member.get(&of_ada).await;
    assert!(page.says(&format!("<option value=\"{ada}\" selected>Ada Okafor")), "{}", page.body);
    assert!(pages::waits(&live.org, &live.member, &of_ada).await <= WAITS_MAX);
    let export = live.member.get(&format!("{AUDIT}/export?operation=give_consent")).await;
    assert!(export.says(",participant,") && export.says(",Ada Okafor,give_consent,"), "{}", export.body);
}

#[tokio::test]
async fn every_member_can_be_chosen_and_participants_of_one_name_are_told_apart_by_their_agreements() {
    let first = Live::new(|draft| draft.stages.truncate(1)).await;
    let org = &first.org;
    let quiet = org.member("Noor Vance").await.id;
    let ines = Browser::of(org, &org.member("Ines Duarte").await).await;
    let draft = org.ready_draft("Sublease", |draft| draft.stages.truncate(1)).await;
    let second = Live::publish(org.clone(), ines, draft).await;
    let (ada, again) = (first.ids()[0], second.ids()[0]);
    first.attend(ada).await;
    second.attend(again).await;
    let page = first.member.get(&format!("{AUDIT}?operation=give_consent")).await;
    for (id, name) in [(ada, "Ada Okafor (Lease)"), (again, "Ada Okafor (Sublease)")] {
        assert!(page.says(&format!("<option value=\"{id}\">{name}</option>")), "{name}: {}", page.body);
    }
    // Whatever the page has, and where a filter is refused.
    let days = "from=2020-01-01&to=2020-01-07";
    for filter in ["operation=give_consent", days, "from=yesterday", "object=okafor", "object=nothing+has+this"] {
        let page = first.member.get(&format!("{AUDIT}?{filter}")).await;
        assert!(page.says(&format!("<option value=\"{quiet}\">Noor Vance</option>")), "{filter}: {}", page.body);
        let page = first.member.get(&format!("{AUDIT}?{filter}&actor={quiet}")).await;
        assert!(page.says(&format!("<option value=\"{quiet}\" selected>Noor Vance</option>")), "{filter}");
        assert!(pages::waits(org, &first.member, &format!("{AUDIT}?{filter}")).await <= WAITS_MAX, "{filter}");
    }
}

#[tokio::test]
async fn a_removed_member_and_a_revoked_token_keep_their_names() {
    let org = Org::new().await;
    let admin = Browser::of(&org, &org.admin("Kim Sato").await).await;
    let gone = org.member("Noor Vance").await;
    let browser = Browser::of(&org, &gone).await;
    let token = browser.get("/app").await.hidden("form_token");
    browser.post("/app/workspaces", &[("form_token", &token), ("name", "Harbor")]).await;
    let token = admin.get("/app").await.hidden("form_token");
    let removed =
        admin.post("/app/organization/members", &[("form_token", &token), ("member", &gone.id.to_string())]).await;
    assert_eq!(removed.status, 303, "{}", removed.body);
    org.contact("Ada").await;
    org.revoke(org.token.id).await;
    let page = admin.get(&format!("{AUDIT}?operation=create_workspace")).await;
    assert_eq!(operations(&page), ["create_workspace"]);
    assert!(page.says("Noor Vance"), "{}", page.body);
    let page = admin.get(&format!("{AUDIT}?operation=remove_member")).await;
    assert!(page.says("Noor Vance") && page.says("Kim Sato"), "{}", page.body);
    let page = admin.get(&format!("{AUDIT}?actor={}", org.token.id)).await;
    assert!(page.says("Integration (over the API)"), "{}", page.body);
}

#[tokio::test]
async fn the_history_of_an_agreement_says_who_did_what() {
    let (org, browser) = member().await;
    let harbor = org.workspace("Harbor").await;
    let ada = org.person("Ada").await;
    let draft = org.empty_draft(&harbor, "Lease").await;
    let agreement = format!("/app/agreements/{}", id(&draft));
    let part = json!({"contact_id": ada["id"], "roles": ["signer"]});
    org.post(format!("/api/v1/agreements/{}/participants", id(&draft)), &part).send().await.ok(201);
    let cancel = json!({"action": "cancel_agreement", "agreement_id": id(&draft)});
    let first = org.post("/api/v1/proposals", &cancel).send().await.ok(201);
    assert_eq!(browser.decide(&format!("/app/proposals/{}", id(&first)), "decline", "").await.status, 303);
    let second = org.post("/api/v1/proposals", &cancel).send().await.ok(201);
    assert_eq!(browser.decide(&format!("/app/proposals/{}", id(&second)), "confirm", "").await.status, 303);

    let page = browser.get(&agreement).await.body;
    let history = page.split("id=\"acts\"").nth(1).and_then(|rest| rest.split("</section>").next()).expect("a history");
    let (_, drafting) = history.split_once("Show drafting").expect("drafting is not in it");
    assert!(drafting.contains("Added Ada as a participant") && drafting.contains("Drafted"), "{drafting}");
    let acts: Vec<&str> = history.split("<li>").skip(1).filter_map(|act| act.split('<').next()).collect();
    let expected = [
        "Confirmed the cancellation",
        "Proposed to cancel",
        "Declined the cancellation",
        "Proposed to cancel",
        "Added Ada as a participant",
        "Drafted an agreement",
    ];
    let expected: Vec<&str> = expected.iter().map(|act| act.strip_suffix(" an agreement").unwrap_or(act)).collect();
    assert_eq!(acts, expected, "{history}");
    assert!(history.contains("Ines Duarte, ") && history.contains("Integration (over the API), "), "{history}");
    assert!(history.contains(&format!("{AUDIT}?object={}", id(&draft))), "{history}");

    let busy = org.empty_draft(&harbor, "Busy").await;
    let to = format!("/api/v1/agreements/{}/participants", id(&busy));
    for n in 0..limits::ACTS_SHOWN_MAX {
        let contact = org.person(&format!("Person{n}")).await;
        let part = json!({"contact_id": contact["id"], "roles": ["signer"]});
        org.post(&to, &part).send().await.ok(201);
    }
    let page = browser.get(&format!("/app/agreements/{}", id(&busy))).await;
    assert_eq!(page.body.matches("<li>Added Person").count(), limits::ACTS_SHOWN_MAX);
    assert!(!page.says("<li>Drafted") && page.says("Older acts in the audit trail"), "{}", page.body);

    let old = org.ready_draft("Old", |_| {}).await;
    let page = browser.get(&format!("/app/agreements/{}", old.id())).await;
    assert!(page.says("Only drafting so far.") && page.says("Drafted by"), "{}", page.body);
}

#[tokio::test]
async fn a_history_shows_five_lines_and_the_rest_on_demand() {
    let (org, browser) = member().await;
    let draft = org.empty_draft(&org.workspace("Harbor").await, "Lease").await;
    let cancel = json!({"action": "cancel_agreement", "agreement_id": id(&draft)});
    let propose = async || org.post("/api/v1/proposals", &cancel).send().await.ok(201);
    for _ in 0..3 {
        let proposal = propose().await;
        let declined = browser.decide(&format!("/app/proposals/{}", id(&proposal)), "decline", "").await;
        assert_eq!(declined.status, 303, "{}", declined.body);
    }
    propose().await;

    let page = browser.get(&format!("/app/agreements/{}", id(&draft))).await.body;
    let (_, history) = page.split_once("id=\"acts\"").expect("a history");
    let (history, _) = history.split_once("Show drafting").expect("drafting is not in it");
    let (shown, more) = history.split_once("<summary>Show 2 more</summary>").expect("the two oldest of seven acts");
    assert_eq!([shown, more].map(|lines| lines.matches("<li>").count()), [5, 2], "{history}");
    assert!(shown.contains("<details class=\"more-acts\">"), "they are folded away: {history}");
    let at = |did: &str| shown.find(did).unwrap_or_else(|| panic!("{did}: {shown}"));
    assert!(at("<li>Proposed to cancel") < at("<li>Declined the cancellation"), "the newest first: {shown}");
}

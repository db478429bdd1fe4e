//! Times on pages stand in the organization's zone, and dates are typed and shown as its region writes them.

use tests::Org;
use tests::app::{Browser, unescaped};
use tests::attending::Live;

async fn move_to(org: &Org, zone: &str) {
    let admin = Browser::of(org, &org.admin("Kim Sato").await).await;
    let token = admin.get("/app").await.hidden("form_token");
    let settings = [("form_token", token.as_str()), ("name", "Harbor"), ("time_zone", zone)];
    assert_eq!(admin.post("/app/organization", &settings).await.status, 303);
}

#[tokio::test]
async fn one_deadline_stands_in_the_organization_s_zone_for_members_and_participants() {
    let live = Live::new(|draft| draft.expires_at = Some("2031-12-31T22:00:00Z".parse().expect("a moment"))).await;
    let ada = live.attend(live.ids()[0]).await;
    for (zone, text, utc) in [
        ("America/New_York", "Dec 31, 2031, 5:00 PM EST", " title=\"31 Dec 2031, 22:00 UTC\""),
        ("Europe/Berlin", "31 Dec 2031, 23:00 CET", " title=\"31 Dec 2031, 22:00 UTC\""),
        ("UTC", "31 Dec 2031, 22:00 UTC", ""),
    ] {
        move_to(&live.org, zone).await;
        let time = format!("<time datetime=\"2031-12-31T22:00:00.000Z\"{utc}>{text}</time>");
        for page in [live.member.get(&live.path()).await, ada.get("").await] {
            assert!(page.says(&time), "{zone}: {}", page.body);
            // Every other time of the page is in that zone too.
            let ending = format!(" {}</time>", text.rsplit(' ').next().unwrap_or_default());
            let times: Vec<&str> =
                page.body.split_inclusive("</time>").filter(|part| part.contains("<time ")).collect();
            for time in times {
                // Those of another season have the zone's other name.
                assert!(time.ends_with(&ending) || (zone != "UTC" && !time.ends_with(" UTC</time>")), "{zone}: {time}");
            }
        }
    }
}

#[tokio::test]
async fn dates_are_typed_in_the_order_of_the_region_and_never_in_the_other() {
    let org = Org::new().await;
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let path = format!("/app/agreements/{}/details", draft.id());
    let save = async |typed: &str| {
        let page = member.get(&path).await;
        let seen = page.body.split("name=\"seen\" value=\"").nth(2).and_then(|rest| rest.split('"').next());
        let token = page.hidden("form_token");
        let form =
            [("form_token", token.as_str()), ("act", "expiry"), ("seen", seen.expect("seen")), ("expires_at", typed)];
        member.post(&path, &form).await
    };
    for (zone, called, order, examples, read, refused, shown) in [
        (
            "America/New_York",
            "EST/EDT",
            "month",
            "Nov 26, 2026 5pm or 11/26/2026",
            ["11/26/2031 5pm", "Nov 26, 2031 17:00", "26 Nov 2031 5pm", "2031-11-26 17:00"],
            ["26/11/2031", "26.11.2031", "soon"],
            "Nov 26, 2031, 5:00 PM",
        ),
        (
            "Europe/Berlin",
            "CET/CEST",
            "day",
            "26 Nov 2026 17:00 or 26/11/2026",
            ["26/11/2031 17:00", "26.11.2031 5pm", "Nov 26, 2031 17:00", "2031-11-26 17:00"],
            ["11/26/2031", "11.26.2031", "soon"],
            "26 Nov 2031, 17:00",
        ),
    ] {
        move_to(&org, zone).await;
        for typed in read {
            assert_eq!(save(typed).await.status, 303, "{zone}: {typed}");
            let page = member.get(&path).await;
            assert!(page.says(&format!("value=\"{shown}\"")), "{zone}: {typed}: {}", page.body);
            let hint = format!("Such as {examples}, in the time zone {called}.");
            assert!(page.says(&hint), "the hint shows it: {}", page.body);
            // The script shows the calendar; without it, nothing that does nothing is there.
            let calendar = format!(
                "<button type=\"button\" data-calendar=\"{order}\" aria-label=\"Choose from a calendar: Expires\" hidden>"
            );
            assert!(page.says(&calendar), "{}", page.body);
        }
        for typed in refused {
            let page = save(typed).await;
            let error = format!("Expires must be a date, with a time of day if it matters, such as {examples}.");
            assert_eq!(page.status, 422, "{zone}: {typed}");
            assert!(unescaped(&page.body).contains(&error), "{zone}: {typed}: {}", page.body);
            assert!(page.says(&format!("value=\"{typed}\"")), "what was typed stays: {}", page.body);
        }
    }
}

#[tokio::test]
async fn no_page_asks_for_a_date_in_the_order_of_the_browser() {
    let org = Org::new().await;
    let admin = Browser::of(&org, &org.admin("Kim Sato").await).await;
    for (path, bytes_max) in [("/app/audit", 16_000), ("/app/organization", 60_000), ("/app/money", 60_000)] {
        let page = admin.get(path).await;
        assert!(!page.says("type=\"date") && page.body.len() < bytes_max, "{path}: {} bytes", page.body.len());
    }
}

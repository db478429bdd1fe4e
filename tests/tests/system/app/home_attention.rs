//! What needs attention on Home: declines, then answers, then the rest; what closes soon; all on request.

use shared::domain::time::Timestamp;
use tests::Org;
use tests::app::{Browser, Page, unescaped};
use tests::attending::{Attendee, link_of};

fn lines(page: &Page, id: &str) -> Vec<String> {
    let body = unescaped(&page.body);
    let Some((_, section)) = body.split_once(&format!("<h2 id=\"{id}\">")) else { return Vec::new() };
    let section = section.split("</section>").next().unwrap_or_default();
    section.split("<li class=\"row\">").skip(1).map(str::to_owned).collect()
}

async fn publish(
    org: &Org,
    browser: &Browser,
    name: &str,
    expires_at: Option<Timestamp>,
) -> shared::domain::agreement::Agreement {
    let draft = org.ready_draft(name, |draft| draft.expires_at = expires_at).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let path = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(browser.decide(&path, "confirm", "").await.status, 303);
    draft
}

#[tokio::test]
async fn who_has_declined_comes_first_also_when_the_agreement_closes_soon() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let mut ours = Vec::new();
    for n in 0..6 {
        let draft = publish(&org, &browser, &format!("Old lease {n}"), None).await;
        ours.push(draft.participants[0].contact_id.to_string());
    }
    org.acts_as(&ours.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let soon = Timestamp::now().plus_seconds(24 * 3600);
    let fresh = publish(&org, &browser, "Fresh sale", Some(soon)).await;
    let quiet = publish(&org, &browser, "Quiet sale", Some(soon)).await;
    let page = browser.get("/app").await;
    assert_eq!(lines(&page, "closing").len(), 2, "others are waited for: {}", page.body);

    let participant = fresh.participants[0].id;
    let link = link_of(&browser, fresh.id(), participant).await;
    let ada = Attendee { browser: Browser::new(org.base_url()), participant };
    assert_eq!(ada.follow(&link).await.status, 303);
    assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
    let condition = format!("/conditions/{}", fresh.stages[0].gates[0].id);
    let done = ada.submit(&condition, &format!("{condition}/decline"), &[("reason", "Too late")]).await;
    assert_eq!(done.status, 303, "{}", done.body);

    let page = browser.get("/app").await;
    let closing = lines(&page, "closing");
    assert!(closing.len() == 1 && closing[0].contains("Quiet sale"), "{closing:?}");
    assert!(closing[0].contains(&quiet.id().to_string()), "{closing:?}");
    let attention = lines(&page, "needs");
    assert_eq!(attention.len(), 5, "{attention:?}");
    assert!(attention[0].contains("Fresh sale") && attention[0].contains(">Declined</span>"), "{attention:?}");
    assert!(
        attention[0].contains(&format!("expires {}", soon.for_people().split(',').next().unwrap_or_default())),
        "{attention:?}"
    );
    for (line, n) in attention[1..].iter().zip(0..) {
        assert!(line.contains(&format!("Old lease {n}")) && line.contains("Your turn"), "{attention:?}");
    }
    // All are listed and marked, and no list is without marks.
    assert!(page.says("href=\"/app?attention=all#needs\">2 more agreements</a>"), "{}", page.body);
    let all = browser.get("/app?attention=all").await;
    let attention = lines(&all, "needs");
    assert!(attention.len() == 7 && attention.iter().all(|line| line.contains("class=\"badge")), "{attention:?}");
    assert!(!all.says("more agreements"), "{}", all.body);
}

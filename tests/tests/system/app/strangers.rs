//! Every form of the app, sent by someone else: another organization's admin, and a member who isn't an admin.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::Org;
use tests::app::Browser;
use tests::pages::{Form, Furnished, crawl, furnish};

async fn forms(org: &Org, admin: &Browser) -> BTreeSet<Form> {
    crawl(org, admin).await.into_iter().flat_map(|visit| visit.forms).collect()
}

async fn state(org: &Org) -> Vec<Value> {
    let mut rows = org.state().await;
    let is_of_background = |row: &Value| ["DELIVERY", "HEALTH"].iter().any(|part| row["pk"].to_string().contains(part));
    rows.retain(|row| !is_of_background(row));
    rows
}

#[tokio::test]
async fn no_form_reaches_another_organization() {
    let org = Org::new().await;
    let Furnished { subscriber, .. } = furnish(&org).await;
    let forms = forms(&org, &subscriber.admin).await;
    let with_ids: Vec<&Form> = forms.iter().filter(|form| form.ids().next().is_some()).collect();
    assert!(with_ids.len() > 50, "{}", with_ids.len());
    let before = state(&org).await;

    let other = Org::new().await;
    let stranger = Browser::of(&other, &other.admin("Otto Brandt").await).await;
    let token = stranger.get("/app").await.hidden("form_token");
    for form in with_ids {
        let answer = form.send(&stranger, &token).await;
        assert!([404, 422].contains(&answer.status), "{form:?}: {} {}", answer.status, answer.body);
        // Nothing named in the path exists; a record in a field may be refused at the field.
        let is_in_path = form.action.split('/').any(|part| form.ids().any(|id| id == part));
        assert!(!is_in_path || answer.status == 404, "{form:?}: {}", answer.status);
    }
    assert_eq!(state(&org).await, before);
}

#[tokio::test]
async fn no_form_of_admins_works_for_a_member() {
    let org = Org::new().await;
    let Furnished { subscriber, .. } = furnish(&org).await;
    let forms = forms(&org, &subscriber.admin).await;
    let is_of_admins =
        |form: &&Form| ["/app/organization", "/app/developers"].iter().any(|path| form.action.starts_with(path));
    // Any member may name the organization's accounts.
    let is_of_members = |form: &&Form| form.action.starts_with("/app/organization/accounts");
    let of_admins: Vec<&Form> = forms.iter().filter(is_of_admins).filter(|form| !is_of_members(form)).collect();
    assert!(of_admins.len() > 10, "{of_admins:#?}");
    let member = Browser::of(&org, &org.member("Otto Brandt").await).await;
    let token = member.get("/app").await.hidden("form_token");
    let before = state(&org).await;
    for form in of_admins {
        let answer = form.send(&member, &token).await;
        assert_eq!(answer.status, 403, "{form:?}: {}", answer.body);
    }
    assert_eq!(state(&org).await, before);
}

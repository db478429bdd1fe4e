//! A second factor ends: turned off, or reset by an admin, an operator or a link.

use super::*;

#[tokio::test]
async fn turning_off_takes_the_password_and_a_code() {
    let guarded = Guarded::new().await;
    let password = guarded.person.password.as_str();
    let code = guarded.code(0);
    for (password, code, error) in [
        ("wrong", code.as_str(), "Current password is incorrect."),
        (password, "000", "Code must have 6 digits, or be a recovery code."),
        (password, "aaaa-aaaa-aaaa-aaaa", WRONG),
    ] {
        let page = send(&guarded.browser, TURN_OFF, &[("current_password", password), ("turn_off_code", code)]).await;
        assert!(page.status == 422 && page.says(error), "{error}: {}", page.body);
        assert!(page.says("<details class=\"confirm\" open>") && page.says("autofocus"), "{}", page.body);
    }
    let elsewhere = guarded.halfway().await;
    assert_eq!(send_code(&elsewhere, "recovery_code", &guarded.codes[1]).await.status, 303);
    let halfway = guarded.halfway().await;
    let code = guarded.code(0);
    let off = [("current_password", password), ("turn_off_code", code.as_str())];
    // A double click turns it off once, and says so twice.
    for _ in 0..2 {
        let page = send(&guarded.browser, TURN_OFF, &off).await;
        assert_eq!((page.status, page.location()), (303, PAGE), "{}", page.body);
    }
    let page = guarded.browser.get(PAGE).await;
    assert!(page.says("Second factor turned off") && page.says(">Set up second factor</button>"), "{}", page.body);
    guarded.audit_row("turn_off_second_factor").await;
    assert_eq!(elsewhere.get(ACCOUNT).await.status, 200);
    Browser::of(&guarded.org, &guarded.person).await;
    assert!(needs_password(&send_code(&halfway, "recovery_code", &guarded.codes[2]).await));
    let again = Guarded::of(guarded.org, guarded.person).await;
    assert_ne!(again.secret.expose(), guarded.secret.expose());
}

#[tokio::test]
async fn what_another_window_did_meanwhile_is_told() {
    let guarded = Guarded::new().await;
    let page = send(&guarded.browser, PAGE, &[("current_password", &guarded.person.password)]).await;
    assert!(page.status == 422 && page.says("This page was out of date") && page.says("10 of 10"), "{}", page.body);
    let page = send(&guarded.browser, TURN_ON, &[("code", &guarded.code(0))]).await;
    assert!(page.status == 422 && page.says("This page was out of date"), "{}", page.body);
}

#[tokio::test]
async fn it_is_turned_on_and_off_once_though_the_answer_of_the_table_was_lost() {
    let broken = Broken::new().await;
    let person = broken.org.member("Maren Holt").await;
    let browser = Browser::new(broken.client.base_url());
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    let secrets = || Rule::on("TransactWriteItems").containing("SECONDFACTOR#").times(1);
    for fault in [Fault::LateCommit, Fault::LostResponse, Fault::Conflict] {
        assert_eq!(send(&browser, PAGE, &[("current_password", &person.password)]).await.status, 303);
        let secret = key_on(&browser.get(PAGE).await).expect("a key");
        let code = secret.code_at(step()).reveal();
        let late = broken.faults.inject(secrets(), fault);
        let page = send(&browser, TURN_ON, &[("code", &code)]).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        let codes = codes_on(&browser.get(page.location()).await);
        let late = broken.faults.inject(secrets(), fault);
        let page = send(&browser, CODES, &[("code", &codes[0])]).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        let codes = codes_on(&browser.get(page.location()).await);
        let late = broken.faults.inject(secrets(), fault);
        let off = [("current_password", person.password.as_str()), ("turn_off_code", &codes[0])];
        let page = send(&browser, TURN_OFF, &off).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        assert!(browser.get(PAGE).await.says(">Set up second factor</button>"), "{fault:?}");
    }
}

#[tokio::test]
async fn a_link_to_set_a_password_keeps_the_second_factor() {
    let guarded = Guarded::new().await;
    let admin = Browser::of(&guarded.org, &guarded.org.admin("Ada Okafor").await).await;
    let made = send(&admin, &format!("/app/organization/members/{}/password-link", guarded.person.id), &[]).await;
    let link = link_on(&guarded.org, &admin.get(made.location()).await).expect("a link");
    let visitor = guarded.visitor();
    assert!(visitor.get(&link).await.says("and with your second factor if you have one"));
    let set = send_signed_out(&visitor, &link, &[("password", "tiger lamp orchid")]).await;
    assert_eq!(set.location(), "/app/sign-in?password=saved", "{}", set.body);
    let page = visitor.sign_in(&guarded.person.email, "tiger lamp orchid", "/app").await;
    assert_eq!(page.location(), "/app/sign-in/code?next=/app");
}

#[tokio::test]
async fn an_admin_resets_the_second_factor_of_a_member() {
    let guarded = Guarded::new().await;
    let (org, person) = (&guarded.org, &guarded.person);
    let ada = org.admin("Ada Okafor").await;
    let admin = Browser::of(org, &ada).await;
    let reset = |id: String| format!("/app/organization/members/{id}/second-factor");
    let page = admin.get("/app/organization").await;
    assert!(page.says("Reset second factor…") && page.says(&reset(person.id.to_string())), "{}", page.body);
    let count =
        |page: &Page, state: &str| page.body.matches(&format!("data-label=\"Second factor\">{state}</td>")).count();
    assert_eq!((count(&page, "On"), count(&page, "Off")), (1, 1), "{}", page.body);
    assert!(!guarded.browser.get("/app/organization").await.says("data-label=\"Second factor\""), "only admins see it");
    assert!(!page.says(&reset(ada.id.to_string())), "not one's own");
    assert_eq!(page.body.matches("count as one person for 7 days").count(), 2, "said before: {}", page.body);
    let ben = org.member("Ben Ruiz").await;
    let resets = admin.get("/app/organization").await.body.matches("Reset second factor…</summary>").count();
    assert_eq!(resets, 1, "Ben has none to reset");

    let other = Org::new().await;
    let stranger = Browser::of(&other, &other.admin("Noor Vance").await).await;
    assert_eq!(send(&guarded.browser, &reset(ada.id.to_string()), &[]).await.status, 403);
    assert_eq!(send(&guarded.browser, &reset(person.id.to_string()), &[]).await.status, 403);
    let unknown = crate::unknown_id();
    for (by, id) in [(&stranger, person.id.to_string()), (&admin, unknown)] {
        let page = send(by, &reset(id), &[]).await;
        assert!(page.status == 404 && page.says("There is no such member"), "{}", page.body);
    }
    let page = send(&admin, &reset(ada.id.to_string()), &[]).await;
    assert!(page.status == 422 && page.says("You can’t reset your own second factor"), "{}", page.body);
    let page = send(&admin, &reset(ben.id.to_string()), &[]).await;
    assert!(page.status == 422 && page.says("There is nothing to reset"), "{}", page.body);
    assert_eq!(guarded.halfway().await.cookie("session"), None, "it is still on");

    let halfway = guarded.halfway().await;
    let page = send(&admin, &reset(person.id.to_string()), &[]).await;
    assert_eq!((page.status, page.location()), (303, "/app/organization"), "{}", page.body);
    let page = admin.get("/app/organization").await;
    assert!(page.says("Second factor reset") && count(&page, "On") == 0, "{}", page.body);
    let row = guarded.audit_row("reset_second_factor").await;
    assert_eq!((&row["member_id"], rows::objects(&row)), (&json!(ada.id.to_string()), vec![person.id.to_string()]));
    assert!(admin.get("/app/audit").await.says("Reset a member’s second factor"));
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 303, "its sessions have ended");
    assert!(needs_password(&send_code(&halfway, "recovery_code", &guarded.codes[0]).await));
    let browser = Browser::of(org, person).await;
    assert!(browser.get(ACCOUNT).await.says(">Set up second factor</a>"));
}

#[tokio::test]
async fn an_operator_resets_the_second_factor_of_an_only_admin() {
    let guarded = Guarded::new().await;
    let store = guarded.table().store();
    let nobody = ops::reset_second_factor(&store, "nobody@members.example").await.expect_err("no account");
    assert_eq!(nobody.to_string(), "there is no account with this email address");
    ops::reset_second_factor(&store, &guarded.person.email.to_uppercase()).await.expect("reset");
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 303, "all sessions end");
    let browser = Browser::new(guarded.org.base_url());
    let signed_in = browser.sign_in(&guarded.person.email, &guarded.person.password, ACCOUNT).await;
    assert_eq!(signed_in.location(), ACCOUNT);
    assert!(browser.get(PAGE).await.says("Set up your second factor"));
    let rows = guarded.org.audit().await;
    let row = rows.iter().find(|row| row["operation"] == "reset_second_factor").expect("an audit row");
    assert!(row["status"] == "200" && row.get("member_id").is_none(), "the service's own act: {row}");
    let again = ops::reset_second_factor(&store, &guarded.person.email).await.expect_err("off already");
    assert_eq!(again.to_string(), "this account has no second factor");
}

#[tokio::test]
async fn no_admin_resets_the_second_factor_of_an_account_that_another_organization_uses() {
    let guarded = Guarded::new().await;
    let other = Org::new().await;
    let store = guarded.table().store();
    ops::add_membership(&store, other.id, "Maren at the other", &guarded.person.email, ops::Role::Member)
        .await
        .unwrap();
    let admin = Browser::of(&guarded.org, &guarded.org.admin("Ada Okafor").await).await;
    let page = send(&admin, &format!("/app/organization/members/{}/second-factor", guarded.person.id), &[]).await;
    assert!(page.status == 422 && page.says("They also belong to another organization"), "{}", page.body);
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 200);
    guarded.halfway().await;
    let to = other.id.to_string();
    let switched = send(&guarded.browser, "/app/account/organization", &[("organization", &to)]).await;
    assert_eq!(switched.status, 303, "{}", switched.body);
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 200);
}

#[tokio::test]
async fn whoever_is_invited_and_has_a_second_factor_joins_with_a_code() {
    let guarded = Guarded::new().await;
    let other = Org::new().await;
    let admin = Browser::of(&other, &other.admin("Noor Vance").await).await;
    let invited = [("email", guarded.person.email.as_str()), ("role", "member")];
    let made = send(&admin, "/app/organization/invitations", &invited).await;
    let link = link_on(&other, &admin.get(made.location()).await).expect("a link");
    let visitor = guarded.visitor();
    let wrong = send_signed_out(&visitor, &link, &[("password", "wrong")]).await;
    assert!(wrong.status == 422 && !wrong.says("name=\"code\""), "{}", wrong.body);
    let code = guarded.code(0);
    let alone = send_signed_out(&visitor, &link, &[("code", &code)]).await;
    assert!(alone.status == 422 && alone.says("Enter your password again"), "{}", alone.body);

    let asked = send_signed_out(&visitor, &link, &[("password", &guarded.person.password)]).await;
    assert!(asked.status == 200 && asked.says("<label for=\"code\">Code</label>"), "{}", asked.body);
    assert!(!asked.says("name=\"password\"") && visitor.cookie("session").is_none());
    assert!(visitor.get(&link).await.says("name=\"code\""), "also when the page is opened again");
    for (code, error) in [("x", "Code must have 6 digits, or be a recovery code."), ("aaaa-aaaa-aaaa-aaaa", WRONG)] {
        let page = send_signed_out(&visitor, &link, &[("code", code)]).await;
        assert!(page.status == 422 && page.says(error) && page.title().starts_with("Error: "), "{}", page.body);
    }
    assert!(!guarded.browser.get(ACCOUNT).await.says(&other.name), "not a member yet");
    let code = guarded.code(0);
    let joined = send_signed_out(&visitor, &link, &[("code", &code)]).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
    assert!(visitor.get(ACCOUNT).await.says(&other.name));
    assert_eq!(visitor.cookie("second-step"), None);
    assert!(is_refused(&send_code(&guarded.halfway().await, "code", &code).await), "the code is used");
}

#[tokio::test]
async fn a_missing_name_or_a_link_that_has_ended_costs_no_attempt_at_a_code() {
    let guarded = Guarded::new().await;
    ops::remove_member(&guarded.table().store(), guarded.org.id, guarded.person.id).await.unwrap();
    let other = Org::new().await;
    let admin = Browser::of(&other, &other.admin("Noor Vance").await).await;
    let invite = async || {
        let invited = [("email", guarded.person.email.as_str()), ("role", "member")];
        let made = send(&admin, "/app/organization/invitations", &invited).await;
        link_on(&other, &admin.get(made.location()).await).expect("a link")
    };
    let (replaced, link) = (invite().await, invite().await);
    let visitor = guarded.visitor();
    let typed = [("name", "Ines Moreau"), ("password", guarded.person.password.as_str())];
    let asked = send_signed_out(&visitor, &link, &typed).await;
    assert!(asked.status == 200 && asked.says("<label for=\"code\">Code</label>"), "{}", asked.body);
    let code = guarded.code(0);
    for n in 0..=limits::LOGIN_CODES_AT_ACCOUNT {
        let name = if n % 2 == 0 { String::new() } else { "n".repeat(201) };
        let nameless = send_signed_out(&visitor, &link, &[("name", &name), ("code", &code)]).await;
        assert!(nameless.status == 422 && nameless.says("id=\"name-error\""), "{n}: {}", nameless.body);
        let form_token = nameless.hidden("form_token");
        let fields = [("form_token", form_token.as_str()), ("name", "Ines Moreau"), ("code", &code)];
        let gone = visitor.post(&replaced, &fields).await;
        assert_eq!(gone.status, 404, "{n}: {}", gone.body);
    }
    let code = guarded.code(0);
    let joined = send_signed_out(&visitor, &link, &[("name", "Ines Moreau"), ("code", &code)]).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
}

#[tokio::test]
async fn a_removed_member_learns_of_it_after_the_code_only() {
    let guarded = Guarded::new().await;
    ops::remove_member(&guarded.table().store(), guarded.org.id, guarded.person.id).await.unwrap();
    let browser = guarded.halfway().await;
    let page = send_code(&browser, "code", &guarded.code(0)).await;
    assert!(page.status == 422 && page.says("Your account belongs to no organization"), "{}", page.body);
    assert_eq!(browser.cookie("session"), None);
}

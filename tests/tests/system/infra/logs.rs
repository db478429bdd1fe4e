//! The log: one JSON line with figures per call, and for background work.

use serde_json::{Value, json};
use tests::{Answer, Fault, Faults, Org, Rule, log};

const CONTACTS: &str = "/api/v1/contacts";

async fn line(org: &Org, answer: &Answer) -> Value {
    log::line(org.stack().log_file(), &answer.request_id()).await
}

#[tokio::test]
async fn a_call_has_a_line_that_tells_who_what_and_how_it_ended() {
    let org = Org::new().await;
    let contact = json!({"display_name": "Ada", "kind": "person"});
    for (answer, operation, code) in [
        (org.post(CONTACTS, &contact).key("a").send().await, "create_contact", "ok"),
        (org.post(CONTACTS, &contact).key("a").send().await, "create_contact", "replayed"),
        (org.get(CONTACTS).send().await, "list_contacts", "ok"),
        (org.get("/api/v1/me").send().await, "get_identity", "ok"),
        (org.get(CONTACTS).query("limit", 0).send().await, "list_contacts", "invalid_request"),
        (org.get("/api/v1/nowhere").send().await, "none", "not_found"),
        (org.post("/api/v1/me", &json!({})).send().await, "wrong_method", "method_not_allowed"),
    ] {
        let line = line(&org, &answer).await;
        assert_eq!(line["request_id"], answer.request_id());
        assert_eq!(line["operation"], operation);
        assert_eq!(line["organization_id"], org.id.to_string());
        assert_eq!(line["token_id"], org.token.id.to_string());
        assert_eq!(line["status"], answer.status);
        assert_eq!(line["code"], code);
        assert_eq!((&line["retries"], &line["faults"], &line["level"]), (&json!(0), &json!(0), &json!("INFO")));
        assert!(line.get("cause").is_none(), "{line}");
        for figure in ["duration_ms", "read_units", "write_units", "round_trips"] {
            assert!(line[figure].as_f64().is_some_and(|figure| figure > 0.0), "{figure}: {line}");
        }
    }
}

#[tokio::test]
async fn a_call_of_nobody_has_a_line_too() {
    let org = Org::new().await;
    let answer = org.anonymous().get("/api/v1/me").send().await;
    let line = line(&org, &answer).await;
    assert_eq!((&line["organization_id"], &line["token_id"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&line["status"], &line["code"], &line["operation"]),
        (&json!(401), &json!("unauthenticated"), &json!("get_identity"))
    );
    let answer = org.anonymous().get("/openapi.json").send().await;
    assert_eq!(log::line(org.stack().log_file(), &answer.request_id()).await["operation"], "get_openapi");
}

/// The template's metric filters read these fields.
#[tokio::test]
async fn work_in_the_background_has_lines_with_figures_too() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let event = subscriber.test().await;
    subscriber.wait_for(&org, event, "delivered").await;
    let log = org.stack().log_file();
    let attempt = log::line_with(log, &["\"operation\":\"attempt_delivery\"", &event.to_string()]).await;
    assert_eq!((&attempt["delivered"], &attempt["failed"], &attempt["exhausted"]), (&json!(1), &json!(0), &json!(0)));
    assert!(attempt["since_commit_ms"].is_u64() && attempt["duration_ms"].is_u64(), "{attempt}");
    let tick = log::line_with(log, &["\"operation\":\"tick\""]).await;
    assert!(tick["oldest_due_ms"].is_i64() && tick["woken"].is_u64(), "{tick}");
}

#[tokio::test]
async fn a_failure_of_ours_has_a_cause_and_retries_are_counted() {
    let org = Org::new().await;
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let client = org.at(&stack);
    faults.inject(Rule::on("PutItem").containing(org.id).times(2), Fault::Throttling);
    let answer = client.get("/api/v1/me").send().await;
    answer.ok(200);
    let line = log::line(stack.log_file(), &answer.request_id()).await;
    assert_eq!((&line["retries"], &line["faults"]), (&json!(2), &json!(0)));

    faults.inject(Rule::on("GetItem").containing(org.id), Fault::ServerError);
    let answer = client.get(format!("{CONTACTS}/{}", crate::unknown_id())).send().await;
    answer.refused(500);
    let line = log::line(stack.log_file(), &answer.request_id()).await;
    assert_eq!(
        (&line["code"], &line["faults"], &line["level"]),
        (&json!("internal_error"), &json!(1), &json!("ERROR"))
    );
    assert!(line["cause"].as_str().is_some_and(|cause| !cause.is_empty()), "{line}");
}

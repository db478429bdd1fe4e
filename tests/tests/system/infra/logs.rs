//! The log: one line of JSON per call with its figures, and those of work in the background, which are metrics too.

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
        (org.post("/api/v1/me", &json!({})).send().await, "none", "method_not_allowed"),
    ] {
        let line = line(&org, &answer).await;
        assert_eq!(line["request_id"], answer.request_id());
        assert_eq!(line["operation"], operation);
        assert_eq!(line["organization_id"], org.id.to_string());
        assert_eq!(line["token_id"], org.token.id.to_string());
        assert_eq!(line["status"], answer.status);
        assert_eq!(line["code"], code);
        assert_eq!((&line["retries"], &line["faults"]), (&json!(0), &json!(0)));
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

/// Each metric costs by itself, so those of calls would cost by the number of operations.
#[tokio::test]
async fn work_in_the_background_has_metrics_and_a_call_has_none() {
    let org = Org::new().await;
    let call = line(&org, &org.get("/api/v1/me").send().await).await;
    assert!(call.get("_aws").is_none(), "{call}");
    let subscriber = org.subscriber().await;
    let event = subscriber.test().await;
    subscriber.wait_for(&org, event, "delivered").await;
    let log = org.stack().log_file();
    for needles in [
        ["\"operation\":\"attempt_delivery\"".to_owned(), event.to_string()],
        ["\"operation\":\"tick\"".to_owned(), String::new()],
    ] {
        assert_metrics(&log::line_with(log, &needles).await);
    }
}

/// What a line declares as metrics and their dimensions is in it.
fn assert_metrics(line: &Value) {
    assert!(line["_aws"]["Timestamp"].is_u64());
    let directives = line["_aws"]["CloudWatchMetrics"].as_array().expect("directives");
    assert!(!directives.is_empty());
    for directive in directives {
        assert!(directive["Namespace"].as_str().is_some_and(|namespace| !namespace.is_empty()));
        let sets = directive["Dimensions"].as_array().expect("dimensions");
        for dimension in sets.iter().flat_map(|set| set.as_array().expect("a set")) {
            assert!(line[dimension.as_str().expect("a name")].is_string(), "{dimension}");
        }
        let metrics = directive["Metrics"].as_array().expect("metrics");
        assert!(!metrics.is_empty());
        for metric in metrics {
            assert!(line[metric["Name"].as_str().expect("a name")].is_number(), "{metric}");
        }
    }
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
    assert_eq!((&line["code"], &line["faults"]), (&json!("internal_error"), &json!(1)));
    assert!(line["cause"].as_str().is_some_and(|cause| !cause.is_empty()), "{line}");
}

//! `infra/template.yaml` against the code: table, routes, settings, time-outs, and the stream's filter.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use local::gateway;
use serde_json::{Value, json};
use shared::limits;
use shared::store::due::DueEntry;
use shared::store::keys::Key;
use tests::runtime_api::{self, Function, recorded};
use tests::template::{self, functions, properties, resources, routes};
use tests::{Needs, Org, Stack};

const BACKGROUND: [(&str, &str); 3] =
    [("event-relay", r#"{"Records": []}"#), ("webhook-sender", r#"{"Records": []}"#), ("clock", "{}")];

#[tokio::test]
async fn the_table_is_the_one_of_the_local_stack() {
    let stack = Stack::with(Needs::OWN.without_background());
    let (client, name) = (stack.table().client(), &stack.table().name);
    let described = client.describe_table().table_name(name).send().await.expect("the store answers");
    let made = described.table.expect("a table");
    let defined = properties("Table");
    let attributes = made
        .attribute_definitions()
        .iter()
        .map(|it| json!({"AttributeName": it.attribute_name(), "AttributeType": it.attribute_type().as_str()}));
    assert_eq!(defined["AttributeDefinitions"], attributes.collect::<Value>());
    let keys = made.key_schema().iter();
    let keys = keys.map(|it| json!({"AttributeName": it.attribute_name(), "KeyType": it.key_type().as_str()}));
    assert_eq!(defined["KeySchema"], keys.collect::<Value>());
    let billing = made
        .billing_mode_summary()
        .and_then(|summary| summary.billing_mode())
        .map(aws_sdk_dynamodb::types::BillingMode::as_str);
    assert_eq!(defined["BillingMode"].as_str(), billing);
    let expiry = client.describe_time_to_live().table_name(name).send().await.expect("the store answers");
    let expiry = expiry.time_to_live_description.and_then(|it| it.attribute_name);
    assert_eq!(defined["TimeToLiveSpecification"], json!({"AttributeName": expiry, "Enabled": true}));
    // Settings that only AWS has.
    assert_eq!(defined["StreamSpecification"]["StreamViewType"], "KEYS_ONLY", "the relay reads keys");
    assert_eq!(defined["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true);
    assert_eq!(
        (&defined["DeletionProtectionEnabled"], &defined["SSESpecification"]["SSEEnabled"]),
        (&json!(true), &json!(true))
    );
    let names = ["GlobalSecondaryIndexes", "LocalSecondaryIndexes"];
    assert!(names.iter().all(|name| defined.get(name).is_none()), "the store has no index");
}

#[test]
fn every_operation_and_page_reaches_the_function_that_answers_it() {
    let routes = routes();
    assert!(routes.len() <= 300, "an API has at most 300 routes: {}", routes.len());
    let (default, routes): (Vec<_>, Vec<_>) = routes.into_iter().partition(|route| route.path == "$default");
    assert_eq!(default.iter().map(|route| route.function.as_str()).collect::<Vec<_>>(), [gateway::DEFAULT]);
    let expected: BTreeSet<_> = gateway::routes().into_iter().collect();
    assert_eq!(routes.iter().cloned().collect::<BTreeSet<_>>(), expected, "run `make generate`: routes have changed");

    let answers = gateway::answers();
    let documented: Value = serde_json::from_str(include_str!("../../../../shared/openapi.json")).expect("JSON");
    let paths = documented["paths"].as_object().expect("paths");
    let documented: BTreeSet<String> = paths
        .iter()
        .flat_map(|(path, item)| item.as_object().into_iter().flatten().map(move |(method, _)| (method, path)))
        .map(|(method, path)| format!("{} {path}", method.to_uppercase()))
        .collect();
    let (agents, answers): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.path == "/mcp");
    for method in ["POST", "GET", "DELETE"] {
        assert_eq!(gateway::function(&routes, method, "/mcp"), "mcp", "{agents:?}");
    }
    let (docs, answers): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.path == "/docs");
    assert_eq!(docs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["GET /docs"]);
    assert_eq!(gateway::function(&routes, "GET", "/docs"), "read-api");
    let (pages, operations): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.method == "ANY");
    assert_eq!(operations.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), documented);
    for operation in operations {
        let reached = gateway::function(&routes, &operation.method, &filled(&operation.path));
        assert_eq!(reached, operation.function, "{operation}");
    }
    assert!(pages.len() > 100, "{}", pages.len());
    for page in pages {
        for method in ["GET", "POST"] {
            assert_eq!(gateway::function(&routes, method, &filled(&page.path)), page.function, "{page}");
        }
    }
    for (method, path, function) in [
        ("GET", "/", gateway::DEFAULT),
        ("GET", "/nothing", gateway::DEFAULT),
        ("DELETE", "/api/v1/contacts", gateway::DEFAULT),
        ("POST", "/api/v2/contacts", gateway::DEFAULT),
        ("GET", "/app/nothing", "member-app"),
        ("POST", "/app/nothing/at/all", "member-app"),
    ] {
        assert_eq!(gateway::function(&routes, method, path), function, "{method} {path}");
    }
}

fn filled(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "019aa5d0" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// One function per crate in `functions/`: an expiring log, an integration if it answers HTTP, alarm metrics.
#[test]
fn every_function_is_deployed_and_watched() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../functions");
    let crates = std::fs::read_dir(folder).expect("the functions").map(|entry| entry.expect("a function").file_name());
    let crates: BTreeSet<String> = crates.map(|name| name.into_string().expect("a name")).collect();
    let functions = functions();
    assert_eq!(functions.keys().cloned().collect::<BTreeSet<_>>(), crates);
    let filters: BTreeMap<(String, &str), &Value> = resources("AWS::Logs::MetricFilter")
        .map(|(_, filter)| {
            let group = filter["LogGroupName"]["Ref"].as_str().expect("a log group").to_owned();
            let metric = filter["MetricTransformations"][0]["MetricName"].as_str().expect("a metric");
            ((group, metric), &filter["FilterPattern"])
        })
        .collect();
    let integrated: BTreeSet<&str> = resources("AWS::ApiGatewayV2::Integration")
        .map(|(_, integration)| integration["IntegrationUri"]["Fn::GetAtt"][0].as_str().expect("a function"))
        .collect();
    for (name, function) in functions {
        assert_eq!(function.properties["CodeUri"], format!("../target/lambda-zip/{name}/bootstrap.zip"));
        let logs = format!("{}Logs", function.id);
        assert_eq!(function.properties["LoggingConfig"]["LogGroup"], json!({"Ref": logs}));
        assert_eq!(properties(&logs)["RetentionInDays"], json!({"Ref": "LogRetentionDays"}));
        assert_eq!(
            template::text(&properties(&logs)["LogGroupName"]),
            format!("/aws/lambda/{}-{name}", template::STACK_NAME)
        );
        let is_background = BACKGROUND.iter().any(|(background, _)| *background == name);
        assert_eq!(integrated.contains(function.id), !is_background, "{name}");
        assert_eq!(filters.get(&(logs.clone(), "faults")), Some(&&json!("{ $.faults >= 1 }")), "{name}");
        let audit_failures = json!(r#"{ ($.cause = "no audit row*") || ($.cause = "no trail entry*") }"#);
        let expected = (!is_background).then_some(&audit_failures);
        assert_eq!(filters.get(&(logs, "audit_failures")).copied(), expected, "{name}");
    }
    let source = include_str!("../../../../shared/src/service/call_record.rs");
    for cause in ["no audit row", "no trail entry"] {
        assert!(source.contains(&format!("format!(\"{cause}: ")), "{cause}: what the filter looks for");
    }
}

/// API Gateway's fixed time-out for integrations of HTTP APIs.
const GATEWAY_TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn time_outs_leave_time_for_what_the_code_allows_itself() {
    assert!(limits::HELD_ITEM_DEADLINE + limits::AWS_CALL_TIMEOUT <= limits::AUDIT_DEADLINE);
    let within_a_call = [
        limits::WRITE_DEADLINE + limits::AWS_ATTEMPT_TIMEOUT,
        limits::AWS_CALL_TIMEOUT,
        limits::BODY_DEADLINE,
        limits::EXPORT_WRITE_TIMEOUT,
        limits::FILE_CALL_TIMEOUT * limits::FILE_CALL_ATTEMPTS_MAX,
    ];
    assert!(within_a_call.iter().all(|time| *time <= limits::CALL_DEADLINE), "{within_a_call:?}");
    assert!(limits::BODY_STALL_TIMEOUT < limits::BODY_DEADLINE);
    let seconds = |value: &Value| Duration::from_secs(value.as_u64().expect("seconds"));
    let functions = functions();
    for (name, function) in &functions {
        let timeout = seconds(&function.properties["Timeout"]);
        if BACKGROUND.iter().any(|(background, _)| background == name) {
            assert!(timeout >= limits::SWEEP_DEADLINE + limits::WRITE_DEADLINE + limits::AWS_CALL_TIMEOUT, "{name}");
        } else {
            // Before the gateway ends an overrunning call, its audit row fences what is in progress.
            assert!(timeout > limits::CALL_DEADLINE + limits::AUDIT_DEADLINE && timeout < GATEWAY_TIMEOUT, "{name}");
            assert_eq!(timeout, runtime_api::TIMEOUT, "{name}");
        }
    }
    let sender = &functions["webhook-sender"];
    let sources = sender.properties["Events"].as_object().expect("events");
    let mut queues = BTreeSet::new();
    for source in sources.values() {
        let source = &source["Properties"];
        let queue = source["Queue"]["Fn::GetAtt"][0].as_str().expect("a queue");
        queues.insert(queue);
        assert_eq!(source["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]));
        assert!(source["BatchSize"].as_u64().is_some_and(|size| size <= 10), "{source}");
        let queue = properties(queue);
        assert_eq!(queue["VisibilityTimeout"], limits::MESSAGE_VISIBILITY_S);
        assert!(seconds(&queue["VisibilityTimeout"]) > seconds(&sender.properties["Timeout"]) * 6);
        assert_eq!(queue["RedrivePolicy"]["maxReceiveCount"], limits::MESSAGE_RECEIVES_MAX);
        assert_eq!(queue["RedrivePolicy"]["deadLetterTargetArn"], json!({"Fn::GetAtt": ["DeadLetters", "Arn"]}));
    }
    assert_eq!(queues, BTreeSet::from(["DeliveryQueue", "RetryQueue"]));
}

const OPTIONAL: [&str; 6] =
    ["AUDIT_SHARDS", "CALLS_PER_SECOND", "CLIENT_ADDRESS_HEADER", "DUE_SHARDS", "MCP_HOSTS", "MCP_ORIGINS"];

#[tokio::test]
async fn functions_get_the_settings_that_they_need_and_no_others() {
    let org = Org::new().await;
    let of_lambda = runtime_api::environment(org.stack().table(), "https://countersign.example");
    for (name, function) in functions() {
        let mut environment: BTreeMap<String, String> = of_lambda
            .iter()
            .filter(|(variable, _)| variable.starts_with("AWS_"))
            .map(|(variable, value)| (variable.clone(), value.clone()))
            .collect();
        let given = function.environment();
        for variable in given.keys() {
            environment.insert(variable.clone(), value_of(variable, &org));
        }
        let start = async |environment: &BTreeMap<String, String>| {
            let environment: Vec<(String, String)> = environment.clone().into_iter().collect();
            Function::start(&runtime_api::program(&name), &environment, None).await.expect("the function's program")
        };
        let mut process = start(&environment).await;
        if let Some((_, event)) = BACKGROUND.iter().find(|(background, _)| *background == name) {
            process.call((*event).to_owned()).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        } else {
            let page =
                process.open(recorded("view-sign-in", &[])).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(page.status < 500, "{name}: {}", page.status);
        }
        drop(process);
        for missing in given.keys().filter(|variable| !OPTIONAL.contains(&variable.as_str())) {
            let mut environment = environment.clone();
            environment.remove(missing);
            let (failed, told) = start(&environment).await.refusal().await.unwrap_or_else(|error| panic!("{error}"));
            assert!(failed && told.contains(missing.as_str()), "{name} without {missing}: {told}");
        }
    }
}

fn value_of(variable: &str, org: &Org) -> String {
    match variable {
        "TABLE_NAME" => org.stack().table().name.clone(),
        "BASE_URL" => "https://countersign.example".to_owned(),
        "CALLS_PER_SECOND" => "50".to_owned(),
        "DUE_SHARDS" => "256".to_owned(),
        "AUDIT_SHARDS" => "16".to_owned(),
        "CLIENT_ADDRESS_HEADER" => "CloudFront-Viewer-Address".to_owned(),
        "CLIENT_ADDRESS_SECRET" => "s".repeat(32),
        "DELIVERY_QUEUE_URL" | "RETRY_QUEUE_URL" => "http://127.0.0.1:9/queue".to_owned(),
        "FILES_BUCKET" | "TABLE_ID" | "KEYRING_SECRET" | "DOCUMENTS_FUNCTION" => "none".to_owned(),
        "MCP_HOSTS" => "d111.cloudfront.example".to_owned(),
        "MCP_ORIGINS" => "https://agent.example".to_owned(),
        other => panic!("a setting that this test does not know: {other}"),
    }
}

/// Concurrency that is reserved for one function is gone for the others, so none is unless an operator says so.
#[test]
fn each_function_may_have_concurrency_reserved_and_none_has_by_itself() {
    for function in functions().values() {
        let reserved = &function.properties["ReservedConcurrentExecutions"]["Fn::If"];
        let parameter = reserved[1]["Ref"].as_str().expect("a parameter");
        assert_eq!(reserved[2], json!({"Ref": "AWS::NoValue"}), "{parameter}");
        let declared = &template::template()["Parameters"][parameter];
        assert_eq!((&declared["Default"], &declared["Type"]), (&json!(-1), &json!("Number")), "{parameter}");
        let condition = reserved[0].as_str().expect("a condition");
        let wanted = json!({"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, -1]}]});
        assert_eq!(template::template()["Conditions"][condition], wanted, "{condition}");
    }
    assert_eq!(template::template()["Parameters"]["CallsPerSecond"]["Default"], 50);
}

#[test]
fn the_streams_filter_lets_through_what_the_relay_takes() {
    let source = &functions()["event-relay"].properties["Events"]["Stream"]["Properties"];
    let filters = source["FilterCriteria"]["Filters"].as_array().expect("filters");
    let [filter] = &filters[..] else { panic!("one filter: {filters:?}") };
    let pattern: Value = serde_json::from_str(filter["Pattern"].as_str().expect("a pattern")).expect("JSON");
    let texts = [("due_partition", "DUE#3"), ("due_sort", "EVENT#x")];
    let batch: Value = serde_json::from_str(&recorded("stream-batch", &texts)).expect("JSON");
    let mut record = batch["Records"][1].clone();
    assert!(matches(&pattern, &record), "an entry that was inserted");
    record["eventName"] = json!("MODIFY");
    assert!(!matches(&pattern, &record), "an entry whose message the clock has sent");
    record["eventName"] = json!("REMOVE");
    assert!(!matches(&pattern, &record), "an entry that was removed");
    for other in [&batch["Records"][0], &batch["Records"][2]] {
        assert!(!matches(&pattern, other), "{other}");
    }
    assert!(DueEntry::of(Key::from_parts("DUE#3", "nonsense")).is_none(), "a key that only begins like one");
    assert!(shared::store::keys::due_of_kind(shared::store::keys::Due::Event).starts_with("EVENT#"));
    assert_eq!(
        (&source["BisectBatchOnFunctionError"], source["MaximumRetryAttempts"].as_i64()),
        (&json!(true), Some(3))
    );
    assert_eq!(source["DestinationConfig"]["OnFailure"]["Type"], "SQS");
}

/// Whether a Lambda filter pattern fits an event: each member that it names has one of the values or prefixes.
fn matches(pattern: &Value, event: &Value) -> bool {
    pattern.as_object().expect("a pattern").iter().all(|(name, wanted)| match wanted.as_array() {
        Some(values) => values.iter().any(|value| match value["prefix"].as_str() {
            Some(prefix) => event[name].as_str().is_some_and(|text| text.starts_with(prefix)),
            None => event[name] == *value,
        }),
        None => matches(wanted, &event[name]),
    })
}

#[test]
fn data_outlive_the_stack_and_stay_private() {
    let all = &template::template()["Resources"];
    // A table with deletion protection can't be removed with a failed first deployment.
    let unless_it_fails_at_once = "RetainExceptOnCreate";
    for (id, policy) in [
        ("Table", "Retain"),
        ("Files", unless_it_fails_at_once),
        ("FilesPolicy", unless_it_fails_at_once),
        ("Keyring", unless_it_fails_at_once),
        ("BackupVault", unless_it_fails_at_once),
        ("BackupRole", unless_it_fails_at_once),
    ] {
        assert_eq!((&all[id]["DeletionPolicy"], &all[id]["UpdateReplacePolicy"]), (&json!(policy), &json!("Retain")));
        // A fixed name would block a second deployment.
        let names = ["TableName", "BucketName", "Name"];
        let none = [json!(null), json!({"Ref": "AWS::NoValue"})];
        let made = template::with_conditions(properties(id), &[]);
        assert!(names.iter().all(|name| none.contains(&made[*name])), "{id} has a fixed name");
    }
    // A stage whose secret has a fixed name from earlier keeps it: another name would replace the secret.
    let named = template::with_conditions(properties("Keyring"), &["HasKeyringName"]);
    assert_eq!(named["Name"], json!({"Ref": "KeyringName"}));
    assert_eq!(template::template()["Parameters"]["KeyringName"]["Default"], "");
    let files = properties("Files");
    let blocks = files["PublicAccessBlockConfiguration"].as_object().expect("blocks");
    assert!(blocks.len() == 4 && blocks.values().all(|is_blocked| *is_blocked == json!(true)), "{blocks:?}");
    assert_eq!(files["VersioningConfiguration"]["Status"], "Enabled");
    let deny = &properties("FilesPolicy")["PolicyDocument"]["Statement"][0];
    assert_eq!(
        (&deny["Effect"], &deny["Condition"]),
        (&json!("Deny"), &json!({"Bool": {"aws:SecureTransport": "false"}}))
    );
    for (id, alarm) in resources("AWS::CloudWatch::Alarm") {
        let target = json!({"Fn::If": ["HasAlarmTarget", [{"Ref": "AlarmTarget"}], []]});
        assert_eq!(alarm["AlarmActions"], target, "{id}");
        let name = alarm["AlarmName"]["Fn::Sub"].as_str().and_then(|name| name.strip_prefix("${AWS::StackName}-"));
        let name = name.expect("a name that begins with the stack's");
        let handbook = include_str!("../../../../infra/OPERATIONS.md");
        assert!(handbook.contains(&format!("| `{name}` |")), "infra/OPERATIONS.md does not explain the alarm {name}");
    }
}

const GIVEN_STORES: [(&str, &str, &str); 3] = [
    ("TableName", "HasOtherTable", "Table"),
    ("FilesBucket", "HasOtherFiles", "Files"),
    ("KeyringArn", "HasOtherKeyring", "Keyring"),
];

/// For restored and copied stores: roles, variables, mappings, alarms, dashboard and outputs must all follow.
#[test]
fn everything_follows_to_a_store_that_is_given() {
    let all = template::template();
    let users = all["Resources"]
        .as_object()
        .expect("resources")
        .iter()
        .filter(|(id, _)| !["Table", "Files", "FilesPolicy", "Keyring"].contains(&id.as_str()));
    let users: Vec<(&str, &Value)> = users
        .map(|(id, resource)| (id.as_str(), resource))
        .chain([("Globals", &all["Globals"]), ("Outputs", &all["Outputs"])])
        .collect();
    for (parameter, condition, resource) in GIVEN_STORES {
        let not_given = json!({"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]});
        assert_eq!(all["Conditions"][condition], not_given);
        assert_eq!(all["Parameters"][parameter]["Default"], "", "not given, the stage has its own");
        let mut followed = 0;
        for (id, user) in &users {
            let count = |hold: &[&str], name: &str| {
                template::mentions(&template::with_conditions(user, hold)).iter().filter(|it| *it == name).count()
            };
            assert_eq!(count(&[condition], resource), 0, "{id} still has {resource}");
            assert_eq!(count(&[], parameter), 0, "{id} has {parameter} without being told");
            assert_eq!(count(&[], resource), count(&[condition], parameter), "{id} has {resource} in other places");
            followed += count(&[], resource);
        }
        assert!(followed >= 15, "{resource}: {followed}");
    }
    let stream = &functions()["event-relay"].properties["Events"]["Stream"]["Properties"]["Stream"];
    let stream = template::with_conditions(stream, &["HasOtherTable"]);
    let arn = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${TableName}";
    assert_eq!(stream, json!({"Fn::Sub": format!("{arn}/stream/${{TableStreamLabel}}")}));
    for (name, function) in functions() {
        let role = properties(function.properties["Role"]["Fn::GetAtt"][0].as_str().expect("a role"));
        let role = template::with_conditions(role, &["HasOtherTable"]);
        let statements = role["Policies"][0]["PolicyDocument"]["Statement"].as_array().expect("statements");
        assert!(statements.iter().any(|it| it["Resource"] == json!({ "Fn::Sub": arn })), "{name}");
    }
}

/// They keep rows of long lists in the bucket.
#[test]
fn functions_that_only_list_reach_no_file_of_a_deal() {
    let functions = functions();
    for name in ["read-api", "mcp", "member-app"] {
        let role = properties(functions[name].properties["Role"]["Fn::GetAtt"][0].as_str().expect("a role"));
        for (given, bucket) in
            [(&[][..], "${Files.Arn}"), (&["HasOtherFiles"], "arn:${AWS::Partition}:s3:::${FilesBucket}")]
        {
            let role = template::with_conditions(role, given);
            let statements = role["Policies"][0]["PolicyDocument"]["Statement"].as_array().expect("statements");
            let of_files = statements.iter().filter(|statement| statement["Action"].to_string().contains("s3:"));
            let reached: Vec<&Value> = of_files.map(|statement| &statement["Resource"]).collect();
            assert_eq!(reached, [&json!({ "Fn::Sub": format!("{bucket}/lists/*") })], "{name}");
        }
    }
}

#[test]
fn copies_of_table_and_bucket_are_made_every_day_if_told() {
    let all = template::template();
    assert_eq!(all["Parameters"]["BackupDays"]["Default"], 0, "a copy of the table costs what the table does");
    assert_eq!(all["Conditions"]["HasBackups"], json!({"Fn::Not": [{"Fn::Equals": [{"Ref": "BackupDays"}, 0]}]}));
    for id in ["BackupPlan", "BackupSelection"] {
        assert_eq!(all["Resources"][id]["Condition"], "HasBackups", "{id}");
    }
    let rules = &properties("BackupPlan")["BackupPlan"]["BackupPlanRule"];
    assert_eq!(rules.as_array().map(Vec::len), Some(1));
    assert_eq!(rules[0]["Lifecycle"], json!({"DeleteAfterDays": {"Ref": "BackupDays"}}));
    assert_eq!(rules[0]["TargetBackupVault"], json!({"Ref": "BackupVault"}));
    assert_eq!(rules[0]["ScheduleExpression"], "cron(0 3 * * ? *)");
    let copied = &properties("BackupSelection")["BackupSelection"]["Resources"];
    let arn = |id: &str| json!({"Fn::GetAtt": [id, "Arn"]});
    assert_eq!(template::with_conditions(copied, &[]), json!([arn("Table"), arn("Files")]));
}

#[test]
fn one_parameter_stops_all_that_runs_by_itself() {
    let stops = json!({"Fn::If": ["HasBackgroundWork", true, false]});
    let mut sources = 0;
    for (name, function) in functions() {
        for source in function.properties["Events"].as_object().into_iter().flatten().map(|(_, source)| source) {
            let properties = &source["Properties"];
            let is_stopped = match source["Type"].as_str() {
                Some("Schedule") => properties["State"] == json!({"Ref": "BackgroundWork"}),
                _ => properties["Enabled"] == stops,
            };
            assert!(is_stopped, "{name}: {source}");
            sources += 1;
        }
    }
    assert_eq!(sources, 4);
    let parameter = &template::template()["Parameters"]["BackgroundWork"];
    // A rule of EventBridge uses the same words for its state.
    assert_eq!(parameter["AllowedValues"], json!(["ENABLED", "DISABLED"]));
    for name in ["RequestsPerSecond", "RequestsAtOnce"] {
        assert_eq!(template::template()["Parameters"][name]["MinValue"], 0);
    }
}

#[test]
fn the_dashboard_shows_this_stage_only() {
    let body = properties("Dashboard")["DashboardBody"]["Fn::Sub"][0].as_str().expect("a text");
    let body: Value = serde_json::from_str(body).expect("JSON");
    let ours: BTreeSet<&str> = resources("AWS::Logs::MetricFilter")
        .filter_map(|(_, filter)| filter["MetricTransformations"][0]["MetricName"].as_str())
        .collect();
    let mut shown = BTreeSet::new();
    for widget in body["widgets"].as_array().expect("widgets") {
        let metrics = widget["properties"]["metrics"].as_array().expect("metrics");
        let namespace = metrics[0][0].as_str().expect("a namespace");
        if namespace.starts_with("Countersign") {
            assert_eq!(namespace, "Countersign/${AWS::StackName}", "{widget}");
            shown.extend(metrics.iter().filter_map(|metric| metric[1].as_str()));
        } else {
            assert!(metrics[0][3].as_str().is_some_and(|value| value.starts_with("${")), "{widget}");
        }
    }
    assert_eq!(shown, ours, "each metric of a filter is shown");
    // Moving messages back takes the queue's ARN.
    let queues = &template::template()["Outputs"];
    assert_eq!(queues["DeadLetterQueueArn"]["Value"], json!({"Fn::GetAtt": ["DeadLetters", "Arn"]}));
}

/// A header gives the client's address only with a secret: callers can bypass what sets the header.
#[test]
fn a_header_for_the_address_needs_its_secret() {
    let rule = &template::template()["Rules"]["AnAddressHasASecret"];
    let given = |parameter: &str| json!({"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]});
    assert_eq!(rule["RuleCondition"], given("ClientAddressHeader"));
    assert_eq!(rule["Assertions"][0]["Assert"], given("ClientAddressSecret"));
    assert_eq!(template::template()["Parameters"]["ClientAddressSecret"]["NoEcho"], true);
    for (name, function) in functions() {
        let has = |variable: &str| function.environment().contains_key(variable);
        assert_eq!(has("CLIENT_ADDRESS_HEADER"), has("CLIENT_ADDRESS_SECRET"), "{name}");
    }
}

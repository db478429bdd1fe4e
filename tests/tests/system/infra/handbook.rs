//! The operators' handbook: [`ops::documented`](super::ops) runs its commands of `ops`, and `make test-stack` those of
//! AWS; the others need third-party tools, and are listed with the reason. And its bill matches the measurements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tests::template;

const HANDBOOK: &str = include_str!("../../../../infra/OPERATIONS.md");
const CAPACITY: &str = include_str!("../../../golden/capacity.json");

/// Commands that these tests don't run, by their beginning, and why.
const ELSEWHERE: [(&str, &str); 6] = [
    ("aws ", "`make test-stack` runs it at an emulator; `scripts/check-aws-calls` holds it against the models of AWS"),
    ("make deploy ", "`make test-stack` runs its script at an emulator, and `deploy.rs` over a stand-in for `aws`"),
    ("docker ", "needs Docker"),
    (
        "PATH=\"$(scripts/tools lambda):$PATH\" cargo lambda deploy ",
        "`make test-stack` runs it where functions are built",
    ),
    ("AWS_ENDPOINT_URL=", "runs this test itself, against what Docker has started"),
    ("curl -o evidence-keys.json ", "asks an address that is an example; the test asks the stack for the same file"),
];

fn commands() -> Vec<String> {
    let blocks = HANDBOOK.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    let joined = blocks.map(|block| block.replace("\\\n", " ").replace("|\n", "| ")).collect::<Vec<_>>().join("\n");
    let commands = joined.lines().filter_map(|line| line.trim_start().strip_prefix("$ "));
    commands.map(|command| command.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_is_no_command_of_ops_says_why_it_is_not_run_here() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands.iter().filter(|command| !command.contains(" -p ops ")) {
        let is_known = ELSEWHERE.iter().any(|(begin, _)| command.starts_with(begin));
        assert!(is_known, "no test runs `{command}`, and none says why");
    }
    for (begin, _) in ELSEWHERE {
        assert!(commands.iter().any(|command| command.starts_with(begin)), "the handbook has no `{begin}`");
    }
}

fn price(what: &str) -> f64 {
    let row = HANDBOOK.lines().find(|line| line.starts_with(&format!("| {what}")));
    let cell = row.and_then(|row| row.split('|').nth(2)).unwrap_or_else(|| panic!("no price of {what}"));
    cell.trim().trim_start_matches('$').parse().expect("a price")
}

#[test]
fn the_bill_follows_from_what_was_measured() {
    let measured: BTreeMap<String, Value> = serde_json::from_str(CAPACITY).expect("JSON");
    let (read, write) = (price("Read request units"), price("Write request units"));
    let memory = &template::functions()["read-api"].properties["MemorySize"];
    let compute = price(&format!("20 ms of a function with {memory} MB"));
    let seconds = 0.02 * memory.as_f64().expect("MB") / 1024.0;
    assert!((compute - seconds * 0.000_013_333_4 * 1e6).abs() < 0.005, "{compute}");
    let each = price("Calls of an HTTP API") + price("Calls of a function") + compute + price("Log lines");
    assert!(HANDBOOK.contains(&format!("each million calls costs ${each:.2} whatever")), "{each}");
    let rows = HANDBOOK.lines().skip_while(|line| !line.starts_with("| Call (a million of them)")).skip(2);
    let mut compared = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, reads, writes, table, all] = cells[..] else { panic!("{row}") };
        let figures = &measured[name.trim_matches('`')];
        let units = |name: &str| figures[name].as_f64().expect("units");
        assert_eq!((reads, writes), (&*units("read_units").to_string(), &*units("write_units").to_string()), "{row}");
        let cost = units("read_units") * read + units("write_units") * write;
        assert_eq!((table, all), (&*format!("${cost:.2}"), &*format!("${:.2}", cost + each)), "{row}");
        compared += 1;
    }
    assert!(compared >= 8, "{compared} rows");
}

#[test]
fn what_a_stage_costs_without_calls_is_multiplied_right() {
    let watched = |alarm: &Value| {
        let metrics = alarm["Metrics"].as_array();
        metrics.map_or(1, |metrics| metrics.iter().filter(|metric| metric.get("MetricStat").is_some()).count())
    };
    let watched: usize = template::resources("AWS::CloudWatch::Alarm").map(|(_, alarm)| watched(alarm)).sum();
    let filters = template::resources("AWS::Logs::MetricFilter");
    let made: BTreeSet<&str> =
        filters.filter_map(|(_, filter)| filter["MetricTransformations"][0]["MetricName"].as_str()).collect();
    let rows = HANDBOOK.lines().skip_while(|line| !line.starts_with("| What | Each | How many")).skip(2);
    let mut compared = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [what, each, how_many, all] = cells[..] else { panic!("{row}") };
        let [each, how_many, all] =
            [each, how_many, all].map(|cell| cell.trim_start_matches('$').parse::<f64>().expect("a figure"));
        assert!((each * how_many - all).abs() < 0.005, "{row}");
        let counted = match what {
            "Metrics that alarms watch" => watched,
            what if what.starts_with("Custom metrics") => made.len(),
            _ => 1,
        };
        assert_eq!(how_many.to_string(), counted.to_string(), "{row}");
        compared += 1;
    }
    assert_eq!(compared, 4);
    // Metrics by route would be extra in the bill, and nothing reads them.
    let stages: Vec<&Value> = template::resources("AWS::ApiGatewayV2::Stage").map(|(_, stage)| stage).collect();
    assert_eq!(stages.len(), 1);
    assert_eq!(stages[0]["DefaultRouteSettings"]["DetailedMetricsEnabled"], false);
}

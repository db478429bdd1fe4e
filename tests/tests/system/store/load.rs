//! What one organization does reaches no other one: `make load`'s simulation, shorter.

use std::time::Duration;

use shared::domain::shards::DueShards;
use shared::limits;
use tests::load::simulated::{Plan, run};
use tests::load::{BUSY_ENDPOINTS, CALLS_PER_SECOND};
use tests::template;

/// Eight organizations on partitions that take as many write units a second as `DynamoDB`'s.
const PLAN: Plan = Plan {
    organizations: 8,
    lasts: Duration::from_secs(20),
    partition_units: 1000,
    calls_per_second: CALLS_PER_SECOND,
    instances: 1,
    due_shards: DueShards::FEWEST,
    busy_endpoints: BUSY_ENDPOINTS,
    has_trouble: true,
};

#[test]
fn a_flood_dead_endpoints_and_a_writer_without_pause_slow_no_other_organization() {
    let (calm, troubled) = (run(Plan { has_trouble: false, ..PLAN }), run(PLAN));
    for phase in [&calm, &troubled] {
        assert!(phase.calls() > 5 * 50, "each makes some three calls a second:\n{phase}");
        assert_eq!((phase.errors(), phase.late()), (0, 0), "\n{phase}");
    }
    assert!(troubled.flood().is_some_and(|flood| flood.statuses.get(&429) > flood.statuses.get(&200)), "\n{troubled}");
    assert!(troubled.p99_ms() <= 2.0 * calm.p99_ms(), "all calm:\n{calm}\nnot all:\n{troubled}");
}

#[test]
fn organizations_that_spend_their_partitions_are_throttled_and_no_others() {
    let troubled = run(Plan { partition_units: 100, ..PLAN });
    assert!(troubled.throttled().troubling_ones > 0, "\n{troubled}");
    assert_eq!((troubled.throttled().calm_ones, troubled.errors()), (0, 0), "\n{troubled}");
}

/// Some 150 events a second, each with a delivery to each of 20 endpoints: 63 write units in its shard. Two seconds show
/// it, on partitions that take somewhat less than `DynamoDB`'s: with fewer shards, these spend theirs in the first one.
const FLOOD_OF_EVENTS: Plan = Plan {
    organizations: 4,
    lasts: Duration::from_secs(2),
    partition_units: 700,
    instances: 6,
    busy_endpoints: limits::ENDPOINTS_MAX,
    ..PLAN
};

#[test]
fn events_of_an_organization_with_the_budgets_of_several_instances_throttle_no_other_one() {
    let count = template::template()["Parameters"]["DueShards"]["Default"].as_u64();
    let deployed = count.and_then(|count| DueShards::new(count.try_into().ok()?)).expect("a number of shards");
    let flooded = run(Plan { due_shards: deployed, ..FLOOD_OF_EVENTS });
    assert_eq!((flooded.throttled().shared, flooded.throttled().calm_ones), (0, 0), "\n{flooded}");
    assert_eq!(flooded.errors(), 0, "\n{flooded}");

    let on_fewest = run(FLOOD_OF_EVENTS);
    assert!(on_fewest.throttled().shared > 0, "the fewest shards would not take it:\n{on_fewest}");
}

//! What one organization does reaches no other one: `make load`'s simulation, shorter.

use std::time::Duration;

use tests::load::CALLS_PER_SECOND;
use tests::load::simulated::{Plan, run};

/// Eight organizations on partitions that take as many write units a second as `DynamoDB`'s.
const PLAN: Plan = Plan {
    organizations: 8,
    lasts: Duration::from_secs(20),
    partition_units: 1000,
    calls_per_second: CALLS_PER_SECOND,
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

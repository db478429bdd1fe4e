//! Changed endpoints whose deliveries the clock updates take turns: a backlog of one doesn't hold up the others.

use std::time::Duration;

use futures_util::future::join_all;
use shared::domain::delivery::Progress;
use shared::limits;
use tests::clockwork::Clockwork;
use tests::faults::Injection;
use tests::{Fault, Faults, Needs, Org, Rule, Stack, eventually, outbox};

const TURN: Duration = Duration::from_secs(3);
/// So long that a page of deliveries, a few at a time, takes longer than a turn.
const WRITE: Duration = Duration::from_millis(150);

#[tokio::test]
async fn a_turn_that_ends_unfinished_goes_on_once_every_other_endpoint_had_one() {
    let page = usize::try_from(limits::SWEEP_ENTRIES_MAX).expect("a number of entries");
    let quiet = Stack::with(Needs::OWN.without_background());
    let org = Org::on(quiet.clone()).await;
    // One more than are updated at a time.
    let endpoints = [org.subscriber().await, org.subscriber().await, org.subscriber().await];
    assert_eq!(endpoints.len(), limits::FOLLOW_UP_ENDPOINTS + 1);
    let events: Vec<_> = (0..=page).map(|_| outbox::event()).collect();
    outbox::insert_relayed(&org, &events).await;
    for endpoint in &endpoints {
        assert_eq!(endpoint.press("pause", &[]).await.status, 303);
        let hold = |event| {
            outbox::deliver(&org, endpoint.id, event, |delivery| {
                delivery.progress = Progress::Held { at: delivery.created_at }
            })
        };
        for some in events.chunks(20) {
            join_all(some.iter().map(hold)).await;
        }
        assert_eq!(endpoint.press("resume", &[]).await.status, 303);
    }

    let faults = Faults::before(&quiet.table().endpoint);
    let stack = quiet.through(&faults);
    let clockwork = Clockwork::on(&stack);
    let writes = endpoints.each_ref().map(|endpoint| {
        let of_deliveries = Rule::on("TransactWriteItems").containing(format!("#DELIVERIES#{}", endpoint.id));
        faults.inject(of_deliveries, Fault::Delay(WRITE))
    });
    // Each turn begins with a look at what is undelivered.
    let second_turns = endpoints.each_ref().map(|endpoint| {
        let looks = Rule::on("Query").containing(format!("#UNDELIVERED#{}", endpoint.id));
        faults.inject(looks.every(2), Fault::Held)
    });
    let first_turns = async {
        let is_second = async || second_turns.iter().any(|looks| looks.count() > 0).then_some(());
        eventually("a second turn", is_second).await;
        let written = writes.each_ref().map(Injection::count);
        faults.end_all();
        written
    };
    let (tick, written) = futures_util::join!(clockwork.first_tick_in_turns(TURN), first_turns);
    assert_eq!(written, [page; 3], "each had its first turn before any had its second one");
    assert_eq!((tick.relayed, tick.failed), (3, 0), "{tick:?}");
    for endpoint in &endpoints {
        assert!(!endpoint.admin.get(&endpoint.path()).await.says("to be sent"));
    }
}

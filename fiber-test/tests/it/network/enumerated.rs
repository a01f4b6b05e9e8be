//! Faults in an exhaustive exploration.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fiber_core::net::UdpSocket;
use fiber_core::{Error, Fiber, fiber};
use fiber_test::{Explore, Fault, FaultKind, Faults};

use super::support::{HERE, PORT, Tried, connected, hosts, millis, secs};

fn exhaustive(faults: Faults) -> Explore {
    Explore::exhaustive().no_regressions().faults(faults)
}

/// The faults of the network in each run, as the trace describes them.
fn seen(explore: Explore, program: fn() -> Fiber<()>) -> (Vec<Vec<String>>, u64) {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let all = runs.clone();
    let explored = explore
        .inspect(move |trace| {
            let text = trace.to_string();
            let faults = text.lines().filter(|line| line.contains("from outside"));
            all.lock().unwrap().push(faults.map(str::to_owned).collect());
        })
        .check(program);
    assert!(explored.is_complete());
    let runs = runs.lock().unwrap().clone();
    (runs, explored.schedules())
}

/// One fiber on a host, with three steps. A crash of the host does no harm.
fn three_steps() -> Fiber<()> {
    fiber! {
        let! [a] = hosts(["a"]);
        let! _ = a.run(|| Fiber::yield_now().bind(|()| Fiber::yield_now())).tried();
    }
}

#[test]
fn a_crash_comes_before_every_turn() {
    let (without, _) = seen(Explore::exhaustive().no_regressions(), three_steps);
    let (runs, schedules) = seen(exhaustive(Faults::new().crashes(1)), three_steps);
    assert_eq!(runs.len() as u64, schedules);
    // All orders without a crash are also included.
    assert_eq!(runs.iter().filter(|faults| faults.is_empty()).count(), without.len());
    // In each order, it may come before any of the turns after the creation of the host.
    assert!(runs.len() > 4 * without.len(), "{} of {}", without.len(), runs.len());
}

#[test]
fn every_schedule_is_another_one() {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let all = texts.clone();
    exhaustive(Faults::new().crashes(2))
        .preemptions(0)
        .inspect(move |trace| all.lock().unwrap().push(trace.to_string()))
        .check(three_steps);
    let texts = texts.lock().unwrap();
    let different: BTreeSet<&String> = texts.iter().collect();
    assert_eq!(different.len(), texts.len());
}

/// A value is written in two steps, and the crash comes between them.
fn torn_by_a_crash() -> Fiber<()> {
    fiber! {
        let! [a] = hosts(["a"]);
        let disk = Arc::new(Mutex::new((0, 0)));
        let writes = disk.clone();
        let write = move || {
            let (first, second) = (writes.clone(), writes.clone());
            fiber! {
                do! Fiber::lazy(move || first.lock().unwrap().0 = 1);
                do! Fiber::lazy(move || second.lock().unwrap().1 = 1);
            }
        };
        let! _ = a.run(write).timeout_option(secs(1)).tried();
        let (one, other) = *disk.lock().unwrap();
        assert_eq!(one, other, "torn");
    }
}

#[test]
fn the_one_turn_that_breaks_the_program_is_found_and_replayed() {
    // Down for longer than the program waits.
    let faults = Faults::new().crashes(1).lasting(secs(2));
    let failure = exhaustive(faults).try_check(torn_by_a_crash).unwrap_err();
    let [Fault { kind: FaultKind::Crash, hosts, .. }] = failure.schedule().faults() else {
        panic!("{failure}")
    };
    assert_eq!(hosts, &["a"]);
    let text = failure.schedule().to_string();
    // The choice of the fault is not a number that the program has drawn.
    assert!(!text.contains('='), "{text}");
    let again = Explore::replay(&text).try_check(torn_by_a_crash).unwrap_err();
    assert_eq!(again.problem().to_string(), failure.problem().to_string());
}

/// A random number and a fault, which are a problem only together.
fn drawn_and_broken() -> Fiber<()> {
    fiber! {
        let! [a] = hosts(["a"]);
        let! drawn = Fiber::random_u64();
        let! _ = Fiber::yield_now();
        let! other = Fiber::random_u64();
        let! ran = a.run(|| Fiber::yield_now().map(|()| true)).timeout_option(millis(1)).tried();
        let is_broken = !matches!(ran, Ok(Some(true)));
        assert!(!(drawn == 1 && other == 2 && is_broken), "unlucky");
    }
}

#[test]
fn random_numbers_keep_their_places_beside_faults() {
    let failure = exhaustive(Faults::new().crashes(1)).draws(3).try_check(drawn_and_broken).unwrap_err();
    let text = failure.schedule().to_string();
    assert!(text.contains(":=1") && text.contains(":=2") && text.contains("crash"), "{text}");
    assert!(Explore::replay(&text).draws(3).try_check(drawn_and_broken).is_err());
    exhaustive(Faults::new()).draws(3).check(drawn_and_broken);
}

fn one_message() -> Fiber<Result<(), Error>> {
    fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let sent = fiber! {
            let! (client, server) = connected(&a, &b);
            let! _ = client.write_all("x") and! _ = server.read([0]);
        };
        let! result = sent.timeout(secs(1)).tried();
        result
    }
}

#[test]
fn resets_and_partitions_are_found() {
    let program = || one_message().map(|result| result.unwrap());
    for (faults, kind) in
        [(Faults::new().resets(1), FaultKind::Reset), (Faults::new().partitions(1), FaultKind::Cut)]
    {
        let failure = exhaustive(faults).preemptions(0).try_check(program).unwrap_err();
        let [fault] = failure.schedule().faults() else { panic!("{failure}") };
        assert_eq!(fault.kind, kind);
    }
}

#[test]
fn a_lost_datagram_is_found() {
    let program = || {
        fiber! {
            let! [a, b] = hosts(["a", "b"]);
            let! receiver = b.run(|| UdpSocket::bind(HERE));
            let! sender = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
            do! sender.send_to("x", b.at(PORT));
            do! receiver.recv([0]).timeout(secs(1));
        }
    };
    let failure = exhaustive(Faults::new().losses(1)).try_check(program).unwrap_err();
    assert_eq!(failure.schedule().faults()[0].kind, FaultKind::Loss);
}

#[test]
fn a_program_without_hosts_is_explored_as_without_faults() {
    let program = || Fiber::yield_now().zip(Fiber::yield_now());
    let without = Explore::exhaustive().no_regressions().check(program);
    let with = exhaustive(Faults::new().crashes(3).partitions(3)).check(program);
    assert!(with.is_complete());
    assert_eq!(with.schedules(), without.schedules());
}

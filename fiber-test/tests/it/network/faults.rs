//! Faults that the explorer injects.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use fiber_core::net::UdpSocket;
use fiber_core::{Either, Fiber, Policy, fiber};
use fiber_test::{Explore, Fault, FaultKind, Faults, TestScheduler};

use super::support::{HERE, PORT, asks, echoes, hosts, millis, secs};

fn explore(faults: Faults) -> Explore {
    Explore::default().no_regressions().schedules(300).faults(faults)
}

/// A client on one host, and a server on another one.
fn beside_a_server(client: fn(std::net::SocketAddr) -> Fiber<Option<String>>) -> Fiber<()> {
    fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let at = b.at(PORT);
        let! first = b.run(echoes).race(a.run(move || client(at)));
        let Either::Right(answer) = first else { unreachable!("it serves without end") };
        assert_eq!(answer.as_deref(), Some("hello"), "no answer");
    }
}

fn once() -> Fiber<()> {
    // Long after the server listens.
    beside_a_server(|at| Fiber::delay(millis(1)).bind(move |()| asks(at, "hello")).boxed())
}

/// With time limits, and retries until there is an answer.
fn patiently() -> Fiber<()> {
    beside_a_server(|at| {
        let attempt = move || {
            let in_time = asks(at, "hello").timeout(secs(1));
            in_time.bind(|answer| {
                Fiber::from_outcome(
                    answer.ok_or_else(|| fiber_core::Error::msg("cut short")).map(Some).into(),
                )
            })
        };
        Fiber::retry_with(Policy::spaced(secs(1)), attempt).boxed()
    })
}

#[test]
fn without_faults_asking_once_is_enough() {
    Explore::default().no_regressions().schedules(300).check(once);
}

#[test]
fn a_crash_is_found_shrunk_and_replayed() {
    let failure = explore(Faults::new().crashes(2)).try_check(once).unwrap_err();
    let [Fault { kind: FaultKind::Crash, hosts, .. }] = failure.schedule().faults() else {
        panic!("one crash is enough: {failure}")
    };
    assert_eq!(hosts, &["b"]);
    let text = failure.schedule().to_string();
    assert!(text.contains("crash") && text.contains("@b:"), "{text}");
    let again = Explore::replay(&text).try_check(once).unwrap_err();
    assert_eq!(again.problem().to_string(), failure.problem().to_string());
    assert_eq!(again.trace().turns().len(), failure.trace().turns().len());
    let report = failure.to_string();
    assert!(report.contains("host b crashes before turn"), "{report}");
    assert!(report.contains("from outside: crashes host b"), "{report}");
}

#[test]
fn a_schedule_with_a_fault_can_be_stepped_through() {
    let failure = explore(Faults::new().crashes(1)).try_check(once).unwrap_err();
    let test = TestScheduler::with_schedule(failure.schedule().clone());
    let again = test.run(once());
    assert!(!again.is_success(), "{again:?}");
}

#[test]
fn the_nearest_schedule_has_the_fault_elsewhere() {
    let failure = explore(Faults::new().crashes(1)).try_check(once).unwrap_err();
    let (passing, _) = failure.passing().expect("the program passes, if nothing crashes or at another turn");
    assert_ne!(passing, failure.schedule());
}

#[test]
fn a_partition_is_found() {
    let limited = || once().timeout(secs(5));
    let failure = explore(Faults::new().partitions(1)).try_check(limited).unwrap_err();
    let [Fault { kind: FaultKind::Cut, lasts, .. }] = failure.schedule().faults() else {
        panic!("{failure}")
    };
    assert!(*lasts > secs(4), "a shorter one is not noticed: {failure}");
}

#[test]
fn a_reset_is_found() {
    let failure = explore(Faults::new().resets(1)).try_check(once).unwrap_err();
    let [Fault { kind: FaultKind::Reset, hosts, lasts, .. }] = failure.schedule().faults() else {
        panic!("{failure}")
    };
    assert_eq!(hosts, &["a", "b"]);
    assert!(lasts.is_zero());
}

#[test]
fn who_tries_again_survives_all_faults() {
    explore(Faults::new().crashes(2).partitions(2).resets(2)).check(patiently);
}

#[test]
fn faults_are_over_in_time() {
    let up = || {
        fiber! {
            let! [a] = hosts(["a"]);
            // Whatever happens to it, it is up again after five seconds, or runs until then.
            let! _ = a.run(|| Fiber::delay(secs(1)));
            let! now = Fiber::now();
            assert!(now.as_nanos() <= 6_000_000_000, "{now}");
        }
    };
    explore(Faults::new().crashes(1).lasting(secs(5))).check(up);
    explore(Faults::new().crashes(1).lasting(secs(8))).try_check(up).unwrap_err();
}

#[test]
fn the_same_seed_finds_the_same_on_any_number_of_threads() {
    let found = |threads| {
        let failure =
            explore(Faults::new().crashes(1).resets(1)).threads(threads).try_check(once).unwrap_err();
        (failure.number(), failure.schedule().clone())
    };
    assert_eq!(found(1), found(3));
}

#[test]
fn a_program_without_hosts_has_nothing_to_break() {
    let explored = explore(Faults::new().crashes(3)).check(|| Fiber::success(1).zip(Fiber::success(2)));
    assert!(!explored.is_complete(), "faults are drawn");
}

#[test]
fn most_schedules_break_something() {
    let (broken, all) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (breaks, counts) = (broken.clone(), all.clone());
    let inspected = explore(Faults::new().crashes(1)).inspect(move |trace| {
        counts.fetch_add(1, SeqCst);
        breaks.fetch_add(u32::from(trace.to_string().contains("crashes host")), SeqCst);
    });
    inspected.check(patiently);
    let (broken, all) = (broken.load(SeqCst), all.load(SeqCst));
    assert!(broken * 2 > all, "{broken} of {all}");
}

#[test]
#[should_panic(expected = "faults are drawn with the schedules of the portfolio, or enumerated")]
fn a_cancelled_exploration_has_no_faults() {
    let _ = Explore::cancel_everywhere().faults(Faults::new().crashes(1));
}

/// Asks by a datagram, up to `attempts` times, each with a time limit of a second.
fn by_datagram(attempts: u64) -> Fiber<()> {
    fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! server = b.run(|| UdpSocket::bind(HERE));
        let! client = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
        let answers = Fiber::<()>::iterate((), move |()| {
            let reply = server.clone();
            let question = server.recv_from([0; 8]);
            question.bind(move |(_, from, _)| reply.send_to("yes", from)).map(|_| ControlFlow::Continue(()))
        });
        let at = b.at(PORT);
        let ask = move || {
            let hears = client.clone();
            client.send_to("?", at).bind(move |_| hears.recv([0; 8])).timeout(secs(1)).map(drop)
        };
        let asks = Fiber::retry_with(Policy::recurs(attempts - 1), ask);
        do! answers.race(asks);
    }
}

#[test]
fn a_lost_datagram_is_found_shrunk_and_replayed() {
    let failure = explore(Faults::new().losses(1)).try_check(|| by_datagram(1)).unwrap_err();
    let [Fault { kind: FaultKind::Loss, hosts, lasts, .. }] = failure.schedule().faults() else {
        panic!("one loss is enough: {failure}")
    };
    assert_eq!((hosts.join("+").as_str(), lasts.as_nanos()), ("a+b", 0));
    let text = failure.schedule().to_string();
    assert!(text.contains("lose") && text.contains("@a+b"), "{text}");
    assert!(Explore::replay(&text).try_check(|| by_datagram(1)).is_err());
}

#[test]
fn who_asks_again_survives_the_loss_of_datagrams() {
    explore(Faults::new().losses(2)).check(|| by_datagram(3));
}

#[test]
fn a_fork_that_waits_for_a_host_that_crashes_is_cancelled_with_its_program() {
    let hears = || {
        fiber! {
            let! [b] = hosts(["b"]);
            do! b.run(|| fiber! {
                let! socket = UdpSocket::bind(HERE);
                let hears = socket.recv_from([0; 8]).timeout_option(millis(5));
                let! fork = hears.map(drop).fork();
                do! fork.join();
            });
        }
    };
    explore(Faults::new().crashes(1)).check(hears);
    let all = Explore::exhaustive().no_regressions().preemptions(1).faults(Faults::new().crashes(1));
    assert!(all.check(hears).is_complete());
}

/// The failure is not observed, because nobody waits for the host any more.
#[test]
fn what_cannot_be_cancelled_may_fail_on_a_host_that_has_crashed() {
    let binds = || {
        fiber! {
            let! [b] = hosts(["b"]);
            let bind = |port| UdpSocket::bind(([0, 0, 0, 0], port));
            let both = b.run(move || bind(1).bind(move |one| bind(2).map(move |two| drop((one, two)))).uncancelable());
            do! both.race(Fiber::for_each(0..3, |_| Fiber::yield_now()));
        }
    };
    explore(Faults::new().crashes(1)).check(binds);
    let all = Explore::exhaustive().no_regressions().faults(Faults::new().crashes(1));
    assert!(all.check(binds).is_complete());
}

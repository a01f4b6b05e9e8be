//! A report names the two turns whose order makes the difference.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::fs::{self, File};
use fiber_core::{Fiber, fiber};
use fiber_test::{Explore, Failure, Faults, network};

use crate::known;
use crate::support::{Lock, Shared};

const SECOND: Duration = Duration::from_secs(1);

/// The turns of the pair, each by its fiber and the operator that it continued from.
fn pair(failure: &Failure) -> [(String, &'static str); 2] {
    let (first, second) = failure.pair().expect("there is a schedule that does not break the program");
    [first, second].map(|number| {
        let turn = &failure.trace().turns()[number];
        let lane = turn.lane.expect("it is the turn of a fiber");
        (failure.trace().lanes()[lane].id.clone(), turn.operator)
    })
}

fn assert_pair(program: fn() -> Fiber<()>, expected: [(&str, &str); 2]) {
    let failure = known::failure(program, 1);
    let pair = pair(&failure);
    let expected = expected.map(|(fiber, operator)| (fiber.to_owned(), operator));
    assert!(pair == expected, "{pair:?} in\n{failure}");
}

/// A fiber reads in its first turn and writes in the second one.
#[test]
fn of_a_lost_update_it_is_the_read_of_one_and_the_write_of_the_other() {
    assert_pair(known::lost_update, [("0.0.1", "start"), ("0.0.0", "bind")]);
}

/// The second turn of both: to drain, and to send.
#[test]
fn of_a_lost_message_it_is_draining_and_sending() {
    assert_pair(known::close_send, [("0.0.1", "bind"), ("0.0.0", "bind")]);
}

/// One fiber acquires its first lock before the other one acquires the same as its second.
#[test]
fn of_a_deadlock_it_is_the_first_lock_of_one_and_the_second_of_the_other() {
    assert_pair(known::lock_order, [("0.0.1", "start"), ("0.0.0", "bind")]);
}

/// The permit is counted by hand; it is lost if the timeout comes before the end of the work, at the same instant.
fn lost_permit() -> Fiber<()> {
    let permits = Shared::new(1);
    let (take, release, check) = (permits.clone(), permits.clone(), permits);
    let take = take.step(|permits| *permits -= 1);
    let work = take.bind(|()| Fiber::delay(SECOND));
    let work = work.bind(move |()| release.step(|permits| *permits += 1));
    let impatient = work.timeout_option(SECOND);
    impatient.map(move |_| assert_eq!(check.with(|permits| *permits), 1)).boxed()
}

/// A timeout and its body belong to one fiber.
#[test]
fn of_one_fiber_it_is_the_timeout_and_what_it_was_for() {
    assert_pair(lost_permit, [("0", "timeout"), ("0", "delay")]);
}

/// Looks, works, writes: in lock-step, both have looked before one of them writes.
fn fetched_twice() -> Fiber<()> {
    let cache = Shared::new((false, 0));
    let fetch = || {
        let (work, write) = (cache.clone(), cache.clone());
        let look = cache.step(|(is_there, _)| *is_there);
        let fetch = move || {
            let work = work.step(|(_, fetched)| *fetched += 1);
            work.bind(move |()| write.step(|(is_there, _)| *is_there = true)).boxed()
        };
        look.bind(move |is_there| if is_there { Fiber::success(()).boxed() } else { fetch() })
    };
    let both = Fiber::parallel([fetch(), fetch()]);
    both.map(move |_| assert_eq!(cache.with(|(_, fetched)| *fetched), 1)).boxed()
}

#[test]
fn of_two_that_look_work_and_write_it_is_the_look_of_one_and_the_write_of_the_other() {
    let failure = known::failure(fetched_twice, 1);
    assert_eq!(failure.schedule().to_string(), "");
    assert_eq!(failure.passing().expect("there is one").0.to_string(), "2:1 3:1");
    let (first, second) = failure.pair().expect("it has a pair");
    let turns = failure.trace().turns();
    assert_eq!((first, turns[first].operator), (2, "start"), "{failure}");
    assert_eq!((second, turns[second].operator), (5, "bind"), "{failure}");
}

/// Three fibers in a cycle: it suffices that one of them is late.
fn circle() -> Fiber<()> {
    let locks: [Lock; 3] = Default::default();
    let both = |first: usize| {
        let second = locks[(first + 1) % 3].clone();
        locks[first].take().bind(move |first| second.take().map(|second| drop((first, second))))
    };
    Fiber::parallel([both(0), both(1), both(2)]).map(drop).boxed()
}

#[test]
fn every_deadlock_of_a_circle_has_a_schedule_next_to_it_that_ends() {
    for seed in 0..20 {
        let failure = Explore::default().seed(seed).try_check(circle).unwrap_err();
        assert!(failure.passing().is_some() && failure.pair().is_some(), "{failure}");
    }
}

/// Breaks only if both turns of the given schedule are as given; with one fiber or with several.
#[test]
fn of_two_deviations_that_are_needed_one_is_left_out() {
    let program = || {
        let order = Shared::new(Vec::new());
        let steps = |name: char| {
            let (one, two) = (order.clone(), order.clone());
            one.step(move |order| order.push(name)).bind(move |()| two.step(move |order| order.push(name)))
        };
        let all = Fiber::parallel([steps('a'), steps('b'), steps('c')]);
        let order = order.clone();
        all.map(move |_| order.with(|order| assert!(order[..2] != ['b', 'c']))).boxed()
    };
    let failure = Explore::replay("1:1 2:1").try_check(program).unwrap_err();
    assert!(failure.passing().is_some() && failure.pair().is_some(), "{failure}");
}

#[test]
fn the_report_marks_the_pair() {
    let failure = known::failure(known::close_send, 1);
    let text = failure.to_string();
    let marked: Vec<&str> = text.lines().filter(|line| line.starts_with('>')).collect();
    assert_eq!(marked.len(), 2, "{text}");
    assert!(marked[0].starts_with(">   3* . . C  bind at"), "{text}");
    assert!(marked[1].starts_with(">   4  . B .  bind at"), "{text}");
    let summary = "the nearest schedule that does not break the program is \"\"; it has this pair (>) the other way round:";
    assert!(text.contains(summary), "{text}");
}

/// Two fibers run after the number was drawn, or the disk has lost a file; their order makes no difference.
#[test]
fn a_number_that_decides_is_told_without_a_pair() {
    let steps = || Fiber::for_each(0..2, |_| Fiber::yield_now());
    let draws = || Fiber::random_u64().bind(move |n| steps().zip(steps()).map(move |_| assert_ne!(n, 5)));
    let failure = Explore::exhaustive().no_regressions().draws(6).try_check(draws).unwrap_err();
    assert_eq!(failure.schedule().to_string(), "1:=5");
    assert_eq!((failure.passing().unwrap().0.to_string().as_str(), failure.pair()), ("", None));

    let creates = || {
        fiber! {
            let! network = network();
            do! network.host("a").run(|| fiber! {
                let! found = fs::read_to_string("/file").catch(|_| Fiber::success("none".to_owned()));
                assert!(found == "none" || found == "text", "{found:?} is left");
                let! file = File::create("/file");
                do! file.write_all("text");
                do! file.sync_all();
            });
        }
    };
    let explore = Explore::default().no_regressions().faults(Faults::new().crashes(1));
    let failure = explore.try_check(creates).unwrap_err();
    let text = failure.schedule().to_string();
    let (crash, number) = text.split_once(' ').unwrap();
    assert!(number.contains(":="), "{text}");
    assert_eq!((failure.passing().unwrap().0.to_string().as_str(), failure.pair()), (crash, None));
}

/// Without a limit, each of the deviations would be left out once, and the livelock run to its end each time.
#[test]
fn of_a_livelock_with_many_deviations_not_all_are_left_out() {
    const TURNS: usize = 2_000;
    let runs = AtomicU64::new(0);
    let spin = || Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::<()>::Continue));
    let schedule = (4..1_504).map(|turn| format!("{turn}:1")).collect::<Vec<_>>().join(" ");
    let explore = Explore::replay(&schedule).turns_per_instant(TURNS);
    let failure = explore.try_check(|| {
        runs.fetch_add(1, SeqCst);
        spin().zip(spin()).map(drop)
    });
    assert_eq!(failure.unwrap_err().schedule().deviations().len(), 1_500);
    // A million turns in all, as the others.
    assert!(runs.into_inner() <= 1_000_000 / TURNS as u64 + 2);
}

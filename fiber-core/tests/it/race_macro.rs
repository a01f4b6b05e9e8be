//! `race!`: who wins, when its handler runs, and what becomes of the other arms.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::sync::{Channel, Semaphore};
use fiber_core::{CancelToken, Either, Error, Fiber, Run, fiber, race};
use fiber_test::{Explore, TestScheduler};

use crate::support::Counter;

const SECOND: Duration = Duration::from_secs(1);

fn after<T: Send + 'static>(seconds: u32, value: T) -> Fiber<T, impl Run<Out = T>> {
    Fiber::delay(seconds * SECOND).map(move |()| value)
}

/// What has happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn add(&self, line: &'static str) {
        self.0.lock().unwrap().push(line);
    }

    fn adding(&self, line: &'static str) -> Fiber<()> {
        let log = self.clone();
        Fiber::lazy(move || log.add(line)).boxed()
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[test]
fn the_value_is_that_of_the_handler_of_the_first_arm_to_end() {
    let race = |a, b, c| {
        race! {
            number = after(a, 7_u32) => format!("number {number}"),
            (one, two) = after(b, ("one", 2.0)) => format!("{one} and {two}"),
            () = Fiber::delay(c * SECOND) => "time".to_owned(),
        }
    };
    let run = |a, b, c| TestScheduler::new().run(race(a, b, c)).unwrap();
    assert_eq!(run(1, 2, 3), "number 7");
    assert_eq!(run(2, 1, 3), "one and 2");
    assert_eq!(run(3, 2, 1), "time");
}

#[test]
fn of_arms_that_are_ready_or_end_at_the_same_instant_the_upper_one_wins() {
    for seconds in [0, 1] {
        let later = move |ready: bool, name| {
            if ready { after(seconds, name).boxed() } else { after(9, "late").boxed() }
        };
        let race = |a, b, c| {
            let race = race! {
                a = later(a, "a") => a,
                b = later(b, "b") => b,
                c = later(c, "c") => c,
            };
            TestScheduler::new().run(race).unwrap()
        };
        assert_eq!(race(true, true, true), "a");
        assert_eq!(race(false, true, true), "b");
        assert_eq!(race(true, false, true), "a");
        assert_eq!(race(false, false, true), "c");
    }
}

#[test]
fn an_arm_below_one_that_is_ready_never_starts() {
    let started = Counter::default();
    let starts = started.count();
    let race = race! {
        () = Fiber::<()>::never() => "never",
        () = Fiber::success(()) => "ready",
        () = starts => "below",
    };
    assert_eq!(fiber_sched::CurrentThread::new().run(race).unwrap(), "ready");
    assert_eq!(started.get(), 0);
}

#[test]
fn a_handler_runs_when_the_losers_have_ended() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let loser = |name, seconds| {
        let log = log.clone();
        Fiber::<()>::never().ensure(Fiber::delay(seconds * SECOND).map(move |()| log.add(name)))
    };
    let (slow, slower) = (loser("slow loser", 2), loser("slower loser", 5));
    let (wins, handles) = (log.adding("winner"), log.clone());
    let race = fiber! {
        do! race! {
            () = slower => unreachable!(),
            () = Fiber::delay(SECOND).bind(|()| wins) => handles.add("handler"),
            () = slow => unreachable!(),
        };
        handles.add("after");
    };
    test.run(race).unwrap();
    assert_eq!(log.take(), ["winner", "slow loser", "slower loser", "handler", "after"]);
    assert_eq!(test.now().as_nanos(), 6_000_000_000);
    test.assert_no_leaks();
}

/// A pump reads while it has room, and writes while it has something.
#[test]
fn an_arm_whose_condition_does_not_hold_is_switched_off() {
    let (sender, items) = Channel::unbounded();
    let (to, written) = Channel::rendezvous();
    (1..=5).for_each(|n| sender.try_send(n).unwrap());
    drop(sender);
    let pumps = fiber! {
        let (mut kept, mut is_open, mut most) = (VecDeque::new(), true, 0);
        while is_open || !kept.is_empty() {
            do! race! {
                item = items.next(), if is_open && kept.len() < 2 => match item {
                    Some(item) => kept.push_back(item),
                    None => is_open = false,
                },
                () = to.send(kept[0]), if !kept.is_empty() => _ = kept.pop_front(),
            };
            most = kept.len().max(most);
        }
        most
    };
    let takes = fiber! {
        for n in 1..=5 {
            do! Fiber::delay(SECOND);
            assert_eq!(do! written.recv(), n);
        }
    };
    assert_eq!(TestScheduler::new().run(pumps.zip(takes)).unwrap(), (2, ()));
}

#[test]
fn the_fiber_of_an_arm_that_is_switched_off_is_not_made() {
    let waits = |first: bool, second: bool, third: bool| {
        let one = after(1, "one");
        let race = race! {
            name = one, if first => name,
            name = { assert!(second); after(2, "two").boxed() }, if second => name,
            name = { assert!(third); Fiber::success("three") }, if third => name,
        };
        TestScheduler::new().run(race.timeout_option(5 * SECOND)).unwrap()
    };
    assert_eq!(waits(true, true, true), Some("three"));
    assert_eq!(waits(true, true, false), Some("one"));
    assert_eq!(waits(false, true, false), Some("two"));
    assert_eq!(waits(false, false, false), None);
}

#[test]
fn a_condition_may_be_a_pattern_whose_names_are_in_the_fiber() {
    let first = |seconds: Option<u32>, text: Option<&'static str>| {
        let race = race! {
            name = after(seconds, "timer"), if let Some(seconds) = seconds && seconds > 1 => name,
            name = after(3, text), if let Some(text) = text => name,
        };
        TestScheduler::new().run(race.timeout_option(5 * SECOND)).unwrap()
    };
    assert_eq!(first(Some(2), Some("text")), Some("timer"));
    assert_eq!(first(Some(1), Some("text")), Some("text"));
    assert_eq!(first(Some(4), Some("text")), Some("text"));
    assert_eq!(first(None, None), None);
}

#[test]
fn an_else_may_follow_the_arms() {
    let asked = |answer: Option<u32>| {
        fiber! {
            let! Some(answer) = race! {
                answer = after(1, answer) => answer,
                () = after(2, ()) => None,
            } else { return 0 };
            answer
        }
    };
    let both = TestScheduler::new().run(asked(Some(7)).zip(asked(None)));
    assert_eq!(both.unwrap(), (7, 0));
}

#[test]
fn an_else_may_follow_the_arms_behind_a_plain_let() {
    let fiber = fiber! {
        let Some(one) = do! race! { one = after(1, 1) => Some(one), () = after(2, ()) => None } else { return 0 };
        let Some(two) = do! race! { () = after(1, ()) => None::<u32>, two = after(2, 2) => Some(two) } else { return one };
        two
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 1);
}

#[test]
fn a_handler_is_code_of_the_block() {
    let (sender, receiver) = Channel::unbounded();
    let stop = CancelToken::new();
    (1..=3).for_each(|n| sender.try_send(n).unwrap());
    stop.cancel();
    let served = fiber! {
        let mut seen = Vec::new();
        let last = 'all: loop {
            for round in 0.. {
                let! counted = race! {
                    n = receiver.recv() => {
                        seen.push(n);
                        let! doubled = after(1, 2 * n) and! _ = after(2, ());
                        if n == 2 { continue }
                        doubled + "0".parse::<i32>()?
                    }
                    () = Fiber::<()>::never() => return (seen, 0, 0),
                    () = stop.cancelled() => break 'all round,
                };
                seen.push(counted);
            }
        };
        (seen, last, 1 + do! race! { n = after(1, 1) => n, n = after(2, 2) => n })
    };
    assert_eq!(TestScheduler::new().run(served).unwrap(), (vec![1, 2, 2, 3, 6], 3, 2));
}

#[test]
fn it_may_be_a_side_of_an_and_or_a_tail_call_or_in_an_arm() {
    let first = |a, b| race! { n = after(a, a) => n, n = after(b, b) => n };
    let fiber = fiber! {
        let! (a, b) = race! { n = after(3, 3) => (n, 0), n = after(1, 1) => (0, n) }
        and! c = race! { n = after(2, 2) => { do! Fiber::delay(SECOND); n } n = after(4, 4) => n };
        if a + b + c == 0 { return 0 }
        return! race! {
            n = first(7, 5) => do! race! { m = after(1, 10 * n) => m, () = Fiber::<()>::never() => 0 },
            n = after(6, 6) => n,
        }
    };
    let test = TestScheduler::new();
    assert_eq!(test.run(fiber).unwrap(), 50);
    assert_eq!(test.now().as_nanos(), 9_000_000_000);
}

#[test]
fn patterns_have_types_and_bind_by_reference_or_not() {
    let parsed = race! {
        number: u8 = "7".parse() => number,
        Ok(number) | Err(number) = after(1, Ok::<u8, u8>(1)) => number,
        [first, .., last] = after(1, [1, 2, 3]) => first + last,
        mut number = after(1, 5) => { number += 1; number }
    };
    assert_eq!(fiber_sched::run(parsed).unwrap(), 7);
}

#[test]
fn an_arm_is_whatever_a_block_can_wait_for() {
    let forked = |seconds: u32| {
        fiber! {
            let! handle = after(seconds, "forked").fork();
            let! result = fiber_core::fiber! { return! race! {
                value = handle => value,
                value = after(1, "boxed").boxed() => value,
                value = after(2, "named").named("runner") => value,
            } };
            result
        }
    };
    assert_eq!(TestScheduler::new().run(forked(9)).unwrap(), "boxed");
    assert_eq!(TestScheduler::new().run(forked(0)).unwrap(), "forked");
    let failed: Fiber<u8> = race! { n = after(1, 1) => n, n = "x".parse() => n, n = after(2, 2) => n };
    assert!(TestScheduler::new().run(failed).is_failure());
}

#[test]
fn the_failure_of_the_winner_runs_no_handler_and_takes_those_of_the_losers_along() {
    let handled = Counter::default();
    let fails = |seconds: u32, message: &'static str| {
        Fiber::delay(seconds * SECOND).bind(move |()| Fiber::<u32>::fail(Error::msg(message)))
    };
    let handles = handled.clone();
    let race = race! {
        _ = fails(2, "loser").uncancelable() => handles.add(),
        _ = fails(1, "winner") => handles.add(),
        () = Fiber::<()>::never() => handles.add(),
    };
    let error = TestScheduler::new().run(race).failure().unwrap();
    assert_eq!(error.to_string(), "winner");
    assert_eq!(error.suppressed()[0].to_string(), "loser");
    assert!(format!("{error:#}").contains("race_macro.rs"), "{error:#}");
    assert!(!format!("{error:#}").contains("arms.rs"), "{error:#}");
    assert_eq!(handled.get(), 0);
}

#[test]
fn a_panic_of_an_arm_or_a_handler_is_the_outcome() {
    let panics = |in_arm: bool| {
        race! {
            () = Fiber::lazy(move || assert!(!in_arm, "in the arm")) => panic!("in the handler"),
            () = Fiber::<()>::never() => (),
            () = Fiber::<()>::never() => (),
        }
    };
    assert!(TestScheduler::new().run(panics(true)).is_panicked());
    assert!(TestScheduler::new().run(panics(false)).is_panicked());
}

#[test]
fn a_cancellation_from_outside_ends_all_arms_and_waits_for_them() {
    let (test, ended) = (TestScheduler::new(), Counter::default());
    let side = |seconds, ended: &Counter| {
        let ended = ended.clone();
        Fiber::<()>::never().ensure(Fiber::delay(seconds * SECOND).map(move |()| ended.add()))
    };
    let (a, b, c) = (side(1, &ended), side(3, &ended), side(2, &ended));
    let race = race! { () = a => (), () = b => (), () = c => () };
    let spawned = test.spawn(race);
    test.run_until_idle();
    spawned.cancel_now();
    test.run_for(2 * SECOND);
    assert!(spawned.is_pending());
    test.run_for(SECOND);
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(ended.get(), 3);
    test.assert_no_leaks();
}

/// In a race of races, the arm below wins while the loser beside the winner waits in its finalizer.
#[test]
fn no_other_arm_wins_while_a_loser_is_in_its_finalizer() {
    let sides = || {
        let loser = Fiber::<u32>::never().ensure(Fiber::delay(5 * SECOND));
        (after(1, 1).boxed(), loser, after(3, 3))
    };
    let (a, b, c) = sides();
    let test = TestScheduler::new();
    assert_eq!(test.run(race! { n = a => n, n = b => n, n = c => n }).unwrap(), 1);
    assert_eq!(test.now().as_nanos(), 6_000_000_000);
    let (a, b, c) = sides();
    assert_eq!(TestScheduler::new().run(a.race(b).race(c)).unwrap(), Either::Right(3));
}

#[test]
fn nothing_runs_before_the_race_does_and_everything_is_dropped_without_it() {
    let (started, kept) = (Counter::default(), Arc::new(()));
    let race = || {
        let (kept, started) = (kept.clone(), started.clone());
        let arm = move || {
            let (kept, started) = (kept.clone(), started.clone());
            Fiber::lazy(move || (started.add(), kept).1)
        };
        race! { _ = arm() => (), _ = arm() => (), _ = arm() => () }
    };
    drop(race());
    assert_eq!((started.get(), Arc::strong_count(&kept)), (0, 1));
    let token = CancelToken::new();
    token.cancel();
    assert!(fiber_sched::run(race().cancelled_by(&token)).is_cancelled());
    assert_eq!((started.get(), Arc::strong_count(&kept)), (0, 1));
    fiber_sched::run(race()).unwrap();
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[test]
fn of_items_that_come_at_once_one_is_taken_under_every_schedule() {
    Explore::exhaustive().reduced().check(|| {
        let (left, receives_left) = Channel::bounded(1);
        let (right, receives_right) = Channel::bounded(1);
        let (tick, ticks) = Channel::bounded(1);
        let rest = (receives_left.clone(), receives_right.clone(), ticks.clone());
        let race = race! {
            n = receives_left.recv() => [n, 0, 0],
            n = receives_right.recv().map(|n| n) => [0, n, 0],
            n = ticks.recv() => [0, 0, n],
        };
        let sends = left.send(1).zip(right.send(2)).zip(tick.send(3));
        race.zip(sends).map(move |(won, _)| {
            let left =
                [rest.0.try_recv(), rest.1.try_recv(), rest.2.try_recv()].map(Result::unwrap_or_default);
            let all: Vec<u32> = won.iter().zip(left).map(|(won, left)| won + left).collect();
            assert_eq!(all, [1, 2, 3], "{won:?}");
            assert_eq!(won.iter().filter(|won| **won > 0).count(), 1);
        })
    });
}

#[test]
fn an_item_that_loses_to_the_end_of_a_fork_is_left_under_every_schedule() {
    Explore::exhaustive().reduced().check(|| {
        fiber! {
            let (sender, items) = Channel::bounded(1);
            let! worker = Fiber::yield_now().fork();
            let! sends = sender.send(7).fork();
            let has_ended = do! race! {
                () = worker.ended() => true,
                item = items.recv() => { assert_eq!(item, 7); false }
            };
            let () = do! sends;
            assert_eq!(items.len(), usize::from(has_ended));
            do! worker;
        }
    });
}

/// As `fiber! { let! won = a.race(b); .. }`: a race at the beginning of a block is no switch point.
#[test]
fn a_race_has_as_many_turns_as_its_method() {
    let turns = |fiber: Fiber<u32>| {
        let test = TestScheduler::new().record();
        assert!(test.run(fiber).is_success());
        test.trace().turns().len()
    };
    let (a, b) = (|| Fiber::success(1).boxed(), || Fiber::success(2).boxed());
    let method = turns(fiber! { let! won = a().race(b()); won.into_inner() });
    assert_eq!(turns(fiber! { do! race! { a = a() => a, b = b() => b } }), method);
    assert_eq!(turns(race! { a = a() => a, b = b() => b }), method);
    let all = turns(fiber! { let! won = Fiber::race_all([a(), b(), a()]); won });
    assert_eq!(turns(race! { a = a() => a, b = b() => b, a = a() => a }), all);
}

#[test]
fn it_stands_wherever_a_do_bang_may() {
    let fiber = fiber! {
        let! Some(n) = (race! { n = after(1, 1) => Some(n), _ = after(2, 2) => None }) else { return 0 };
        let mut total = n;
        _ = do! race! { n = after(1, 1) => n, n = after(2, 2) => n } + 1;
        if do! race! { () = after(1, ()) => true, () = after(2, ()) => false } { total += 10 }
        total += match do! race! { n = after(1, 5) => n, n = after(2, 2) => n } { 5 => 100, other => other };
        while do! race! { n = after(1, total < 200) => n, n = after(2, true) => n } { total += 50 }
        // The names of the expansion are not those of the block.
        let (value, won) = (7, 8);
        total += do! race! { n = after(1, value) => n + won, n = after(2, won) => n + value };
        for round in 0.. {
            do! race! {
                () = after(1, ()) => if round == 2 { break },
                () = after(2, ()) => return 1,
            };
        }
        let length = (do! race! { text = after(1, "abc") => text, text = after(2, "") => text }).len();
        assert_eq!(do! race! { n = after(1, 1) => n, n = after(2, 2) => n }, 1);
        total + length
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 1 + 10 + 100 + 100 + 15 + 3);
}

#[test]
fn it_has_as_many_arms_as_one_needs() {
    let fiber = race! {
        n = after(12, 1_u8) => usize::from(n),
        n = after(11, 1_u16) => usize::from(n),
        n = after(10, 1_usize) => n,
        text = after(9, "a") => text.len(),
        letter = after(8, 'a') => letter.len_utf8(),
        (a, b) = after(7, (1, 2)) => a + b,
        array = after(6, [1; 3]) => array[0],
        text = after(5, String::new()) => text.len(),
        some = after(4, Some(1)) => some.unwrap_or(0),
        vec = after(3, vec![1]) => vec[0],
        () = after(2, ()) => 77,
        is_true = after(13, true) => usize::from(is_true),
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 77);
}

#[test]
fn a_handler_in_the_input_of_a_macro_is_code_of_the_block() {
    let leaves = |number: u32| {
        fiber! {
            'left: {
                let text = format!("{}", do! race! {
                    n = after(1, number) => match n { 0 => return "returned".to_owned(), 1 => break 'left, n => n },
                    n = after(2, 1) => n,
                });
                assert!(
                    do! race! { is_two = after(1, text == "2") => is_two, _ = after(2, ()) => break 'left },
                    "{}",
                    do! race! { n = after(1, 1) => n, n = after(2, 2) => n }
                );
                let all = vec![format!("{}", do! race! { n = after(1, 1) => n, n = after(2, 2) => n }), text];
                let is_even = matches!(number, n if { let! is = race! {
                    is = after(1, n % 2 == 0) => is,
                    is = after(2, true) => return is.to_string(),
                }; is });
                return format!("{all:?} {is_even}");
            }
            "left the part".to_owned()
        }
    };
    let run = |number| TestScheduler::new().run(leaves(number)).unwrap();
    assert_eq!(run(0), "returned");
    assert_eq!(run(1), "left the part");
    assert_eq!(run(2), r#"["1", "2"] true"#);
}

#[test]
fn what_a_pattern_leaves_out_is_dropped_before_the_handler() {
    let permits = Semaphore::new(1);
    let free = permits.clone();
    let fiber = fiber! {
        let in_all = do! race! {
            _ = permits.acquire(1) => { do! Fiber::yield_now(); free.available() }
            () = Fiber::<()>::never() => unreachable!(),
        };
        let in_a_part = do! race! {
            (_, n) = permits.acquire(1).zip(after(1, 1)) => { do! Fiber::yield_now(); n + free.available() }
            () = Fiber::<()>::never() => unreachable!(),
        };
        let bound = do! race! {
            _permit = permits.acquire(1) => { do! Fiber::yield_now(); free.available() }
            () = Fiber::<()>::never() => unreachable!(),
        };
        (in_all, in_a_part, bound)
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), (1, 2, 0));
}

#[test]
fn a_pattern_may_borrow_mutably() {
    let fiber = race! {
        ref mut list = after(1, vec![1]) => { do! Fiber::yield_now(); list.push(2); list.len() }
        (ref mut n, _) = after(2, (1, ())) => { *n += 1; *n }
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 2);
}

#[test]
#[expect(unsafe_code, reason = "an `unsafe` block is a handler")]
fn a_handler_that_is_a_block_needs_no_comma() {
    macro_rules! first_of {
        ($first:block, $second:block) => {
            race! {
                _ = after(1, 1) => $first
                (_, _) = after(2, (2, 2)) => $second
                // SAFETY: the sum does not overflow.
                [n] = after(3, [3_u32]) => unsafe { n.unchecked_add(1) }
                n = after(4, 4) => const { 4 }.max(n),
                n = after(5, 5) => if n == 5 { 5 } else { 0 }
                (n,) = after(6, (6,)) => match n { n => n }
                _ = after(7, 7) => loop { break 7 }
                n = after(8, 8) => n
            }
        };
    }
    assert_eq!(TestScheduler::new().run(first_of!({ 10_u32 }, { 20 })).unwrap(), 10);
}

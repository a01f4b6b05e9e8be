//! The semantics of each form of `fiber!`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::{Error, Fiber, Outcome, fiber};
use fiber_test::TestScheduler;

use crate::support::MILLION;

fn run<T: Send + 'static>(fiber: Fiber<T>) -> T {
    TestScheduler::new().run(fiber).unwrap()
}

fn failure<T: Send + 'static>(fiber: Fiber<T>) -> String {
    TestScheduler::new().run(fiber).failure().expect("a failure").to_string()
}

/// A fiber that suspends before it succeeds.
fn later<T: Send + 'static>(value: T) -> Fiber<T> {
    Fiber::delay(Duration::from_millis(1)).map(|()| value).boxed()
}

mod waiting {
    use super::*;

    #[test]
    fn a_block_evaluates_nothing_before_it_runs() {
        let hits = Arc::new(AtomicU32::new(0));
        let seen = hits.clone();
        let fiber = fiber! { seen.fetch_add(1, Ordering::Relaxed); };
        assert_eq!(hits.load(Ordering::Relaxed), 0);
        run(fiber);
        assert_eq!(hits.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn let_bang_binds_the_value() {
        let fiber = fiber! {
            let! a = later(1);
            let! mut b: u32 = later(a + 1);
            b *= 10;
            let! (c, [d, ..]) = later((b, [5, 6]));
            return a + b + c + d
        };
        assert_eq!(run(fiber), 1 + 20 + 20 + 5);
    }

    #[test]
    fn and_bang_waits_for_all_at_the_same_time() {
        let test = TestScheduler::new();
        let second = Duration::from_secs(1);
        let fiber = fiber! {
            let! a = Fiber::delay(second).map(|()| 1) and! b: u32 = "2".parse() and! c = Fiber::delay(second).map(|()| 3);
            return (a, b, c)
        };
        let spawned = test.spawn(fiber);
        test.run_for(second);
        assert_eq!(spawned.outcome().unwrap(), (1, 2, 3));
    }

    #[test]
    fn do_bang_drops_the_value() {
        run(fiber! {
            do! later(1);
            do! Ok::<u8, Error>(2);
        });
    }

    #[test]
    fn an_error_of_a_result_fails_the_block() {
        let fiber: Fiber<u32> = fiber! {
            let! n: u32 = "x".parse();
            return n
        };
        assert_eq!(failure(fiber), "invalid digit found in string");
    }

    #[test]
    fn a_forked_handle_can_be_bound() {
        let fiber = fiber! {
            let! child = later(7).fork();
            let! n = child;
            return n
        };
        assert_eq!(run(fiber), 7);
    }

    #[test]
    fn let_bang_else_leaves_if_the_pattern_does_not_match() {
        fn first(items: Vec<u32>) -> Fiber<u32> {
            fiber! {
                let! [first, ..] = later(<[u32; 2]>::try_from(items)).map(Result::unwrap_or_default);
                let! Some(first) = later(first.checked_sub(1)) else {
                    do! later(());
                    return 99
                };
                return first
            }
        }
        assert_eq!(run(first(vec![5, 6])), 4);
        assert_eq!(run(first(vec![])), 99);
    }

    #[test]
    fn the_trace_names_the_line_of_each_wait() {
        let line = line!();
        let fiber: Fiber<()> = fiber! {
            do! later(());
            let! n = Fiber::<u32>::fail(Error::msg("no"));
            assert_eq!(n, 0);
        };
        let error = TestScheduler::new().run(fiber).failure().unwrap();
        let trace = format!("{error:#}");
        assert!(trace.contains(&format!("fiber_macro.rs:{}", line + 3)), "{trace}");
    }

    #[test]
    fn the_trace_names_the_line_of_each_and_bang() {
        let line = line!();
        let fiber: Fiber<u32> = fiber! {
            do! later(());
            let! a = later(1)
            and! b: u32 = "x".parse();
            a + b
        };
        let trace = format!("{:#}", TestScheduler::new().run(fiber).failure().unwrap());
        for (what, line) in [("from_result", line + 4), ("zip", line + 3), ("bind", line + 3)] {
            assert!(
                trace.contains(&format!("{what} at fiber-core/tests/it/fiber_macro.rs:{line}")),
                "{trace}"
            );
        }
    }
}

mod leaving {
    use super::*;

    #[test]
    fn a_block_without_return_gives_unit() {
        run::<()>(fiber! {});
        run::<()>(fiber! { return; });
    }

    #[test]
    fn return_leaves_early_from_any_branch() {
        fn name(n: u32) -> Fiber<&'static str> {
            fiber! {
                if n == 0 { return "zero" }
                let! m = later(n);
                if m == 1 {
                    do! later(());
                    return "one"
                } else if m == 2 {
                    do! later(());
                    if n == 2 { return "two" }
                    do! later(());
                }
                match m {
                    3 => return "three",
                    4 => {
                        do! later(());
                        return! later("four")
                    }
                    5 => do! later(()),
                    _ => {}
                }
                let Some(m) = (m != 6).then_some(m) else {
                    do! later(());
                    return "six"
                };
                return if m == 5 { "five" } else { "many" }
            }
        }
        let names: Vec<_> = (0..8).map(|n| run(name(n))).collect();
        assert_eq!(names, ["zero", "one", "two", "three", "four", "five", "six", "many"]);
    }

    #[test]
    fn return_inside_an_expression_leaves_the_block() {
        fn half(n: Option<u32>) -> Fiber<u32> {
            fiber! {
                let n = match n {
                    Some(n) => n,
                    None => return 0,
                };
                for candidate in 0.. {
                    if 2 * candidate >= n { return! later(candidate) }
                }
                unreachable!()
            }
        }
        assert_eq!(run(half(Some(8))), 4);
        assert_eq!(run(half(None)), 0);
    }

    #[test]
    fn a_question_mark_fails_the_block() {
        fn sum(a: &'static str, b: &'static str) -> Fiber<u32> {
            fiber! {
                let a: u32 = a.parse()?;
                do! later(());
                return a + b.parse::<u32>()?
            }
        }
        assert_eq!(run(sum("1", "2")), 3);
        assert_eq!(failure(sum("x", "2")), "invalid digit found in string");
        assert_eq!(failure(sum("1", "")), "cannot parse integer from empty string");
    }

    #[test]
    fn a_closure_keeps_its_own_return() {
        let fiber = fiber! {
            let clamp = |n: u32| {
                if n > 5 { return 5 }
                n
            };
            return clamp(9) + clamp(1)
        };
        assert_eq!(run(fiber), 6);
    }

    #[test]
    fn return_bang_leaves_as_a_fiber_and_a_space_makes_it_a_negation() {
        fn not(flag: bool) -> Fiber<bool> {
            fiber! { return !flag }
        }
        fn not_at_all(flag: bool) -> Fiber<bool> {
            fiber! {
                if !flag { return (!flag) }
                return !flag
            }
        }
        assert!(run(fiber! { return! not(false) }));
        assert!(!run(not_at_all(true)));
    }

    #[test]
    fn a_waiting_negation_is_one_of_the_value() {
        assert!(run(fiber! { !(do! later(false)) }));
        assert!(run(fiber! { while !(do! later(true)) {} true }));
    }

    #[test]
    fn a_recursion_by_return_bang_is_flat() {
        fn count(n: u32) -> Fiber<u32> {
            fiber! {
                if n == 0 { return 0 }
                return! count(n - 1)
            }
        }
        assert_eq!(run(count(100_000)), 0);
    }

    #[test]
    fn a_last_statement_that_does_not_end_is_a_value_of_any_type() {
        fn never(n: u32) -> Fiber<u32> {
            match n {
                0 => fiber! { panic!("on purpose"); },
                1 => fiber! { if n == 1 { return 1 } else { return! later(2) }; },
                2 => fiber! { std::panic::panic_any("on purpose"); },
                _ => fiber! { loop { do! later(()); if n > 2 { return n } }; },
            }
        }
        assert!(TestScheduler::new().run(never(0)).is_panicked());
        assert_eq!(run(never(1)), 1);
        assert!(TestScheduler::new().run(never(2)).is_panicked());
        assert_eq!(run(never(3)), 3);
    }

    #[test]
    fn a_panic_is_the_outcome() {
        let fiber: Fiber<u32> = fiber! {
            do! later(());
            panic!("defect")
        };
        assert!(matches!(TestScheduler::new().run(fiber), Outcome::Panicked(_)));
    }
}

mod loops {
    use super::*;

    #[test]
    fn a_plain_for_waits_in_one_round_after_the_other() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        run(fiber! {
            for (n, name) in ["a", "b"].into_iter().enumerate() {
                seen.lock().unwrap().push((n, name));
                do! later(());
                seen.lock().unwrap().push((n + 10, name));
            }
        });
        assert_eq!(*log.lock().unwrap(), [(0, "a"), (10, "a"), (1, "b"), (11, "b")]);
    }

    #[test]
    fn a_plain_while_may_wait_in_its_condition() {
        let fiber = fiber! {
            let mut n = 0;
            while n < 3 {
                n += 1;
                do! later(());
            }
            while do! later(n).map(|n| n < 6) {
                n += 1;
                do! later(());
            }
            while n < 0 { n = 100; }
            return n
        };
        assert_eq!(run(fiber), 6);
    }

    #[test]
    fn a_plain_loop_ends_by_break_or_return() {
        let broken = fiber! {
            let mut n = 0;
            loop {
                let! step = later(1);
                n += step;
                if n == 3 { break }
            }
            return n
        };
        assert_eq!(run(broken), 3);
        let returned: Fiber<u32> = fiber! {
            let mut n = 0;
            loop {
                n += 1;
                let! m = later(n);
                if m == 4 { return m }
            }
        };
        assert_eq!(run(returned), 4);
    }

    #[test]
    fn break_and_continue_work_behind_waits_and_in_expressions() {
        fn go(stop: u32) -> Fiber<Vec<u32>> {
            fiber! {
                let mut log = Vec::new();
                for n in 0..10u32 {
                    let n = if n == 1 { continue } else { n };
                    if n > 2 {
                        let! m = later(n);
                        log.push(m);
                        if m == stop { break }
                        match m % 2 {
                            0 => continue,
                            _ => do! later(()),
                        }
                        log.push(100 + m);
                    }
                    log.push(n);
                }
                return log
            }
        }
        assert_eq!(run(go(5)), [0, 2, 3, 103, 3, 4, 5]);
    }

    #[test]
    fn the_innermost_loop_is_meant() {
        let fiber = fiber! {
            let mut pairs = Vec::new();
            for n in 0..3 {
                for c in ['a', 'b', 'c'] {
                    do! later(());
                    if c == 'c' { break }
                    if n == 1 { continue }
                    for plain in 0..9 {
                        if plain == 1 { break }
                        pairs.push((n, c));
                    }
                }
            }
            return pairs
        };
        assert_eq!(run(fiber), [(0, 'a'), (0, 'b'), (2, 'a'), (2, 'b')]);
    }

    #[test]
    fn return_leaves_all_loops() {
        let fiber = fiber! {
            for n in 0..10 {
                loop {
                    let! m = later(n);
                    if m == 3 { return! later(m * 10) }
                    if m == 4 { return 99 }
                    if m < 3 { break }
                }
            }
            return 0
        };
        assert_eq!(run(fiber), 30);
    }

    #[test]
    fn a_negation_is_a_negation() {
        let fiber = fiber! {
            let (mut n, mut done) = (0, false);
            while !done {
                n += 1;
                done = n == 4;
            }
            return n
        };
        assert_eq!(run(fiber), 4);
    }

    #[test]
    fn a_long_loop_is_flat() {
        let fiber = fiber! {
            let mut sum = 0u64;
            for n in 0..20_000u64 {
                let! m = Fiber::success(n);
                sum += m;
            }
            return sum
        };
        assert_eq!(run(fiber), 199_990_000);
    }
}

mod variables {
    use super::*;

    #[test]
    fn changes_in_rounds_and_branches_last() {
        let fiber = fiber! {
            let mut sum = 0;
            let mut log = Vec::new();
            for n in 1..=3 {
                let! m = later(n);
                sum += m;
                if m > 1 {
                    let! k = later(m * 10);
                    log.push(k);
                    sum += k;
                }
            }
            { do! later(()); sum += 1000; }
            return (sum, log)
        };
        assert_eq!(run(fiber), (1056, vec![20, 30]));
    }

    #[test]
    fn what_a_round_uses_after_a_wait_is_there_in_the_next_one() {
        struct Client(Vec<u32>);
        impl Client {
            fn send(&mut self, n: u32) -> Fiber<()> {
                self.0.push(n);
                later(())
            }
            fn close(self) -> Fiber<Vec<u32>> {
                later(self.0)
            }
        }
        fn send_all(mut client: Client, limit: u32) -> Fiber<Vec<u32>> {
            fiber! {
                for n in 0..10 {
                    let! n = later(n);
                    do! client.send(n);
                    if n == limit { return! client.close() }
                }
                let! sent = client.close();
                return sent
            }
        }
        assert_eq!(run(send_all(Client(vec![]), 2)), [0, 1, 2]);
        assert_eq!(run(send_all(Client(vec![]), 20)).len(), 10);
    }

    #[test]
    fn an_inner_variable_of_the_same_name_hides_the_outer_one() {
        let fiber = fiber! {
            let n = 1;
            if n == 1 {
                let mut n = 5;
                do! later(());
                n += 1;
                assert_eq!(n, 6);
            }
            for n in 7..9 { do! later(n); }
            return n
        };
        assert_eq!(run(fiber), 1);
    }

    #[test]
    fn a_variable_may_be_given_away_where_it_is_not_wanted_back() {
        let fiber = fiber! {
            let name = String::from("fiber");
            for n in 0..3 {
                if n == 2 {
                    let! length = later(name).map(|it| it.len());
                    return length
                }
                do! later(());
            }
            return 0
        };
        assert_eq!(run(fiber), 5);
    }

    #[test]
    fn names_inside_format_strings_count() {
        let fiber = fiber! {
            let name = String::from("a");
            let mut text = String::new();
            for n in 0..2 {
                let! n = later(n);
                text += &format!("{name}{n} ");
            }
            return text
        };
        assert_eq!(run(fiber), "a0 a1 ");
    }

    #[test]
    fn names_of_the_expansion_do_not_meet_those_of_the_user() {
        macro_rules! sum {
            ($x:expr) => {
                fiber! {
                    let! value = $x;
                    let! state = later(1);
                    return value + state
                }
            };
        }
        let fiber = fiber! {
            let (value, state, gives, flow) = (1, 2, 3, 4);
            let! inner = sum!(later(value));
            if inner == 2 { do! later(()); if state == 9 { return 0 } }
            return inner + value + state + gives + flow
        };
        assert_eq!(run(fiber), 12);
    }
}

/// A block is expanded in a module that forbids unsafe code.
#[forbid(unsafe_code)]
mod forbidden {
    use super::*;

    #[test]
    fn a_block_stands_where_unsafe_code_is_forbidden() {
        let fiber = fiber! {
            let! a = later(1) and! b = later(2);
            a + b + (do! later(3))
        };
        assert_eq!(run(fiber), 6);
    }
}

mod plain_rust {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Logs its drop.
    struct Noisy(&'static str, Arc<Mutex<Vec<String>>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(format!("drop {}", self.0));
        }
    }

    #[test]
    fn an_unnamed_guard_lives_to_the_end_of_its_scope() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (one, two, seen) = (log.clone(), log.clone(), log.clone());
        run(fiber! {
            let _guard = Noisy("outer", one);
            for _ in 0..1 {
                let _inner = Noisy("inner", two.clone());
                do! later(());
                seen.lock().unwrap().push("waited".into());
            }
            do! later(());
            seen.lock().unwrap().push("end".into());
        });
        assert_eq!(*log.lock().unwrap(), ["waited", "drop inner", "end", "drop outer"]);
    }

    #[test]
    fn borrows_live_across_waits() {
        let fiber = fiber! {
            let text = String::from("a b c");
            let mut words = text.split(' ');
            let mut count = 0;
            let counter = &mut count;
            for word in words.by_ref() {
                let! n = later(word.len());
                *counter += n;
            }
            count
        };
        assert_eq!(run(fiber), 3);
    }

    #[test]
    fn values_of_branches_labels_tails_and_waits_in_macros() {
        let fiber = fiber! {
            let name = String::from("x");
            let n = if name.is_empty() { 0 } else { let! n = later(3); n };
            let k = 'outer: loop {
                for i in 0.. {
                    do! later(());
                    println!("{name} {i}");
                    if i == n { break 'outer i * 10 }
                }
            };
            assert_eq!(do! later(30), k);
            let v = vec![do! later(1), do! later(2)];
            let s = format!("{}{}", (do! later(5)), v.len());
            (k, v, s)
        };
        assert_eq!(run(fiber), (30, vec![1, 2], String::from("52")));
    }

    #[test]
    fn the_last_of_several_expressions_may_be_left_out_by_its_cfg() {
        let fiber = fiber! {
            #[cfg(test)]
            {
                let! n = later(1);
                n
            }
            #[cfg(not(test))]
            {
                absent()
            }
        };
        assert_eq!(run(fiber), 1);
        let fiber = fiber! {
            do! later(());
            #[cfg(not(test))]
            if do! absent() { absent() }
        };
        run(fiber);
    }

    /// The compiler would propose to remove these parentheses, and the fiber with them.
    #[deny(unused_parens)]
    #[test]
    fn parentheses_around_a_wait_are_allowed() {
        let fiber = fiber! {
            let a = (do! later(1));
            let b = (a + do! later(2));
            if (do! later(true)) { return (do! later(b)) }
            match (do! later(0)) {
                0 => 1,
                n => n,
            }
        };
        assert_eq!(run(fiber), 3);
    }

    #[test]
    fn a_foreign_future_and_a_fiber_are_awaited() {
        let fiber = fiber! {
            let (send, receive) = std::sync::mpsc::channel::<u32>();
            let mut polls = 0;
            std::future::poll_fn(|cx| {
                polls += 1;
                if polls == 3 { return std::task::Poll::Ready(()) }
                let waker = cx.waker().clone();
                if polls == 1 { waker.wake() } else {
                    cx.waker().wake_by_ref();
                }
                std::task::Poll::Pending
            }).await;
            send.send(polls)?;
            drop(send);
            let n = later(4).await?;
            let m = Fiber::<u32>::fail(Error::msg("no")).await.unwrap_or(7);
            let! k = later(1);
            receive.recv()? + n + m + k
        };
        assert_eq!(run(fiber), 15);
    }

    #[test]
    fn a_million_deep_by_return_bang() {
        fn count(n: u32) -> Fiber<u32> {
            fiber! {
                if n == 0 { return 0 }
                if n.is_multiple_of(MILLION / 10) { do! later(()); }
                return! count(n - 1)
            }
        }
        // The method is code, so each `return!` is a scheduling point.
        let test = TestScheduler::new().turns_per_instant(MILLION as usize);
        assert_eq!(test.run(count(MILLION)).unwrap(), 0);
    }

    #[test]
    fn a_million_deep_by_let_bang() {
        fn count(n: u32, waits: bool) -> Fiber<u32> {
            fiber! {
                if n == 0 { if waits { do! later(()); } return 0 }
                let! below = count(n - 1, waits);
                below + 1
            }
        }
        assert_eq!(run(count(40_000, true)), 40_000);
        assert_eq!(fiber_sched::run(count(MILLION, false)).unwrap(), MILLION);
        assert_eq!(fiber_sched::run(count(MILLION, true)).unwrap(), MILLION);
    }

    #[test]
    fn a_million_deep_is_cancelled_and_dropped() {
        fn forever(n: u32, alive: Arc<AtomicUsize>) -> Fiber<u32> {
            fiber! {
                struct Alive(Arc<AtomicUsize>);
                impl Drop for Alive { fn drop(&mut self) { self.0.fetch_sub(1, Ordering::Relaxed); } }
                alive.fetch_add(1, Ordering::Relaxed);
                let _alive = Alive(alive.clone());
                if n == 0 { do! Fiber::<()>::never(); }
                let! below = forever(n.saturating_sub(1), alive);
                below + 1
            }
        }
        let alive = Arc::new(AtomicUsize::new(0));
        // Each level is a turn, because code runs before its wait.
        let test = || TestScheduler::new().turns_per_instant(2 * MILLION as usize);
        let (test, again) = (test(), test());
        let spawned = test.spawn(forever(MILLION, alive.clone()));
        test.run_for(Duration::from_millis(1));
        assert_eq!(alive.load(Ordering::Relaxed), MILLION as usize + 1);
        spawned.cancel_now();
        test.run_for(Duration::from_millis(1));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
        let _spawned = again.spawn(forever(MILLION, alive.clone()));
        again.run_for(Duration::from_millis(1));
        assert_eq!(alive.load(Ordering::Relaxed), MILLION as usize + 1);
        drop((_spawned, again));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
        // A nest of fibers that never ran.
        let mut nest = later(0);
        for _ in 0..MILLION {
            let inner = nest;
            nest = fiber! { let! n = inner; n + 1 };
        }
        drop(nest);
    }

    #[test]
    fn cancellation_drops_in_order_and_runs_finalizers() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (a, b, c) = (log.clone(), log.clone(), log.clone());
        let test = TestScheduler::new();
        let spawned = test.spawn(fiber! {
            let _a = Noisy("a", a);
            let _b = Noisy("b", b);
            do! Fiber::<()>::never().ensure(Fiber::lazy(move || c.lock().unwrap().push("finally".into())));
        });
        test.run_for(Duration::from_millis(1));
        spawned.cancel_now();
        test.run_for(Duration::from_millis(1));
        assert!(spawned.outcome().is_cancelled());
        assert_eq!(*log.lock().unwrap(), ["finally", "drop b", "drop a"]);
    }

    #[test]
    fn panics_before_and_after_a_wait_and_in_a_drop_are_outcomes() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                if !std::thread::panicking() {
                    panic!("in drop")
                }
            }
        }
        let now: Fiber<u32> = fiber! { panic!("now") };
        let dropped: Fiber<u32> =
            fiber! { let _bomb = Bomb; do! later(()); do! Fiber::<()>::fail(Error::msg("no")); 1 };
        for (fiber, expected) in [(now, "now"), (dropped, "in drop")] {
            let outcome = TestScheduler::new().run(fiber);
            let text = format!("{outcome:?}");
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn dropping_unrun_runs_nothing() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let noisy = Noisy("captured", log.clone());
        let fiber: Fiber<()> = fiber! { let _n = noisy; do! later(()); };
        drop(fiber);
        assert_eq!(*log.lock().unwrap(), ["drop captured"]);
    }

    #[test]
    fn the_trace_names_the_line_of_a_question_mark() {
        let line = line!();
        let fiber: Fiber<u32> = fiber! {
            do! later(());
            "x".parse::<u32>()?
        };
        let trace = format!("{:#}", TestScheduler::new().run(fiber).failure().unwrap());
        assert!(trace.contains(&format!("? at fiber-core/tests/it/fiber_macro.rs:{}", line + 3)), "{trace}");
    }

    #[test]
    fn a_nest_is_resumed_cancelled_and_dropped() {
        fn count(n: u32, waits: bool) -> Fiber<String> {
            fiber! {
                let text = n.to_string();
                let borrowed = &text;
                if n == 0 { if waits { do! later(()); } else { do! Fiber::<()>::never(); } return text }
                let! below = count(n - 1, waits);
                format!("{below}{borrowed}")
            }
        }
        assert_eq!(run(count(60, true)).len(), 112);
        let test = TestScheduler::new();
        let one = test.spawn(count(60, false));
        let _two = test.spawn(count(60, false));
        test.run_for(Duration::from_millis(1));
        one.cancel_now();
        test.run_for(Duration::from_millis(1));
        assert!(one.outcome().is_cancelled());
    }
}

mod other_macros {
    use super::*;

    #[test]
    fn the_forms_work_in_macros_that_a_path_names() {
        let fiber = fiber! {
            let text = std::format!("{}", do! later(1));
            core::assert!(do! later(true));
            (text, ::std::vec![do! later(2)])
        };
        assert_eq!(run(fiber), ("1".to_owned(), vec![2]));
    }

    #[test]
    fn the_forms_work_in_macros_of_the_standard_library() {
        let fiber = fiber! {
            let name = "x";
            let all = vec![do! later(1), do! later(2)];
            let none = vec![do! later(0); 3];
            assert!(do! later(true), "{}", do! later("never said"));
            assert_eq!(all.len(), do! later(2));
            assert_ne!(do! later(1), do! later(2));
            let text = format!("{name} {} {n}", do! later(3), n = do! later(4));
            println!("{text}: {}", later("printed").await?);
            if text.is_empty() { panic!("{}", do! later("no text")) }
            (all, none, text)
        };
        assert_eq!(run(fiber), (vec![1, 2], vec![0; 3], String::from("x 3 4")));
    }

    #[test]
    fn a_failure_in_such_a_macro_is_the_outcome() {
        let fiber: Fiber<String> = fiber! { format!("{}", do! Fiber::<u32>::fail(Error::msg("no"))) };
        assert_eq!(failure(fiber), "no");
        let early = fiber! {
            let never = do! later(false);
            format!("{}", if never { 1 } else { return String::from("early") })
        };
        assert_eq!(run(early), "early");
    }

    #[test]
    fn the_forms_work_in_the_value_and_the_condition_of_matches() {
        let fiber = fiber! {
            let small = matches!(do! later(Some(3)), Some(n) if n < do! later(5));
            let is_letter = matches!(do! later('1'), | 'a'..='y' | 'A'..='Y',);
            (small, is_letter)
        };
        assert_eq!(run(fiber), (true, false));
    }

    /// A macro that shadows one of the standard library does not get waits in its input: it might drop one, or poll it beside another.
    #[test]
    fn a_macro_of_the_same_name_is_not_given_a_wait() {
        #[allow(unused_macros)]
        macro_rules! vec {
            ($($any:tt)*) => {
                compile_error!("not this one")
            };
        }
        assert_eq!(run(fiber! { vec![do! later(1)] }), [1]);
    }

    /// A pattern that is the name of a constant or a unit struct matches it.
    #[test]
    fn names_of_items_are_not_those_of_the_expansion() {
        #[allow(non_camel_case_types, dead_code)]
        struct fiber;
        let block = fiber_core::fiber! {
            let! one = later(1);
            do! later(());
            one + do! later(2)
        };
        assert_eq!(run(block), 3);
    }

    #[test]
    fn a_macro_of_the_same_name_keeps_what_has_no_wait() {
        macro_rules! vec {
            ($a:expr) => {
                $a * 2
            };
        }
        assert_eq!(run(fiber! { do! later(()); vec![21] }), 42);
    }

    #[test]
    fn other_macros_have_their_input_as_it_is() {
        macro_rules! keyed {
            ($(do! $key:ident),*) => { [$(stringify!($key)),*] };
        }
        assert_eq!(run(fiber! { keyed!(do! one, do! two) }), ["one", "two"]);
        macro_rules! inner {
            ($($block:tt)*) => { fiber! { $($block)* } };
        }
        assert_eq!(run(fiber! { do! inner! { let! n = later(2); n * 2 } }), 4);
    }
}

//! What each form of `fiber!` means.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::{Error, Fiber, Outcome, fiber};
use fiber_test::TestScheduler;

fn run<T: Send + 'static>(fiber: Fiber<T>) -> T {
    TestScheduler::new().run(fiber).unwrap()
}

fn failure<T: Send + 'static>(fiber: Fiber<T>) -> String {
    TestScheduler::new().run(fiber).failure().expect("a failure").to_string()
}

/// A fiber that really waits before it succeeds.
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
    fn return_bang_reads_the_bang_as_its_own_and_parentheses_negate() {
        fn not(flag: bool) -> Fiber<bool> {
            fiber! { return (!flag) }
        }
        assert!(run(fiber! { return! not(false) }));
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
    fn for_bang_runs_one_round_after_the_other() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        run(fiber! {
            for! (n, name) in ["a", "b"].into_iter().enumerate() {
                seen.lock().unwrap().push((n, name));
                do! later(());
                seen.lock().unwrap().push((n + 10, name));
            }
        });
        assert_eq!(*log.lock().unwrap(), [(0, "a"), (10, "a"), (1, "b"), (11, "b")]);
    }

    #[test]
    fn while_bang_asks_a_bool_or_a_fiber_before_every_round() {
        let fiber = fiber! {
            let mut n = 0;
            while! n < 3 {
                n += 1;
                do! later(());
            }
            while! later(n).map(|n| n < 6) {
                n += 1;
                do! later(());
            }
            while! n < 0 { n = 100; }
            return n
        };
        assert_eq!(run(fiber), 6);
    }

    #[test]
    fn loop_bang_ends_by_break_or_return() {
        let broken = fiber! {
            let mut n = 0;
            loop! {
                let! step = later(1);
                n += step;
                if n == 3 { break }
            }
            return n
        };
        assert_eq!(run(broken), 3);
        let returned: Fiber<u32> = fiber! {
            let mut n = 0;
            loop! {
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
                for! n in 0..10u32 {
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
            for! n in 0..3 {
                for! c in ['a', 'b', 'c'] {
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
            for! n in 0..10 {
                while! true {
                    let! m = later(n);
                    if m == 3 { return! later(m * 10) }
                    if m == 4 { return 99 }
                    break;
                }
            }
            return 0
        };
        assert_eq!(run(fiber), 30);
    }

    #[test]
    fn a_while_with_a_space_before_the_negation_is_a_plain_loop() {
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
            for! n in 0..20_000u64 {
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
            for! n in 1..=3 {
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
        fn send_all(client: Client, limit: u32) -> Fiber<Vec<u32>> {
            fiber! {
                for! n in 0..10 {
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
            for! n in 7..9 { do! later(n); }
            return n
        };
        assert_eq!(run(fiber), 1);
    }

    #[test]
    fn a_variable_may_be_given_away_where_it_is_not_wanted_back() {
        let fiber = fiber! {
            let name = String::from("fiber");
            for! n in 0..3 {
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
            for! n in 0..2 {
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

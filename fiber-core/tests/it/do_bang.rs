//! `do!` in every position of an expression, where it parses as a prefix operator of Rust does.

#![allow(
    clippy::style,
    clippy::complexity,
    clippy::never_loop,
    reason = "each form stands in the smallest program"
)]

use std::time::Duration;

use fiber_core::{Error, Fiber, IntoFiber, fiber};
use fiber_test::TestScheduler;

fn run<T: Send + 'static>(fiber: Fiber<T>) -> T {
    TestScheduler::new().run(fiber).unwrap()
}

/// A fiber that suspends before it succeeds.
fn later<T: Send + 'static>(value: T) -> Fiber<T> {
    Fiber::delay(Duration::from_millis(1)).map(|()| value).boxed()
}

/// A fiber that is written as a struct literal.
struct Later {
    value: u32,
}

impl IntoFiber for Later {
    type Out = u32;
    type Run = fiber_core::Boxed<u32>;

    fn into_fiber(self) -> Fiber<u32> {
        later(self.value)
    }
}

/// Rust reads no struct literal there, so the `{` after the operand begins the block.
mod before_a_brace {
    use super::*;

    #[test]
    fn the_condition_of_an_if() {
        fn choose(ready: Fiber<bool>, other: Fiber<bool>) -> Fiber<&'static str> {
            fiber! {
                if do! ready { "ready" } else if do! other { "other" } else { "none" }
            }
        }
        assert_eq!(run(choose(later(true), later(true))), "ready");
        assert_eq!(run(choose(later(false), later(true))), "other");
        assert_eq!(run(choose(later(false), later(false))), "none");
    }

    #[test]
    fn the_condition_of_a_while() {
        let fiber = fiber! {
            let mut rounds = 0;
            let mut more = later(true);
            while do! more {
                rounds += 1;
                more = later(rounds < 3);
            }
            rounds
        };
        assert_eq!(run(fiber), 3);
    }

    #[test]
    fn the_value_of_a_match() {
        let n = later(2);
        assert_eq!(run(fiber! { match do! n { 2 => "two", _ => "many" } }), "two");
    }

    #[test]
    fn the_value_of_an_if_let_and_a_while_let() {
        let first = later(Some(1));
        let fiber = fiber! {
            let mut sum = if let Some(n) = do! first { n } else { 100 };
            let mut next = later(Some(2));
            while let Some(n) = do! next {
                sum += n;
                next = later((n < 4).then_some(n + 1));
            }
            sum
        };
        assert_eq!(run(fiber), 1 + 2 + 3 + 4);
    }

    #[test]
    fn the_items_of_a_for() {
        let items = later(vec![1, 2, 3]);
        let fiber = fiber! {
            let mut sum = 0;
            for n in do! items { sum += do! later(n); }
            sum
        };
        assert_eq!(run(fiber), 6);
    }

    #[test]
    fn a_field_a_path_and_a_method() {
        struct Gates {
            one: Fiber<bool>,
            two: Option<Fiber<bool>>,
        }
        let mut gates = Gates { one: later(true), two: Some(later(true)) };
        let fiber = fiber! {
            if do! gates.one { if do! gates.two.take().unwrap() { return 2 } }
            0
        };
        assert_eq!(run(fiber), 2);
    }

    #[test]
    fn a_struct_literal_stands_in_parentheses_there_and_bare_elsewhere() {
        let fiber = fiber! {
            let one = do! Later { value: 1 };
            let both = one + do! Later { value: 2 };
            do! Later { value: 3 };
            if do! (Later { value: both }) == 3 { match do! (Later { value: 5 }) { n => n } } else { 0 }
        };
        assert_eq!(run(fiber), 5);
    }
}

mod operators {
    use super::*;

    #[test]
    fn lazy_operators_wait_for_the_second_fiber_only_if_they_need_it() {
        let never = || Fiber::<bool>::never().boxed();
        let fiber = fiber! {
            let (yes, no) = (later(true), later(false));
            let either = do! yes || do! never();
            let both = do! no && do! never();
            (either, both, !do! later(true) || do! later(true) && !do! later(false))
        };
        assert_eq!(run(fiber), (true, false, true));
    }

    #[test]
    fn conditions_combine_waits() {
        fn check(a: Fiber<bool>, b: Fiber<bool>, n: Fiber<u32>) -> Fiber<bool> {
            fiber! {
                if !do! a && do! b || do! n > 3 { true } else { false }
            }
        }
        assert!(run(check(later(false), later(true), later(0))));
        assert!(run(check(later(true), later(true), later(4))));
        assert!(!run(check(later(true), later(true), later(3))));
    }

    #[test]
    fn a_chain_of_lets_waits_in_each_link() {
        fn sum(a: Option<u32>, b: Option<u32>) -> Fiber<u32> {
            fiber! {
                let (a, b) = (later(a), later(b));
                if let Some(a) = do! a && a > do! later(1) && let Some(b) = do! b && b > a { a + b } else { 0 }
            }
        }
        assert_eq!(run(sum(Some(2), Some(3))), 5);
        assert_eq!(run(sum(Some(1), Some(3))), 0);
        assert_eq!(run(sum(Some(2), None)), 0);
        assert_eq!(run(sum(None, Some(3))), 0);
    }

    #[test]
    fn binary_operators_are_operators_of_the_value() {
        let fiber = fiber! {
            let mut n = do! later(2) + do! later(3) * 10 - 1;
            n += do! later(1);
            n -= do! later(2) << 1;
            let wide = do! later(5u8) as u32 + 1;
            let negative = -do! later(1);
            (n, wide, negative, do! later(1) == 1, 1 < do! later(1), do! later(4)..do! later(6))
        };
        assert_eq!(run(fiber), (28, 6, -1, true, false, 4..6));
    }

    #[test]
    fn a_statement_may_begin_with_a_wait() {
        let range = fiber! {
            do! later(1)..do! later(3)
        };
        assert_eq!(run(range), 1..3);
        let closed = fiber! { do! later(1) + 1 ..= 3 };
        assert_eq!(run(closed), 2..=3);
        let mut counted = 0;
        let lazily = fiber! {
            let both = { do! later(true) && { counted += 1; do! later(true) } };
            let either = { do! later(true) || { counted += 1; true } };
            (both, either, counted)
        };
        assert_eq!(run(lazily), (true, true, 1));
    }

    #[test]
    fn methods_fields_calls_and_question_marks_belong_to_the_fiber() {
        struct Shop {
            open: fn(u32) -> Result<Fiber<Result<u32, Error>>, Error>,
        }
        let shop = Shop { open: |n| Ok(later(Ok(n))) };
        let fiber = fiber! {
            let doubled = do! (shop.open)(2)?.map(|n| n.map(|n| 2 * n));
            let indexed = do! [later(1), later(2)].map(Some)[1].take().unwrap();
            (doubled?, indexed, (do! (shop.open)(3)?)?)
        };
        assert_eq!(run(fiber), (4, 2, 3));
    }

    #[test]
    fn a_fiber_of_a_fiber_is_waited_for_twice() {
        let fiber = fiber! { do! do! later(later(7)) };
        assert_eq!(run(fiber), 7);
    }
}

mod everywhere {
    use super::*;

    #[test]
    fn in_the_guard_and_the_value_of_an_arm() {
        fn name(n: u32) -> Fiber<&'static str> {
            fiber! {
                match n {
                    0 if do! later(true) => do! later("zero"),
                    n if n < do! later(3) && do! later(n == 2) => "two",
                    _ => { do! later("many") }
                }
            }
        }
        assert_eq!([0, 1, 2, 3].map(|n| run(name(n))), ["zero", "many", "two", "many"]);
    }

    #[test]
    fn in_the_value_of_a_return_and_a_break() {
        let value = later(1);
        assert_eq!(run(fiber! { return do! value }), 1);
        let value = later(true);
        assert!(!run(fiber! { return !do! value }));
        let fiber = later(later(2));
        assert_eq!(run(fiber! { return! do! fiber }), 2);
        let fiber = fiber! {
            let n = loop { break do! later(3) };
            let m = 'block: { if do! later(true) { break 'block do! later(4) } 0 };
            (n, m)
        };
        assert_eq!(run(fiber), (3, 4));
    }

    #[test]
    fn in_each_part_of_a_value() {
        #[derive(Debug, PartialEq)]
        struct Point {
            x: u32,
            y: u32,
        }
        let fiber = fiber! {
            let array = [do! later(1), do! later(2)];
            let repeated = [do! later(3); 2];
            let point = Point { x: do! later(4), ..do! later(Point { x: 0, y: 5 }) };
            let item = array[do! later(1)];
            let cell = &mut 0;
            *cell = do! later(6);
            let borrowed = &do! later(7);
            let sum = u32::wrapping_add(do! later(8), do! later(9));
            let piped = (do! later(10u32)).min(do! later(11));
            (array, repeated, point, item, *cell, *borrowed, sum, piped, (do! later((12, 13))).1)
        };
        let expected = ([1, 2], [3, 3], Point { x: 4, y: 5 }, 2, 6, 7, 17, 10, 13);
        assert_eq!(run(fiber), expected);
    }

    #[test]
    fn in_a_let_with_an_else() {
        fn first(items: Fiber<Option<u32>>) -> Fiber<u32> {
            fiber! {
                let Some(first) = do! items else { return do! later(0) };
                first
            }
        }
        assert_eq!(run(first(later(Some(5)))), 5);
        assert_eq!(run(first(later(None))), 0);
    }

    #[test]
    fn as_the_fiber_of_another_wait() {
        let fiber = fiber! {
            let! a = do! later(later(1)) and! b = do! later(later(2));
            a + b
        };
        assert_eq!(run(fiber), 3);
    }

    #[test]
    fn on_each_expression_that_ends_with_a_block() {
        let fiber = fiber! {
            let n = do! if do! later(true) { later(1) } else { later(2) };
            let m = do! match n { 1 => later(3), _ => later(4) };
            let k = do! { let five = later(5); five };
            let j = do! loop { break later(6) };
            n + m + k + j
        };
        assert_eq!(run(fiber), 15);
    }
}

mod attributes {
    use super::*;

    #[test]
    fn a_wait_that_is_configured_out_does_not_wait() {
        let fiber = fiber! {
            #[cfg(any())]
            do! Fiber::<()>::never();
            #[cfg(any())]
            return! Fiber::success(1);
            #[cfg(all())]
            do! later(());
            2
        };
        assert_eq!(run(fiber), 2);
    }
}

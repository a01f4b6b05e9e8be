//! The step that a name refers to.

use std::fmt::Display;
use std::sync::Arc;

use fiber_core::{Error, Fiber, dataflow, dataflow_graph, fiber};
use fiber_test::TestScheduler;

use super::{later, timed, value};

#[test]
fn a_later_variable_hides_an_earlier_one() {
    let flow = dataflow! {
        let x = later(1, 1);
        let x = later(1, x + 1);
        let y = later(1, x);
        let x = later(1, x * 10);
        return (x, y)
    };
    assert_eq!(timed(flow), ((20, 2), 3));
}

#[test]
fn a_result_may_have_the_name_of_what_it_was_made_from() {
    let id = 3;
    let flow = dataflow! {
        let id = later(1, id + 1);
        return id
    };
    assert_eq!(timed(flow), (4, 1));
}

#[test]
fn a_function_may_have_the_name_of_a_result() {
    fn price(cart: &[u32]) -> Fiber<u32> {
        later(1, cart.iter().sum())
    }
    let flow = dataflow! {
        let cart = later(1, vec![1, 2]);
        let price = price(&cart);
        let other = crate::dataflow::names::twice(price);
        return other
    };
    assert_eq!(timed(flow), (6, 3));
}

fn twice(n: u32) -> Fiber<u32> {
    later(1, 2 * n)
}

#[test]
fn parameters_of_closures_and_inner_blocks_hide_variables() {
    // The other steps do not read `slow`, although each of them contains that name.
    let flow = dataflow! {
        let slow = later(9, 1);
        let closure = later(1, [1, 2].map(|slow| slow + 1));
        let block = { let slow = 3; later(1, slow) };
        let arm = match Some(4) { Some(slow) => later(1, slow), None => later(1, 0) };
        let branch = if let Some(slow) = Some(5) { later(1, slow) } else { later(1, 0) };
        let each = { let mut sum = 0; for slow in 0..3 { sum += slow } later(1, sum) };
        let field = later(1, Named { slow: 6 }.slow);
        let inner = { fn slow() -> u32 { 7 } later(1, slow()) };
        let all = later(1, (closure, block, arm, branch, each, field, inner));
        let end = later(1, (all.0[1], all.1, all.2, all.3, all.4, all.5, all.6));
        return (end, slow)
    };
    assert_eq!(timed(flow), (((3, 3, 4, 5, 3, 6, 7), 1), 9));
}

#[test]
fn a_name_that_a_macro_is_given_is_not_that_of_a_step_of_the_macro() {
    macro_rules! flow {
        ($given:expr) => {{
            let outside = 7;
            dataflow! {
                let x = later(1, 1);
                let first = later(1, x + outside);
                let second = later(1, $given);
                return (first, second)
            }
        }};
    }
    let (x, outside) = (1_000, 2_000);
    assert_eq!(TestScheduler::new().run(flow!(x + outside)).unwrap(), (8, 3_000));
}

const GRAPH: &str = "abc";

#[test]
fn constants_of_the_expansion_do_not_meet_those_of_the_user() {
    let flow = dataflow! {
        let length = later(1, GRAPH.len());
        return length
    };
    assert_eq!(timed(flow), (3, 1));
}

struct Named {
    slow: u32,
}

#[test]
fn what_follows_a_scope_means_the_variable_again() {
    let flow = dataflow! {
        let a = later(2, 1);
        let b = { { let a = 5; assert_eq!(a, 5) } later(1, a) };
        return b
    };
    assert_eq!(timed(flow), (1, 3));
}

#[test]
fn format_strings_capture_variables() {
    let flow = dataflow! {
        let user = later(2, "Ann".to_owned());
        let sum = later(1, 3);
        let braces = Fiber::success(format!("{{user}} {}", 1));
        let text = Fiber::success(format!("{user} pays {sum:>2} {} {n}", user.len(), n = &user));
        let twice = Fiber::success(format!("{user:?}"));
        return (braces, text, twice)
    };
    let expected = ("{user} 1".to_owned(), "Ann pays  3 3 Ann".to_owned(), "\"Ann\"".to_owned());
    assert_eq!(timed(flow), (expected, 2));
}

#[test]
fn format_strings_capture_widths_and_precisions() {
    let flow = dataflow! {
        let width = later(2, 7);
        let precision = later(1, 2);
        let x = later(1, 1.2345);
        let both = Fiber::success(format!("{x:>width$.precision$}|{:0width$}|{:other$}", 5, 6, other = width - 5));
        let precise = Fiber::success(format!("{x:.precision$}",));
        let named = Fiber::success(format!("{both:precision$}|", precision = precision + 20));
        return (both, precise, named)
    };
    let both = "   1.23|0000005| 6".to_owned();
    let named = format!("{both}    |");
    assert_eq!(timed(flow), ((both, "1.23".to_owned(), named), 2));
}

#[test]
fn macros_of_the_standard_library_borrow() {
    let flow = dataflow! {
        let list = later(1, vec![1, 2]);
        let first = { assert_eq!(list, [1, 2]); assert!(matches!(list.len(), 2), "{list:?}"); Fiber::success(list[0]) };
        let second = { assert_ne!(list.len(), first); Fiber::success(vec![list.len(), first]) };
        return (list, second)
    };
    assert_eq!(timed(flow), ((vec![1, 2], vec![2, 1]), 1));
}

#[test]
fn the_input_of_another_macro_takes_its_variables() {
    let flow = dataflow! {
        let cart = later(1, vec![1, 2]);
        let number = later(1, 4);
        let sum = fiber! {
            let! more = later(1, 1);
            let number = number + more;
            number + cart.len()
        };
        return (sum, number)
    };
    assert_eq!(timed(flow), ((7, 4), 2));
}

#[test]
fn the_input_of_another_macro_may_have_ranges_fields_and_comparisons() {
    struct Point {
        x: usize,
    }
    let names = vec!["a".to_owned(), "b".to_owned()];
    let flow = dataflow! {
        let number = later(1, 3);
        let offset = later(1, 2);
        let limit = later(1, Some(9));
        let other = later(1, Some(5));
        let range = fiber! {
            let mut sum = 0;
            for n in 0..number {
                sum += do! later(0, n);
            }
            sum
        };
        let point = fiber! {
            do! later(1, ());
            Point { x: offset }
        };
        let smaller = fiber! {
            let least = limit.and(other);
            do! later(1, least)
        };
        let differs = fiber! { number != do! later(1, 4) };
        let length = later(0, names.len());
        let all = fiber! {
            let mut all = 0;
            for n in 0..names.len() {
                all += do! later(0, n);
            }
            all
        };
        return (range, point.x, smaller, differs, length + all)
    };
    assert_eq!(timed(flow), ((3, 2, Some(5), true, 3), 2));
}

#[test]
fn variables_inside_of_another_macro_are_its_own() {
    let flow = dataflow! {
        let slow = later(9, 1);
        let quick = fiber! {
            let! slow = later(1, 2);
            slow
        };
        let next = later(7, quick);
        return (slow, next)
    };
    assert_eq!(timed(flow), ((1, 2), 9));
}

#[test]
fn patterns_types_and_mut() {
    struct Pair {
        left: String,
        right: u32,
    }
    fn pair() -> Fiber<Pair> {
        later(1, Pair { left: "l".to_owned(), right: 2 })
    }
    let flow = dataflow! {
        let (a, (b, _)) = later(1, (vec![1], ("b", "unused".to_owned())));
        let Pair { left, right: renamed } = pair();
        let [x, .., z]: [u8; 3] = later(1, [1, 2, 3]);
        let mut list: Vec<u32> = later(1, vec![3, 1]);
        let sorted = { list.sort_unstable(); later(1, list) };
        let whole @ (_, _) = later(1, (1, 2));
        let first = later(1, a.len() + whole.0);
        return (a, b, left, renamed, x + z, sorted, first)
    };
    assert_eq!(timed(flow), ((vec![1], "b", "l".to_owned(), 2, 4, vec![1, 3], 2), 2));
}

#[test]
fn closures_and_async_blocks_take_what_they_name() {
    let flow = dataflow! {
        let a = later(1, 2);
        let list = later(1, vec![1, 2]);
        let first = Fiber::lazy(move || a + 1);
        let second = Fiber::from_future(async move { Ok::<_, Error>(a + 2) });
        let third = Fiber::lazy(move || list.into_iter().map(|n| n * a).collect::<Vec<_>>());
        return (first, second, third)
    };
    assert_eq!(timed(flow), ((3, 4, vec![2, 4]), 1));
}

#[test]
fn captured_variables_are_shared_as_results_are() {
    struct Config {
        name: String,
    }
    fn open(config: &Config, id: u32) -> Fiber<String> {
        later(1, format!("{} {id}", config.name))
    }
    fn close(config: Config) -> Fiber<String> {
        later(1, config.name)
    }
    fn flow(
        config: Config,
        id: u32,
        once: String,
        shared: Arc<str>,
    ) -> Fiber<(String, String, String, usize)> {
        dataflow! {
            let first = open(&config, id);
            let second = open(&config, id + 1);
            let third = later(1, once);
            let length = later(1, shared.len() + id as usize);
            let all = { let shared = Arc::clone(&shared); Fiber::lazy(move || format!("{first}, {second}, {shared}")) };
            let name = close(config);
            return (all, third, name, length)
        }
    }
    let config = Config { name: "c".to_owned() };
    let expected = ("c 1, c 2, s".to_owned(), "once".to_owned(), "c".to_owned(), 2);
    assert_eq!(timed(flow(config, 1, "once".to_owned(), "s".into())), (expected, 1));
}

#[test]
fn self_is_a_variable() {
    #[derive(Clone)]
    struct Shop {
        name: Arc<str>,
    }
    impl Shop {
        fn load(&self, id: u32) -> Fiber<String> {
            later(1, format!("{} {id}", self.name))
        }

        fn order(self) -> Fiber<(String, String)> {
            dataflow! {
                let first = self.load(1);
                let second = Fiber::success(format!("{} {}", self.name, self.name.len()));
                let third = { let copy = self.clone(); fiber! { do! copy.load(3) } };
                return (format!("{first}, {second}, {third}"), self.name.to_string())
            }
        }
    }
    let order = Shop { name: "north".into() }.order();
    assert_eq!(timed(order), (("north 1, north 5, north 3".to_owned(), "north".to_owned()), 1));
}

#[test]
fn fields_of_a_literal_may_be_given_by_their_names() {
    struct User {
        name: &'static str,
        id: u32,
    }
    let flow = dataflow! {
        let name = later(1, "Ann");
        let id = later(1, 7);
        let user = Fiber::success(User { name, id });
        let other = Fiber::success(User { id, ..User { name, id: 0 } });
        return (user.name, user.id, other.id, name)
    };
    assert_eq!(value(flow), ("Ann", 7, 7, "Ann"));
}

#[test]
fn the_variables_may_be_generic() {
    fn shown<T: Display + Clone + Send + 'static>(value: T) -> Fiber<(T, String)> {
        dataflow! {
            let kept = later(1, value);
            let text = Fiber::success(format!("{kept}"));
            let more = Fiber::success(kept.to_string() + &text);
            return (kept, more)
        }
    }
    assert_eq!(timed(shown(3)), ((3, "33".to_owned()), 1));
}

#[test]
fn values_need_not_be_sync() {
    use std::cell::Cell;
    let flow = dataflow! {
        let cell = later(1, Cell::new(1));
        let a = { cell.set(cell.get() + 1); later(1, cell.get()) };
        let b = { cell.set(cell.get() + 1); later(1, cell.get()) };
        return a * b
    };
    assert_eq!(timed(flow), (6, 2));
}

#[test]
fn nothing_of_the_expansion_is_visible() {
    let (values, step0, index, start, end, value) = (1, 2, 3, 4, 5, 6);
    let flow = dataflow! {
        let steps = later(1, values + step0);
        let handovers = later(1, index + start);
        return steps + handovers + end + value + values
    };
    assert_eq!(timed(flow), (22, 1));
}

/// One source for the fiber and for its picture.
macro_rules! order {
    ($form:ident) => {
        fiber_core::$form! {
            let user = later(3, "Ann".to_owned());
            let (cart, coupon) = later(1, (vec![1, 2], 1));
            let price = later(1, cart.len() - coupon);
            let mail = later(1, format!("{user} pays {price}"));
            then later(1, ());
            let archived = later(1, cart);
            return (mail, archived)
        }
    };
}

#[test]
fn the_graph_can_be_drawn() {
    assert_eq!(timed(order!(dataflow)), (("Ann pays 1".to_owned(), vec![1, 2]), 5));
    let dot = "\
digraph dataflow {
    s0 [label=\"user\"];
    s1 [label=\"(cart, coupon)\"];
    s2 [label=\"price\"];
    s3 [label=\"mail\"];
    s4 [label=\"later\"];
    s5 [label=\"archived\"];
    s6 [label=\"return\", shape=box];
    s0 -> s3 [label=\"user\"];
    s1 -> s2 [label=\"cart\"];
    s1 -> s5 [label=\"cart\"];
    s1 -> s2 [label=\"coupon\"];
    s2 -> s3 [label=\"price\"];
    s3 -> s6 [label=\"mail\"];
    s5 -> s6 [label=\"archived\"];
    s3 -> s4 [style=dashed];
    s2 -> s5 [style=dotted, label=\"cart\"];
}
";
    const DRAWN: &str = order!(dataflow_graph);
    assert_eq!(DRAWN, dot);
    assert_eq!(dataflow_graph! {}, "digraph dataflow {\n}\n");
}

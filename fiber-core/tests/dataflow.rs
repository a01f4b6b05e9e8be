//! `dataflow!`: steps run as early as their inputs are there.

use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Error, Fiber, Run, dataflow, dataflow_graph, fiber};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

fn after<T: Send + 'static>(seconds: u32, value: T) -> Fiber<T> {
    Fiber::delay(seconds * SECOND).map(move |()| value).boxed()
}

/// The value, and the time that it takes.
fn timed<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> (T, u64) {
    let test = TestScheduler::new();
    let value = test.run(fiber).unwrap();
    test.assert_no_leaks();
    (value, test.now().as_nanos() / 1_000_000_000)
}

#[derive(Debug, PartialEq)]
struct Cart(Vec<u32>);

fn load(id: u32) -> Fiber<String> {
    after(3, format!("user {id}"))
}

fn cart(id: u32) -> Fiber<Cart> {
    after(1, Cart(vec![id, 2]))
}

fn price(cart: &Cart) -> Fiber<u32> {
    after(1, cart.0.iter().sum())
}

fn greet(user: &str, price: &u32) -> Fiber<String> {
    after(2, format!("{user} pays {price}"))
}

#[test]
fn a_step_starts_when_its_inputs_are_there() {
    let id = 7;
    let order = dataflow! {
        let user = load(id);
        let cart = cart(id);
        let price = price(&cart);
        let mail = greet(&user, &price);
        return (mail, price)
    };
    assert_eq!(timed(order), (("user 7 pays 9".to_owned(), 9), 5));
}

#[test]
fn the_last_reader_may_take_a_value() {
    fn archive(cart: Cart) -> Fiber<usize> {
        after(1, cart.0.len())
    }
    let order = dataflow! {
        let cart = cart(1);
        let slow = after(4, 10);
        let price = Fiber::success(cart.0[0] + slow);
        let kept = archive(cart);
        return (price, kept)
    };
    assert_eq!(timed(order), ((11, 2), 5));
}

#[test]
fn a_copy_waits_for_nobody() {
    let both = dataflow! {
        let a = after(1, 5_u32);
        let slow = after(5, 1);
        let b = after(1, &a + slow);
        let c = after(3, a);
        b + c
    };
    assert_eq!(timed(both), (11, 6));
}

//! The starts of steps.

use std::sync::{Arc, Mutex};

use fiber_core::{Fiber, dataflow};

use super::{later, timed, value};

#[derive(Debug, PartialEq)]
struct Cart(Vec<u32>);

fn load(id: u32) -> Fiber<String> {
    later(3, format!("user {id}"))
}

fn cart(id: u32) -> Fiber<Cart> {
    later(1, Cart(vec![id, 2]))
}

fn price(cart: &Cart) -> Fiber<u32> {
    later(1, cart.0.iter().sum())
}

fn greet(user: &str, price: &u32) -> Fiber<String> {
    later(2, format!("{user} pays {price}"))
}

fn archive(cart: Cart) -> Fiber<usize> {
    later(1, cart.0.len())
}

/// Records events.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<&'static str>>>);

impl Notes {
    fn note(&self, what: &'static str) -> Fiber<()> {
        let notes = self.clone();
        Fiber::lazy(move || notes.0.lock().unwrap().push(what)).boxed()
    }

    fn later(&self, seconds: u32, what: &'static str) -> Fiber<()> {
        let note = self.note(what);
        later(seconds, ()).bind(move |()| note).boxed()
    }

    fn taken(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
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
fn a_graph_is_no_sequence_of_levels() {
    // By levels, it would take 4 + 4 seconds.
    let both = dataflow! {
        let slow = later(4, 1);
        let quick = later(1, 2);
        let after_slow = later(1, slow);
        let after_quick = later(4, quick);
        return after_slow + after_quick
    };
    assert_eq!(timed(both), (3, 5));
}

#[test]
fn the_last_reader_takes_the_value_once_the_others_have_started() {
    let order = dataflow! {
        let cart = cart(1);
        let slow = later(4, 10);
        let price = Fiber::success(cart.0[0] + slow);
        let kept = archive(cart);
        return (price, kept)
    };
    assert_eq!(timed(order), ((11, 2), 5));
}

#[test]
fn a_copy_waits_for_nobody() {
    let both = dataflow! {
        let a = later(1, 5_u32);
        let slow = later(5, 1);
        let b = later(1, &a + slow);
        let c = later(3, a);
        b + c
    };
    assert_eq!(timed(both), (11, 6));
}

#[test]
fn a_reader_that_borrows_delays_no_other_reader() {
    let both = dataflow! {
        let cart = cart(1);
        let slow = later(5, 1);
        let first = later(1, cart.0.len() + slow);
        let second = later(3, cart.0.len());
        first + second
    };
    assert_eq!(timed(both), (5, 6));
}

#[test]
fn then_starts_after_all_steps_above() {
    let notes = Notes::default();
    let flow = dataflow! {
        let _ = notes.later(2, "first");
        let _ = notes.later(1, "second");
        then notes.later(1, "then");
        let _ = notes.note("at once");
        then let last = later(1, "last");
        return last
    };
    assert_eq!(timed(flow), ("last", 4));
}

#[test]
fn then_runs_in_the_order_of_the_text() {
    let notes = Notes::default();
    let seen = notes.clone();
    let flow = dataflow! {
        let _ = notes.later(2, "first");
        let _ = notes.later(1, "second");
        then notes.later(1, "then");
        let _ = notes.note("at once");
    };
    timed(flow);
    assert_eq!(seen.taken(), ["at once", "second", "first", "then"]);
}

#[test]
fn after_starts_after_the_named_steps_only() {
    let notes = Notes::default();
    let seen = notes.clone();
    let flow = dataflow! {
        let saved = notes.later(1, "saved");
        let _ = notes.later(5, "slow");
        after(saved) notes.later(1, "told");
        after(saved) let mail = later(2, "mail");
        return mail
    };
    assert_eq!(timed(flow), ("mail", 5));
    assert_eq!(seen.taken(), ["saved", "told", "slow"]);
}

#[test]
fn a_single_step_and_none_at_all() {
    assert_eq!(timed(dataflow! { let only = later(2, 7); return only }), (7, 2));
    assert_eq!(timed(dataflow! { let only = later(2, 7); only }), (7, 2));
    assert_eq!(timed(dataflow! { return 3 }), (3, 0));
    let nothing: Fiber<()> = dataflow! {};
    assert_eq!(timed(nothing), ((), 0));
    assert_eq!(timed(dataflow! { let _ = later(2, 7); }), ((), 2));
}

#[test]
fn a_diamond() {
    let diamond = dataflow! {
        let top = later(1, 1);
        let left = later(2, top + 1);
        let right = later(3, top + 2);
        let bottom = later(1, left * right);
        return bottom
    };
    assert_eq!(timed(diamond), (6, 5));
}

#[test]
fn results_handles_and_static_fibers_are_steps() {
    let flow = Fiber::success(2).fork().bind(|handle| {
        dataflow! {
            let text = Fiber::lazy(|| "40");
            let number: u32 = text.parse();
            let two = handle;
            return number + two
        }
    });
    assert_eq!(value(flow), 42);
}

#[test]
fn nothing_happens_before_it_runs() {
    let notes = Notes::default();
    let seen = notes.clone();
    let flow = dataflow! {
        let _ = { notes.0.lock().unwrap().push("made"); notes.note("run") };
    };
    assert!(seen.taken().is_empty());
    drop(flow);
    assert!(seen.taken().is_empty());
}

#[test]
fn a_dataflow_in_a_dataflow() {
    let flow = dataflow! {
        let a = later(1, 1);
        let b = dataflow! {
            let c = later(2, a);
            let d = later(3, a);
            return c + d
        };
        return b
    };
    assert_eq!(timed(flow), (2, 4));
}

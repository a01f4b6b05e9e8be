//! An order is paid in the very moment in which it expires: both sides check whether the other one was first, and then act.

use std::time::Duration;

use fiber_core::Fiber;

use crate::support::Shared;

const MOMENT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Default)]
struct Order {
    is_paid: bool,
    is_expired: bool,
}

/// Ends an order in two steps.
fn end_in_two(order: &Shared<Order>, end: fn(&mut Order)) -> Fiber<()> {
    let order = order.clone();
    let look = order.step(|order| order.is_paid || order.is_expired);
    let act = move |is_over: bool| {
        order.step(move |order| {
            if !is_over {
                end(order);
            }
        })
    };
    look.bind(act).boxed()
}

fn end_in_one(order: &Shared<Order>, end: fn(&mut Order)) -> Fiber<()> {
    let end = order.step(move |order| {
        if !(order.is_paid || order.is_expired) {
            end(order);
        }
    });
    end.boxed()
}

fn program(end: fn(&Shared<Order>, fn(&mut Order)) -> Fiber<()>) -> Fiber<()> {
    let order = Shared::new(Order::default());
    let (pay, expire) =
        (end(&order, |order| order.is_paid = true), end(&order, |order| order.is_expired = true));
    let later = |what: Fiber<()>| Fiber::delay(MOMENT).bind(move |()| what).boxed();
    let check = move |_| {
        let Order { is_paid, is_expired } = order.with(|order| *order);
        assert!(is_paid != is_expired, "paid: {is_paid}, expired: {is_expired}");
    };
    Fiber::parallel([later(pay), later(expire)]).map(check).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(end_in_two)
}

pub(crate) fn corrected() -> Fiber<()> {
    program(end_in_one)
}

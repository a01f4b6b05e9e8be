//! The logic on virtual time: what two upstreams and a store do to an order, in every order of events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use booking::booking::{Bookings, Store, Upstreams};
use booking::domain::{Booking, Order, Refusal};
use fiber_core::error::TimedOut;
use fiber_core::{Error, Fiber, Outcome};
use fiber_test::{Explore, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

/// Upstreams that take a second each.
struct Slow {
    risk: u32,
}

impl Upstreams for Slow {
    fn price(&self, _: u32, _: u32) -> Fiber<u32> {
        Fiber::delay(SECOND).map(|()| 30).boxed()
    }

    fn risk(&self, _: &str) -> Fiber<u32> {
        let risk = self.risk;
        Fiber::delay(SECOND).map(move |()| risk).boxed()
    }
}

/// Upstreams that answer at once, after a switch point.
struct Quick;

impl Upstreams for Quick {
    fn price(&self, _: u32, _: u32) -> Fiber<u32> {
        Fiber::yield_now().map(|()| 30).boxed()
    }

    fn risk(&self, _: &str) -> Fiber<u32> {
        Fiber::success(0).boxed()
    }
}

/// Bookings in memory, by event and seat.
#[derive(Clone, Default)]
struct Memory {
    bookings: Arc<Mutex<BTreeMap<(u32, u32), Booking>>>,
    /// Looks first, and inserts later: a race.
    is_naive: bool,
}

impl Memory {
    fn holder(&self, order: &Order) -> Option<Booking> {
        self.bookings.lock().unwrap().get(&(order.event, order.seat)).cloned()
    }

    fn put(&self, order: &Order, price: u32) -> Booking {
        let Order { event, seat, client } = order.clone();
        let mut bookings = self.bookings.lock().unwrap();
        let booking = Booking { id: bookings.len() as i64, event, seat, client, price };
        bookings.insert((event, seat), booking.clone());
        booking
    }

    fn decide(&self, holder: Option<Booking>, order: &Order, price: u32) -> Result<Booking, Error> {
        match holder {
            Some(booking) if booking.client == order.client => Ok(booking),
            Some(_) => Err(Refusal::Taken.into()),
            None => Ok(self.put(order, price)),
        }
    }
}

impl Store for Memory {
    fn insert(&self, order: &Order, price: u32) -> Fiber<Booking> {
        let (this, order) = (self.clone(), order.clone());
        if self.is_naive {
            let (looks, sought) = (self.clone(), order.clone());
            let holder = Fiber::lazy(move || looks.holder(&sought));
            let insert = move |holder| Fiber::try_lazy(move || this.decide(holder, &order, price));
            return holder.bind(insert).boxed();
        }
        Fiber::try_lazy(move || this.decide(this.holder(&order), &order, price)).boxed()
    }

    fn bookings(&self, event: u32) -> Fiber<Vec<Booking>> {
        let bookings = self.bookings.clone();
        let of_event =
            move || bookings.lock().unwrap().values().filter(|b| b.event == event).cloned().collect();
        Fiber::lazy(of_event).boxed()
    }
}

fn order(client: &str) -> Order {
    Order { event: 1, seat: 7, client: client.to_owned() }
}

fn refusal(outcome: Outcome<Booking>) -> Refusal {
    outcome.failure().unwrap().downcast::<Refusal>().unwrap()
}

#[test]
fn both_upstreams_are_asked_at_the_same_time() {
    let test = TestScheduler::new();
    let booking = test.run(Bookings::new(Slow { risk: 0 }, Memory::default()).book(order("Ann"))).unwrap();
    assert_eq!((booking.client.as_str(), booking.price), ("Ann", 30));
    assert_eq!(test.now().as_nanos(), SECOND.as_nanos() as u64);
}

#[test]
fn an_order_that_is_refused_leaves_no_booking() {
    let (test, store) = (TestScheduler::new(), Memory::default());
    let bookings = Bookings::new(Slow { risk: 99 }, store.clone());
    assert_eq!(refusal(test.run(bookings.book(order("Ann")))), Refusal::Risky);
    let nobody = test.run(bookings.book(order("")));
    assert!(matches!(refusal(nobody), Refusal::Invalid(_)));
    assert!(test.run(bookings.of_event(1)).unwrap().is_empty());
}

#[test]
fn an_order_out_of_time_leaves_no_booking() {
    let (test, store) = (TestScheduler::new(), Memory::default());
    let bookings = Bookings::new(Slow { risk: 0 }, store.clone());
    let late = test.run(bookings.book(order("Ann")).timeout(SECOND / 2));
    assert!(late.failure().unwrap().is::<TimedOut>());
    assert!(test.run(bookings.of_event(1)).unwrap().is_empty());
    test.assert_no_leaks();
}

/// Two clients want the same seat, and both order twice.
fn rivals(store: Memory) -> Fiber<()> {
    let bookings = Bookings::new(Quick, store);
    let ask = |client: &'static str| {
        let (bookings, again) = (bookings.clone(), bookings.clone());
        bookings.book(order(client)).attempt().bind(move |first| {
            again.book(order(client)).attempt().map(move |second| (first.is_ok(), second.is_ok()))
        })
    };
    let check = |(ann, bob): ((bool, bool), (bool, bool))| {
        assert!(ann.0 == ann.1 && bob.0 == bob.1, "an order that is sent again has another answer");
        assert!(ann.0 != bob.0, "the seat is booked twice, or not at all");
    };
    ask("Ann").zip(ask("Bob")).map(check).boxed()
}

#[test]
fn in_every_schedule_a_seat_is_booked_once() {
    Explore::default().check(|| rivals(Memory::default()));
}

#[test]
fn a_store_that_looks_first_and_inserts_later_is_found_out() {
    let naive = || rivals(Memory { is_naive: true, ..Memory::default() });
    let failure = Explore::default().try_check(naive).unwrap_err();
    let report = failure.to_string();
    assert!(report.contains("booked twice") || report.contains("another answer"), "{report}");
}

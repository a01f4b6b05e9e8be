//! The logic of a booking.

use std::sync::Arc;

use fiber_core::{Error, Fiber, fiber};
use tracing::info;

use crate::domain::{Booking, Order, Refusal};

/// The other services that the logic asks.
pub trait Upstreams: Send + Sync + 'static {
    fn price(&self, event: u32, seat: u32) -> Fiber<u32>;

    /// From 0 to 100.
    fn risk(&self, client: &str) -> Fiber<u32>;
}

/// The storage of bookings.
pub trait Store: Send + Sync + 'static {
    /// Books a seat. If the same client already has it, returns that booking, so an order can be repeated.
    ///
    /// # Errors
    /// [`Refusal::Taken`].
    ///
    /// # Cancellation
    /// Either nothing has happened, or the fiber completes as if it had not been cancelled.
    fn insert(&self, order: &Order, price: u32) -> Fiber<Booking>;

    fn bookings(&self, event: u32) -> Fiber<Vec<Booking>>;
}

const HIGHEST_RISK: u32 = 80;
const SEATS: u32 = 10_000;

#[derive(Clone)]
pub struct Bookings {
    upstreams: Arc<dyn Upstreams>,
    store: Arc<dyn Store>,
}

impl Bookings {
    pub fn new(upstreams: impl Upstreams, store: impl Store) -> Self {
        Bookings { upstreams: Arc::new(upstreams), store: Arc::new(store) }
    }

    /// Books a seat for a client.
    pub fn book(&self, order: Order) -> Fiber<Booking> {
        let Bookings { upstreams, store } = self.clone();
        fiber! {
            check(&order)?;
            let! price = upstreams.price(order.event, order.seat).context("asking for the price")
                and! risk = upstreams.risk(&order.client).context("asking for the risk");
            if risk > HIGHEST_RISK { return! Fiber::fail(Refusal::Risky) }
            let! booking = store.insert(&order, price);
            info!("{} has seat {} of event {}", booking.client, booking.seat, booking.event);
            booking
        }
    }

    pub fn of_event(&self, event: u32) -> Fiber<Vec<Booking>> {
        self.store.bookings(event)
    }
}

fn check(order: &Order) -> Result<(), Error> {
    let refuse = |why| Err(Refusal::Invalid(why).into());
    match order {
        Order { client, .. } if client.is_empty() => refuse("it names no client"),
        Order { seat, .. } if *seat >= SEATS => refuse("there is no such seat"),
        _ => Ok(()),
    }
}

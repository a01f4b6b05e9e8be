//! An order book per symbol: each symbol on its own worker, compared with a lock per symbol on the ordinary pool.
//!
//! ```text
//! cargo run --release --example order_book
//! cargo test --example order_book
//! ```
//!
//! It prints the best of several runs of each, how often an order had to wait for the lock of its book, and how many
//! orders were overtaken by a later one for the same symbol. An exchange must prevent that; locks alone do not.

mod book;
mod exchange;
mod orders;

use std::time::{Duration, Instant};

use fiber_sched::{AffinityPool, Pool};

use exchange::{Closed, by_key, by_lock};

const SYMBOLS: usize = 16;
const ORDERS: u32 = 200_000;
const RUNS: usize = 5;

fn main() {
    let orders: Vec<_> = orders::stream(SYMBOLS, ORDERS).collect();
    println!("{ORDERS} orders for {SYMBOLS} symbols    ns per order    waits for a lock    overtaken");
    let by_key = || by_key(AffinityPool::new(), SYMBOLS, orders.iter().copied());
    let by_lock = || by_lock(Pool::new(), SYMBOLS, orders.iter().copied());
    // Alternating, so that a slow moment of the machine affects both.
    let (keys, locks): (Vec<_>, Vec<_>) = (0..RUNS).map(|_| (timed(by_key), timed(by_lock))).unzip();
    print("AffinityPool, keys", keys);
    print("Pool, locks", locks);
}

fn timed(run: impl FnOnce() -> Closed) -> (Duration, Closed) {
    let start = Instant::now();
    let closed = run();
    (start.elapsed(), closed)
}

fn print(name: &str, runs: Vec<(Duration, Closed)>) {
    let (time, closed) = runs.into_iter().min_by_key(|(time, _)| *time).expect("there are runs");
    let overtaken: u32 = closed.books.iter().map(|book| book.overtaken).sum();
    let nanos = time.as_nanos() / u128::from(ORDERS);
    println!("{name:<31} {nanos:>15} {:>19} {overtaken:>12}", closed.contended);
}

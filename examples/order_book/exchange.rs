//! The exchange, in two ways: each order is a fiber on the worker of its symbol, or a fiber anywhere that waits for the
//! lock of its symbol.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fiber_core::Fiber;
use fiber_sched::{AffinityPool, Pool, Shutdown};
use parking_lot::Mutex;

use crate::book::{Book, Order};

/// The result of a day of trading.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) books: Vec<Book>,
    /// How often an order found the lock of its book held.
    pub(crate) contended: u32,
}

/// One book for each symbol.
#[derive(Clone)]
struct Books(Arc<[Mutex<Book>]>);

impl Books {
    fn new(symbols: usize) -> Self {
        Books((0..symbols).map(|_| Mutex::default()).collect())
    }

    fn close(&self, contended: u32) -> Closed {
        let books = self.0.iter().map(|book| std::mem::take(&mut *book.lock())).collect();
        Closed { books, contended }
    }
}

/// Longer than any day of trading.
const LONG: Duration = Duration::from_secs(600);

/// Each symbol has a worker. Its orders arrive there in order, and no other thread ever holds the lock.
pub(crate) fn by_key(pool: AffinityPool, symbols: usize, orders: impl Iterator<Item = Order>) -> Closed {
    let books = Books::new(symbols);
    for order in orders {
        let books = books.clone();
        let place = move || {
            let mut book = books.0[order.symbol].try_lock().expect("only the worker of the symbol takes it");
            book.place(order);
        };
        drop(pool.spawn_on(order.symbol, Fiber::lazy(place)));
    }
    pool.shutdown(Shutdown::within(LONG).after_draining(LONG)).expect("every order has been placed");
    books.close(0)
}

/// Any worker places any order as soon as it has the lock.
pub(crate) fn by_lock(pool: Pool, symbols: usize, orders: impl Iterator<Item = Order>) -> Closed {
    let books = Books::new(symbols);
    let contended = Arc::new(AtomicU32::new(0));
    for order in orders {
        let (books, contended) = (books.clone(), contended.clone());
        let place = move || {
            let book = &books.0[order.symbol];
            let mut book = book.try_lock().unwrap_or_else(|| {
                // Relaxed: a count, read after the end of the pool.
                contended.fetch_add(1, Ordering::Relaxed);
                book.lock()
            });
            book.place(order);
        };
        drop(pool.spawn(Fiber::lazy(place)));
    }
    pool.shutdown(Shutdown::within(LONG).after_draining(LONG)).expect("every order has been placed");
    books.close(contended.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders;

    const SYMBOLS: usize = 4;
    const ORDERS: u32 = 5000;

    fn day() -> impl Iterator<Item = Order> {
        orders::stream(SYMBOLS, ORDERS)
    }

    #[test]
    fn with_keys_the_books_are_those_of_orders_that_come_one_by_one() {
        let mut expected: Vec<Book> = (0..SYMBOLS).map(|_| Book::default()).collect();
        day().for_each(|order| expected[order.symbol].place(order));
        let closed = by_key(AffinityPool::builder().workers(3).build(), SYMBOLS, day());
        assert_eq!(closed.books, expected);
        assert!(closed.books.iter().all(|book| book.traded > 0 && book.overtaken == 0));
    }

    #[test]
    fn with_locks_no_order_is_lost() {
        let closed = by_lock(Pool::builder().workers(3).build(), SYMBOLS, day());
        let ordered: u64 = day().map(|order| u64::from(order.quantity)).sum();
        // A trade takes its quantity from both sides.
        let accounted = closed.books.iter().map(|book| 2 * book.traded + book.waiting());
        assert_eq!(accounted.sum::<u64>(), ordered);
    }
}

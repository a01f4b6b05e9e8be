//! The orders of one symbol: the best price first, then in order of arrival.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Its position in the stream of all orders.
    pub(crate) number: u32,
    pub(crate) symbol: usize,
    pub(crate) side: Side,
    pub(crate) price: u32,
    pub(crate) quantity: u32,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Book {
    bids: BTreeMap<Reverse<u32>, VecDeque<Order>>,
    asks: BTreeMap<u32, VecDeque<Order>>,
    /// The quantity that was bought, and thus sold.
    pub(crate) traded: u64,
    /// The price of the last trade.
    pub(crate) last_price: Option<u32>,
    /// The latest order.
    latest: u32,
    /// The number of orders that came after a later one.
    pub(crate) overtaken: u32,
}

impl Book {
    /// Trades as much of the order as the other side offers at its price. The rest stays in the book.
    pub(crate) fn place(&mut self, mut order: Order) {
        self.overtaken += u32::from(order.number < self.latest);
        self.latest = self.latest.max(order.number);
        while order.quantity > 0
            && let Some(best) = self.best_against(&order)
        {
            let quantity = best.quantity.min(order.quantity);
            best.quantity -= quantity;
            order.quantity -= quantity;
            let price = best.price;
            self.traded += u64::from(quantity);
            self.last_price = Some(price);
            self.clean();
        }
        if order.quantity > 0 {
            match order.side {
                Side::Buy => self.bids.entry(Reverse(order.price)).or_default().push_back(order),
                Side::Sell => self.asks.entry(order.price).or_default().push_back(order),
            }
        }
    }

    /// The order with which this one trades next.
    fn best_against(&mut self, order: &Order) -> Option<&mut Order> {
        let best = match order.side {
            Side::Buy => self.asks.first_entry()?.into_mut().front_mut(),
            Side::Sell => self.bids.first_entry()?.into_mut().front_mut(),
        };
        best.filter(|best| match order.side {
            Side::Buy => best.price <= order.price,
            Side::Sell => best.price >= order.price,
        })
    }

    /// Removes the best orders if they are filled.
    fn clean(&mut self) {
        fn clean<K: Ord>(orders: &mut BTreeMap<K, VecDeque<Order>>) {
            if let Some(mut best) = orders.first_entry() {
                if best.get().front().is_some_and(|order| order.quantity == 0) {
                    best.get_mut().pop_front();
                }
                if best.get().is_empty() {
                    best.remove();
                }
            }
        }
        clean(&mut self.bids);
        clean(&mut self.asks);
    }

    /// The quantity that waits in the book, on both sides.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> u64 {
        let orders = self.bids.values().chain(self.asks.values()).flatten();
        orders.map(|order| u64::from(order.quantity)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(orders: &[(Side, u32, u32)]) -> Book {
        let mut book = Book::default();
        for (number, (side, price, quantity)) in (0..).zip(orders.iter().copied()) {
            book.place(Order { number, symbol: 0, side, price, quantity });
        }
        book
    }

    #[test]
    fn orders_whose_prices_do_not_meet_wait() {
        let book = placed(&[(Side::Buy, 99, 5), (Side::Sell, 101, 5)]);
        assert_eq!((book.traded, book.waiting()), (0, 10));
    }

    #[test]
    fn the_best_price_is_taken_first_and_the_rest_waits() {
        let book = placed(&[(Side::Sell, 102, 5), (Side::Sell, 100, 5), (Side::Buy, 102, 8)]);
        assert_eq!((book.traded, book.last_price, book.waiting()), (8, Some(102), 2));
        let book = placed(&[(Side::Sell, 102, 5), (Side::Sell, 100, 5), (Side::Buy, 101, 8)]);
        assert_eq!((book.traded, book.last_price, book.waiting()), (5, Some(100), 8));
    }

    #[test]
    fn of_orders_at_one_price_the_first_is_served_first() {
        let book = placed(&[(Side::Buy, 100, 5), (Side::Buy, 100, 5), (Side::Sell, 100, 6)]);
        let left: Vec<_> = book.bids.values().flatten().map(|order| (order.number, order.quantity)).collect();
        assert_eq!(left, [(1, 4)]);
    }
}

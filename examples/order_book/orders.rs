//! A stream of orders that is the same in every run.

use crate::book::{Order, Side};

/// Random prices and sides, around a fixed price.
pub(crate) fn stream(symbols: usize, count: u32) -> impl Iterator<Item = Order> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    // Xorshift (Marsaglia, "Xorshift RNGs", 2003).
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) % below
    };
    (0..count).map(move |number| Order {
        number,
        symbol: random(symbols as u64) as usize,
        side: if random(2) == 0 { Side::Buy } else { Side::Sell },
        price: 950 + random(100) as u32,
        quantity: 1 + random(20) as u32,
    })
}

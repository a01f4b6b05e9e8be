#![deny(unused_must_use)]

use fiber_core::{Fiber, fiber};

fn both(first: Fiber<Result<u32, u32>>, second: Fiber<u32>) -> Fiber<()> {
    fiber! {
        do! second;
        do! first;
        do! Fiber::yield_now();
    }
}

fn main() {
    let _ = both;
}

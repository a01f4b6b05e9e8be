use fiber_core::{Fiber, fiber};

fn count(n: u32) -> Fiber<u32> {
    fiber! {
        do! Fiber::yield_now();
        n += 1;
        n
    }
}

fn main() {
    let _ = count(1);
}

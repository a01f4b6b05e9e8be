use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        do! Fiber::yield_now();
        "one"
    }
}

fn main() {
    let _ = count();
}

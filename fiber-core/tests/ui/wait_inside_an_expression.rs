use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let n = if true { do! Fiber::success(1) } else { 2 };
        return n
    }
}

fn main() {
    count();
}

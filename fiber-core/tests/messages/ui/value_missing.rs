use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        do! Fiber::success(1);
    }
}

fn main() {
    count();
}

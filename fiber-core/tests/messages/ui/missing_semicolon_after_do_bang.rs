use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        do! Fiber::yield_now()
        let! m = Fiber::success(2);
        m
    }
}

fn main() {
    let _ = count();
}

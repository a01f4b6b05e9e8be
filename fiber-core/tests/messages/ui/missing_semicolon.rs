use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let! n = Fiber::success(1)
        let! m = Fiber::success(2);
        n + m
    }
}

fn main() {
    let _ = count();
}

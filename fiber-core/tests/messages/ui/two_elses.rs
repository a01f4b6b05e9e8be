use fiber_core::{Fiber, fiber};

fn sum() -> Fiber<u32> {
    fiber! {
        let! Some(a) = Fiber::success(Some(1)) else { return 0 } and! Some(b) = Fiber::success(Some(2)) else { return 1 };
        a + b
    }
}

fn main() {
    let _ = sum();
}

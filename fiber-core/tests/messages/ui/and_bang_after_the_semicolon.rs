use fiber_core::{Fiber, fiber};

fn sum() -> Fiber<u32> {
    fiber! {
        let! a = Fiber::success(1);
        and! _b = Fiber::success(2);
        a
    }
}

fn main() {
    let _ = sum();
}

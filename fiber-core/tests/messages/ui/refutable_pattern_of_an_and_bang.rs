use fiber_core::{Fiber, fiber};

fn sum() -> Fiber<u32> {
    fiber! {
        let! Some(a) = Fiber::success(Some(1)) and! b = Fiber::success(2);
        a + b
    }
}

fn main() {
    let _ = sum();
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let! Some(n) = Fiber::success(Some(1)) else { 0 };
        n
    }
}

fn main() {
    let _ = count();
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        return Fiber::success(1)
    }
}

fn main() {
    let _ = count();
}

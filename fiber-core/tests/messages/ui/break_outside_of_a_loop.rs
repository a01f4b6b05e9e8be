use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        do! Fiber::success(());
        break;
    }
}

fn main() {
    count();
}

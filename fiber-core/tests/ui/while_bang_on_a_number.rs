use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        while! 1 {
            do! Fiber::success(());
        }
        return 1
    }
}

fn main() {
    count();
}

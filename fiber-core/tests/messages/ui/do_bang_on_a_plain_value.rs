use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        do! 5;
        return 1
    }
}

fn main() {
    count();
}

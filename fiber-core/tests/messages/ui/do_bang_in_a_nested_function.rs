use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        fn one() -> u32 {
            do! Fiber::success(1)
        }
        one()
    }
}

fn main() {
    let _ = count();
}

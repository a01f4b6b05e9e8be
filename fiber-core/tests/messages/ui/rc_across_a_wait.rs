use fiber_core::{Fiber, fiber};
use std::rc::Rc;

fn count() -> Fiber<u32> {
    fiber! {
        let shared = Rc::new(1);
        do! Fiber::yield_now();
        *shared
    }
}

fn main() {
    let _ = count();
}

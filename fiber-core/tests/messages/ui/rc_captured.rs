use fiber_core::{Fiber, fiber};
use std::rc::Rc;

fn count(shared: Rc<u32>) -> Fiber<u32> {
    fiber! {
        do! Fiber::yield_now();
        *shared
    }
}

fn main() {
    let _ = count(Rc::new(1));
}

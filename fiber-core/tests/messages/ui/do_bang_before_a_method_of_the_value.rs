use fiber_core::{Fiber, fiber};

fn name() -> Fiber<usize> {
    fiber! { do! Fiber::success("a name").len() }
}

fn main() {
    let _ = name();
}

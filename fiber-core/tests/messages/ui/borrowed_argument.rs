use fiber_core::{Fiber, fiber};

fn length(name: &str) -> Fiber<usize> {
    fiber! {
        do! Fiber::yield_now();
        name.len()
    }
}

fn main() {
    let _ = length("a");
}

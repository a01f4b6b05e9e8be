use fiber_core::{Fiber, fiber};

struct Later {
    value: bool,
}

fn count() -> Fiber<u32> {
    fiber! {
        if do! Later { value: true } { 1 } else { 2 }
    }
}

fn main() {
    let _ = count();
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<()> {
    fiber! {
        do!;
    }
}

fn main() {
    let _ = count();
}

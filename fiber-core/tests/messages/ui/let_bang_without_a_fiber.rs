use fiber_core::{Fiber, fiber};

fn count() -> Fiber<()> {
    fiber! {
        let! n;
    }
}

fn main() {
    let _ = count();
}

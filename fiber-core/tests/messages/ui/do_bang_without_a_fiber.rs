use fiber_core::{Fiber, fiber};

fn count() -> Fiber<()> {
    fiber! {
        do!;
    }
}

fn value() -> Fiber<u32> {
    fiber! { do! }
}

fn main() {
    let _ = (count(), value());
}

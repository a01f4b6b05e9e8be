use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        do!;
        assert_eq!(do!, 2);
        do!
    }
}

fn main() {
    let _ = count();
}

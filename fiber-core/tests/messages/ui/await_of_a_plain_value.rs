use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let n = 1;
        n.await
    }
}

fn main() {
    let _ = count();
}

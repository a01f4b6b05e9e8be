use fiber_core::{Fiber, fiber};

fn count(n: Result<u32, u8>) -> Fiber<u32> {
    fiber! { n? }
}

fn main() {
    let _ = count(Ok(1));
}

use fiber_core::{Fiber, fiber};

fn count(parsed: Result<u32, u8>) -> Fiber<u32> {
    fiber! {
        let! n = parsed;
        n
    }
}

fn main() {
    let _ = count(Ok(1));
}

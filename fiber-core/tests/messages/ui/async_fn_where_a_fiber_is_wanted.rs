use fiber_core::{Fiber, fiber};

async fn one() -> u32 {
    1
}

fn count() -> Fiber<u32> {
    fiber! {
        let! n = one();
        n + 1
    }
}

fn main() {
    let _ = count();
}

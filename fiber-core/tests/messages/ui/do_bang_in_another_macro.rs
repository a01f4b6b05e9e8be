use fiber_core::{Fiber, fiber};

macro_rules! twice {
    ($n:expr) => { $n * 2 };
}

fn count() -> Fiber<u32> {
    fiber! { twice!(do! Fiber::success(1)) }
}

fn main() {
    let _ = count();
}

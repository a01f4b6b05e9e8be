use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let! n: u32 = Fiber::success("one");
        n
    }
}

fn main() {
    let _ = count();
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let n = Fiber::success(1)?;
        n
    }
}

fn main() {
    let _ = count();
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let later = async { do! Fiber::success(1) };
        later.await
    }
}

fn main() {
    let _ = count();
}

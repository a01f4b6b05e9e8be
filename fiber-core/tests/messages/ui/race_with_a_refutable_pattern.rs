use fiber_core::{Fiber, race};

fn main() {
    let _: Fiber<u32> = race! {
        Some(n) = Fiber::success(Some(1)) => n,
        n = Fiber::success(2) => n,
        n = Fiber::success(3) => n,
    };
}

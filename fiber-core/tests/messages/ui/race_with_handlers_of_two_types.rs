use fiber_core::{Fiber, race};

fn main() {
    let _: Fiber<u32> = race! {
        n = Fiber::success(1) => n,
        n = Fiber::success(2) => n.to_string(),
        n = Fiber::success(3) => n,
    };
}

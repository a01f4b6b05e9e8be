use fiber_core::{Fiber, race};

fn main() {
    let _: Fiber<u32> = race! { n = Fiber::success(1) => n };
    let _: Fiber<u32> = race! {};
}

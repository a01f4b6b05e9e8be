use fiber_core::{Fiber, race};

fn main() {
    let _: Fiber<u32> = race! {
        biased;
        n = Fiber::success(1) => n,
        n = Fiber::success(2) => n,
    };
    let _: Fiber<u32> = race! {
        n = Fiber::success(1) => n,
        n = Fiber::success(2) => n,
        else => 0,
    };
    let _: Fiber<u32> = race! {
        n = Fiber::success(1) if true => n,
        n = Fiber::success(2) => n,
    };
}

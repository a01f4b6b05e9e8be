use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        let! a = Fiber::success(1);
        let b = Fiber::success(do! Fiber::success(a));
        return b
    };
}

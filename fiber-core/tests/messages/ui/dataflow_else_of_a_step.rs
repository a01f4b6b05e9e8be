use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        let Some(a) = Fiber::success(Some(1)) else { return 0 };
        let (ref b, c): (u32, u32) = Fiber::success((1, 2));
        return a + b + c
    };
}

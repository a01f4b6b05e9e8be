use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        let a = Fiber::success(c + 1);
        let b = Fiber::success(a + 1);
        let c = Fiber::success(b + 1);
        return c
    };
}

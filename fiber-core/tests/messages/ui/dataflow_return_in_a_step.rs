use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        let a = Fiber::success(1);
        let b = if a > 1 { return a } else { Fiber::success(a) };
        return b
    };
}

use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        let Some(a) = Fiber::success(Some(1));
        return a
    };
}

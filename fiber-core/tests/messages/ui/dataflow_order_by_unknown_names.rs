use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        then Fiber::success(());
        let a = Fiber::success(1);
        after(b) Fiber::success(());
        return a
    };
}

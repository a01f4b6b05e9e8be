use fiber_core::{Fiber, dataflow};

fn double(n: &u32) -> Fiber<u32> {
    Fiber::success(n * 2).boxed()
}

fn main() {
    let _: Fiber<u32> = dataflow! {
        let a: u64 = double(&1);
        let b = Fiber::success("text");
        let c = double(&b);
        return a + c
    };
}

use fiber_core::{Fiber, dataflow};

fn load(id: u32) -> Fiber<u32> {
    Fiber::success(id).boxed()
}

fn main() {
    let _: Fiber<u32> = dataflow! {
        let user = load(1);
        let cart = load(2);
        return user
    };
}

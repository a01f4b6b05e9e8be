use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<u32> = dataflow! {
        let price = Fiber::success(cart + 1);
        let cart = Fiber::success(1);
        return price + cart
    };
}

use fiber_core::{Fiber, dataflow};

fn main() {
    let _: Fiber<usize> = dataflow! {
        let cart = Fiber::success(vec![1]);
        let count = { let cart = &cart; Fiber::lazy(move || cart.len()) };
        let first = Fiber::success(cart[0]);
        return count + first
    };
}

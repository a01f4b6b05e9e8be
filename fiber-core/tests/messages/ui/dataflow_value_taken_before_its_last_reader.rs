use fiber_core::{Fiber, dataflow};

fn archive(cart: Vec<u32>) -> Fiber<usize> {
    Fiber::success(cart.len()).boxed()
}

fn main() {
    let _: Fiber<usize> = dataflow! {
        let cart = Fiber::success(vec![1]);
        let kept = archive(cart);
        let lazily = Fiber::lazy(move || cart.len());
        let count = Fiber::success(cart.len());
        return kept + lazily + count
    };
}

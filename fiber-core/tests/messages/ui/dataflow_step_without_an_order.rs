use fiber_core::{Fiber, dataflow};

fn audit(price: &u32) -> Fiber<()> {
    Fiber::success(drop(*price)).boxed()
}

fn main() {
    let _: Fiber<u32> = dataflow! {
        let price = Fiber::success(1);
        audit(&price);
        return price
    };
}

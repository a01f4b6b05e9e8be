use fiber_core::{Fiber, fiber};

fn sum(items: Vec<u32>) -> Fiber<u32> {
    fiber! {
        items.into_iter().map(|n| do! Fiber::success(n)).sum()
    }
}

fn main() {
    let _ = sum(vec![]);
}

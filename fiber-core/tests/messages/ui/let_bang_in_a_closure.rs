use fiber_core::{Fiber, fiber};

fn sum(items: Vec<u32>) -> Fiber<u32> {
    fiber! {
        items.into_iter().map(|n| { let! m = Fiber::success(n); m + 1 }).sum()
    }
}

fn main() {
    let _ = sum(vec![]);
}

use fiber_core::{Fiber, fiber};

fn first(items: Vec<u32>) -> Fiber<u32> {
    fiber! {
        let n = items.first()?;
        *n
    }
}

fn main() {
    let _ = first(vec![]);
}

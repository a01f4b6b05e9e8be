use fiber_core::{Fiber, fiber};
use std::sync::{Arc, Mutex};

fn cost(items: &[u32]) -> Fiber<u32> {
    Fiber::success(items.len() as u32).boxed()
}

fn total(items: Arc<Mutex<Vec<u32>>>) -> Fiber<u32> {
    fiber! {
        do! cost(&items.lock().unwrap());
        let! first = cost(&items.lock().unwrap());
        first + do! cost(&items.lock().unwrap())
    }
}

fn main() {
    let _ = total(Arc::default());
}

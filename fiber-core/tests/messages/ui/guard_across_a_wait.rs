use fiber_core::{Fiber, fiber};
use std::sync::{Arc, Mutex};

fn count(counter: Arc<Mutex<u32>>) -> Fiber<()> {
    fiber! {
        let mut count = counter.lock().unwrap();
        do! Fiber::yield_now();
        *count += 1;
    }
}

fn main() {
    let _ = count(Arc::default());
}

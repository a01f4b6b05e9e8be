use fiber_core::{Fiber, fiber};
use std::sync::{Arc, Mutex};

fn count(counter: Arc<Mutex<u32>>) -> Fiber<()> {
    fiber! {
        let _guard = counter.lock().unwrap();
        do! Fiber::yield_now();
    }
}

fn main() {
    let _ = count(Arc::default());
}

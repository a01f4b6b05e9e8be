use fiber_core::{Fiber, fiber};

struct Counter(u32);

impl Counter {
    fn count(&self) -> Fiber<u32> {
        fiber! {
            do! Fiber::yield_now();
            self.0
        }
    }
}

fn main() {
    let _ = Counter(1).count();
}

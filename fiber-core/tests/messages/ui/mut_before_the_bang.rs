use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let mut! sum = Fiber::success(1);
        let mut other = 2;
        sum += 1;
        other += sum;
        other
    }
}

fn main() {
    let _ = count();
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let mut sum = 0;
        for! n in 0..3 {
            sum += do! Fiber::success(n);
        }
        while! sum < 10 {
            sum += do! Fiber::success(1);
        }
        loop! {
            do! Fiber::yield_now();
            break;
        }
        sum
    }
}

fn main() {
    let _ = count();
}

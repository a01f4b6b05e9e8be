use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let mut sum = 0;
        for n in 0..3 {
            let! n = Fiber::success(n);
            sum += n;
        }
        return sum
    }
}

fn main() {
    count();
}

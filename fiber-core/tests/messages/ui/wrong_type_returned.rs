use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    fiber! {
        let! n = Fiber::success(1);
        if n == 1 {
            return "one"
        }
        return n
    }
}

fn main() {
    count();
}

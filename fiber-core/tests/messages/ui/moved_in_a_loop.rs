use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    let name = String::from("a");
    fiber! {
        for n in 0..3 {
            let! _ = Fiber::success(n);
            drop(name);
        }
        return 0
    }
}

fn main() {
    count();
}

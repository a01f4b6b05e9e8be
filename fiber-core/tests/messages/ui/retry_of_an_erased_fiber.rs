use fiber_core::{Fiber, Policy, fiber};

fn main() {
    _ = fiber! { do! Fiber::yield_now(); 7 }.retry(Policy::recurs(3));
}

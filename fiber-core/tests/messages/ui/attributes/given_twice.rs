//! One of the two would be ignored.
use fiber_core::Fiber;

#[fiber_test::explore(seed = 1, seed = 2)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

//! Two explorations at once.
use fiber_core::Fiber;

#[fiber_test::explore(exhaustive, cancel_everywhere)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

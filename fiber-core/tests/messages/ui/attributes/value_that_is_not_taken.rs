//! A flag with a value.
use fiber_core::Fiber;

#[fiber_test::explore(exhaustive = true)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

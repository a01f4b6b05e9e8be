//! A setting that does not go with the mode.
use fiber_core::Fiber;

#[fiber_test::explore(reduced)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

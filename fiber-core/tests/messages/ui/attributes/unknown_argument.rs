//! A setting that there is not.
use fiber_core::Fiber;

#[fiber_test::explore(schedule = 5)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

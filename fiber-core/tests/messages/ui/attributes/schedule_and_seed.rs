//! A schedule has a seed of its own.
use fiber_core::Fiber;

#[fiber_test::test(schedule = "1:1", seed = 7)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

//! Nothing would be run.
use fiber_core::Fiber;

#[fiber_test::explore(schedules = 0)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

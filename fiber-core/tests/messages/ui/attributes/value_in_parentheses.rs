//! A setting that is written like a call.
use fiber_core::Fiber;

#[fiber_test::explore(schedules(500))]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

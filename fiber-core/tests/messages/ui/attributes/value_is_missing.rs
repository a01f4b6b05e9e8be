//! A setting without its value.
use fiber_core::Fiber;

#[fiber_test::explore(schedules)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

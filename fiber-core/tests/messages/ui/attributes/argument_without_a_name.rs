//! A value without the name of its setting.
use fiber_core::Fiber;

#[fiber_test::explore(1000)]
fn program() -> Fiber<()> {
    Fiber::success(()).boxed()
}

fn main() {}

//! No caller could pass it.
use fiber_core::Fiber;

#[fiber_test::test]
fn program(number: u32) -> Fiber<()> {
    Fiber::success(number).map(drop).boxed()
}

fn main() {}

//! The attribute makes the test by itself.

#[fiber_test::test]
#[test]
fn program() -> fiber_core::Fiber<()> {
    fiber_core::Fiber::success(()).boxed()
}

fn main() {}

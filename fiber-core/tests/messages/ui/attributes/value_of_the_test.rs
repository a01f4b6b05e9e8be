//! A value that is ignored: what the attribute expands to.
use fiber_core::Fiber;

fn main() {
    fiber_test::__macro_support::fiber(Fiber::success(7_u32));
}

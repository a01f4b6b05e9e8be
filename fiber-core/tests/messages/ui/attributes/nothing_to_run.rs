//! Neither a fiber nor a future.
#[fiber_test::test]
fn program() {}

fn main() {}

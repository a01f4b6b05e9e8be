use fiber_core::{Fiber, fiber};

fn main() {
    let _ = fiber! { do! Fiber::fail(fiber_core::Error::msg("no")) };
}

use fiber_core::{Fiber, race};

#[derive(PartialEq)]
struct Mode {
    is_fast: bool,
}

fn main() {
    let mode = Mode { is_fast: true };
    let _: Fiber<u32> = race! {
        n = Fiber::success(1), if mode == Mode { is_fast: true } => n,
        n = Fiber::success(2) => n,
    };
    let _: Fiber<u32> = race! {
        n = Fiber::success(1), if mode.is_fast { n }
        n = Fiber::success(2) => n,
    };
}

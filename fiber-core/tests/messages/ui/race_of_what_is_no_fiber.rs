use fiber_core::{Fiber, race};

fn main() {
    let _: Fiber<u32> = race! {
        n = 1_u32 => n,
        n = Fiber::success(2) => n,
        n = async { 3 } => n,
    };
    let _: Fiber<u32> = race! {
        n = Fiber::success(2) => n,
        n = "3" => n,
    };
}

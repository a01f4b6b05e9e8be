use fiber_core::{Fiber, fiber, race};

fn main() {
    let _: Fiber<u32> = fiber! {
        do! race! {
            n => n,
            n = Fiber::success(2) => n,
        }
    };
    let _: Fiber<u32> = race! {
        n = Fiber::success(1),
        n = Fiber::success(2) => n,
    };
    let _: Fiber<u32> = race! { n = Fiber::success(1) => n n = Fiber::success(2) => n };
}

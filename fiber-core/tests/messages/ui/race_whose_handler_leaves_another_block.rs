use fiber_core::{Fiber, fiber, race};

fn main() {
    let _: Fiber<u32> = fiber! {
        loop {
            let first = race! {
                n = Fiber::success(1) => break n,
                n = Fiber::success(2) => n,
            };
            do! first;
        }
    };
    let _: Fiber<u32> = fiber! {
        let first = || do! race! {
            n = Fiber::success(1) => n,
            n = Fiber::success(2) => n,
        };
        first()
    };
}

use fiber_core::{Fiber, fiber, race};
use std::time::Duration;

fn main() {
    let _: Fiber<u32> = fiber! {
        let! a = race! {
            n = Fiber::success(1) => return n,
            n = Fiber::success(2) => n,
        }
        and! b = Fiber::success(3);
        a + b
    };
    let _: Fiber<u32> = fiber! {
        do! race! {
            n = Fiber::success(1) => n,
            n = Fiber::success(2) => { println!("{}", if n == 2 { return 0 } else { n }); n }
        }
        .timeout(Duration::from_secs(1))
    };
    let _: Fiber<u32> = fiber! {
        do! { race! {
            n = Fiber::success(1) => return! Fiber::success(n),
            n = Fiber::success(2) => (|| return n)(),
        } }
    };
    let _: Fiber<u32> = fiber! {
        let text = format!("{}", do! race! { n = Fiber::success(1) => n });
        text.len() as u32
    };
}

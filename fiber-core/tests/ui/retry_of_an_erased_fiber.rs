use fiber_core::{Fiber, Policy, fiber};

struct Connection(u32);

fn main() {
    let connection = Connection(1);
    let reads = move || {
        let connection = &connection;
        connection.0
    };
    _ = Fiber::lazy(reads).repeat(Policy::recurs(3));
    _ = fiber! { do! Fiber::yield_now(); 7 }.retry(Policy::recurs(3));
}

use fiber_core::{Fiber, fiber};

fn count() -> Fiber<u32> {
    let name = String::from("a");
    fiber! {
        drop(name);
        do! Fiber::success(());
        return name.len() as u32
    }
}

fn main() {
    count();
}

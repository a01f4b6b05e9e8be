use fiber_core::{Fiber, fiber};

fn length() -> Fiber<usize> {
    fiber! {
        let name = String::from("a");
        let borrowed = &name;
        do! Fiber::lazy(move || borrowed.len())
    }
}

fn main() {
    let _ = length();
}

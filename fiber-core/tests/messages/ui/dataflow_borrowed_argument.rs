use fiber_core::{Fiber, dataflow};

fn lengths(text: &str) -> Fiber<usize> {
    dataflow! {
        let a = Fiber::success(text.len());
        let b = Fiber::success(text.len() + a);
        return b
    }
}

fn main() {
    let _ = lengths("text");
}

use fiber_core::{Fiber, dataflow};
use std::rc::Rc;

fn count(shared: Rc<u32>) -> Fiber<u32> {
    dataflow! {
        let a = Fiber::success(*shared);
        return a
    }
}

fn main() {
    let _ = count(Rc::new(1));
}

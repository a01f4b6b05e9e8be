use fiber_core::{Fiber, dataflow};

fn name(id: u32) -> Fiber<String> {
    dataflow! {
        let doubled = Fiber::success(2 * id);
        return doubled
    }
}

fn main() {
    let _ = name(1);
}

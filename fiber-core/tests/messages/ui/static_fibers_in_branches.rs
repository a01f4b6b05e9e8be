use fiber_core::Fiber;

fn count(zero: bool) -> Fiber<u32> {
    if zero { Fiber::success(0).boxed() } else { Fiber::lazy(|| 1) }
}

fn main() {
    let _ = count(true);
}

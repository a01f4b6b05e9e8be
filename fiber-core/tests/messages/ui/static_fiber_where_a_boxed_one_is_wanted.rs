use fiber_core::Fiber;

fn count() -> Fiber<u32> {
    Fiber::success(1).map(|n| n + 1)
}

fn main() {
    let _ = count();
}

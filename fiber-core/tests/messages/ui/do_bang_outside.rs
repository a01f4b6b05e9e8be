use fiber_core::Fiber;

fn count() -> u32 {
    let n = do! Fiber::success(1);
    n
}

fn main() {
    let _ = count();
}

use fiber_core::{Error, Fiber, fiber};

async fn one() -> Result<u32, Error> {
    Ok(1)
}

fn count() -> Fiber<u32> {
    fiber! { do! one() }
}

fn main() {
    let _ = count();
}

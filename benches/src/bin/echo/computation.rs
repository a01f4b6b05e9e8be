//! What a server does beside its answers.

use std::time::{Duration, Instant};

/// A request that begins with this byte makes the server compute before it answers.
pub(crate) const COMPUTES: u8 = 1;

/// For so long.
const COMPUTATION: Duration = Duration::from_millis(20);

/// What a server does before it answers.
#[inline]
pub(crate) fn compute(request: &[u8]) {
    if request.first() == Some(&COMPUTES) {
        let start = Instant::now();
        while start.elapsed() < COMPUTATION {
            std::hint::spin_loop();
        }
    }
}

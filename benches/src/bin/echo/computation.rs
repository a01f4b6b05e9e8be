//! The computation of a server besides its answers.

use std::time::{Duration, Instant};

/// A request that begins with this byte makes the server compute before it answers.
pub(crate) const COMPUTES: u8 = 1;

/// The duration of the computation.
const COMPUTATION: Duration = Duration::from_millis(20);

/// The work before an answer.
#[inline]
pub(crate) fn compute(request: &[u8]) {
    if request.first() == Some(&COMPUTES) {
        let start = Instant::now();
        while start.elapsed() < COMPUTATION {
            std::hint::spin_loop();
        }
    }
}

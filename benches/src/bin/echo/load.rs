//! What the clients do.

use std::fmt;
use std::time::{Duration, Instant};

/// The descriptors of a process that are not connections.
const OTHERS: usize = 64;

/// A request that begins with this byte makes the server compute before it answers.
pub(crate) const COMPUTES: u8 = 1;

/// For so long.
const COMPUTATION: Duration = Duration::from_millis(20);

/// And so long after the answer, it is asked again.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    /// Of a request.
    pub(crate) bytes: usize,
    /// One more connection makes the server compute.
    pub(crate) is_busy: bool,
}

impl Load {
    /// As many connections as the limit of descriptors allows.
    pub(crate) fn within_limits(self) -> Self {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let line = limits.lines().find(|line| line.starts_with("Max open files"));
        let limit = line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(usize::MAX);
        let connections = self.connections.min(limit.saturating_sub(OTHERS));
        if connections < self.connections {
            eprintln!("{connections} connections instead of {}: ulimit -n is {limit}", self.connections);
        }
        Load { connections, ..self }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections, {} bytes", self.connections, self.bytes)?;
        if self.is_busy { f.write_str(", beside 20 ms of computation") } else { Ok(()) }
    }
}

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

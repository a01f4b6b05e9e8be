//! The load that the clients generate.

use std::fmt;

use super::Protocol;

/// The descriptors of a process that are not connections.
const OTHERS: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Load<'a> {
    pub(super) connections: usize,
    pub(super) protocol: &'a Protocol,
}

impl Load<'_> {
    /// As many connections as the limit of descriptors allows.
    pub(super) fn within_limits(self) -> Self {
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

impl fmt::Display for Load<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections, {} bytes", self.connections, self.protocol.request.len())?;
        if self.protocol.burner.is_some() { f.write_str(", beside 20 ms of computation") } else { Ok(()) }
    }
}

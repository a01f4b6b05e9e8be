//! A fault of the simulated network, or of a disk, as a schedule writes it.

use std::fmt;
use std::time::Duration;

/// A fault of the simulated network, or of a disk, that the explorer has injected: see [`Explore::faults`](crate::Explore::faults). In the text
/// of a schedule:
///
/// | word | meaning |
/// |---|---|
/// | `crash7@a:200ms` | host a crashes before turn 7, and starts again 200 ms of virtual time later |
/// | `cut7@a+b:200ms` | before turn 7, hosts a and b are cut off from all other hosts, for 200 ms |
/// | `reset7@a+b` | the connections between hosts a and b are reset before turn 7 |
/// | `lose7@a+b` | the datagrams in transit between hosts a and b are lost before turn 7 |
/// | `fail7@a` | the first operation from turn 7 on that uses the disk of host a fails |
/// | `late-fail7@a` | the second one fails |
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// The turn before which it happens, counted from 0.
    pub turn: u32,
    /// What happens.
    pub kind: FaultKind,
    /// The names of the affected hosts.
    pub hosts: Vec<String>,
    /// The virtual time until it ends. Zero, except for a crash and for a cut.
    pub lasts: Duration,
}

/// What a [`Fault`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FaultKind {
    /// The host [crashes](crate::Host::crash).
    Crash,
    /// The hosts are cut off from all others, like by [`Network::partition`](crate::Network::partition).
    Cut,
    /// The connections between the two hosts are [reset](crate::Way::reset).
    Reset,
    /// The datagrams in transit between the two hosts are [lost](crate::Way::lose_datagrams).
    Loss,
    /// The next operation on the disk of the host [fails](crate::Disk::fail_next).
    DiskError,
    /// The operation after that one fails. An [`fs::write`](fiber_core::fs::write) has two, so it has emptied the file before.
    LaterDiskError,
}

impl FaultKind {
    pub(crate) const ALL: [FaultKind; 6] = [
        FaultKind::Crash,
        FaultKind::Cut,
        FaultKind::Reset,
        FaultKind::Loss,
        FaultKind::DiskError,
        FaultKind::LaterDiskError,
    ];

    /// The kind among whose faults it counts.
    pub(crate) fn counts_as(self) -> FaultKind {
        if self == FaultKind::LaterDiskError { FaultKind::DiskError } else { self }
    }

    /// Whether it ends at once.
    pub(crate) fn is_instant(self) -> bool {
        !matches!(self, FaultKind::Crash | FaultKind::Cut)
    }

    fn word(self) -> &'static str {
        match self {
            FaultKind::Crash => "crash",
            FaultKind::Cut => "cut",
            FaultKind::Reset => "reset",
            FaultKind::Loss => "lose",
            FaultKind::DiskError => "fail",
            FaultKind::LaterDiskError => "late-fail",
        }
    }
}

/// Whether a host may have this name: it is a part of a word of a schedule.
pub(crate) fn is_host_name(name: &str) -> bool {
    let is_usual = |one: char| one.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&one);
    !name.is_empty() && name.chars().all(is_usual)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}@{}", self.kind.word(), self.turn, self.hosts.join("+"))?;
        match self.lasts.as_nanos() {
            0 => Ok(()),
            nanos if nanos % 1_000_000 == 0 => write!(f, ":{}ms", nanos / 1_000_000),
            nanos => write!(f, ":{nanos}ns"),
        }
    }
}

/// The fault that a word stands for. `None`: the word is not a fault.
pub(crate) fn parse(word: &str) -> Option<Fault> {
    let (kind, rest) =
        FaultKind::ALL.into_iter().find_map(|kind| Some((kind, word.strip_prefix(kind.word())?)))?;
    let (turn, rest) = rest.split_once('@')?;
    let (hosts, lasts) = rest.split_once(':').unwrap_or((rest, "0ns"));
    let lasts = match lasts.strip_suffix("ms") {
        Some(millis) => Duration::from_millis(millis.parse().ok()?),
        None => Duration::from_nanos(lasts.strip_suffix("ns")?.parse().ok()?),
    };
    let hosts: Vec<String> = hosts.split('+').map(str::to_owned).collect();
    let is_right = hosts.iter().all(|name| is_host_name(name))
        && match kind {
            FaultKind::Crash => hosts.len() == 1,
            FaultKind::Cut => true,
            FaultKind::DiskError | FaultKind::LaterDiskError => hosts.len() == 1 && lasts.is_zero(),
            FaultKind::Reset | FaultKind::Loss => hosts.len() == 2 && lasts.is_zero(),
        };
    is_right.then_some(Fault { turn: turn.parse().ok()?, kind, hosts, lasts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_what_its_text_says() {
        for text in [
            "crash7@a:200ms",
            "cut0@a+db-1:1500ns",
            "reset12@client+b",
            "lose3@a+b",
            "crash3@a",
            "fail9@a",
            "late-fail9@a",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_none() {
        for text in [
            "crash@a",
            "fail7@a:1ms",
            "crash7@a+b:1ms",
            "reset7@a",
            "reset7@a+b:1ms",
            "cut7@:1ms",
            "cut7@a:1s",
            "r5",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

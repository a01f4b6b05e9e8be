//! The faults of the network and of disks that an exploration may inject.

use std::time::Duration;

use crate::fault::FaultKind;
use crate::machine::{Aim, OpenFaults, PlannedFault};
use crate::random::SplitMix64;

/// The default maximum duration of a fault: longer than usual time limits.
const DEFAULT_LASTING: Duration = Duration::from_secs(10);

const MILLISECOND: Duration = Duration::from_millis(1);

/// Faults of the simulated network and of its disks that an exploration may inject, at any turn of the program: see
/// [`Explore::faults`](crate::Explore::faults). They affect hosts with [names](crate::Network::host), so a program that runs on
/// no host, such as the part that checks the others, is not affected.
///
/// ```
/// use fiber_core::net::{TcpListener, TcpStream};
/// use fiber_core::{Either, Fiber, fiber};
/// use fiber_test::{Explore, FaultKind, Faults, network};
/// use std::time::Duration;
///
/// /// Asks a server on another host, and expects its answer within a second.
/// fn asks() -> Fiber<()> {
///     fiber! {
///         let! network = network();
///         let (client, server) = (network.host("client"), network.host("server"));
///         let at = server.at(80);
///         let serves = server.run(|| fiber! {
///             let! listener = TcpListener::bind(([0, 0, 0, 0], 80));
///             return! listener.serve(10, |stream, _| stream.write_all("hello\n").map(drop).boxed());
///         });
///         let asks = client.run(move || TcpStream::connect(at).bind(|stream| stream.buffered().line()));
///         let! first = serves.race(asks.timeout(Duration::from_secs(1)));
///         assert!(matches!(first, Either::Right(Some(_))), "no answer");
///     }
/// }
///
/// let one_kind = [
///     (Faults::new().crashes(1), FaultKind::Crash),
///     (Faults::new().partitions(1).lasting(Duration::from_secs(2)), FaultKind::Cut),
///     (Faults::new().resets(1), FaultKind::Reset),
/// ];
/// for (faults, kind) in one_kind {
///     let failure = Explore::default().faults(faults).try_check(asks).unwrap_err();
///     assert_eq!(failure.schedule().faults()[0].kind, kind);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "faults happen in an exploration: Explore::default().faults(..)"]
pub struct Faults {
    crashes: u32,
    partitions: u32,
    resets: u32,
    losses: u32,
    disk_errors: u32,
    lasting: Duration,
}

impl Faults {
    /// No faults.
    pub fn new() -> Self {
        Faults { crashes: 0, partitions: 0, resets: 0, losses: 0, disk_errors: 0, lasting: DEFAULT_LASTING }
    }

    /// Up to `most` [crashes](crate::Host::crash) of a host, each followed by a restart.
    pub fn crashes(self, most: u32) -> Self {
        Faults { crashes: most, ..self }
    }

    /// Up to `most` [partitions](crate::Network::partition): some of the hosts are cut off from all others for a time.
    /// So there have to be two. Fibers that are on no host reach all of them.
    pub fn partitions(self, most: u32) -> Self {
        Faults { partitions: most, ..self }
    }

    /// Up to `most` times, all connections between two hosts are [reset](crate::Way::reset).
    pub fn resets(self, most: u32) -> Self {
        Faults { resets: most, ..self }
    }

    /// Up to `most` times, the datagrams in transit between two hosts are [lost](crate::Way::lose_datagrams).
    ///
    /// ```
    /// use fiber_core::net::UdpSocket;
    /// use fiber_core::{Fiber, fiber};
    /// use fiber_test::{Explore, FaultKind, Faults, network};
    /// use std::time::Duration;
    ///
    /// fn reports() -> Fiber<()> {
    ///     fiber! {
    ///         let! network = network();
    ///         let (sensor, station) = (network.host("sensor"), network.host("station"));
    ///         let! receiver = station.run(|| UdpSocket::bind(([0, 0, 0, 0], 80)));
    ///         let! sender = sensor.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
    ///         do! sender.send_to("21.5", station.at(80));
    ///         do! receiver.recv([0; 8]).timeout(Duration::from_secs(1));
    ///     }
    /// }
    /// let failure = Explore::default().faults(Faults::new().losses(1)).try_check(reports).unwrap_err();
    /// assert_eq!(failure.schedule().faults()[0].kind, FaultKind::Loss);
    /// ```
    pub fn losses(self, most: u32) -> Self {
        Faults { losses: most, ..self }
    }

    /// Up to `most` operations on a disk of a host [fail](crate::Disk::fail_next): the first ones of a turn, or the second ones
    /// ([`FaultKind::LaterDiskError`]).
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, fiber, fs};
    /// use fiber_test::{Explore, FaultKind, Faults, network};
    ///
    /// /// Writes two files or none, or so it believes.
    /// fn writes_both() -> Fiber<()> {
    ///     fiber! {
    ///         let! network = network();
    ///         let host = network.host("a");
    ///         let both = host.run(|| fs::write("one", "1").bind(|()| fs::write("other", "2")));
    ///         do! both.catch(|_: Error| Fiber::success(()));
    ///         let! paths = host.run(|| fs::read_dir("/")).catch(|_| Fiber::success(Vec::new()));
    ///         assert_ne!(paths.len(), 1, "only {paths:?}");
    ///     }
    /// }
    /// let failure = Explore::default().faults(Faults::new().disk_errors(1)).try_check(writes_both).unwrap_err();
    /// assert_eq!(failure.schedule().faults()[0].kind, FaultKind::DiskError);
    /// ```
    pub fn disk_errors(self, most: u32) -> Self {
        Faults { disk_errors: most, ..self }
    }

    /// Sets the maximum duration of a crash or a partition. The default is 10 s. The exploration draws each duration, in
    /// milliseconds of virtual time. In an [exhaustive](crate::Explore::exhaustive) exploration, each lasts exactly this long: it cannot
    /// try all durations.
    pub fn lasting(self, most: Duration) -> Self {
        Faults { lasting: most, ..self }
    }

    fn most(&self) -> [(FaultKind, u32); 5] {
        [
            (FaultKind::Crash, self.crashes),
            (FaultKind::Cut, self.partitions),
            (FaultKind::Reset, self.resets),
            (FaultKind::Loss, self.losses),
            (FaultKind::DiskError, self.disk_errors),
        ]
    }

    /// All faults that can be chosen.
    pub(super) fn open(&self) -> OpenFaults {
        OpenFaults { left: self.most().to_vec(), lasts: self.lasting }
    }

    /// At least one fault, each before a random turn of the given number.
    pub(super) fn draw(&self, random: &mut SplitMix64, turns: u32) -> Vec<PlannedFault> {
        let all: Vec<FaultKind> =
            self.most().into_iter().flat_map(|(kind, most)| (0..most).map(move |_| kind)).collect();
        let sure = random.below(all.len().max(1));
        let drawn = (0..).zip(all).filter(|(at, _)| *at == sure || random.below(2) == 0);
        let kinds: Vec<FaultKind> = drawn.map(|(_, kind)| kind).collect();
        kinds.into_iter().map(|kind| self.draw_one(kind, random, turns)).collect()
    }

    fn draw_one(&self, kind: FaultKind, random: &mut SplitMix64, turns: u32) -> PlannedFault {
        // Early turns are more likely: schedules with faults are longer than others, and may end long before the longest one.
        let latest = 1 + random.below(turns.max(1) as usize);
        let turn = random.below(latest) as u32;
        let kind = if kind == FaultKind::DiskError && random.below(2) == 0 {
            FaultKind::LaterDiskError
        } else {
            kind
        };
        let lasts = if kind.is_instant() { Duration::ZERO } else { self.draw_time(random) };
        PlannedFault { turn, aim: Aim::Any { kind, number: random.next(), lasts } }
    }

    /// Any duration up to the longest, or one up to a tenth of it, or up to a hundredth...: time limits have all sizes.
    fn draw_time(&self, random: &mut SplitMix64) -> Duration {
        let most = self.lasting.as_millis().max(1);
        let sizes = most.ilog10() + 1;
        let size = 10_u128.pow(random.below(sizes as usize) as u32);
        let millis = 1 + random.below((most / size) as usize);
        MILLISECOND * millis as u32
    }
}

impl Default for Faults {
    fn default() -> Self {
        Faults::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_within_the_bounds() {
        let mut random = SplitMix64::new(1);
        let most = Duration::from_millis(300);
        let faults = Faults::new().crashes(2).resets(1).lasting(most);
        for _ in 0..1_000 {
            let drawn = faults.draw(&mut random, 20);
            assert!((1..=3).contains(&drawn.len()));
            assert!(drawn.iter().all(|one| one.turn < 20));
            let is_right = |one: &PlannedFault| match &one.aim {
                Aim::Any { kind: FaultKind::Crash, lasts, .. } => (MILLISECOND..=most).contains(lasts),
                Aim::Any { kind: FaultKind::Reset, lasts, .. } => lasts.is_zero(),
                _ => false,
            };
            assert!(drawn.iter().all(is_right), "{drawn:?}");
        }
    }

    #[test]
    fn no_faults_are_none() {
        assert!(Faults::new().draw(&mut SplitMix64::new(1), 20).is_empty());
    }
}

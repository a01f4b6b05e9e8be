//! The way between two hosts: its latency, its bandwidth, and its faults.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::Instant;

use super::hosts::LOCALHOST;
use super::world::World;

/// The way between two hosts, in both directions: see [`Network::between`](crate::Network::between).
#[derive(Clone)]
pub struct Way {
    pub(super) world: Arc<World>,
    pub(super) ends: [usize; 2],
}

impl Way {
    /// Sets the latency of a packet, in place of the [latency](crate::Network::set_latency) of the network.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// network.between("a", "b").set_latency(Duration::from_millis(5));
    /// let (a, b) = (network.host("a"), network.host("b"));
    /// let at = b.at(80);
    /// let listens = b.run(|| TcpListener::bind(([0, 0, 0, 0], 80)).bind(|listener| listener.accept().map(drop)));
    /// let connects = a.run(move || TcpStream::connect(at).map(drop));
    /// let (_, elapsed) = test.run_timed(listens.zip(connects));
    /// // A packet there, and one back.
    /// assert_eq!(elapsed, Duration::from_millis(10));
    /// ```
    pub fn set_latency(&self, latency: Duration) {
        self.world.ways(|ways| ways.way(self.ends).latency = Some(latency));
    }

    /// Sets the bandwidth in bytes per second, in each direction. All connections between the two hosts share it: a packet queues
    /// behind all that were sent before. The default is unlimited.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let (a, b) = (network.host("a"), network.host("b"));
    /// network.between("a", "b").set_bandwidth(1_000);
    /// let at = b.at(80);
    /// let receives = b.run(|| fiber! {
    ///     let! listener = TcpListener::bind(([0, 0, 0, 0], 80));
    ///     let! (stream, _) = listener.accept();
    ///     return! stream.buffered().rest();
    /// });
    /// let sends = a.run(move || TcpStream::connect(at).bind(|stream| stream.write_all([7; 5_000]).map(drop)));
    /// let (outcome, elapsed) = test.run_timed(receives.zip(sends));
    /// assert_eq!((outcome.unwrap().0.len(), elapsed), (5_000, Duration::from_secs(5)));
    /// ```
    ///
    /// # Panics
    /// If it is zero: see [`cut`](Way::cut).
    #[track_caller]
    pub fn set_bandwidth(&self, bytes_per_second: u64) {
        assert!(bytes_per_second > 0, "at 0 bytes per second nothing arrives; use cut() for that");
        self.world.ways(|ways| ways.way(self.ends).bandwidth = Some(bytes_per_second));
    }

    /// Stops all traffic, on existing and new connections. No data is lost, because TCP retransmits it: it arrives once
    /// the way is [healed](Way::heal).
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber};
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let program = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    ///     let way = network.between("localhost", "localhost");
    ///     way.cut();
    ///     do! client.write_all("hello\n");
    ///     let heal = Fiber::delay(Duration::from_secs(60)).map(move |()| way.heal());
    ///     let! line = server.buffered().line() and! () = heal;
    ///     line
    /// };
    /// let (line, elapsed) = test.run_timed(program);
    /// assert_eq!((line.unwrap().as_deref(), elapsed), (Some("hello"), Duration::from_secs(60)));
    /// ```
    pub fn cut(&self) {
        self.world.note(|| format!("cuts {self}"));
        self.world.ways(|ways| ways.way(self.ends).is_cut = true);
        self.world.update_links();
    }

    /// Heals a [cut](Way::cut).
    pub fn heal(&self) {
        self.world.note(|| format!("heals {self}"));
        self.world.ways(|ways| ways.way(self.ends).is_cut = false);
        self.world.update_links();
    }

    /// Resets all connections: both ends fail at once with `ConnectionReset`, and data in transit is lost. Data that has arrived may
    /// still be read first.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_test::TestScheduler;
    /// use std::io;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let program = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (_server, _) = listener.accept();
    ///     network.between("localhost", "localhost").reset();
    ///     return! client.read([0; 8]).map(drop).boxed();
    /// };
    /// let error = test.run(program).failure().unwrap();
    /// assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::ConnectionReset);
    /// ```
    pub fn reset(&self) {
        self.world.note(|| format!("resets the connections of {self}"));
        self.world.links_between(self.ends).for_each(|link| link.break_off());
    }

    /// Loses all connections silently: none of their packets arrives any more, in either direction, and no end is notified. This
    /// happens when a router forgets them, or the other computer loses its address. An operation without a timeout waits for ever.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let program = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    ///     network.between("localhost", "localhost").lose();
    ///     do! client.write_all("hello?");
    ///     drop(client);
    ///     return! server.read([0; 8]).timeout_option(Duration::from_secs(3_600)).map(|read| read.is_none()).boxed();
    /// };
    /// assert!(test.run(program).unwrap(), "neither the bytes nor the end have arrived");
    /// ```
    pub fn lose(&self) {
        self.world.note(|| format!("loses the connections of {self}"));
        self.world.links_between(self.ends).for_each(|link| link.lose());
    }

    /// Loses the datagrams in transit, in both directions. Later ones arrive.
    ///
    /// ```
    /// use fiber_core::net::UdpSocket;
    /// use fiber_core::fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let network = test.network();
    /// let program = fiber! {
    ///     let! server = UdpSocket::bind(([127, 0, 0, 1], 0));
    ///     let! client = UdpSocket::bind(([127, 0, 0, 1], 0));
    ///     do! client.send_to("one", server.local_addr()?);
    ///     network.between("localhost", "localhost").lose_datagrams();
    ///     do! client.send_to("two", server.local_addr()?);
    ///     let! (n, buffer) = server.recv([0; 8]);
    ///     buffer[..n].to_vec()
    /// };
    /// assert_eq!(test.run(program).unwrap(), b"two");
    /// ```
    pub fn lose_datagrams(&self) {
        self.world.note(|| format!("loses the datagrams of {self}"));
        self.world.mailboxes().iter().for_each(|mailbox| mailbox.lose(self.ends));
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = self.ends.map(|end| self.world.name(end));
        write!(f, "the way between {one} and {other}")
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The state of the ways between hosts.
#[derive(Default)]
pub(super) struct Ways {
    /// By their ends, the smaller number first.
    ways: BTreeMap<[usize; 2], WayState>,
    /// The groups of hosts that the explorer has cut off from the others, each with a number.
    splits: Vec<(u64, Vec<usize>)>,
    next_split: u64,
}

#[derive(Default)]
pub(super) struct WayState {
    latency: Option<Duration>,
    bandwidth: Option<u64>,
    is_cut: bool,
    /// When all queued data will have been sent, in each direction: from the smaller number, and from the larger.
    sent: [Option<Instant>; 2],
}

impl Ways {
    pub(super) fn way(&mut self, ends: [usize; 2]) -> &mut WayState {
        self.ways.entry(sorted(ends)).or_default()
    }

    /// The delay of a packet of this size that is sent now: the transmission, and the latency.
    pub(super) fn time(
        &mut self,
        [from, to]: [usize; 2],
        bytes: usize,
        now: Instant,
        usual: Duration,
    ) -> Duration {
        let usual = if from == to && from != LOCALHOST { Duration::ZERO } else { usual };
        let Some(way) = self.ways.get_mut(&sorted([from, to])) else { return usual };
        let latency = way.latency.unwrap_or(usual);
        let Some(bandwidth) = way.bandwidth else { return latency };
        let sent = &mut way.sent[usize::from(from > to)];
        let nanos = bytes as u128 * 1_000_000_000 / u128::from(bandwidth);
        let begins = sent.map_or(now, |before| before.max(now));
        let ends = begins + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        *sent = Some(ends);
        ends - now + latency
    }

    pub(super) fn is_cut(&self, ends: [usize; 2]) -> bool {
        let is_split = |(_, off): &(u64, Vec<usize>)| {
            !ends.contains(&LOCALHOST) && off.contains(&ends[0]) != off.contains(&ends[1])
        };
        self.ways.get(&sorted(ends)).is_some_and(|way| way.is_cut) || self.splits.iter().any(is_split)
    }

    /// Cuts hosts off from all others until the split with the returned number is over.
    pub(super) fn split(&mut self, off: Vec<usize>) -> u64 {
        self.next_split += 1;
        self.splits.push((self.next_split, off));
        self.next_split
    }

    pub(super) fn end_split(&mut self, number: u64) {
        self.splits.retain(|(one, _)| *one != number);
    }

    /// Heals all cuts except for splits.
    pub(super) fn heal_all(&mut self) {
        self.ways.values_mut().for_each(|way| way.is_cut = false);
    }

    /// The cut ways, and the groups of hosts that are cut off.
    pub(super) fn cuts(&self) -> (Vec<[usize; 2]>, Vec<Vec<usize>>) {
        let cut = self.ways.iter().filter(|(_, way)| way.is_cut).map(|(ends, _)| *ends);
        (cut.collect(), self.splits.iter().map(|(_, off)| off.clone()).collect())
    }
}

fn sorted([one, other]: [usize; 2]) -> [usize; 2] {
    [one.min(other), one.max(other)]
}

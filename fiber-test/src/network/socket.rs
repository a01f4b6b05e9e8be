//! The ends of connections, and listeners, as fibers see them.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use fiber_core::scheduler::net::{
    ListenerSocket, PathListenerSocket, Readiness, Socket, StreamOption, StreamSocket,
};
use parking_lot::Mutex;

use super::addresses::seen;
use super::delivery::End;
use super::link::Link;
use super::world::World;

/// The queue of arriving connections.
pub(super) struct Listening {
    /// The host and the address. `None`: it is at a path.
    pub(super) at: Option<(usize, SocketAddr)>,
    /// It has addresses of version 6.
    pub(super) is_v6: bool,
    queue: Mutex<VecDeque<Arc<Link>>>,
    /// The host has crashed.
    has_failed: AtomicBool,
    readable: Readiness,
    writable: Readiness,
}

impl Listening {
    pub(super) fn new(at: Option<(usize, SocketAddr)>, is_v6: bool) -> Arc<Self> {
        let (readable, writable) = Default::default();
        Arc::new(Listening {
            at,
            is_v6,
            queue: Mutex::default(),
            has_failed: AtomicBool::new(false),
            readable,
            writable,
        })
    }

    pub(super) fn fails(&self) {
        // Relaxed, like its reads: one thread runs everything.
        self.has_failed.store(true, Ordering::Relaxed);
        self.readable.event(true).fire();
    }

    pub(super) fn arrives(&self, link: Arc<Link>) {
        self.queue.lock().push_back(link);
        self.readable.event(false).fire();
    }
}

/// The listener as a fiber sees it.
pub(super) struct SimulatedListener {
    pub(super) listening: Arc<Listening>,
    pub(super) world: Weak<World>,
}

impl Socket for SimulatedListener {
    fn readable(&self) -> &Readiness {
        &self.listening.readable
    }

    fn writable(&self) -> &Readiness {
        &self.listening.writable
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        let (_, at) = self.listening.at.ok_or(ErrorKind::Unsupported)?;
        Ok(seen(at, self.listening.is_v6))
    }
}

impl SimulatedListener {
    fn accept(&self) -> io::Result<SimulatedStream> {
        if self.listening.has_failed.load(Ordering::Relaxed) {
            return Err(ErrorKind::NetworkDown.into());
        }
        let link = self.listening.queue.lock().pop_front().ok_or(ErrorKind::WouldBlock)?;
        Ok(SimulatedStream::new(link, End::Server))
    }
}

impl ListenerSocket for SimulatedListener {
    fn try_accept(&self) -> io::Result<(Box<dyn StreamSocket>, SocketAddr)> {
        let stream = self.accept()?;
        let from = stream.link.address(End::Client, End::Server)?;
        Ok((Box::new(stream), from))
    }
}

impl PathListenerSocket for SimulatedListener {
    fn try_accept(&self) -> io::Result<Box<dyn StreamSocket>> {
        Ok(Box::new(self.accept()?))
    }
}

impl Drop for SimulatedListener {
    fn drop(&mut self) {
        if let Some(world) = self.world.upgrade() {
            world.forget(&self.listening);
        }
        let left = std::mem::take(&mut *self.listening.queue.lock());
        left.into_iter().for_each(|link| link.close(End::Server, true));
    }
}

/// The numbers of hops that a packet may live.
const HOPS: RangeInclusive<u32> = 1..=255;

/// Stands for the number that the system usually sets.
const USUAL_HOPS: u32 = u32::MAX;

/// An end of a connection.
pub(super) struct SimulatedStream {
    link: Arc<Link>,
    end: End,
    closes_hard: AtomicBool,
}

impl SimulatedStream {
    pub(super) fn new(link: Arc<Link>, end: End) -> Self {
        SimulatedStream { link, end, closes_hard: AtomicBool::new(false) }
    }
}

impl Socket for SimulatedStream {
    fn readable(&self) -> &Readiness {
        self.link.readable(self.end)
    }

    fn writable(&self) -> &Readiness {
        self.link.writable(self.end)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.link.address(self.end, self.end)
    }

    /// Later data fires an event.
    fn short_means_empty(&self) -> bool {
        true
    }
}

impl StreamSocket for SimulatedStream {
    fn connected(&self) -> io::Result<()> {
        self.link.connected()
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.link.peer_addr(self.end)
    }

    fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.link.read(self.end, into)
    }

    fn try_peek(&self) -> io::Result<()> {
        self.link.peek(self.end)
    }

    fn unread(&self) -> usize {
        self.link.unread(self.end)
    }

    fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        self.link.write(self.end, from)
    }

    fn try_write_vectored(&self, from: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.link.write(self.end, &from.iter().flat_map(|slice| slice.iter().copied()).collect::<Vec<u8>>())
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.link.shutdown(self.end, how)
    }

    fn set_option(&self, option: StreamOption) -> io::Result<()> {
        match option {
            StreamOption::Linger(time) => {
                // Relaxed: the flag publishes no other data.
                self.closes_hard.store(time == Some(Duration::ZERO), Ordering::Relaxed);
                Ok(())
            }
            StreamOption::TimeToLive(hops) if !HOPS.contains(&hops) && hops != USUAL_HOPS => {
                Err(ErrorKind::InvalidInput.into())
            }
            _ => Ok(()),
        }
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        self.link.close(self.end, self.closes_hard.load(Ordering::Relaxed));
    }
}

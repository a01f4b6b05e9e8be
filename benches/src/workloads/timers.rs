//! Timers that are set and cancelled, like timeouts, while many others are live.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use async_io::Timer;
use fiber_core::scheduler::{Scheduler, Task, TimerKey};
use fiber_sched::Pool;
use tokio::runtime::Runtime;
use tokio::time::Sleep;

use crate::hosts::Hosts;
use crate::workload::{Column, Workload, step};

/// Timers that are set and cancelled, one after the other.
const TIMERS: u64 = 1_000;
/// No timer is due before the end of the program.
const HOUR: Duration = Duration::from_secs(3_600);

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    [1_000, 1_000_000].map(|live| set_and_cancel(hosts, live)).into()
}

fn set_and_cancel(hosts: &Hosts, live: usize) -> Workload<'_> {
    Workload::new(format!("insert and cancel a timer, {live} live"), TIMERS, TIMERS)
        .by(Column::Fiber, beside(live, || PoolTimers::new(&hosts.pool)))
        .by(Column::Tokio, beside(live, || TokioTimers::new(&hosts.tokio)))
        .by(Column::AsyncIo, beside(live, AsyncIoTimers::default))
}

/// The timers of one contender.
trait Timers {
    /// Sets a timer that stays.
    fn set(&mut self, delay: Duration);

    /// Sets a timer and cancels it. Reads the clock for that, as every sleep does. `true`: the timer was there.
    fn set_and_cancel(&mut self, delay: Duration) -> bool;
}

/// Sets and cancels timers. The live ones are set before the first run, so only for contenders that take part.
fn beside<T: Timers>(live: usize, make: impl Fn() -> T) -> impl FnMut() -> u64 {
    let mut delays = Delays(1);
    let mut timers = None;
    move || {
        let timers = timers.get_or_insert_with(|| {
            let mut timers = make();
            delays.by_ref().take(live).for_each(|delay| timers.set(delay));
            timers
        });
        let delays = delays.by_ref().take(TIMERS as usize);
        delays.filter(|delay| timers.set_and_cancel(*delay)).fold(0, |n, _| step(n))
    }
}

/// Roughly between one and two hours, in irregular order, the same for every contender.
struct Delays(u64);

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        // xorshift64, by Marsaglia.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // 42 bits of nanoseconds are 73 minutes.
        Some(HOUR + Duration::from_nanos(self.0 >> 22))
    }
}

// The library.

struct PoolTimers {
    scheduler: Arc<dyn Scheduler>,
    live: Vec<TimerKey>,
}

impl PoolTimers {
    fn new(pool: &Pool) -> Self {
        PoolTimers { scheduler: pool.scheduler(), live: Vec::new() }
    }

    fn schedule(&self, delay: Duration) -> TimerKey {
        let task = Task::fire(Waker::noop().clone().into());
        self.scheduler.schedule_at(self.scheduler.now() + delay, task)
    }
}

impl Timers for PoolTimers {
    fn set(&mut self, delay: Duration) {
        self.live.push(self.schedule(delay));
    }

    fn set_and_cancel(&mut self, delay: Duration) -> bool {
        self.scheduler.cancel_timer(self.schedule(delay))
    }
}

impl Drop for PoolTimers {
    fn drop(&mut self) {
        self.live.iter().for_each(|key| assert!(self.scheduler.cancel_timer(*key), "no timer is due"));
    }
}

/// Polls once, which sets the timer of a future. `true`: it is pending.
fn waits<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

// tokio.

struct TokioTimers<'a> {
    runtime: &'a Runtime,
    live: Vec<Pin<Box<Sleep>>>,
}

impl<'a> TokioTimers<'a> {
    fn new(runtime: &'a Runtime) -> Self {
        TokioTimers { runtime, live: Vec::new() }
    }
}

impl Timers for TokioTimers<'_> {
    fn set(&mut self, delay: Duration) {
        let _inside = self.runtime.enter();
        let mut sleep = Box::pin(tokio::time::sleep(delay));
        assert!(waits(sleep.as_mut()));
        self.live.push(sleep);
    }

    fn set_and_cancel(&mut self, delay: Duration) -> bool {
        let _inside = self.runtime.enter();
        waits(pin!(tokio::time::sleep(delay)))
    }
}

// async-io.

#[derive(Default)]
struct AsyncIoTimers {
    live: Vec<Timer>,
}

impl Timers for AsyncIoTimers {
    fn set(&mut self, delay: Duration) {
        let mut timer = Timer::after(delay);
        assert!(waits(Pin::new(&mut timer)));
        self.live.push(timer);
    }

    fn set_and_cancel(&mut self, delay: Duration) -> bool {
        waits(pin!(Timer::after(delay)))
    }
}

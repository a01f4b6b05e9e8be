//! A scheduler in one file: threads that share a queue and a list of timers. It may have a [`Fault`].

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use fiber_core::scheduler::{Checkpoint, Ending, Event, Scheduler, SwitchPoint, Task, TimerKey};
use fiber_core::{Context, Fiber, Instant};
use fiber_test::laws::Host;
use parking_lot::{Condvar, Mutex};

/// The faults of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    LosesEveryHundredthTask,
    FiresTimersEarly,
    FiresTimersInAnyOrder,
    ForgetsTimersOfThePast,
    IgnoresCancelTimer,
    DeniesCancelTimer,
    ReusesTimerKeys,
    DropsTasksUnderItsLock,
    EndsTimeEarly,
    LooksAtTheFirstTimerOnly,
    LetsTheClockGoBack,
    RunsTheLastTaskFirst,
    NeverPreempts,
    BlocksItsThreads,
    LosesBlockingTasks,
    StopsAfterAPanic,
    RunsOneTaskAtATime,
    DoesNotCancelAtTheEnd,
    DropsTasksAtTheEnd,
    LeaksTasksAtTheEnd,
    LeaksTasksAfterTheEnd,
    /// No fault: a thread that sets timers may be interrupted.
    SetsTimersSlowly,
}

/// How early a faulty scheduler fires its timers: more than the laws wait for such a timer.
const EARLY: Duration = Duration::from_millis(50);

/// Longer than the time between two timers of a law.
const INTERRUPTION: Duration = Duration::from_millis(3);

/// Longer than the laws wait for a scheduler with a fault that makes them hang.
const LONG: Duration = Duration::from_secs(5);

pub(crate) struct Small {
    root: Context,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    fault: Fault,
    epoch: std::time::Instant,
    /// The number of reads of a faulty clock.
    reads: AtomicUsize,
    state: Mutex<State>,
    /// Signals a new task or timer, or the end.
    changed: Condvar,
    /// Held while a task runs, by a scheduler with that fault.
    one_at_a_time: Mutex<()>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Task>,
    timers: BTreeMap<(Instant, u64), Task>,
    deadlines: HashMap<u64, Instant>,
    next_key: u64,
    scheduled: usize,
    lost: Vec<Task>,
    blocking: Vec<JoinHandle<()>>,
    is_over: bool,
    /// Ends the threads of a scheduler with that fault.
    has_panicked: bool,
}

impl Small {
    pub(crate) fn new(threads: usize) -> Self {
        Small::with_fault(threads, Fault::None)
    }

    pub(crate) fn with_fault(threads: usize, fault: Fault) -> Self {
        let shared = Arc::new(Shared {
            fault,
            epoch: std::time::Instant::now(),
            reads: AtomicUsize::new(0),
            state: Mutex::default(),
            changed: Condvar::new(),
            one_at_a_time: Mutex::new(()),
        });
        let thread = |shared: Arc<Shared>| thread::spawn(move || shared.work());
        let threads = (0..threads).map(|_| thread(shared.clone())).collect();
        Small { root: Context::root(shared.clone()), shared, threads }
    }

    /// Ends the fibers, then the threads.
    fn end(&mut self) -> bool {
        let (close, closed) = mpsc::channel();
        let have_ended = match self.shared.fault {
            Fault::DoesNotCancelAtTheEnd | Fault::LeaksTasksAtTheEnd => true,
            Fault::DropsTasksAtTheEnd => {
                self.shared.stop();
                self.root.cancel();
                true
            }
            _ => self.root.close(move || _ = close.send(())) && closed.recv().is_ok(),
        };
        self.shared.stop();
        let blocking = std::mem::take(&mut self.shared.state.lock().blocking);
        for thread in self.threads.drain(..).chain(blocking) {
            thread.join().expect("tasks do not unwind");
        }
        have_ended
    }
}

impl Host for Small {
    fn context(&self) -> &Context {
        &self.root
    }

    fn run(&self, fiber: Fiber<()>) {
        let (end, ended) = mpsc::channel();
        drop(self.root.spawn(fiber.map(move |()| end.send(()))));
        ended.recv().expect("the fiber succeeds");
    }

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn shut_down(mut self) -> bool {
        self.end()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn work(&self) {
        while let Some(task) = self.next() {
            let alone = (self.fault == Fault::RunsOneTaskAtATime).then(|| self.one_at_a_time.lock());
            task.run();
            drop(alone);
        }
    }

    /// The next task. `None`: the scheduler has ended.
    fn next(&self) -> Option<Task> {
        let mut state = self.state.lock();
        while !state.is_over && !state.has_panicked {
            state.look_at_timers(self.now(), self.fault);
            let task = match self.fault {
                Fault::RunsTheLastTaskFirst => state.ready.pop_back(),
                _ => state.ready.pop_front(),
            };
            if task.is_some() {
                return task;
            }
            match state.first_deadline(self.fault).map(|at| at - self.now()) {
                Some(pause) => _ = self.changed.wait_for(&mut state, pause),
                None => self.changed.wait(&mut state),
            }
        }
        None
    }

    fn stop(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        let (ready, timers) = (std::mem::take(&mut state.ready), std::mem::take(&mut state.timers));
        drop(state);
        self.changed.notify_all();
        // Without the lock, as always: the drop of a task runs code of its fiber.
        match self.fault {
            Fault::LeaksTasksAtTheEnd => std::mem::forget((ready, timers)),
            _ => drop((ready, timers)),
        }
    }
}

impl State {
    /// Queues the tasks of timers that are due.
    fn look_at_timers(&mut self, now: Instant, fault: Fault) {
        let now = if fault == Fault::FiresTimersEarly { now + EARLY } else { now };
        while self.first_deadline(fault).is_some_and(|at| at <= now)
            && let Some(((_, key), task)) = self.timers.pop_first()
        {
            self.deadlines.remove(&key);
            self.ready.push_back(task);
        }
    }

    fn first_deadline(&self, fault: Fault) -> Option<Instant> {
        match fault {
            Fault::LooksAtTheFirstTimerOnly => self.deadlines.iter().min().map(|(_, at)| *at),
            _ => self.timers.first_key_value().map(|((at, _), _)| *at),
        }
    }

    fn new_key(&mut self, fault: Fault) -> u64 {
        self.next_key += 1;
        match fault {
            Fault::ReusesTimerKeys => {
                (0..).find(|key| !self.deadlines.contains_key(key)).expect("a free key")
            }
            _ => self.next_key,
        }
    }
}

impl Scheduler for Shared {
    fn schedule(&self, task: Task) {
        let mut state = self.state.lock();
        if state.is_over {
            // The lock is released before the task is dropped.
            drop(state);
            return if self.fault == Fault::LeaksTasksAfterTheEnd {
                std::mem::forget(task)
            } else {
                drop(task)
            };
        }
        state.scheduled += 1;
        if self.fault == Fault::LosesEveryHundredthTask && state.scheduled.is_multiple_of(100) {
            return state.lost.push(task);
        }
        state.ready.push_back(task);
        drop(state);
        self.changed.notify_one();
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        if self.fault == Fault::SetsTimersSlowly {
            thread::sleep(INTERRUPTION);
        }
        let mut state = self.state.lock();
        let key = state.new_key(self.fault);
        if state.is_over {
            drop(state);
            drop(task);
            return TimerKey::new(key);
        }
        let at = match self.fault {
            Fault::FiresTimersInAnyOrder => at + Duration::from_millis(key * 7 % 5),
            Fault::EndsTimeEarly if at == Instant::FAR_FUTURE => Instant::EPOCH,
            Fault::ForgetsTimersOfThePast if at < self.now() => Instant::FAR_FUTURE,
            _ => at,
        };
        state.timers.insert((at, key), task);
        state.deadlines.insert(key, at);
        drop(state);
        self.changed.notify_one();
        TimerKey::new(key)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        if self.fault == Fault::IgnoresCancelTimer {
            return true;
        }
        let mut state = self.state.lock();
        let at = state.deadlines.remove(&key.get());
        let task = at.and_then(|at| state.timers.remove(&(at, key.get())));
        let is_cancelled = task.is_some();
        if self.fault == Fault::DropsTasksUnderItsLock {
            drop(task);
            return is_cancelled;
        }
        drop(state);
        drop(task);
        is_cancelled && self.fault != Fault::DeniesCancelTimer
    }

    fn now(&self) -> Instant {
        let now = Instant::EPOCH + self.epoch.elapsed();
        match self.fault {
            // Relaxed: any number will do.
            Fault::LetsTheClockGoBack if self.reads.fetch_add(1, Relaxed).is_multiple_of(100) => {
                Instant::from_nanos(now.as_nanos() / 2)
            }
            // It stands still, so that a timer is early however late its thread is.
            Fault::FiresTimersEarly => Instant::EPOCH,
            _ => now,
        }
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random_u64(&self) -> u64 {
        // Not random, which no law can detect.
        self.now().as_nanos()
    }

    fn schedule_blocking(&self, task: Task) {
        if self.fault == Fault::BlocksItsThreads {
            return self.schedule(task);
        }
        let mut state = self.state.lock();
        if state.is_over {
            drop(state);
            return drop(task);
        }
        if self.fault == Fault::LosesBlockingTasks {
            return state.lost.push(task);
        }
        state.blocking.retain(|thread| !thread.is_finished());
        state.blocking.push(thread::spawn(|| task.run()));
    }

    fn checkpoint(&self, _: &Context, _: SwitchPoint) -> Checkpoint {
        match self.fault {
            // Its threads outlive their test, but should not compute for ever.
            Fault::NeverPreempts if self.epoch.elapsed() < LONG => Checkpoint::Continue(self.budget()),
            _ => Checkpoint::Yield,
        }
    }

    fn observe(&self, _: &Context, event: Event<'_>) {
        if self.fault == Fault::StopsAfterAPanic && matches!(event, Event::Outcome(Ending::Panicked(_))) {
            self.state.lock().has_panicked = true;
            self.changed.notify_all();
        }
    }
}

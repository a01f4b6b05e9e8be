//! The thread that looks after the drivers and the hosts. While a fiber computes on one thread of the runtime, and another one is idle, it
//! ensures that nothing waits for the end of that turn:
//!
//! | what would wait | why | what the lookout does |
//! |---|---|---|
//! | a fiber in the queue | the fiber that computes has queued it, and no other driver was woken for it | wakes an idle driver |
//! | the same | its driver lies in the slot of a worker whose tokio task computes | wakes another one |
//! | the same | its driver lies in the queue of a worker that computes, and tokio has woken no other worker for it | lets tokio search |
//! | the same | all drivers are in turns that have left their workers to other threads (`block_in_place`) | runs it in another tokio task |
//! | a task that hosts a fiber | the fiber that computes has woken it | wakes it |
//! | a lent branch | only its owner knows it | queues it |
//! | a timer of a fiber | the timekeeper lies in the slot of the worker that computes | fires it |
//! | a socket of a fiber | the task that collects their events lies in the slot of the worker that computes | collects them |
//! | other sockets, the timers of tokio | a worker that takes an event leaves tokio's poll, and does not wake another one to replace it | wakes an idle driver: its worker then falls asleep again, in the poll |
//!
//! A driver or host is *held* if two looks in a row find it busy, and it has begun no turn between them.
//!
//! The lookout naps while any of them is busy, and sleeps while none is. If there is no thread for it, what waits for a turn
//! waits for its end. If there is only one driver, there is no lookout: what is queued in its turns waits, and hosts, which may be on other
//! threads, wake and are woken at once.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fiber_core::scheduler::Progress;

use super::drivers::Drivers;
use super::sockets::Sockets;
use super::timekeeper::Timekeeper;

/// The pause between two looks while something may wait: seldom enough to cost next to nothing, and often enough that what could
/// happen in parallel soon does.
const SHORTEST_NAP: Duration = Duration::from_millis(1);
/// The pause after a sleep. Most turns are over then.
const FIRST_NAP: Duration = Duration::from_millis(2);
/// The pause at most. A turn that begins meanwhile is found to last a short nap later. If nothing has happened in such a nap, the
/// lookout sleeps.
const LONGEST_NAP: Duration = Duration::from_millis(4);

pub(super) struct Lookout {
    drivers: Arc<Drivers>,
    timekeeper: Arc<Timekeeper>,
    sockets: Sockets,
    /// The idle drivers at this look.
    idle: Vec<usize>,
    /// One for each driver, then one for each host.
    seen: Box<[Seen]>,
}

/// What the last looks have found at a driver or host.
#[derive(Default)]
struct Seen {
    turns: u64,
    /// How many looks in a row have found it busy and in the same turn.
    looks: u32,
    branches: Option<Progress>,
}

enum Finding {
    /// Branches are lent, or one driver is busy and another one idle: something may wait for the one that the other could do.
    Watch,
    Busy,
    /// Nothing has happened since the last look.
    Quiet,
}

impl Lookout {
    /// Starts the thread, if there are several drivers.
    pub(super) fn start(drivers: &Arc<Drivers>, timekeeper: &Arc<Timekeeper>, sockets: &Sockets) {
        if !drivers.has_lookout() {
            return;
        }
        let seen = drivers.lent().iter().map(|_| Seen::default()).collect();
        let (drivers, timekeeper, sockets) = (drivers.clone(), timekeeper.clone(), sockets.clone());
        let lookout = Lookout { drivers, timekeeper, sockets, idle: Vec::new(), seen };
        drop(thread::Builder::new().name("fiber-lookout".to_owned()).spawn(|| lookout.run()));
    }

    fn run(mut self) {
        let mut nap = FIRST_NAP;
        while !self.drivers.is_stopped() {
            thread::sleep(nap);
            nap = match (self.look(), nap) {
                (Finding::Watch, _) => SHORTEST_NAP,
                (Finding::Quiet, LONGEST_NAP) => {
                    self.drivers.idle().sleep(self.drivers.hosts());
                    // The turn that ends its sleep may be the one that lasts.
                    self.look_at_turns();
                    FIRST_NAP
                }
                _ => (2 * nap).min(LONGEST_NAP),
            };
        }
    }

    fn look(&mut self) -> Finding {
        let has_begun = self.look_at_turns();
        self.help();
        let has_lent = self.queue_overdue_branches();
        let is_busy = self.seen.iter().any(|seen| seen.looks > 0);
        if has_lent || is_busy && !self.idle.is_empty() {
            Finding::Watch
        } else if is_busy || has_begun {
            Finding::Busy
        } else {
            Finding::Quiet
        }
    }

    /// Whether a driver or host has begun a turn since the last look.
    fn look_at_turns(&mut self) -> bool {
        self.drivers.idle().copy_to(&mut self.idle);
        let mut has_begun = false;
        let drivers = &*self.drivers;
        for (index, seen) in self.seen.iter_mut().enumerate() {
            let turns = drivers.turns(index);
            let is_new = turns != seen.turns;
            has_begun |= is_new;
            seen.turns = turns;
            let is_busy = match index.checked_sub(drivers.count()) {
                None => !self.idle.contains(&index),
                Some(host) => drivers.hosts().is_in_use(host),
            };
            seen.looks = match is_busy {
                false => 0,
                true if is_new => 1,
                true => seen.looks.saturating_add(1),
            };
        }
        has_begun
    }

    /// Does what cannot wait for those that are held.
    fn help(&self) {
        if !self.seen.iter().any(Seen::is_held) {
            return;
        }
        let held = (0..).zip(&self.seen).filter(|(_, seen)| seen.is_held());
        held.for_each(|(index, _)| self.drivers.wakes(index).wake_all());
        let may_wait = self.drivers.has_tasks() || self.seen.iter().any(Seen::was_not_held);
        if may_wait && !self.drivers.wake_one(false) {
            self.drivers.stir();
        }
        self.sockets.look();
        let due = self.timekeeper.take_due(|| self.sockets.catch_up());
        due.into_iter().for_each(|task| self.drivers.push(task));
    }

    /// Queues the branches of those that have taken none back since the last look. `true`: there are others.
    fn queue_overdue_branches(&mut self) -> bool {
        for (lent, seen) in self.drivers.lent().iter().zip(&mut self.seen) {
            let progress = lent.progress();
            if progress.is_some() && progress == seen.branches {
                lent.steal().into_iter().for_each(|task| self.drivers.push(task));
            }
            seen.branches = progress;
        }
        self.seen.iter().any(|seen| seen.branches.is_some())
    }
}

impl Seen {
    fn is_held(&self) -> bool {
        self.looks > 1
    }

    /// It is held, and was not at the last look.
    fn was_not_held(&self) -> bool {
        self.looks == 2
    }
}

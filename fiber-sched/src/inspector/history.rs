//! [`History`]: what only an observer knows.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::panic::Location;

use fiber_core::scheduler::{Event, Subject, Unobserved};
use fiber_core::{Context, Instant};
use parking_lot::Mutex;

use super::lane::{Lanes, Seen};
use crate::by_fiber::ByFiber;
use crate::observer::Observer;

/// So many lost failures are kept.
const MOST_FAILURES: usize = 50;

/// An observer that notes for an [`Inspector`](crate::Inspector) what nothing else knows: since when each fiber lives and waits, at which
/// primitive and where in the program, who holds the locks and permits that others wait for, what each thread did in the last ten
/// seconds, and failures that no handle has taken. Needs the feature `inspector`.
///
/// An inspector finds the history of its scheduler by itself.
///
/// ```
/// use fiber_core::{Fiber, sync::Mutex};
/// use fiber_sched::{History, Inspector, Pool};
///
/// let pool = Pool::builder().observer(History::new()).build();
/// let inspector = Inspector::new(pool.context());
/// let accounts = Mutex::new(()).named("accounts");
/// # let until_wait = |count| {
/// #     let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
/// #     while pool.dump().fibers().filter(|fiber| fiber.waits() > 0).count() < count && std::time::Instant::now() < end {
/// #         std::thread::yield_now();
/// #     }
/// # };
/// let holder = pool.spawn(accounts.with(|_| Fiber::<()>::never()).named("holder"));
/// # until_wait(1);
/// let waiter = pool.spawn(accounts.with(|_| Fiber::success(())).named("waiter"));
/// # until_wait(2);
/// let request = http::Request::get("/fibers?json").body(()).unwrap();
/// let json = inspector.answer(&request).into_body();
/// assert!(json.contains("Mutex `accounts`"), "{json}");
/// # drop((holder, waiter));
/// ```
///
/// # Cost
/// A scheduler with an observer makes contexts for timeouts and branches, and calls the observer at each event and around each turn. A fiber
/// that yields then costs 1,230 instructions instead of 531; the guide `service` has more figures.
pub struct History {
    lives: ByFiber<Life>,
    /// By the keys of the primitives.
    held: Mutex<HashMap<usize, Vec<Holding>>>,
    lanes: Lanes,
    failures: Mutex<VecDeque<Lost>>,
}

/// What is noted of a live fiber, or of a part of one.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) since: Instant,
    pub(super) cancelled: Option<Instant>,
    /// The latest wait, which may be over.
    pub(super) wait: Option<Wait>,
}

#[derive(Clone)]
pub(super) struct Wait {
    pub(super) since: Instant,
    pub(super) site: &'static Location<'static>,
    pub(super) at: Option<Subject>,
    /// The number of permits.
    pub(super) asks: usize,
}

/// What a fiber, or a part of one, holds of a primitive.
#[derive(Clone)]
pub(super) struct Holding {
    pub(super) fiber: Context,
    pub(super) permits: usize,
    pub(super) site: &'static Location<'static>,
}

/// A failure that no handle has taken.
#[derive(Clone)]
pub(super) struct Lost {
    pub(super) at: Instant,
    pub(super) text: String,
}

impl History {
    /// An empty history, for one scheduler.
    pub fn new() -> Self {
        History {
            lives: ByFiber::default(),
            held: Mutex::default(),
            lanes: Lanes::default(),
            failures: Mutex::default(),
        }
    }

    pub(super) fn life(&self, key: usize) -> Option<Life> {
        self.lives.with_key(key, |life| life.clone())
    }

    pub(super) fn holders(&self, of: &Subject) -> Vec<Holding> {
        self.held.lock().get(&of.key()).cloned().unwrap_or_default()
    }

    pub(super) fn threads(&self, now: Instant) -> Vec<Seen> {
        self.lanes.seen(now)
    }

    /// The latest first.
    pub(super) fn failures(&self) -> Vec<Lost> {
        self.failures.lock().iter().rev().cloned().collect()
    }

    fn acquires(&self, of: &Subject, holding: Holding) {
        self.held.lock().entry(of.key()).or_default().push(holding);
    }

    /// Returns what is to be dropped without the lock.
    fn releases(
        &self,
        of: &Subject,
        fiber: &Context,
        permits: usize,
        site: &'static Location<'static>,
    ) -> Vec<Holding> {
        let (mut held, mut left, mut released) = (self.held.lock(), permits, Vec::new());
        let Some(all) = held.get_mut(&of.key()) else { return released };
        // What was acquired at once may be released in parts.
        while left > 0 {
            let is_it = |one: &Holding| one.fiber.is_same(fiber) && std::ptr::eq(one.site, site);
            let Some(at) = all.iter().rposition(is_it) else { break };
            let gone = all[at].permits.min(left);
            (all[at].permits, left) = (all[at].permits - gone, left - gone);
            if all[at].permits == 0 {
                released.push(all.swap_remove(at));
            }
        }
        if all.is_empty() {
            held.remove(&of.key());
        }
        released
    }
}

impl Observer for History {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        let now = || fiber.scheduler().now();
        match event {
            Event::Created { .. } => {
                self.lives.insert(fiber, Life { since: now(), cancelled: None, wait: None });
            }
            Event::Waits { site, at, asks, .. } => {
                let wait = Wait { since: now(), site, at: at.cloned(), asks: asks as usize };
                self.lives.with(fiber, |life| life.wait = Some(wait));
            }
            Event::Cancelled => {
                let now = now();
                self.lives.with(fiber, |life| life.cancelled.get_or_insert(now).to_owned());
            }
            // No permits would never be released.
            Event::Acquires { of, permits: permits @ 1.., site } => {
                self.acquires(of, Holding { fiber: fiber.clone(), permits, site });
            }
            Event::Releases { of, permits, site } => {
                let released = self.releases(of, fiber, permits, site);
                drop(released);
            }
            Event::Ended => drop(self.lives.remove(fiber)),
            _ => {}
        }
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        self.lanes.during(fiber, turn);
    }

    fn unobserved(&self, failure: &Unobserved) {
        let lost = Lost { at: failure.fiber().scheduler().now(), text: failure.to_string() };
        let mut failures = self.failures.lock();
        if failures.len() == MOST_FAILURES {
            failures.pop_front();
        }
        failures.push_back(lost);
    }
}

impl Default for History {
    fn default() -> Self {
        History::new()
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use fiber_core::sync::{Mutex, RwLock, Semaphore};
    use fiber_core::{Fiber, Handle};

    use super::super::source;
    use crate::{CurrentThread, History, Observer};

    const LONG: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_history_of_which_the_program_keeps_a_clone_is_found() {
        let shared = Arc::new(History::new());
        let erased: Arc<dyn Observer> = shared.clone();
        let is_found = |scheduler: CurrentThread| {
            let found = source::history(&**scheduler.context().scheduler());
            found.is_some_and(|found| std::ptr::eq(found, &*shared))
        };
        assert!(is_found(CurrentThread::with_observer(shared.clone())));
        assert!(is_found(CurrentThread::with_observer(erased)));
    }

    #[test]
    fn nothing_is_kept_of_fibers_that_have_ended() {
        let scheduler = CurrentThread::with_observer(History::new());
        let (lock, shared, permits) = (Mutex::new(0), RwLock::new(0), Semaphore::new(3));
        let holds = move |n: usize| {
            let (shared, permits) = (shared.clone(), permits.clone());
            let inner = Fiber::yield_now().bind(move |()| permits.with_permits(n % 4, Fiber::yield_now()));
            let inner = shared.read().bind(move |read| inner.map(move |()| drop(read)));
            lock.with(move |_| inner)
                .timeout(LONG)
                .race(Fiber::delay(LONG).ensure(Fiber::yield_now()))
                .map(drop)
        };
        let cancelled =
            move |handle: Handle<()>| Fiber::yield_now().bind(move |()| handle.cancel()).map(drop);
        let all = (0..40).map(move |n| {
            let forked = holds(n).fork();
            if n % 4 == 3 { forked.bind(cancelled).boxed() } else { forked.bind(Handle::join).boxed() }
        });
        scheduler.run(Fiber::parallel(all)).unwrap();
        let history = source::history(&**scheduler.context().scheduler()).unwrap();
        assert!(history.lives.is_empty());
        assert!(history.held.lock().is_empty());
    }
}

//! Who runs a task that was taken from the stack of its owner.
//!
//! | state | the job belongs to | next |
//! |---|---|---|
//! | `OPEN` | no thread | the first to exchange it claims the job |
//! | `CLAIMED` | the claimer | `DONE`, or `AWAITED` if the owner comes back first |
//! | `AWAITED` | the claimer | `DONE`, and the owner is woken |
//! | `DONE` | the owner | |
//!
//! If the owner itself claims the job, the state stays `CLAIMED`, and the helper that comes later does nothing.

use crate::engine::borrow::crew::{Crew, Patience};
use crate::engine::context::Context;
use crate::engine::task::Errand;
use crate::primitive::{AtomicU32, Condvar, Mutex, Ordering};

pub(super) struct Ticket {
    state: AtomicU32,
    job: *const (),
    run: unsafe fn(*const ()),
    /// Held while the owner falls asleep, so that it is not woken too early.
    sleep: Mutex<()>,
    wakes: Condvar,
}

const OPEN: u32 = 0;
const CLAIMED: u32 = 1;
const AWAITED: u32 = 2;
const DONE: u32 = 3;

// SAFETY: the thread that has claimed the job is the only one that touches it, and `Ticket::new` demands that the job may be
// run on any thread.
unsafe impl Send for Ticket {}
// SAFETY: as above.
unsafe impl Sync for Ticket {}

impl Ticket {
    /// # Safety
    /// Until the owner has claimed the job or the job is `DONE`, `run(job)` is sound on any thread, once, and does not
    /// unwind.
    pub(super) unsafe fn new(job: *const (), run: unsafe fn(*const ())) -> Self {
        let state = AtomicU32::new(OPEN);
        Ticket { state, job, run, sleep: Mutex::new(()), wakes: Condvar::new() }
    }

    /// `true`: the job belongs to the caller.
    pub(super) fn claim(&self) -> bool {
        // Relaxed: the exchange decides between two claimers, and publishes nothing. The thread that got the ticket from the owner
        // sees the job.
        self.state.compare_exchange(OPEN, CLAIMED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Waits for the thread that has claimed the job.
    #[cold]
    pub(super) fn wait(&self, crew: &Crew<'_>) {
        let mut patience = Patience::default();
        while !self.is_done() {
            if !patience.pause() {
                crew.block(&mut || self.sleep());
                return;
            }
        }
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the Release of `finish`: the owner sees what the task has done, and its result.
        self.state.load(Ordering::Acquire) == DONE
    }

    fn sleep(&self) {
        let mut guard = self.sleep.lock();
        // Relaxed: it says that a thread sleeps. If it fails, the job is done, or this is the second call.
        _ = self.state.compare_exchange(CLAIMED, AWAITED, Ordering::Relaxed, Ordering::Relaxed);
        while !self.is_done() {
            guard = self.wakes.wait(guard);
        }
    }

    /// Gives the job back to its owner, whose frame may be gone afterwards.
    fn finish(&self) {
        // Release: publishes the result to the Acquire of `is_done`. The exchange with `sleep` decides who comes first.
        if self.state.swap(DONE, Ordering::Release) == AWAITED {
            // The owner has the lock until it sleeps.
            drop(self.sleep.lock());
            self.wakes.notify_all();
        }
    }
}

impl Errand for Ticket {
    fn carry_out(&self, _: Option<&Context>) {
        if self.claim() {
            // SAFETY: the exchange gave the job to this thread, and the owner waits for `finish`.
            unsafe { (self.run)(self.job) };
            self.finish();
        }
    }

    fn is_over(&self) -> bool {
        // Relaxed: a hint.
        self.state.load(Ordering::Relaxed) != OPEN
    }
}

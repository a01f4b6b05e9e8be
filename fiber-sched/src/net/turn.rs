//! Which thread is in a poll: a worker that sleeps there, or a thread that only looks.
//!
//! ```text
//!   FREE ── begin_sleep ──> SLEPT_IN ── end ──> FREE
//!     └──── begin_look ───> LOOKED_AT ── end ──> FREE
//! ```
//!
//! The workers that serve a poll sleep in it one at a time; the others park. Any worker may look. **A
//! worker does not park because of a look**: the looking thread may be the lookout, which then sleeps in another poll,
//! and this poll would have no thread. So the worker waits for the end of the look, which takes a microsecond.

use crate::primitive::{AtomicUsize, Ordering, yield_now};

pub(super) struct Turn(AtomicUsize);

const FREE: usize = 0;
const SLEPT_IN: usize = 1;
const LOOKED_AT: usize = 2;

impl Turn {
    pub(super) fn new() -> Self {
        Turn(AtomicUsize::new(FREE))
    }

    /// `false`: a worker sleeps there, or is about to leave, and tries again before it sleeps.
    pub(super) fn begin_sleep(&self) -> bool {
        loop {
            match self.begin(SLEPT_IN) {
                Ok(()) => return true,
                Err(SLEPT_IN) => return false,
                Err(_) => yield_now(),
            }
        }
    }

    /// `false`: another thread is there.
    pub(super) fn begin_look(&self) -> bool {
        // Relaxed: a hint, which avoids writing to the cache line of a poll in which a worker sleeps.
        self.0.load(Ordering::Relaxed) == FREE && self.begin(LOOKED_AT).is_ok()
    }

    /// Whether a worker sleeps there, or is about to leave.
    pub(super) fn is_slept_in(&self) -> bool {
        // Relaxed: whoever asks has seen where the others were when they last changed the word of `pool/idle.rs`, and a worker
        // that leaves later asks for itself.
        self.0.load(Ordering::Relaxed) == SLEPT_IN
    }

    fn begin(&self, state: usize) -> Result<(), usize> {
        // Acquire: pairs with `end`; the previous turn is over.
        self.0.compare_exchange(FREE, state, Ordering::Acquire, Ordering::Relaxed).map(drop)
    }

    pub(super) fn end(&self) {
        // Release: pairs with `begin`.
        self.0.store(FREE, Ordering::Release);
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests {
    //! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-sched --features net --lib --release loom`
    //!
    //! One worker at a time waits for the end of a look: two would yield to each other without end, and so would the model.

    use super::Turn;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::{model, thread};

    struct Poll {
        turn: Turn,
        /// How often a thread was in it. Changed in two steps, and only by the thread that is in it.
        visits: AtomicUsize,
    }

    impl Poll {
        fn new() -> Arc<Self> {
            Arc::new(Poll { turn: Turn::new(), visits: AtomicUsize::new(0) })
        }

        /// Relaxed: the turn has to order it.
        fn visit(&self) {
            let before = self.visits.load(Ordering::Relaxed);
            self.visits.store(before + 1, Ordering::Relaxed);
            self.turn.end();
        }

        fn look(&self) -> usize {
            let has_begun = self.turn.begin_look();
            if has_begun {
                self.visit();
            }
            usize::from(has_begun)
        }

        fn sleep(&self) -> usize {
            let has_begun = self.turn.begin_sleep();
            if has_begun {
                self.visit();
            }
            usize::from(has_begun)
        }
    }

    #[test]
    fn one_at_a_time_is_in_the_poll() {
        model(|| {
            let poll = Poll::new();
            let looks = [(); 2].map(|()| {
                let poll = poll.clone();
                thread::spawn(move || poll.look())
            });
            let own = poll.sleep();
            let visits = own + looks.into_iter().map(|look| look.join().unwrap()).sum::<usize>();
            // The thread that was in it has seen the earlier visits.
            assert_eq!(poll.visits.load(Ordering::Relaxed), visits);
        });
    }

    #[test]
    fn no_worker_sleeps_elsewhere_because_of_a_look() {
        model(|| {
            let poll = Poll::new();
            let looks = [(); 2].map(|()| {
                let poll = poll.clone();
                thread::spawn(move || poll.look())
            });
            assert!(poll.turn.begin_sleep(), "no other worker sleeps there");
            looks.into_iter().for_each(|look| _ = look.join().unwrap());
        });
    }

    #[test]
    fn of_two_workers_that_sleep_one_is_in_the_poll() {
        model(|| {
            let poll = Poll::new();
            let other = poll.clone();
            let other = thread::spawn(move || other.turn.begin_sleep());
            let own = poll.turn.begin_sleep();
            assert_ne!(own, other.join().unwrap(), "one of the two, and no more");
        });
    }
}

//! Wakes a worker that sleeps in one of two places, in the right one, and without a system call if the worker is awake.
//!
//! ```text
//!              lie_down                       get_up
//!   AWAKE ────────────────> IN_PARKER ────────────────> AWAKE
//!     │                      or IN_POLL                    ^
//!     │ ring                     │ ring: wake it there     │ get_up; lie_down fails before
//!     └──────────────────────────┴──────────────> RUNG ────┘
//! ```
//!
//! **No ring is lost.** Each side changes the word by one atomic operation. If `lie_down` comes first, the ring finds the
//! place and wakes it: both places keep a wake-up that comes before the sleep. If the ring comes first, `lie_down` fails. A
//! wake-up may arrive late, when the worker is up again for another reason. It then ends a later sleep spuriously, perhaps
//! that of another worker in the same poll.

use crate::primitive::{AtomicUsize, Ordering};

pub(crate) struct Bell(AtomicUsize);

/// Where a worker sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Parker,
    Poll,
}

const AWAKE: usize = 0;
const IN_PARKER: usize = 1;
const IN_POLL: usize = 2;
/// The worker was rung, and must not fall asleep.
const RUNG: usize = 3;

impl Bell {
    pub(crate) fn new() -> Self {
        Bell(AtomicUsize::new(AWAKE))
    }

    /// The worker is about to sleep. `false`: it must not.
    #[must_use]
    pub(crate) fn lie_down(&self, place: Place) -> bool {
        let place = match place {
            Place::Parker => IN_PARKER,
            Place::Poll => IN_POLL,
        };
        // Acquire: if it fails, the worker sees what was done before the ring.
        self.0.compare_exchange(AWAKE, place, Ordering::Relaxed, Ordering::Acquire).is_ok()
    }

    /// The worker is awake.
    pub(crate) fn get_up(&self) {
        // Acquire: the worker sees what was done before a ring.
        self.0.swap(AWAKE, Ordering::Acquire);
    }

    /// Ends the worker's sleep, or its next one. `Some`: the caller has to wake it in this place.
    #[must_use]
    pub(crate) fn ring(&self) -> Option<Place> {
        // Release: what was done before is seen by the worker.
        match self.0.swap(RUNG, Ordering::Release) {
            IN_PARKER => Some(Place::Parker),
            IN_POLL => Some(Place::Poll),
            _ => None,
        }
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests {
    //! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-sched --lib --release loom`

    use super::{Bell, Place};
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::sync::{Arc, Notify};
    use loom::{model, thread};

    struct Worker {
        bell: Bell,
        parker: Notify,
        poll: Notify,
        tasks: AtomicUsize,
    }

    impl Worker {
        fn new() -> Arc<Self> {
            let (parker, poll) = (Notify::new(), Notify::new());
            Arc::new(Worker { bell: Bell::new(), parker, poll, tasks: AtomicUsize::new(0) })
        }

        /// Relaxed: the bell has to order it.
        fn push(&self) {
            self.tasks.fetch_add(1, Ordering::Relaxed);
            match self.bell.ring() {
                None => {}
                Some(Place::Parker) => self.parker.notify(),
                Some(Place::Poll) => self.poll.notify(),
            }
        }

        /// Runs `left` tasks, and sleeps in the two places in turn. A lost ring is a deadlock.
        fn work(&self, mut place: Place, mut left: usize) {
            loop {
                left -= self.tasks.swap(0, Ordering::Relaxed);
                if left == 0 {
                    return;
                }
                if self.bell.lie_down(place) {
                    match place {
                        Place::Parker => self.parker.wait(),
                        Place::Poll => self.poll.wait(),
                    }
                }
                self.bell.get_up();
                place = if place == Place::Poll { Place::Parker } else { Place::Poll };
            }
        }
    }

    /// Two threads ring.
    fn no_ring_is_lost(first: Place) {
        model(move || {
            let worker = Worker::new();
            let pushers = [(); 2].map(|()| {
                let worker = worker.clone();
                thread::spawn(move || worker.push())
            });
            worker.work(first, 2);
            pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
        });
    }

    #[test]
    fn no_ring_is_lost_when_the_worker_sleeps_in_the_poll() {
        no_ring_is_lost(Place::Poll);
    }

    #[test]
    fn no_ring_is_lost_when_the_worker_sleeps_in_the_parker() {
        no_ring_is_lost(Place::Parker);
    }
}

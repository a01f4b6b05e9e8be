//! Fibers on the worker of a key: [`OnKey`].

use std::any::Any;
use std::hash::Hash;

use fiber_core::{Context, Fiber, Run};

use super::scheduler::{AffinityScheduler, KeyHash};
use super::worker::Workers;

/// Runs fibers on the worker of a key.
pub trait OnKey {
    /// The type of the fiber's value.
    type Out;

    /// Runs this fiber, its forks and its branches on the worker of `key`, if the scheduler is an
    /// [`AffinityPool`](crate::AffinityPool). Afterwards, the surrounding fiber continues where it was before.
    ///
    /// The surrounding fiber moves to the other worker and back. It remains the same fiber, so its locals, its deadlines,
    /// cancellation and finalizers work as without `on`. Each move is a turn. A fiber that is already there does not
    /// move. On other schedulers, `on` has no effect, so a program with keys can be tested on virtual time.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{AffinityPool, OnKey};
    /// use std::thread;
    ///
    /// let pool = AffinityPool::builder().workers(2).build();
    /// let here = || Fiber::lazy(|| thread::current().id());
    /// let twice = here().on("ABC").zip(here().fork().bind(|fork| fork.join()).on("ABC"));
    /// let (once, again) = pool.run(twice).unwrap();
    /// assert_eq!(once, again);
    /// ```
    ///
    /// # Cancellation
    /// A fiber that is cancelled during the move does not run. A fiber that is cancelled later runs its finalizers on the
    /// worker of its key.
    #[track_caller]
    fn on(self, key: impl Hash) -> Fiber<Self::Out>;
}

impl<T: Send + 'static, R: Run<Out = T>> OnKey for Fiber<T, R> {
    type Out = T;

    #[track_caller]
    fn on(self, key: impl Hash) -> Fiber<T> {
        let hash = KeyHash::of(key);
        let arrive = Fiber::current().bind(move |here| match tag_of(&here, hash) {
            Some(tag) if tag != here.tag() => {
                let former = here.tag();
                move_to(here, tag).map(move |()| Some(former)).boxed()
            }
            _ => Fiber::success(None).boxed(),
        });
        let leave = |former: Option<u64>| match former {
            // Not the context before the move: a fiber that is awaited beside others may have got a new one.
            Some(former) => Fiber::current().bind(move |here| move_to(here, former)).boxed(),
            None => Fiber::success(()).boxed(),
        };
        Fiber::bracket(arrive, |_| self, leave).boxed()
    }
}

/// The tag of the worker of a key. `None`: the scheduler has no such workers.
fn tag_of(fiber: &Context, hash: KeyHash) -> Option<u64> {
    let scheduler: &dyn Any = &**fiber.scheduler();
    let scheduler: &AffinityScheduler = scheduler.downcast_ref()?;
    Some(Workers::tag(scheduler.worker_of(hash)))
}

/// The yield schedules a task, which goes to the worker of the tag.
fn move_to(fiber: Context, tag: u64) -> Fiber<()> {
    fiber.set_tag(tag);
    Fiber::yield_now().boxed()
}

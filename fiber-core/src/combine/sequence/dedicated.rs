use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, IntoError, Site};
use crate::fiber::Fiber;
use crate::leaf::{DedicatedWait, Job, Leaf, SharedResult, Work};
use crate::outcome::Outcome;
use crate::token::CancelToken;

impl<T: Send + 'static> Fiber<T> {
    /// Calls `f` on a thread of its own: for work that takes long, or runs as long as the program does, such as a
    /// loop that serves a device. `f` checks from time to time whether it should stop.
    ///
    /// | | [`blocking_with`](Fiber::blocking_with) | `dedicated` |
    /// |---|---|---|
    /// | the thread | one of a limited number, reused | a new one, not counted in the limit |
    /// | starts | when a thread is free | at once |
    /// | a cancellation | ends the fiber at once; `f` runs on until it sees the token | asks `f` to stop, and waits until it has returned |
    /// | the value of an `f` that was asked to stop | is dropped | is the value of the fiber |
    ///
    /// A scheduler without threads of its own, such as the `TestScheduler` of `fiber-test`, runs `f` as it runs the
    /// closures of `blocking`. There, a loop that ends only when the token is cancelled never ends.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    /// use fiber_core::{CancelToken, Either, Error, Fiber};
    ///
    /// let (readings, received) = Channel::sliding(8);
    /// let device = move |token: &CancelToken| -> Result<(), Error> {
    ///     let mut reading = 0;
    ///     while !token.is_cancelled() {
    ///         reading += 1;
    ///         _ = readings.try_send(reading);
    ///     }
    ///     Ok(())
    /// };
    /// let first = Fiber::dedicated(device).race(received.recv_many(4));
    /// let Either::Right(first) = fiber_sched::run(first).unwrap() else { panic!("the device stopped") };
    /// assert!(first[0] > 0);
    /// ```
    ///
    /// # Errors
    /// The error of `f`, converted. [`Abandoned`](crate::error::Abandoned), if the scheduler cannot start a thread.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The token is cancelled, and the fiber waits until `f` has returned. Then it ends as cancelled, unless `f` has
    /// given a value or has panicked. If `f` has not started, it never will.
    #[track_caller]
    pub fn dedicated<E, F>(f: F) -> Fiber<T, Dedicated<F>>
    where
        E: IntoError,
        F: FnOnce(&CancelToken) -> Result<T, E> + Send + 'static,
    {
        Fiber::new(Dedicated { f, site: Location::caller() })
    }
}

/// The description of [`Fiber::dedicated`].
#[derive(Clone, Debug)]
pub struct Dedicated<F> {
    f: F,
    site: Site,
}

impl<T, E, F> Run for Dedicated<F>
where
    T: Send + 'static,
    E: IntoError,
    F: FnOnce(&CancelToken) -> Result<T, E> + Send + 'static,
{
    type Out = T;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let (job, result) = Job::new(Work::stoppable(self.f), cx.locals());
        let (result, frame) = (Arc::new(Mutex::new(result)), Frame::new("dedicated", self.site));
        let wait = DedicatedWait::<_, _, false>::new(job.clone(), result.clone(), frame);
        Then::new(Leaf::new(wait, self.site), AwaitReturn { job, result, site: self.site }).run(cx)
    }
}

/// The [`Follow`] step of [`Fiber::dedicated`].
pub(crate) struct AwaitReturn<F, T> {
    job: Arc<Job<F, T>>,
    result: SharedResult<T>,
    site: Site,
}

impl<F: Send + 'static, T: Send + 'static> Follow<T> for AwaitReturn<F, T> {
    type Out = T;
    const ROOM: usize = <Leaf<DedicatedWait<F, T, true>> as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        if !outcome.is_cancelled() || self.job.take_back(cx.context()) {
            return Step::Done(outcome);
        }
        let frame = Frame::new("dedicated", self.site);
        let wait = DedicatedWait::<_, _, true>::new(self.job, self.result, frame);
        Leaf::new(wait, self.site).run(cx)
    }
}

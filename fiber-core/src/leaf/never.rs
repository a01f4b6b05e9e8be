use super::wait::{Leaf, Wait};
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::side::Single;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

use std::marker::PhantomData;
use std::panic::Location;

impl<T: Send + 'static> Fiber<T> {
    /// Waits forever, or until it is cancelled.
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// let fiber = Fiber::<()>::never().race(Fiber::success(1));
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), Either::Right(1));
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once. In an uncancelable region it hangs forever.
    #[doc(alias = "pending")]
    #[track_caller]
    pub fn never() -> Fiber<T, Leaf<Never<T>>> {
        Fiber::never_at(Location::caller())
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn never_at(site: Site) -> Fiber<T, Leaf<Never<T>>> {
        Fiber::new(Leaf::new(Never(PhantomData), site))
    }
}

/// The wait of [`Fiber::never`].
#[derive(Debug)]
pub struct Never<T>(PhantomData<fn() -> T>);

// By hand, because a `T` need not be `Clone`; there is none.
impl<T> Clone for Never<T> {
    fn clone(&self) -> Self {
        Never(PhantomData)
    }
}

impl<T: Send + 'static> Wait for Never<T> {
    type Out = T;
    const CAN_LOSE: bool = true;
    const SINGLE: Single = Single::ONCE;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<T>> {
        None
    }

    fn register(&mut self, _: &Cx<'_>, _: Wakeup) -> Option<Outcome<T>> {
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {}

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Never
    }
}

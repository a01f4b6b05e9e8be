use std::panic::Location;

use super::wait::{Leaf, Wait};
use crate::cell::EventKey;
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::side::Single;
use crate::engine::step::Run;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::token::CancelToken;

impl CancelToken {
    /// Waits until this token, or one above it, is cancelled. Any number of fibers can wait.
    ///
    /// ```
    /// use fiber_core::{CancelToken, Either, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let shutdown = CancelToken::new();
    /// let served = Fiber::delay(Duration::from_secs(60)).race(shutdown.child().cancelled());
    /// let test = TestScheduler::new();
    /// let server = test.spawn(served);
    /// test.run_for(Duration::from_secs(1));
    /// shutdown.cancel();
    /// test.run_until_idle();
    /// assert_eq!(server.outcome().unwrap(), Either::Right(()));
    /// assert_eq!(test.now().as_nanos(), 1_000_000_000);
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once.
    #[track_caller]
    pub fn cancelled(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        Fiber::new(Leaf::new(TokenWait::new(self), Location::caller()))
    }
}

/// The wait of [`CancelToken::cancelled`].
#[derive(Debug)]
pub(crate) struct TokenWait {
    /// A token of its own, because only one fiber at a time can wait at a token.
    below: CancelToken,
    parked: Option<EventKey>,
}

impl TokenWait {
    pub(crate) fn new(token: &CancelToken) -> Self {
        TokenWait { below: token.child(), parked: None }
    }
}

impl Clone for TokenWait {
    fn clone(&self) -> Self {
        TokenWait::new(&self.below)
    }
}

impl Wait for TokenWait {
    type Out = ();
    const CAN_LOSE: bool = true;
    const SINGLE: Single = Single::ONCE;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.below.is_cancelled().then_some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        match self.below.park(wakeup) {
            Ok(parked) => {
                self.parked = Some(parked);
                None
            }
            Err(wakeup) => wakeup.claim().then_some(Outcome::Success(())),
        }
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        drop(self.parked.take().and_then(|parked| self.below.unpark(parked)));
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Signal
    }
}

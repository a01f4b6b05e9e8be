//! Connects the cancel tree of fibers with that of tokens.

use std::panic::Location;

use super::race_with::Raced;
use crate::combine::fork::{CancelOnDrop, Handle, Scope};
use crate::combine::sequence::Either;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::engine::task::Task;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::Panic;
use crate::token::CancelToken;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Puts this fiber below `token`: when the token is cancelled, the fiber is cancelled and awaited, and the whole ends
    /// as cancelled.
    ///
    /// ```
    /// use fiber_core::{CancelToken, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let (shutdown, test) = (CancelToken::new(), TestScheduler::new());
    /// let handle = test.spawn(Fiber::<()>::never().cancelled_by(&shutdown));
    /// test.run_for(Duration::from_secs(1));
    /// shutdown.cancel();
    /// test.run_until_idle();
    /// assert!(handle.outcome().is_cancelled());
    /// ```
    ///
    /// # Errors
    /// The failure of the fiber.
    ///
    /// # Cancellation
    /// The fiber is cancelled and awaited. If it succeeds meanwhile, its value is kept. If the token was cancelled
    /// before, the fiber never starts.
    ///
    /// As a side of a [race](Fiber::race), the whole is a program, as a [`race_with`](Fiber::race_with) is, even around a single
    /// wait: it may have taken an item when another side wins. Put the race below the token instead.
    #[track_caller]
    pub fn cancelled_by(self, token: &CancelToken) -> Fiber<T, impl Run<Out = T> + use<T, R>> {
        let site = Location::caller();
        let raced = token.cancelled().race_with(self).into_run();
        let unless = Fiber::new(UnlessCancelled { token: token.clone(), run: raced });
        unless.map_outcome_at(site, |raced| {
            let own = match raced {
                Outcome::Success(Raced { first, second }) => own(first, second),
                other => other.map(|_| unreachable!("the others have no value")),
            };
            own.map(|value| match value {
                Either::Right(value) => value,
                Either::Left(()) => unreachable!("the token's outcome is not the fiber's"),
            })
        })
    }

    /// Runs the fiber that `f` makes of a token which is below this fiber: a cancellation of the fiber cancels the token at
    /// once, on the thread that cancels. The token is also cancelled when the fiber that `f` made has ended.
    ///
    /// Pass the token to code that is not a fiber, such as a long computation, or a thread of another library. In dumps and reports, a fiber
    /// with the name `token`, which never starts, stands for it.
    ///
    /// ```
    /// use fiber_core::{CancelToken, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::sync::mpsc;
    ///
    /// let (send, receive) = mpsc::channel::<CancelToken>();
    /// let serve = Fiber::with_token(move |token| {
    ///     send.send(token).unwrap();
    ///     Fiber::<()>::never()
    /// });
    /// let test = TestScheduler::new();
    /// let handle = test.spawn(serve);
    /// test.run_until_idle();
    /// let token = receive.recv().unwrap();
    /// assert!(!token.is_cancelled());
    /// handle.cancel_now();
    /// test.run_until_idle();
    /// assert!(token.is_cancelled());
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The token is cancelled, and so is the fiber that `f` made.
    #[track_caller]
    pub fn with_token<F>(f: F) -> Fiber<T, impl Run<Out = T> + use<T, R, F>>
    where
        F: FnOnce(CancelToken) -> Fiber<T, R> + Send + 'static,
    {
        let site = Location::caller();
        let token = CancelToken::new();
        let passed = token.child();
        Fiber::scope(move |scope: Scope| {
            Fiber::new(Tie { scope, token, site }).bind_at(site, move |tied| {
                f(passed).map_outcome_at(site, move |outcome| {
                    drop(tied);
                    outcome
                })
            })
        })
    }
}

/// Does not start what the token has already cancelled: the race would start both sides if the scheduler takes over its branches.
struct UnlessCancelled<R> {
    token: CancelToken,
    run: R,
}

impl<R: Run> Run for UnlessCancelled<R> {
    type Out = R::Out;
    const ROOM: usize = R::ROOM;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        if self.token.is_cancelled() {
            return Step::Done(Outcome::Cancelled.without_run(self.run, cx));
        }
        self.run.run(cx)
    }

    fn is_program(&self) -> bool {
        self.run.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// Ties a token to a fork that never starts, because a cancellation drops such a fork at once, on its own thread. One that has started would
/// have to be woken, and have a turn.
struct Tie {
    scope: Scope,
    token: CancelToken,
    site: Site,
}

impl Run for Tie {
    /// The end of the fork, and with it of the token, and the task that would start it.
    type Out = (CancelOnDrop<()>, Task);

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Tie { scope, token, site } = self;
        let cancels = Cancels(token);
        let fork = Fiber::lazy_at(site, move || drop(cancels)).named("token").into_run();
        let (branch, task) = scope.branch(cx, fork, site);
        branch.context().never_starts();
        Step::Done(Outcome::Success((Handle::new(branch).cancel_on_drop(), task)))
    }
}

/// The outcome of the fiber, as opposed to that of the wait for its token.
fn own<T>(first: Outcome<Either<(), T>>, second: Outcome<Either<(), T>>) -> Outcome<Either<(), T>> {
    match (first, second) {
        (Outcome::Cancelled, Outcome::Success(Either::Left(()))) => Outcome::Cancelled,
        // The wait for the token succeeds, or is cancelled together with the fiber.
        (Outcome::Success(Either::Left(())) | Outcome::Cancelled, own) | (own, _) => own,
    }
}

/// Cancels its token when it is dropped.
struct Cancels(CancelToken);

impl Drop for Cancels {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

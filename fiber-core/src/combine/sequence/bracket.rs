use std::panic::Location;

use super::ensure::{Finalized, finalize, finalized};
use super::then::Then;
use super::uncancelable::Uncancelable;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic, discard_part, guard};

impl<T: Send + 'static> Fiber<T> {
    /// Acquires a value, uses it, and releases it when its use has ended, whatever happens. The acquisition is not
    /// interrupted, and an acquired value is always released.
    ///
    /// Both the use and the release receive the value, so it has to be [`Clone`]: an `Arc`, for example. See
    /// [`Resource`](crate::Resource) for several values that are acquired together.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::sync::{Arc, Mutex};
    ///
    /// let log = Arc::new(Mutex::new(Vec::new()));
    /// let note = { let log = log.clone(); move |what: &'static str| { let log = log.clone(); Fiber::lazy(move || log.lock().unwrap().push(what)) } };
    /// let (open, read, close) = (note("open"), note("read"), note("close"));
    /// let fiber = Fiber::bracket(open.map(|()| "file"), move |_file| read, move |_file| close);
    /// assert!(fiber_sched::run(fiber).is_success());
    /// assert_eq!(*log.lock().unwrap(), ["open", "read", "close"]);
    /// ```
    ///
    /// # Errors
    /// Errors of the acquisition and of the use. A failure of the release is suppressed, as in
    /// [`ensure`](Fiber::ensure).
    ///
    /// # Panics
    /// A panic of `using`, or of the clone for it, becomes the fiber's outcome, after the release. A panic of `release`
    /// counts as a panic of a finalizer.
    ///
    /// # Cancellation
    /// The acquisition is not interrupted. The use is cancelled at once; then the value is released.
    #[track_caller]
    pub fn bracket<A, R, S, F, Q, G>(
        acquire: Fiber<A, R>,
        using: F,
        release: G,
    ) -> Fiber<T, Bracket<R, F, Always<G>>>
    where
        A: Clone + Send + 'static,
        R: Run<Out = A>,
        S: Run<Out = T>,
        F: FnOnce(A) -> Fiber<T, S> + Send + 'static,
        Q: Run<Out = ()>,
        G: FnOnce(A) -> Fiber<(), Q> + Send + 'static,
    {
        let follow = UseThenRelease { using, release: Always(release), site: Location::caller() };
        Fiber::new(Then::new(Uncancelable(acquire.into_run()), follow))
    }

    /// Like [`bracket`](Fiber::bracket), with a release that sees how the use ended, to commit or to roll back.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Outcome};
    ///
    /// let transaction = Fiber::bracket_outcome(
    ///     Fiber::success("transaction"),
    ///     |_transaction| Fiber::<u32>::fail(Error::msg("conflict")),
    ///     |_transaction, outcome: &Outcome<u32>| {
    ///         let end = if outcome.is_success() { "commit" } else { "roll back" };
    ///         Fiber::lazy(move || println!("{end}"))
    ///     },
    /// );
    /// assert!(fiber_sched::run(transaction).is_failure());
    /// ```
    #[track_caller]
    pub fn bracket_outcome<A, R, S, F, Q, G>(
        acquire: Fiber<A, R>,
        using: F,
        release: G,
    ) -> Fiber<T, Bracket<R, F, Seeing<G>>>
    where
        A: Clone + Send + 'static,
        R: Run<Out = A>,
        S: Run<Out = T>,
        F: FnOnce(A) -> Fiber<T, S> + Send + 'static,
        Q: Run<Out = ()>,
        G: FnOnce(A, &Outcome<T>) -> Fiber<(), Q> + Send + 'static,
    {
        let follow = UseThenRelease { using, release: Seeing(release), site: Location::caller() };
        Fiber::new(Then::new(Uncancelable(acquire.into_run()), follow))
    }
}

/// The description of [`Fiber::bracket`] and [`Fiber::bracket_outcome`].
pub(crate) type Bracket<R, F, G> = Then<Uncancelable<R>, UseThenRelease<F, G>>;

/// The way in which a value is released after a use that gave a `T`.
pub trait Release<A, T>: Send + 'static {
    /// The release.
    type Run: Run<Out = ()>;
    /// Makes the release. May panic.
    fn release(self, acquired: A, outcome: &Outcome<T>) -> Fiber<(), Self::Run>;
}

/// A release that ignores the outcome.
#[derive(Clone, Debug)]
pub struct Always<G>(G);

impl<A, T, Q, G> Release<A, T> for Always<G>
where
    Q: Run<Out = ()>,
    G: FnOnce(A) -> Fiber<(), Q> + Send + 'static,
{
    type Run = Q;

    fn release(self, acquired: A, _: &Outcome<T>) -> Fiber<(), Q> {
        (self.0)(acquired)
    }
}

/// A release that sees the outcome.
#[derive(Clone, Debug)]
pub struct Seeing<G>(G);

impl<A, T, Q, G> Release<A, T> for Seeing<G>
where
    Q: Run<Out = ()>,
    G: FnOnce(A, &Outcome<T>) -> Fiber<(), Q> + Send + 'static,
{
    type Run = Q;

    fn release(self, acquired: A, outcome: &Outcome<T>) -> Fiber<(), Q> {
        (self.0)(acquired, outcome)
    }
}

/// The [`Follow`] step of the acquisition.
#[derive(Clone, Debug)]
pub struct UseThenRelease<F, G> {
    using: F,
    release: G,
    site: Site,
}

impl<A, S, F, G> Follow<A> for UseThenRelease<F, G>
where
    A: Clone + Send + 'static,
    S: Run,
    F: FnOnce(A) -> Fiber<S::Out, S> + Send + 'static,
    G: Release<A, S::Out>,
{
    type Out = S::Out;
    const ROOM: usize = <Then<Using<A, F>, Releasing<A, G>> as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<A>) -> Step<'s, S::Out> {
        let frame = Frame::new("bracket", self.site);
        match outcome.split() {
            Ok(acquired) => {
                let using = Using { acquired: guard(|| acquired.clone()), using: self.using };
                Then::new(using, Releasing { acquired, release: self.release, frame }).run(cx)
            }
            Err(other) => Step::pass(other.without(self.using, cx), self.release, frame, cx),
        }
    }

    fn as_bind(&self, outcome: &Outcome<A>) -> Option<Frame> {
        outcome.is_success().then(|| Frame::new("bracket", self.site))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.using, torn);
        discard_part(self.release, torn);
    }
}

/// The use of an acquired value.
#[derive(Debug)]
pub(crate) struct Using<A, F> {
    /// The clone, which may have panicked. Then the use is skipped, and the release still runs.
    acquired: Result<A, Panic>,
    using: F,
}

impl<A, S, F> Run for Using<A, F>
where
    A: Send + 'static,
    S: Run,
    F: FnOnce(A) -> Fiber<S::Out, S> + Send + 'static,
{
    type Out = S::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, S::Out> {
        let acquired = match self.acquired {
            Ok(acquired) if cx.is_interrupted() => {
                let refused = Outcome::Cancelled.without(acquired, cx);
                return Step::Done(refused.without(self.using, cx));
            }
            Ok(acquired) => acquired,
            Err(panic) => return Step::Done(Outcome::Panicked(panic).without(self.using, cx)),
        };
        match guard(|| (self.using)(acquired)) {
            Ok(fiber) => fiber.into_run().run(cx),
            Err(panic) => Step::Done(Outcome::Panicked(panic)),
        }
    }
}

/// The [`Follow`] step of the use.
#[derive(Clone, Debug)]
pub(crate) struct Releasing<A, G> {
    acquired: A,
    release: G,
    frame: Frame,
}

impl<A, T, G> Follow<T> for Releasing<A, G>
where
    A: Send + 'static,
    T: Send + 'static,
    G: Release<A, T>,
{
    type Out = T;
    const ROOM: usize = <Then<Uncancelable<G::Run>, Finalized<T>> as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let outcome = outcome.passed(self.frame);
        match guard(|| self.release.release(self.acquired, &outcome)) {
            Ok(release) => finalize(cx, release.into_run(), outcome, self.frame),
            Err(panic) => {
                let end = Outcome::Panicked(panic).passed(self.frame);
                Step::Done(finalized(cx, outcome, end))
            }
        }
    }

    #[inline]
    fn as_finalizer(&self) -> Option<Frame> {
        Some(self.frame)
    }

    #[inline]
    fn as_bind(&self, _: &Outcome<T>) -> Option<Frame> {
        Some(self.frame)
    }
}

use std::panic::Location;

use super::ensure::{Finalized, finalize};
use super::then::Then;
use super::uncancelable::Uncancelable;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

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
    ) -> Fiber<T, Bracket<R, F, G, MakeRelease<G, A, T, Q>>>
    where
        A: Clone + Send + 'static,
        R: Run<Out = A>,
        S: Run<Out = T>,
        F: FnOnce(A) -> Fiber<T, S> + Send + 'static,
        Q: Run<Out = ()>,
        G: FnOnce(A) -> Fiber<(), Q> + Send + 'static,
    {
        let make: MakeRelease<G, A, T, Q> = |release, acquired, _| release(acquired);
        let follow = UseThenRelease { using, release, make, site: Location::caller() };
        Fiber::new(Then::new(Uncancelable(acquire.into_run()), follow))
    }

    /// Like [`bracket`](Fiber::bracket), with a release that sees how the use ended, to commit or to roll back.
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome};
    ///
    /// let transaction = Fiber::bracket_outcome(
    ///     Fiber::success("transaction"),
    ///     |_transaction| Fiber::<u32>::fail("conflict"),
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
    ) -> Fiber<T, Bracket<R, F, G, MakeRelease<G, A, T, Q>>>
    where
        A: Clone + Send + 'static,
        R: Run<Out = A>,
        S: Run<Out = T>,
        F: FnOnce(A) -> Fiber<T, S> + Send + 'static,
        Q: Run<Out = ()>,
        G: FnOnce(A, &Outcome<T>) -> Fiber<(), Q> + Send + 'static,
    {
        let make: MakeRelease<G, A, T, Q> = |release, acquired, outcome| release(acquired, outcome);
        let follow = UseThenRelease { using, release, make, site: Location::caller() };
        Fiber::new(Then::new(Uncancelable(acquire.into_run()), follow))
    }
}

/// The description of [`Fiber::bracket`] and [`Fiber::bracket_outcome`].
pub(crate) type Bracket<R, F, G, M> = Then<Uncancelable<R>, UseThenRelease<F, G, M>>;

/// How the release is made, with the acquired value and the outcome of the use. May panic.
type MakeRelease<G, A, T, Q> = fn(G, A, &Outcome<T>) -> Fiber<(), Q>;

/// The [`Follow`] step of the acquisition.
#[derive(Clone, Debug)]
pub struct UseThenRelease<F, G, M> {
    using: F,
    release: G,
    make: M,
    site: Site,
}

impl<A, S, F, G, Q> Follow<A> for UseThenRelease<F, G, MakeRelease<G, A, S::Out, Q>>
where
    A: Clone + Send + 'static,
    S: Run,
    F: FnOnce(A) -> Fiber<S::Out, S> + Send + 'static,
    G: Send + 'static,
    Q: Run<Out = ()>,
{
    type Out = S::Out;
    const ROOM: usize = <Then<Using<A, F>, Releasing<A, G, MakeRelease<G, A, S::Out, Q>>> as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<A>) -> Step<'s, S::Out> {
        let frame = Frame::new("bracket", self.site);
        match outcome.split() {
            Ok(acquired) => {
                let using = Using { acquired: guard(|| acquired.clone()), using: self.using };
                Then::new(using, Releasing { acquired, release: self.release, make: self.make, frame })
                    .run(cx)
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
pub(crate) struct Releasing<A, G, M> {
    acquired: A,
    release: G,
    make: M,
    frame: Frame,
}

impl<A, T, G, Q> Follow<T> for Releasing<A, G, MakeRelease<G, A, T, Q>>
where
    A: Send + 'static,
    T: Send + 'static,
    G: Send + 'static,
    Q: Run<Out = ()>,
{
    type Out = T;
    const ROOM: usize = <Then<Uncancelable<Q>, Finalized<T>> as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let outcome = outcome.passed(self.frame);
        let release = guard(|| (self.make)(self.release, self.acquired, &outcome).into_run());
        finalize(cx, release, outcome, self.frame)
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

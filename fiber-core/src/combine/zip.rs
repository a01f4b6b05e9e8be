use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use super::branch::Sink;
use super::first_failure::FirstFailure;
use super::group::{Conclusion, Group};
use super::pair::{Joint, run_pair};
use crate::context::{Context, Cx};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic};
use crate::step::{Run, Step};
use crate::suppress::discard;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs both, in parallel, and gives both values.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let both = Fiber::lazy(|| 1).zip(Fiber::lazy(|| "one"));
    /// assert_eq!(fiber_sched::run(both).unwrap(), (1, "one"));
    /// ```
    ///
    /// # Errors
    /// The first failure; the other side is then cancelled and awaited, and a failure of its own is suppressed into
    /// the first.
    ///
    /// # Cancellation
    /// Cancels and awaits both.
    #[track_caller]
    pub fn zip<U, S>(self, other: Fiber<U, S>) -> Fiber<(T, U), Zip<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        let site = Location::caller();
        Fiber::new(Zip { left: self.into_run(), right: other.into_run(), site })
    }
}

/// The description of [`Fiber::zip`].
#[derive(Clone, Debug)]
pub struct Zip<R, S> {
    left: R,
    right: S,
    site: &'static Location<'static>,
}

impl<R: Run, S: Run> Run for Zip<R, S> {
    type Out = (R::Out, S::Out);
    type Suspension = Group<Both<R::Out, S::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_pair(cx, self.left, self.right, ZipJoint(self.site), self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.left.discard(torn);
        self.right.discard(torn);
    }
}

#[derive(Clone, Copy)]
struct ZipJoint(&'static Location<'static>);

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for ZipJoint {
    const NAME: &'static str = "zip";
    type Out = (A, B);
    type Left = Left<A, B>;
    type Right = Right<A, B>;
    type End = Both<A, B>;

    fn open(self, group: &Context) -> (Left<A, B>, Right<A, B>, Both<A, B>) {
        let shared = Arc::new(Shared {
            left: Mutex::new(None),
            right: Mutex::new(None),
            failure: FirstFailure::new(),
            scope: group.clone(),
        });
        (Left(shared.clone()), Right(shared.clone()), Both { shared, site: self.0 })
    }

    fn wants_right(left: &Outcome<A>) -> bool {
        left.is_success()
    }

    fn conclude(self, cx: &Cx<'_>, left: Outcome<A>, right: Outcome<B>) -> Outcome<(A, B)> {
        match (left, right) {
            (Outcome::Success(left), Outcome::Success(right)) => Outcome::Success((left, right)),
            (left, right) => {
                let failure = FirstFailure::new();
                let left = failure.sift(cx, left);
                let right = failure.sift(cx, right);
                together(cx, left, right, &failure, self.0)
            }
        }
    }
}

struct Shared<A, B> {
    left: Mutex<Option<A>>,
    right: Mutex<Option<B>>,
    failure: FirstFailure,
    scope: Context,
}

impl<A, B> Shared<A, B> {
    fn deliver<T>(&self, fiber: &Context, place: &Mutex<Option<T>>, outcome: Outcome<T>) {
        match self.failure.sift(fiber, outcome) {
            Some(value) => *place.lock() = Some(value),
            None => self.scope.cancel(),
        }
    }
}

impl<A, B> Drop for Shared<A, B> {
    /// The values are still here when the scheduler has thrown the fiber away. Each of them may panic.
    fn drop(&mut self) {
        discard(self.left.get_mut().take(), &self.scope);
        discard(self.right.get_mut().take(), &self.scope);
    }
}

struct Left<A, B>(Arc<Shared<A, B>>);
struct Right<A, B>(Arc<Shared<A, B>>);

impl<A: Send + 'static, B: Send + 'static> Sink<A> for Left<A, B> {
    fn deliver(&self, fiber: &Context, outcome: Outcome<A>) {
        self.0.deliver(fiber, &self.0.left, outcome);
    }
}

impl<A: Send + 'static, B: Send + 'static> Sink<B> for Right<A, B> {
    fn deliver(&self, fiber: &Context, outcome: Outcome<B>) {
        self.0.deliver(fiber, &self.0.right, outcome);
    }
}

/// Puts the two values together.
pub struct Both<A, B> {
    shared: Arc<Shared<A, B>>,
    site: &'static Location<'static>,
}

impl<A, B> std::fmt::Debug for Both<A, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "zip at {}", self.site)
    }
}

impl<A: Send + 'static, B: Send + 'static> Conclusion for Both<A, B> {
    type Out = (A, B);

    fn conclude(self, cx: &Cx<'_>) -> Outcome<(A, B)> {
        let left = self.shared.left.lock().take();
        let right = self.shared.right.lock().take();
        together(cx, left, right, &self.shared.failure, self.site)
    }
}

/// Both values, or what went wrong.
fn together<A, B>(
    cx: &Cx<'_>,
    left: Option<A>,
    right: Option<B>,
    failure: &FirstFailure,
    site: &'static Location<'static>,
) -> Outcome<(A, B)> {
    if let Err(failure) = failure.take::<(A, B)>() {
        return failure.without(left, cx).without(right, cx).passed(Frame::new("zip", site));
    }
    // Without a failure both have succeeded, and each is taken once.
    Outcome::Success((left.expect("the left value"), right.expect("the right value")))
}

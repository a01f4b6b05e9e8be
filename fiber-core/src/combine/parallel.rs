use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::branch::{Branch, Sink};
use super::first_failure::FirstFailure;
use super::group::{self, Conclusion, Group};
use crate::context::{Context, Cx};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, guard};
use crate::scheduler::SwitchPoint;
use crate::step::{Run, Step};
use crate::suppress::discard;
use crate::task::Task;

impl<T: Send + 'static> Fiber<T> {
    /// Runs all, in parallel, and gives their values in the order of the iterator. At most `n` at a time with
    /// [`limit`](Fiber::limit).
    ///
    /// The iterator is pulled when the fiber runs: all of it, or with a limit one item whenever there is place.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let squares = Fiber::parallel((1..=4).map(|n| Fiber::lazy(move || n * n))).limit(2);
    /// assert_eq!(fiber_sched::run(squares).unwrap(), [1, 4, 9, 16]);
    /// ```
    ///
    /// # Errors
    /// The first failure: no more are started, the rest is cancelled and awaited, and further failures are suppressed into
    /// the first. Of nothing, it succeeds with nothing.
    ///
    /// # Panics
    /// A panic of the iterator counts as a failure.
    ///
    /// # Cancellation
    /// Cancels and awaits all.
    #[track_caller]
    pub fn parallel<I, R>(fibers: I) -> Fiber<Vec<T>, Parallel<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        Fiber::new(Parallel { fibers: fibers.into_iter(), limit: usize::MAX, site: Location::caller() })
    }
}

impl<T, R, I> Fiber<Vec<T>, Parallel<I>>
where
    T: Send + 'static,
    R: Run<Out = T>,
    I: Iterator<Item = Fiber<T, R>> + Send + 'static,
{
    /// At most `most` of them run at a time.
    ///
    /// # Panics
    /// If `most` is zero: nothing could ever run.
    #[track_caller]
    pub fn limit(self, most: usize) -> Self {
        assert!(most > 0, "a limit of 0 lets no fiber run; it has to be at least 1");
        let mut parallel = self.into_run();
        parallel.limit = most;
        Fiber::new(parallel)
    }
}

/// The description of [`Fiber::parallel`].
#[derive(Clone, Debug)]
pub struct Parallel<I> {
    fibers: I,
    limit: usize,
    site: &'static Location<'static>,
}

impl<T, R, I> Run for Parallel<I>
where
    T: Send + 'static,
    R: Run<Out = T>,
    I: Iterator<Item = Fiber<T, R>> + Send + 'static,
{
    type Out = Vec<T>;
    type Suspension = Group<All<T, I>>;

    fn run(self, cx: &Cx<'_>) -> Step<Vec<T>, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let context = group::open(cx, "parallel", self.site);
        let shared = Arc::new(Shared {
            is_exhausted: AtomicBool::new(false),
            source: Mutex::new(Source { fibers: Some(self.fibers), is_closed: false, wanted: 0 }),
            values: Mutex::new(Vec::new()),
            failure: FirstFailure::new(),
            refills: Mutex::new(Some(Vec::new())),
            scope: context.clone(),
            site: self.site,
        });
        let mut first = Vec::new();
        shared.fill(self.limit, |branch| first.push(branch));
        if Branch::run_all(first, cx) {
            shared.run_refills(cx);
        }
        shared.leave_refills();
        Group::settle(cx, context, All(shared))
    }
}

struct Shared<T, I> {
    /// The iterator has ended.
    is_exhausted: AtomicBool,
    source: Mutex<Source<I>>,
    /// In the order of the iterator, as far as it was pulled.
    values: Mutex<Vec<Option<T>>>,
    failure: FirstFailure,
    /// Those that were offered for others that have ended, as long as the fiber that began with all can run them itself.
    refills: Mutex<Option<Vec<Context>>>,
    scope: Context,
    site: &'static Location<'static>,
}

impl<T, I> Drop for Shared<T, I> {
    /// The values are still here when the scheduler has thrown the fiber away. Each of them may panic, as may the iterator.
    fn drop(&mut self) {
        self.values.get_mut().drain(..).for_each(|value| discard(value, &self.scope));
        discard(self.source.get_mut().fibers.take(), &self.scope);
    }
}

/// The iterator is the user's code, so it is pulled without the lock, by one at a time. Who finds it taken leaves word
/// that there is place for one more.
struct Source<I> {
    /// `None` while it is pulled, and when it is of no more use.
    fibers: Option<I>,
    is_closed: bool,
    wanted: usize,
}

impl<I> Source<I> {
    fn take(&mut self) -> Option<I> {
        let fibers = self.fibers.take()?;
        self.wanted -= 1;
        Some(fibers)
    }
}

impl<T, R, I> Shared<T, I>
where
    T: Send + 'static,
    R: Run<Out = T>,
    I: Iterator<Item = Fiber<T, R>> + Send + 'static,
{
    /// There is place for so many more. Gives the branch of each in turn to `start`, as long as there are fibers.
    fn fill(self: &Arc<Self>, places: usize, mut start: impl FnMut(Branch<R, Member<T, I>>)) {
        // Relaxed: a look that saves the lock. Who misses it finds that there are no fibers.
        if self.is_exhausted.load(Ordering::Relaxed) {
            return;
        }
        let mut source = self.source.lock();
        source.wanted = source.wanted.saturating_add(places);
        while source.wanted > 0
            && let Some(mut fibers) = source.take()
        {
            drop(source);
            match guard(|| fibers.next()) {
                Ok(Some(fiber)) => {
                    self.put_back(fibers);
                    start(self.branch(fiber));
                    source = self.source.lock();
                }
                Ok(None) => {
                    // Relaxed: as above.
                    self.is_exhausted.store(true, Ordering::Relaxed);
                    return self.discard(fibers);
                }
                Err(panic) => {
                    self.fail(&self.scope, Outcome::Panicked(panic));
                    return self.discard(fibers);
                }
            }
        }
    }

    fn put_back(&self, fibers: I) {
        let mut source = self.source.lock();
        if source.is_closed {
            drop(source);
            self.discard(fibers);
        } else {
            source.fibers = Some(fibers);
        }
    }

    /// Drops the iterator, which is the user's code: a panic counts as one of the iterator.
    fn discard(&self, fibers: I) {
        if let Err(panic) = guard(|| drop(fibers)) {
            self.fail(&self.scope, Outcome::Panicked(panic));
        }
    }

    fn branch(self: &Arc<Self>, fiber: Fiber<T, R>) -> Branch<R, Member<T, I>> {
        let mut values = self.values.lock();
        let member = Member { shared: self.clone(), place: values.len() };
        values.push(None);
        drop(values);
        Branch::new(&self.scope, fiber.into_run(), member, self.site)
    }

    fn fail(&self, fiber: &Context, failure: Outcome<T>) {
        self.failure.add(fiber, failure);
        self.scope.cancel();
        let mut source = self.source.lock();
        source.is_closed = true;
        let unused = source.fibers.take();
        drop(source);
        if let Some(fibers) = unused {
            self.discard(fibers);
        }
    }

    /// Hands a branch to the scheduler, and to the fiber that began with all if it is still there.
    fn offer(&self, branch: Branch<R, Member<T, I>>) {
        let branch = branch.into_context();
        if let Some(refills) = &mut *self.refills.lock() {
            refills.push(branch.clone());
        }
        self.scope.schedule(Task::start(branch));
    }

    /// Runs those that nobody has started yet, and those that take their places.
    fn run_refills(&self, cx: &Cx<'_>) {
        let next = || self.refills.lock().as_mut().and_then(Vec::pop);
        while let Some(branch) = next() {
            if branch.is_claimed() {
                continue;
            }
            if !cx.spend(|| SwitchPoint::Branch) {
                return;
            }
            branch.start(cx.turn());
        }
    }

    /// From now on the refills are the scheduler's alone.
    fn leave_refills(&self) {
        let left = self.refills.lock().take();
        drop(left);
    }
}

/// Where one of them leaves its value.
struct Member<T, I> {
    shared: Arc<Shared<T, I>>,
    place: usize,
}

impl<T, R, I> Sink<T> for Member<T, I>
where
    T: Send + 'static,
    R: Run<Out = T>,
    I: Iterator<Item = Fiber<T, R>> + Send + 'static,
{
    fn deliver(&self, fiber: &Context, outcome: Outcome<T>) {
        match outcome {
            Outcome::Success(value) => {
                self.shared.values.lock()[self.place] = Some(value);
                self.shared.fill(1, |branch| self.shared.offer(branch));
            }
            failure => self.shared.fail(fiber, failure),
        }
    }
}

/// Puts the values together.
pub struct All<T, I>(Arc<Shared<T, I>>);

impl<T: Send + 'static, I: Send + 'static> Conclusion for All<T, I> {
    type Out = Vec<T>;

    fn conclude(self, cx: &Cx<'_>) -> Outcome<Vec<T>> {
        let values = std::mem::take(&mut *self.0.values.lock());
        if let Err(failure) = self.0.failure.take::<Vec<T>>() {
            let without = |outcome: Outcome<_>, value| outcome.without(value, cx.context());
            return values.into_iter().fold(failure, without).passed(Frame::new("parallel", self.0.site));
        }
        // Without a failure all that were started have succeeded.
        Outcome::Success(values.into_iter().map(|value| value.expect("a value")).collect())
    }
}

impl<T, I> fmt::Debug for All<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.scope.fmt(f)
    }
}

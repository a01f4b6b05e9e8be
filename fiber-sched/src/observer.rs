//! [`Observer`]: shows a program the events and turns of its fibers, for logs, traces and statistics.

use std::any::Any;
#[cfg(feature = "inspector")]
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use fiber_core::Context;
#[cfg(feature = "inspector")]
use fiber_core::scheduler::TaskKind;
use fiber_core::scheduler::{Event, Task, Unobserved};

use crate::contain::contain;
use crate::pool::Stuck;
use crate::recorder::Recorder;

/// Is called at the events and turns of a scheduler's fibers; see [`Builder::observer`](crate::Builder::observer) and
/// [`AffinityBuilder::observer`](crate::AffinityBuilder::observer). The default methods observe nothing.
///
/// A scheduler with an observer calls it at every event and around every turn, on the thread where it happens. A scheduler
/// without one pays nothing. A panic of an observer is ignored.
///
/// The events of a fiber begin with [`Created`](Event::Created) and end with [`Ended`](Event::Ended), each of which comes once.
/// Threads are not made to wait for each other, so one that cancels the fiber at its end may tell of that after `Ended`, two that
/// cancel it may both tell of it, and a turn may come that does nothing any more. So an observer that keeps something for each
/// fiber begins at `Created`, and ignores fibers that it does not know. The root of a scheduler has no `Created`: it is told of
/// when everything is cancelled, and awaited.
///
/// What a fiber does in the call of [`Pool::run`](crate::Pool::run) before it first waits is not observed, nor is a fiber that ends
/// before that: it runs on the caller's stack, and has no context that an event could name. [`Pool::spawn`](crate::Pool::spawn) always
/// makes one.
///
/// ```
/// use fiber_core::scheduler::{Ending, Event};
/// use fiber_core::{Context, Fiber};
/// use fiber_sched::{Observer, Pool, block_on};
/// use std::sync::mpsc;
///
/// struct Ends(mpsc::Sender<String>);
///
/// impl Observer for Ends {
///     fn event(&self, fiber: &Context, event: Event<'_>) {
///         if let Event::Outcome(Ending::Success) = event {
///             let _ = self.0.send(format!("{} has succeeded", fiber.name().unwrap_or("unnamed")));
///         }
///     }
/// }
///
/// let (sender, ends) = mpsc::channel();
/// let pool = Pool::builder().workers(1).observer(Ends(sender)).build();
/// block_on(pool.spawn(Fiber::success(()).named("greeting"))).unwrap();
/// assert_eq!(ends.recv().unwrap(), "greeting has succeeded");
/// ```
pub trait Observer: Any + Send + Sync {
    /// An event of a fiber.
    fn event(&self, fiber: &Context, event: Event<'_>) {
        let _ = (fiber, event);
    }

    /// Surrounds a turn of a fiber, including everything that the turn runs in place, or a blocking call. Must call `turn` once.
    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        let _ = fiber;
        turn();
    }

    /// A fiber failed or panicked, and no handle can take its outcome any more.
    fn unobserved(&self, failure: &Unobserved) {
        let _ = failure;
    }

    /// A worker of a [`Pool`](crate::Pool) is stuck.
    fn stuck(&self, stuck: &Stuck) {
        let _ = stuck;
    }
}

/// Lets the program keep a clone of its observer, and read it.
impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        (**self).event(fiber, event);
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        (**self).turn(fiber, turn);
    }

    fn unobserved(&self, failure: &Unobserved) {
        (**self).unobserved(failure);
    }

    fn stuck(&self, stuck: &Stuck) {
        (**self).stuck(stuck);
    }
}

/// The observers of a scheduler, and the recorder of its turns.
#[derive(Clone)]
pub(crate) struct Observers {
    all: Arc<[Arc<dyn Observer>]>,
    recorder: Option<Arc<Recorder>>,
    /// There are neither observers nor a recorder.
    is_empty: bool,
}

impl Default for Observers {
    fn default() -> Self {
        Observers { all: Arc::default(), recorder: None, is_empty: true }
    }
}

impl Observers {
    pub(crate) fn with(&self, observer: impl Observer) -> Self {
        let one: Arc<dyn Observer> = Arc::new(observer);
        let all = self.all.iter().cloned().chain([one]).collect();
        Observers { all, recorder: self.recorder.clone(), is_empty: false }
    }

    pub(crate) fn with_recorder(self, recorder: Recorder) -> Self {
        Observers { recorder: Some(Arc::new(recorder)), is_empty: false, ..self }
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    /// The first observer of this type, of which the program may keep a clone.
    #[cfg(feature = "inspector")]
    pub(crate) fn find<O: Observer>(&self) -> Option<&O> {
        self.all.iter().find_map(|observer| found(&**observer))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether turns are observed or recorded.
    pub(crate) fn surround_turns(&self) -> bool {
        !self.is_empty
    }

    pub(crate) fn event(&self, fiber: &Context, event: Event<'_>) {
        self.all.iter().for_each(|observer| contain(|| observer.event(fiber, event)));
    }

    pub(crate) fn unobserved(&self, failure: &Unobserved) {
        self.all.iter().for_each(|observer| contain(|| observer.unobserved(failure)));
    }

    pub(crate) fn stuck(&self, stuck: &Stuck) {
        self.all.iter().for_each(|observer| contain(|| observer.stuck(stuck)));
    }

    /// Runs a task.
    #[inline]
    pub(crate) fn run(&self, task: Task, run: impl FnOnce(Task)) {
        if self.is_empty { run(task) } else { self.surround(task, run) }
    }

    #[cold]
    fn surround(&self, task: Task, run: impl FnOnce(Task)) {
        self.recorder.iter().for_each(|recorder| recorder.begins(&task));
        #[cfg(feature = "inspector")]
        IS_BLOCKING_CALL.set(task.kind() == TaskKind::Blocking);
        let fiber = task.context().filter(|_| !task.is_void()).cloned();
        let mut rest = Some(|| run(task));
        let mut turn = || rest.take().into_iter().for_each(|run| run());
        if let Some(fiber) = fiber {
            nest(&self.all, &fiber, &mut turn);
        }
        turn();
    }
}

#[cfg(feature = "inspector")]
thread_local! {
    /// Whether the turn that has begun last on this thread is a blocking call.
    static IS_BLOCKING_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Whether the turn that an observer is told of is a blocking call. The fiber does not tell: in the turn that follows the call, it still has
/// to learn that its wait is over.
#[cfg(feature = "inspector")]
pub(crate) fn is_blocking_call() -> bool {
    IS_BLOCKING_CALL.get()
}

#[cfg(feature = "inspector")]
fn found<O: Observer>(observer: &dyn Observer) -> Option<&O> {
    let any: &dyn Any = observer;
    let shared = || any.downcast_ref::<Arc<O>>().map(|shared| &**shared);
    let erased = || any.downcast_ref::<Arc<dyn Observer>>().and_then(|shared| found(&**shared));
    any.downcast_ref().or_else(shared).or_else(erased)
}

/// The first observer is the outermost. A panic of one reaches none of the others, which do something after the turn.
fn nest(observers: &[Arc<dyn Observer>], fiber: &Context, turn: &mut dyn FnMut()) {
    if let [first, rest @ ..] = observers {
        contain(|| first.turn(fiber, &mut || nest(rest, fiber, turn)));
    }
    // If an observer has not called the turn, or has panicked before the call, it runs here.
    turn();
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observers").field(&self.all.len()).finish()
    }
}

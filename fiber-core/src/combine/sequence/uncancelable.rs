use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::setting::{Setting, room_within, run_within};
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Makes a region that no cancellation of the fiber interrupts. The first operation after the region notices the
    /// cancellation.
    ///
    /// See the function [`uncancelable`](crate::uncancelable) for a region with parts that can be interrupted.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let saved = Fiber::delay(Duration::from_secs(2)).map(|()| "saved").uncancelable();
    /// let handle = test.spawn(saved);
    /// test.run_for(Duration::from_secs(1));
    /// handle.cancel_now();
    /// test.run_until_idle();
    /// assert_eq!(handle.outcome().unwrap(), "saved");
    /// ```
    ///
    /// # Cancellation
    /// A cancellation of the fiber does not wake waits inside the region, and does not reach branches of `race`, `zip`,
    /// `parallel` and `timeout` there. A race inside still cancels its loser. Forks do not inherit the region: the
    /// cancellation reaches them.
    #[doc(alias = "uninterruptible")]
    #[inline]
    pub fn uncancelable(self) -> Fiber<T, Uncancelable<R>> {
        Fiber::new(Uncancelable(self.into_run()))
    }
}

/// Makes an uncancelable region in which [`Restore::apply`] marks parts that can be interrupted.
///
/// Use it to take a value and then wait, without a moment at which a cancellation could lose the value:
///
/// ```
/// use fiber_core::{Fiber, uncancelable};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let region = uncancelable(move |restore| {
///     let take = Fiber::delay(second);
///     let give_back = Fiber::delay(second);
///     take.bind(move |()| restore.apply(Fiber::delay(60 * second)).ensure(give_back))
/// });
/// let test = TestScheduler::new();
/// let handle = test.spawn(region);
/// test.run_for(second / 2);
/// handle.cancel_now();
/// test.run_until_idle();
/// assert!(handle.outcome().is_cancelled());
/// // It was taken and given back; the minute of use was cut short.
/// assert_eq!(test.now().as_nanos(), 2_000_000_000);
/// ```
///
/// # Panics
/// A panic of `f` becomes the fiber's outcome.
#[track_caller]
pub fn uncancelable<T, R, F>(f: F) -> Fiber<T, Masked<F>>
where
    R: Run<Out = T>,
    F: FnOnce(Restore) -> Fiber<T, R> + Send + 'static,
{
    Fiber::new(Masked { f, site: Location::caller() })
}

/// Makes parts of an [`uncancelable`] region interruptible again, to the extent that they were before the region.
///
/// It has no effect in other fibers or after the region, nor in a branch, under a timeout or in a scope that begins in the region: the
/// cancellation does not reach those. Apply it around them. A finalizer in the region to which it is applied can be interrupted, too.
#[derive(Clone, Debug)]
pub struct Restore(Arc<Region>);

/// A region, as its fiber began it.
#[derive(Debug)]
struct Region {
    fiber: Context,
    /// The number of regions around it.
    masks: u32,
    is_over: AtomicBool,
}

impl Restore {
    /// Makes `fiber` a part of the region that can be interrupted.
    pub fn apply<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Fiber<T, Restored<R>> {
        Fiber::new(Restored { run: fiber.into_run(), restore: self.clone() })
    }
}

/// The description of [`Fiber::uncancelable`].
#[derive(Clone, Debug)]
pub struct Uncancelable<R>(pub(crate) R);

impl<R: Run> Run for Uncancelable<R> {
    type Out = R::Out;
    const ROOM: usize = room_within::<R, Masks>();

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let before = Masks(cx.mask());
        run_within(cx, self.0, before)
    }

    fn is_program(&self) -> bool {
        self.0.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }
}

/// The description of [`uncancelable`].
#[derive(Clone, Debug)]
pub struct Masked<F> {
    f: F,
    site: Site,
}

impl<R, F> Run for Masked<F>
where
    R: Run,
    F: FnOnce(Restore) -> Fiber<R::Out, R> + Send + 'static,
{
    type Out = R::Out;
    const ROOM: usize = room_within::<R, Around>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let before = cx.masks();
        let region = Region { fiber: cx.context().clone(), masks: before, is_over: AtomicBool::new(false) };
        let region = Arc::new(region);
        let restore = Restore(region.clone());
        match guard(|| (self.f)(restore)) {
            Ok(fiber) => {
                let masks = Masks(cx.mask());
                run_within(cx, fiber.into_run(), Around { masks, region })
            }
            Err(panic) => {
                let frame = Frame::new("uncancelable", self.site);
                Step::Done(Outcome::Panicked(panic).passed(frame))
            }
        }
    }
}

/// The description of [`Restore::apply`].
#[derive(Clone, Debug)]
pub struct Restored<R> {
    run: R,
    restore: Restore,
}

impl<R: Run> Run for Restored<R> {
    type Out = R::Out;
    const ROOM: usize = room_within::<R, Masks>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let region = &*self.restore.0;
        let is_here = !region.is_over.load(Ordering::Relaxed)
            && cx.own_node().is_some_and(|context| context.continues(&region.fiber));
        let masks = cx.masks();
        // Never more masks than now: a part that is restored may restore itself.
        run_with_masks(cx, self.run, if is_here { masks.min(region.masks) } else { masks })
    }

    fn is_program(&self) -> bool {
        self.run.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// A part of a region that can be interrupted, as far as it could be before the innermost region.
#[derive(Clone, Debug)]
pub(crate) struct Interruptible<R>(pub(crate) R);

impl<R: Run> Run for Interruptible<R> {
    type Out = R::Out;
    const ROOM: usize = room_within::<R, Masks>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        run_with_masks(cx, self.0, cx.masks().saturating_sub(1))
    }

    fn is_program(&self) -> bool {
        self.0.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }
}

/// Runs `run` with this many masks on its fiber, then restores the previous number.
#[inline]
fn run_with_masks<'s, R: Run>(cx: &'s Cx<'_>, run: R, masks: u32) -> Step<'s, R::Out> {
    let before = Masks(cx.set_masks(masks));
    run_within(cx, run, before)
}

/// The number of regions that the fiber is in.
#[derive(Debug)]
pub(crate) struct Masks(u32);

impl Setting for Masks {
    #[inline]
    fn put_back<T>(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T> {
        self.restore(cx, outcome.is_cancelled());
        outcome
    }
}

impl Masks {
    // Not inlined, so that the code of each region is short.
    #[inline(never)]
    fn restore(self, cx: &Cx<'_>, is_cancelled: bool) {
        // What awaits this in the region is told why it is cancelled.
        if is_cancelled
            && cx.is_interrupted()
            && let Some(fiber) = cx.own_node()
        {
            fiber.set_cut_short(true);
        }
        cx.set_masks(self.0);
    }
}

/// The end of a region whose parts can be restored.
struct Around {
    masks: Masks,
    region: Arc<Region>,
}

impl Setting for Around {
    fn put_back<T>(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T> {
        // Relaxed: only the fiber itself restores its parts.
        self.region.is_over.store(true, Ordering::Relaxed);
        self.masks.put_back(cx, outcome)
    }
}

//! Direct fibers: ordinary code that waits in the middle of any function it calls.
//!
//! * [`on_stack`]: on a stack of its own, on the thread where it starts. All unsafe code of direct fibers is there.
//! * [`on_thread`]: on a thread of its own, where there is no such stack.
//!
//! A wait runs its fiber right there, in the context of the direct fiber, as the wait of a block does. If the fiber has to wait,
//! it pushes its frames; the stack is left, and the driver pushes one more frame, which leads back:
//!
//! ```text
//!   driver (stack of the worker)          function (stack of its own)         wait
//!   resume -----------------------------> .. d.wait(fiber) .. --------------> fiber.run(cx)
//!                                                                               Done:    the function goes on
//!          <------------------------------ suspend ------------------------- Wait:    the frames of the fiber are pushed
//!   park -> tie;  push [ tie | slot ]
//!   ...
//!   [ tie | slot ]: to the thread of the stack; the outcome goes into the slot; resume
//! ```

mod on_stack;
mod on_thread;

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, resume_unwind};

use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Cancelled, Error, Frame, Site};
use crate::fiber::{Fiber, IntoFiber};
use crate::footprint::touch_unknown;
use crate::outcome::Outcome;
use crate::panic::Panic;

impl<T: Send + 'static> Fiber<T> {
    /// Calls `f`, an ordinary function that may [wait](Direct::wait) for fibers: in the middle of any function that it calls, of a
    /// recursion, or of a callback. Whatever it holds meanwhile may be borrowed, and need not be `Send`: the function never changes
    /// its thread.
    ///
    /// [`fiber!`](crate::fiber!) is nearly always the better choice: it needs no stack. See `docs/direct.md` for when it is not.
    ///
    /// ```
    /// use fiber_core::{Direct, Error, Fiber};
    /// use std::time::Duration;
    ///
    /// struct Tree { value: u64, below: Vec<Tree> }
    ///
    /// fn price(value: u64) -> Fiber<u64> {
    ///     Fiber::delay(Duration::from_millis(1)).map(move |()| 10 * value).boxed()
    /// }
    ///
    /// /// Recursive, and waits at each step, with a borrow.
    /// fn total(d: &Direct<'_>, tree: &Tree) -> Result<u64, Error> {
    ///     let mut sum = d.wait(price(tree.value))?;
    ///     for below in &tree.below {
    ///         sum += total(d, below)?;
    ///     }
    ///     Ok(sum)
    /// }
    ///
    /// let leaf = |value| Tree { value, below: Vec::new() };
    /// let fiber = Fiber::direct(move |d| total(d, &Tree { value: 1, below: vec![leaf(2), leaf(3)] }));
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 60);
    /// ```
    ///
    /// It runs on a stack of its own, with a guard page, which the scheduler has a limited number of ([`StackSupply`]), and stays
    /// on the worker where it starts. Without a stack, it runs on a [dedicated](Fiber::dedicated) thread, with the same meaning:
    /// when none is left, on a platform that has none, and on a scheduler without threads of its own, such as `CurrentThread` and
    /// `TokioScheduler`. A scheduler of `fiber-test` has no other threads: without a stack, which it has with the feature `direct` of that
    /// crate, a wait panics there.
    ///
    /// # Errors
    /// The error of `f`. That of a cancelled wait counts as a cancellation, if the fiber was cancelled.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. A function that overflows its stack aborts the process, with a message.
    ///
    /// # Cancellation
    /// Each wait fails with [`Cancelled`], as soon as the fiber is cancelled. `f` goes on from there, so it should pass the error on:
    /// a function that does not wait is not interrupted. If `f` gives a value all the same, that is the value of the fiber.
    ///
    /// The function of a fiber that is thrown away, because its scheduler ends without waiting for it, is unwound out of its wait. If
    /// it catches that, it should end; [`is_cancelled`](Direct::is_cancelled) says so. Its next wait unwinds it once more. If it
    /// catches that as well, another wait never returns, and what is on its stack is leaked.
    ///
    /// [`StackSupply`]: crate::StackSupply
    #[track_caller]
    pub fn direct<F>(f: F) -> Fiber<T, DirectRun<F>>
    where
        F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
    {
        Fiber::new(DirectRun { f, site: Location::caller() })
    }
}

/// What a function of [`Fiber::direct`] waits with. It stays in the function:
///
/// ```compile_fail,E0277
/// use fiber_core::{Fiber, compute};
///
/// // The closures of a join may run on other threads.
/// let both = Fiber::direct(|d| Ok(compute::join(|| d.wait(Fiber::success(1)), || d.wait(Fiber::success(2)))));
/// ```
pub struct Direct<'a> {
    way: Way<'a>,
    /// Whether a wait was cancelled with the fiber: also in a part of an uncancelable region that can be interrupted.
    is_cut_short: Cell<bool>,
}

/// Where the function runs. Neither can be used on another thread.
enum Way<'a> {
    Stack(on_stack::Port<'a>),
    Thread(on_thread::Line),
}

impl<'a> Direct<'a> {
    fn new(way: Way<'a>) -> Self {
        Direct { way, is_cut_short: Cell::new(false) }
    }
}

impl Direct<'_> {
    /// Runs a fiber, as a part of this one, and gives its value. While the fiber waits, the thread runs other fibers.
    ///
    /// The fiber has the locals, the deadline and the place of this one. It is a scheduling point: it may yield to other
    /// fibers first, as a bind does.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let fiber = Fiber::direct(|d| {
    ///     let one = d.wait(Fiber::success(1))?;
    ///     let other = d.wait(Fiber::success(2).fork())?;
    ///     let failed = d.wait(Fiber::<u8>::fail("no")).is_err();
    ///     Ok((one + d.wait(other)?, failed))
    /// });
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), (3, true));
    /// ```
    ///
    /// # Errors
    /// The failure of the fiber; [`Cancelled`] if it was cancelled, as it is when this one was. In a drop while a panic unwinds the
    /// stack nothing can wait: then the fiber is not started.
    ///
    /// # Panics
    /// With the panic of the fiber. If the fiber has to wait in the closure of a call that borrows the thread, such as `join`, or
    /// `Pool::scope` of another pool. In code of a fiber that this function waits for, which may find its `Direct` in a
    /// thread-local.
    ///
    /// # Cancellation
    /// As if the fiber were bound: an operation that starts in a cancelled fiber fails at once, and one that waits is woken. For an
    /// end that has to wait all the same, see [`uncancelable`](Fiber::uncancelable).
    #[track_caller]
    pub fn wait<I: IntoFiber>(&self, fiber: I) -> Result<I::Out, Error> {
        let frame = Frame::new("wait", Location::caller());
        let run = fiber.into_fiber().into_run();
        let outcome = match &self.way {
            _ if std::thread::panicking() => Outcome::Failure(Error::msg("a wait while the stack unwinds")),
            Way::Stack(port) => port.wait(run, frame),
            Way::Thread(line) => line.wait(run, frame),
        };
        match outcome.passed(frame) {
            Outcome::Success(value) => Ok(value),
            Outcome::Failure(error) => Err(error),
            Outcome::Panicked(panic) => resume_unwind(Box::new(panic)),
            Outcome::Cancelled => {
                let was_cancelled = match &self.way {
                    Way::Stack(port) => port.was_cancelled(),
                    Way::Thread(line) => line.was_cancelled(),
                };
                self.is_cut_short.set(self.is_cut_short.get() || was_cancelled);
                Err(Error::new(Cancelled))
            }
        }
    }

    /// Whether this fiber has to end, for a function that computes for long between its waits.
    ///
    /// ```
    /// use fiber_core::{Context, Fiber};
    ///
    /// let fiber = Fiber::direct(|d| {
    ///     assert!(!d.is_cancelled());
    ///     Context::current().expect("it runs in a fiber").cancel();
    ///     Ok(d.is_cancelled())
    /// });
    /// assert!(fiber_sched::Pool::new().run(fiber.fork().bind(|handle| handle.join())).unwrap());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        match &self.way {
            Way::Stack(port) => port.is_interrupted(),
            Way::Thread(line) => line.is_interrupted(),
        }
    }
}

/// The end of a function that was thrown away: its waits unwind it. One that goes on catching that is left in its wait.
#[derive(Default)]
struct ThrownAway {
    unwound: Cell<u32>,
}

/// So many waits of a function unwind it: a clean-up that waits, after the first panic was caught, is ended as well.
const MOST_UNWOUND: u32 = 2;

impl ThrownAway {
    /// Unwinds the function. Returns if it has caught that too often.
    fn unwind(&self) {
        let unwound = self.unwound.get();
        if unwound < MOST_UNWOUND {
            self.unwound.set(unwound + 1);
            resume_unwind(Box::new("the direct fiber was thrown away"));
        }
    }
}

impl fmt::Debug for Direct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Direct").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// The description of [`Fiber::direct`].
#[derive(Clone, Debug)]
pub struct DirectRun<F> {
    f: F,
    site: Site,
}

impl<T, F> Run for DirectRun<F>
where
    T: Send + 'static,
    F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
{
    type Out = T;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        touch_unknown("direct fibers");
        match cx.stacks().map(|stacks| stacks.take()) {
            Some(Some((home, stack))) => on_stack::run(self, home, stack, cx),
            None if cx.are_there_stacks() => self.boxed().run_later(cx),
            Some(None) | None => on_thread::run(self, cx),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        crate::panic::discard_part(self.f, torn);
    }
}

impl<F> DirectRun<F> {
    /// Calls the function. Does not unwind.
    fn call<T>(self, direct: &Direct<'_>) -> Outcome<T>
    where
        F: FnOnce(&Direct<'_>) -> Result<T, Error>,
    {
        let frame = Frame::new("direct", self.site);
        match crate::panic::guard(|| (self.f)(direct)) {
            Ok(Ok(value)) => Outcome::Success(value),
            Ok(Err(error))
                if error.is::<Cancelled>() && (direct.is_cut_short.get() || direct.is_cancelled()) =>
            {
                Outcome::Cancelled
            }
            Ok(Err(error)) => Outcome::Failure(error).passed(frame),
            Err(panic) => Outcome::Panicked(panic).passed(frame),
        }
    }
}

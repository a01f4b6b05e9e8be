//! The suspended direct fibers of a thread, and the handles by which other threads resume them.
//!
//! Values on a stack may belong to their thread: thread-locals, and values that are not `Send`. So only the thread that
//! owns a stack resumes or drops it. Other threads hold a [`Tie`] to a suspended fiber: the fiber's place, and a
//! reference to its thread.
//!
//! ```text
//!   thread of the fiber                              any other thread
//!   Stacks ── Home: [ parked: 3 -> coroutine, rest of the program ] <── Tie { 3 }, in the frame after a wait
//!                     ^                                                  │ resumed: a task, for that thread
//!                     └──── the task takes 3 out, and resumes it ───────┘ dropped: 3 is abandoned there
//! ```

mod bound;
mod places;
mod supply;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::take;
use std::sync::Arc;

use fiber_stack::Stack;
use parking_lot::Mutex;

use self::bound::Bound;
use self::places::Places;
pub use self::supply::StackSupply;
use crate::drop_queue::with_own_queue;
use crate::engine::context::{Context, Cx};
use crate::engine::frames::{self, Frames};
use crate::engine::task::{Errand, Task};
use crate::panic::catch_panic;

/// The stacks of one thread of a scheduler, for the direct fibers on it; see [`Worker::stacks`](crate::scheduler::Worker::stacks).
///
/// Dropping it abandons the direct fibers that are suspended on the thread: their stacks are unwound, and they end as
/// [`Abandoned`](crate::error::Abandoned).
///
/// ```
/// use fiber_core::scheduler::{Scheduler, Stacks, Task, Worker};
/// use fiber_core::{Context, Fiber, StackSupply};
/// # use fiber_core::scheduler::TimerKey;
/// # use fiber_core::Instant;
/// # use std::time::SystemTime;
/// # struct Queue(mpsc::Sender<Task>);
/// # impl Scheduler for Queue {
/// #     fn schedule(&self, task: Task) { self.0.send(task).ok(); }
/// #     fn schedule_at(&self, _: Instant, task: Task) -> TimerKey { self.schedule(task); TimerKey::new(0) }
/// #     fn cancel_timer(&self, _: TimerKey) -> bool { false }
/// #     fn now(&self) -> Instant { Instant::EPOCH }
/// #     fn utc_now(&self) -> SystemTime { SystemTime::UNIX_EPOCH }
/// #     fn random_u64(&self) -> u64 { 4 }
/// #     fn schedule_blocking(&self, task: Task) { self.schedule(task); }
/// # }
/// use std::sync::{Arc, mpsc};
///
/// /// A thread that runs the tasks of one queue.
/// struct Thread(Stacks);
///
/// impl Worker for Thread {
///     fn stacks(&self, _: &dyn Scheduler) -> Option<&Stacks> {
///         Some(&self.0)
///     }
/// }
///
/// let (sender, tasks) = mpsc::channel();
/// let root = Context::root(Arc::new(Queue(sender.clone())));
/// let to_here = move |task| _ = sender.send(task);
/// let thread = Thread(Stacks::new(StackSupply::default(), to_here));
/// let handle = root.spawn(Fiber::direct(|d| Ok(d.wait(Fiber::yield_now().map(|()| 6))? * 7)));
/// while let Ok(task) = tasks.try_recv() {
///     task.run_on(&thread);
/// }
/// assert_eq!(handle.try_outcome().unwrap().unwrap(), 42);
/// root.cancel();
/// ```
pub struct Stacks {
    home: Arc<Home>,
    /// The fiber ends on the thread where it started.
    here: PhantomData<*const ()>,
}

/// A thread, as its suspended fibers refer to it.
pub(crate) struct Home {
    submit: Box<dyn Fn(Task) + Send + Sync>,
    supply: StackSupply,
    here: Bound<Here>,
    /// What other threads have left here to be dropped. `None`: the thread has ended.
    left: Mutex<Option<Vec<Frames>>>,
}

#[derive(Default)]
struct Here {
    parked: RefCell<Places<Box<dyn Parked>>>,
    has_ended: Cell<bool>,
}

/// A suspended direct fiber. Dropping it abandons the fiber.
pub(crate) trait Parked: Any {
    /// Resumes the fiber, in a turn on its own thread.
    fn go_on(self: Box<Self>, home: Arc<Home>, cx: &Cx<'_>) -> frames::Left;
    /// Unwinds the stack, and returns it to the supply.
    fn unwind(&mut self, home: &Home);
    /// The fiber waits in another context, if it did in `from`.
    fn move_to(&mut self, from: &Context, to: &Context);
    /// Abandons the fiber, which waits.
    fn abandon(self: Box<Self>);
}

impl Stacks {
    /// Makes the stacks of the current thread. `submit`, which any thread may call, passes a task to the current thread.
    pub fn new(supply: StackSupply, submit: impl Fn(Task) + Send + Sync + 'static) -> Self {
        let home = Home {
            submit: Box::new(submit),
            supply,
            here: Bound::new(Here::default()),
            left: Mutex::new(Some(Vec::new())),
        };
        Stacks { home: Arc::new(home), here: PhantomData }
    }

    /// A stack, and the thread that owns it.
    pub(crate) fn take(&self) -> Option<(Arc<Home>, Stack)> {
        let is_open = self.home.here.get().is_some_and(|here| !here.has_ended.get());
        let stack = is_open.then(|| self.home.supply.take()).flatten()?;
        Some((self.home.clone(), stack))
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        let Some(here) = self.home.here.get() else { return };
        here.has_ended.set(true);
        let all = here.parked.take();
        for mut parked in all.into_values() {
            with_own_queue(|| {
                catch_panic(|| parked.unwind(&self.home));
                catch_panic(|| parked.abandon());
            });
        }
        // Last: a fiber that another thread abandons meanwhile ends here, after its function was unwound.
        let left = self.home.left.lock().take();
        left.into_iter().flatten().for_each(Frames::discard_here);
    }
}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parked = self.home.here.get().map_or(0, |here| here.parked.borrow().count());
        f.debug_struct("Stacks").field("suspended", &parked).field("supply", &self.home.supply).finish()
    }
}

impl Here {
    fn take(&self, place: usize) -> Option<Box<dyn Parked>> {
        self.parked.borrow_mut().take(place)
    }
}

impl Home {
    /// Stores a fiber until its tie is used. Called on the fiber's thread.
    pub(crate) fn park(self: Arc<Self>, parked: Box<dyn Parked>) -> Tie {
        let here = self.here.get().expect("a fiber suspends on its own thread");
        let place = here.parked.borrow_mut().add(parked);
        Tie(Some((self, place)))
    }

    /// Runs a task on this thread.
    pub(crate) fn submit(&self, task: Task) {
        catch_panic(|| (self.submit)(task));
    }

    /// Drops the frames of a fiber that was abandoned on another thread: first its function is unwound here, then it ends.
    pub(crate) fn leave(self: Arc<Self>, frames: Frames) {
        let mut left = self.left.lock();
        match &mut *left {
            Some(left) => left.push(frames),
            None => {
                drop(left);
                return frames.discard_here();
            }
        }
        drop(left);
        let home = self.clone();
        self.submit(Task::errand(None, Arc::new(Left(home))));
    }

    /// Called when a fiber has left its stack.
    pub(crate) fn give_back(&self, stack: Stack) {
        self.supply.give(stack);
    }

    /// Abandons a fiber that was parked on this thread.
    fn drop_here(&self, mut parked: Box<dyn Parked>) {
        with_own_queue(|| {
            catch_panic(|| parked.unwind(self));
            catch_panic(|| drop(parked));
        });
    }

    fn throw_away(self: Arc<Self>, place: usize) {
        match self.here.get() {
            Some(here) => here.take(place).into_iter().for_each(|parked| self.drop_here(parked)),
            None => {
                let home = self.clone();
                home.submit(Task::errand(None, Arc::new(ThrownAway { home: self, place })));
            }
        }
    }
}

/// The right to resume a suspended fiber. If it is dropped, the fiber is abandoned.
pub(crate) struct Tie(Option<(Arc<Home>, usize)>);

impl Tie {
    /// The thread of the fiber.
    pub(crate) fn home(&self) -> &Arc<Home> {
        &self.0.as_ref().expect("a tie is used once").0
    }

    /// Whether this is the thread of the fiber.
    pub(crate) fn is_here(&self) -> bool {
        self.home().here.get().is_some()
    }

    /// The fiber, on its thread. `None` if the thread has already abandoned it.
    pub(crate) fn untie(mut self) -> Option<(Box<dyn Parked>, Arc<Home>)> {
        let (home, place) = self.0.take().expect("a tie is used once");
        let parked = home.here.get()?.take(place)?;
        Some((parked, home))
    }

    /// The fiber waits in another context, if it did in `from`. Called on its thread.
    pub(crate) fn move_to(&self, from: &Context, to: &Context) {
        let Some((home, place)) = &self.0 else { return };
        if let Some(here) = home.here.get()
            && let Some(parked) = here.parked.borrow_mut().get_mut(*place)
        {
            parked.move_to(from, to);
        }
    }
}

impl Drop for Tie {
    fn drop(&mut self) {
        if let Some((home, place)) = self.0.take() {
            home.throw_away(place);
        }
    }
}

/// Drops what other threads have left. If the task is dropped, the end of the thread does that.
struct Left(Arc<Home>);

impl Errand for Left {
    fn carry_out(&self, _: Option<&Context>) {
        let left = self.0.left.lock().as_mut().map(take);
        left.into_iter().flatten().for_each(Frames::discard_here);
    }
}

/// Abandons a fiber on its thread. If the task is dropped, the end of the thread abandons the fiber.
struct ThrownAway {
    home: Arc<Home>,
    place: usize,
}

impl Errand for ThrownAway {
    fn carry_out(&self, _: Option<&Context>) {
        let parked = self.home.here.get().and_then(|here| here.take(self.place));
        parked.into_iter().for_each(|parked| self.home.drop_here(parked));
    }
}

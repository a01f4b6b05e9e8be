//! Hedges: further attempts beside a slow one.
//!
//! A hedge is a limit whose timer starts the next attempt, instead of cancelling. The fiber runs the attempts itself, one after the
//! other, until one of them has to wait:
//!
//! ```text
//!   alone:    an attempt runs in place ── ends ──> it decides, or the next one runs
//!                      | waits: it becomes the first side of a race
//!                      v
//!   beside:   the fiber waits until the next attempt is due, by the timer or a failure ──> starts it, and waits again
//!                      | decided, or no attempt is left
//!                      v
//!             waits for the sides to end
//! ```
//!
//! So nothing is made for an attempt before it starts. The fiber that waits for the timer is no side of the race: a timer takes nothing.
//! It waits in the group, and for the last attempt there, as the fibers of other operators with branches do.

use std::fmt;
use std::marker::PhantomData;
use std::mem::take;
use std::panic::Location;
use std::time::Duration;

use super::first_success::Successes;
use super::gather::{Arrived, Gather};
use crate::cell::Signal;
use crate::combine::fork::branch::{Branch, Ran};
use crate::combine::fork::sink::Sink;
use crate::combine::region::end::{Inside, Last, RegionEnd};
use crate::combine::region::group::{self, Childless};
use crate::engine::context::{Context, Cx, NodeGuard, Part, WaitsFor, Wakeup};
use crate::engine::frames::{Begun, Frame as FrameOf, Left, Visit, Waits, frame_size};
use crate::engine::scheduler::TimerKey;
use crate::engine::side::Awaited;
use crate::engine::step::{Run, Step, room_with};
use crate::engine::suppress::{HasContext, discard, forget};
use crate::engine::task::Task;
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{Panic, catch_panic, discard_part, guard};
use crate::policy::Condition;

impl<T: Send + 'static> Fiber<T> {
    /// Runs further attempts beside a slow one, until one succeeds and wins. The others are then cancelled, and awaited. Use
    /// it against the slow tail of a service whose requests may be repeated.
    ///
    /// `make` is called for each attempt when it starts: for the first one at once, for each further one, up to `attempts`
    /// in all, one `pause` after the start of the one before, or as soon as an attempt has failed.
    /// [`while_error`](Fiber::while_error) says which failures another attempt cannot help.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let mut slow = [60, 2].into_iter();
    /// let request = Fiber::hedge(second, 2, move || {
    ///     let seconds = slow.next().unwrap();
    ///     Fiber::delay(seconds * second).map(move |()| seconds)
    /// });
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(request).unwrap(), 2);
    /// assert_eq!(test.now().as_nanos(), 3_000_000_000);
    /// ```
    ///
    /// # Errors
    /// If all attempts have failed: the first failure, with all others suppressed into it. An attempt that fails after another
    /// one has won is treated like the loser of a [`race`](Fiber::race).
    ///
    /// # Panics
    /// This function panics if `attempts` is zero. A panic of `make` ends the hedge, and becomes its outcome. After a panic of
    /// an attempt, the next one starts; the panic is treated as in [`first_success`](Fiber::first_success).
    ///
    /// # Cancellation
    /// All attempts are cancelled and awaited. If an attempt has failed before, the hedge fails with its error, also under a timeout whose limit has
    /// passed.
    #[track_caller]
    pub fn hedge<R, F>(pause: Duration, attempts: u32, make: F) -> Fiber<T, Hedge<F>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        assert!(attempts > 0, "a hedge of 0 attempts can never succeed; it has to be at least 1");
        Fiber::new(Hedge { pause, attempts, make, goes_on: None, site: Location::caller() })
    }
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Fiber<R::Out, Hedge<F>> {
    /// Makes a failure final if its error does not satisfy `condition`: the hedge ends with that failure, and the failures
    /// before it are suppressed into it. Attempts that run are cancelled, and awaited.
    ///
    /// The counterparts are [`Policy::while_input`](crate::Policy::while_input) for a retry, and
    /// [`CircuitBreaker::counting`](crate::sync::CircuitBreaker::counting); one function can serve all three.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, sync::CircuitOpen};
    /// use fiber_test::TestScheduler;
    /// use std::{io, time::Duration};
    ///
    /// fn is_transient(error: &Error) -> bool {
    ///     !error.is::<CircuitOpen>() && error.downcast_ref().is_none_or(|error: &io::Error| error.kind() != io::ErrorKind::NotFound)
    /// }
    /// let ask = || Fiber::<u32>::fail(io::Error::from(io::ErrorKind::NotFound));
    /// let hedge = Fiber::hedge(Duration::from_millis(50), 3, ask).while_error(is_transient);
    /// let test = TestScheduler::new();
    /// let error = test.run(hedge).failure().unwrap();
    /// assert!(error.is::<io::Error>() && error.suppressed().is_empty(), "there was one attempt");
    /// assert_eq!(test.now().as_nanos(), 0);
    /// ```
    ///
    /// # Panics
    /// A panic of `condition` ends the hedge, and becomes its outcome.
    pub fn while_error(self, condition: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        let hedge = self.into_run();
        Fiber::new(Hedge { goes_on: Some(Condition::new(condition)), ..hedge })
    }
}

/// The description of [`Fiber::hedge`].
#[derive(Clone)]
pub struct Hedge<F> {
    pause: Duration,
    attempts: u32,
    make: F,
    /// `None`: after every failure.
    goes_on: Option<Condition<Error>>,
    site: Site,
}

impl<F> fmt::Debug for Hedge<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hedge at {}", self.site)
    }
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Run for Hedge<F> {
    type Out = R::Out;
    const ROOM: usize = room_with::<Next<R::Out, F>>(frame_size::<Due<R::Out>>());

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        if cx.is_raced() {
            cx.release_race();
        }
        let may_start = cx.spend_on_branch();
        if may_start && cx.branches().is_some() { self.run_alone(cx) } else { self.run_apart(cx, may_start) }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.make, torn);
        discard_part(self.goes_on, torn);
    }
}

const NAME: &str = "hedge";

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Hedge<F> {
    /// Runs attempts in place, until one of them has to wait.
    fn run_alone<'s>(mut self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let site = self.site;
        let mut group = Part::sharing::<Ends<R::Out>>(cx, NAME, Instant::FAR_FUTURE, site);
        group.set_races(true);
        let inside = &cx.within(&group);
        let mut part = Part::for_fibers_in(&group);
        let mut ends = Successes::new(Frame::new(NAME, site));
        let ran = loop {
            let ran = match self.make() {
                Ok(run) => Ran::of::<Attempt, R>(cx, &mut part, run),
                Err(panic) => {
                    ends.decide(Outcome::Panicked(panic));
                    break None;
                }
            };
            let Ran::Ended(outcome) = ran else { break Some(ran) };
            let (outcome, decides) = judge(self.goes_on.as_ref(), outcome, inside.is_cancelled(), cx);
            if decides {
                ends.decide(outcome);
                break None;
            }
            ends.arrive(0, outcome, cx);
            if self.attempts == 0 || inside.is_cancelled() {
                break None;
            }
            if !cx.spend_on_branch() {
                let (group, end) = beside(group.leave_inside(), ends);
                self.start(cx, &group, false);
                return self.wait(cx, group, end);
            }
        };
        match ran {
            None => Step::Done(ends.conclude(cx).without_parts(self, Self::discard, cx)),
            Some(ran) => {
                let (group, end) = beside(group.leave_inside(), ends);
                ran.join(cx, &group, Attempt(self.goes_on.clone()));
                self.wait(cx, group, end)
            }
        }
    }

    /// Runs each attempt as a separate fiber, because the scheduler decides when it runs.
    #[cold]
    fn run_apart<'s>(mut self, cx: &'s Cx<'_>, may_start: bool) -> Step<'s, R::Out> {
        let group = group::open_sharing::<Ends<R::Out>>(cx, NAME, self.site);
        group.set_races(true);
        let (group, end) = beside(group, Successes::new(Frame::new(NAME, self.site)));
        self.start(cx, &group, may_start);
        self.wait(cx, group, end)
    }

    /// Makes an attempt.
    fn make(&mut self) -> Result<R, Panic> {
        self.attempts -= 1;
        guard(|| (self.make)()).map(Fiber::into_run)
    }

    /// Starts an attempt beside the others.
    fn start(&mut self, cx: &Cx<'_>, group: &Context, may_start: bool) {
        let run = match self.make() {
            Ok(run) => run,
            Err(panic) => return arrive::<R::Out>(group, group, Outcome::Panicked(panic), true),
        };
        let attempt = Attempt(self.goes_on.clone());
        if may_start && cx.branches().is_some() {
            let mut part = Part::for_fibers(&cx.enter(group), self.site);
            return Ran::of::<Attempt, R>(cx, &mut part, run).join(cx, group, attempt);
        }
        let (branch, task) = Branch::new(group, run, attempt, self.site);
        if may_start { branch.start(cx.view()) } else { cx.schedule(task) }
    }

    /// Waits in the group until the next attempt is due.
    fn wait<'s>(self, cx: &'s Cx<'_>, group: NodeGuard, end: Conclude<R::Out>) -> Step<'s, R::Out> {
        if self.attempts == 0 {
            self.bury(&group);
            return group::settle(cx, group, end);
        }
        let inside = Context::clone(&group);
        let due = Due::<R::Out>::new(&self);
        let next = Next { hedge: self, place: Inside::new(cx, group), end };
        Step::Wait(cx.wait(due).push_inside(cx, inside, next))
    }

    /// Drops what is left, when no more attempts are made.
    fn bury(self, group: &Context) {
        let mut torn = Vec::new();
        self.discard(&mut torn);
        torn.into_iter().for_each(|panic| arrive::<R::Out>(group, group, Outcome::Panicked(panic), false));
    }
}

/// The attempts share their outcomes from now on.
fn beside<T: Send + 'static>(group: NodeGuard, ends: Successes<T>) -> (NodeGuard, Conclude<T>) {
    Ends::of(&group).0.lock().ends = Some(ends);
    let end = Conclude { group: Some(group.clone()), of: PhantomData };
    (group, end)
}

/// Whether an outcome decides the hedge. The condition may replace it by its panic. It `is_late` if another attempt has decided, or if
/// the hedge was cancelled.
fn judge<T>(
    goes_on: Option<&Condition<Error>>,
    outcome: Outcome<T>,
    is_late: bool,
    fiber: &dyn HasContext,
) -> (Outcome<T>, bool) {
    let decides = match (&outcome, goes_on) {
        (Outcome::Success(_), _) => Ok(true),
        // A success of another attempt still counts, and no attempt follows this one.
        _ if is_late => Ok(false),
        (Outcome::Failure(error), Some(goes_on)) => guard(|| !goes_on.holds(error)),
        _ => Ok(false),
    };
    match decides {
        Ok(decides) => (outcome, decides),
        Err(panic) => (Outcome::Panicked(panic).suppress(outcome, fiber), true),
    }
}

/// What the attempts have come to, in the cell of the group.
struct Ends<T>(Noted<State<T>>);

struct State<T> {
    /// `None` before and after the hedge.
    ends: Option<Successes<T>>,
    /// The number of failures that have not started an attempt yet.
    failures: usize,
    /// Another attempt was started beside the first one that had to wait.
    has_others: bool,
    /// The fiber, while it waits until the next attempt is due.
    waiting: Option<Wakeup>,
    /// An attempt that has decided has ended the work of the group itself, so the last one to end wakes the fiber.
    ended_work: bool,
}

impl<T> Default for Ends<T> {
    fn default() -> Self {
        let state = State { ends: None, failures: 0, has_others: false, waiting: None, ended_work: false };
        Ends(Noted::new(state))
    }
}

impl<T: Send + 'static> Ends<T> {
    fn of(group: &Context) -> &Self {
        group.shared().expect("the group of a hedge")
    }
}

impl<T> State<T> {
    fn is_decided(&self) -> bool {
        self.ends.as_ref().is_none_or(Successes::is_decided)
    }

    /// Another attempt is about to start. `false`: it is not needed.
    fn starts(&mut self, why: Why) -> bool {
        // Each failure starts one attempt.
        self.failures -= usize::from(why == Why::Failure);
        self.has_others = true;
        !self.is_decided()
    }

    /// An attempt has decided, and has not ended. It must end before the fiber of the hedge runs, because what it holds of the races around
    /// passes on to that fiber then.
    fn end_work(&mut self, group: &Context) {
        if self.waiting.is_some() {
            self.ended_work = true;
            let is_last = group.finish_work();
            debug_assert!(!is_last, "the attempt is a child of the group");
        }
    }
}

/// The sink of an attempt that is a fiber.
struct Attempt(Option<Condition<Error>>);

impl<T: Send + 'static> Sink<T> for Attempt {
    type Place = ();
    const RACES: bool = true;

    fn deliver(self, fiber: &Context, outcome: Outcome<T>) {
        // An attempt that has ended in place has no fiber of its own.
        let around = if fiber.is_structure() { None } else { fiber.around() };
        let group = around.unwrap_or(fiber);
        let (outcome, decides) = judge(self.0.as_ref(), outcome, group.is_cancelled(), fiber);
        arrive(group, fiber, outcome, decides);
    }
}

/// Records the outcome of an attempt, or of the closure that makes one.
fn arrive<T: Send + 'static>(group: &Context, fiber: &Context, outcome: Outcome<T>, decides: bool) {
    let mut state = Ends::<T>::of(group).0.lock();
    let Some(ends) = &mut state.ends else {
        drop(state);
        return discard(outcome, group);
    };
    if ends.is_decided() {
        let unused = ends.lose(outcome, fiber);
        drop(state);
        return unused.into_iter().for_each(|outcome| forget(outcome, fiber));
    }
    let arrived = if decides { ends.decide(outcome) } else { ends.arrive(0, outcome, fiber) };
    let has_others = state.has_others;
    let waiting = match arrived {
        Arrived::Kept => {
            state.failures += 1;
            state.waiting.take()
        }
        Arrived::Decided => {
            state.end_work(group);
            None
        }
        Arrived::Unused(_) => None,
    };
    drop(state);
    match arrived {
        Arrived::Kept => waiting.into_iter().for_each(Wakeup::fire),
        Arrived::Decided => {
            group.decide_race();
            // A single attempt that decides leaves nothing to cancel.
            if has_others || fiber.is_same(group) {
                group.cancel();
            }
        }
        Arrived::Unused(outcome) => forget(outcome, fiber),
    }
}

/// Waits in the group until the next attempt is due, or until all have ended because one has decided.
struct Due<T> {
    pause: Duration,
    timer: Option<TimerKey>,
    site: Site,
    of: PhantomData<fn(T)>,
}

/// Why a wait has ended.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    Timer,
    Failure,
    /// Not all attempts have ended.
    Decided,
    /// The group has no work of its own any more.
    AllEnded,
}

impl<T: Send + 'static> Waits for Due<T> {
    type Event = Why;
    type Out = Why;

    fn begin(&mut self, cx: &Cx<'_>) -> Begun<Why> {
        let group = cx.context();
        // No event of the races around: it takes nothing.
        let event = group.begin_wait(self.site, Awaited::of(WaitsFor::Timer));
        let wakeup = Wakeup::of_fiber(group.clone(), event);
        let mut state = Ends::<T>::of(group).0.lock();
        let why = if state.is_decided() { Why::Decided } else { Why::Failure };
        if why == Why::Decided || state.failures > 0 {
            drop(state);
            group.end_wait();
            return Begun::Ready(Outcome::Success(why));
        }
        state.waiting = Some(wakeup.next());
        drop(state);
        let scheduler = cx.scheduler();
        match guard(|| scheduler.schedule_at(scheduler.now() + self.pause, Task::fire(wakeup))) {
            Ok(timer) => {
                self.timer = Some(timer);
                // The end of an attempt wakes it, also after a cancellation.
                Begun::Registered { is_shielded: true }
            }
            Err(panic) => {
                let why = Self::leave(group).map(|_| Outcome::Panicked(panic));
                group.end_wait();
                Begun::Ready(why.unwrap_or_else(Outcome::Success))
            }
        }
    }

    fn wake(&mut self, cx: &Cx<'_>, _: Signal) -> Option<Outcome<Why>> {
        let group = cx.context();
        let is_timer = group.last_event() == 0;
        let why = match Self::leave(group) {
            Err(decided) => decided,
            Ok(()) if is_timer => Why::Timer,
            Ok(()) => Why::Failure,
        };
        if why != Why::Timer
            && let Some(timer) = self.timer
        {
            catch_panic(|| _ = cx.scheduler().cancel_timer(timer));
        }
        Some(Outcome::Success(why))
    }

    fn end(self, _: &Cx<'_>, outcome: Outcome<Why>) -> Outcome<Why> {
        outcome
    }
}

impl<T: Send + 'static> Due<T> {
    fn new<F>(hedge: &Hedge<F>) -> Self {
        Due { pause: hedge.pause, timer: None, site: hedge.site, of: PhantomData }
    }

    /// The wait is over.
    ///
    /// # Errors
    /// An attempt has decided meanwhile.
    fn leave(group: &Context) -> Result<(), Why> {
        let mut state = Ends::<T>::of(group).0.lock();
        let (waiting, was_ended) = (state.waiting.take(), take(&mut state.ended_work));
        drop(state);
        // Dropped without the lock, because it may hold the last reference to its fiber.
        drop(waiting);
        match was_ended {
            false => Ok(()),
            true if group.resume_work() => Err(Why::Decided),
            true => Err(Why::AllEnded),
        }
    }
}

/// The rest of a hedge whose fiber waits beside its attempts.
struct Next<T: Send + 'static, F> {
    hedge: Hedge<F>,
    place: Inside,
    end: Conclude<T>,
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> FrameOf<Why> for Next<R::Out, F> {
    type Out = R::Out;
    const VISITS: bool = true;

    fn resume(mut self, cx: &Cx<'_>, why: Outcome<Why>) -> Left {
        let group = &self.place.inside;
        let goes_on = match why {
            Outcome::Success(Why::AllEnded) => {
                let Next { hedge, place, end } = self;
                hedge.bury(&place.inside);
                return place.conclude(cx, end, Outcome::Success(()));
            }
            Outcome::Success(Why::Decided) => false,
            // The hedge is cancelled.
            Outcome::Success(_) if cx.is_interrupted() => false,
            Outcome::Success(why) => {
                let starts = Ends::<R::Out>::of(group).0.lock().starts(why);
                if starts {
                    let may_start = cx.spend_on_branch();
                    self.hedge.start(cx, group, may_start);
                }
                starts
            }
            // The scheduler has panicked.
            other => {
                arrive::<R::Out>(group, group, other.map(|_| unreachable!("not a success")), true);
                false
            }
        };
        if goes_on && self.hedge.attempts > 0 && !cx.is_interrupted() {
            let due = Due::<R::Out>::new(&self.hedge);
            return cx.leave_step(Step::Wait(cx.wait(due).push(cx, self)));
        }
        let Next { hedge, place, end } = self;
        hedge.bury(&place.inside);
        if place.inside.finish_alone() {
            return place.conclude(cx, end, Outcome::Success(()));
        }
        let waiting = cx.wait(Childless::new(&place.inside));
        cx.leave_step(Step::Wait(waiting.push(cx, Last { place, end, outcome: Outcome::Success(()) })))
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.place.visit(visit);
    }

    fn discard(self, torn: &mut Vec<Panic>, _: Option<&Context>) {
        self.hedge.discard(torn);
        discard_part((self.place, self.end), torn);
    }
}

/// Gives the outcome that has decided, or all failures.
struct Conclude<T: Send + 'static> {
    /// `None` after the outcomes were taken.
    group: Option<Context>,
    of: PhantomData<fn(T)>,
}

impl<T: Send + 'static> RegionEnd<()> for Conclude<T> {
    type Out = T;

    fn conclude(mut self, cx: &Cx<'_>, _: Option<Outcome<()>>) -> Outcome<T> {
        let group = self.group.take().expect("a hedge is concluded once");
        let ends = Ends::<T>::of(&group).0.lock().ends.take().expect("a hedge is concluded once");
        ends.conclude(cx)
    }
}

impl<T: Send + 'static> Drop for Conclude<T> {
    /// Outcomes are left if the scheduler has dropped the fiber, and so is the wake-up, which would keep the group in its own cell.
    fn drop(&mut self) {
        let Some(group) = self.group.take() else { return };
        let mut state = Ends::<T>::of(&group).0.lock();
        let (ends, waiting) = (state.ends.take(), state.waiting.take());
        drop(state);
        drop(waiting);
        ends.into_iter().for_each(|ends| ends.discard(&group));
    }
}

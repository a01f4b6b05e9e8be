//! A direct fiber on a thread of its own. The function runs there; the fibers for which it waits run where the direct fiber does,
//! which serves the thread meanwhile:
//!
//! ```text
//!   fiber:   listen ──────────> run it, in its own context ──> answer, listen ────────> end with the outcome
//!              ^                                                  │           ^
//!   thread:   .. d.wait(fiber): a request; sleeps until .. <──────┘  ..  the function returns
//! ```

use std::fmt;
use std::mem::replace;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::{Direct, DirectRun, ThrownAway, Way};
use crate::combine::run_guarded;
use crate::engine::boxed::{Boxed, BoxedCallback, Erased};
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::engine::task::Task;
use crate::error::{Abandoned, Error, Frame, Site};
use crate::leaf::{Leaf, Wait};
use crate::outcome::{Outcome, catch_panic};

/// Suspends the fiber, which starts the thread when it is attached.
pub(super) fn run<T, F>(direct: DirectRun<F>) -> Step<T, Boxed<T>>
where
    T: Send + 'static,
    F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
{
    Step::Suspend(Boxed::waiting(Box::new(Unstarted(direct))))
}

/// A direct fiber whose thread has not been asked for.
struct Unstarted<F>(DirectRun<F>);

impl<T, F> Erased<T> for Unstarted<F>
where
    T: Send + 'static,
    F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
{
    fn step(self: Box<Self>, _: &Cx<'_>) -> Step<T, Boxed<T>> {
        unreachable!("it has started")
    }

    fn attach(self: Box<Self>, cx: &Cx<'_>, callback: BoxedCallback<T>) {
        let site = self.0.site;
        let call = Arc::new(Call { talk: Talk::default(), outcome: Mutex::new(None) });
        let order = Order { call: call.clone(), caller: cx.context().clone() };
        let direct = self.0;
        let work: Box<dyn FnOnce() + Send> = Box::new(move || order.carry_out(direct));
        Serving { call, callback, site, owes_point: false }.listen(cx, Some(work));
    }

    fn name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, _: &mut Vec<Context>) {}
}

/// A function that runs, and what becomes of it.
struct Call<T> {
    talk: Talk,
    outcome: Mutex<Option<Outcome<T>>>,
}

/// What the thread and the fiber tell each other.
#[derive(Default)]
struct Talk {
    state: Mutex<State>,
    /// The thread has got an answer, or will get none.
    answered: Condvar,
}

#[derive(Default)]
struct State {
    /// What the thread wants next.
    wish: Option<Wish>,
    /// The fiber waits for a wish.
    wakeup: Option<Wakeup>,
    has_answer: bool,
    is_thrown_away: bool,
}

/// What a thread wants of its fiber.
enum Wish {
    /// To run the fiber of a wait.
    Run(Box<dyn Request>),
    /// To end, with the outcome in the call.
    End,
}

/// The fiber of a wait, with its type hidden.
trait Request: Send {
    /// Where the wait is.
    fn frame(&self) -> Frame;
    /// Runs it, answers, and goes on with `next`.
    fn run(self: Box<Self>, cx: &Cx<'_>, next: Next);
}

type Next = Box<dyn FnOnce(&Cx<'_>) + Send>;

impl Talk {
    /// Tells the fiber. Without one, the wish is dropped: it keeps the call, and the call would keep it.
    fn wish(&self, wish: Wish) {
        let mut state = self.state.lock();
        if state.is_thrown_away {
            drop(state);
            return drop(wish);
        }
        state.wish = Some(wish);
        state.has_answer = false;
        let wakeup = state.wakeup.take();
        drop(state);
        // Without the lock, because it schedules a task.
        wakeup.into_iter().for_each(Wakeup::fire);
    }

    fn answer(&self) {
        self.state.lock().has_answer = true;
        self.answered.notify_one();
    }

    fn throw_away(&self) {
        let mut state = self.state.lock();
        state.is_thrown_away = true;
        let unheard = (state.wish.take(), state.wakeup.take());
        drop(state);
        self.answered.notify_one();
        // Without the lock: what it holds belongs to the user.
        catch_panic(|| drop(unheard));
    }

    /// Blocks the thread until there is an answer. `false`: there will be none.
    fn sleep(&self) -> bool {
        let mut state = self.state.lock();
        while !state.has_answer && !state.is_thrown_away {
            self.answered.wait(&mut state);
        }
        state.has_answer
    }

    /// Blocks the thread of a function that was thrown away, and does not end.
    fn sleep_for_good(&self) -> ! {
        let mut state = self.state.lock();
        loop {
            self.answered.wait(&mut state);
        }
    }
}

// ---- the side of the function ----

/// What a function sees of the fiber that serves it.
pub(super) struct Line {
    caller: Context,
    talk: Arc<dyn Talks>,
    thrown_away: ThrownAway,
}

/// A [`Call`] of any type.
trait Talks: Send + Sync {
    fn talk(&self) -> &Talk;
}

impl<T: Send> Talks for Call<T> {
    fn talk(&self) -> &Talk {
        &self.talk
    }
}

impl Line {
    pub(super) fn is_interrupted(&self) -> bool {
        self.talk.talk().state.lock().is_thrown_away
            || (self.caller.is_cancelled() && !self.caller.is_masked())
    }

    pub(super) fn wait<R: Run>(&self, run: R, frame: Frame) -> Outcome<R::Out> {
        let answer = Arc::new(Mutex::new(None));
        let talks = self.talk.clone();
        self.talk.talk().wish(Wish::Run(Box::new(Ask { run, frame, answer: answer.clone(), talks })));
        if !self.talk.talk().sleep() {
            self.thrown_away.unwind();
            self.talk.talk().sleep_for_good();
        }
        let outcome = answer.lock().take();
        outcome.expect("it was answered")
    }
}

struct Ask<R: Run> {
    run: R,
    frame: Frame,
    answer: Arc<Mutex<Option<Outcome<R::Out>>>>,
    talks: Arc<dyn Talks>,
}

impl<R: Run> Request for Ask<R> {
    fn frame(&self) -> Frame {
        self.frame
    }

    fn run(self: Box<Self>, cx: &Cx<'_>, next: Next) {
        let Ask { run, answer, talks, .. } = *self;
        run_guarded(run, cx).resume(cx, move |cx: &Cx<'_>, outcome| {
            *answer.lock() = Some(outcome);
            talks.talk().answer();
            next(cx);
        });
    }
}

/// Carries the function to its thread. If a scheduler drops the order, the fiber ends as abandoned.
struct Order<T> {
    call: Arc<Call<T>>,
    caller: Context,
}

impl<T: Send + 'static> Order<T> {
    fn carry_out<F>(self, direct: DirectRun<F>)
    where
        F: FnOnce(&Direct<'_>) -> Result<T, Error>,
    {
        let (caller, talk) = (self.caller.clone(), self.call.clone());
        let line = Line { caller, talk, thrown_away: ThrownAway::default() };
        let outcome = self.caller.run_as(|| direct.call(&Direct(Way::Thread(line))));
        *self.call.outcome.lock() = Some(outcome);
    }
}

impl<T> Drop for Order<T> {
    fn drop(&mut self) {
        self.call.outcome.lock().get_or_insert_with(|| Outcome::Failure(Error::new(Abandoned)));
        self.call.talk.wish(Wish::End);
    }
}

// ---- the side of the fiber ----

/// The rest of the program, while the fiber serves its thread.
struct Serving<T> {
    call: Arc<Call<T>>,
    callback: BoxedCallback<T>,
    site: Site,
    /// Whether a wait has ended, so that a scheduling point is due before the next one begins.
    owes_point: bool,
}

impl<T: Send + 'static> Serving<T> {
    fn listen(self, cx: &Cx<'_>, work: Option<Box<dyn FnOnce() + Send>>) {
        let leaf = Leaf::new(Listen { call: self.call.clone(), work }, self.site);
        leaf.attach(cx, Served(Some(self)));
    }
}

/// Waits for a wish of the thread. The thread goes on when the fiber is cancelled, and is served.
struct Listen<T> {
    call: Arc<Call<T>>,
    /// What the thread does, until it is asked for.
    work: Option<Box<dyn FnOnce() + Send>>,
}

impl<T: Send + 'static> Wait for Listen<T> {
    type Out = Wish;
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<Wish>> {
        self.call.talk.state.lock().wish.take().map(Outcome::Success)
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Wish>> {
        let mut state = self.call.talk.state.lock();
        if let Some(wish) = state.wish.take() {
            return Some(Outcome::Success(wish));
        }
        state.wakeup = Some(wakeup);
        drop(state);
        if let Some(work) = self.work.take() {
            cx.scheduler().schedule_dedicated(Task::blocking(cx.context().clone(), work));
        }
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {}

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}

/// What comes after a wish. Without it, the function is thrown away.
struct Served<T>(Option<Serving<T>>);

impl<T: Send + 'static> Callback<Wish> for Served<T> {
    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<Wish>) {
        match outcome.split() {
            Ok(Wish::Run(request)) => self.serve(cx, request),
            Ok(Wish::End) => {
                let Some(Serving { call, callback, .. }) = self.0.take() else { return };
                let outcome = call.outcome.lock().take();
                callback.resume(cx, outcome.expect("it was left there"));
            }
            Err(other) => {
                let Some(Serving { call, callback, .. }) = self.0.take() else { return };
                call.talk.throw_away();
                callback.resume(cx, other);
            }
        }
    }
}

impl<T: Send + 'static> Served<T> {
    fn serve(mut self, cx: &Cx<'_>, request: Box<dyn Request>) {
        let owes_point = self.0.as_mut().is_some_and(|serving| replace(&mut serving.owes_point, true));
        let next: Next = Box::new(move |cx| self.serve_on(cx));
        if owes_point && !cx.spend(|| SwitchPoint::Bind(request.frame())) {
            return cx.go_on_later(move |cx| request.run(cx, next));
        }
        request.run(cx, next);
    }

    fn serve_on(mut self, cx: &Cx<'_>) {
        if let Some(serving) = self.0.take() {
            serving.listen(cx, None);
        }
    }
}

impl<T> Drop for Served<T> {
    fn drop(&mut self) {
        if let Some(serving) = &self.0 {
            serving.call.talk.throw_away();
        }
    }
}

impl<T> fmt::Debug for Listen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a thread")
    }
}

//! A direct fiber on a thread of its own. The function runs there; the fibers for which it waits run where the direct fiber does,
//! which serves the thread meanwhile:
//!
//! ```text
//!   fiber:   listen ──────────> run it, in its own context ──> answer, listen ────────> end with the outcome
//!              ^                                                  │           ^
//!   thread:   .. d.wait(fiber): a request; sleeps until .. <──────┘  ..  the function returns
//! ```

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::on_stack::refuse;
use super::{Direct, DirectRun, ThrownAway, Way};
use crate::combine::run_guarded;
use crate::engine::borrow::is_served;
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Follow, Run, Step};
use crate::engine::task::{Errand, Task};
use crate::error::{Abandoned, Error, Frame, Site};
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;
use crate::panic::catch_panic;

/// Asks for a thread, and serves it.
pub(super) fn run<'s, T, F>(direct: DirectRun<F>, cx: &'s Cx<'_>) -> Step<'s, T>
where
    T: Send + 'static,
    F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
{
    let site = direct.site;
    // A timeout around the function gets a context, which the function can ask.
    let _ = cx.context();
    let call = Arc::new(Call { talk: Arc::default(), outcome: Mutex::new(None) });
    let order = Order { call: call.clone() };
    let work = Work(Mutex::new(Some(Box::new(move |caller| order.carry_out(direct, caller)))));
    Serving { call, site }.listen(cx, Some(Arc::new(work)))
}

/// What the thread does, once, in the context in which its fiber waits for it.
struct Work(Mutex<Option<Box<dyn FnOnce(Context) + Send>>>);

impl Errand for Work {
    fn carry_out(&self, fiber: Option<&Context>) {
        let work = self.0.lock().take();
        if let Some((work, fiber)) = work.zip(fiber) {
            work(fiber.clone());
        }
    }
}

/// A function that runs, and what becomes of it.
struct Call<T> {
    talk: Arc<Talk>,
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
    /// To run the fiber of a wait, which is there.
    Run(Ask, Frame),
    /// To end, with the outcome in the call.
    End,
}

/// Runs the fiber of a wait, and answers.
type Ask = Box<dyn for<'s> FnOnce(&'s Cx<'_>) -> Step<'s, ()> + Send>;

impl Talk {
    /// Tells the fiber. Without one, the wish is dropped: it keeps the talk, and the talk would keep it.
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

/// A sleep there would be for good.
const NO_THREAD: &str = "no stack is left for this direct fiber, and its scheduler has one thread for everything, which a wait would \
                         block for ever; a scheduler of `fiber-test` has stacks with the feature `direct` of that crate";

/// What a function sees of the fiber that serves it.
pub(super) struct Line {
    caller: Context,
    talk: Arc<Talk>,
    thrown_away: ThrownAway,
    /// The thread is none of its own: it runs fibers, this one too.
    runs_fibers: bool,
}

impl Line {
    pub(super) fn is_interrupted(&self) -> bool {
        self.talk.state.lock().is_thrown_away || (self.caller.is_cancelled() && !self.caller.is_masked())
    }

    /// The same, but also in an uncancelable region.
    pub(super) fn was_cancelled(&self) -> bool {
        self.talk.state.lock().is_thrown_away || self.caller.is_cancelled()
    }

    pub(super) fn wait<R: Run>(&self, run: R, frame: Frame) -> Outcome<R::Out> {
        if self.runs_fibers {
            return refuse(|torn| run.discard(torn), NO_THREAD);
        }
        let answer = Arc::new(Mutex::new(None));
        let answers = Answers { answer: answer.clone(), talk: self.talk.clone() };
        let ask: Ask = Box::new(move |cx| match run_guarded(run, cx) {
            Step::Done(outcome) => answers.follow(cx, outcome),
            Step::Wait(waiting) => Step::Wait(waiting.then(cx, answers)),
        });
        self.talk.wish(Wish::Run(ask, frame));
        if !self.talk.sleep() {
            self.thrown_away.unwind();
            self.talk.sleep_for_good();
        }
        let outcome = answer.lock().take();
        outcome.expect("it was answered")
    }
}

/// Gives the outcome of a wait to its thread.
struct Answers<T> {
    answer: Arc<Mutex<Option<Outcome<T>>>>,
    talk: Arc<Talk>,
}

impl<T: Send + 'static> Follow<T> for Answers<T> {
    type Out = ();
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, ()> {
        *self.answer.lock() = Some(outcome);
        self.talk.answer();
        Step::Done(Outcome::Success(()))
    }
}

/// Carries the function to its thread. If a scheduler drops the order, the fiber ends as abandoned.
struct Order<T> {
    call: Arc<Call<T>>,
}

impl<T: Send + 'static> Order<T> {
    fn carry_out<F>(self, direct: DirectRun<F>, caller: Context)
    where
        F: FnOnce(&Direct<'_>) -> Result<T, Error>,
    {
        let talk = self.call.talk.clone();
        let (thrown_away, runs_fibers) = (ThrownAway::default(), is_served(None));
        let line = Line { caller: caller.clone(), talk, thrown_away, runs_fibers };
        let outcome = {
            let _current = caller.set_current();
            direct.call(&Direct::new(Way::Thread(line)))
        };
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

/// A fiber that serves its thread.
struct Serving<T> {
    call: Arc<Call<T>>,
    site: Site,
}

impl<T: Send + 'static> Serving<T> {
    fn listen<'s>(self, cx: &'s Cx<'_>, work: Option<Arc<Work>>) -> Step<'s, T> {
        let leaf = Leaf::new(Listen { talk: self.call.talk.clone(), work }, self.site);
        Step::Wait(cx.wait(leaf.placed()).then(cx, Served(Some(self))))
    }
}

/// Waits for a wish of the thread. The thread goes on when the fiber is cancelled, and is served.
struct Listen {
    talk: Arc<Talk>,
    /// What the thread does, until it is asked for.
    work: Option<Arc<Work>>,
}

impl Wait for Listen {
    type Out = Wish;
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<Wish>> {
        self.talk.state.lock().wish.take().map(Outcome::Success)
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Wish>> {
        let mut state = self.talk.state.lock();
        if let Some(wish) = state.wish.take() {
            return Some(Outcome::Success(wish));
        }
        state.wakeup = Some(wakeup);
        drop(state);
        if let Some(work) = self.work.take() {
            // Not before: a fiber that is awaited in a block may get a context of its own when it has to wait, and keeps that.
            cx.scheduler().schedule_dedicated(Task::errand(Some(cx.context().clone()), work));
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

impl<T: Send + 'static> Follow<Wish> for Served<T> {
    type Out = T;

    fn follow<'s>(mut self, cx: &'s Cx<'_>, outcome: Outcome<Wish>) -> Step<'s, T> {
        match outcome.split() {
            Ok(Wish::Run(ask, frame)) => self.serve(cx, ask, frame),
            Ok(Wish::End) => {
                let outcome = self.0.take().and_then(|serving| serving.call.outcome.lock().take());
                Step::Done(outcome.expect("it was left there"))
            }
            // The drop throws the function away.
            Err(other) => Step::Done(other),
        }
    }
}

impl<T: Send + 'static> Served<T> {
    /// Each request is a scheduling point, because nobody can know what the thread has done before.
    fn serve<'s>(self, cx: &'s Cx<'_>, ask: Ask, frame: Frame) -> Step<'s, T> {
        if !(cx.spend() || cx.ask(SwitchPoint::Bind(frame))) {
            return Step::Wait(cx.yields().then(cx, Serve(Some(ask), self)));
        }
        self.serve_now(cx, ask)
    }

    fn serve_now<'s>(self, cx: &'s Cx<'_>, ask: Ask) -> Step<'s, T> {
        match ask(cx) {
            Step::Done(_) => self.serve_on(cx),
            Step::Wait(waiting) => Step::Wait(waiting.then(cx, Serve(None, self))),
        }
    }

    fn serve_on<'s>(mut self, cx: &'s Cx<'_>) -> Step<'s, T> {
        self.0.take().expect("it serves one wish after the other").listen(cx, None)
    }
}

/// Serves a wish in the next turn; without one, listens again.
struct Serve<T>(Option<Ask>, Served<T>);

impl<T: Send + 'static> Follow<()> for Serve<T> {
    type Out = T;

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<()>) -> Step<'s, T> {
        match self.0 {
            Some(ask) => self.1.serve_now(cx, ask),
            None => self.1.serve_on(cx),
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

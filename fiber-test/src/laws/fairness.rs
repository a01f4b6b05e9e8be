//! No fiber starves.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fiber_core::error::TimedOut;
use fiber_core::{Either, Fiber, Handle};
use parking_lot::Mutex;

use super::gate::Gate;
use super::host::AnyHost;
use super::trial::Trial;

/// The fibers that take turns.
const FIBERS: usize = 8;

/// The minimum number of turns that each of them takes.
const TURNS: usize = 200;

/// The law's bound: the number of turns that one fiber may have while another one waits for its turn. Schedulers check
/// for other threads' work, timers and the like after some ten turns; a thousand turns are starvation.
const MOST_TURNS: usize = 1_000;

/// The number of turns of each fiber.
#[derive(Default)]
struct Turns {
    had: [usize; FIBERS],
    /// By fiber: the turns that each other one has had since its last one. `None`: the fiber does not take part.
    passed_over: [Option<[usize; FIBERS]>; FIBERS],
    most: usize,
}

impl Turns {
    fn joins(&mut self, fiber: usize) {
        self.passed_over[fiber] = Some([0; FIBERS]);
    }

    /// `true`: the fiber takes more turns.
    fn has(&mut self, fiber: usize) -> bool {
        self.had[fiber] += 1;
        for others in self.passed_over.iter_mut().flatten() {
            others[fiber] += 1;
        }
        self.joins(fiber);
        let is_over = self.had.iter().all(|had| *had >= TURNS);
        if is_over {
            self.passed_over[fiber] = None;
        }
        let passed_over = self.passed_over.iter().flatten().flatten().copied();
        self.most = passed_over.fold(self.most, usize::max);
        !is_over
    }
}

pub(super) fn fibers_that_yield_take_turns<H: AnyHost + ?Sized>(trial: Trial<H>) {
    // With several threads, the operating system may pause one for any time, in the middle of a fiber's turn.
    let bound = if trial.host().threads() == 1 { MOST_TURNS } else { usize::MAX };
    let turns = Arc::new(Mutex::new(Turns::default()));
    let takes_turns = |fiber| {
        let turns = turns.clone();
        let turn = move |()| {
            let turns = turns.clone();
            Fiber::yield_now().map(move |()| {
                let mut turns = turns.lock();
                // After a breach, the fibers just end.
                let goes_on = turns.most <= bound && turns.has(fiber);
                if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        };
        Fiber::iterate((), turn).boxed()
    };
    let fibers: Vec<_> = (0..FIBERS).map(takes_turns).collect();
    let (table, root) = (turns.clone(), trial.context().clone());
    // In one turn, so that on one thread none of them runs before all are spawned.
    let spawn_all = move || {
        let spawn = |(number, fiber)| {
            table.lock().joins(number);
            root.spawn(fiber)
        };
        fibers.into_iter().enumerate().map(spawn).collect::<Vec<_>>()
    };
    for fiber in trial.run("a fiber that spawns others", Fiber::lazy(spawn_all)) {
        trial.finish("fibers that yield", fiber).unwrap();
    }
    let turns = turns.lock();
    let Turns { had, most, .. } = &*turns;
    assert!(*most <= bound, "a fiber has {most} turns while another one has none; all turns: {had:?}");
}

/// Loops that never wait, of all kinds.
fn endless() -> [Fiber<()>; 3] {
    fn recursion() -> Fiber<()> {
        Fiber::success(()).bind(|()| recursion()).boxed()
    }
    let yields = Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::Continue));
    [binds(), recursion(), yields.boxed()]
}

fn binds() -> Fiber<()> {
    Fiber::iterate((), |()| Fiber::success(ControlFlow::Continue(()))).boxed()
}

/// Starts loops, and returns when all have begun.
fn start<H: AnyHost + ?Sized>(trial: &Trial<H>, loops: Vec<Fiber<()>>) -> Vec<Handle<()>> {
    let begun = Gate::new(loops.len());
    let begins = |body: Fiber<()>| trial.spawn(begun.passing().bind(|()| body));
    let handles = loops.into_iter().map(begins).collect();
    trial.run("endless loops to begin", begun.opened());
    handles
}

fn end<H: AnyHost + ?Sized>(trial: &Trial<H>, loops: Vec<Handle<()>>) {
    for handle in loops {
        assert!(!handle.is_finished(), "an endless loop ends by itself");
        handle.cancel_now();
        let outcome = trial.finish("an endless loop that is cancelled", handle);
        // A loop of joins may first see that its child was cancelled with it, and ends with that as a failure.
        assert!(!outcome.is_success(), "a cancelled loop succeeds");
    }
}

pub(super) fn endless_loops_let_others_run<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let kinds = endless().len();
    for kind in 0..kinds {
        let count = trial.host().threads() + 1;
        let loops = start(&trial, (0..count).map(|_| endless().into_iter().nth(kind).unwrap()).collect());
        trial.run("a new fiber beside endless loops", Fiber::success(()));
        trial.run("a fiber that yields beside them", Fiber::yield_now().bind(|()| Fiber::yield_now()));
        trial.run("a fork beside them", Fiber::yield_now().fork().bind(Handle::join));
        trial.run("a blocking call beside them", Fiber::blocking(|| ()));
        if !trial.host().is_virtual() {
            trial.run("a sleep beside them", Fiber::delay(Duration::from_millis(1)));
            let race = Fiber::delay(Duration::from_millis(1)).race(binds());
            assert!(matches!(trial.run("a race with an endless loop", race), Either::Left(())));
        }
        end(&trial, loops);
    }
}

pub(super) fn endless_forks_let_others_in<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let forks =
        || Fiber::iterate((), |()| Fiber::yield_now().fork().bind(Handle::join).map(ControlFlow::Continue));
    let loops = start(&trial, (0..trial.host().threads()).map(|_| forks().boxed()).collect());
    let context = trial.context().clone();
    let spawned = thread::spawn(move || context.spawn(Fiber::success(1))).join();
    let spawned = spawned.expect("a spawn does not panic");
    assert_eq!(trial.finish("a fiber from another thread", spawned).unwrap(), 1);
    end(&trial, loops);
}

pub(super) fn timeouts_end_work_that_never_waits<H: AnyHost + ?Sized>(trial: Trial<H>) {
    const LIMIT: Duration = Duration::from_millis(10);
    if trial.host().is_virtual() {
        return;
    }
    let others = [
        // The first wait sets the timer.
        Fiber::yield_now().bind(|()| binds()).boxed(),
        binds().zip(binds()).map(drop).boxed(),
        binds().fork().bind(Handle::join).boxed(),
    ];
    for work in endless().into_iter().chain(others) {
        let outcome = trial.outcome("a timeout of work that never waits", work.timeout(LIMIT));
        let error = outcome.failure();
        assert!(error.is_some_and(|error| error.is::<TimedOut>()), "a timeout does not end as timed out");
    }
}

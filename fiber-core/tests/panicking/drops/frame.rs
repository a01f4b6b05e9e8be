//! Runs a program between finalizers, on schedulers with turns of one bind and of many.

use std::sync::Arc;

use fiber_core::{Context, Fiber, Outcome, Panic, Run};
use fiber_test::TestScheduler;

use crate::drops::bomb::{Fuse, quiet};
use crate::support::{Counter, Queue, Steps};

/// The finalizers around a program.
#[derive(Clone, Default)]
struct Finalizers {
    ensured: Counter,
    released: Counter,
}

impl Finalizers {
    fn around<T: Send + 'static, R: Run<Out = T>>(&self, program: Fiber<T, R>) -> Fiber<T> {
        let release = self.released.count();
        Fiber::bracket(Fiber::success(()), move |()| program, move |()| release)
            .ensure(self.ensured.count())
            .boxed()
    }

    #[track_caller]
    fn have_run_once(&self) {
        assert_eq!((self.ensured.get(), self.released.get()), (1, 1), "how often the finalizers ran");
    }
}

/// The program ends with the panic of a drop, and its surroundings are intact.
#[track_caller]
pub(crate) fn panics<T: Send + 'static, R: Run<Out = T>>(program: impl Fn(&Fuse) -> Fiber<T, R>) {
    for outcome in ends(program) {
        let panic = panic_of(outcome);
        assert_eq!(panic.message(), "in drop");
        assert!(panic.suppressed().iter().all(|error| error.to_string() == "panic: in drop"), "{panic:?}");
    }
}

#[track_caller]
pub(crate) fn panic_of<T>(outcome: Outcome<T>) -> Panic {
    match outcome {
        Outcome::Panicked(panic) => panic,
        other => panic!("no panic but {:?}", other.map(drop)),
    }
}

/// The outcome of a program on each scheduler. Its surroundings are intact afterwards.
#[track_caller]
pub(crate) fn ends<T: Send + 'static, R: Run<Out = T>>(
    program: impl Fn(&Fuse) -> Fiber<T, R>,
) -> Vec<Outcome<T>> {
    quiet();
    let mut outcomes = Vec::new();
    for run in [on_the_virtual_timeline, on_a_queue, on_steps_of_three_binds] {
        let (fuse, finalizers) = (Fuse::default(), Finalizers::default());
        outcomes.push(run(finalizers.around(program(&fuse))));
        finalizers.have_run_once();
        let (made, dropped) = fuse.counts();
        assert_eq!(made, dropped, "bombs, and drops of them");
    }
    outcomes
}

fn on_the_virtual_timeline<T: Send + 'static>(fiber: Fiber<T>) -> Outcome<T> {
    let test = TestScheduler::new();
    let outcome = test.try_run(fiber).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(test.run(Fiber::success("alive")).unwrap(), "alive");
    test.run_until_idle();
    test.assert_no_leaks();
    outcome
}

fn on_a_queue<T: Send + 'static>(fiber: Fiber<T>) -> Outcome<T> {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let handle = root.spawn(fiber);
    queue.drain();
    assert_eq!(root.live_children(), 0, "fibers that have not ended");
    root.cancel();
    handle.try_outcome().expect("the fiber has ended")
}

fn on_steps_of_three_binds<T: Send + 'static>(fiber: Fiber<T>) -> Outcome<T> {
    let steps = Steps::new(7, 3);
    let handle = steps.spawn(fiber);
    steps.run(usize::MAX);
    assert_eq!(steps.live_fibers(), 0, "fibers that have not ended");
    handle.try_outcome().expect("the fiber has ended")
}
